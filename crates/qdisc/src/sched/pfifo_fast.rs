//! Three FIFOs, of which the first that is not empty is served first: Linux's default on an interface without
//! configuration.
//!
//! Source: tc-pfifo_fast(8), and tc-prio(8) for the bands of the priorities. Each band is a ring of `txqueuelen`
//! slots. The golden traces show a behaviour that the pages do not describe: served slots are freed in batches of 16,
//! and when the end of the ring is reached. So up to 15 slots may be unusable for a while, and a band may refuse a
//! packet although fewer than `txqueuelen` wait. A ring of less than 32 slots frees each slot at once.
//!
//! The band follows from [`Packet::priority`]. There is no limit for all bands together.

use super::prio::BAND_NAMES;
use crate::discipline::Discipline;
use crate::fifo::Fifo;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, Param, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::{Drop, Owner};
use alloc::format;
use goodqueue_units::Instant;

/// The band of each priority (tc-prio(8)'s default `priomap`).
const PRIO_TO_BAND: [u8; 16] = [1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1];
/// Number of slots that are freed together: two cache lines of pointers.
const BATCH: u32 = 16;

/// A FIFO whose slots are freed some time after its packets leave.
#[derive(Clone, Debug)]
struct Band<P> {
    packets: Fifo<P>,
    size: u32,
    batch: u32,
    /// Slot of the next arrival.
    producer: u32,
    /// Slot of the packet to be served next.
    consumer_head: u32,
    /// First slot that was served and is not yet free.
    consumer_tail: u32,
}

impl<P: Packet> Band<P> {
    fn new(size: u32) -> Self {
        let batch = if BATCH > size / 2 { 1 } else { BATCH };
        Self { packets: Fifo::default(), size, batch, producer: 0, consumer_head: 0, consumer_tail: 0 }
    }

    /// Appends `packet`, or returns it if no slot is free.
    #[inline]
    fn push(&mut self, packet: P) -> Result<(), P> {
        let unfreed = self.consumer_head - self.consumer_tail;
        if self.packets.len() as u32 + unfreed >= self.size {
            return Err(packet);
        }
        self.producer = (self.producer + 1) % self.size;
        self.packets.push(packet);
        Ok(())
    }

    #[inline]
    fn pop(&mut self) -> Option<P> {
        let packet = self.packets.pop()?;
        self.consumer_head += 1;
        if self.consumer_head == self.size {
            (self.consumer_head, self.consumer_tail) = (0, 0);
        } else if self.consumer_head - self.consumer_tail >= self.batch {
            self.consumer_tail = self.consumer_head;
        }
        Some(packet)
    }
}

/// `pfifo_fast`.
#[derive(Clone, Debug)]
pub struct PfifoFast<P> {
    bands: [Band<P>; 3],
}

/// Ring size. It is fixed, because Linux changes it with `ip link`, not with `tc`.
pub(super) const TXQUEUELEN: Param<u32> =
    Param::packets("txqueuelen", "most packets that each of the three bands holds")
        .default(1000)
        .range(1, 1_000_000)
        .fixed()
        .source("tc-pfifo_fast(8), ip-link(8): Ethernet's default");

impl<P: Packet> Discipline<P> for PfifoFast<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("pfifo_fast", params! { TXQUEUELEN })
        .summary("Three FIFOs by priority: serves the first one that is not empty")
        .source("tc-pfifo_fast(8); Linux 6.1 (golden traces)");

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        let size = args.get(&TXQUEUELEN);
        Ok(Self { bands: core::array::from_fn(|_| Band::new(size)) })
    }

    /// Does nothing: the only parameter is fixed, and nothing follows from the link.
    fn change<O: Owner<P>>(&mut self, _: Instant, _: &Args, _: &Link, _: &mut O) -> Result<(), Error> {
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        let heads = self.bands.iter().map(|band| band.packets.head());
        Look::Shown({ heads }.flatten().next().map(P::len))
    }
}

