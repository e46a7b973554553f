//! Stands for the records of subscribers in builds without the feature `complete`.

use crate::sim::Simulation;
use goodqueue_hosts::part::Shape;
use serde::Serialize;

/// The record that this build has not.
#[derive(Clone, Debug, Serialize)]
pub enum IspRecord {}
/// The series that this build has not.
#[derive(Clone, Debug, Serialize)]
pub enum NodeSeries {}

goodqueue_hosts::shapes! {
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
