//! What the feature `complete` adds to a run: cards that receive, `[autorate]`, and the counters of subscribers.

mod autorate;
mod cards;

pub(super) use autorate::Controller;
pub(crate) use cards::Cards;

use crate::observer::Watch;
use crate::probe::series::PacketLog;
use crate::probe::subscribers::{NOBODY, Shares};
use crate::scenario::Scenario;
use goodqueue_hosts::direction::Direction;
use std::sync::Arc;

/// The place of each flow's subscriber.
pub(super) type OfFlows = Arc<[u32]>;

/// Returns the place of each flow's subscriber, if `scenario` has subscribers.
pub(super) fn subscribers_of_flows(scenario: &Scenario) -> Option<OfFlows> {
    scenario.isp.as_ref()?;
    let tables = scenario.traffic.iter();
    let flows = tables.flat_map(|traffic| {
        std::iter::repeat_n(traffic.subscriber.unwrap_or(NOBODY), traffic.count as usize)
    });
    Some(flows.collect())
}

/// Returns the observer of the bottleneck of `direction`, if the scenario has subscribers or asks for a `log`.
pub(super) fn watch(
    scenario: &Scenario,
    of_flows: Option<&OfFlows>,
    direction: Direction,
    log: Option<PacketLog>,
) -> Option<Box<Watch>> {
    let (Some(isp), Some(of_flows)) = (&scenario.isp, of_flows) else {
        return Some(Box::new(Watch::new(direction, Some(log?))));
    };
    let mut watch = Watch::new(direction, log);
    watch.shares = Some(Box::new(Shares::new(isp.subscribers.len(), isp.nodes.len(), of_flows.clone())));
    Some(Box::new(watch))
}
