//! What the simulator measures beside what applications do ([`goodqueue_hosts::probe`]): one file per metric.

pub(crate) mod goodput;
pub(crate) mod law;
pub(crate) mod series;
#[cfg(feature = "complete")]
pub(crate) mod subscribers;
