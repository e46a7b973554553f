//! PIE: proportional integral controller enhanced.
//!
//! Source: RFC 8033 (section numbers below), in three variants. `linux` is PIE as Linux 6.1 runs it. `draft2013` is
//! the PIE of draft-pan-aqm-pie-00, of Pan et al. (HPSR 2013) and of the vendor's Linux code of that year, which the
//! papers of 2013 to 2015 ran. `rfc8033` is the RFC as it is written (its own part is in `pie/rfc8033.rs`).
//!
//! Linux differs from the RFC in these points:
//!
//! - its clock ticks every 64 ns. Probabilities are fractions of 2^56 - 1 and may grow beyond it;
//! - the delay is the last departed packet's time in the queue, or 0 if that packet emptied the queue (4.3 estimates
//!   it). `dq_rate_estimator` switches the RFC's estimate on (5.2), with a weight of 1/8 instead of 1/4;
//! - the guard of 4.1 looks at the present delay, and at two full frames of backlog;
//! - with a delay of zero the queue is not idle as long as a packet waits (4.2);
//! - it marks up to and including p = 10 % (5.1);
//! - the burst allowance (4.4) shrinks as packets leave, not as updates pass;
//! - while the queue is idle p decays by 1/64, not 1/50 (4.2), and above 250 ms p rises by 2 points more;
//! - there is no inactive state (5.3): when all is quiet, the state starts anew;
//! - a packet that is marked because the sum reached 8.5 does not restart the de-randomisation (5.4). A packet that
//!   is dropped does, for whatever reason;
//! - the kernel's timers count jiffies (`jiffies.rs`). At HZ = 250, which is assumed here, `tupdate 15ms` is 20 ms,
//!   and the first update, which is set for half a second after the start, comes after 512 ms. The gains are not
//!   rescaled, so p moves a quarter more slowly than with updates every 15 ms.
//!
//! `draft2013` differs from `linux` in these points: three levels of gain instead of seven, a cap on every step up, a
//! decay of 2 %, no de-randomisation, 100 ms of burst allowance (all in `pie/params.rs`). Its target (20 ms), its
//! interval (30 ms) and its rate estimator (on) are other defaults. It computes the rate as finely as the drafts do,
//! and not in the kernel's whole multiples of 1/256 byte per tick; at 1 Mbit/s the kernel's rate is 2 of them.
//!
//! The sources of 2013 leave some points open. Decided here:
//!
//! - steps up are capped at any p, as Schwardmann et al. state. Linux 3.14 caps from 10 % on;
//! - the burst allowance returns when both delays are under half the target and p is 0, as in the vendor's code.
//!   Schwardmann et al. do not mention p. `rearm` follows their words; with it 20 AIMD flows of a model drove p to 1;
//! - the departure rate is forgotten when all is quiet, as in Linux 3.14. `keep_rate` keeps it;
//! - marks end at p = 10 %, as in Linux 3.14. `ecn_prob` changes that;
//! - the allowance is used up by the time of rate measurements, so by the time of a busy queue, as in that code;
//! - the rate's average has the weight 1/8 of that code;
//! - their "less than 3000 bytes" is two full frames, including link headers.

mod params;
mod rate;
mod rfc8033;

use super::{Aqm, Periodic, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, LIMIT, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Measure, Moment, Probe, Raw};
use crate::signal::{Drop, Mark, Owner};
use alloc::format;
use alloc::string::ToString;
use core::fmt;
use goodqueue_units::{Duration, Instant};
pub(crate) use params::{ALPHA, BETA, BYTEMODE, DQ_RATE_ESTIMATOR, TARGET, TUPDATE};
use params::{AUTO_INACTIVE, ECN_PROB, KEEP_RATE, LINUX, PARAMS, REARM, Rules, VARIANT};

/// Probability one. It has 56 bits, so that 64 bits hold the sum of 8.5 that de-randomisation (5.4) needs.
pub const MAX_PROB: u64 = u64::MAX >> 8;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;
/// Time after the start for which Linux sets the first update.
pub(crate) const FIRST_UPDATE: Duration = Duration::from_millis(500);

const fn ticks(span: Duration) -> u64 {
    span.as_nanos() >> 6
}

const fn tick_at(now: Instant) -> u64 {
    now.as_nanos() >> 6
}

/// The law's parameters. Times are in ticks.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    rules: &'static Rules,
    target: u64,
    tupdate: u64,
    /// Gains as `tc` takes them, in sixteenths of 1/s.
    alpha: u64,
    beta: u64,
    bytemode: bool,
    dq_rate_estimator: bool,
    auto_inactive: bool,
    /// Whether the burst allowance returns at any p.
    rearms: bool,
    /// Whether the departure rate is kept when all is quiet.
    keeps_rate: bool,
    mtu: u32,
}