impl<P: Packet> Qdisc<P> for PfifoFast<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let band = self.queue_of(&packet);
        match self.bands[band].push(packet) {
            Ok(()) => Enqueued::Success,
            Err(packet) => {
                owner.dropped(packet, Drop::Overlimit);
                Enqueued::Dropped
            }
        }
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, _now: Instant, _owner: &mut O) -> Option<P> {
        self.bands.iter_mut().find_map(Band::pop)
    }

    fn queues(&self) -> &'static [&'static str] {
        &BAND_NAMES[..self.bands.len()]
    }

    #[inline]
    fn queue_of(&self, packet: &P) -> usize {
        PRIO_TO_BAND[usize::from(packet.priority() & 15)].into()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        let [first, second, third] = self.bands.each_ref().map(|band| band.packets.backlog());
        Backlog {
            packets: first.packets + second.packets + third.packets,
            bytes: first.bytes + second.bytes + third.bytes,
        }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        for (name, band) in ["band0", "band1", "band2"].into_iter().zip(&self.bands) {
            let Band { producer, consumer_head, consumer_tail, .. } = band;
            probe.text(name, format!("{producer}:{consumer_head}:{consumer_tail}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Noted;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::Rate;
    use std::vec::Vec;

    fn pfifo_fast(words: &str) -> PfifoFast<Plain> {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        static SPEC: QdiscSpec = PfifoFast::<Plain>::SPEC;
        PfifoFast::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap()
    }

    /// DSCP 4 is TOS 0x10, priority 6, band 0. DSCP 0 is band 1. DSCP 2 is TOS 0x08, bulk, band 2.
    #[test]
    fn a_later_band_waits_for_the_earlier_ones() {
        let (mut qdisc, mut owner) = (pfifo_fast(""), Noted::default());
        for (id, dscp) in [(0, 2), (1, 0), (2, 4), (3, 0), (4, 4)] {
            qdisc.enqueue(Instant::ZERO, Plain { id, dscp, ..Plain::new(100) }, &mut owner);
        }
        assert_eq!(qdisc.backlog(), Backlog { packets: 5, bytes: 500 });
        let out: Vec<u64> =
            core::iter::from_fn(|| qdisc.dequeue(Instant::ZERO, &mut owner)).map(|p| p.id).collect();
        assert_eq!(out, [2, 4, 1, 3, 0]);
    }

    /// 15 of 40 slots were served, but none is free before the 16th. Then there is room for 16. The end of the ring
    /// must free the rest: 24 more are served, 8 of them since the batch that ended at 32.
    #[test]
    fn slots_are_freed_in_batches() {
        let (mut qdisc, mut owner) = (pfifo_fast("txqueuelen 40"), Noted::default());
        let offer = |qdisc: &mut PfifoFast<Plain>, owner: &mut Noted| {
            (0..100)
                .take_while(|_| qdisc.enqueue(Instant::ZERO, Plain::new(100), owner) == Enqueued::Success)
                .count()
        };
        assert_eq!(offer(&mut qdisc, &mut owner), 40);
        let served = |count: usize, qdisc: &mut PfifoFast<Plain>, owner: &mut Noted| {
            assert!((0..count).all(|_| qdisc.dequeue(Instant::ZERO, owner).is_some()));
        };
        served(15, &mut qdisc, &mut owner);
        assert_eq!(offer(&mut qdisc, &mut owner), 0);
        served(1, &mut qdisc, &mut owner);
        assert_eq!(offer(&mut qdisc, &mut owner), 16);
        served(23, &mut qdisc, &mut owner);
        assert_eq!(offer(&mut qdisc, &mut owner), 16);
        served(1, &mut qdisc, &mut owner);
        assert_eq!(offer(&mut qdisc, &mut owner), 8);
    }

    #[test]
    fn a_small_ring_frees_each_slot_at_once() {
        for (words, room) in [("txqueuelen 31", 1), ("txqueuelen 32", 0)] {
            let (mut qdisc, mut owner) = (pfifo_fast(words), Noted::default());
            for _ in 0..32 {
                qdisc.enqueue(Instant::ZERO, Plain::new(100), &mut owner);
            }
            qdisc.dequeue(Instant::ZERO, &mut owner);
            let told = qdisc.enqueue(Instant::ZERO, Plain::new(100), &mut owner);
            assert_eq!(told == Enqueued::Success, room == 1, "{words}");
        }
    }

    /// A shaper above asks for the head. It must not miss a packet because an earlier band is empty.
    #[test]
    fn its_head_is_that_of_the_first_band_with_any() {
        let (mut qdisc, mut owner) = (pfifo_fast(""), Noted::default());
        assert!(matches!(qdisc.look(), Look::Shown(None)));
        for (dscp, len) in [(2, 300), (0, 200), (4, 100)] {
            qdisc.enqueue(Instant::ZERO, Plain { dscp, ..Plain::new(len) }, &mut owner);
            assert_eq!(qdisc.look().length(), Some(len));
        }
    }
}
