//! The RED of simulations: a real-valued average, gentle mode and even spacing. `red_gentle` and `ared` share it.
//!
//! Source: Floyd and Jacobson, "Random Early Detection gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993
//! (RED, section numbers below), and Floyd's note on gentle mode, 2000. Where they are silent, their first author's
//! own code decides: ns-2.35's `Queue/RED`. So:
//!
//! - drops are spaced by p_a = p_b / (2 - count p_b), which lets 1/p_b packets pass first. `nowait` gives RED 1993's
//!   p_a = p_b / (1 - count p_b), which drops twice as often at the same p_b;
//! - gentle mode: from `max` to twice `max`, p_b climbs from max_p to 1.
//!
//! Decided here:
//!
//! - thresholds and average are in packets, and in byte mode in bytes over the size of an average packet. They are
//!   not rounded;
//! - idle time begins with the dequeue that finds no packet, and counts whole packets;
//! - an ECN-capable packet is marked while the average is below `max` and dropped above it, in the gentle region, too
//!   (Le et al. 2003 name this as the reason why ARED did not gain from ECN). ns-2 decides by the probability instead
//!   (`use_mark_p_`: it marks up to 0.1), and never makes a forced drop at twice `max`.
//!
//! A replay against ns-2.35 (`ns2_tests.rs`) agrees in the average and in p_b, and in each decision if ns-2's count
//! is put in. That count begins with 1 where RED 1993 begins with 0, and begins anew while at most one packet waits.

use super::{mark, unit_interval};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, Link, Param};
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Raw};
use crate::signal::{Drop, Mark, Owner};
use alloc::format;
use goodqueue_units::Instant;

/// The law's parameters. Queue lengths are in average packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Params {
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) weight: f64,
    /// Average packets per second that the link carries.
    pub(super) capacity: f64,
    /// Bytes of an average packet.
    pub(super) packet: f64,
    pub(super) gentle: bool,
    pub(super) bytes: bool,
    pub(super) wait: bool,
}

/// Returns how many average packets of `packet` bytes the link carries per second.
pub(super) fn capacity(link: &Link, packet: f64) -> f64 {
    link.rate.as_bps() as f64 / (8.0 * packet)
}

impl Params {
    /// Returns the size of `len` bytes in the queue's unit.
    fn size(&self, len: u32) -> f64 {
        if self.bytes { f64::from(len) / self.packet } else { 1.0 }
    }
}

/// The law's state, under the papers' names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vars {
    /// The average queue.
    pub(super) avg: f64,
    pub(super) max_p: f64,
    /// Packets (in byte mode: average packets) since the last drop; `None` while the average is below `min`.
    pub(super) count: Option<f64>,
    /// p_b of the last arrival.
    pub(super) p_b: f64,
    pub(super) idle_since: Option<Instant>,
}

impl Vars {
    /// Returns the average after the idle time. It decays by as many packets as the link could have sent (RED,
    /// section 4).
    pub(super) fn average_at(&self, params: &Params, now: Instant) -> f64 {
        let Some(since) = self.idle_since else { return self.avg };
        let packets = libm::floor(now.since(since).as_secs_f64() * params.capacity);
        self.avg * libm::pow(1.0 - params.weight, packets)
    }

    /// Moves the average for an arrival that finds `queue` average packets (RED, section 4).
    pub(super) fn arrive(&mut self, params: &Params, now: Instant, queue: f64) {
        self.avg = self.average_at(params, now);
        self.idle_since = None;
        self.avg += params.weight * (queue - self.avg);
    }

    /// Returns p_b: the drop probability of the average (RED, section 4), with gentle mode.
    pub(super) fn base_probability(&self, params: &Params) -> f64 {
        let Params { min, max, .. } = *params;
        if self.avg < min {
            0.0
        } else if self.avg < max {
            self.max_p * (self.avg - min) / (max - min)
        } else if params.gentle && self.avg < 2.0 * max {
            self.max_p + (1.0 - self.max_p) * (self.avg - max) / max
        } else {
            1.0
        }
    }

