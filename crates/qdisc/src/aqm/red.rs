//! RED: random early detection.
//!
//! Source: Floyd and Jacobson, "Random Early Detection gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993
//! (section numbers below), as Linux runs it and as `tc` sets it up. Linux differs from the paper in these points:
//!
//! - all numbers are integers. The average is scaled by 2^Wlog, and its weight is 2^-Wlog, which `tc` derives from
//!   `burst`;
//! - while the link is idle, the average decays by a table of 256 shifts that `tc` computes, not by a power (section
//!   4), and some 16 times more slowly: [`Idle`] says why;
//! - no probability is computed. One random number is drawn after each drop, and the next packet is dropped once
//!   count * (avg - min) reaches that number. This spaces drops evenly, as section 7's second method does;
//! - above `max` every packet is dropped: there is no gentle mode;
//! - idle time begins with the dequeue that finds no packet;
//! - `adaptive` moves max_p every 500 ms by the rules of Floyd, Gummadi and Shenker (2001), within 1 % and 50 %. The
//!   kernel's timer wheel makes that 512 ms or more. Here it is exactly 500 ms.

mod marking;
mod setup;

use super::{Aqm, Periodic};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe};
use crate::signal::{Drop, Owner};
use alloc::string::ToString;
use goodqueue_units::{Duration, Instant};
pub(super) use marking::Marking;
pub(crate) use setup::{AVPKT, BANDWIDTH, BURST, HARDDROP, PROBABILITY, Scale};
pub use setup::{Asked, Idle};

/// One percent of max_p, in Q0.32, rounded.
const ONE_PERCENT: u32 = ((1_u64 << 32) / 100) as u32 + 1;
const ADAPT_INTERVAL: Duration = Duration::from_millis(500);

/// The law's parameters. Queue lengths are bytes for `red`, packets for CHOKe.
#[derive(Clone, Debug)]
pub struct Params {
    wlog: u32,
    /// Scaled by 2^`wlog`.
    qth_min: u64,
    /// Scaled by 2^`wlog`.
    qth_max: u64,
    qth_delta: u32,
    /// Lower end of the range to which `adaptive` steers the average, not scaled.
    target_min: u64,
    /// Upper end of that range, not scaled.
    target_max: u64,
    idle: Option<Idle>,
}

impl Params {
    /// Takes thresholds, the weight's logarithm and the idle table. Without a table the average does not decay while
    /// idle.
    #[must_use]
    pub fn new(min: u64, max: u64, wlog: u32, idle: Option<Idle>) -> Self {
        let delta = max.saturating_sub(min);
        Self {
            wlog,
            qth_min: min << wlog,
            qth_max: max << wlog,
            qth_delta: (delta as u32).max(1),
            target_min: min + 2 * (delta / 5),
            target_max: min + 3 * (delta / 5),
            idle,
        }
    }
}

/// The law's verdict on an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Queue it.
    Pass,
    /// The random number says that a drop is due.
    Early,
    /// The average is above the upper threshold.
    Forced,
}

/// The law's state, under Linux's names.
#[derive(Clone, Copy, Debug)]
pub struct Vars {
    /// The average queue length, scaled by 2^Wlog.
    qavg: u64,
    /// Packets since the last drop, or -1 while the average is outside the thresholds.
    qcount: i32,
    /// The random number that decides when the next drop is due.
    q_r: u32,
    idle_since: Option<Instant>,
    /// The drop probability at the upper threshold, in Q0.32.
    max_p: u32,
    /// `max_p` per byte between the thresholds.
    max_p_delta: u32,
}

impl Vars {
    /// Returns the state at rest, with an initial max_p in Q0.32.
    #[must_use]
    pub fn new(params: &Params, max_p: u32) -> Self {
        let max_p_delta = (max_p / params.qth_delta).max(1);
        Self { qavg: 0, qcount: -1, q_r: 0, idle_since: None, max_p, max_p_delta }
    }

    /// Returns this state after a change of the parameters from `before` to `after` and of max_p.
    pub(super) fn under(self, before: &Params, after: &Params, max_p: u32) -> Self {
        if max_p == self.max_p && before.qth_delta == after.qth_delta && before.wlog == after.wlog {
            return self; // `adapt` rounds max_p_delta, but `new` truncates it
        }
        let qavg = if after.wlog > before.wlog {
            self.qavg << (after.wlog - before.wlog)
        } else {
            self.qavg >> (before.wlog - after.wlog)
        };
        Self { qavg, max_p, max_p_delta: Self::new(after, max_p).max_p_delta, ..self }
    }

    /// Notes that the link found no packet to send.
    #[inline]
    pub fn idle(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
    }

    fn average_at(&self, params: &Params, now: Instant) -> u64 {
        match (self.idle_since, &params.idle) {
            (Some(since), Some(idle)) => idle.decay(self.qavg, now.since(since)),
            _ => self.qavg,
        }
    }

