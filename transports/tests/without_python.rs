//! The tests of the modules that need no Python. The extension's own test binary would have no Python to link to.
#![allow(dead_code)] // what only the stacks use

#[path = "../src/guarded.rs"]
mod guarded;
#[path = "../src/peer.rs"]
mod peer;
#[path = "../src/qlog.rs"]
mod qlog;
#[path = "../src/shown.rs"]
mod shown;
