//! ARED: adaptive RED.
//!
//! Source: Floyd, Gummadi and Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of RED's
//! Active Queue Management", 2001 (the report), on top of Floyd and Jacobson 1993 (RED). This is the ARED of
//! simulations: it sets itself up from the link's rate and a delay, it has gentle mode, and its state is real
//! numbers. Linux's `red adaptive` is another: see `red`.
//!
//! Where the report is silent or was revised, its first author's own code decides: ns-2.35's `Queue/RED`. So
//!
//! - drops are spaced by p_a = p_b / (2 - count p_b), which lets 1/p_b packets pass first; `nowait` gives RED
//!   1993's p_a = p_b / (1 - count p_b), which drops twice as often at the same p_b;
//! - max_p may fall to 80 000 bit/s / C where that is less than 0.01, since at high rates 1 % is far too much
//!   for one flow; the report's is `bottom 0.01`.
//!
//! Decided here:
//!
//! - the link's rate C counts full frames; thresholds are packets, not rounded;
//! - idle time begins with the dequeue that finds nothing, and counts whole packets; it tells in the
//!   adaptation too;
//! - max_p never leaves [bottom, 0.5], where the report only stops to move it once it has;
//! - an ECN-capable packet is marked while the average is below `max` and dropped above, in the gentle region
//!   too (Le et al. 2003 name this as what cost ARED its ECN).

use super::{Aqm, Periodic, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, Unit, Value};
use crate::qdisc::{Enqueued, Probe};
use crate::signal::{Drop, Mark, Owner};
use alloc::string::ToString;
use goodqueue_units::{Duration, Instant};

const MAX_P_TOP: f64 = 0.5;
const MIN_TH_FLOOR: f64 = 5.0;

/// What the law compares with; queue lengths are full frames.
#[derive(Clone, Copy, Debug)]
struct Params {
    min: f64,
    max: f64,
    weight: f64,
    /// Full frames a second that the link carries.
    capacity: f64,
    mtu: f64,
    alpha: f64,
    beta: f64,
    /// The least max_p.
    bottom: f64,
    bytes: bool,
    wait: bool,
}

impl Params {
    fn new(args: &Args, link: &Link) -> Self {
        let real = |name| args.real(name);
        let mtu = f64::from(link.mtu);
        let capacity = link.rate.as_bps() as f64 / (8.0 * mtu);
        let target = args.time("target").unwrap_or(Duration::ZERO).as_secs_f64();
        let min = real("min").unwrap_or((target * capacity / 2.0).max(MIN_TH_FLOOR));
        Self {
            min,
            max: real("max").unwrap_or(3.0 * min),
            weight: real("weight").unwrap_or(1.0 - libm::exp(-1.0 / capacity)),
            capacity,
            mtu,
            alpha: real("alpha").unwrap_or(0.0),
            beta: real("beta").unwrap_or(1.0),
            bottom: real("bottom").unwrap_or((80_000.0 / link.rate.as_bps() as f64).min(0.01)),
            bytes: args.flag("bytes"),
            wait: args.flag("wait"),
        }
    }

    /// What `len` bytes count for.
    fn size(&self, len: u32) -> f64 {
        if self.bytes { f64::from(len) / self.mtu } else { 1.0 }
    }
}

/// The law's state, under the report's names.
#[derive(Clone, Copy, Debug)]
struct Vars {
    /// The average queue.
    avg: f64,
    max_p: f64,
    /// Packets (in byte mode: full frames) since the last drop; `None` while the average is below `min`.
    count: Option<f64>,
    /// p_b of the last arrival.
    p_b: f64,
    idle_since: Option<Instant>,
}

impl Vars {
    /// The average, decayed by as many packets as the link might have sent while it was idle (RED, section
    /// 4).
    fn average_at(&self, params: &Params, now: Instant) -> f64 {
        let Some(since) = self.idle_since else { return self.avg };
        let packets = libm::floor(now.since(since).as_secs_f64() * params.capacity);
        self.avg * libm::pow(1.0 - params.weight, packets)
    }

