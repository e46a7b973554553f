//! TBF: a token bucket filter over its own queue, or over any other discipline.
//!
//! Source: tc-tbf(8), and net/sched/sch_tbf.c and tc's q_tbf.c where the page leaves something open. Tokens come at
//! `rate` into a bucket of `burst` bytes. A packet leaves when there are tokens for all of it. With `peakrate` a
//! second, small bucket paces the bursts of the first. A packet that exceeds a bucket could never leave, so it is
//! dropped on arrival. The queue is a `bfifo` of `limit` bytes. Without `limit` it holds what `rate` (and `peakrate`)
//! send in `latency`, and the burst. `child` puts another discipline there, which has its own limit.
//!
//! The filter must know a packet's length before it takes the packet. As in Linux, it looks at the head of
//! disciplines that show it (the FIFOs, `red`, `choke`, `sfb`): there the packet that waits for tokens is still in
//! the queue. All other disciplines are asked for a packet, which the filter then keeps: for CoDel this packet has
//! left the queue. It counts for the backlog, but not for the child's limit (in Linux it does: one packet).
//!
//! **A discipline that shows its head is never asked while it is empty**, so `red` and `choke` do not learn that the
//! link is idle: their average freezes, and stays above `max` forever if all senders fall silent. `idle told` asks
//! them, as a link does.
//!
//! No decision traces exist for `tbf`. It differs from Linux in these points: nanoseconds are rounded as `bucket.rs`
//! says, and bursts and rates are not rounded to the clock ticks of tc's messages. `tc` has no defaults for rate,
//! burst and latency. Here they are the link's rate and the values in the manual's example.

use super::bucket::{ANY_RATE, Bucket, CHILD, IDLE, Idle, LINKLAYER, MPU, OVERHEAD, RATE, Weight};
use super::fifo::{Bfifo, LIMIT_BYTES};
use crate::discipline::Discipline;
use crate::packet::Packet;
use crate::packet::Plain;
use crate::param::{Args, Error, Link, Param, ParamSpec, QdiscSpec, us};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Head, Probe, Qdisc};
use crate::registry::{AnyQdisc, parse_inner};
use crate::signal::{Drop, Owner};
use alloc::format;
use goodqueue_units::{Duration, Instant, Rate};

/// `tc`'s `tbf`.
pub struct Tbf<P> {
    child: AnyQdisc<P>,
    /// The packet that waits for tokens, if the child had to hand it over.
    kept: Option<P>,
    /// Whether the filter also asks a child whose head shows that it is empty.
    tells_idle: bool,
    bucket: Bucket,
    peak: Option<Bucket>,
    weight: Weight,
    /// Length of the longest packet that fits into both buckets.
    longest: u64,
    /// The time when the waiting packet may leave.
    wake: Option<Instant>,
}

const MAN: &str = "tc-tbf(8)";

const BURST: Param<u64> = Param::bytes("burst", "bytes that may leave at once after a pause")
    .default(5120)
    .range(1, u32::MAX as u64)
    .takes_cell()
    .once()
    .zero_is_unset()
    .abbreviates()
    .source("tc-tbf(8), the example");
const LIMIT: Param<Option<u64>> =
    Param::bytes("limit", "most bytes that its own queue holds; overrides latency")
        .range(1, u32::MAX as u64)
        .once()
        .zero_is_unset()
        .abbreviates();
const LATENCY: Param<Option<Duration>> =
    Param::time("latency", "longest wait in the filter's own queue; unset, and no limit set: 70ms")
        .range(us(1), us(u32::MAX as u64))
        .once()
        .zero_is_unset()
        .abbreviates()
        .excludes(&LIMIT)
        .source("tc-tbf(8), the example");
const PEAKRATE: Param<Option<Rate>> = ANY_RATE
    .named("peakrate")
    .abbreviates()
    .source(MAN)
    .help("rate within a burst, above rate; unset: the link's rate");
const MINBURST: Param<Option<u64>> =
    Param::bytes("minburst", "bucket of peakrate in bytes; unset: a full frame")
        .range(1, u32::MAX as u64)
        .takes_cell()
        .once()
        .zero_is_unset();

const PARAMS: &[ParamSpec] = params! { from MAN =>
    RATE, BURST, Param::alias("buffer", &BURST), Param::alias("maxburst", &BURST),
    LIMIT, LATENCY, PEAKRATE, MINBURST, Param::alias("mtu", &MINBURST),
    MPU.once(), OVERHEAD.once(), LINKLAYER, IDLE, CHILD,
};

