//! Tells the crate which releases of the stacks it is built with, as the lock file has them, and gives the stacks that
//! read the clock themselves the clock of `src/turn.c`.

use std::path::Path;

const STACKS: [&str; 4] = ["quinn-proto", "noq-proto", "quiche", "s2n-quic"];
const WRAPPED: [&str; 2] = ["clock_gettime", "RAND_bytes"];

fn main() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(&lock).unwrap_or_default();
    for stack in STACKS {
        let after = text.split(&format!("name = \"{stack}\"\nversion = \"")).nth(1).unwrap_or_default();
        let version = after.split('"').next().unwrap_or_default();
        println!("cargo::rustc-env={}={version}", stack.to_uppercase().replace('-', "_"));
    }
    println!("cargo::rerun-if-changed=src/turn.c");
    cc::Build::new().file("src/turn.c").warnings(true).compile("goodqueue_turn");
    for name in WRAPPED {
        println!("cargo::rustc-link-arg-cdylib=-Wl,--wrap={name}");
    }
}
