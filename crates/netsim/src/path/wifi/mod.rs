//! An 802.11 cell: one medium for an access point and its stations.
//!
//! - [`standard`] and [`mode`]: what the standard fixes, and how long frames take;
//! - [`contention`]: who may send next;
//! - [`channel`]: how often a frame is lost to noise;
//! - [`rate_control`]: which modes a sender tries; [`minstrel`] and [`minstrel_ht`], how Linux finds them.

pub(crate) mod channel;
pub(crate) mod contention;
pub(crate) mod minstrel;
pub(crate) mod minstrel_ht;
pub(crate) mod mode;
pub(crate) mod rate_control;
pub(crate) mod standard;
