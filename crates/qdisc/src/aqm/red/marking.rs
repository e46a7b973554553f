//! The treatment of a packet that the law of RED or CHOKe condemns: mark, drop, or neither, with the counters of `tc
//! -s`.

use super::super::mark;
use super::Verdict;
use crate::packet::Packet;
use crate::qdisc::Probe;
use crate::signal::{Drop, Mark, Owner};

/// The flags of RED's line, and the counters.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::aqm) struct Marking {
    ecn: bool,
    harddrop: bool,
    nodrop: bool,
    prob_drop: u64,
    prob_mark: u64,
    forced_drop: u64,
    forced_mark: u64,
    pdrop: u64,
}

impl Marking {
    pub(in crate::aqm) fn new(ecn: bool, harddrop: bool, nodrop: bool) -> Self {
        Self { ecn, harddrop, nodrop, ..Self::default() }
    }

    /// Returns these counters with the flags of `other`.
    pub(in crate::aqm) fn under(self, other: Self) -> Self {
        let Self { ecn, harddrop, nodrop, .. } = other;
        Self { ecn, harddrop, nodrop, ..self }
    }

    /// Returns why `packet` is to be dropped. `None`: it is queued, because it passed, was marked or must not be
    /// dropped.
    #[inline(never)] // for the instruction cache: most packets pass
    pub(in crate::aqm) fn condemn<P: Packet, O: Owner<P>>(
        &mut self,
        verdict: Verdict,
        packet: &mut P,
        owner: &mut O,
    ) -> Option<Drop> {
        let (marked, dropped, hard, as_mark, as_drop) = match verdict {
            Verdict::Pass => return None,
            Verdict::Early => (&mut self.prob_mark, &mut self.prob_drop, false, Mark::Early, Drop::Early),
            Verdict::Forced => {
                (&mut self.forced_mark, &mut self.forced_drop, self.harddrop, Mark::Forced, Drop::Forced)
            }
        };
        if self.ecn && !hard {
            if mark(packet, as_mark, owner) {
                *marked += 1;
                return None;
            }
            if self.nodrop {
                return None;
            }
        }
        *dropped += 1;
        Some(as_drop)
    }

    /// Counts a packet that found the queue full.
    pub(in crate::aqm) fn refused(&mut self) {
        self.pdrop += 1;
    }

    /// Shows the counters under Linux's names.
    pub(in crate::aqm) fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("prob_drop", self.prob_drop.into());
        probe.integer("prob_mark", self.prob_mark.into());
        probe.integer("forced_drop", self.forced_drop.into());
        probe.integer("forced_mark", self.forced_mark.into());
        probe.integer("pdrop", self.pdrop.into());
    }
}
