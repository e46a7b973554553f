//! Any tree of classes, as `tc` commands. What must hold is in `crates/qdisc/tests/random_trees`, which takes raw
//! bytes.
#![no_main]

#[path = "../../crates/qdisc/tests/invariants/mod.rs"]
mod invariants;
#[path = "../../crates/qdisc/tests/random_trees/mod.rs"]
mod random_trees;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    random_trees::tree_holds(bytes);
});
