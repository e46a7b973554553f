//! What an 802.11 cell is made of, each on its own and without queues; [`cell`](crate::cell) puts it together.
//!
//! - [`standard`] and [`mode`]: what the standard fixes, and how long frames take;
//! - [`contention`]: who may send next;
//! - [`channel`]: how often a frame is lost to noise;
//! - [`rate_control`]: which modes a sender tries; [`minstrel`] and [`minstrel_ht`]: how Linux finds them;
//! - [`driver`]: what hides below a discipline;
//! - [`frames`]: what goes over the air, for who looks on;
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
