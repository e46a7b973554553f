//! All tests of disciplines from outside, as one program: each program would be compiled and linked on its own.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod change;
mod going_on;
mod invariants;
mod properties;
mod random_trees;
mod tree_change;
