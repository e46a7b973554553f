//! SFB: stochastic fair BLUE. A flow that does not answer to marks is found without a queue or a state of its own.
//!
//! Source: Feng, Kandlur, Saha and Shin, "Stochastic Fair Blue: A Queue Management Algorithm for Enforcing Fairness",
//! INFOCOM 2001, with the parameters and defaults of tc-sfb(8). Flows are hashed to one of 16 bins in each of 8
//! levels. Each bin has a BLUE: its probability rises when an arrival finds `target` packets of it waiting, and falls
//! when it finds none. An arrival is marked or dropped with the least probability of its bins; a responsive flow
//! that shares a bin with a flood is let off by its other bins. Where even the least is 1 the flow is unresponsive,
//! and all such flows together get `penalty_rate`.
//!
//! Flows that share all bins with a flood would suffer for good, so every `rehash` a second set of bins with another
//! hash takes over; `db` before, it begins to learn of the flows that are unresponsive by then.
//!
//! **Not exact to Linux**: no traces of it exist, and neither paper nor kernel were at hand; unverified are
//!
//! - the 16 bits of a probability, so that increment and decrement are rounded to 1/65535 (33 and 3 of them);
//! - that beyond 1/2 ECN-capable packets are dropped, too, with a share of their marks that grows to 1;
//! - that each drop is answered with [`Enqueued::Congestion`].
//!
//! Decided here:
//!
//! - a bin counts the packets that wait, exactly: at a change of sets the retired one is counted anew with its new hash;
//! - the levels' hashes are four bits each of one mixed from the flow's hash of 32 bits and a salt;
//! - times are looked at when packets arrive; the first period begins with the first arrival;
//! - the penalty's tokens fill continuously, and begin full;
//! - `max` must exceed `target`, else no probability could ever rise.

use super::{Aqm, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, Unit, Value};
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::{Drop, Mark, Owner};
use goodqueue_units::{Duration, Instant};

const LEVELS: usize = 8;
const BINS: usize = 16;
/// A probability of one.
const ONE: u16 = u16::MAX;

/// One BLUE.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// Packets that wait.
    len: u32,
    p: u16,
}

/// All levels under one hash.
#[derive(Clone, Debug)]
struct Bins {
    salt: u32,
    levels: [[Bin; BINS]; LEVELS],
}

impl Bins {
    fn new(salt: u32) -> Self {
        Self { salt, levels: [[Bin::default(); BINS]; LEVELS] }
    }

    /// The bins of a flow, one a level.
    fn of(&mut self, flow_hash: u32) -> impl Iterator<Item = &mut Bin> {
        // MurmurHash3's finalizer: each bit of the result depends on each of the hash and the salt.
        let mut hash = flow_hash ^ self.salt;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        hash ^= hash >> 16;
        self.levels
            .iter_mut()
            .enumerate()
            .map(move |(level, bins)| &mut bins[(hash >> (4 * level)) as usize % BINS])
    }

    fn count<P: Packet>(&mut self, packet: &P) {
        self.of(packet.flow_hash()).for_each(|bin| bin.len += 1);
    }
}

/// Tokens for unresponsive flows, in nanoseconds of `penalty_rate`.
#[derive(Clone, Copy, Debug)]
struct Penalty {
    /// Time that a packet costs; `None`: nothing passes.
    cost: Option<u64>,
    full: u64,
    tokens: u64,
    at: Instant,
}

impl Penalty {
    fn new(rate: u64, burst: u64) -> Self {
        let cost = (rate > 0 && burst > 0).then(|| 1_000_000_000 / rate);
        let full = cost.unwrap_or(0) * burst;
        Self { cost, full, tokens: full, at: Instant::ZERO }
    }

    fn allows(&mut self, now: Instant) -> bool {
        self.tokens = self.tokens.saturating_add(now.since(self.at).as_nanos()).min(self.full);
        self.at = now;
        let left = self.cost.and_then(|cost| self.tokens.checked_sub(cost));
        self.tokens = left.unwrap_or(self.tokens);
        left.is_some()
    }
}