    /// Notes that a packet arrives and finds `queue` bytes: moves the average (section 4).
    #[inline]
    pub fn arrive(&mut self, params: &Params, now: Instant, queue: u64) {
        if self.idle_since.is_some() {
            self.qavg = self.average_at(params, now);
            self.idle_since = None;
        } else {
            self.qavg = self.qavg - (self.qavg >> params.wlog) + queue;
        }
    }

    /// Returns whether the arriving packet is to be dropped (section 7).
    #[inline]
    pub fn decide(&mut self, params: &Params, draw: impl FnOnce() -> u32) -> Verdict {
        if self.qavg < params.qth_min {
            self.outside();
            return Verdict::Pass;
        }
        if self.qavg >= params.qth_max {
            self.outside();
            return Verdict::Forced;
        }
        self.between(params, draw)
    }

    /// Notes that the average is outside the thresholds: the spacing of drops starts anew.
    pub(super) fn outside(&mut self) {
        self.qcount = -1;
    }

    /// Returns the verdict of [`Vars::decide`] for an average that is known to be between the thresholds.
    #[inline]
    pub(super) fn between(&mut self, params: &Params, draw: impl FnOnce() -> u32) -> Verdict {
        self.qcount = self.qcount.saturating_add(1);
        let due = self.qcount > 0 && {
            let above = (self.qavg - params.qth_min) >> params.wlog;
            above * self.qcount as u64 >= u64::from(self.q_r)
        };
        if due {
            self.qcount = 0;
        }
        if self.qcount == 0 {
            self.q_r = draw() / self.max_p_delta;
        }
        if due { Verdict::Early } else { Verdict::Pass }
    }

    /// Returns whether the average is at most CHOKe's lower threshold.
    pub(super) fn is_small(&self, params: &Params) -> bool {
        self.qavg <= params.qth_min
    }

    /// Returns whether the average is above CHOKe's upper threshold.
    pub(super) fn is_large(&self, params: &Params) -> bool {
        self.qavg > params.qth_max
    }

    /// Starts anew for another flow, in SFQ's slots. The last random number stays.
    pub(crate) fn restart(&mut self) {
        (self.qavg, self.qcount) = (0, -1);
    }

    /// Returns average, count and random number, as decision traces of SFQ show them.
    pub(crate) fn shown(&self) -> (u64, i32, u32) {
        (self.qavg, self.qcount, self.q_r)
    }

    /// Moves max_p so that the average comes to stand in the middle of the thresholds (Adaptive RED).
    pub fn adapt(&mut self, params: &Params, now: Instant) {
        let average = self.average_at(params, now) >> params.wlog;
        if average > params.target_max && self.max_p <= 50 * ONE_PERCENT {
            self.max_p += (self.max_p / 4).min(ONE_PERCENT);
        } else if average < params.target_min && self.max_p >= ONE_PERCENT {
            self.max_p = self.max_p / 10 * 9;
        }
        let rounded = (u64::from(self.max_p) + u64::from(params.qth_delta / 2)) / u64::from(params.qth_delta);
        self.max_p_delta = (rounded as u32).max(1);
    }

    /// Returns the paper's p_b: the drop probability of the present average, in [0, 1].
    fn drop_probability(&self, params: &Params) -> f64 {
        if self.qavg < params.qth_min {
            0.0
        } else if self.qavg >= params.qth_max {
            1.0
        } else {
            let share = (self.qavg - params.qth_min) as f64 / (params.qth_max - params.qth_min) as f64;
            share * f64::from(self.max_p) / (1_u64 << 32) as f64
        }
    }

    /// Shows the state under Linux's names. The kernel divides by multiplying with a reciprocal. The quotient is the
    /// same here, and the reciprocal is shown because decision traces have it. `unit` is the unit of the average.
    pub fn probe(&self, params: &Params, unit: fn(Option<f64>) -> Measure, probe: &mut dyn Probe) {
        let divisor = u64::from(self.max_p_delta);
        let log = u64::BITS - (divisor - 1).leading_zeros();
        let reciprocal = ((((1_u64 << log) - divisor) << 32) / divisor + 1) as u32;
        let average = self.qavg as f64 / (1_u64 << params.wlog) as f64;
        probe.measured("qavg", self.qavg.into(), unit(Some(average)));
        probe.integer("qcount", self.qcount.into());
        probe.integer("qR", self.q_r.into());
        let idle = Measure::Moment(self.idle_since.map(Moment::from));
        probe.measured("qidlestart", self.idle_since.map_or(0, Instant::as_nanos).into(), idle);
        let max_p = f64::from(self.max_p) / (1_u64 << 32) as f64;
        probe.measured("max_P", self.max_p.into(), Measure::Number(Some(max_p)));
        probe.measured("recip_m", reciprocal.into(), Measure::Internal);
        probe.measured("recip_sh1", log.min(1).into(), Measure::Internal);
        probe.measured("recip_sh2", log.saturating_sub(1).into(), Measure::Internal);
        probe.real("drop_probability", self.drop_probability(params));
    }
}

