//! SFB: stochastic fair BLUE. It finds flows that do not respond to marks without one queue or state per flow.
//!
//! Source: Feng, Kandlur, Saha and Shin, "Stochastic Fair Blue: A Queue Management Algorithm for Enforcing Fairness",
//! INFOCOM 2001, with the parameters and defaults of tc-sfb(8). Flows are hashed to one of 16 bins in each of 8
//! levels. Each bin has a BLUE: its probability rises when an arrival finds `target` packets of the bin waiting, and
//! falls when the arrival finds none. An arrival is marked or dropped with the smallest probability of its bins. So a
//! responsive flow that shares a bin with a flood is spared because of its other bins. If even the smallest
//! probability is 1, the flow is unresponsive. All unresponsive flows together get `penalty_rate`.
//!
//! A flow that shares all its bins with a flood would suffer forever. So every `rehash` a second set of bins with
//! another hash takes over. It begins to learn `db` earlier, from the flows that are unresponsive by then.
//!
//! The law is Linux's. No decision traces of it exist, but each step was compared with net/sched/sch_sfb.c and tc's
//! q_sfb.c (6.18). Linux differs from the paper in these points:
//!
//! - above p = 1/2 a share of the marks become drops even for ECN-capable packets. The share grows to 1 with p;
//! - each drop is answered with [`Enqueued::Congestion`];
//! - a set counts only packets that were looked up in it: those that came while it was in force, and those of
//!   unresponsive flows that came while it learned. A retired set keeps its probabilities, under a new hash;
//! - the penalty's tokens are counted anew when none is left. Their number is what fits into the time since the last
//!   count, rounded down, which is none for a flood. **A flood that comes faster than `penalty_rate` gets its burst
//!   and then nothing at all.** Only a pause of 1 / `penalty_rate` brings a token.
//!
//! Decided here:
//!
//! - the hashes of the levels are four bits each of one hash, which mixes the flow's 32-bit hash and a salt;
//! - periods are checked when packets arrive, in nanoseconds (Linux: jiffies). The first period begins with the first
//!   arrival.

use super::{Aqm, mark};
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::param::{Args, Error, LIMIT, Link, Param, ParamSpec, QdiscSpec, secs};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe};
use crate::signal::{Drop, Mark, Owner};
use alloc::collections::VecDeque;
use goodqueue_units::{Duration, Instant};

const LEVELS: usize = 8;
const BINS: usize = 16;
/// A probability of one.
const ONE: u16 = u16::MAX;

/// The BLUE of one bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    /// Packets that wait.
    len: u32,
    p: u16,
}

/// All levels of bins under one hash.
#[derive(Clone, Debug)]
struct Bins {
    salt: u32,
    levels: [[Bin; BINS]; LEVELS],
}

impl Bins {
    fn new(salt: u32) -> Self {
        Self { salt, levels: [[Bin::default(); BINS]; LEVELS] }
    }

    /// Returns a flow's hash in this set. It is never 0, which means "no hash".
    fn hash(&self, flow_hash: u32) -> u32 {
        // MurmurHash3's finalizer: each bit of the result depends on each bit of the hash and the salt.
        let mut hash = flow_hash ^ self.salt;
        hash = (hash ^ hash >> 16).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ hash >> 13).wrapping_mul(0xc2b2_ae35);
        (hash ^ hash >> 16).max(1)
    }

    /// Returns the bins of a hash, one per level, or none for 0.
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
    /// Time of the last count of the tokens.
    at: Instant,
}

/// Longest pause that brings tokens.
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

/// The smallest length and probability of a flow's bins.
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
    /// Time from the start of a period until the other set begins to learn.
    warm_up: Duration,
    penalty: Penalty,
    sets: [Bins; 2],
    current: usize,
    /// Whether the other set learns.
    warming: bool,
    period_began: Option<Instant>,
    /// For each waiting packet its hash in each set, or 0.
    counted: VecDeque<[u32; 2]>,
}

const MAN: &str = "tc-sfb(8)";

const REHASH: Param<Duration> =
    Param::milliseconds("rehash", "time between two changes of the hash; 0: never").default(secs(600));
const DB: Param<Duration> =
    Param::milliseconds("db", "time before a change at which the new bins start to learn; 0: never")
        .default(secs(60));
const MAX: Param<Option<u32>> =
    Param::packets("max", "packets in a bin from which arrivals are dropped; unset: 5/4 of target, or 25")
        .range(1, u32::MAX)
        .zero_is_unset();
const TARGET: Param<Option<u32>> =
    Param::packets("target", "packets in a bin from which its probability rises; unset: 4/5 of max, or 20")
        .range(1, u32::MAX)
        .zero_is_unset();
const INCREMENT: Param<f64> = Param::real("increment", "increase of a bin's probability").default(0.0005);
const DECREMENT: Param<f64> =
    Param::real("decrement", "decrease of a bin's probability when the bin is empty").default(0.000_05);
const PENALTY_RATE: Param<u32> = Param::count(
    "penalty_rate",
    "packets per second that all unresponsive flows together may send, if they pause",
)
.default(10)
.range(0, u32::MAX);
const PENALTY_BURST: Param<u32> =
    Param::packets("penalty_burst", "packets that unresponsive flows may send at once after a pause")
        .default(20)
        .range(0, u32::MAX);

const PARAMS: &[ParamSpec] = params! { from MAN =>
    REHASH, DB, LIMIT, MAX, TARGET, INCREMENT, DECREMENT, PENALTY_RATE, PENALTY_BURST,
};

