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
//! The law is Linux's: no traces of it exist, but each step was compared with net/sched/sch_sfb.c and tc's q_sfb.c (6.18).
//! Where that differs from the paper:
//!
//! - beyond 1/2 a share of the marks, growing to 1 with p, are drops even where a packet is ECN-capable;
//! - each drop is answered with [`Enqueued::Congestion`];
//! - a set counts only the packets that were looked up in it: those that came while it was in force, and those of
//!   unresponsive flows that came while it learned. A retired set keeps its probabilities, under a new hash;
//! - the penalty's tokens are counted anew when none is left: as many as fit into the time since they were last counted,
//!   rounded down, which for a flood is none. **A flood that comes faster than `penalty_rate` gets its burst and then
//!   nothing at all**; only a pause of 1 / `penalty_rate` brings a token.
//!
//! Decided here:
//!
//! - the levels' hashes are four bits each of one mixed from the flow's hash of 32 bits and a salt;
//! - times are looked at when packets arrive, in nanoseconds (Linux: jiffies); the first period begins with the first
//!   arrival.

use super::{Aqm, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, Link, ParamSpec, QdiscSpec, Unit, Value};
use crate::qdisc::{Backlog, Enqueued, Probe};
use crate::signal::{Drop, Mark, Owner};
use alloc::collections::VecDeque;
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

    /// A flow's hash in this set; never 0, which stands for none.
    fn hash(&self, flow_hash: u32) -> u32 {
        // MurmurHash3's finalizer: each bit of the result depends on each of the hash and the salt.
        let mut hash = flow_hash ^ self.salt;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        (hash ^ hash >> 16).max(1)
    }

    /// The bins of a hash, one a level; none of 0.
    fn of(&mut self, hash: u32) -> impl Iterator<Item = &mut Bin> {
        let levels = self.levels.iter_mut().enumerate().filter(move |_| hash != 0);
        levels.map(move |(level, bins)| &mut bins[(hash >> (4 * level)) as usize % BINS])
    }
}

/// Tokens for unresponsive flows.
#[derive(Clone, Copy, Debug)]
struct Penalty {
    rate: u64,
    burst: u64,
    tokens: u64,
    /// When they were last counted.
    at: Instant,
}

/// Time beyond which no tokens come.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

impl Penalty {
    fn new(rate: u64, burst: u64) -> Self {
        Self { rate, burst, tokens: burst, at: Instant::ZERO }
    }

    fn allows(&mut self, now: Instant) -> bool {
        if self.rate == 0 || self.burst == 0 {
            return false;
        }
        if self.tokens == 0 {
            let pause = now.since(self.at).min(LONGEST_PAUSE);
            self.tokens = (pause.as_nanos().saturating_mul(self.rate) / 1_000_000_000).min(self.burst);
            self.at = now;
        }
        let left = self.tokens.checked_sub(1);
        self.tokens = left.unwrap_or(0);
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
    /// Whether the other set learns.
    warming: bool,
    period_began: Option<Instant>,
    /// Of each packet that waits, its hash in each set, or 0.
    counted: VecDeque<[u32; 2]>,
}

const MANUAL: &str = "tc-sfb(8)";

const fn count(name: &'static str, default: Value, range: (f64, f64), help: &'static str) -> ParamSpec {
    ParamSpec { name, unit: Unit::Packets, default, range, source: MANUAL, help }
}

const fn step(name: &'static str, default: f64, help: &'static str) -> ParamSpec {
    let (unit, default) = (Unit::Real, Value::Real(default));
    ParamSpec { name, unit, default, range: (0.0, 1.0), source: MANUAL, help }
}

const fn time(name: &'static str, seconds: u64, help: &'static str) -> ParamSpec {
    let (unit, default) = (Unit::Milliseconds, Value::Integer(seconds * 1_000_000_000));
    ParamSpec { name, unit, default, range: (0.0, 4_294_967_295e6), source: MANUAL, help }
}

const PARAMS: &[ParamSpec] = &[
    time("rehash", 600, "time between two changes of the hash; 0: never"),
    time("db", 60, "time before a change from which on the other bins learn; 0: never"),
    count("limit", Value::Integer(1000), (1.0, 1e9), "packets that the queue holds at most"),
    count(
        "max",
        Value::Unset,
        (1.0, 1e9),
        "packets of a bin at which arrivals are dropped; unset: 5/4 of target, or 25",
    ),
    count(
        "target",
        Value::Unset,
        (1.0, 1e9),
        "packets of a bin at which its probability rises; unset: 4/5 of max, or 20",
    ),
    step("increment", 0.0005, "step of a bin's probability upwards"),
    step("decrement", 0.000_05, "step of a bin's probability downwards, when it is found empty"),
    ParamSpec {
        unit: Unit::Count,
        ..count(
            "penalty_rate",
            Value::Integer(10),
            (0.0, 1e9),
            "packets a second that all unresponsive flows may send, if they make pauses",
        )
    },
    count(
        "penalty_burst",
        Value::Integer(20),
        (0.0, 1e9),
        "packets that they may send at once after a pause",
    ),
];

impl Aqm for Sfb {
    const SPEC: QdiscSpec = QdiscSpec {
        name: "sfb",
        summary: "Stochastic fair BLUE: a probability a bin, and a rate for flows that do not respond; marks ECN",
        source: "Feng et al. 2001; tc-sfb(8)",
        params: PARAMS,
    };