    /// Moves the average for an arrival that finds `queue` (RED, section 4).
    fn arrive(&mut self, params: &Params, now: Instant, queue: f64) {
        self.avg = self.average_at(params, now);
        self.idle_since = None;
        self.avg += params.weight * (queue - self.avg);
    }

    /// p_b: the drop probability of the average (RED, section 4; the report, section 2, for gentle mode).
    fn base_probability(&self, params: &Params) -> f64 {
        let Params { min, max, .. } = *params;
        if self.avg < min {
            0.0
        } else if self.avg < max {
            self.max_p * (self.avg - min) / (max - min)
        } else if self.avg < 2.0 * max {
            self.max_p + (1.0 - self.max_p) * (self.avg - max) / max
        } else {
            1.0
        }
    }

    /// p_a: the probability for an arrival of `size`, such that drops are spaced evenly (RED, section 7).
    fn probability(&mut self, params: &Params, size: f64) -> f64 {
        self.p_b = self.base_probability(params);
        if self.avg < params.min {
            self.count = None;
            return 0.0;
        }
        let count = self.count.map_or(0.0, |count| count + size);
        self.count = Some(count);
        let spent = count * self.p_b;
        let p_a = match (params.wait, spent) {
            (true, spent) if spent < 1.0 => 0.0,
            (true, spent) if spent < 2.0 => self.p_b / (2.0 - spent),
            (false, spent) if spent < 1.0 => self.p_b / (1.0 - spent),
            _ => 1.0,
        };
        if self.p_b < 1.0 { (p_a * size).min(1.0) } else { 1.0 }
    }

    /// Moves max_p so that the average comes to stand between 40 % and 60 % of the way from `min` to `max`
    /// (the report).
    fn adapt(&mut self, params: &Params, now: Instant) {
        let avg = self.average_at(params, now);
        let place = (avg - params.min) / (params.max - params.min);
        if place > 0.6 {
            self.max_p += params.alpha.min(self.max_p / 4.0);
        } else if place < 0.4 {
            self.max_p *= params.beta;
        }
        self.max_p = self.max_p.clamp(params.bottom, MAX_P_TOP);
    }
}

/// Adaptive RED over one FIFO.
#[derive(Clone, Debug)]
pub struct Ared {
    limit: usize,
    ecn: bool,
    params: Params,
    vars: Vars,
    timer: Periodic,
}

const fn real(
    name: &'static str,
    default: Value,
    range: (f64, f64),
    source: &'static str,
    help: &'static str,
) -> ParamSpec {
    ParamSpec { name, unit: Unit::Real, default, range, source, help }
}

const fn flag(name: &'static str, source: &'static str, help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Flag, default: Value::Flag(false), range: (0.0, 0.0), source, help }
}

const fn time(
    name: &'static str,
    milliseconds: u64,
    range: (f64, f64),
    source: &'static str,
    help: &'static str,
) -> ParamSpec {
    ParamSpec {
        name,
        unit: Unit::Time,
        default: Value::Integer(milliseconds * 1_000_000),
        range,
        source,
        help,
    }
}

const REPORT: &str = "Floyd, Gummadi, Shenker 2001";

