//! Stands for the program of `[autorate]` in builds without the feature `complete`.

use super::Simulation;
use crate::flow::Flow;
use crate::ids::FlowId;
use crate::lists::PerFlow;
use crate::scenario::Scenario;
use goodqueue_units::Duration;

/// The program that this build has not.
pub(crate) enum Controller {}

impl Controller {
    pub(crate) fn of(_scenario: &Scenario, _flows: &PerFlow<Flow>) -> Option<Box<Self>> {
        None
    }
}

impl Simulation {
    pub(super) fn autorate(&mut self, _flow: FlowId, _rtt: Duration) {}
}
