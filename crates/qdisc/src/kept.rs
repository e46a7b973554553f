//! The packet that a shaper looks at before it takes it.
//!
//! Source: `qdisc_peek_dequeued` and `qdisc_dequeue_peeked` (include/net/sch_generic.h, Linux 6.1). A shaper must know
//! a packet's length before the packet may leave. Some queues show their head. In all other disciplines only a dequeue
//! says which packet leaves, so the shaper has the packet taken out, and the discipline keeps it until the shaper takes
//! it (Linux: in `gso_skb`). A packet that is kept still counts: in the backlog, for the limit, and for a law that
//! looks at the backlog.

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::qdisc::Backlog;
use crate::signal::{Drop, Owner};
use alloc::boxed::Box;

/// How a discipline shows the packet that leaves next to a shaper above it.
pub enum Look<'a, P> {
    /// Without taking it out: its length in bytes, or that no packet waits.
    Shown(Option<u32>),
    /// Taken out and put back ahead of all others in the discipline's FIFO. The flag says that this packet is there.
    Ahead(&'a mut Fifo<P>, &'a mut bool),
    /// Taken out and kept beside the queues. It counts in this backlog.
    Beside(&'a mut Option<P>, &'a mut Backlog),
    /// The same, in a box: a discipline that is seldom below a shaper then has no room for a packet.
    Boxed(&'a mut Option<Box<P>>, &'a mut Backlog),
}

impl<P: Packet> Look<'_, P> {
    /// Returns the length of the packet that leaves next, if it is shown or kept.
    pub(crate) fn length(&self) -> Option<u32> {
        match self {
            Self::Shown(len) => *len,
            Self::Ahead(queue, true) => queue.head().map(P::len),
            Self::Ahead(_, false) => None,
            Self::Beside(kept, _) => kept.as_ref().map(P::len),
            Self::Boxed(kept, _) => kept.as_deref().map(P::len),
        }
    }

    /// Keeps `packet`, which has just been taken out.
    pub(crate) fn keep<O: Owner<P>>(self, packet: P, owner: &mut O) {
        match self {
            // No caller takes out a packet that is shown.
            Self::Shown(_) => owner.dropped(packet, Drop::Overlimit),
            Self::Ahead(queue, is_there) => {
                queue.put_back(packet);
                *is_there = true;
            }
            Self::Beside(kept, backlog) => {
                backlog.packets += 1;
                backlog.bytes += u64::from(packet.len());
                *kept = Some(packet);
            }
            Self::Boxed(kept, backlog) => {
                backlog.packets += 1;
                backlog.bytes += u64::from(packet.len());
                *kept = Some(Box::new(packet));
            }
        }
    }

    /// Takes the packet that is kept.
    pub(crate) fn take(self) -> Option<P> {
        match self {
            Self::Shown(_) => None,
            Self::Ahead(queue, is_there) => core::mem::take(is_there).then(|| queue.pop())?,
            Self::Beside(kept, backlog) => {
                let packet = kept.take()?;
                backlog.packets -= 1;
                backlog.bytes -= u64::from(packet.len());
                Some(packet)
            }
            Self::Boxed(kept, backlog) => {
                let packet = *kept.take()?;
                backlog.packets -= 1;
                backlog.bytes -= u64::from(packet.len());
                Some(packet)
            }
        }
    }
}

/// A place for the packet that is kept, in a discipline that computes its backlog from its queues.
#[derive(Clone, Debug)]
pub(crate) struct Kept<P> {
    packet: Option<P>,
    /// What the packet adds to the backlog.
    pub(crate) backlog: Backlog,
}

impl<P> Default for Kept<P> {
    fn default() -> Self {
        Self { packet: None, backlog: Backlog::default() }
    }
}

impl<P> Kept<P> {
    /// Returns the place.
    pub(crate) fn look(&mut self) -> Look<'_, P> {
        Look::Beside(&mut self.packet, &mut self.backlog)
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Plain;
    use crate::registry::ALL;
    use crate::sched::Noted;
    use crate::{AnyQdisc, Backlog, Link, Qdisc};
    use goodqueue_units::{Instant, Rate};

