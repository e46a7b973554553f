#![doc = include_str!("../README.md")]
//!
//! # What is where
//! - [`Instant`] and [`Duration`]: integer nanoseconds of a clock that only its owner moves.
//! - [`Rate`]: bits per second, and how long a packet takes at it.
//! - [`Ecn`]: the two bits of RFC 3168.
//! - [`Streams`] and [`Stream`]: named random streams, so that one source's draws never move another's.
//! - [`processor`]: asking for memory in time, and not guessing what nobody could foretell.
//! - [`parse`]: quantities as `tc` writes them (`5ms`, `10mbit`, `32mb`).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod ecn;
pub mod parse;
pub mod processor;
mod random;
mod rate;
mod time;

pub use ecn::Ecn;
pub use random::{Stream, Streams};
pub use rate::Rate;
pub use time::{Duration, Instant};
