//! Where measuring begins: what a link had done by then is left out of the record.

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
    /// Measuring of `link` begins.
    pub(crate) fn of(link: &mut Link, now: Instant) -> Self {
        link.delays.reset();
        if let Some(ring) = link.ring_mut() {
            ring.delays.reset();
        }
        Self::new(link.counts(), link.busy_until(now), &link.fates)
    }

    /// What was counted and how long something was sent before, and which `fates` packets had.
    pub(crate) fn new(counts: Counts, busy: Duration, fates: &Fates) -> Self {
        Self { counts, busy, drops: fates.drops.to_vec(), marks: fates.marks.to_vec() }
    }
}