const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "limit",
        unit: Unit::Packets,
        default: Value::Integer(1000),
        range: (1.0, 1e9),
        source: "as tc's pie and codel",
        help: "packets that the queue holds at most",
    },
    time(
        "target",
        5,
        (1e3, 60e9),
        "ns-2: Queue/RED targetdelay_",
        "queue delay that the thresholds are set for",
    ),
    flag("ecn", REPORT, "mark ECN-capable packets instead of dropping them, up to an average of max"),
    flag(
        "bytes",
        "Floyd, Jacobson 1993",
        "measure the queue in bytes, and scale the probability by the packet's size",
    ),
    ParamSpec {
        default: Value::Flag(true),
        ..flag("wait", "ns-2.35: Queue/RED wait_", "let 1/p packets pass before the next drop")
    },
    real(
        "min",
        Value::Unset,
        (0.1, 1e9),
        REPORT,
        "lower threshold in packets; unset: target's half, 5 at least",
    ),
    real("max", Value::Unset, (0.1, 1e9), REPORT, "upper threshold in packets; unset: 3 min"),
    real(
        "weight",
        Value::Unset,
        (1e-9, 1.0),
        REPORT,
        "weight of the average; unset: 1 - exp(-1/C), C packets/s",
    ),
    time("interval", 500, (1e6, 60e9), REPORT, "time between two adaptations of max_p"),
    real(
        "max_p",
        Value::Real(0.1),
        (1e-9, MAX_P_TOP),
        "ns-2: Queue/RED linterm_ 10",
        "drop probability at max, to begin with",
    ),
    real(
        "alpha",
        Value::Real(0.01),
        (0.0, 0.5),
        REPORT,
        "greatest step of max_p upwards; a quarter of max_p at most",
    ),
    real("beta", Value::Real(0.9), (0.01, 1.0), REPORT, "factor of max_p downwards"),
    real(
        "bottom",
        Value::Unset,
        (0.0, MAX_P_TOP),
        "ns-2.35: Queue/RED bottom_",
        "least max_p; unset: 0.01, or 80000/rate above 8 Mbit/s",
    ),
];

impl Aqm for Ared {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "ared",
        summary: "Adaptive RED: thresholds from rate and delay, gentle, probability adapted to the load",
        source: "Floyd, Gummadi, Shenker 2001; Floyd, Jacobson 1993",
        params: PARAMS,
    };

    fn build(args: &Args, link: &Link) -> Result<Self, Error> {
        let params = Params::new(args, link);
        if params.max <= params.min {
            return Err(Error("ared: max must be greater than min".to_string()));
        }
        let interval = args.time("interval").unwrap_or(Duration::from_millis(500));
        let max_p = args.real("max_p").unwrap_or(0.0);
        Ok(Self {
            limit: args.integer("limit").unwrap_or(0) as usize,
            ecn: args.flag("ecn"),
            params,
            vars: Vars { avg: 0.0, max_p, count: None, p_b: 0.0, idle_since: None },
            timer: Periodic::new(interval, interval),
        })
    }

    #[inline]
    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let Self { params, vars, .. } = self;
        let waiting = if params.bytes { queue.bytes() as f64 / params.mtu } else { queue.len() as f64 };
        vars.arrive(params, now, waiting);
        let probability = vars.probability(params, params.size(packet.len()));
        if probability > 0.0 && unit_interval(owner.random_u64()) < probability {
            vars.count = Some(0.0);
            let may_mark = self.ecn && vars.avg < params.max;
            if !(may_mark && mark(&mut packet, Mark::Early, owner)) {
                owner.dropped(packet, if vars.p_b < 1.0 { Drop::Early } else { Drop::Forced });
                return Enqueued::Congestion;
            }
        }
        if queue.len() >= self.limit {
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
            self.vars.idle_since.get_or_insert(now);
        }
        packet
    }

    fn next_timer(&self) -> Option<Instant> {
        Some(self.timer.due())
    }

    fn on_timer<P: Packet>(&mut self, now: Instant, _queue: &Fifo<P>) {
        self.timer.fired(now);
        self.vars.adapt(&self.params, now);
    }

    fn probe(&self, probe: &mut dyn Probe) {
        probe.real("qavg", self.vars.avg);
        probe.real("max_p", self.vars.max_p);
        probe.real("drop_probability", self.vars.p_b);
    }
}

