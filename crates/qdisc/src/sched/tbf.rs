//! TBF: a token bucket filter over a queue of its own, or over any other discipline.
//!
//! Source: tc-tbf(8). Tokens come at `rate` into a bucket of `burst` bytes; a packet leaves when there are tokens for
//! all of it. With `peakrate` a second, small bucket paces what the first lets burst. A packet that exceeds a bucket
//! could never leave, so it is dropped on arrival. The queue is a `bfifo` of `limit` bytes, or of what `rate` (and
//! `peakrate`) send in `latency` beside the burst; `child` puts another discipline there, which has its own limit.
//!
//! As in Linux the packet that waits for tokens has left the child already, since the filter must know its length: for
//! CoDel it no longer queues. It counts for the backlog, but not for the child's limit (in Linux it does: one packet).
//!
//! An empty child is asked for a packet, too, so that it learns of idleness, but `red` and `choke` are not: Linux looks
//! into their queue instead, and their average freezes above `max` for good once all senders have fallen silent.
//! `idle told` asks these, too.
//!
//! Differences from Linux, for which there are no traces: `overhead` without ATM cells, no `mtu` of tables; nanoseconds are
//! rounded as `bucket.rs` says. `tc` has no defaults of rate, burst and latency; here they are the link's rate and
//! those of the manual's example.

use super::bucket::{Bucket, CHILD, IDLE, MPU, OVERHEAD, RATE, Weight, rate};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, Unit, Value};
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::registry::{AnyQdisc, Discipline};
use crate::signal::{Drop, Owner};
use alloc::format;
use goodqueue_units::{Duration, Instant, Rate};

/// `tc`'s `tbf`.
pub struct Tbf<P> {
    queue: Queue<P>,
    bucket: Bucket,
    peak: Option<Bucket>,
    weight: Weight,
    /// The greatest weight that both buckets hold.
    greatest: u64,
    /// When the packet that waits may leave.
    wake: Option<Instant>,
}

/// What the filter takes packets from.
enum Queue<P> {
    Own { fifo: Fifo<P>, limit: u64 },
    Child { child: AnyQdisc<P>, peeked: Option<P>, asks_when_empty: bool },
}

const MANUAL: &str = "tc-tbf(8)";

const fn size(name: &'static str, default: Value, source: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Bytes, default, range: (1.0, 1e12), source, help }
}

const PARAMS: &[ParamSpec] = &[
    RATE,
    size(
        "burst",
        Value::Integer(5120),
        "tc-tbf(8), the example",
        "bytes that may leave at once after a pause",
    ),
    ParamSpec {
        name: "latency",
        unit: Unit::Time,
        default: Value::Unset,
        range: (1e3, 60e9),
        source: "tc-tbf(8), the example",
        help: "longest wait in the filter's own queue; unset, and no limit set: 70ms",
    },
    size("limit", Value::Unset, MANUAL, "bytes that the own queue holds at most; goes before latency"),
    ParamSpec {
        name: "peakrate",
        source: MANUAL,
        help: "rate of what bursts; above rate; unset: the link's",
        ..RATE
    },
    size("minburst", Value::Unset, MANUAL, "bucket of peakrate in bytes; unset: a full frame"),
    MPU,
    OVERHEAD,
    IDLE,
    CHILD,
];

