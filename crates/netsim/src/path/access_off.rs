//! Stands for access networks in builds without the feature `complete`, such as the page's: the key `access` is
//! unknown there.

use super::transmitter::Transmitter;
use goodqueue_hosts::keys::{Result, Table};
use goodqueue_units::{Rate, Streams};
use serde::Serialize;

/// The access network that this build has not.
#[derive(Clone, Debug, Serialize)]
pub enum Access {}

/// The random numbers that nothing draws here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws;

impl Draws {
    pub(crate) const fn new(_streams: Streams, _link: u64) -> Self {
        Self
    }

    /// The only value.
    pub(crate) const TRIAL: Self = Self;
}

impl Access {
    #[allow(clippy::unnecessary_wraps)] // as in builds with the feature
    pub(crate) fn read(_table: &Table<'_>, _other: Option<&Self>) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn transmitter(&self, _rate: Rate, _draws: Draws) -> std::result::Result<Transmitter, String> {
        match *self {}
    }
}