/// 64 random bits as a number in [0, 1).
fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::{Ecn, Rate};
    use std::vec::Vec;

    static SPEC: QdiscSpec = Ared::SPEC;

    /// Dice that always show the same, in [0, 1), and the fates told.
    struct Fixed(f64, Vec<Drop>, u32);

    impl Owner<Plain> for Fixed {
        fn dropped(&mut self, _packet: Plain, why: Drop) {
            self.1.push(why);
        }
        fn marked(&mut self, _packet: &Plain, _why: Mark) {
            self.2 += 1;
        }
        fn random_u32(&mut self) -> u32 {
            0
        }
        fn random_u64(&mut self) -> u64 {
            (self.0 * (1_u64 << 53) as f64) as u64 * 2048
        }
    }

    fn ared(words: &str, mbit: u64) -> Ared {
        let link = Link { rate: Rate::from_bps(mbit * 1_000_000).unwrap(), mtu: 1514 };
        Ared::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap()
    }

    fn assert_close(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 1e-6 * want.abs(), "{what}: {got} is not {want}");
    }

    /// C = rate / (8 * 1514): 82.5627, 2064.07 and 8256.27 packets a second. Half of 5 ms of it: 0.206, 5.160
    /// and 20.64 packets, 5 at least. Weight 1 - exp(-1/C). At 1 Mbit/s the floor makes the queue that the
    /// paper measured (95 ms): without it ARED would look as quick as PIE there.
    #[test]
    fn thresholds_and_weight_follow_from_rate_and_target() {
        let table = [
            (1, 5.0, 0.012_038_953),
            (25, 5.160_171_730_515_19, 4.843_626_9e-4),
            (100, 20.640_686_922_060_8, 1.211_126_7e-4),
        ];
        for (mbit, min, weight) in table {
            let Params { min: ours, max, weight: w, .. } = ared("", mbit).params;
            assert_close(ours, min, "min");
            assert_close(max, 3.0 * min, "max");
            assert_close(w, weight, "weight");
        }
        let set = ared("target 20ms min 8 weight 0.002", 100).params;
        assert_eq!((set.min, set.max, set.weight), (8.0, 24.0, 0.002), "what the line sets is kept");
    }

    /// min 5, max 15, max_p 0.1: at 10 half of 0.1; at 15 the gentle part begins with 0.1 and climbs to 1 at
    /// 30: at 22.5 0.1 + 0.9/2. Without gentle mode the queue would be shut at 15.
    #[test]
    fn p_b_climbs_to_max_p_and_then_gently_to_one() {
        let Ared { params, vars, .. } = ared("", 1);
        let p_b = |avg| Vars { avg, ..vars }.base_probability(&params);
        for (avg, want) in [(10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0), (99.0, 1.0)] {
            assert_close(p_b(avg), want, "p_b");
        }
        assert_eq!((p_b(4.999), p_b(5.0)), (0.0, 0.0));
    }

    /// RED, section 7: with p_b = 0.05 fixed and count packets passed, p_a = p_b / (1 - count p_b): 0.05,
    /// 0.05/0.95 … and 1 at count 20. ns-2's `wait` holds still until count 20, then 0.05 / (2 - count p_b),
    /// and 1 at 40.
    #[test]
    fn drops_are_spaced_by_count() {
        let spacing = |words: &str, count: Option<f64>| {
            let Ared { params, vars, .. } = ared(words, 1);
            Vars { avg: 10.0, count, ..vars }.probability(&params, 1.0)
        };
        assert_close(spacing("nowait", None), 0.05, "the first above min");
        assert_close(spacing("nowait", Some(0.0)), 0.05 / 0.95, "the first after a drop");
        assert_close(spacing("nowait", Some(9.0)), 0.1, "ten passed");
        assert_close(spacing("nowait", Some(19.5)), 1.0, "the last");
        assert_eq!(spacing("wait", Some(18.0)), 0.0, "ns-2 waits for 1/p_b packets");
        assert_close(spacing("wait", Some(29.0)), 0.1, "halfway through ns-2's window");
        assert_close(spacing("wait", Some(39.5)), 1.0, "its end");
        let half = |words: &str| {
            let Ared { params, vars, .. } = ared(words, 1);
            Vars { avg: 10.0, ..vars }.probability(&params, params.size(757))
        };
        assert_close(half("nowait bytes"), 0.025, "half a frame, half the probability");
        assert_close(half("nowait"), 0.05, "packet mode does not look at the size");
    }

    /// Section 4: an arrival that finds 20 moves the average by w of the distance. One second idle at 1
    /// Mbit/s is 82 whole frames: (1 - w)^82 = exp(-82/82.5627) = 0.370395. An average frozen while idle
    /// drops the first packets of the next burst.
    #[test]
    fn the_average_follows_the_queue_and_decays_while_idle() {
        let Ared { params, vars, .. } = ared("", 1);
        let mut moved = Vars { avg: 10.0, ..vars };
        moved.arrive(&params, Instant::ZERO, 20.0);
        assert_close(moved.avg, 10.0 + 10.0 * 0.012_038_953, "an arrival");
        let mut idle = Vars { avg: 10.0, idle_since: Some(Instant::ZERO), ..vars };
        assert_close(idle.average_at(&params, Instant::from_nanos(1_000_000_000)), 3.703_954_7, "idle");
        idle.arrive(&params, Instant::from_nanos(1_000_000_000), 0.0);
        assert_close(idle.avg, 3.703_954_7 * (1.0 - 0.012_038_953), "the arrival that ends it");
        assert_eq!(idle.idle_since, None);
    }

    /// The band of min 5, max 15 is 9 to 11. Above: max_p + min(0.01, max_p/4); below: 0.9 max_p; within
    /// [0.01, 0.5].
    #[test]
    fn max_p_is_adapted_towards_the_middle() {
        let adapted = |avg, max_p| {
            let Ared { params, vars, .. } = ared("", 1);
            let mut vars = Vars { avg, max_p, ..vars };
            vars.adapt(&params, Instant::ZERO);
            vars.max_p
        };
        assert_close(adapted(11.01, 0.1), 0.11, "up by alpha");
        assert_close(adapted(11.01, 0.02), 0.025, "up by a quarter");
        assert_close(adapted(8.99, 0.1), 0.09, "down by beta");
        assert_close(adapted(10.0, 0.1), 0.1, "in the band");
        assert_close(adapted(11.01, 0.495), 0.5, "top");
        assert_close(adapted(8.99, 0.0105), 0.01, "bottom");
        assert_close(ared("", 100).params.bottom, 0.0008, "80 000 / 10^8");
        assert_close(ared("bottom 0.01", 100).params.bottom, 0.01, "the report's");
    }

    /// ECN-capable packets are marked below max and dropped above it; at twice max everything goes.
    #[test]
    fn ecn_ends_where_gentle_mode_begins() {
        let fate = |avg: f64, ecn, dice| {
            // A weight that small leaves the average where the test puts it.
            let mut ared = ared("ecn nowait weight 0.000000001", 1);
            ared.vars.avg = avg;
            let (mut queue, mut owner) = (Fifo::default(), Fixed(dice, Vec::new(), 0));
            ared.enqueue(Instant::ZERO, Plain { ecn, ..Plain::new(1514) }, &mut queue, &mut owner);
            (queue.len(), owner.2, owner.1.first().copied())
        };
        assert_eq!(fate(14.0, Ecn::Ect0, 0.0), (1, 1, None));
        assert_eq!(fate(14.0, Ecn::NotEct, 0.0), (0, 0, Some(Drop::Early)));
        assert_eq!(fate(16.0, Ecn::Ect0, 0.0), (0, 0, Some(Drop::Early)));
        assert_eq!(fate(31.0, Ecn::Ect0, 0.999), (0, 0, Some(Drop::Forced)));
        assert_eq!(fate(14.0, Ecn::NotEct, 0.095), (1, 0, None), "p_b is 0.09");
    }

    #[test]
    fn the_limit_holds_and_thresholds_must_not_cross() {
        let (mut ared, mut queue, mut owner) =
            (ared("limit 3", 1), Fifo::default(), Fixed(0.5, Vec::new(), 0));
        for _ in 0..4 {
            ared.enqueue(Instant::ZERO, Plain::new(1514), &mut queue, &mut owner);
        }
        assert_eq!((queue.len(), owner.1), (3, std::vec![Drop::Overlimit]));
        let link = Link { rate: Rate::from_bps(1_000_000).unwrap(), mtu: 1514 };
        let crossed = Ared::build(&Args::parse(&SPEC, "max 4").unwrap(), &link).unwrap_err();
        assert_eq!(crossed.0, "ared: max must be greater than min");
    }
}