    /// Returns p_a: the probability for an arrival of `size`, such that drops are spaced evenly (RED, section 7).
    pub(super) fn probability(&mut self, params: &Params, size: f64) -> f64 {
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
}

/// The law over one FIFO.
#[derive(Clone, Debug)]
pub(super) struct Gentle {
    limit: usize,
    ecn: bool,
    /// The max_p of the line, which is the first value if max_p is adapted.
    start: f64,
    pub(super) params: Params,
    pub(super) vars: Vars,
}

impl Gentle {
    /// Builds the law with the `limit`, `ecn` and `max_p` of a line.
    pub(super) fn new(args: &Args, params: Params) -> Result<Self, Error> {
        if params.max <= params.min {
            return Err(Error(format!("{}: max must be greater than min", args.spec.name)));
        }
        let max_p = args.get(&MAX_P);
        Ok(Self {
            limit: args.get(&LIMIT) as usize,
            ecn: args.get(&ECN),
            start: max_p,
            params,
            vars: Vars { avg: 0.0, max_p, count: None, p_b: 0.0, idle_since: None },
        })
    }

    /// Takes the parameters of `fresh` and keeps the state. An adapted max_p stays, unless the line sets max_p anew.
    pub(super) fn change(&mut self, now: Instant, fresh: Self) {
        let mut vars = self.vars;
        if vars.idle_since.is_some() && fresh.params.capacity != self.params.capacity {
            // Up to now the average has decayed at the old rate.
            (vars.avg, vars.idle_since) = (vars.average_at(&self.params, now), Some(now));
        }
        if fresh.start != self.start {
            vars.max_p = fresh.start;
        }
        *self = Self { vars, ..fresh };
    }

    pub(super) fn limit(&self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    #[inline]
    pub(super) fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let Self { params, vars, .. } = self;
        let waiting = if params.bytes { queue.bytes() as f64 / params.packet } else { queue.len() as f64 };
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
    pub(super) fn dequeue<P: Packet>(&mut self, now: Instant, queue: &mut Fifo<P>) -> Option<P> {
        let packet = queue.pop();
        if packet.is_none() {
            self.vars.idle_since.get_or_insert(now);
        }
        packet
    }

    pub(super) fn probe(&self, probe: &mut dyn Probe) {
        probe.measured("qavg", Raw::Real(self.vars.avg), Measure::Packets(Some(self.vars.avg)));
        probe.real("max_p", self.vars.max_p);
        probe.real("drop_probability", self.vars.p_b);
    }
}

pub(super) const LIMIT: Param<u32> = crate::param::LIMIT.source("as tc's pie and codel");
pub(super) const AVPKT: Param<Option<u64>> =
    Param::bytes("avpkt", "average packet; unset: a full frame").range(1, 1_000_000);
pub(super) const BYTES: Param<bool> =
    Param::flag("bytes", "measure the queue in bytes, and scale the probability by the packet's size")
        .source("Floyd, Jacobson 1993");
pub(super) const WAIT: Param<bool> = Param::flag("wait", "let 1/p packets pass before the next drop")
    .default(true)
    .source("ns-2.35: Queue/RED wait_");
pub(super) const MAX_P: Param<f64> =
    Param::real("max_p", "drop probability at max").default(0.1).range(1e-9, 1.0);

#[cfg(test)]
mod tests {
    use super::super::Aqm;
    use super::super::dice::{Dice, NoDice};
    use super::super::red_gentle::RedGentle;
    use super::*;
    use crate::packet::Plain;
    use crate::param::QdiscSpec;
    use goodqueue_units::{Ecn, Rate};

    static SPEC: QdiscSpec = RedGentle::SPEC;

    /// Returns a law with min 5, max 15 and max_p 0.1 at 1 Mbit/s, where C is 82.5627 packets per second.
    fn law(words: &str) -> Gentle {
        let link = Link { rate: Rate::from_bps(1_000_000).unwrap(), mtu: 1514 };
        RedGentle::build(&Args::parse(&SPEC, words).unwrap(), &link).unwrap().law
    }

