//! What each subscriber got at the bottleneck: delays, bytes, and the best second.

use crate::ids::{FlowId, Number};
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_qdisc::registry::Limits;
use goodqueue_units::{Duration, Instant, processor::prefetch};
use std::sync::Arc;

const SECOND: u64 = 1_000_000_000;
/// Stands for the subscriber of a flow that belongs to none.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The counters of a run with subscribers.
pub(crate) type OfSubscribers = Box<Shares>;

/// What is counted of all subscribers in one direction.
pub(crate) struct Shares {
    /// The subscriber of each flow.
    of_flow: Arc<[u32]>,
    pub(crate) list: Vec<Share>,
    since: Instant,
    /// The number of the tree's nodes, which are its first classes.
    nodes: usize,
    /// What the tree's classes had done when measuring began.
    pub(crate) before: Option<Limits>,
    /// What the tree's classes had done at the end of each interval.
    pub(crate) intervals: Vec<Limits>,
}

/// What one subscriber got.
pub(crate) struct Share {
    pub(crate) delays: FlowDelays,
    pub(crate) bytes: u64,
    pub(crate) dropped: u64,
    pub(crate) offered: u64,
    /// The present second of the measured time, and the bytes in it.
    second: (u64, u64),
    most_in_a_second: u64,
}

impl Share {
    fn new() -> Self {
        Self {
            delays: FlowDelays::new(),
            bytes: 0,
            dropped: 0,
            offered: 0,
            second: (0, 0),
            most_in_a_second: 0,
        }
    }

    /// Returns the most bytes that left within one second.
    pub(crate) fn peak(&self) -> u64 {
        self.most_in_a_second.max(self.second.1)
    }
}

impl Shares {
    /// Returns empty counters for this number of subscribers, below this number of nodes. `of_flow` has the place of
    /// each flow's subscriber, or [`NOBODY`].
    pub(crate) fn new(subscribers: usize, nodes: usize, of_flow: Arc<[u32]>) -> Self {
        let list = (0..subscribers).map(|_| Share::new()).collect();
        Self { of_flow, list, since: Instant::ZERO, nodes, before: None, intervals: Vec::new() }
    }

    fn of(&mut self, flow: FlowId) -> Option<&mut Share> {
        let place = self.of_flow.get(flow.index()).copied().unwrap_or(NOBODY);
        self.list.get_mut(place as usize)
    }

    /// Prefetches the counters of the subscriber of `flow`.
    pub(crate) fn prefetch(&self, flow: FlowId) {
        let place = self.of_flow.get(flow.index()).copied().unwrap_or(NOBODY);
        if let Some(share) = self.list.get(place as usize) {
            prefetch(share);
        }
    }

    /// Prefetches where the next delay of the subscriber of `flow` is counted.
    pub(crate) fn prefetch_room(&self, flow: FlowId) {
        let place = self.of_flow.get(flow.index()).copied().unwrap_or(NOBODY);
        if let Some(share) = self.list.get(place as usize) {
            share.delays.prefetch_room();
        }
    }

    /// Counts a packet that arrives.
    pub(crate) fn offered(&mut self, flow: FlowId) {
        if let Some(share) = self.of(flow) {
            share.offered += 1;
        }
    }

    /// Counts a packet that is dropped.
    pub(crate) fn dropped(&mut self, flow: FlowId) {
        if let Some(share) = self.of(flow) {
            share.dropped += 1;
        }
    }

    /// Counts a packet that leaves at `now`.
    pub(crate) fn started(&mut self, now: Instant, delay: Duration, flow: FlowId, len: u32) {
        let second = now.since(self.since).as_nanos() / SECOND;
        let Some(share) = self.of(flow) else { return };
        share.delays.record(delay);
        share.bytes += u64::from(len);
        if share.second.0 != second {
            share.most_in_a_second = share.peak();
            share.second = (second, 0);
        }
        share.second.1 += u64::from(len);
    }

    /// Ends an interval of the series, at which the tree's classes have done `limits`.
    pub(crate) fn end_interval(&mut self, mut limits: Limits) {
        limits.classes.truncate(self.nodes);
        self.intervals.push(limits);
    }

    /// Forgets what happened before `now`. `limits` is what the tree's classes have done.
    pub(crate) fn begin_measuring(&mut self, now: Instant, limits: Option<Limits>) {
        self.since = now;
        self.before = limits;
        self.list.iter_mut().for_each(|share| *share = Share::new());
    }
}