    const LINK: Link = Link { rate: Rate::from_bps(100_000_000).unwrap(), mtu: 1514 };

    /// Offers a packet of 1000 bytes more than `id`, of a flow of its own.
    fn offer(qdisc: &mut AnyQdisc<Plain>, id: u32, owner: &mut Noted) {
        let packet = Plain { id: id.into(), flow_hash: id << 29, ..Plain::new(1000 + id) };
        qdisc.enqueue(Instant::ZERO, packet, owner);
    }

    /// A shaper that looks at the next packet changes nothing that others see: the packet counts until it leaves, and
    /// it is the one that leaves.
    #[test]
    fn a_look_at_any_discipline_changes_nothing() {
        for spec in ALL {
            let (mut qdisc, mut owner) = (AnyQdisc::parse(spec.name, &LINK).unwrap(), Noted::default());
            (0..4).for_each(|id| offer(&mut qdisc, id, &mut owner));
            let all = Backlog { packets: 4, bytes: 4006 };
            for _ in 0..2 {
                let len = qdisc.peek(Instant::ZERO, &mut owner);
                assert_eq!((len, qdisc.backlog()), (Some(1000), all), "{}", spec.name);
            }
            offer(&mut qdisc, 4, &mut owner);
            let packet = qdisc.take(Instant::ZERO, &mut owner).unwrap();
            let left = Backlog { packets: 4, bytes: 4010 };
            assert_eq!((packet.id, qdisc.backlog()), (0, left), "{}", spec.name);
            assert!(owner.dropped.is_empty(), "{}", spec.name);
            // 200 us are enough for a packet where a shaper has the link's rate.
            let later = (1..=4).map(|step| Instant::from_nanos(step * 200_000));
            let rest = later.filter_map(|now| qdisc.take(now, &mut owner)).count();
            assert_eq!((rest, qdisc.backlog()), (4, Backlog::default()), "{}", spec.name);
        }
    }

    /// Linux 6.1, `qdisc_peek_dequeued`: "it's still part of the queue". Three packets fill the limit, and the look at
    /// one of them makes no room for a fourth.
    #[test]
    fn a_packet_that_was_looked_at_counts_for_the_limit() {
        for name in
            ["pfifo", "codel", "pie", "fq_codel", "fq_pie", "sfq", "netem", "dualpi2", "red_gentle", "pi"]
        {
            let line = alloc::format!("{name} limit 3");
            let (mut qdisc, mut owner) = (AnyQdisc::parse(&line, &LINK).unwrap(), Noted::default());
            (0..3).for_each(|id| offer(&mut qdisc, id, &mut owner));
            assert_eq!(qdisc.peek(Instant::ZERO, &mut owner), Some(1000), "{line}");
            offer(&mut qdisc, 3, &mut owner);
            assert_eq!((qdisc.backlog().packets, owner.dropped.len()), (3, 1), "{line}");
            assert_eq!(qdisc.take(Instant::ZERO, &mut owner).map(|packet| packet.id), Some(0), "{line}");
        }
    }

    /// A smaller limit drops the oldest packets, of which the packet that was looked at is the first
    /// (`qdisc_dequeue_internal`).
    #[test]
    fn a_change_drops_the_packet_that_was_looked_at_first() {
        for name in ["codel", "pie", "fq_codel", "fq_pie", "dualpi2"] {
            let (mut qdisc, mut owner) = (AnyQdisc::parse(name, &LINK).unwrap(), Noted::default());
            (0..3).for_each(|id| offer(&mut qdisc, id, &mut owner));
            assert_eq!(qdisc.peek(Instant::ZERO, &mut owner), Some(1000), "{name}");
            qdisc.change(Instant::ZERO, &alloc::format!("{name} limit 2"), &mut owner).unwrap();
            assert_eq!((qdisc.backlog().packets, owner.dropped.as_slice()), (2, [0].as_slice()), "{name}");
            let rest = core::iter::from_fn(|| qdisc.take(Instant::ZERO, &mut owner)).count();
            assert_eq!((rest, qdisc.backlog()), (2, Backlog::default()), "{name}");
        }
    }
}
