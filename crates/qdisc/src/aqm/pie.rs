//! PIE: proportional integral controller enhanced.
//!
//! Source: RFC 8033 (section numbers below), in three variants: `linux`, as Linux 6.1 runs it; `draft2013`, the
//! PIE of draft-pan-aqm-pie-00, of Pan et al. (HPSR 2013) and of the vendor's Linux code of that year, which the
//! papers of 2013 to 2015 ran; and `rfc8033`, the RFC as it is written (its own part is in `pie/rfc8033.rs`).
//!
//! Where Linux differs from the RFC:
//!
//! - its clock ticks every 64 ns, probabilities are out of 2^56 - 1 and may grow beyond it;
//! - the delay is the last departed packet's time in the queue, 0 if that emptied the queue (4.3 estimates
//!   it); `dq_rate_estimator` switches the RFC's estimate on (5.2), with a weight of 1/8 instead of 1/4;
//! - the guard of 4.1 looks at the delay of now, and at two full frames of backlog;
//! - a delay of zero is no idle queue as long as something waits (4.2);
//! - it marks up to p = 10 %, that included (5.1);
//! - the burst allowance (4.4) shrinks as packets leave, not as updates pass;
//! - p decays by 1/64, not 1/50, while the queue is idle (4.2), and rises by 2 points more above 250 ms;
//! - there is no inactive state (5.3): when all is quiet, the state starts anew;
//! - a packet that is marked because the sum reached 8.5 does not restart the de-randomisation (5.4); one that
//!   is dropped does, for whatever reason;
//! - the kernel's timers count jiffies (`jiffies.rs`): at HZ = 250, which is taken here, `tupdate 15ms` is
//!   20 ms, and the first update, meant to come half a second after the start, comes after 512 ms. Since the
//!   gains are not rescaled, p moves by a quarter more slowly than it would every 15 ms.
//!
//! Where `draft2013` differs from `linux`: three levels of gain instead of seven, a cap on every step up, a
//! decay of 2 %, plain dice, 100 ms of burst allowance (all in `pie/params.rs`). Its target (20 ms), its
//! interval (30 ms) and its rate estimator (on) are other defaults. It reckons the rate as finely as the
//! drafts do, not in the kernel's whole 1/256 of a byte a tick, which at 1 Mbit/s is 2.
//!
//! What the sources of 2013 leave open, and what is done here:
//!
//! - steps up are capped at any p, as Schwardmann et al. state; Linux 3.14 caps from 10 % on;
//! - the burst allowance returns when both delays are under half the target and p is 0, as in the vendor's
//!   code. Schwardmann et al. do not mention p; without it, a model of 20 AIMD flows drove p to 1;
//! - the allowance is used up by the time of rate measurements, that is of a busy queue, as in that code;
//! - the rate's average has the weight 1/8 of that code;
//! - their "less than 3000 bytes" is two full frames, link headers counted.

mod params;
mod rate;
mod rfc8033;

use super::{Aqm, Periodic, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, QdiscSpec};
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::{Drop, Mark, Owner};
use alloc::format;
use core::fmt;
use goodqueue_units::{Duration, Instant};
pub(crate) use params::{ALPHA, BETA, BYTEMODE, DQ_RATE_ESTIMATOR, ECN, TARGET, TUPDATE};
use params::{PARAMS, RFC8033, Rules};

/// Probability one; 56 bits, so that 64 hold the sum of 8.5 that de-randomisation (5.4) needs.
pub const MAX_PROB: u64 = u64::MAX >> 8;
const TICKS_PER_SECOND: u64 = 1_000_000_000 >> 6;
/// Linux's first update is set for this long after the start.
pub(crate) const FIRST_UPDATE: Duration = Duration::from_millis(500);

const fn ticks(span: Duration) -> u64 {
    span.as_nanos() >> 6
}

const fn tick_at(now: Instant) -> u64 {
    now.as_nanos() >> 6
}