    fn assert_close(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 1e-6 * want.abs(), "{what}: {got} is not {want}");
    }

    /// min 5, max 15, max_p 0.1: at 10, p_b is half of 0.1. At 15 the gentle part begins with 0.1. It climbs to 1 at
    /// 30, with 0.1 + 0.9/2 at 22.5. Without gentle mode p_b must be 1 from 15 on.
    #[test]
    fn p_b_climbs_to_max_p_and_then_gently_to_one() {
        let p_b = |avg| {
            let Gentle { params, vars, .. } = law("");
            Vars { avg, ..vars }.base_probability(&params)
        };
        for (avg, want) in [(10.0, 0.05), (15.0, 0.1), (22.5, 0.55), (30.0, 1.0), (99.0, 1.0)] {
            assert_close(p_b(avg), want, "p_b");
        }
        let Gentle { params, vars, .. } = law("nogentle");
        assert_eq!(Vars { avg: 15.0, ..vars }.base_probability(&params), 1.0);
        assert_eq!((p_b(4.999), p_b(5.0)), (0.0, 0.0));
    }

    /// RED, section 7: with p_b = 0.05 fixed and count packets passed, p_a = p_b / (1 - count p_b): 0.05, 0.05/0.95 …
    /// and 1 at count 20. ns-2's `wait` gives 0 up to count 20, then 0.05 / (2 - count p_b), and 1 at 40.
    #[test]
    fn drops_are_spaced_by_count() {
        let spacing = |words: &str, count: Option<f64>| {
            let Gentle { params, vars, .. } = law(words);
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
            let Gentle { params, vars, .. } = law(words);
            Vars { avg: 10.0, ..vars }.probability(&params, params.size(757))
        };
        assert_close(half("nowait bytes"), 0.025, "half a frame, half the probability");
        assert_close(half("nowait"), 0.05, "packet mode does not look at the size");
    }

    /// Section 4: an arrival that finds 20 packets moves the average by w times the distance. One idle second at 1
    /// Mbit/s is 82 whole frames: (1 - w)^82 = exp(-82/82.5627) = 0.370395. An average that does not decay while idle
    /// would drop the first packets of the next burst.
    #[test]
    fn the_average_follows_the_queue_and_decays_while_idle() {
        let Gentle { params, vars, .. } = law("weight 0.012038953");
        let mut moved = Vars { avg: 10.0, ..vars };
        moved.arrive(&params, Instant::ZERO, 20.0);
        assert_close(moved.avg, 10.0 + 10.0 * 0.012_038_953, "an arrival");
        let mut idle = Vars { avg: 10.0, idle_since: Some(Instant::ZERO), ..vars };
        assert_close(idle.average_at(&params, Instant::from_nanos(1_000_000_000)), 3.703_954_7, "idle");
        idle.arrive(&params, Instant::from_nanos(1_000_000_000), 0.0);
        assert_close(idle.avg, 3.703_954_7 * (1.0 - 0.012_038_953), "the arrival that ends it");
        assert_eq!(idle.idle_since, None);
    }

    /// ECN-capable packets must be marked below max and dropped above it. At twice max every packet must be dropped.
    #[test]
    fn ecn_ends_where_gentle_mode_begins() {
        let fate = |avg: f64, ecn, dice| {
            // With this small weight the average stays where the test puts it.
            let mut law = law("ecn nowait weight 0.000000001");
            law.vars.avg = avg;
            let (mut queue, mut owner) = (Fifo::default(), Dice::showing(dice));
            law.enqueue(Instant::ZERO, Plain { ecn, ..Plain::new(1514) }, &mut queue, &mut owner);
            (queue.len(), owner.marked, owner.dropped.first().copied())
        };
        assert_eq!(fate(14.0, Ecn::Ect0, 0.0), (1, 1, None));
        assert_eq!(fate(14.0, Ecn::NotEct, 0.0), (0, 0, Some(Drop::Early)));
        assert_eq!(fate(16.0, Ecn::Ect0, 0.0), (0, 0, Some(Drop::Early)));
        assert_eq!(fate(31.0, Ecn::Ect0, 0.999), (0, 0, Some(Drop::Forced)));
        assert_eq!(fate(14.0, Ecn::NotEct, 0.095), (1, 0, None), "p_b is 0.09");
    }

