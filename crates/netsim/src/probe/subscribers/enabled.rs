//! What each subscriber got at the bottleneck: delays, bytes, and the best second.

use crate::ids::{FlowId, Number};
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_qdisc::registry::Limits;
use goodqueue_units::{Duration, Instant, processor::prefetch};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SECOND: u64 = 1_000_000_000;
/// Stands for the subscriber of a flow that belongs to none.
pub(crate) const NOBODY: u32 = u32::MAX;

/// The counters of a run with subscribers.
pub(crate) type OfSubscribers = Box<Shares>;

/// What is counted of all subscribers in one direction.
pub(crate) struct Shares {
    /// The subscriber of each flow.
    of_flow: Arc<[u32]>,
    /// Behind a lock, because who reads the counters has to post what waits. Packets need no lock.
    counts: Mutex<Counts>,
    since: Instant,
    /// The number of the tree's nodes, which are its first classes.
    nodes: usize,
    /// What the tree's classes had done when measuring began.
    pub(crate) before: Option<Limits>,
    /// What the tree's classes had done at the end of each interval.
    pub(crate) intervals: Vec<Limits>,
}

/// The counters, and what is not posted to them yet. The packets of ten thousand subscribers come in turns, so that no
/// counter stands in a cache: the processor waits less if it knows many of them at once.
struct Counts {
    list: Vec<Share>,
    offered: Vec<u32>,
    started: Vec<Started>,
}

/// So many packets wait before they are posted.
const BATCH: usize = 128;
/// How far ahead of the present packet the counters of another one are prefetched, and its room in them.
const AHEAD: (usize, usize) = (24, 12);

/// A packet that has left.
struct Started {
    /// Its subscriber's place.
    share: u32,
    len: u32,
    second: u64,
    delay: Duration,
}

impl Counts {
    /// Posts what waits.
    fn post(&mut self) {
        let Self { list, offered, started } = self;
        started.iter().take(AHEAD.0).for_each(|first| prefetch(&list[first.share as usize]));
        for (at, share) in offered.iter().enumerate() {
            if let Some(later) = offered.get(at + AHEAD.0) {
                prefetch(&list[*later as usize].offered);
            }
            list[*share as usize].offered += 1;
        }
        for (at, one) in started.iter().enumerate() {
            if let Some(later) = started.get(at + AHEAD.0) {
                prefetch(&list[later.share as usize]);
            }
            if let Some(later) = started.get(at + AHEAD.1) {
                list[later.share as usize].delays.prefetch_room();
            }
            list[one.share as usize].started(one);
        }
        offered.clear();
        started.clear();
    }
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

    /// Counts a packet that has left.
    fn started(&mut self, one: &Started) {
        let bytes = u64::from(one.len);
        self.delays.record(one.delay);
        self.bytes += bytes;
        if self.second.0 != one.second {
            self.most_in_a_second = self.peak();
            self.second = (one.second, 0);
        }
        self.second.1 += bytes;
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
        let counts = Mutex::new(Counts {
            list,
            offered: Vec::with_capacity(BATCH),
            started: Vec::with_capacity(BATCH),
        });
        Self { of_flow, counts, since: Instant::ZERO, nodes, before: None, intervals: Vec::new() }
    }

    /// Returns what `read` makes of the counters of all subscribers, in their order.
    pub(crate) fn read<T>(&self, read: impl FnMut(&Share) -> T) -> Vec<T> {
        let mut counts: MutexGuard<'_, Counts> = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.post();
        counts.list.iter().map(read).collect()
    }

    fn counts(&mut self) -> &mut Counts {
        self.counts.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the place of the subscriber of `flow`, unless it belongs to none.
    fn of(&self, flow: FlowId) -> Option<u32> {
        self.of_flow.get(flow.index()).copied().filter(|share| *share != NOBODY)
    }

    /// Counts a packet that arrives.
    pub(crate) fn offered(&mut self, flow: FlowId) {
        let Some(share) = self.of(flow) else { return };
        let counts = self.counts();
        counts.offered.push(share);
        if counts.offered.len() == BATCH {
            counts.post();
        }
    }

    /// Counts a packet that is dropped.
    pub(crate) fn dropped(&mut self, flow: FlowId) {
        if let Some(share) = self.of(flow) {
            self.counts().list[share as usize].dropped += 1;
        }
    }

    /// Counts a packet that leaves at `now`.
    pub(crate) fn started(&mut self, now: Instant, delay: Duration, flow: FlowId, len: u32) {
        let second = now.since(self.since).as_nanos() / SECOND;
        let Some(share) = self.of(flow) else { return };
        let counts = self.counts();
        counts.started.push(Started { share, len, second, delay });
        if counts.started.len() == BATCH {
            counts.post();
        }
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
        let counts = self.counts();
        counts.post();
        counts.list.iter_mut().for_each(|share| *share = Share::new());
    }
}
