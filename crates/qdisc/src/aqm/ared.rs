//! ARED: adaptive RED.
//!
//! Source: Floyd, Gummadi and Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active
//! Queue Management", 2001 (the report), on top of RED with gentle mode. The sources and choices of that RED stand in
//! `gentle.rs`. This is the ARED of simulations: it sets itself up from the link's rate and a delay, and its state is
//! real numbers. Linux's `red adaptive` is another algorithm: see `red`.
//!
//! Where the report is silent or was revised, its first author's own code decides: ns-2.35's `Queue/RED`. In that
//! code max_p may fall to 80 000 bit/s / C if this is less than 0.01, because at high rates 1 % is far too much for
//! one flow. `bottom 0.01` gives the report's limit.
//!
//! A replay against ns-2.35 (`ns2_tests.rs`) agrees in the thresholds, the weight and each step of max_p. There are
//! two differences:
//!
//! - ns-2 makes the step at the first arrival more than `interval` after the last change. This law makes a step every
//!   `interval`, as the report says.
//! - Above `max`, ns-2's p_b always follows the first max_p. Here p_b follows the present max_p.
//!
//! Decided here:
//!
//! - the link's rate C counts full frames, in byte mode, too;
//! - the adaptation takes the decay during idle time into account, too;
//! - max_p never leaves [bottom, 0.5]. The report only stops moving max_p once it has left the range.

use super::gentle::{BYTES, Gentle, LIMIT, MAX_P, Params, Vars, WAIT, capacity};
use super::{Aqm, Periodic};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param, ParamSpec, QdiscSpec, ms, secs};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::Owner;
use goodqueue_units::{Duration, Instant};

const MAX_P_TOP: f64 = 0.5;
const MIN_TH_FLOOR: f64 = 5.0;

/// Returns the thresholds and the weight that follow from the link's rate.
fn set_up(args: &Args, link: &Link) -> Params {
    let packet = f64::from(link.mtu);
    let capacity = capacity(link, packet);
    let target = args.get(&TARGET).as_secs_f64();
    let min = args.get(&MIN).unwrap_or((target * capacity / 2.0).max(MIN_TH_FLOOR));
    Params {
        min,
        max: args.get(&MAX).unwrap_or(3.0 * min),
        weight: args.get(&WEIGHT).unwrap_or(1.0 - libm::exp(-1.0 / capacity)),
        capacity,
        packet,
        gentle: true,
        bytes: args.get(&BYTES),
        wait: args.get(&WAIT),
    }
}

/// The parameters of the adaptation of max_p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adaptation {
    alpha: f64,
    beta: f64,
    /// The smallest max_p.
    bottom: f64,
}

impl Adaptation {
    fn new(args: &Args, link: &Link) -> Self {
        Self {
            alpha: args.get(&ALPHA),
            beta: args.get(&BETA),
            bottom: args.get(&BOTTOM).unwrap_or((80_000.0 / link.rate.as_bps() as f64).min(0.01)),
        }
    }

    /// Moves max_p so that the average comes to stand between 40 % and 60 % of the way from `min` to `max` (the
    /// report).
    pub(super) fn adapt(&self, vars: &mut Vars, params: &Params, now: Instant) {
        let avg = vars.average_at(params, now);
        let place = (avg - params.min) / (params.max - params.min);
        if place > 0.6 {
            vars.max_p += self.alpha.min(vars.max_p / 4.0);
        } else if place < 0.4 {
            vars.max_p *= self.beta;
        }
        vars.max_p = vars.max_p.clamp(self.bottom, MAX_P_TOP);
    }
}

/// Adaptive RED over one FIFO.
#[derive(Clone, Debug)]
pub struct Ared {
    pub(super) law: Gentle,
    pub(super) adaptation: Adaptation,
    timer: Periodic,
}

const REPORT: &str = "Floyd, Gummadi, Shenker 2001";

const TARGET: Param<Duration> = Param::time("target", "queue delay from which the thresholds follow")
    .default(ms(5))
    .source("ns-2: Queue/RED targetdelay_");
const MIN: Param<Option<f64>> =
    Param::real("min", "lower threshold in packets; unset: half of target, at least 5").range(0.1, 1e9);
const MAX: Param<Option<f64>> =
    Param::real("max", "upper threshold in packets; unset: 3 min").range(0.1, 1e9);
const WEIGHT: Param<Option<f64>> =
    Param::real("weight", "weight of the average; unset: 1 - exp(-1/C), C packets/s").range(1e-9, 1.0);
const INTERVAL: Param<Duration> =
    Param::time("interval", "time between two adaptations of max_p").default(ms(500)).range(ms(1), secs(60));
const ALPHA: Param<f64> = Param::real("alpha", "greatest increase of max_p, at most a quarter of max_p")
    .default(0.01)
    .range(0.0, 0.5);
const BETA: Param<f64> = Param::real("beta", "factor by which max_p decreases").default(0.9).range(0.01, 1.0);
const BOTTOM: Param<Option<f64>> =
    Param::real("bottom", "smallest max_p; unset: 0.01, or 80000/rate above 8 Mbit/s")
        .range(0.0, MAX_P_TOP)
        .source("ns-2.35: Queue/RED bottom_");

const PARAMS: &[ParamSpec] = params! { from REPORT =>
    LIMIT, TARGET,
    ECN.help("mark ECN-capable packets instead of dropping them, up to an average of max"),
    BYTES, WAIT, MIN, MAX, WEIGHT, INTERVAL,
    MAX_P.range(1e-9, MAX_P_TOP).source("ns-2: Queue/RED linterm_ 10").help("first value of the drop probability at max"),
    ALPHA, BETA, BOTTOM,
};