impl Aqm for Sfb {
    const SPEC: QdiscSpec = QdiscSpec::new("sfb", PARAMS)
        .summary(
            "Stochastic fair BLUE: one probability per bin, and a rate limit for unresponsive flows; marks ECN",
        )
        .source("Feng et al. 2001; tc-sfb(8)");

    const SHOWS_HEAD: bool = true;

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        // Rounded as tc does.
        let (max, target) = match (args.get(&MAX).map(u64::from), args.get(&TARGET).map(u64::from)) {
            (None, None) => (25, 20),
            (None, Some(target)) => ((target * 5 + 1) / 4, target),
            (Some(max), None) => (max, (max * 4 + 3) / 5),
            (Some(max), Some(target)) => (max, target),
        };
        let step = |share: f64| libm::round(share * f64::from(ONE)) as u16;
        let (rehash, db) = (args.get(&REHASH), args.get(&DB));
        Ok(Self {
            limit: args.get(&LIMIT) as usize,
            max: max as u32,
            target: target as u32,
            increment: step(args.get(&INCREMENT)),
            decrement: step(args.get(&DECREMENT)),
            rehash,
            warm_up: if db == Duration::ZERO { rehash } else { rehash.saturating_sub(db) },
            penalty: Penalty::new(args.get(&PENALTY_RATE).into(), args.get(&PENALTY_BURST).into()),
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
        packet: P,
        queue: &mut Fifo<P>,
        owner: &mut O,
    ) -> Enqueued {
        let number = packet.flow_hash();
        self.admit(now, packet, number, (queue, owner))
    }

    /// Puts the minor number in the place of the flow's hash (`sfb_classify`). Above the limit no filter is asked.
    #[cfg(feature = "complete")]
    fn enqueue_into<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        packet: P,
        classid: Option<crate::tree::Id>,
        (queue, owner): (&mut Fifo<P>, &mut O),
    ) -> Option<Enqueued> {
        match classid {
            None if queue.len() < self.limit => {
                self.keep_time(now, owner);
                owner.dropped(packet, Drop::Overlimit);
                None
            }
            _ => {
                let number = classid.map_or(0, crate::tree::Id::minor);
                Some(self.admit(now, packet, number.into(), (queue, owner)))
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
        let hashes = self.counted.pop_front().unwrap_or_default();
        self.count(hashes, |bin| bin.len = bin.len.saturating_sub(1)); // a new hash may find other bins
        Some(packet)
    }

    fn probe(&self, probe: &mut dyn Probe) {
        let bins = || self.sets[self.current].levels.iter().flatten();
        let longest = bins().map(|bin| bin.len).max().unwrap_or(0);
        probe.measured("maxqlen", longest.into(), Measure::Packets(Some(f64::from(longest))));
        let share = |p: f64| Measure::Number(Some(p / f64::from(ONE)));
        let most = bins().map(|bin| bin.p).max().unwrap_or(0);
        probe.measured("maxprob", most.into(), share(most.into()));
        let sum: u64 = bins().map(|bin| u64::from(bin.p)).sum();
        let bins = (LEVELS * BINS) as u64;
        probe.measured("avgprob", (sum / bins).into(), share(sum as f64 / bins as f64));
    }
}

impl Sfb {
    /// Offers a packet that belongs to the flow `number`.
    #[inline]
    fn admit<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        mut packet: P,
        number: u32,
        (queue, owner): (&mut Fifo<P>, &mut O),
    ) -> Enqueued {
        if queue.len() >= self.limit {
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Congestion;
        }
        self.keep_time(now, owner);
        let mut hashes = [0; 2];
        if let Some(why) = self.decide(now, (&mut packet, number), &mut hashes, owner) {
            owner.dropped(packet, why);
            return Enqueued::Congestion;
        }
        self.count(hashes, |bin| bin.len += 1);
        self.counted.push_back(hashes);
        queue.push(packet);
        Enqueued::Success
    }

    /// Changes the length of each bin of a packet.
    fn count(&mut self, hashes: [u32; 2], change: impl Fn(&mut Bin)) {
        for (set, hash) in self.sets.iter_mut().zip(hashes) {
            set.of(hash).for_each(&change);
        }
    }

    /// Exchanges the sets of bins when it is time, and lets the other set learn shortly before.
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

    /// Moves the probabilities of the bins of `hash` in one set. Returns their smallest length and probability.
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

    /// Returns why `packet` is to be dropped. `None`: it is queued, perhaps with a mark. Notes its hash in each set
    /// in which it was looked up.
    fn decide<P: Packet, O: Owner<P>>(
        &mut self,
        now: Instant,
        (packet, number): (&mut P, u32),
        hashes: &mut [u32; 2],
        owner: &mut O,
    ) -> Option<Drop> {
        let mut look_up = |sfb: &mut Self, set: usize, number: u32| {
            hashes[set] = sfb.sets[set].hash(number);
            sfb.learn(set, hashes[set])
        };
        let Verdict { len, p } = look_up(self, self.current, number);
        if len >= self.max {
            return Some(Drop::Flow);
        }
        if p == ONE {
            if self.warming {
                // The set that learns knows the flow's own hash, whatever filters say (`sfb_enqueue`).
                look_up(self, 1 - self.current, packet.flow_hash());
            }
            return if self.penalty.allows(now) { None } else { Some(Drop::Flow) };
        }
        let dice = owner.random_u32() as u16;
        if dice >= p {
            return None;
        }
        // Many marks did not help: from p = 1/2 on a growing share of them become drops.
        let beyond_help = u32::from(dice) < 2 * u32::from(p.saturating_sub(ONE / 2));
        if !beyond_help && mark(packet, Mark::Early, owner) { None } else { Some(Drop::Early) }
    }
}

#[cfg(test)]
mod tests;