/// RED over one FIFO: `tc`'s `red`.
#[derive(Clone, Debug)]
pub struct Red {
    limit: u64,
    params: Params,
    /// The line's max_p, in Q0.32.
    start: u32,
    vars: Vars,
    marking: Marking,
    timer: Option<Periodic>,
}

const MAN: &str = "tc-red(8)";
/// The largest size that `tc` accepts.
pub(crate) const MOST_BYTES: u64 = u32::MAX as u64;

const LIMIT: Param<u64> =
    Param::bytes("limit", "most bytes that the queue holds; tc has no default, here 1000 frames")
        .default(1_514_000)
        .range(1, MOST_BYTES)
        .zero_is_unset();
const MIN: Param<Option<u64>> =
    Param::bytes("min", "average above which packets are dropped at random; unset: a third of max")
        .range(1, MOST_BYTES)
        .zero_is_unset();
const MAX: Param<Option<u64>> =
    Param::bytes("max", "average from which every packet is dropped; unset: 3 min, else a quarter of limit")
        .range(1, MOST_BYTES)
        .zero_is_unset();
const NODROP: Param<bool> =
    Param::flag("nodrop", "with ecn: never drop early, not even packets that cannot be marked");
const ADAPTIVE: Param<bool> =
    Param::flag("adaptive", "adapt probability so that the average stands between min and max");

const PARAMS: &[ParamSpec] = params! { from MAN =>
    LIMIT, MIN, MAX,
    AVPKT.zero_is_unset().help("average packet, for burst and for the decay while idle"),
    BURST.help("packets that may arrive at once; unset: (2 min + max) / (3 avpkt)"),
    BANDWIDTH, PROBABILITY, ECN,
    HARDDROP, NODROP, ADAPTIVE,
    Param::alias("adaptative", &ADAPTIVE).source("tc: q_red.c"),
    Param::refused("qevent", "has no effect: there are no filters to send it to"),
};

/// Reads RED's settings of a line.
#[must_use]
pub fn asked(args: &Args) -> Asked {
    Asked::new(args, Scale::Bytes, args.get(&LIMIT), args.get(&MIN), args.get(&MAX))
}

impl Aqm for Red {
    const SPEC: QdiscSpec = QdiscSpec::new("red", PARAMS)
        .summary("Drops arrivals at random, with a probability that grows with the average queue")
        .source("Floyd, Jacobson 1993; tc-red(8)");

    const SHOWS_HEAD: bool = true;

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        let (ecn, nodrop) = (args.get(&ECN), args.get(&NODROP));
        if nodrop && !ecn {
            return Err(Error("red nodrop: has a meaning only with ecn".to_string()));
        }
        let asked = asked(args);
        let params = asked.set_up(Some(args.get(&BANDWIDTH)))?;
        Ok(Self {
            limit: args.get(&LIMIT),
            start: asked.max_p(),
            vars: Vars::new(&params, asked.max_p()),
            params,
            marking: Marking::new(ecn, args.get(&HARDDROP), nodrop),
            timer: args.get(&ADAPTIVE).then(|| Periodic::new(ADAPT_INTERVAL, ADAPT_INTERVAL)),
        })
    }

    fn change(&mut self, now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        // An adapted max_p stays, unless the line sets max_p anew.
        let adapted = fresh.timer.is_some() && fresh.start == self.start;
        let max_p = if adapted { self.vars.max_p } else { fresh.start };
        let first = now.since(Instant::ZERO) + ADAPT_INTERVAL;
        *self = Self {
            vars: self.vars.under(&self.params, &fresh.params, max_p),
            marking: self.marking.under(fresh.marking),
            timer: fresh.timer.map(|_| self.timer.unwrap_or(Periodic::new(first, ADAPT_INTERVAL))),
            ..fresh
        };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { bytes: self.limit, ..Backlog::UNLIMITED }
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        self.vars.arrive(&self.params, now, queue.bytes());
        let verdict = self.vars.decide(&self.params, || owner.random_u32());
        if verdict != Verdict::Pass
            && let Some(why) = self.marking.condemn(verdict, &mut packet, owner)
        {
            owner.dropped(packet, why);
            return Enqueued::Congestion;
        }
        if queue.bytes() + u64::from(packet.len()) > self.limit {
            self.marking.refused();
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        }
        queue.push(packet);
        Enqueued::Success
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        let packet = queue.pop();
        if packet.is_none() {
            self.vars.idle(now);
        }
        packet
    }

    fn next_timer(&self) -> Option<Instant> {
        self.timer.map(|timer| timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, _queue: &Fifo<P>) {
        if let Some(timer) = &mut self.timer {
            timer.fired(now);
            self.vars.adapt(&self.params, now);
        }
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.vars.probe(&self.params, Measure::Bytes, probe);
        self.marking.probe(probe);
    }
}

#[cfg(test)]
mod tests;