    const SHOWS_HEAD: bool = true;

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        let integer = |name| args.integer(name).unwrap_or(0);
        // As tc rounds them.
        let (max, target) = match (args.integer("max"), args.integer("target")) {
            (None, None) => (25, 20),
            (None, Some(target)) => ((target * 5 + 1) / 4, target),
            (Some(max), None) => (max, (max * 4 + 3) / 5),
            (Some(max), Some(target)) => (max, target),
        };
        let step = |name| libm::round(args.real(name).unwrap_or(0.0) * f64::from(ONE)) as u16;
        let rehash = args.time("rehash").unwrap_or(Duration::ZERO);
        let db = args.time("db").unwrap_or(Duration::ZERO);
        Ok(Self {
            limit: integer("limit") as usize,
            max: max as u32,
            target: target as u32,
            increment: step("increment"),
            decrement: step("decrement"),
            rehash,
            warm_up: if db == Duration::ZERO { rehash } else { rehash.saturating_sub(db) },
            penalty: Penalty::new(integer("penalty_rate"), integer("penalty_burst")),
            sets: [Bins::new(0), Bins::new(0x9e37_79b9)],
            current: 0,
            warming: false,
            period_began: None,
            counted: VecDeque::new(),
        })
    }

    fn change(&mut self, _now: Instant, args: &Args, link: &Link) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        let Penalty { tokens, at, .. } = self.penalty;
        let penalty = Penalty { tokens: tokens.min(fresh.penalty.burst), at, ..fresh.penalty };
        let Self { current, period_began, warming, .. } = *self;
        let (sets, counted) = (self.sets.clone(), core::mem::take(&mut self.counted));
        *self = Self { penalty, sets, counted, current, period_began, warming, ..fresh };
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
        if queue.len() >= self.limit {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Congestion;
        }
        self.keep_time(now, owner);
        let mut hashes = [0; 2];
        if let Some(why) = self.decide(now, &mut packet, &mut hashes, owner) {
            owner.dropped(packet, why);
            return Enqueued::Congestion;
        }
        self.count(hashes, |bin| bin.len += 1);
        self.counted.push_back(hashes);
        queue.push(packet);
        Enqueued::Success
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
        let hashes = self.counted.pop_front().unwrap_or_default();
        self.count(hashes, |bin| bin.len = bin.len.saturating_sub(1)); // a new hash may find other bins
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
    /// Changes the length of a packet's bins.
    fn count(&mut self, hashes: [u32; 2], change: impl Fn(&mut Bin)) {
        for (set, hash) in self.sets.iter_mut().zip(hashes) {
            set.of(hash).for_each(&change);
        }
    }

    /// Changes the sets of bins when it is time, and lets the other one learn when that is near.
    fn keep_time<P: Packet, O: Owner<P>>(&mut self, now: Instant, owner: &mut O) {
        let age = now.since(*self.period_began.get_or_insert(now));
        if self.rehash == Duration::ZERO {
            return;
        }
        if age > self.rehash {
            self.sets[self.current].salt = owner.random_u32();
            self.current = 1 - self.current;
            self.period_began = Some(now);
            self.warming = false;
        } else if age > self.warm_up {
            self.warming = true;
        }
    }

    /// Moves the probabilities of the bins of `hash` in one set, and returns the least length and probability.
    fn learn(&mut self, set: usize, hash: u32) -> Verdict {
        let (target, increment, decrement) = (self.target, self.increment, self.decrement);
        let mut verdict = Verdict { len: u32::MAX, p: ONE };
        for bin in self.sets[set].of(hash) {
            if bin.len == 0 {
                bin.p = bin.p.saturating_sub(decrement);
            } else if bin.len >= target {
                bin.p = bin.p.saturating_add(increment);
            }
            verdict = Verdict { len: verdict.len.min(bin.len), p: verdict.p.min(bin.p) };
        }
        verdict
    }

