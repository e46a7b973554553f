//! Stands for the receive side of cards in builds without the feature `complete`, such as the page's: packets are
//! taken as they arrive.

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

    #[allow(clippy::unnecessary_wraps)] // as in builds with the feature
    pub(crate) fn of_host(_table: &Table<'_>) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn reads_after_poll(&self) -> bool {
        match *self {}
    }

    pub(crate) fn merges(&self) -> bool {
        match *self {}
    }
}

/// The card that this build has not.
pub(crate) enum Card {}