impl Params {
    /// Reads Linux's parameters of a line that lists `target tupdate alpha beta bytemode dq_rate_estimator`.
    #[must_use]
    pub fn new(args: &Args, link: &Link) -> Self {
        Self {
            rules: &LINUX,
            target: ticks(args.get(&TARGET)),
            tupdate: ticks(args.get(&TUPDATE)),
            alpha: args.get(&ALPHA).into(),
            beta: args.get(&BETA).into(),
            bytemode: args.get(&BYTEMODE),
            dq_rate_estimator: args.get(&DQ_RATE_ESTIMATOR),
            auto_inactive: false,
            rearms: false,
            keeps_rate: false,
            mtu: link.mtu,
        }
    }
}

/// The law's state, under Linux's names. Times are in ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vars {
    /// The drop probability, as a part of [`MAX_PROB`].
    pub prob: u64,
    /// The sum of the probabilities that packets have survived since the last drop (5.4).
    accu_prob: u64,
    qdelay: u64,
    qdelay_old: u64,
    /// The rest of the burst allowance (4.4).
    burst_time: u64,
    /// The time of the last departure, or of the start of the rate's measurement.
    dq_tstamp: Option<u64>,
    /// Bytes that left since the measurement of the rate began, if one runs.
    dq_count: Option<u64>,
    /// Departure rate in bytes per tick with [`Rules::rate_bits`] fraction bits. In `rfc8033`, ticks per measurement.
    /// 0: not known.
    avg_dq_rate: u64,
    backlog_old: u64,
    /// Whether PIE is active (5.3). Only `rfc8033` can be inactive.
    active: bool,
}

impl Vars {
    /// Returns the state at rest.
    #[must_use]
    pub fn new(params: &Params) -> Self {
        Self {
            prob: 0,
            accu_prob: 0,
            qdelay: 0,
            qdelay_old: 0,
            burst_time: ticks(params.rules.max_burst),
            dq_tstamp: None,
            dq_count: None,
            avg_dq_rate: 0,
            backlog_old: 0,
            active: !params.auto_inactive,
        }
    }

    /// Returns whether the dice drop a packet of `len` bytes that meets `backlog` bytes (4.1, 5.4).
    #[inline]
    pub fn drop_early(
        &mut self,
        params: &Params,
        backlog: u64,
        len: u32,
        draw: impl FnOnce() -> u64,
    ) -> bool {
        let rules = params.rules;
        let delay = if rules.as_written { self.qdelay_old } else { self.qdelay };
        if self.burst_time > 0
            || (delay < params.target / 2 && self.prob < MAX_PROB / 5)
            || backlog < rules.least_backlog.unwrap_or(2 * u64::from(params.mtu))
        {
            return false;
        }
        let prob = if params.bytemode && len <= params.mtu {
            u64::from(len) * (self.prob / u64::from(params.mtu))
        } else {
            self.prob
        };
        if rules.derandomised {
            self.accu_prob = if prob == 0 { 0 } else { self.accu_prob.saturating_add(prob) };
            if self.accu_prob < MAX_PROB / 100 * 85 {
                return false;
            }
            if self.accu_prob >= MAX_PROB / 2 * 17 {
                if rules.as_written {
                    self.accu_prob = 0;
                }
                return true;
            }
        }
        let hit = draw() >> 8 < prob;
        if hit {
            self.accu_prob = 0;
        }
        hit
    }

    /// Notes that a packet was dropped, for whatever reason (5.4).
    #[inline]
    pub fn dropped(&mut self) {
        self.accu_prob = 0;
    }

    /// Notes that a packet left and `backlog` bytes stayed. Measures the delay or the rate (4.3, 5.2), and uses up
    /// the burst allowance (4.4).
    #[inline]
    pub fn dequeued<P: Packet>(&mut self, params: &Params, now: Instant, packet: &P, backlog: u64) {
        let tick = tick_at(now);
        if params.rules.as_written {
            return self.departed(params, tick, packet, backlog);
        }
        let elapsed = if params.dq_rate_estimator {
            self.measure_rate(params.rules, tick, packet.len(), backlog)
        } else {
            let since = self.dq_tstamp.replace(tick).unwrap_or(tick);
            self.qdelay = if backlog == 0 { 0 } else { tick.saturating_sub(tick_at(packet.arrival())) };
            tick.saturating_sub(since)
        };
        self.burst_time = self.burst_time.saturating_sub(elapsed);
    }

