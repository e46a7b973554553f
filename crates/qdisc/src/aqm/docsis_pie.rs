//! DOCSIS-PIE: the PIE of cable modems.
//!
//! Source: RFC 8034, appendix A (A.1.2 constants, A.2 control path, A.3 data path), section 4 for the reasons. Real
//! numbers, as the RFC writes it. Where it differs from RFC 8033 (`pie`):
//!
//! - the delay is predicted, neither measured nor stamped: the queue drains at `peak_rate` while the token bucket of
//!   `msr` has credit, at `msr` after that (4.2);
//! - three states (4.3): INACTIVE until a third of the buffer waits; then QUIESCENT, where the first drop is free to
//!   come at once; it makes the state ACTIVE, with p held at 0 for 142 ms. Back to QUIESCENT when all is quiet, to
//!   INACTIVE after a further second;
//! - a packet's probability is p times its size in units of 1024 bytes, 0.85 at most (4.6); so p may be up to 13.6,
//!   and the gains double from 0.1 on and are eight and 32 times as large from 1 and from 10 on (4.4);
//! - p decays by 2 % while both delays are below 5 ms, not 0 (4.5), and rises by 2 points more above 200 ms;
//! - target 10 ms, an update each 16 ms, and gains of 0.25 and 2.5, twice those of PIE;
//! - no ECN (4.7).
//!
//! Decided here, where the RFC leaves it to the operator or to the modem:
//!
//! - `msr` and `peak_rate` are the link's rate, if not set: then the delay is backlog over rate. The law follows the
//!   bucket's credit from the packets that leave, but shapes nothing: a `msr` below the link's rate is the truth
//!   only under a shaper. Credit does not fall below 0;
//! - the buffer is what `msr` sends in 250 ms, but at least ten full frames, and full where a packet does not fit;
//! - sizes are not rounded to the modem's steps (A.3 allows either), and are counted as `tc` does.

use super::{Aqm, Periodic};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, Unit, Value};
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::{Drop, Owner};
use alloc::string::ToString;
use goodqueue_units::{Duration, Instant};

// Constants under the names of A.1.2; times that are compared with delays in seconds.
const A: f64 = 0.25;
const B: f64 = 2.5;
const INTERVAL: Duration = Duration::from_millis(16);
const BURST_RESET_TIMEOUT: Duration = Duration::from_secs(1);
const MAX_BURST: Duration = Duration::from_millis(142);
const MEAN_PKTSIZE: f64 = 1024.0;
const MIN_PKTSIZE: f64 = 64.0;
const PROB_LOW: f64 = 0.85;
const PROB_HIGH: f64 = 8.5;
const LATENCY_LOW: f64 = 0.005;
const LATENCY_HIGH: f64 = 0.2;
/// Below a probability of `.0` a step counts `.1` times (A.2).
const LADDER: [(f64, f64); 8] = [
    (1e-6, 1.0 / 2048.0),
    (1e-5, 1.0 / 512.0),
    (1e-4, 1.0 / 128.0),
    (1e-3, 1.0 / 32.0),
    (1e-2, 1.0 / 8.0),
    (0.1, 0.5),
    (1.0, 2.0),
    (10.0, 8.0),
];
const LAST_RUNG: f64 = 32.0;

/// What the operator sets (A.1.1), and the bucket's size; seconds, bytes, bytes a second.
#[derive(Clone, Copy, Debug)]
struct Params {
    target: f64,
    msr: f64,
    peak_rate: f64,
    burst: f64,
    limit: u64,
}

impl Params {
    fn new(args: &Args, link: &Link) -> Result<Self, Error> {
        let bytes = |name| args.integer(name).map(|bps| bps as f64 / 8.0);
        let link_rate = link.rate.as_bps() as f64 / 8.0;
        let msr = bytes("msr").unwrap_or(link_rate.min(bytes("peak_rate").unwrap_or(link_rate)));
        let peak_rate = bytes("peak_rate").unwrap_or(link_rate.max(msr));
        if peak_rate < msr {
            return Err(Error("docsis_pie: peak_rate must not be less than msr".to_string()));
        }
        let buffer = ((msr * 0.25) as u64).max(10 * u64::from(link.mtu));
        Ok(Self {
            target: args.time("target").unwrap_or(Duration::ZERO).as_secs_f64(),
            msr,
            peak_rate,
            burst: args.integer("burst").unwrap_or(0) as f64,
            limit: args.integer("limit").unwrap_or(buffer),
        })
    }
}