    /// From max on ECN must not help. At twice max a small packet must be dropped as surely as a large one.
    #[test]
    fn on_max_and_at_twice_max() {
        let mut law = law("ecn nowait weight 0.5");
        let (mut queue, mut owner) = (Fifo::default(), Dice::showing(0.0));
        (0..15).for_each(|_| queue.push(Plain::new(1514)));
        law.vars.avg = 15.0; // the average stays, with 15 packets waiting
        law.enqueue(Instant::ZERO, Plain { ecn: Ecn::Ect0, ..Plain::new(1514) }, &mut queue, &mut owner);
        assert_eq!((law.vars.avg, owner.marked, owner.dropped), (15.0, 0, std::vec![Drop::Early]));
        let Gentle { params, vars, .. } = self::law("bytes nowait");
        let mut vars = Vars { avg: 30.0, ..vars };
        assert_eq!(vars.probability(&params, params.size(64)), 1.0);
    }

    /// Below min no random number may be drawn. Each draw belongs to a decision, so that a change of one decision
    /// does not change all later ones.
    #[test]
    fn below_min_no_dice_are_thrown() {
        let (mut law, mut queue) = (law(""), Fifo::default());
        law.enqueue(Instant::ZERO, Plain::new(1514), &mut queue, &mut NoDice);
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn the_limit_holds() {
        let (mut law, mut queue, mut owner) = (law("limit 3"), Fifo::default(), Dice::showing(0.5));
        for _ in 0..4 {
            law.enqueue(Instant::ZERO, Plain::new(1514), &mut queue, &mut owner);
        }
        assert_eq!((queue.len(), owner.dropped), (3, std::vec![Drop::Overlimit]));
    }

    /// RED, section 4, counts packets "if min_th <= avg". A count that began later would space the drops anew at each
    /// touch of min.
    #[test]
    fn packets_are_counted_from_an_average_of_min_on() {
        let counted = |avg| {
            let Gentle { params, vars, .. } = law("nowait");
            let mut vars = Vars { avg, count: Some(3.0), ..vars };
            assert_eq!(vars.probability(&params, 1.0), 0.0);
            vars.count
        };
        assert_eq!((counted(4.999), counted(5.0)), (None, Some(4.0)));
    }

    /// ns-2's `modify_p` waits while count p_b < 1. With p_b = 0.05 the twentieth packet has 0.05 / (2 - 1), not 0.
    #[test]
    fn ns2_s_wait_ends_at_the_packet_that_makes_it_one() {
        let Gentle { params, vars, .. } = law("wait");
        let p = |count| Vars { avg: 10.0, count: Some(count), ..vars }.probability(&params, 1.0);
        assert_eq!(p(18.0), 0.0);
        assert_close(p(19.0), 0.05, "count p_b = 1");
    }

    /// A draw below p drops, and p = 1/2 is half of all draws: a draw of 1/2 itself must pass.
    #[test]
    fn a_draw_of_p_itself_passes() {
        for (dice, queued) in [(0.499_999, 0), (0.5, 1)] {
            // min 5, max 15, max_p 1: p_b is 1/2 at 10. With this small weight the average stays there.
            let mut law = law("nowait max_p 1 weight 0.000000001");
            law.vars.avg = 10.0;
            let (mut queue, mut owner) = (Fifo::default(), Dice::showing(dice));
            (0..10).for_each(|_| queue.push(Plain::new(1514)));
            law.enqueue(Instant::ZERO, Plain::new(1514), &mut queue, &mut owner);
            assert_eq!((queue.len() - 10, law.vars.p_b), (queued, 0.5), "{dice}");
        }
    }
}
