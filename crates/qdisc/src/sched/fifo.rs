//! First in, first out, with a limit in packets (`pfifo`) or bytes (`bfifo`): drop-tail.
//!
//! Source: tc-pfifo(8). Linux takes the limit from the device's `txqueuelen` where the line has none; here it is
//! 1000 packets, and 1000 full frames of bytes.

use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, Unit, Value};
use crate::qdisc::{Backlog, Enqueued, Qdisc};
use crate::registry::Discipline;
use crate::signal::{Drop, Owner};
use goodqueue_units::Instant;

/// `pfifo`: at most `limit` packets.
#[derive(Clone, Debug)]
pub struct Pfifo<P> {
    queue: Fifo<P>,
    limit: usize,
}

impl<P: Packet> Discipline for Pfifo<P> {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "pfifo",
        summary: "First in, first out: drops what arrives when `limit` packets wait",
        source: "tc-pfifo(8)",
        params: &[ParamSpec {
            name: "limit",
            unit: Unit::Packets,
            default: Value::Integer(1000),
            range: (1.0, 1e9),
            source: "tc-pfifo(8): txqueuelen",
            help: "packets that the queue holds at most",
        }],
    };

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        Ok(Self { queue: Fifo::default(), limit: args.integer("limit").unwrap_or(0) as usize })
    }
}

impl<P: Packet> Qdisc<P> for Pfifo<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let fits = self.queue.len() < self.limit;
        admit(&mut self.queue, fits, now, packet, owner)
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

/// `bfifo`: at most `limit` bytes.
#[derive(Clone, Debug)]
pub struct Bfifo<P> {
    queue: Fifo<P>,
    limit: u64,
}

impl<P: Packet> Discipline for Bfifo<P> {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "bfifo",
        summary: "First in, first out: drops what arrives when it would exceed `limit` bytes",
        source: "tc-bfifo(8)",
        params: &[ParamSpec {
            name: "limit",
            unit: Unit::Bytes,
            default: Value::Integer(1_514_000),
            range: (1.0, 1e12),
            source: "tc-bfifo(8): txqueuelen times the frame",
            help: "bytes that the queue holds at most",
        }],
    };

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        Ok(Self { queue: Fifo::default(), limit: args.integer("limit").unwrap_or(0) })
    }
}

impl<P: Packet> Qdisc<P> for Bfifo<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, packet: P, owner: &mut O) -> Enqueued {
        let fits = self.queue.bytes() + u64::from(packet.len()) <= self.limit;
        admit(&mut self.queue, fits, now, packet, owner)
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

#[inline]
fn admit<P: Packet, O: Owner<P>>(
    queue: &mut Fifo<P>,
    fits: bool,
    now: Instant,
    mut packet: P,
    owner: &mut O,
) -> Enqueued {
    packet.set_arrival(now);
    if fits {
        queue.push(packet);
        return Enqueued::Success;
    }
    owner.dropped(packet, Drop::Overlimit);
    Enqueued::Dropped
}
