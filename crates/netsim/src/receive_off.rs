//! Stands for the receive side of cards in builds without the feature `emulation`, such as the page's: packets are taken
//! as they arrive.

use goodqueue_hosts::keys::{Result, Table};
use serde::Serialize;

/// The receive side that this build has not. Its keys are unknown.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum Receive {}

impl Receive {
    #[allow(clippy::unnecessary_wraps)] // as in builds with the feature
    pub(crate) fn read(_table: &Table<'_>, _other: Option<Self>) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn merges(&self) -> bool {
        match *self {}
    }
}

/// What no card counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) interrupts: u64,
    pub(crate) packets: u64,
    pub(crate) handed_on: u64,
    pub(crate) bytes: u64,
}

/// The card that this build has not.
pub(crate) enum Card {}

impl Card {
    pub(crate) fn waiting(&self) -> u64 {
        match *self {}
    }

    pub(crate) fn measured(&self) -> Counts {
        match *self {}
    }
}