/// The credit of the Maximum Sustained Traffic Rate (section 3).
#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    since: Instant,
}

impl Bucket {
    /// The RFC's msrtokens().
    fn tokens_at(&self, params: &Params, now: Instant) -> f64 {
        (self.tokens + now.since(self.since).as_secs_f64() * params.msr).min(params.burst)
    }

    fn spend(&mut self, params: &Params, now: Instant, len: u32) {
        self.tokens = (self.tokens_at(params, now) - f64::from(len)).max(0.0);
        self.since = now;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Inactive,
    Quiescent,
    Active,
}

/// The law's state, under the RFC's names (A.1.3).
#[derive(Clone, Copy, Debug)]
struct Vars {
    drop_prob: f64,
    accu_prob: f64,
    qdelay_old: f64,
    burst_allowance: Duration,
    burst_reset: Duration,
    state: State,
}

impl Vars {
    /// control_path_init() of A.2.
    const INIT: Self = Self {
        drop_prob: 0.0,
        accu_prob: 0.0,
        qdelay_old: 0.0,
        burst_allowance: Duration::ZERO,
        burst_reset: Duration::ZERO,
        state: State::Inactive,
    };

    /// calculate_drop_prob() of A.2, for a delay of `qdelay`.
    fn update(&mut self, params: &Params, qdelay: f64) {
        if self.burst_allowance > Duration::ZERO {
            self.drop_prob = 0.0;
            self.burst_allowance = self.burst_allowance.saturating_sub(INTERVAL);
        } else {
            self.adjust(params, qdelay);
        }
        let half = 0.5 * params.target;
        let quiet = qdelay < half
            && self.qdelay_old < half
            && self.drop_prob <= 0.0
            && self.burst_allowance == Duration::ZERO;
        match self.state {
            State::Active if quiet => {
                self.state = State::Quiescent;
                self.burst_reset = Duration::ZERO;
            }
            State::Quiescent if quiet => {
                let quiet_for = self.burst_reset + INTERVAL;
                (self.state, self.burst_reset) = if quiet_for > BURST_RESET_TIMEOUT {
                    (State::Inactive, Duration::ZERO)
                } else {
                    (State::Quiescent, quiet_for)
                };
            }
            State::Quiescent => self.burst_reset = Duration::ZERO,
            State::Active | State::Inactive => {}
        }
        self.qdelay_old = qdelay;
    }

    /// Moves p: the controller with its gains tuned to p, capped, and the special cases (A.2).
    fn adjust(&mut self, params: &Params, qdelay: f64) {
        let rung = LADDER.iter().find(|(below, _)| self.drop_prob < *below);
        let gain = rung.map_or(LAST_RUNG, |(_, gain)| *gain);
        let mut p = gain * (A * (qdelay - params.target) + B * (qdelay - self.qdelay_old));
        if self.drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        self.drop_prob += p;
        if qdelay < LATENCY_LOW && self.qdelay_old < LATENCY_LOW {
            self.drop_prob *= 0.98;
        } else if qdelay > LATENCY_HIGH {
            self.drop_prob += 0.02;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, PROB_LOW * MEAN_PKTSIZE / MIN_PKTSIZE);
    }