impl<P: Packet> Discipline<P> for Tbf<P> {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "tbf",
        summary: "Token bucket filter: shapes to a rate with a burst; holds a queue of its own or a child",
        source: MANUAL,
        params: PARAMS,
    };

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let refuse = |why: &str| Err(Error(format!("tbf: {why}")));
        let (rate, peakrate) = (rate(args, link, "rate"), args.integer("peakrate").and_then(Rate::from_bps));
        let burst = args.integer("burst").unwrap_or(0);
        let minburst = args.integer("minburst").unwrap_or(link.mtu.into());
        if peakrate.is_some_and(|peakrate| peakrate <= rate) {
            return refuse("peakrate must be greater than rate");
        }
        let queue = if let Some(child) = args.child() {
            if args.integer("limit").is_some() || args.time("latency").is_some() {
                return refuse("limit and latency are of its own queue; a child has its own limit");
            }
            let asks_when_empty =
                args.choice("idle") == "told" || !matches!(child.spec.name, "red" | "choke");
            let child = AnyQdisc::build(child, &Link { rate, ..*link })?;
            Queue::Child { child, peeked: None, asks_when_empty }
        } else {
            let latency = args.time("latency").unwrap_or(Duration::from_millis(70));
            let of_rate = rate.bytes_in(latency).saturating_add(burst);
            let of_peak = peakrate.map_or(u64::MAX, |peak| peak.bytes_in(latency).saturating_add(minburst));
            let limit = args.integer("limit").unwrap_or(of_rate.min(of_peak));
            Queue::Own { fifo: Fifo::default(), limit }
        };
        Ok(Self {
            queue,
            bucket: Bucket::new(rate, burst),
            peak: peakrate.map(|peakrate| Bucket::new(peakrate, minburst)),
            weight: Weight::new(args),
            greatest: if peakrate.is_some() { burst.min(minburst) } else { burst },
            wake: None,
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        match (&mut self.queue, fresh.queue) {
            (Queue::Own { fifo, limit }, Queue::Own { limit: bytes, .. }) => {
                *limit = bytes;
                fifo.trim(Backlog { bytes, ..Backlog::UNLIMITED }, owner);
            }
            (
                Queue::Child { child, asks_when_empty, .. },
                Queue::Child { child: made, asks_when_empty: asks, .. },
            ) => {
                child.reconfigure(now, made.args().clone(), made.link(), owner)?;
                *asks_when_empty = asks;
            }
            _ => return Err(Error("tbf child: cannot come or go while the qdisc lives".into())),
        }
        self.bucket = self.bucket.poured_into(fresh.bucket, now);
        self.peak = fresh.peak.map(|fresh| self.peak.map_or(fresh, |peak| peak.poured_into(fresh, now)));
        (self.weight, self.greatest) = (fresh.weight, fresh.greatest);
        self.wake = self.wake.map(|_| now); // how long it must wait is another question now
        Ok(())
    }
}

impl<P: Packet> Queue<P> {
    /// The length of the packet that would leave next.
    fn peek<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<u32> {
        match self {
            Self::Own { fifo, .. } => fifo.head().map(P::len),
            Self::Child { child, peeked, asks_when_empty } => {
                if peeked.is_none() && (*asks_when_empty || child.backlog().packets > 0) {
                    *peeked = child.dequeue(now, owner);
                }
                peeked.as_ref().map(P::len)
            }
        }
    }

    fn pop(&mut self) -> Option<P> {
        match self {
            Self::Own { fifo, .. } => fifo.pop(),
            Self::Child { peeked, .. } => peeked.take(),
        }
    }
}

impl<P: Packet> Qdisc<P> for Tbf<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        let fits = self.weight.of(packet.len()) <= self.greatest;
        match &mut self.queue {
            Queue::Child { child, .. } if fits => child.enqueue(now, packet, owner),
            Queue::Own { fifo, limit } if fits && fifo.bytes() + u64::from(packet.len()) <= *limit => {
                packet.set_arrival(now);
                fifo.push(packet);
                Enqueued::Success
            }
            _ => {
                packet.set_arrival(now);
                owner.dropped(packet, Drop::Overlimit);
                Enqueued::Dropped
            }
        }
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.wake = None;
        let weight = loop {
            let weight = self.weight.of(self.queue.peek(now, owner)?);
            if weight <= self.greatest {
                break weight;
            }
            // Since it came a change has made a bucket too small for it.
            self.queue.pop().into_iter().for_each(|packet| owner.dropped(packet, Drop::Overlimit));
        };
        let buckets = || core::iter::once(&self.bucket).chain(&self.peak);
        let wait = buckets().map(|bucket| bucket.wait(now, bucket.cost(weight))).max();
        if let Some(wait) = wait.filter(|wait| *wait > Duration::ZERO) {
            self.wake = Some(now + wait);
            return None;
        }
        for bucket in core::iter::once(&mut self.bucket).chain(&mut self.peak) {
            bucket.charge(now, bucket.cost(weight), i64::MIN);
        }
        self.queue.pop()
    }

    fn next_timer(&self) -> Option<Instant> {
        let of_child = match &self.queue {
            Queue::Own { .. } => None,
            Queue::Child { child, .. } => child.next_timer(),
        };
        self.wake.into_iter().chain(of_child).min()
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        self.wake = self.wake.filter(|due| *due > now);
        if let Queue::Child { child, .. } = &mut self.queue
            && child.next_timer().is_some_and(|due| due <= now)
        {
            child.on_timer(now, owner);
        }
    }

    fn backlog(&self) -> Backlog {
        match &self.queue {
            Queue::Own { fifo, .. } => fifo.backlog(),
            Queue::Child { child, peeked, .. } => {
                let Backlog { packets, bytes } = child.backlog();
                let peeked_bytes = peeked.as_ref().map_or(0, |packet| u64::from(packet.len()));
                Backlog { packets: packets + u32::from(peeked.is_some()), bytes: bytes + peeked_bytes }
            }
        }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        if let Queue::Child { child, .. } = &self.queue {
            child.probe(probe);
        }
    }
}

#[cfg(test)]
mod tests;
