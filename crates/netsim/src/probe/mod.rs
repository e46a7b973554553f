//! What the simulator measures beside what applications do ([`goodqueue_hosts::probe`]): one file per metric.

pub(crate) mod goodput;
pub(crate) mod law;
pub(crate) mod series;
#[cfg_attr(feature = "complete", path = "subscribers/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "subscribers/disabled.rs")]
pub(crate) mod subscribers;