/// What the law compares with.
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
    mtu: u32,
}

impl Params {
    /// The parameters of a line that lists `target tupdate alpha beta bytemode dq_rate_estimator`, and perhaps
    /// `variant`, `linux` where it does not, and `auto_inactive`.
    #[must_use]
    pub fn new(args: &Args, link: &Link) -> Self {
        Self {
            rules: Rules::of(args),
            target: ticks(args.time("target").unwrap_or(Duration::ZERO)),
            tupdate: ticks(args.time("tupdate").unwrap_or(Duration::ZERO)),
            alpha: args.integer("alpha").unwrap_or(0),
            beta: args.integer("beta").unwrap_or(0),
            bytemode: args.flag("bytemode"),
            dq_rate_estimator: args.flag("dq_rate_estimator"),
            auto_inactive: args.flag("auto_inactive"),
            mtu: link.mtu,
        }
    }
}

/// The law's state, under Linux's names; times are ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vars {
    /// The drop probability, of [`MAX_PROB`].
    pub prob: u64,
    /// The sum of the probabilities that packets have survived since the last drop (5.4).
    accu_prob: u64,
    qdelay: u64,
    qdelay_old: u64,
    /// What is left of the burst allowance (4.4).
    burst_time: u64,
    /// When a packet last left, or when the measurement of the rate began.
    dq_tstamp: Option<u64>,
    /// Bytes that left since the measurement of the rate began, if one runs.
    dq_count: Option<u64>,
    /// Bytes a tick, with [`Rules::rate_bits`] (`rfc8033`: ticks a measurement); 0: not known.
    avg_dq_rate: u64,
    backlog_old: u64,
    /// Whether it is at work (5.3); always, but for `rfc8033`.
    active: bool,
}

impl Vars {
    /// At rest.
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

    /// Whether the dice are against a packet of `len` bytes that meets `backlog` bytes (4.1, 5.4).
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

    /// Tells that a packet was dropped, for whatever reason (5.4).
    #[inline]
    pub fn dropped(&mut self) {
        self.accu_prob = 0;
    }

    /// Tells that a packet left and `backlog` bytes stayed: measures the delay or the rate (4.3, 5.2), and
    /// uses up the burst allowance (4.4).
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

    /// The periodic update of the probability (4.2), with `backlog` bytes waiting.
    pub fn update(&mut self, params: &Params, backlog: u64) {
        if params.rules.as_written {
            return self.update_as_written(params, backlog);
        }
        if params.dq_rate_estimator {
            self.qdelay_old = self.qdelay;
            self.qdelay = (backlog << params.rules.rate_bits).checked_div(self.avg_dq_rate).unwrap_or(0);
        }
        let (delay, old) = (self.qdelay, self.qdelay_old);
        // A backlog without a delay is one whose rate is not known yet.
        self.adjust(params, backlog == 0);
        self.backlog_old = backlog;
        let quiet = delay < params.target / 2 && old < params.target / 2 && self.prob == 0;
        if quiet && (!params.dq_rate_estimator || self.avg_dq_rate > 0) {
            let (qdelay, qdelay_old, backlog_old) = (delay, old, backlog);
            *self = Self { qdelay, qdelay_old, backlog_old, ..Self::new(params) };
        }
        if !params.dq_rate_estimator {
            self.qdelay_old = delay;
        }
    }

    /// Moves p by a step, and lets it decay where both delays are 0 and it `may_decay` (4.2).
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

