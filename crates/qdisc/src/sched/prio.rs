//! PRIO: bands by priority, of which the first that is not empty is served first. Each band is a discipline.
//!
//! Source: tc-prio(8), and `net/sched/sch_prio.c` where the page leaves something open. Without filters the band is
//! `priomap[priority]` (see [`Packet::priority`]). Linux gives a new band a `pfifo` as long as the device's
//! `txqueuelen`. In Linux each band is also a class, whose discipline can be replaced. A line has no classes, so all
//! bands are FIFOs here. The bands are any disciplines all the same, so that a tree can be built on them.
//!
//! A change to fewer bands drops the packets of those that go, and a change of `priomap` moves only later packets.

use super::fifo::Pfifo;
use super::fq::PRIOMAP as OF_THREE_BANDS;
use super::pfifo_fast::TXQUEUELEN as OF_PFIFO_FAST;
use crate::aqm::Managed;
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::{Packet, Plain};
use crate::param::{Args, Digits, Error, LIMIT, Link, Param, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Qdisc};
use crate::registry::AnyQdisc;
use crate::signal::{Drop, Owner};
use alloc::format;
use alloc::vec::Vec;
use goodqueue_units::Instant;

const MOST_BANDS: usize = 16;

const BANDS: Param<u32> =
    Param::count("bands", "number of bands").default(3).range(2, MOST_BANDS as u32).digits(Digits::Decimal);
const PRIOMAP: Param<[u32; 16]> = OF_THREE_BANDS.range(0, MOST_BANDS as u32 - 1).or_fewer().once();
const TXQUEUELEN: Param<u32> = OF_PFIFO_FAST.help("most packets that each band holds");

/// `tc`'s `prio`.
pub struct Prio<P> {
    bands: Vec<AnyQdisc<P>>,
    priomap: [u32; 16],
}

impl<P: Packet> Discipline<P> for Prio<P> {
    const SPEC: QdiscSpec =
        QdiscSpec::new("prio", params! { from "tc-prio(8)" => BANDS, PRIOMAP, TXQUEUELEN })
            .summary("Bands of FIFOs by priority: serves the first one that is not empty")
            .source("tc-prio(8)");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let (count, priomap) = (args.get(&BANDS), args.get(&PRIOMAP));
        if let Some(band) = priomap.iter().find(|band| **band >= count) {
            return Err(Error(format!(
                "prio priomap: found {band}; accepted: 0 to {}, as there are {count} bands",
                count - 1
            )));
        }
        let mut fifo = Args::defaults(const { &<Managed<Plain, Pfifo> as Discipline<Plain>>::SPEC });
        fifo.put(&LIMIT, args.get(&TXQUEUELEN));
        let bands = (0..count).map(|_| AnyQdisc::build(&fifo, link)).collect::<Result<_, _>>()?;
        Ok(Self { bands, priomap })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let mut fresh = Self::build(args, link)?;
        self.priomap = fresh.priomap;
        let kept = self.bands.len().min(fresh.bands.len());
        for mut band in self.bands.drain(kept..) {
            while let Some(packet) = band.dequeue(now, owner) {
                owner.dropped(packet, Drop::Overlimit);
            }
        }
        self.bands.extend(fresh.bands.drain(kept..));
        self.bands.iter_mut().try_for_each(|band| {
            let args = band.args().clone();
            band.reconfigure(now, args, *link, owner)
        })
    }

    fn look(&mut self) -> Look<'_, P> {
        let shows_none = |look: &Look<'_, P>| matches!(look, Look::Shown(None));
        let mut looks = self.bands.iter_mut().map(AnyQdisc::look);
        looks.find(|look| !shows_none(look)).unwrap_or(Look::Shown(None))
    }
}

/// The names of the bands, in the order in which they are served. `fq` and `pfifo_fast` have the first three.
pub(super) const BAND_NAMES: [&str; MOST_BANDS] = [
    "band 0", "band 1", "band 2", "band 3", "band 4", "band 5", "band 6", "band 7", "band 8", "band 9",
    "band 10", "band 11", "band 12", "band 13", "band 14", "band 15",
];

impl<P: Packet> Prio<P> {
    #[inline]
    fn band_of(&self, packet: &P) -> usize {
        self.priomap[usize::from(packet.priority() & 15)] as usize
    }
}

impl<P: Packet> Qdisc<P> for Prio<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let band = self.band_of(&packet);
        self.bands[band].enqueue(now, packet, owner)
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.bands.iter_mut().find_map(|band| band.dequeue(now, owner))
    }

    fn next_timer(&self) -> Option<Instant> {
        self.bands.iter().filter_map(|band| band.next_timer()).min()
    }

    fn queues(&self) -> &'static [&'static str] {
        &BAND_NAMES[..self.bands.len()]
    }

    fn queue_of(&self, packet: &P) -> usize {
        self.band_of(packet)
    }

    fn is_work_conserving(&self) -> bool {
        self.bands.iter().all(|band| band.is_work_conserving())
    }

    fn paces_sockets(&self) -> bool {
        self.bands.iter().any(|band| band.paces_sockets())
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        let due = |band: &&mut AnyQdisc<P>| band.next_timer().is_some_and(|due| due <= now);
        self.bands.iter_mut().filter(due).for_each(|band| band.on_timer(now, owner));
    }

    fn backlog(&self) -> Backlog {
        self.bands.iter().map(|band| band.backlog()).sum()
    }

    /// Shows how many packets wait in each band.
    fn probe(&self, probe: &mut dyn Probe) {
        const NAMES: [&str; MOST_BANDS] = [
            "band0", "band1", "band2", "band3", "band4", "band5", "band6", "band7", "band8", "band9",
            "band10", "band11", "band12", "band13", "band14", "band15",
        ];
        for (name, band) in NAMES.into_iter().zip(&self.bands) {
            let packets = band.backlog().packets;
            probe.measured(name, packets.into(), Measure::Packets(Some(packets.into())));
        }
    }
}

#[cfg(test)]
mod tests;
