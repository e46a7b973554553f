//! A scenario without tables of subscribers, for programs that know only trees and traffic.

use crate::scenario::Scenario;

impl Scenario {
    /// Returns the scenario with the trees and the traffic that follow from its subscribers, written out.
    #[must_use]
    pub fn expanded(&self) -> Self {
        let mut scenario = Self { isp: None, ..self.clone() };
        (scenario.bottleneck.down.of_leaves, scenario.bottleneck.up.of_leaves) = (None, None);
        scenario.traffic.iter_mut().for_each(|traffic| traffic.subscriber = None);
        scenario
    }

    /// Returns the place of the subscriber of each flow. `None`: the flow is not a subscriber's.
    #[must_use]
    pub fn subscribers_of_flows(&self) -> Vec<Option<u32>> {
        let of = |one: &crate::scenario::Traffic| std::iter::repeat_n(one.subscriber, one.count as usize);
        self.traffic.iter().flat_map(of).collect()
    }
}