impl<P: Packet> Discipline<P> for Tbf<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("tbf", PARAMS)
        .summary("Token bucket filter: shapes to a rate with a burst; holds its own queue or a child")
        .source(MAN)
        .holds(parse_inner);

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let refuse = |why: &str| Err(Error(format!("tbf: {why}")));
        let (rate, peakrate) = (args.get(&RATE).unwrap_or(link.rate), args.get(&PEAKRATE));
        let (burst, minburst) = (args.get(&BURST), args.get(&MINBURST).unwrap_or(link.mtu.into()));
        let (limit, latency) = (args.get(&LIMIT), args.get(&LATENCY));
        if peakrate.is_some_and(|peakrate| peakrate <= rate) {
            return refuse("peakrate must be greater than rate");
        }
        let below = Link { rate, ..*link };
        let child = if let Some(child) = args.child() {
            if limit.is_some() || latency.is_some() {
                return refuse("limit and latency are of its own queue; a child has its own limit");
            }
            AnyQdisc::build(child, &below)?
        } else {
            let latency = latency.unwrap_or(Duration::from_millis(70));
            let of_rate = rate.bytes_in(latency).saturating_add(burst);
            let of_peak = peakrate.map_or(u64::MAX, |peak| peak.bytes_in(latency).saturating_add(minburst));
            let mut queue = Args::defaults(const { &Bfifo::<Plain>::SPEC });
            queue.put(&LIMIT_BYTES, limit.unwrap_or(of_rate.min(of_peak)));
            AnyQdisc::build(&queue, &below)?
        };
        let weight = Weight::new(args);
        Ok(Self {
            child,
            kept: None,
            tells_idle: args.get(&IDLE) == Idle::Told,
            bucket: Bucket::new(rate, weight.of(burst)),
            peak: peakrate.map(|peakrate| Bucket::new(peakrate, weight.of(minburst))),
            weight,
            longest: if peakrate.is_some() { burst.min(minburst) } else { burst },
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
        self.child.reconfigure(now, fresh.child.args().clone(), fresh.child.link(), owner)?;
        self.tells_idle = fresh.tells_idle;
        self.bucket = self.bucket.poured_into(fresh.bucket, now);
        self.peak = fresh.peak.map(|fresh| self.peak.map_or(fresh, |peak| peak.poured_into(fresh, now)));
        (self.weight, self.longest) = (fresh.weight, fresh.longest);
        self.wake = self.wake.map(|_| now); // the new parameters change how long the packet must wait
        Ok(())
    }
}

impl<P: Packet> Tbf<P> {
    /// Changes parameters as [`Discipline::change`] does, with full buckets afterwards and the watchdog as it was
    /// (`tbf_change`).
    #[cfg(feature = "emulation")]
    pub(crate) fn renew<O: Owner<P>>(
        &mut self,
        now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let (fresh, wake) = (Self::build(args, link)?, self.wake);
        self.change(now, args, link, owner)?;
        (self.bucket, self.peak, self.wake) = (fresh.bucket, fresh.peak, wake);
        Ok(())
    }

    /// Returns the length of the packet that would leave next.
    fn next<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<u32> {
        if self.kept.is_none() {
            match self.child.head() {
                Head::Length(len) => return Some(len),
                Head::Nothing if !self.tells_idle => return None,
                Head::Nothing | Head::Unknown => self.kept = self.child.dequeue(now, owner),
            }
        }
        self.kept.as_ref().map(P::len)
    }
}

impl<P: Packet> Qdisc<P> for Tbf<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        if u64::from(packet.len()) <= self.longest {
            return self.child.enqueue(now, packet, owner);
        }
        packet.set_arrival(now);
        owner.dropped(packet, Drop::Overlimit);
        Enqueued::Dropped
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        self.wake = None;
        let weight = loop {
            let len = self.next(now, owner)?;
            if u64::from(len) <= self.longest {
                break self.weight.of(len.into());
            }
            // A change since its arrival has made a bucket too small for the packet.
            let packet = self.kept.take().or_else(|| self.child.dequeue(now, owner));
            packet.into_iter().for_each(|packet| owner.dropped(packet, Drop::Overlimit));
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
        self.kept.take().or_else(|| self.child.dequeue(now, owner))
    }

    fn queues(&self) -> &'static [&'static str] {
        self.child.queues()
    }

    fn queue_of(&self, packet: &P) -> usize {
        self.child.queue_of(packet)
    }

    fn is_work_conserving(&self) -> bool {
        false
    }

    fn paces_sockets(&self) -> bool {
        self.child.paces_sockets()
    }

    fn next_timer(&self) -> Option<Instant> {
        self.wake.into_iter().chain(self.child.next_timer()).min()
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        self.wake = self.wake.filter(|due| *due > now);
        if self.child.next_timer().is_some_and(|due| due <= now) {
            self.child.on_timer(now, owner);
        }
    }

    fn backlog(&self) -> Backlog {
        let Backlog { packets, bytes } = self.child.backlog();
        let kept = self.kept.as_ref().map_or(0, |packet| u64::from(packet.len()));
        Backlog { packets: packets + u32::from(self.kept.is_some()), bytes: bytes + kept }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.child.probe(probe);
    }
}

#[cfg(test)]
mod tests;