/// What a flow's bins say of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Verdict {
    len: u32,
    p: u16,
}

/// SFB over one FIFO.
#[derive(Clone, Debug)]
pub struct Sfb {
    limit: usize,
    max: u32,
    target: u32,
    increment: u16,
    decrement: u16,
    rehash: Duration,
    /// Time from the start of a period to when the other set begins to learn.
    warm_up: Duration,
    penalty: Penalty,
    sets: [Bins; 2],
    current: usize,
    period_began: Option<Instant>,
}

const MANUAL: &str = "tc-sfb(8)";

const fn count(name: &'static str, default: u64, range: (f64, f64), help: &'static str) -> ParamSpec {
    let (unit, default) = (Unit::Packets, Value::Integer(default));
    ParamSpec { name, unit, default, range, source: MANUAL, help }
}

const fn step(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    let (unit, default) = (Unit::Real, Value::Real(default));
    ParamSpec { name, unit, default, range: (0.0, 1.0), source: MANUAL, help }
}

const fn time(name: &'static str, seconds: u64, help: &'static str) -> ParamSpec {
    let (unit, default) = (Unit::Time, Value::Integer(seconds * 1_000_000_000));
    ParamSpec { name, unit, default, range: (0.0, 1e15), source: MANUAL, help }
}

const PARAMS: &[ParamSpec] = &[
    time("rehash", 600, "time between two changes of the hash; 0: never"),
    time("db", 60, "time before a change from which on the other bins learn; 0: never"),
    count("limit", 1000, (1.0, 1e9), "packets that the queue holds at most"),
    count("max", 25, (1.0, 1e9), "packets of a bin at which arrivals are dropped"),
    count("target", 20, (1.0, 1e9), "packets of a bin at which its probability rises"),
    step("increment", 0.0005, "step of a bin's probability upwards"),
    step("decrement", 0.000_05, "step of a bin's probability downwards, when it is found empty"),
    ParamSpec {
        unit: Unit::Count,
        ..count("penalty_rate", 10, (0.0, 1e9), "packets a second that all unresponsive flows may send")
    },
    count("penalty_burst", 20, (0.0, 1e9), "packets that they may send at once after a pause"),
];

impl Aqm for Sfb {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "sfb",
        summary: "Stochastic fair BLUE: a probability a bin, and a rate for flows that do not respond; marks ECN",
        source: "Feng et al. 2001; tc-sfb(8)",
        params: PARAMS,
    };

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        let integer = |name| args.integer(name).unwrap_or(0);
        let (max, target) = (integer("max") as u32, integer("target") as u32);
        if max <= target {
            return Err(Error("sfb: max must be greater than target".into()));
        }
        let step = |name| libm::round(args.real(name).unwrap_or(0.0) * f64::from(ONE)) as u16;
        let rehash = args.time("rehash").unwrap_or(Duration::ZERO);
        let db = args.time("db").unwrap_or(Duration::ZERO);
        Ok(Self {
            limit: integer("limit") as usize,
            max,
            target,
            increment: step("increment"),
            decrement: step("decrement"),
            rehash,
            warm_up: if db == Duration::ZERO { rehash } else { rehash.saturating_sub(db) },
            penalty: Penalty::new(integer("penalty_rate"), integer("penalty_burst")),
            sets: [Bins::new(0), Bins::new(0x9e37_79b9)],
            current: 0,
            period_began: None,
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        let Penalty { tokens, at, .. } = self.penalty;
        let penalty = Penalty { tokens: tokens.min(fresh.penalty.full), at, ..fresh.penalty };
        let Self { current, period_began, .. } = *self;
        *self = Self { penalty, sets: self.sets.clone(), current, period_began, ..fresh };
        Ok(())
    }

    fn limit(&self) -> Backlog {
        Backlog { packets: self.limit as u32, ..Backlog::UNLIMITED }
    }

    fn enqueue<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let warming = self.keep_time(now, queue, owner);
        match self.decide(now, &mut packet, queue.len(), warming, owner) {
            Some(why) => {
                owner.dropped(packet, why);
                Enqueued::Congestion
            }
            None => {
                self.sets.iter_mut().for_each(|set| set.count(&packet));
                queue.push(packet);
                Enqueued::Success
            }
        }
    }

    fn dequeue<P: Packet, O: Owner<P>>(
        &mut self,
        _now: Instant,
        queue: &mut Fifo<P>,
        _owner: &mut O,
    ) -> Option<P> {
        self.evict(queue)
    }

    fn evict<P: Packet>(&mut self, queue: &mut Fifo<P>) -> Option<P> {
        let packet = queue.pop()?;
        for set in &mut self.sets {
            set.of(packet.flow_hash()).for_each(|bin| bin.len -= 1);
        }
        Some(packet)
    }

    fn probe(&self, probe: &mut dyn Probe) {
        let bins = || self.sets[self.current].levels.iter().flatten();
        probe.integer("maxqlen", bins().map(|bin| bin.len).max().unwrap_or(0).into());
        probe.integer("maxprob", bins().map(|bin| bin.p).max().unwrap_or(0).into());
        let sum: u64 = bins().map(|bin| u64::from(bin.p)).sum();
        probe.integer("avgprob", (sum / (LEVELS * BINS) as u64).into());
    }
}