    /// drop_early() of A.3: whether a packet of `len` bytes that meets `backlog` bytes is dropped; `draw` is
    /// uniform below 1.
    fn drop_early(&mut self, params: &Params, backlog: u64, len: u32, draw: impl FnOnce() -> f64) -> bool {
        if self.burst_allowance > Duration::ZERO {
            return false;
        }
        if self.drop_prob <= 0.0 {
            self.accu_prob = 0.0;
        }
        if self.state == State::Inactive {
            if backlog < params.limit / 3 {
                return false;
            }
            self.state = State::Quiescent;
        }
        let p1 = (self.drop_prob * f64::from(len) / MEAN_PKTSIZE).min(PROB_LOW);
        self.accu_prob += p1;
        let uncongested = self.qdelay_old < 0.5 * params.target && self.drop_prob < 0.2;
        if uncongested || backlog as f64 <= 2.0 * MEAN_PKTSIZE || self.accu_prob < PROB_LOW {
            return false;
        }
        if self.accu_prob < PROB_HIGH && draw() > p1 {
            return false;
        }
        self.accu_prob = 0.0;
        if self.state == State::Quiescent {
            self.state = State::Active;
            self.burst_allowance = MAX_BURST;
        }
        true
    }
}

/// DOCSIS-PIE over one FIFO.
#[derive(Clone, Debug)]
pub struct DocsisPie {
    params: Params,
    vars: Vars,
    bucket: Bucket,
    timer: Periodic,
}

const fn rate(name: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec {
        name,
        unit: Unit::Rate,
        default: Value::Unset,
        range: (1.0, 1e13),
        source: "RFC 8034, A.1.1",
        help,
    }
}

impl Aqm for DocsisPie {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "docsis_pie",
        summary: "The PIE of cable modems: delay predicted from the rates, one early drop in a burst",
        source: "RFC 8034",
        params: &[
            ParamSpec {
                name: "limit",
                unit: Unit::Bytes,
                default: Value::Unset,
                range: (1.0, 1e12),
                source: "RFC 8034, A.1.1: BUFFER_SIZE",
                help: "bytes that the queue holds at most; unset: what msr sends in 250 ms, ten full frames at least",
            },
            ParamSpec {
                name: "target",
                unit: Unit::Time,
                default: Value::Integer(10_000_000),
                range: (1e3, 60e9),
                source: "RFC 8034, 4.1",
                help: "queue delay that the controller steers to",
            },
            rate("msr", "Maximum Sustained Traffic Rate; unset: the link's rate"),
            rate("peak_rate", "Peak Traffic Rate, that of sending on credit; unset: the link's rate"),
            ParamSpec {
                name: "burst",
                unit: Unit::Bytes,
                default: Value::Integer(3044),
                range: (0.0, 4_294_967_295.0),
                source: "RFC 8034, section 3: B; two frames of 1522 bytes",
                help: "Maximum Traffic Burst: the greatest credit",
            },
        ],
    };

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let params = Params::new(args, link)?;
        Ok(Self {
            params,
            vars: Vars::INIT,
            bucket: Bucket { tokens: params.burst, since: Instant::ZERO },
            timer: Periodic::new(INTERVAL, INTERVAL),
        })
    }

    fn change(&mut self, now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let params = Params::new(args, link)?;
        let tokens = self.bucket.tokens_at(&self.params, now).min(params.burst);
        (self.params, self.bucket) = (params, Bucket { tokens, since: now });
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { bytes: self.params.limit, ..Backlog::UNLIMITED }
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let draw = || f64::from(owner.random_u32()) / 4_294_967_296.0;
        if queue.bytes() + u64::from(packet.len()) > self.params.limit {
            self.vars.accu_prob = 0.0;
            owner.dropped(packet, Drop::Overlimit);
            Enqueued::Dropped
        } else if self.vars.drop_early(&self.params, queue.bytes(), packet.len(), draw) {
            owner.dropped(packet, Drop::Early);
            Enqueued::Dropped
        } else {
            queue.push(packet);
            Enqueued::Success
        }
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        let packet = queue.pop()?;
        self.bucket.spend(&self.params, now, packet.len());
        Some(packet)
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, queue: &Fifo<P>) {
        self.timer.fired(now);
        let qdelay = self.predict(now, queue.bytes() as f64);
        self.vars.update(&self.params, qdelay);
    }

    fn probe(&self, probe: &mut dyn Probe) {
        let Vars { drop_prob, accu_prob, qdelay_old, burst_allowance, burst_reset, state } = self.vars;
        probe.real("drop_prob", drop_prob);
        probe.real("accu_prob", accu_prob);
        probe.real("qdelay_old", qdelay_old);
        probe.integer("burst_allowance", burst_allowance.as_nanos().into());
        probe.integer("burst_reset", burst_reset.as_nanos().into());
        probe.integer("aqm_state", state as i128);
        probe.real("drop_probability", drop_prob.min(1.0));
    }
}

