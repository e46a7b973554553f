//! Names the shared library for the dynamic linker: the ABI is that of a minor version until 1.0.
//!
//! `make install-c` reads the name from the library, so that it is said here alone.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let of = |name: &str| std::env::var(name).unwrap_or_default();
    let (major, minor) = (of("CARGO_PKG_VERSION_MAJOR"), of("CARGO_PKG_VERSION_MINOR"));
    // ELF has such a name; of others this says nothing.
    if of("CARGO_CFG_TARGET_OS") == "linux" {
        let abi = if major == "0" { format!("0.{minor}") } else { major };
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libgoodqueue_qdisc.so.{abi}");
    }
}