impl Sfb {
    /// Changes the sets of bins when it is time, and says whether the other one is to learn.
    fn keep_time<P: Packet, O: Owner<P>>(&mut self, now: Instant, queue: &Fifo<P>, owner: &mut O) -> bool {
        let age = now.since(*self.period_began.get_or_insert(now));
        if self.rehash == Duration::ZERO {
            return false;
        }
        if age > self.rehash {
            let mut fresh = Bins::new(owner.random_u32());
            queue.iter().for_each(|packet| fresh.count(packet));
            self.sets[self.current] = fresh;
            self.current = 1 - self.current;
            self.period_began = Some(now);
            return false;
        }
        age > self.warm_up
    }

    /// Moves the probabilities of a flow's bins in one set, and returns the least length and probability.
    fn learn(&mut self, set: usize, flow_hash: u32) -> Verdict {
        let (target, increment, decrement) = (self.target, self.increment, self.decrement);
        let mut verdict = Verdict { len: u32::MAX, p: ONE };
        for bin in self.sets[set].of(flow_hash) {
            if bin.len == 0 {
                bin.p = bin.p.saturating_sub(decrement);
            } else if bin.len >= target {
                bin.p = bin.p.saturating_add(increment);
            }
            verdict = Verdict { len: verdict.len.min(bin.len), p: verdict.p.min(bin.p) };
        }
        verdict
    }

