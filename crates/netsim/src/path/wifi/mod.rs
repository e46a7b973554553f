//! An 802.11 cell: one medium for an access point and its stations.
//!
//! - [`standard`] and [`mode`]: what the standard fixes, and how long frames take;
//! - [`contention`]: who may send next;
//! - [`rate_control`]: which modes a sender tries.

pub(crate) mod contention;
pub(crate) mod mode;
pub(crate) mod rate_control;
pub(crate) mod standard;