    /// By how much p changes: the controller with its gains tuned to p (4.2), capped (5.5), and more above
    /// 250 ms.
    fn step(&self, params: &Params, delay: u64, old: u64) -> i64 {
        let rung = params.rules.ladder.iter().rev().find(|(below, _)| self.prob < MAX_PROB / below);
        let shift = 4 + rung.map_or(0, |(_, halvings)| *halvings);
        let gain = |sixteenths: u64| i128::from((sixteenths * (MAX_PROB / TICKS_PER_SECOND)) >> shift);
        let delta = gain(params.alpha) * (i128::from(delay) - i128::from(params.target))
            + gain(params.beta) * (i128::from(delay) - i128::from(old));
        let mut delta = delta.clamp(-1 << 62, 1 << 62) as i64; // beyond minutes of delay nothing is told apart
        if delta > (MAX_PROB / 50) as i64 && self.prob >= params.rules.capped_from {
            delta = (MAX_PROB / 100 * 2) as i64;
        }
        if delay > ticks(Duration::from_millis(250)) {
            delta += params.rules.boost as i64;
        }
        delta
    }

    /// Shows the state under Linux's names.
    pub fn probe(&self, probe: &mut dyn Probe) {
        probe.integer("prob", self.prob.into());
        probe.integer("accu_prob", self.accu_prob.into());
        probe.integer("qdelay", self.qdelay.into());
        probe.integer("qdelay_old", self.qdelay_old.into());
        probe.integer("burst_time", self.burst_time.into());
        probe.integer("dq_tstamp", self.dq_tstamp.unwrap_or(u64::MAX).into());
        probe.integer("dq_count", self.dq_count.unwrap_or(u64::MAX).into());
        probe.integer("avg_dq_rate", self.avg_dq_rate.into());
        probe.integer("backlog_old", self.backlog_old.into());
        probe.integer("active", self.active.into());
        probe.real("drop_probability", (self.prob as f64 / MAX_PROB as f64).min(1.0));
    }
}

/// As the traces of `fq_pie` write a flow's: `prob:accu_prob:qdelay:qdelay_old:burst_time`.
impl fmt::Display for Vars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { prob, accu_prob, qdelay, qdelay_old, burst_time, .. } = self;
        write!(f, "{prob}:{accu_prob}:{qdelay}:{qdelay_old}:{burst_time}")
    }
}

/// What `tc -s` counts.
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
    params: Params,
    vars: Vars,
    stats: Stats,
    timer: Periodic,
}

