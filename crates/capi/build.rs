//! Names the shared library for the dynamic linker. Before version 1.0 each minor version has its own ABI.
//!
//! `make install-c` reads the name from the library, so the name is written only here.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let (major, minor) = (of("CARGO_PKG_VERSION_MAJOR"), of("CARGO_PKG_VERSION_MINOR"));
    // Only ELF files have such a name.
    if of("CARGO_CFG_TARGET_OS") == "linux" {
        let abi = if major == "0" { format!("0.{minor}") } else { major };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgoodqueue_qdisc.so.{abi}");
    }
}
