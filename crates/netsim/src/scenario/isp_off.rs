//! Stands for `[[subscriber]]`, `[[node]]` and `[evening]` in builds without the feature `complete`, such as the
//! page's: no scenario has them.

#[cfg(feature = "reference")]
use goodqueue_hosts::keys::AnyKey;
use goodqueue_hosts::keys::{Json, Result, Table};
use goodqueue_units::Duration;
use serde::Serialize;
use std::sync::Arc;

/// The tables that this build has not.
#[derive(Clone, Debug, Serialize)]
pub(crate) enum Isp {}

/// What the tables mean.
pub(super) struct Expanded {
    pub(super) isp: Isp,
    pub(super) lines: [Arc<str>; 2],
    pub(super) bottleneck: Json,
    pub(super) traffic: Vec<OfSubscriber>,
}

/// A table of `[[traffic]]` that a subscriber has.
pub(super) struct OfSubscriber {
    pub(super) subscriber: u32,
    pub(super) path: String,
    pub(super) table: Json,
}

/// Returns that there are none.
#[allow(clippy::unnecessary_wraps, reason = "as in the build that has them")]
pub(super) fn read(_: &Table<'_>, _: &Table<'_>, _: (Duration, u64)) -> Result<Option<Expanded>> {
    Ok(None)
}

#[cfg(feature = "reference")]
pub(super) const NODE_KEYS: &[&dyn AnyKey] = &[];
#[cfg(feature = "reference")]
pub(super) const KEYS: &[&dyn AnyKey] = NODE_KEYS;
#[cfg(feature = "reference")]
pub(super) const EVENING_KEYS: &[&dyn AnyKey] = NODE_KEYS;
#[cfg(feature = "reference")]
pub(super) const FILES_KEYS: &[&dyn AnyKey] = NODE_KEYS;
