//! All tests of whole runs, as one program: each program would be compiled and linked on its own.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod air;
mod applications;
mod behaviour;
mod change;
mod common;
mod congestion;
mod hops;
mod host_stack;
mod hosts;
mod law;
mod linux;
mod media;
mod netem;
mod pacing;
mod packmime;
mod paths;
mod random_paths;
mod receive;
mod residential;
mod run;
mod scenario;
mod tmix;
mod web_users;
mod wifi;
