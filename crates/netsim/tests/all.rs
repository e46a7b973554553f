//! All tests of whole runs, as one program: each program would be compiled and linked on its own.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod access;
mod air;
mod applications;
mod behaviour;
mod buffer;
mod change;
mod common;
mod congestion;
mod hops;
mod host_stack;
mod hosts;
mod isp;
mod law;
mod linux;
mod media;
mod netem;
mod pacing;
mod packmime;
mod paths;
mod random_paths;
mod receive;
mod refused;
mod residential;
mod resolved;
mod rpm;
mod run;
mod threads;
mod tmix;
mod trees;
mod video;
mod web_users;
mod wifi;
mod windows;