    /// Why `packet` is dropped, if it is; it may be marked instead.
    fn decide<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: &mut P,
        waiting: usize,
        warming: bool,
        owner: &mut O,
    ) -> Option<Drop> {
        if waiting >= self.limit {
            return Some(Drop::Overlimit);
        }
        let Verdict { len, p } = self.learn(self.current, packet.flow_hash());
        if len >= self.max {
            return Some(Drop::Flow);
        }
        if p == ONE {
            if warming {
                self.learn(1 - self.current, packet.flow_hash());
            }
            return if self.penalty.allows(now) { None } else { Some(Drop::Flow) };
        }
        let dice = owner.random_u32() as u16;
        if dice >= p {
            return None;
        }
        // So many marks did not help: from p = 1/2 on a growing share of them become drops.
        let beyond_help = u32::from(dice) < 2 * u32::from(p.saturating_sub(ONE / 2));
        if !beyond_help && mark(packet, Mark::Early, owner) { None } else { Some(Drop::Early) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::dice::Dice;
    use super::*;
    use crate::packet::Plain;
    use goodqueue_units::{Ecn, Rate};
    use std::vec;

    static SPEC: QdiscSpec = Sfb::SPEC;
    const LINK: Link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };

    fn sfb(words: &str) -> Sfb {
        Sfb::build(&Args::parse(&SPEC, words).unwrap(), &LINK).unwrap()
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn flow(flow_hash: u32) -> Plain {
        Plain { flow_hash, ..Plain::new(1000) }
    }

    /// The least probability and the least length of a flow's bins.
    fn state(sfb: &mut Sfb, flow_hash: u32) -> Verdict {
        let current = sfb.current;
        let bins = || sfb.sets[current].clone();
        let (p, len) =
            (bins().of(flow_hash).map(|bin| bin.p).min(), bins().of(flow_hash).map(|bin| bin.len).min());
        Verdict { len: len.unwrap(), p: p.unwrap() }
    }

    /// 0.0005 and 0.00005 of 65535 are 32.8 and 3.3. The first 20 arrivals find 0 to 19 of their own: nothing to learn. The
    /// 21st to 25th find `target` and more: 5 steps up. The 26th finds `max`: it is dropped, and the probability rises once
    /// more. The next arrival after all have left steps down.
    #[test]
    fn a_bin_learns_from_its_length() {
        let (mut sfb, mut queue, mut owner) = (sfb(""), Fifo::default(), Dice::showing(0.999));
        assert_eq!((sfb.increment, sfb.decrement), (33, 3));
        let offer = |sfb: &mut Sfb, queue: &mut Fifo<Plain>, owner: &mut Dice| {
            sfb.enqueue(at(0), flow(7), queue, owner);
        };
        for _ in 0..20 {
            offer(&mut sfb, &mut queue, &mut owner);
        }
        assert_eq!(state(&mut sfb, 7), Verdict { len: 20, p: 0 });
        for _ in 0..5 {
            offer(&mut sfb, &mut queue, &mut owner);
        }
        assert_eq!((state(&mut sfb, 7), owner.dropped.len()), (Verdict { len: 25, p: 5 * 33 }, 0));
        offer(&mut sfb, &mut queue, &mut owner);
        assert_eq!((state(&mut sfb, 7).p, owner.dropped.as_slice()), (6 * 33, [Drop::Flow].as_slice()));
        while sfb.dequeue(at(1), &mut queue, &mut owner).is_some() {}
        offer(&mut sfb, &mut queue, &mut owner);
        assert_eq!(state(&mut sfb, 7), Verdict { len: 1, p: 6 * 33 - 3 });
    }

    /// A flood at probability 1 in its eight bins: another flow shares some of them, but not all, and goes free.
    #[test]
    fn a_flow_is_judged_by_its_least_bin() {
        let mut sfb = sfb("");
        sfb.sets[0].of(7).for_each(|bin| *bin = Bin { len: 24, p: ONE });
        assert_eq!(state(&mut sfb, 7), Verdict { len: 24, p: ONE });
        let sharing = |hash: &u32| sfb.sets[0].clone().of(*hash).any(|bin| bin.p == ONE);
        let other = (8..).find(sharing).unwrap();
        assert_eq!(state(&mut sfb, other), Verdict { len: 0, p: 0 });
        let fate = |sfb: &mut Sfb, hash| {
            let (mut queue, mut owner) = (Fifo::default(), Dice::showing(0.0));
            sfb.enqueue(at(0), flow(hash), &mut queue, &mut owner);
            queue.len()
        };
        assert_eq!(fate(&mut sfb, other), 1);
    }

    /// At p = 1/4 dice below it drop, or mark where the packet can be. At 3/4 dice below 2 (3/4 - 1/2) = 1/2 drop even
    /// those, and dice of 1/2 to 3/4 mark.
    #[test]
    fn arrivals_are_marked_or_dropped_with_the_probability() {
        let fate = |p: f64, dice, ecn| {
            let (mut sfb, mut queue) = (sfb(""), Fifo::default());
            sfb.sets[0].of(7).for_each(|bin| *bin = Bin { len: 1, p: (p * 65_535.0) as u16 });
            // 32 random bits, of which the lower 16 count.
            let mut owner = Low(dice, Dice::showing(0.0));
            sfb.enqueue(at(0), Plain { ecn, ..flow(7) }, &mut queue, &mut owner);
            (queue.len(), owner.1.marked, owner.1.dropped)
        };
        assert_eq!(fate(0.25, 0.24, Ecn::NotEct), (0, 0, vec![Drop::Early]));
        assert_eq!(fate(0.25, 0.26, Ecn::NotEct), (1, 0, vec![]));
        assert_eq!(fate(0.25, 0.24, Ecn::Ect0), (1, 1, vec![]));
        assert_eq!(fate(0.75, 0.49, Ecn::Ect0), (0, 0, vec![Drop::Early]));
        assert_eq!(fate(0.75, 0.51, Ecn::Ect0), (1, 1, vec![]));
    }

    /// Dice whose lower half shows a number.
    struct Low(f64, Dice);

    impl Owner<Plain> for Low {
        fn dropped(&mut self, packet: Plain, why: Drop) {
            self.1.dropped(packet, why);
        }
        fn marked(&mut self, packet: &Plain, why: Mark) {
            self.1.marked(packet, why);
        }
        fn random_u32(&mut self) -> u32 {
            0xffff_0000 | (self.0 * 65_536.0) as u32
        }
        fn random_u64(&mut self) -> u64 {
            0
        }
    }

    /// 10 packets a second and 3 at once: at 0 ms three pass; at 99 ms none, at 100 ms one, at 101 ms none; after a second
    /// three again.
    #[test]
    fn unresponsive_flows_get_the_penalty_rate() {
        let (mut sfb, mut queue) = (sfb("penalty_burst 3"), Fifo::default());
        sfb.sets[0].of(7).for_each(|bin| *bin = Bin { len: 1, p: ONE });
        let mut passed = |ms| {
            let before = queue.len();
            sfb.enqueue(at(ms), flow(7), &mut queue, &mut Dice::showing(0.999));
            queue.len() - before
        };
        assert_eq!([0, 0, 0, 0, 99, 100, 101].map(&mut passed), [1, 1, 1, 0, 0, 1, 0]);
        assert_eq!([1101, 1101, 1101, 1101].map(&mut passed), [1, 1, 1, 0]);
        let mut closed = Penalty::new(0, 20);
        assert!(!closed.allows(at(5000)));
    }

    /// rehash 100 s, db 40 s: from 60 s on the second set learns of unresponsive flows. At the first arrival after 100 s
    /// it takes over, with what it has learned and with the packets that wait; the other one starts anew.
    #[test]
    fn the_second_set_warms_up_and_takes_over() {
        let (mut sfb, mut queue) = (sfb("rehash 100s db 40s increment 0.5 target 2 max 9"), Fifo::default());
        let mut owner = Dice::showing(0.999);
        sfb.enqueue(at(0), flow(7), &mut queue, &mut owner);
        sfb.enqueue(at(0), flow(7), &mut queue, &mut owner);
        sfb.sets[0].of(7).for_each(|bin| bin.p = ONE);
        let second = |sfb: &Sfb| sfb.sets[1].clone().of(7).map(|bin| (bin.len, bin.p)).min().unwrap();
        sfb.enqueue(at(59_999), flow(7), &mut queue, &mut owner);
        assert_eq!(second(&sfb), (3, 0));
        sfb.enqueue(at(60_001), flow(7), &mut queue, &mut owner);
        assert_eq!(second(&sfb), (4, 32_768));
        sfb.enqueue(at(100_001), flow(9), &mut queue, &mut owner);
        assert_eq!((sfb.current, second(&sfb)), (1, (4, 32_768)));
        assert_eq!(sfb.sets[0].clone().of(7).map(|bin| (bin.len, bin.p)).min(), Some((4, 0)));
        while sfb.dequeue(at(100_002), &mut queue, &mut owner).is_some() {}
        assert!(sfb.sets.iter().flat_map(|set| set.levels.iter().flatten()).all(|bin| bin.len == 0));
    }

    #[test]
    fn max_must_exceed_target() {
        let refused = Sfb::build(&Args::parse(&SPEC, "max 20").unwrap(), &LINK).unwrap_err();
        assert_eq!(refused.0, "sfb: max must be greater than target");
    }
}
