#![doc = include_str!("../README.md")]

pub mod direction;
pub mod keys;
pub mod part;
pub mod probe;
pub mod sorting;
pub mod traffic;

// Argument and result types of the functions above, so that users of this crate need not depend on another crate.
pub use goodqueue_units::{Duration, Ecn, Instant, Stream, Streams};
