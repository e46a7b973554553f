//! The marks of each flow, in builds without the feature `complete`.

use crate::headers::FlowHeaders;
use crate::scenario::Scenario;
use std::sync::Arc;

impl FlowHeaders {
    /// Returns the marks of the flows of `scenario`.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let marks = scenario.traffic.iter();
        let marks = marks.flat_map(|traffic| std::iter::repeat_n(traffic.mark, traffic.count as usize));
        Self(Arc::new(marks.collect()))
    }
}