    /// Makes the periodic update of the probability (4.2), with `backlog` bytes waiting.
    pub fn update(&mut self, params: &Params, backlog: u64) {
        if params.rules.as_written {
            return self.update_as_written(params, backlog);
        }
        if params.dq_rate_estimator {
            self.qdelay_old = self.qdelay;
            self.qdelay = (backlog << params.rules.rate_bits).checked_div(self.avg_dq_rate).unwrap_or(0);
        }
        let (delay, old) = (self.qdelay, self.qdelay_old);
        // A delay of 0 with a backlog means that the rate is not known yet. Then p does not decay.
        self.adjust(params, backlog == 0);
        self.backlog_old = backlog;
        let low = delay < params.target / 2 && old < params.target / 2;
        if low && params.rearms {
            self.burst_time = ticks(params.rules.max_burst);
        }
        let quiet = low && self.prob == 0;
        if quiet && (!params.dq_rate_estimator || self.avg_dq_rate > 0) {
            let (qdelay, qdelay_old, backlog_old) = (delay, old, backlog);
            let fresh = Self { qdelay, qdelay_old, backlog_old, ..Self::new(params) };
            let Self { avg_dq_rate, dq_count, dq_tstamp, .. } = *self;
            *self =
                if params.keeps_rate { Self { avg_dq_rate, dq_count, dq_tstamp, ..fresh } } else { fresh };
        }
        if !params.dq_rate_estimator {
            self.qdelay_old = delay;
        }
    }

    /// Moves p by a step. If both delays are 0 and `may_decay` holds, p decays (4.2).
    fn adjust(&mut self, params: &Params, may_decay: bool) {
        let rules = params.rules;
        let (delay, old) = (self.qdelay, self.qdelay_old);
        let delta = self.step(params, delay, old);
        let stepped = self.prob.checked_add_signed(delta);
        let overflowed = stepped.is_none_or(|prob| prob > rules.ceiling) && delta > 0;
        self.prob = if overflowed { MAX_PROB } else { stepped.unwrap_or(0) };
        if delay == 0 && old == 0 && may_decay && !overflowed {
            self.prob -= self.prob / rules.decay;
        }
    }

    /// Returns the change of p: the controller with its gains tuned to p (4.2), the cap (5.5), and the addition above
    /// 250 ms.
    fn step(&self, params: &Params, delay: u64, old: u64) -> i64 {
        let rung = params.rules.ladder.iter().rev().find(|(below, _)| self.prob < MAX_PROB / below);
        let shift = 4 + rung.map_or(0, |(_, halvings)| *halvings);
        let gain = |sixteenths: u64| i128::from((sixteenths * (MAX_PROB / TICKS_PER_SECOND)) >> shift);
        let delta = gain(params.alpha) * (i128::from(delay) - i128::from(params.target))
            + gain(params.beta) * (i128::from(delay) - i128::from(old));
        let mut delta = delta.clamp(-1 << 62, 1 << 62) as i64; // delays of many minutes all count the same
        if delta > (MAX_PROB / 50) as i64 && self.prob >= params.rules.capped_from {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if delay > ticks(Duration::from_millis(250)) {
            delta += params.rules.boost as i64;
        }
        delta
    }

    /// Returns the departure rate in bits per second, if it is known.
    fn departure_rate(&self, params: &Params) -> Option<f64> {
        let rules = params.rules;
        let average = self.avg_dq_rate as f64 / (1_u64 << rules.rate_bits) as f64;
        let bytes_a_tick = if rules.as_written { rules.dq_threshold as f64 / average } else { average };
        (self.avg_dq_rate > 0).then_some(8.0 * bytes_a_tick * TICKS_PER_SECOND as f64)
    }

    /// Shows the state under Linux's names.
    pub fn probe(&self, params: &Params, probe: &mut dyn Probe) {
        let share = |prob: u64| Measure::Number(Some(prob as f64 / MAX_PROB as f64));
        let time = |ticks: u64| Measure::Time(Some(ticks as f64 / TICKS_PER_SECOND as f64));
        let bytes = |bytes: Option<u64>| Measure::Bytes(bytes.map(|bytes| bytes as f64));
        probe.measured("prob", self.prob.into(), share(self.prob));
        probe.measured("accu_prob", self.accu_prob.into(), share(self.accu_prob));
        probe.measured("qdelay", self.qdelay.into(), time(self.qdelay));
        probe.measured("qdelay_old", self.qdelay_old.into(), time(self.qdelay_old));
        probe.measured("burst_time", self.burst_time.into(), time(self.burst_time));
        let stamp = self.dq_tstamp.map(|tick| Moment::wrapping(tick << 6, u64::BITS));
        probe.measured("dq_tstamp", self.dq_tstamp.unwrap_or(u64::MAX).into(), Measure::Moment(stamp));
        probe.measured("dq_count", self.dq_count.unwrap_or(u64::MAX).into(), bytes(self.dq_count));
        let rate = Measure::Rate(self.departure_rate(params));
        probe.measured("avg_dq_rate", self.avg_dq_rate.into(), rate);
        probe.measured("backlog_old", self.backlog_old.into(), bytes(Some(self.backlog_old)));
        probe.integer("active", self.active.into());
        probe.real("drop_probability", (self.prob as f64 / MAX_PROB as f64).min(1.0));
    }
}

/// Writes a flow's state as the decision traces of `fq_pie` do: `prob:accu_prob:qdelay:qdelay_old:burst_time`.
impl fmt::Display for Vars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prob, accu_prob, qdelay, qdelay_old, burst_time, .. } = self;
        write!(f, "{prob}:{accu_prob}:{qdelay}:{qdelay_old}:{burst_time}")
    }
}

