//! Low Latency DOCSIS: a low-latency and a classic queue with coupled AQMs, and queue protection between them.
//!
//! Source: DOCSIS 3.1 MULPI annexes M, N, O and P, as RFC 9957 (queue protection), RFC 9956 (non-queue-building
//! traffic) and White et al., draft-white-tsvwg-lld, describe them. It differs from `dualpi2` (RFC 9332) in these
//! points:
//!
//! - the low-latency queue takes ECT(1) and CE, and also DSCP 45 (NQB), whatever its ECN codepoint is. Packets that are
//!   not ECN-capable are neither marked nor dropped by its AQM;
//! - its own AQM is a ramp from MINTH to MAXTH (1 ms), over the delay that its bytes take at the link's rate. MINTH is
//!   2^19 ns before MAXTH, but at least the time of two packets of 2000 B. Then MAXTH moves up;
//! - queue protection sends packets of a flow that queues to the classic queue ([`protection`]);
//! - decisions fall as packets arrive, and delays are predicted from bytes, as in a modem;
//! - the classic queue's target is 16 ms, its gains are 0.25 and 2.5, and it never marks. Its share is 26/256.
//!
//! Decided here, where the annexes are not public in whole: the base probability p' moves by these gains alone every
//! 16 ms, without PIE's states and scaling. The classic queue drops with p'^2, and the other marks with 2 p'.

mod protection;

use crate::aqm::{self, Periodic};
use crate::discipline::Discipline;
use crate::fifo::Fifo;
use crate::kept::{Kept, Look};
use crate::packet::Packet;
use crate::param::{Args, Error, Link, Param, QdiscSpec, ms};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe, Qdisc};
use crate::signal::{Drop, Mark, Owner};
use alloc::boxed::Box;
use goodqueue_units::{Duration, Instant, Rate};
use protection::{CRITICAL_QL, Protection};

/// The DSCP of non-queue-building traffic (RFC 9956).
const NQB: u8 = 45;
const ALPHA: f64 = 0.25;
const BETA: f64 = 2.5;
const INTERVAL: Duration = ms(16);
/// 2^19 ns: the length of the ramp.
const RANGE: Duration = Duration::from_nanos(1 << 19);
/// Bytes whose time is the least MINTH.
const FLOOR_BYTES: u32 = 2 * 2000;
/// The low-latency queue's share of the link while both wait, of 256.
const WEIGHT: i64 = 230;

const TARGET: Param<Duration> =
    Param::time("target", "delay of the classic queue that the controller steers to")
        .default(ms(16))
        .source("MULPI 3.1, annex M");
const CLASSIC_BUFFER: Param<Duration> =
    Param::time("classic_buffer", "most bytes of the classic queue, in time at the link's rate")
        .default(ms(100))
        .source("MULPI 3.1");
const LOW_BUFFER: Param<Duration> =
    Param::time("low_buffer", "most bytes of the low-latency queue, in time at the link's rate")
        .default(ms(10))
        .source("RFC 9956: at most 10 ms");
const COUPLING: Param<u32> =
    Param::count("coupling", "the low-latency queue marks so many times as often as p'")
        .default(2)
        .range(1, 255)
        .source("RFC 9332, 2.1");
const PROTECTION: Param<bool> =
    Param::flag("protection", "packets of flows that queue go to the classic queue")
        .default(true)
        .source("RFC 9957");

/// `docsis_lld`.
#[derive(Clone, Debug)]
pub struct DocsisLld<P> {
    low: Fifo<P>,
    classic: Fifo<P>,
    /// The packet that was taken out for a shaper. It has left its queue, so it counts in the backlog alone.
    kept: Kept<P>,
    protection: Option<Box<Protection>>,
    rate: Rate,
    target: f64,
    low_limit: u64,
    classic_limit: u64,
    coupling: f64,
    min_th: Duration,
    /// p'.
    base: f64,
    delay_before: f64,
    /// Above 0, the classic queue is next: the bytes of each queue, times the weight of the other one.
    credit: i64,
    sanctioned: u64,
    timer: Periodic,
}