impl Aqm for Ared {
    const SPEC: QdiscSpec = QdiscSpec::new("ared", PARAMS)
        .not_in_linux()
        .summary("Adaptive RED: thresholds from rate and delay, gentle, max_p adapts to the load")
        .source("Floyd, Gummadi, Shenker 2001; Floyd, Jacobson 1993");

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let interval = args.get(&INTERVAL);
        Ok(Self {
            law: Gentle::new(args, set_up(args, link))?,
            adaptation: Adaptation::new(args, link),
            timer: Periodic::new(interval, interval),
        })
    }

    fn change(&mut self, now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let Self { law, adaptation, timer } = Self::build(args, link)?;
        self.law.change(now, law);
        (self.adaptation, self.timer) = (adaptation, timer.going_on_from(self.timer));
        Ok(())
    }

    fn limit(&self) -> Backlog {
        self.law.limit()
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        self.law.enqueue(now, packet, queue, owner)
    }

    #[inline]
    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        self.law.dequeue(now, queue)
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, _queue: &Fifo<P>) {
        self.timer.fired(now);
        self.adaptation.adapt(&mut self.law.vars, &self.law.params, now);
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.law.probe(probe);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Rate;

    static SPEC: QdiscSpec = Ared::SPEC;

    fn ared(words: &str, mbit: u64) -> Ared {
        let link = Link { rate: Rate::from_bps(mbit * 1_000_000).unwrap(), mtu: 1514 };
        Ared::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap()
    }

    fn assert_close(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 1e-6 * want.abs(), "{what}: {got} is not {want}");
    }

    /// Changes the link from 100 to 25 Mbit/s. The set-up must be that of 25 Mbit/s (see below), and average and
    /// max_p must stay, unless the line sets max_p anew. Up to the change an average must decay at the old rate.
    #[test]
    fn the_set_up_follows_the_link_and_the_state_stands() {
        let (mut live, slow) = (ared("", 100), Link { rate: Rate::from_bps(25_000_000).unwrap(), mtu: 1514 });
        live.law.vars = Vars { avg: 30.0, max_p: 0.2, idle_since: Some(Instant::ZERO), ..live.law.vars };
        let before = live.law.vars.average_at(&live.law.params, Instant::from_nanos(1_000_000_000));
        live.change(Instant::from_nanos(1_000_000_000), &Args::defaults(&SPEC), &slow).unwrap();
        assert_close(live.law.params.min, 5.160_171_730_515_19, "min");
        assert_close(live.law.params.weight, 4.843_626_9e-4, "weight");
        assert_close(live.law.vars.avg, before, "average");
        assert_eq!(live.law.vars.max_p, 0.2);
        let line = Args::defaults(&SPEC).changed("ared max_p 0.3").unwrap();
        live.change(Instant::from_nanos(1_000_000_000), &line, &slow).unwrap();
        assert_eq!(live.law.vars.max_p, 0.3);
    }

    /// C = rate / (8 * 1514): 82.5627, 2064.07 and 8256.27 packets per second. min is half of 5 ms times C: 0.206,
    /// 5.160 and 20.64 packets, but at least 5. The weight is 1 - exp(-1/C). At 1 Mbit/s the floor of 5 makes the
    /// queue that the paper measured (95 ms): without it ARED would look as quick as PIE there.
    #[test]
    fn thresholds_and_weight_follow_from_rate_and_target() {
        let table = [
            (1, 5.0, 0.012_038_953),
            (25, 5.160_171_730_515_19, 4.843_626_9e-4),
            (100, 20.640_686_922_060_8, 1.211_126_7e-4),
        ];
        for (mbit, min, weight) in table {
            let Params { min: ours, max, weight: w, .. } = ared("", mbit).law.params;
            assert_close(ours, min, "min");
            assert_close(max, 3.0 * min, "max");
            assert_close(w, weight, "weight");
        }
        let set = ared("target 20ms min 8 weight 0.002", 100).law.params;
        assert_eq!((set.min, set.max, set.weight), (8.0, 24.0, 0.002), "what the line sets is kept");
    }

    /// With min 5 and max 15 the band is 9 to 11. Above the band: max_p + min(0.01, max_p/4). Below it: 0.9 max_p.
    /// Always within [0.01, 0.5].
    #[test]
    fn max_p_is_adapted_towards_the_middle() {
        let adapted = |avg, max_p| {
            let Ared { law, adaptation, .. } = ared("", 1);
            let mut vars = Vars { avg, max_p, ..law.vars };
            adaptation.adapt(&mut vars, &law.params, Instant::ZERO);
            vars.max_p
        };
        assert_close(adapted(11.01, 0.1), 0.11, "up by alpha");
        assert_close(adapted(11.01, 0.02), 0.025, "up by a quarter");
        assert_close(adapted(8.99, 0.1), 0.09, "down by beta");
        for avg in [9.0, 10.0, 11.0] {
            assert_close(adapted(avg, 0.1), 0.1, "in the band");
        }
        assert_close(adapted(11.01, 0.495), 0.5, "top");
        assert_close(adapted(8.99, 0.0105), 0.01, "bottom");
        assert_close(ared("", 100).adaptation.bottom, 0.0008, "80 000 / 10^8");
        assert_close(ared("bottom 0.01", 100).adaptation.bottom, 0.01, "the report's");
    }

    #[test]
    fn thresholds_must_not_cross() {
        let link = Link { rate: Rate::from_bps(1_000_000).unwrap(), mtu: 1514 };
        let crossed = Ared::build(&Args::parse(&SPEC, "max 4").unwrap(), &link).unwrap_err();
        assert_eq!(crossed.0, "ared: max must be greater than min");
    }
}