    /// Why `packet` is dropped, if it is; it may be marked instead. Notes its hash in each set that looked it up.
    fn decide<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: &mut P,
        hashes: &mut [u32; 2],
        owner: &mut O,
    ) -> Option<Drop> {
        let mut look_up = |sfb: &mut Self, set: usize| {
            hashes[set] = sfb.sets[set].hash(packet.flow_hash());
            sfb.learn(set, hashes[set])
        };
        let Verdict { len, p } = look_up(self, self.current);
        if len >= self.max {
            return Some(Drop::Flow);
        }
        if p == ONE {
            if self.warming {
                look_up(self, 1 - self.current);
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
    use std::vec::Vec;

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
        let bins = bins_of(sfb, sfb.current, flow_hash);
        let (p, len) = (bins.iter().map(|bin| bin.p).min(), bins.iter().map(|bin| bin.len).min());
        Verdict { len: len.unwrap(), p: p.unwrap() }
    }

    /// A flow's bins in one set.
    fn bins_of(sfb: &Sfb, set: usize, flow_hash: u32) -> Vec<Bin> {
        let mut set = sfb.sets[set].clone();
        let hash = set.hash(flow_hash);
        set.of(hash).map(|bin| *bin).collect()
    }

    fn put(sfb: &mut Sfb, flow_hash: u32, put: Bin) {
        let hash = sfb.sets[0].hash(flow_hash);
        sfb.sets[0].of(hash).for_each(|bin| *bin = put);
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
        put(&mut sfb, 7, Bin { len: 24, p: ONE });
        assert_eq!(state(&mut sfb, 7), Verdict { len: 24, p: ONE });
        let sharing = |hash: &u32| bins_of(&sfb, 0, *hash).iter().any(|bin| bin.p == ONE);
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
            put(&mut sfb, 7, Bin { len: 1, p: (p * 65_535.0) as u16 });
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

    /// 10 packets a second and 3 at once: at 0 ms three pass. Then none is left, and each arrival counts anew from the one
    /// before: 99 ms make none, 2 ms none, 99 ms none; 100 ms make one. After 250 ms two; after 10 s three, no more than the
    /// burst. (sch_sfb.c: tokens are counted only when none is left, in whole ones.)
    #[test]
    fn unresponsive_flows_get_the_penalty_rate_only_if_they_pause() {
        let (mut sfb, mut queue) = (sfb("penalty_burst 3"), Fifo::default());
        put(&mut sfb, 7, Bin { len: 1, p: ONE });
        let mut passed = |ms| {
            let before = queue.len();
            sfb.enqueue(at(ms), flow(7), &mut queue, &mut Dice::showing(0.999));
            queue.len() - before
        };
        assert_eq!([0, 0, 0, 0, 99, 101, 200].map(&mut passed), [1, 1, 1, 0, 0, 0, 0]);
        assert_eq!([300, 301, 551, 552, 553].map(&mut passed), [1, 0, 1, 1, 0]);
        assert_eq!([10_553, 10_553, 10_553, 10_553].map(&mut passed), [1, 1, 1, 0]);
        let mut closed = Penalty::new(0, 20);
        assert!(!closed.allows(at(5000)));
    }

    /// rehash 100 s, db 40 s: from 60 s on the second set learns of unresponsive flows, and counts their packets from then
    /// on: the first finds none, the second one, the third `target`, which is a step of 0.5 (32768). At the first arrival
    /// after 100 s it takes over, with what it has learned. The other one keeps its probabilities, and finds them under
    /// another hash; and the packets it counted leave it as they leave the queue.
    #[test]
    fn the_second_set_warms_up_and_takes_over() {
        let words = "rehash 100000 db 40000 increment 0.5 target 2 max 9";
        let (mut sfb, mut queue, mut owner) = (sfb(words), Fifo::default(), Dice::showing(0.999));
        let mut offer = |sfb: &mut Sfb, ms, hash| {
            sfb.enqueue(at(ms), flow(hash), &mut queue, &mut owner);
        };
        offer(&mut sfb, 0, 7);
        put(&mut sfb, 7, Bin { len: 1, p: ONE });
        let second = |sfb: &Sfb| bins_of(sfb, 1, 7).into_iter().map(|bin| (bin.len, bin.p)).min().unwrap();
        offer(&mut sfb, 59_999, 7);
        assert_eq!((state(&mut sfb, 7).len, second(&sfb)), (2, (0, 0)));
        let mut learned = |ms| {
            offer(&mut sfb, ms, 7);
            second(&sfb)
        };
        assert_eq!([60_001, 60_002, 60_003].map(&mut learned), [(1, 0), (2, 0), (3, 32_768)]);
        offer(&mut sfb, 100_001, 9);
        assert_eq!((sfb.current, sfb.warming, second(&sfb)), (1, false, (3, 32_768)));
        let retired = || sfb.sets[0].levels.iter().flatten();
        assert_eq!(
            (retired().map(|bin| bin.p).max(), retired().map(|bin| bin.len).max()),
            (Some(ONE), Some(5))
        );
        while sfb.dequeue(at(100_002), &mut queue, &mut owner).is_some() {}
        assert!(sfb.sets.iter().flat_map(|set| set.levels.iter().flatten()).all(|bin| bin.len == 0));
    }

    /// tc's q_sfb.c, in whole numbers: max is (5 target + 1) / 4, so 9 makes 46 / 4 = 11; target is (4 max + 3) / 5, so 7 makes
    /// 31 / 5 = 6.
    #[test]
    fn max_and_target_follow_from_each_other() {
        let of = |words| {
            let sfb = sfb(words);
            (sfb.max, sfb.target)
        };
        let table = [
            ("", (25, 20)),
            ("target 40", (50, 40)),
            ("target 9", (11, 9)),
            ("target 10", (12, 10)),
            ("target 3", (4, 3)),
            ("max 50", (50, 40)),
            ("max 7", (7, 6)),
            ("max 20 target 20", (20, 20)),
        ];
        for (words, want) in table {
            assert_eq!(of(words), want, "{words}");
        }
    }
}
