//! TBF: a token bucket filter over its own queue, or over any other discipline.
//!
//! Source: tc-tbf(8), net/sched/sch_tbf.c and tc's q_tbf.c. Tokens come at `rate` into a bucket of `burst` bytes. A
//! packet leaves when there are tokens for all of it. With `peakrate` a second, small bucket paces the bursts of the
//! first. A packet that exceeds a bucket could never leave, so it is dropped on arrival. The queue is a `bfifo` of
//! `limit` bytes. Without `limit` it holds the burst and what `rate` sends in `latency` (with `peakrate`: or `minburst`
//! and what `peakrate` sends, if that is less). So a packet waits for up to `latency` and the time of the burst.
//! `child` puts another discipline there, which has its own limit.
//!
//! The filter must know a packet's length before it takes the packet. As in Linux, it looks at the head of
//! disciplines that show it (the FIFOs, `red`, `choke`, `sfb`): there the packet that waits for tokens is still in
//! the queue. All other disciplines are asked for a packet, and keep it until it leaves: for CoDel this packet has
//! left the queue. It counts for the child's limit, and for PIE's law ([`crate::Look`]).
//!
//! **A discipline that shows its head is never asked while it is empty**, so `red` and `choke` do not learn that the
//! link is idle: their average freezes, and stays above `max` forever if all senders fall silent. `idle told` asks
//! them, as a link does.
//!
//! Times are Linux's to the nanosecond. A change fills both buckets in Linux; here they keep their bytes. `tc` has no
//! defaults for rate, burst and latency. Here they are the link's rate and the values in the manual's example.

use super::bucket::{ANY_RATE, Bucket, CHILD, IDLE, Idle, LINKLAYER, MPU, OVERHEAD, RATE};
use super::fifo::{Bfifo, LIMIT_BYTES};
use super::pace::Pace;
use crate::discipline::Discipline;
use crate::kept::{Kept, Look};
use crate::packet::Packet;
use crate::packet::Plain;
use crate::param::{Args, Error, Link, Param, ParamSpec, QdiscSpec, us};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::registry::{AnyQdisc, parse_inner};
use crate::signal::{Drop, Owner};
use alloc::format;
use goodqueue_units::{Duration, Instant, Rate};

/// `tc`'s `tbf`.
pub struct Tbf<P> {
    child: AnyQdisc<P>,
    /// A packet of this filter that was taken out for a shaper above it.
    kept: Kept<P>,
    /// Whether the filter also asks a child whose head shows that it is empty.
    tells_idle: bool,
    bucket: Bucket,
    peak: Option<Bucket>,
    /// Length of the longest packet that fits into both buckets.
    longest: u64,
    /// The watchdog: when a packet may leave. As in Linux it stands until it fires or gets another time.
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
const LATENCY: Param<Option<Duration>> = Param::time(
    "latency",
    "what its own queue holds beside the burst: a packet waits up to latency + burst / rate; unset, and no limit set: \
     70ms",
)
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

/// Returns the bytes that its own queue holds at `rate` with frames of `mtu` bytes.
pub(crate) fn own_limit(args: &Args, rate: Rate, mtu: u32) -> u64 {
    let latency = args.get(&LATENCY).unwrap_or(Duration::from_millis(70));
    let of_rate = queue_of(rate, latency, args.get(&BURST));
    let minburst = args.get(&MINBURST).unwrap_or(mtu.into());
    let of_peak = args.get(&PEAKRATE).map_or(u64::MAX, |peak| queue_of(peak, latency, minburst));
    args.get(&LIMIT).unwrap_or(of_rate.min(of_peak))
}

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
            let mut queue = Args::defaults(const { &Bfifo::<Plain>::SPEC });
            queue.put(&LIMIT_BYTES, own_limit(args, rate, link.mtu));
            AnyQdisc::build(&queue, &below)?
        };
        let bucket = |rate: Rate, bytes: u64| {
            let pace = Pace::new(rate, args);
            Bucket::new(rate, pace, pace.time(bytes as u32))
        };
        Ok(Self {
            child,
            kept: Kept::default(),
            tells_idle: args.get(&IDLE) == Idle::Told,
            bucket: bucket(rate, burst),
            peak: peakrate.map(|peakrate| bucket(peakrate, minburst)),
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
        self.longest = fresh.longest;
        self.wake = self.wake.map(|_| now); // the new parameters change how long the packet must wait
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.kept.look()
    }
}

impl<P: Packet> Tbf<P> {
    /// Changes parameters as [`Discipline::change`] does, with full buckets afterwards and the watchdog as it was
    /// (`tbf_change`).
    #[cfg(feature = "complete")]
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

    /// Offers each part of a merged packet that is longer than a bucket (`tbf_segment`).
    #[cold]
    fn enqueue_parts<O: Owner<P>>(&mut self, now: Instant, whole: &P, count: u32, owner: &mut O) -> Enqueued {
        let parts = (0..count).filter_map(|number| whole.part(number));
        let taken =
            parts.fold(false, |any, part| (self.child.enqueue(now, part, owner) == Enqueued::Success) | any);
        if taken { Enqueued::Success } else { Enqueued::Dropped }
    }

    /// Returns the length of the packet that would leave next.
    fn next<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<u32> {
        if self.tells_idle && matches!(self.child.look(), Look::Shown(None)) {
            self.child.dequeue(now, owner)?;
        }
        self.child.peek(now, owner)
    }
}

/// Returns the bytes that a queue at `rate` holds, as `tc` computes them: what the rate sends in `latency`, and a
/// bucket.
fn queue_of(rate: Rate, latency: Duration, bucket: u64) -> u64 {
    let (bytes_per_s, us) = ((rate.as_bps() / 8) as f64, (latency.as_nanos() / 1000) as f64);
    (bytes_per_s * us / 1e6 + bucket as f64) as u64
}

impl<P: Packet> Qdisc<P> for Tbf<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        if u64::from(packet.len()) <= self.longest {
            return self.child.enqueue(now, packet, owner);
        }
        if P::SPLITS
            && let Some(merged) = packet.merged()
            && u64::from(merged.len) <= self.longest
        {
            return self.enqueue_parts(now, &packet, merged.count, owner);
        }
        packet.set_arrival(now);
        owner.dropped(packet, Drop::Overlimit);
        Enqueued::Dropped
    }

    fn dequeue<O: Owner<P>>(&mut self, now: Instant, owner: &mut O) -> Option<P> {
        let len = loop {
            let len = self.next(now, owner)?;
            if u64::from(len) <= self.longest {
                break len;
            }
            // A change since its arrival has made a bucket too small for the packet.
            let packet = self.child.take(now, owner);
            packet.into_iter().for_each(|packet| owner.dropped(packet, Drop::Overlimit));
        };
        let buckets = || core::iter::once(&self.bucket).chain(&self.peak);
        let wait = buckets().map(|bucket| bucket.wait(now, bucket.cost(len))).max();
        if let Some(wait) = wait.filter(|wait| *wait > Duration::ZERO) {
            self.wake = Some(now + wait);
            return None;
        }
        for bucket in core::iter::once(&mut self.bucket).chain(&mut self.peak) {
            bucket.charge(now, bucket.cost(len), i64::MIN);
        }
        self.child.take(now, owner)
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
        [self.child.backlog(), self.kept.backlog].into_iter().sum()
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.child.probe(probe);
    }
}

#[cfg(test)]
mod tests;