impl DocsisPie {
    /// The delay of `backlog` bytes in seconds: what there is credit for goes at the peak rate (A.2).
    fn predict(&self, now: Instant, backlog: f64) -> f64 {
        let Params { msr, peak_rate, .. } = self.params;
        let tokens = self.bucket.tokens_at(&self.params, now);
        if backlog <= tokens { backlog / peak_rate } else { (backlog - tokens) / msr + tokens / peak_rate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Plain;
    use crate::signal::Mark;
    use goodqueue_units::{Ecn, Rate};

    static SPEC: QdiscSpec = DocsisPie::SPEC;
    /// A packet of 1024 bytes has p itself as its probability.
    const MEAN: u32 = 1024;

    /// Dice that always fall the same way, and the drops told.
    struct Fixed(u32, std::vec::Vec<Drop>);

    impl Owner<Plain> for Fixed {
        fn dropped(&mut self, _packet: Plain, why: Drop) {
            self.1.push(why);
        }
        fn marked(&mut self, _packet: &Plain, _why: Mark) {
            panic!("DOCSIS-PIE does not mark (4.7)");
        }
        fn random_u32(&mut self) -> u32 {
            self.0
        }
        fn random_u64(&mut self) -> u64 {
            u64::from(self.0) << 32
        }
    }

    fn made(words: &str) -> Result<DocsisPie, Error> {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        DocsisPie::build(&Args::parse(&SPEC, words).unwrap(), &link)
    }

    fn docsis(words: &str) -> DocsisPie {
        made(words).unwrap()
    }

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    fn assert_close(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 1e-12, "{what}: {got}, not {want}");
    }

    /// Past the burst protection, at `drop_prob` and at delays of `ms`.
    fn active(drop_prob: f64, ms: f64) -> Vars {
        Vars { drop_prob, qdelay_old: ms / 1e3, state: State::Active, ..Vars::INIT }
    }

    /// p after an update at a delay of `now` ms, from `drop_prob` at `old` ms.
    fn updated(drop_prob: f64, now: f64, old: f64) -> f64 {
        let mut vars = active(drop_prob, old);
        vars.update(&docsis("").params, now / 1e3);
        vars.drop_prob
    }

    /// A.2 and 4.2, at 10 Mbit/s sustained and 20 at peak: 20000 bytes with a credit of 10000 take 8 + 4 ms, 5000
    /// take 2 ms. A frame costs 1514 of the credit, 1 ms brings 1250 back, 10000 is all there is.
    #[test]
    fn the_delay_follows_from_both_rates_and_the_credit() {
        let mut law = docsis("msr 10mbit peak_rate 20mbit burst 10000");
        assert_close(law.predict(at(0), 20_000.0), 0.012, "beyond the credit");
        assert_close(law.predict(at(0), 5_000.0), 0.002, "within the credit");
        law.bucket.spend(&law.params, at(0), 1514);
        assert_close(law.bucket.tokens_at(&law.params, at(1)), 9736.0, "credit returns");
        assert_close(law.bucket.tokens_at(&law.params, at(2)), 10_000.0, "no more than the burst");
        assert_close(law.predict(at(1), 9736.0 + 1250.0), 0.0048944, "1 ms beyond the credit");
        law.bucket.spend(&law.params, at(2), 20_000);
        assert_close(law.predict(at(2), 1250.0), 0.001, "no debt");
    }

    /// Without parameters both rates are the link's, and the delay is backlog over rate whatever the credit.
    #[test]
    fn the_links_rate_is_the_default() {
        let mut law = docsis("");
        assert_close(law.predict(at(0), 12_500.0), 0.01, "with credit");
        law.bucket.spend(&law.params, at(0), 3000);
        assert_close(law.predict(at(0), 12_500.0), 0.01, "without");
        assert_eq!(law.params.limit, 312_500, "250 ms");
        assert_eq!(docsis("msr 100kbit").params.limit, 15_140, "ten full frames");
        assert_close(docsis("msr 5mbit").params.peak_rate, 1_250_000.0, "the link's");
        assert_close(docsis("msr 50mbit").params.peak_rate, 6_250_000.0, "as fast as msr");
        assert_close(docsis("peak_rate 5mbit").params.msr, 625_000.0, "as slow as the peak");
        assert!(made("msr 5mbit peak_rate 4mbit").is_err());
    }

    /// A.2: 14 ms standing are 0.25 * 4 ms = 0.1 points, times the rung that p stands on.
    #[test]
    fn the_gains_are_tuned_to_p_from_1e_6_to_10() {
        let ladder = [
            (0.0, 1.0 / 2048.0),
            (2e-6, 1.0 / 512.0),
            (2e-5, 1.0 / 128.0),
            (2e-4, 1.0 / 32.0),
            (2e-3, 1.0 / 8.0),
            (0.02, 0.5),
            (0.1, 2.0),
            (0.99, 2.0),
            (1.0, 8.0),
            (9.9, 8.0),
        ];
        for (p, gain) in ladder {
            assert_close(updated(p, 14.0, 14.0), p + 0.001 * gain, "a rung");
        }
        // 10.5 ms: 0.25 * 0.5 ms * 32 = 0.004, below the cap.
        assert_close(updated(10.0, 10.5, 10.5), 10.004, "the last rung");
        // 4 ms more than before, at target: 2.5 * 4 ms / 2.
        assert_close(updated(0.05, 10.0, 6.0), 0.055, "the trend");
        assert_close(updated(0.05, 10.0, 14.0), 0.045, "the trend down");
    }

    /// A.2: from 0.1 on a step up is 2 points at most, a step down is not; above 200 ms 2 points more; below 5 ms
    /// twice, 2 % less; 13.6 = 0.85 * 1024 / 64 is the end.
    #[test]
    fn steps_are_capped_and_the_special_cases_apply() {
        assert_close(updated(0.1, 100.0, 100.0), 0.12, "capped: 0.25 * 90 ms * 2 = 4.5 points");
        assert_close(updated(0.09, 50.0, 10.0), 0.09 + (0.01 + 0.1) / 2.0, "no cap below 0.1");
        assert_close(updated(0.5, 10.0, 50.0), 0.3, "down: 2.5 * 40 ms * 2");
        assert_close(updated(0.1, 201.0, 201.0), 0.14, "above 200 ms");
        assert_close(updated(0.1, 200.0, 200.0), 0.12, "at 200 ms");
        // 0.25 * 6 ms * 2 = 0.3 points down, then 2 %.
        assert_close(updated(0.5, 4.0, 4.0), 0.497 * 0.98, "decay");
        assert_close(updated(0.5, 5.0, 5.0), 0.4975, "5 ms is not below");
        assert_close(updated(13.59, 300.0, 300.0), 13.6, "the end");
        assert_close(updated(0.001, 0.0, 10.0), 0.0, "not below 0");
    }

    /// 4.6: p scaled by size, 0.85 at most; 4.4's example: 64-byte packets at p = 8 are dropped half the time.
    #[test]
    fn the_probability_follows_the_size() {
        let law = docsis("");
        let p1 = |drop_prob, len| {
            let mut vars = active(drop_prob, 50.0);
            vars.drop_early(&law.params, 100_000, len, || 1.0);
            vars.accu_prob
        };
        assert_close(p1(8.0, 64), 0.5, "the RFC's example");
        assert_close(p1(0.1, 512), 0.05, "half the mean size");
        assert_close(p1(0.1, 2048), 0.2, "twice");
        assert_close(p1(8.0, 2048), 0.85, "the most");
    }

    /// A.3: the sum must reach 0.85 before dice count, and 8.5 drops whatever they say; a drop and a p of 0 start
    /// it anew.
    #[test]
    fn drops_are_spaced_between_a_sum_of_0_85_and_8_5() {
        let law = docsis("");
        let first_drop = |dice: f64| {
            let mut vars = active(0.125, 50.0);
            let first = (1..100).find(|_| vars.drop_early(&law.params, 100_000, MEAN, || dice));
            assert_close(vars.accu_prob, 0.0, "used up");
            first
        };
        assert_eq!(first_drop(0.0), Some(7), "0.85 / 0.125 = 6.8");
        assert_eq!(first_drop(0.125), Some(7), "a tie drops");
        assert_eq!(first_drop(0.126), Some(68), "8.5 / 0.125");
        let mut vars = Vars { accu_prob: 5.0, ..active(0.0, 50.0) };
        assert!(!vars.drop_early(&law.params, 100_000, MEAN, || 0.0));
        assert_close(vars.accu_prob, 0.0, "p is 0");
    }

    /// A.3: no drop at two mean packets or less, nor at less than half the target with p below 0.2. The sum grows
    /// all the same, unlike RFC 8033's.
    #[test]
    fn the_guards_hold_back_even_the_worst_dice() {
        let law = docsis("");
        let drops = |mut vars: Vars, backlog| {
            vars.accu_prob = 8.5;
            let dropped = vars.drop_early(&law.params, backlog, MEAN, || 0.0);
            assert!(dropped || vars.accu_prob > 8.5 || vars.burst_allowance > Duration::ZERO);
            dropped
        };
        assert!(drops(active(0.1, 50.0), 2049));
        assert!(!drops(active(0.1, 50.0), 2048), "two mean packets");
        assert!(!drops(active(0.1, 4.9), 5000), "less than half of 10 ms");
        assert!(drops(active(0.1, 5.0), 5000), "half of it");
        assert!(drops(active(0.2, 0.0), 5000), "p of 0.2");
        assert!(!drops(Vars { burst_allowance: INTERVAL, ..active(0.1, 50.0) }, 5000), "burst protection");
    }

    /// 4.3, all the way round, in a buffer of 30000 bytes.
    #[test]
    fn the_states_follow_the_queue() {
        let law = docsis("limit 30000");
        let mut vars = Vars { drop_prob: 1.0, qdelay_old: 0.05, ..Vars::INIT };
        let arrive = |vars: &mut Vars, backlog| vars.drop_early(&law.params, backlog, MEAN, || 0.0);
        assert!(!arrive(&mut vars, 9999));
        assert_eq!((vars.state, vars.accu_prob), (State::Inactive, 0.0), "less than a third");
        assert!(arrive(&mut vars, 10_000), "p of 0.85 is enough at once");
        assert_eq!((vars.state, vars.burst_allowance), (State::Active, MAX_BURST), "the one early drop");
        // 142 ms are nine updates, in which p is 0 at whatever delay.
        for _ in 0..9 {
            assert!(!arrive(&mut vars, 29_000));
            vars.update(&law.params, 0.1);
            assert_close(vars.drop_prob, 0.0, "protected");
        }
        assert_eq!(vars.burst_allowance, Duration::ZERO);
        vars.update(&law.params, 0.1);
        assert!(vars.drop_prob > 0.0);
        // Quiet: p at 0, two delays below half the target.
        vars.drop_prob = 0.0;
        vars.update(&law.params, 0.0049);
        assert_eq!(vars.state, State::Active, "the delay before was 100 ms");
        vars.update(&law.params, 0.0049);
        assert_eq!(vars.state, State::Quiescent);
        // More than a second: 63 updates of 16 ms. What is not quiet begins it anew.
        (0..62).for_each(|_| vars.update(&law.params, 0.0));
        vars.update(&law.params, 0.006);
        assert_eq!((vars.state, vars.burst_reset), (State::Quiescent, Duration::ZERO));
        vars.update(&law.params, 0.0);
        (0..62).for_each(|_| vars.update(&law.params, 0.0));
        assert_eq!((vars.state, vars.burst_reset), (State::Quiescent, Duration::from_millis(992)));
        vars.update(&law.params, 0.0);
        assert_eq!(vars.state, State::Inactive);
    }

    /// The whole: a full buffer refuses and starts the sum anew; updates come every 16 ms; ECN helps nobody.
    #[test]
    fn packets_are_dropped_by_law_and_by_limit() {
        let (mut law, mut queue) = (docsis("limit 10000"), Fifo::default());
        let mut owner = Fixed(0, std::vec::Vec::new());
        for _ in 0..7 {
            law.vars.accu_prob = 5.0;
            let packet = Plain { ecn: Ecn::Ect0, ..Plain::new(1514) };
            law.enqueue(at(0), packet, &mut queue, &mut owner);
        }
        assert_eq!((queue.bytes(), owner.1.as_slice()), (9084, [Drop::Overlimit].as_slice()));
        assert_close(law.vars.accu_prob, 0.0, "the sum after a full buffer");
        assert_eq!(law.next_timer(), Some(at(16)));
        law.on_timer(at(16), &queue);
        assert_eq!(law.next_timer(), Some(at(32)));
        // 9084 bytes at 10 Mbit/s are 7.2672 ms; below target, but from nothing: 2.5 * 7.2672 - 0.25 * 2.7328 ms.
        assert_close(law.vars.qdelay_old, 0.0072672, "the delay");
        assert_close(law.vars.drop_prob, (2.5 * 0.0072672 - 0.25 * 0.0027328) / 2048.0, "p");
        (law.vars.drop_prob, law.vars.state) = (1.0, State::Active);
        law.dequeue(at(16), &mut queue, &mut owner);
        let packet = Plain { ecn: Ecn::Ect0, ..Plain::new(1024) };
        assert_eq!(law.enqueue(at(16), packet, &mut queue, &mut owner), Enqueued::Dropped);
        assert_eq!(owner.1.last(), Some(&Drop::Early));
    }
}
