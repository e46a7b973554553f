//! What the feature `complete` adds to paths: access networks, trees as commands, and the jitter of a crowded channel.

pub(crate) mod access;
pub(crate) mod commands;
mod crowded;

pub(super) use crowded::{Crowded, with_crowded};
