//! Any path under flows of several kinds: the invariants of `crates/netsim/tests/random_paths`, which takes bytes as
//! they are.
#![no_main]

#[path = "../../crates/netsim/tests/random_paths/mod.rs"]
mod random_paths;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    random_paths::path_holds(bytes);
});
