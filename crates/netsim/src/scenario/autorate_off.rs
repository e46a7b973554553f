//! Stands for `[autorate]` in builds without the feature `complete`, such as the page's: no scenario has it.

use super::link::Bottleneck;
use super::traffic::Traffic;
#[cfg(feature = "reference")]
use goodqueue_hosts::keys::AnyKey;
use goodqueue_hosts::keys::{Result, Table, refuse};
use serde::Serialize;

/// The program that this build has not.
#[derive(Clone, Debug, Serialize)]
pub enum Autorate {}

#[cfg(feature = "reference")]
pub(super) const KEYS: &[&dyn AnyKey] = &[];
#[cfg(feature = "reference")]
pub(super) const BOUNDS: &[&dyn AnyKey] = KEYS;

impl Autorate {
    /// Refuses the table.
    pub(super) fn read(table: &Table<'_>, _bottleneck: &Bottleneck) -> Result<Self> {
        refuse(table.path(), "a program that sets rates", "none here; the complete program has it")
    }

    pub(super) fn check(&self, _traffic: &[Traffic]) -> Result<()> {
        match *self {}
    }
}
