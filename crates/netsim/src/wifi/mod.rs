//! The parts of an 802.11 cell, each by itself and without queues. `cell` puts them together.
//!
//! - [`standard`] and [`mode`]: the parameters that the standard sets, and the duration of frames;
//! - `contention`: which station sends next;
//! - `channel`: how often noise destroys a frame;
//! - `rate_control`: the modes that a sender tries; `minstrel` and `minstrel_ht`: how Linux finds them;
//! - [`driver`]: the queues below a discipline;
//! - [`frames`]: the frames on the air, as an observer sees them;
//! - [`spec`]: a cell in a scenario.

pub(crate) mod channel;
pub(crate) mod contention;
pub mod driver;
pub mod frames;
pub(crate) mod minstrel;
pub(crate) mod minstrel_ht;
pub mod mode;
pub(crate) mod rate_control;
pub mod spec;
pub mod standard;
