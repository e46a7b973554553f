//! Any path under flows of several kinds. The invariants are in `crates/netsim/tests/random_paths`, which takes raw
//! bytes.
#![no_main]

#[path = "../../crates/netsim/tests/random_paths/mod.rs"]
mod random_paths;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    random_paths::path_holds(bytes);
});
