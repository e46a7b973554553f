#![doc = include_str!("../README.md")]
//!
//! # Parts
//! - [`Instant`] and [`Duration`]: integer nanoseconds of a clock that only its owner moves.
//! - [`Rate`]: bits per second, and the time that a packet takes at this rate.
//! - [`Ecn`]: the two bits of RFC 3168.
//! - [`Release`]: the releases of Linux between which the laws differ.
//! - [`Streams`] and [`Stream`]: named random streams, so that the draws of one source do not change those of
//!   another.
//! - [`processor`]: prefetching, selection without a branch, cache lines.
//! - [`parse`]: quantities as `tc` writes them (`5ms`, `10mbit`, `32mb`).
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod ecn;
pub mod number;
pub mod parse;
pub mod processor;
mod random;
mod rate;
mod release;
mod time;

pub use ecn::Ecn;
pub use random::{Stream, Streams};
pub use rate::Rate;
pub use release::Release;
pub use time::{Duration, Instant};
