//! Where measuring begins: what a link had done by then is left out of the record.

use crate::link::{Counts, Link};
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
        Self {
            counts: link.counts(),
            busy: link.busy_until(now),
            drops: link.fates.drops.to_vec(),
            marks: link.fates.marks.to_vec(),
        }
    }
}
