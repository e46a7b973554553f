//! The counts of a link at the end of the warm-up. The record leaves them out.

use crate::link::{Counts, Fates, Link};
use goodqueue_units::{Duration, Instant};

/// A link's totals when measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    pub(crate) counts: Counts,
    pub(crate) busy: Duration,
    pub(crate) drops: Vec<u64>,
    pub(crate) marks: Vec<u64>,
}

impl Baseline {
    /// Returns the baseline of `link` at `now`, and resets its delay statistics.
    pub(crate) fn of(link: &mut Link, now: Instant) -> Self {
        link.delays.reset();
        if let Some(ring) = link.ring_mut() {
            ring.delays.reset();
        }
        Self::new(link.counts(), link.busy_until(now), &link.fates)
    }

    /// Builds a baseline from the packets counted, the time that the link was `busy`, and the `fates` of packets.
    pub(crate) fn new(counts: Counts, busy: Duration, fates: &Fates) -> Self {
        Self { counts, busy, drops: fates.drops.to_vec(), marks: fates.marks.to_vec() }
    }
}