/// The counters that `tc -s` shows.
#[derive(Clone, Copy, Debug, Default)]
struct Stats {
    packets_in: u64,
    dropped: u64,
    overlimit: u64,
    ecn_mark: u64,
    maxq: usize,
}

/// PIE over one FIFO: `tc`'s `pie`.
#[derive(Clone, Debug)]
pub struct Pie {
    limit: usize,
    ecn: bool,
    /// ECN-capable packets are marked below this probability (5.1).
    mark_below: u64,
    params: Params,
    vars: Vars,
    stats: Stats,
    timer: Periodic,
}

impl Aqm for Pie {
    const SPEC: QdiscSpec = QdiscSpec::new("pie", PARAMS)
        .summary("Drops arrivals at random, with a probability that steers the delay to target")
        .source("RFC 8033; tc-pie(8)");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let rules = Rules::of(args.get(&VARIANT));
        if args.is_given(AUTO_INACTIVE.name()) && !rules.as_written {
            return Err(Error("pie auto_inactive: only variant rfc8033 has it".to_string()));
        }
        for name in [ECN_PROB.name(), REARM.name(), KEEP_RATE.name()] {
            if args.is_given(name) && rules.derandomised {
                return Err(Error(format!("pie {name}: only variant draft2013 has it")));
            }
        }
        // The 100 makes `ecn_prob 100` more than any probability, which is at most MAX_PROB in draft2013.
        let mark_below =
            args.get(&ECN_PROB).map_or(rules.mark_below, |percent| MAX_PROB / 100 * u64::from(percent) + 100);
        let auto_inactive = args.get(&AUTO_INACTIVE) == Some(true);
        let rearms = args.get(&REARM) == Some(true);
        let keeps_rate = args.get(&KEEP_RATE) == Some(true);
        let params = Params { rules, auto_inactive, rearms, keeps_rate, ..Params::new(args, link) };
        let (first, period) = rules.beat(args.get(&TUPDATE));
        Ok(Self {
            limit: args.get(&LIMIT) as usize,
            ecn: args.get(&ECN),
            mark_below,
            params,
            vars: Vars::new(&params),
            stats: Stats::default(),
            timer: Periodic::new(first, period),
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let Self { mut vars, stats, timer, .. } = *self;
        let fresh = Self::build(args, link)?;
        vars.active |= !fresh.params.auto_inactive;
        *self = Self { vars, stats, timer: fresh.timer.going_on_from(timer), ..fresh };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        if self.params.rules.as_written {
            self.vars.arrived(&self.params, now, queue.len(), self.limit);
        }
        let fits = queue.len() < self.limit;
        let draw = || owner.random_u64();
        if fits && self.vars.drop_early(&self.params, queue.bytes(), packet.len(), draw) {
            let may_mark = self.ecn && self.vars.prob < self.mark_below;
            if !(may_mark && mark(&mut packet, Mark::Early, owner)) {
                return self.refuse(packet, Drop::Early, owner);
            }
            self.stats.ecn_mark += 1;
        }
        if !fits {
            self.stats.overlimit += 1;
            return self.refuse(packet, Drop::Overlimit, owner);
        }
        self.stats.packets_in += 1;
        self.stats.maxq = self.stats.maxq.max(queue.len());
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
        let head = queue.head()?;
        self.vars.dequeued(&self.params, now, head, queue.bytes() - u64::from(head.len()));
        queue.pop()
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, queue: &Fifo<P>) {
        self.timer.fired(now);
        self.vars.update(&self.params, queue.bytes());
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.vars.probe(&self.params, probe);
        probe.integer("packets_in", self.stats.packets_in.into());
        probe.integer("dropped", self.stats.dropped.into());
        probe.integer("overlimit", self.stats.overlimit.into());
        probe.integer("ecn_mark", self.stats.ecn_mark.into());
        let most = self.stats.maxq;
        probe.measured("maxq", Raw::Integer(most as i128), Measure::Packets(Some(most as f64)));
    }
}

impl Pie {
    fn refuse<P: Packet, O: Owner<P>>(&mut self, packet: P, why: Drop, owner: &mut O) -> Enqueued {
        self.stats.dropped += 1;
        self.vars.dropped();
        owner.dropped(packet, why);
        Enqueued::Dropped
    }
}

#[cfg(test)]
mod tests;
