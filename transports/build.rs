//! Tells the crate which releases of the stacks it is built with, as the lock file has them.

use std::path::Path;

const STACKS: [&str; 2] = ["quinn-proto", "noq-proto"];

fn main() {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(&lock).unwrap_or_default();
    for stack in STACKS {
        let after = text.split(&format!("name = \"{stack}\"\nversion = \"")).nth(1).unwrap_or_default();
        let version = after.split('"').next().unwrap_or_default();
        println!("cargo::rustc-env={}={version}", stack.to_uppercase().replace('-', "_"));
    }
}
