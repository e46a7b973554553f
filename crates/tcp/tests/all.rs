//! All tests of whole connections, as one program: each program would be compiled and linked on its own.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod common;
mod properties;
mod recovery;
mod runner;
mod scripts;
mod situations;
mod trajectories;
