//! Stands for what the feature `complete` adds to records: none has a card or subscribers.

use crate::receive::Card;
use crate::sim::Simulation;
use goodqueue_hosts::part::Shape;
use serde::Serialize;

/// The record that this build has not.
#[derive(Clone, Copy, Debug, Serialize)]
pub enum CardRecord {}

impl CardRecord {
    pub(super) fn of(card: &Card) -> Self {
        match *card {}
    }
}

/// The record that this build has not.
#[derive(Clone, Debug, Serialize)]
pub enum IspRecord {}
/// The series that this build has not.
#[derive(Clone, Debug, Serialize)]
pub enum NodeSeries {}

goodqueue_hosts::shapes! {
    CardRecord => Shape::Anything,
    IspRecord => Shape::Anything,
    NodeSeries => Shape::Anything,
}

impl Simulation {
    /// Returns none.
    pub(super) fn isp(&self) -> Option<IspRecord> {
        None
    }

    /// Returns none.
    pub(super) fn node_series(&self) -> Vec<NodeSeries> {
        Vec::new()
    }
}
