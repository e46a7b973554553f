//! First in, first out. `pfifo` has a limit in packets, `bfifo` in bytes; both are drop-tail. `pfifo_head_drop` drops
//! the oldest packet instead of the arriving one. A limit in packets over one FIFO is a law under
//! [`Managed`](crate::aqm::Managed), as the control laws are.
//!
//! Source: tc-pfifo(8). `pfifo_head_drop` has no page, so its source is the golden traces: the arrival is queued, and
//! the result is [`Enqueued::Congestion`] if another packet was dropped. If the line has no limit, Linux takes the
//! device's `txqueuelen`. Here the default is 1000 packets, or the bytes of 1000 full frames.

use crate::aqm::Aqm;
use crate::discipline::Discipline;
use crate::fifo::Fifo;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, Digits, Error, Link, Param, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Qdisc};
use crate::signal::{Drop, Owner};
use goodqueue_units::Instant;

/// `tc` reads the packets as it reads a size, so that `10k` are 10240, and takes a queue of no packets.
const LIMIT: Param<u32> = crate::param::LIMIT.digits(Digits::Size).zero_is_a_value().range(0, u32::MAX);

/// `pfifo`: at most `limit` packets.
#[derive(Clone, Copy, Debug)]
pub struct Pfifo(usize);

impl Aqm for Pfifo {
    const SPEC: QdiscSpec = QdiscSpec::new("pfifo", params! { LIMIT.source("tc-pfifo(8): txqueuelen") })
        .summary("First in, first out: drops arrivals while `limit` packets wait")
        .source("tc-pfifo(8)");

    const SHOWS_HEAD: bool = true;

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        Ok(Self(args.get(&LIMIT) as usize))
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        *self = Self::build(args, link)?;
        Ok(())
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        if queue.len() < self.0 {
            queue.push(packet);
            return Enqueued::Success;
        }
        owner.dropped(packet, Drop::Overlimit);
        Enqueued::Dropped
    }

    #[inline]
    fn dequeue_to<P: Packet, O: Owner<P>, R>(
        &mut self,
        _now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
        send: impl FnOnce(&P, u32) -> R,
    ) -> Option<R> {
        queue.pop_to(send)
    }

    #[inline]
    fn pass(&mut self) -> bool {
        self.0 > 0
    }
}

pub(super) const LIMIT_BYTES: Param<u64> = Param::bytes("limit", "most bytes that the queue holds")
    .default(1_514_000)
    .range(0, u32::MAX as u64)
    .source("tc-bfifo(8): txqueuelen times the frame");

/// `bfifo`: at most `limit` bytes.
// For the processor: under `Managed` the arrival time is set before the length is read, and a packet then costs two to
// five instructions more, because it is copied in smaller pieces.
#[derive(Clone, Debug)]
pub struct Bfifo<P> {
    queue: Fifo<P>,
    limit: u64,
}

impl<P: Packet> Discipline<P> for Bfifo<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("bfifo", params! { LIMIT_BYTES })
        .summary("First in, first out: drops an arrival that would exceed `limit` bytes")
        .source("tc-bfifo(8)");

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        Ok(Self { queue: Fifo::default(), limit: args.get(&LIMIT_BYTES) })
    }

    /// Sets the limit. Packets above it stay, as in Linux (`fifo_init`).
    fn change<O: Owner<P>>(
        &mut self,
        _now: Instant,
        args: &Args,
        link: &Link,
        _owner: &mut O,
    ) -> Result<(), Error> {
        self.limit = Self::build(args, link)?.limit;
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.queue.look()
    }
}

impl<P: Packet> Qdisc<P> for Bfifo<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        let fits = self.queue.bytes() + u64::from(packet.len()) <= self.limit;
        packet.set_arrival(now);
        if fits {
            self.queue.push(packet);
            return Enqueued::Success;
        }
        owner.dropped(packet, Drop::Overlimit);
        Enqueued::Dropped
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, _now: Instant, _owner: &mut O) -> Option<P> {
        self.queue.pop()
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.queue.backlog()
    }
}

/// `pfifo_head_drop`: at most `limit` packets, the newest ones.
#[derive(Clone, Copy, Debug)]
pub struct PfifoHeadDrop(usize);

impl Aqm for PfifoHeadDrop {
    const SPEC: QdiscSpec = QdiscSpec::new("pfifo_head_drop", Pfifo::SPEC.params)
        .summary("First in, first out: drops the oldest packet when `limit` packets wait and one arrives")
        .source("Linux 6.1 (golden traces)");

    const SHOWS_HEAD: bool = true;

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        Ok(Self(args.get(&LIMIT) as usize))
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        *self = Self::build(args, link)?;
        Ok(())
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        if self.0 == 0 {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        }
        let oldest = if queue.len() < self.0 { None } else { queue.pop() };
        queue.push(packet);
        match oldest {
            None => Enqueued::Success,
            Some(oldest) => {
                owner.dropped(oldest, Drop::Overlimit);
                Enqueued::Congestion
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Noted;
    use super::*;
    use crate::packet::Plain;
    use crate::registry::AnyQdisc;
    use goodqueue_units::Rate;
    use std::vec::Vec;

    /// Offers five packets of 100 bytes to a queue that holds two. Returns the result for each, the packets that
    /// leave, and the drops.
    fn fate(line: &str) -> (Vec<Enqueued>, Vec<u64>, Vec<u64>) {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        let (mut qdisc, mut owner) = (AnyQdisc::parse(line, &link).unwrap(), Noted::default());
        let told = (0..5)
            .map(|id| qdisc.enqueue(Instant::ZERO, Plain { id, ..Plain::new(100) }, &mut owner))
            .collect();
        let left = core::iter::from_fn(|| qdisc.dequeue(Instant::ZERO, &mut owner)).map(|packet| packet.id);
        (told, left.collect(), owner.dropped)
    }

    #[test]
    fn drop_tail_keeps_the_oldest_and_head_drop_the_newest() {
        use Enqueued::{Congestion, Dropped, Success};
        let tail =
            ([Success, Success, Dropped, Dropped, Dropped].to_vec(), [0, 1].to_vec(), [2, 3, 4].to_vec());
        assert_eq!(fate("pfifo limit 2"), tail);
        assert_eq!(fate("bfifo limit 299"), tail);
        let told = [Success, Success, Congestion, Congestion, Congestion].to_vec();
        assert_eq!(fate("pfifo_head_drop limit 2"), (told, [3, 4].to_vec(), [0, 1, 2].to_vec()));
    }
}