impl Aqm for Pie {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "pie",
        summary: "Drops arrivals at random, with a probability that steers the delay to target",
        source: "RFC 8033; tc-pie(8)",
        params: PARAMS,
    };

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let params = Params::new(args, link);
        if args.is_given("auto_inactive") && !params.rules.as_written {
            return Err(Error(format!("pie auto_inactive: only variant {} has it", RFC8033.name)));
        }
        let tupdate = args.time("tupdate").unwrap_or(FIRST_UPDATE);
        let (first, period) = params.rules.beat(tupdate);
        Ok(Self {
            limit: args.integer("limit").unwrap_or(0) as usize,
            ecn: args.flag("ecn"),
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
            let may_mark = self.ecn && self.vars.prob < self.params.rules.mark_below;
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
        self.vars.probe(probe);
        probe.integer("packets_in", self.stats.packets_in.into());
        probe.integer("dropped", self.stats.dropped.into());
        probe.integer("overlimit", self.stats.overlimit.into());
        probe.integer("ecn_mark", self.stats.ecn_mark.into());
        probe.integer("maxq", self.stats.maxq as i128);
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
mod tests {
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::{Ecn, Rate};
    use std::string::ToString;
    use std::vec::Vec;

    static SPEC: QdiscSpec = Pie::SPEC;
    pub(super) const NEVER: u64 = u64::MAX;
    pub(super) const FULL: u32 = 1514;

    /// Dice that always fall the same way, and the fates told.
    pub(super) struct Fixed(pub(super) u64, pub(super) Vec<Drop>, pub(super) u32);

    impl Owner<Plain> for Fixed {
        fn dropped(&mut self, _packet: Plain, why: Drop) {
            self.1.push(why);
        }
        fn marked(&mut self, _packet: &Plain, _why: Mark) {
            self.2 += 1;
        }
        fn random_u32(&mut self) -> u32 {
            self.0 as u32
        }
        fn random_u64(&mut self) -> u64 {
            self.0
        }
    }

    pub(super) fn pie(words: &str) -> Pie {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: FULL };
        Pie::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap()
    }

    pub(super) fn ms(ms: u64) -> u64 {
        ticks(Duration::from_millis(ms))
    }

    /// A probability of one in Linux's scale is not a round number of floats; a millionth of a point is
    /// enough here.
    pub(super) fn assert_percent(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 1e-6 * want.abs().max(1.0), "{what}: {got} %, not {want} %");
    }

    /// By how many percent p changes in one update, from `p` percent and with these delays in ms.
    pub(super) fn step(words: &str, p: f64, delay: u64, old: u64) -> f64 {
        let pie = pie(words);
        let prob = (p / 100.0 * MAX_PROB as f64) as u64;
        let vars = Vars { prob, ..Vars::new(&pie.params) };
        vars.step(&pie.params, ms(delay), ms(old)) as f64 / MAX_PROB as f64 * 100.0
    }

    /// Else a result's line would hide that the papers' PIE ran with other numbers.
    #[test]
    fn each_variant_prints_its_own_defaults() {
        let line = |words| Args::parse(&SPEC, words).unwrap().to_string();
        assert_eq!(
            line(""),
            "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode no_dq_rate_estimator variant linux"
        );
        assert_eq!(
            line("variant draft2013 target 5ms"),
            "pie limit 1000 target 5ms tupdate 30ms alpha 2 beta 20 noecn nobytemode dq_rate_estimator variant draft2013"
        );
        assert_eq!(
            line("variant rfc8033"),
            "pie limit 1000 target 15ms tupdate 15ms alpha 2 beta 20 noecn nobytemode no_dq_rate_estimator auto_inactive variant rfc8033"
        );
    }

    /// 4.2: alpha (E[T] - target) + beta (E[T] - old). With alpha 2/16 and beta 20/16 a second, 80 ms above
    /// target and no change give 0.125 * 0.08 = 1 %; below p = 10 % half of that, below 1 % an eighth, then a
    /// quarter more each decade down to 1/2048 under 1e-6. A wrong rung makes small p oscillate or stand
    /// still.
    #[test]
    fn the_gains_are_tuned_to_p_by_the_ladder_of_4_2() {
        let ladder = [
            (20.0, 1.0),
            (5.0, 0.5),
            (0.5, 0.125),
            (0.05, 1.0 / 32.0),
            (0.005, 1.0 / 128.0),
            (0.0005, 1.0 / 512.0),
            (0.00005, 1.0 / 2048.0),
            (0.0, 1.0 / 2048.0),
        ];
        for (p, change) in ladder {
            assert_percent(step("", p, 95, 95), change, "linux, 15 ms target");
            assert_percent(step("variant rfc8033", p, 95, 95), change, "rfc8033, 15 ms target");
            // The papers' PIE has three levels only: an eighth below 1 %, however small p is.
            assert_percent(
                step("variant draft2013", p, 100, 100),
                change.max(0.125),
                "draft2013, 20 ms target",
            );
        }
    }

    /// beta's part: 15 ms more than before, at target: 1.25 * 0.015 = 1.875 % at p = 20 %. A lost sign would
    /// make the controller push a falling queue further down.
    #[test]
    fn the_trend_of_the_delay_counts_with_beta() {
        assert_percent(step("", 20.0, 15, 0), 1.875, "rising");
        assert_percent(step("", 20.0, 15, 30), -1.875, "falling");
        assert_percent(step("alpha 1 beta 10", 20.0, 15, 0), 0.9375, "half the gains");
    }

    /// 5.5: from 10 % on a step is 2 points at most; 100 ms at once would be 1.25 * 0.1 + 0.125 * 0.085 =
    /// 13.5625 %. Below 10 % Linux lets half of that through; the papers' PIE caps there too. Above 250 ms
    /// both add 2 points.
    #[test]
    fn steps_up_are_capped_and_long_delays_add_two_points() {
        assert_percent(step("", 20.0, 100, 0), 2.0, "linux, capped");
        assert_percent(step("", 9.0, 100, 0), 13.5625 / 2.0, "linux, below 10 %");
        assert_percent(step("variant draft2013", 9.0, 100, 0), 2.0, "draft2013, capped");
        // (0.251 - 0.015) * 0.125 = 2.95 % is over the cap; 2 points and 2 more.
        assert_percent(step("", 20.0, 251, 251), 4.0, "linux above 250 ms");
        assert_percent(step("variant draft2013", 20.0, 251, 251), 4.0, "draft2013 above 250 ms");
        assert_percent(step("variant rfc8033", 20.0, 251, 251), 2.0, "the RFC adds nothing");
        assert_percent(step("variant rfc8033", 9.0, 100, 0), 13.5625 / 2.0, "rfc8033, below 10 %");
        // Down there is no cap: from 100 ms to 0 is -(0.125 + 0.001875) = -12.6875 %.
        assert_percent(step("", 20.0, 0, 100), -12.6875, "down");
    }

    /// 4.2: while the queue is empty p decays, by 1/64 in Linux and by 2 % in 2013, after the controller's
    /// own step of -0.125 * target: (50 - 0.1875) * 63/64 and (50 - 0.25) * 0.98. Without it p outlives an
    /// idle spell.
    #[test]
    fn p_decays_while_both_delays_are_zero() {
        let after = |words: &str, backlog| {
            let mut pie = pie(words);
            pie.vars.prob = MAX_PROB / 2;
            pie.vars.update(&pie.params, backlog);
            pie.vars.prob as f64 / MAX_PROB as f64 * 100.0
        };
        assert_percent(after("", 0), 49.8125 * 63.0 / 64.0, "linux");
        assert_percent(after("variant draft2013", 0), 49.75 * 0.98, "draft2013");
        // A backlog whose delay reads zero only because the rate is not known yet is no idle queue.
        assert_percent(after("variant draft2013", 5000), 49.75, "rate not known");
    }

    /// p = 1 is the end for the papers' PIE. Linux tests for overflow of 64 bits only: `golden/pie` holds p =
    /// 2.4.
    #[test]
    fn only_the_papers_pie_stops_at_one() {
        let grown = |words: &str| {
            let mut pie = pie(words);
            pie.vars = Vars { prob: MAX_PROB, qdelay: ms(300), qdelay_old: ms(300), ..pie.vars };
            pie.vars.update(&pie.params, 1_000_000);
            pie.vars.prob as f64 / MAX_PROB as f64 * 100.0
        };
        assert_percent(grown("variant draft2013 no_dq_rate_estimator"), 100.0, "draft2013");
        assert_percent(grown(""), 104.0, "linux");
    }

    /// 4.1 and 4.4: no drop while the burst allowance lasts, nor at less than half the target with p under 20
    /// %, nor before two full frames (3028 bytes) wait. Dice of 0 would drop each packet otherwise.
    #[test]
    fn the_guards_of_4_1_hold_back_even_the_worst_dice() {
        let pie = pie("variant draft2013");
        let ready = Vars { prob: MAX_PROB / 10, qdelay: ms(50), burst_time: 0, ..pie.vars };
        let drops = |mut vars: Vars, backlog| vars.drop_early(&pie.params, backlog, FULL, || 0);
        assert!(drops(ready, 3028));
        assert!(!drops(ready, 3027), "less than two full frames");
        assert!(!drops(Vars { burst_time: 1, ..ready }, 3028), "burst allowance");
        assert!(!drops(Vars { qdelay: ms(10) - 1, ..ready }, 3028), "below half of 20 ms");
        assert!(drops(Vars { qdelay: ms(10), ..ready }, 3028), "half the target is not below it");
        assert!(drops(Vars { qdelay: 0, prob: MAX_PROB / 4, ..ready }, 3028), "p above 20 %");
    }

    /// 5.4: at p = 10 % the sum of the probabilities must reach 0.85 before dice are thrown (the ninth
    /// packet), and at 8.5 (the 85th) the packet is dropped whatever they say. The papers' PIE throws each
    /// time.
    #[test]
    fn drops_are_spaced_between_a_sum_of_0_85_and_8_5() {
        let first_drop = |words: &str, dice: u64| {
            let pie = pie(words);
            let mut vars = Vars { prob: MAX_PROB / 10 + 1, qdelay: ms(50), burst_time: 0, ..pie.vars };
            (1..).find(|_| vars.drop_early(&pie.params, 10_000, FULL, || dice))
        };
        assert_eq!(first_drop("", 0), Some(9));
        assert_eq!(first_drop("", NEVER), Some(85));
        assert_eq!(first_drop("variant draft2013", 0), Some(1));
    }

    /// Half a frame is half as likely to be dropped; dice at 0.3 * p fall between a quarter and a half of it.
    #[test]
    fn bytemode_scales_p_by_the_size() {
        let dice = (MAX_PROB / 10 * 3) << 8;
        let drops = |words: &str, len| {
            let pie = pie(words);
            let mut vars = Vars { prob: MAX_PROB / 2 + 1, qdelay: ms(50), burst_time: 0, ..pie.vars };
            vars.drop_early(&pie.params, 10_000, len, || dice)
        };
        assert!(drops("variant draft2013 bytemode", FULL));
        assert!(!drops("variant draft2013 bytemode", FULL / 2), "0.25 is below 0.3");
        assert!(drops("variant draft2013", FULL / 2), "without bytemode the size tells nothing");
    }

    /// 4.4: 150 ms from the first departure on, used up by the time between departures; then the state starts
    /// anew once p is 0 and both delays are under half the target. An allowance that never returns punishes
    /// every new burst.
    #[test]
    fn the_burst_allowance_is_used_up_by_departures_and_returns_when_all_is_quiet() {
        let mut pie = pie("");
        let leave = |pie: &mut Pie, at: u64| {
            let packet = Plain { arrival: Instant::ZERO, ..Plain::new(FULL) };
            pie.vars.dequeued(&pie.params, Instant::ZERO + Duration::from_millis(at), &packet, 10_000);
            pie.vars.burst_time
        };
        assert_eq!(leave(&mut pie, 10), ms(150), "the first departure only starts the clock");
        assert_eq!(leave(&mut pie, 110), ms(50));
        assert_eq!(leave(&mut pie, 200), 0);
        let restarted = |vars: Vars| {
            let mut vars = Vars { burst_time: 0, ..vars };
            vars.update(&pie.params, 0);
            vars.burst_time == ms(150)
        };
        let quiet = Vars { qdelay: ms(7), qdelay_old: ms(7), prob: 0, ..pie.vars };
        assert!(restarted(quiet));
        assert!(!restarted(Vars { qdelay: ms(8), qdelay_old: ms(8), ..quiet }), "half of 15 ms is 7.5 ms");
        assert!(!restarted(Vars { qdelay_old: ms(8), ..quiet }), "two updates in a row must be quiet");
        assert!(!restarted(Vars { prob: MAX_PROB / 100, ..quiet }), "p must have come down to 0");
    }

    /// 5.2 at 10 Mbit/s, where a full frame takes 1.2112 ms: a measurement begins with the departure that
    /// leaves 10000 bytes behind, counts that packet, and ends with the seventh (10598 bytes) six frames
    /// later, which reads 7/6 of the rate. The second takes seven frames for seven: 10 Mbit/s; an eighth of
    /// the error is gone. With the rate, 100000 bytes are 80 ms of delay over 1 + 7/8 * 1/6 = 1.14583. Of the
    /// 100 ms allowed, 13 frames are used up.
    #[test]
    fn the_papers_pie_derives_the_delay_from_the_departure_rate() {
        let mut pie = pie("variant draft2013");
        let frame = Duration::from_nanos(1_211_200);
        let mut now = Instant::from_nanos(1_000_000_000);
        pie.vars.update(&pie.params, 100_000);
        assert_eq!(pie.vars.qdelay, 0, "no rate, no delay");
        for _ in 0..14 {
            pie.vars.dequeued(&pie.params, now, &Plain::new(FULL), 100_000);
            now += frame;
        }
        pie.vars.update(&pie.params, 100_000);
        let delay = pie.vars.qdelay as f64 * 64e-6;
        assert!((delay - 80.0 / (1.0 + 7.0 / 48.0)).abs() < 0.001, "{delay} ms");
        let left = pie.vars.burst_time as f64 * 64e-6;
        assert!((left - (100.0 - 13.0 * 1.2112)).abs() < 0.001, "{left} ms");
    }

    /// 5.1: marks up to p = 10 %, drops above, so that unresponsive senders cannot hide behind ECN.
    #[test]
    fn ecn_packets_are_marked_up_to_ten_percent() {
        let fate = |prob, ecn| {
            let (mut pie, mut queue, mut owner) =
                (pie("variant draft2013 ecn"), Fifo::default(), Fixed(0, Vec::new(), 0));
            pie.vars = Vars { prob, qdelay: ms(50), burst_time: 0, ..pie.vars };
            (0..3).for_each(|_| queue.push(Plain::new(FULL)));
            let packet = Plain { ecn, ..Plain::new(FULL) };
            pie.enqueue(Instant::ZERO, packet, &mut queue, &mut owner);
            (queue.len() - 3, owner.2, owner.1.len())
        };
        assert_eq!(fate(MAX_PROB / 10, Ecn::Ect0), (1, 1, 0), "queued and marked");
        assert_eq!(fate(MAX_PROB / 10 + 1, Ecn::Ect0), (0, 0, 1), "p above 10 %");
        assert_eq!(fate(MAX_PROB / 10, Ecn::NotEct), (0, 0, 1), "not capable");
        assert_eq!(fate(MAX_PROB / 10, Ecn::Ce), (1, 0, 0), "marked upstream: not told again, not dropped");
    }

    /// Linux's 15 ms are 4 jiffies and one of the timer wheel's: 20 ms, as the ticks of `golden/pie` are. Exact
    /// ones would move p by a third faster than Linux does. The first update is set for 125 jiffies: 128.
    #[test]
    fn linux_counts_tupdate_in_jiffies() {
        let beat = |words| {
            let mut pie = pie(words);
            let first = pie.next_timer().unwrap();
            pie.on_timer::<Plain>(first, &Fifo::default());
            (first.as_nanos() / 1_000_000, pie.next_timer().unwrap().since(first).as_nanos() / 1_000_000)
        };
        assert_eq!(beat(""), (512, 20));
        assert_eq!(beat("tupdate 32ms"), (512, 36));
        assert_eq!(beat("variant draft2013"), (500, 30));
        assert_eq!(beat("variant rfc8033"), (15, 15));
    }

    /// The first update comes 500 ms after the start, then every tupdate. A late call must not shift the
    /// beat.
    #[test]
    fn updates_keep_their_beat() {
        let mut pie = pie("variant draft2013 tupdate 15ms");
        let at = |ms: u64| Some(Instant::from_nanos(ms * 1_000_000));
        assert_eq!(pie.next_timer(), at(500));
        pie.on_timer::<Plain>(at(501).unwrap(), &Fifo::default());
        assert_eq!(pie.next_timer(), at(515));
        pie.on_timer::<Plain>(at(600).unwrap(), &Fifo::default());
        assert_eq!(pie.next_timer(), at(615), "beats that were missed are not made up for");
    }
}