impl<P: Packet> Discipline<P> for DocsisLld<P> {
    const SPEC: QdiscSpec =
        QdiscSpec::new("docsis_lld", params! { TARGET, CLASSIC_BUFFER, LOW_BUFFER, COUPLING, PROTECTION })
            .not_in_linux()
            .summary("Low Latency DOCSIS: two queues with coupled AQMs, NQB, and queue protection")
            .source("RFC 9957; RFC 9956; draft-white-tsvwg-lld");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let least = 2 * u64::from(link.mtu);
        let limit = |buffer: Duration| link.rate.bytes_in(buffer).max(least);
        let floor = link.rate.transmission_time(FLOOR_BYTES);
        Ok(Self {
            low: Fifo::default(),
            classic: Fifo::default(),
            kept: Kept::default(),
            protection: args.get(&PROTECTION).then(|| Box::new(Protection::new())),
            rate: link.rate,
            target: args.get(&TARGET).as_secs_f64(),
            low_limit: limit(args.get(&LOW_BUFFER)),
            classic_limit: limit(args.get(&CLASSIC_BUFFER)),
            coupling: f64::from(args.get(&COUPLING)),
            min_th: CRITICAL_QL.saturating_sub(RANGE).max(floor),
            base: 0.0,
            delay_before: 0.0,
            credit: 0,
            sanctioned: 0,
            timer: Periodic::new(INTERVAL, INTERVAL),
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        _now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        let kept = core::mem::replace(self, fresh);
        (self.low, self.classic, self.credit) = (kept.low, kept.classic, kept.credit);
        self.kept = kept.kept;
        (self.base, self.delay_before, self.timer) = (kept.base, kept.delay_before, kept.timer);
        self.sanctioned = kept.sanctioned;
        if self.protection.is_some() && kept.protection.is_some() {
            self.protection = kept.protection;
        }
        for (queue, limit) in [(&mut self.low, self.low_limit), (&mut self.classic, self.classic_limit)] {
            while queue.bytes() > limit
                && let Some(packet) = queue.pop()
            {
                owner.dropped(packet, Drop::Overlimit);
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Look<'_, P> {
        self.kept.look()
    }
}

impl<P: Packet> Qdisc<P> for DocsisLld<P> {
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        let bytes = packet.len();
        let delay = self.delay_of(self.low.bytes());
        let native = self.ramp(delay);
        let is_low = self.is_low(&packet)
            && !self.protection.as_mut().is_some_and(|protection| {
                let flow = (packet.flow_id(), packet.flow_hash());
                let sanctioned = protection.sanctions(now, flow, bytes, delay, native);
                self.sanctioned += u64::from(sanctioned);
                sanctioned
            });
        let (queue, limit) =
            if is_low { (&self.low, self.low_limit) } else { (&self.classic, self.classic_limit) };
        if queue.bytes() + u64::from(bytes) > limit {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        }
        let mut draw = || f64::from(owner.random_u32()) / 4_294_967_296.0;
        if is_low {
            let probability = native.max(self.coupling * self.base);
            if probability > 0.0 && packet.ecn().is_capable() && draw() < probability {
                aqm::mark(&mut packet, Mark::Early, owner);
            }
            self.low.push(packet);
        } else {
            // Two frames always fit: a law that empties the queue would gain nothing.
            let is_short = self.classic.bytes() <= 2 * u64::from(bytes);
            if self.base > 0.0 && !is_short && draw() < self.base * self.base {
                owner.dropped(packet, Drop::Early);
                return Enqueued::Dropped;
            }
            self.classic.push(packet);
        }
        Enqueued::Success
    }

    fn dequeue<O: Owner<P>>(&mut self, _now: Instant, _owner: &mut O) -> Option<P> {
        let both = !self.low.is_empty() && !self.classic.is_empty();
        let is_low = self.classic.is_empty() || (!self.low.is_empty() && self.credit <= 0);
        let packet = if is_low { self.low.pop()? } else { self.classic.pop()? };
        let weight = if is_low { 256 - WEIGHT } else { -WEIGHT };
        self.credit = if both { self.credit + weight * i64::from(packet.len()) } else { 0 };
        Some(packet)
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) {
        self.timer.fired(now);
        let delay = self.delay_of(self.classic.bytes()).as_secs_f64();
        let step = ALPHA * (delay - self.target) + BETA * (delay - self.delay_before);
        self.base = (self.base + step).clamp(0.0, 1.0);
        self.delay_before = delay;
    }

    fn backlog(&self) -> Backlog {
        [self.low.backlog(), self.classic.backlog(), self.kept.backlog].into_iter().sum()
    }

    fn queues(&self) -> &'static [&'static str] {
        &["L, low latency", "C, classic"]
    }

    fn queue_of(&self, packet: &P) -> usize {
        usize::from(!self.is_low(packet))
    }

    fn probe(&self, probe: &mut dyn Probe) {
        probe.real("base_prob", self.base);
        probe.integer("l_qlen", self.low.len() as i128);
        probe.integer("c_qlen", self.classic.len() as i128);
        probe.integer("sanctioned", self.sanctioned.into());
    }
}

impl<P: Packet> DocsisLld<P> {
    /// Returns whether `packet` belongs to the low-latency queue (RFC 9331, 5.1; RFC 9956).
    fn is_low(&self, packet: &P) -> bool {
        packet.ecn().bits() & 1 != 0 || packet.dscp() == NQB
    }

    /// Returns the time that `bytes` bytes take at the link's rate.
    fn delay_of(&self, bytes: u64) -> Duration {
        let nanos = u128::from(bytes) * 8_000_000_000 / u128::from(self.rate.as_bps());
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Returns the native probability at this delay of the low-latency queue.
    fn ramp(&self, delay: Duration) -> f64 {
        (delay.saturating_sub(self.min_th).as_secs_f64() / RANGE.as_secs_f64()).min(1.0)
    }
}

#[cfg(test)]
mod tests;
