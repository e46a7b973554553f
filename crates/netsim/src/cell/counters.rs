//! The counts of one direction of a cell: of all its queues, and of the air.

use super::session::Queued;
use crate::link::{Counts, Fates};
use crate::lists::PerFlow;
use crate::probe::delay::QueueDelays;
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Duration, Instant};

/// The counts of one direction.
pub(crate) struct Counters {
    pub(crate) fates: Fates,
    /// The time from a packet's arrival at the queue to its first transmission.
    pub(crate) delays: QueueDelays,
    /// The part of that time below the discipline.
    pub(crate) below: QueueDelays,
    pub(crate) offered: u64,
    pub(crate) forwarded: u64,
    pub(crate) forwarded_bytes: u64,
    /// The sum of all delays, in nanoseconds.
    pub(crate) delay_sum: u128,
    /// Packets by flow that were given up after they had been sent.
    pub(crate) lost: PerFlow<u64>,
    /// The time in which frames of this direction, with their answers, were on the air.
    pub(crate) airtime: Duration,
}

impl Counters {
    pub(crate) fn new(fates: Fates, flows: usize) -> Self {
        Self {
            fates,
            delays: QueueDelays::new(),
            below: QueueDelays::new(),
            offered: 0,
            forwarded: 0,
            forwarded_bytes: 0,
            delay_sum: 0,
            lost: vec![0; flows].into(),
            airtime: Duration::ZERO,
        }
    }

    /// Counts a packet that goes on the air for the first time.
    pub(crate) fn started(&mut self, now: Instant, Queued { packet, since, .. }: Queued) {
        let delay = now.since(packet.arrival);
        self.delays.record(delay);
        self.below.record(now.since(since));
        self.delay_sum += u128::from(delay.as_nanos());
        self.forwarded += 1;
        self.forwarded_bytes += u64::from(packet.len());
        if let Some(watch) = &mut self.fates.watch {
            watch.started(now, packet, delay);
        }
    }

    /// Returns the counts of packets so far. `queued` packets still wait.
    ///
    /// # Panics
    /// If a packet was lost or made out of nothing: offered = forwarded + dropped + queued must hold at any time.
    pub(crate) fn counts(&self, queued: u64) -> Counts {
        let &Self { forwarded, forwarded_bytes, .. } = self;
        let offered = self.offered + self.fates.copies;
        let dropped = self.fates.drops.iter().sum();
        assert_eq!(
            offered,
            forwarded + dropped + queued,
            "conservation: {forwarded} forwarded, {dropped} dropped"
        );
        Counts { offered, forwarded, forwarded_bytes, dropped, marked: self.fates.marks.iter().sum(), queued }
    }
}
