//! CHOKe: RED that compares an arrival with a packet drawn from the queue, and drops both if they belong to one flow.
//!
//! Source: Pan, Prabhakar and Psounis, "CHOKe, a stateless active queue management scheme for approximating fair
//! bandwidth allocation", INFOCOM 2000 (section 2), as Linux runs it and `tc` sets it up: tc-choke(8). The law is
//! that of [`super::red`], on packets instead of bytes. Linux differs from the paper in these points:
//!
//! - an average that equals a threshold counts as below it. Above `max` the comparison comes first, and a packet
//!   without a match is marked or dropped;
//! - a packet that is taken from the middle leaves a hole. The draw is over places including holes. If three draws
//!   hit holes, the head is compared;
//! - the comparison precedes RED, and a match does not change RED's count of packets.
//!
//! This implementation differs from Linux in two points: a ring with holes, and the comparison of flows. Linux's
//! places are a ring of the next power of two above `limit`, and `limit` counts packets without holes. So an arrival
//! may take the last place of a ring with holes. Head and tail then meet, and the kernel takes the ring for empty
//! (net/sched/sch_choke.c): it hands out nothing more, and the next arrival overwrites the packet at the head, which
//! is neither sent nor counted as dropped. Here no packet is lost: that arrival is refused, as if `limit` were
//! reached. Flows are compared by [`Packet::flow_id`], in the kernel by addresses and ports.

use super::red::{
    AVPKT, Asked, BANDWIDTH, BURST, HARDDROP, Marking, PROBABILITY, Params, Scale, Vars, Verdict, max_p,
};
use crate::discipline::Discipline;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, LIMIT, Link, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Head, Measure, Probe, Qdisc};
use crate::signal::{Drop, Owner};
use alloc::collections::VecDeque;
use goodqueue_units::Instant;

/// Number of draws of a place before the head is taken.
const TRIES: u32 = 3;
/// Number of draws of a number before a biased one is accepted. With fair dice a second draw is needed at most once
/// in 2^32 / n. An owner whose dice always show 0 must not cause an endless loop.
const REDRAWS: u32 = 32;

/// `tc`'s `choke`.
#[derive(Clone, Debug)]
pub struct Choke<P> {
    /// Packets and holes. The first place is never a hole.
    places: VecDeque<Option<P>>,
    /// The first place's number in Linux's ring.
    head: u32,
    /// The ring's number of places less one, which is the number of places that may be in use.
    mask: u32,
    backlog: Backlog,
    limit: u32,
    params: Params,
    vars: Vars,
    marking: Marking,
    matched: u64,
}

const MAN: &str = "tc-choke(8)";
const EITHER: &str = "tc-choke(8), tc-red(8)";

const MIN: Param<Option<u32>> =
    Param::packets("min", "average up to which no packet is dropped; unset: a third of max")
        .range(1, 131_071)
        .zero_is_unset();
const MAX: Param<Option<u32>> =
    Param::packets("max", "average above which every packet is dropped; unset: a quarter of limit")
        .range(1, 131_071)
        .zero_is_unset();

const PARAMS: &[ParamSpec] = params! { from MAN =>
    LIMIT.range(1, 131_071).help("most packets that the queue holds; tc has no default"),
    MIN, MAX,
    BURST.help("packets that may arrive at once; unset: a third of 2 min + max"),
    AVPKT.source(EITHER).help("average packet, for the decay while idle"),
    BANDWIDTH.source(EITHER), PROBABILITY.source(EITHER),
    ECN.help("mark ECN-capable packets instead of dropping them, except packets that match"),
    HARDDROP.source("Linux 6.1 (golden traces)").help("with ecn: drop above max nevertheless"),
};

/// Reads the thresholds and RED's settings of a line.
#[must_use]
pub fn asked(args: &Args) -> Asked {
    let [min, max] = [MIN, MAX].map(|param| args.get(&param).map(u64::from));
    Asked::new(args, Scale::Packets, args.get(&LIMIT).into(), min, max)
}

impl<P: Packet> Discipline<P> for Choke<P> {
    const SPEC: QdiscSpec = QdiscSpec::new("choke", PARAMS)
        .summary("RED in packets that drops an arrival together with a random packet of its own flow")
        .source("Pan, Prabhakar, Psounis, INFOCOM 2000; tc-choke(8)");

    fn build(args: &Args, _link: &Link) -> Result<Self, Error> {
        let params = asked(args).set_up(Some(args.get(&BANDWIDTH)))?;
        let limit = args.get(&LIMIT);
        Ok(Self {
            places: VecDeque::new(),
            head: 0,
            mask: (limit + 1).next_power_of_two() - 1,
            backlog: Backlog::default(),
            limit,
            vars: Vars::new(&params, max_p(args)),
            params,
            marking: Marking::new(args.get(&ECN), args.get(&HARDDROP), false),
            matched: 0,
        })
    }

    fn change<O: Owner<P>>(
        &mut self,
        _now: Instant,
        args: &Args,
        link: &Link,
        owner: &mut O,
    ) -> Result<(), Error> {
        let fresh = Self::build(args, link)?;
        self.vars = self.vars.under(&self.params, &fresh.params, max_p(args));
        self.marking = self.marking.under(fresh.marking);
        (self.limit, self.params) = (fresh.limit, fresh.params);
        while self.backlog.packets > self.limit
            && let Some(oldest) = self.take(0)
        {
            owner.dropped(oldest, Drop::Overlimit);
        }
        if self.mask != fresh.mask {
            // The new ring begins at its first place and has no holes.
            self.places.retain(Option::is_some);
            (self.head, self.mask) = (0, fresh.mask);
        }
        Ok(())
    }
}

impl<P: Packet> Qdisc<P> for Choke<P> {
    #[inline]
    fn enqueue<O: Owner<P>>(&mut self, now: Instant, mut packet: P, owner: &mut O) -> Enqueued {
        packet.set_arrival(now);
        self.vars.arrive(&self.params, now, self.backlog.packets.into());
        let verdict = if self.vars.is_small(&self.params) {
            self.vars.outside();
            Verdict::Pass
        } else if let Some(place) = self.matching(&packet, owner) {
            self.matched += 1;
            self.take(place).into_iter().for_each(|victim| owner.dropped(victim, Drop::Flow));
            owner.dropped(packet, Drop::Flow);
            return Enqueued::Congestion;
        } else if self.vars.is_large(&self.params) {
            self.vars.outside();
            Verdict::Forced
        } else {
            self.vars.between(&self.params, || owner.random_u32())
        };
        if verdict != Verdict::Pass
            && let Some(why) = self.marking.condemn(verdict, &mut packet, owner)
        {
            owner.dropped(packet, why);
            return Enqueued::Congestion;
        }
        if self.backlog.packets >= self.limit || self.places.len() >= self.mask as usize {
            self.marking.refused();
            owner.dropped(packet, Drop::Overlimit);
            return Enqueued::Dropped;
        }
        self.backlog.packets += 1;
        self.backlog.bytes += u64::from(packet.len());
        self.places.push_back(Some(packet));
        Enqueued::Success
    }

    #[inline]
    fn dequeue<O: Owner<P>>(&mut self, now: Instant, _owner: &mut O) -> Option<P> {
        let packet = self.take(0);
        if packet.is_none() {
            self.vars.idle(now);
        }
        packet
    }

    fn head(&self) -> Head {
        let head = self.places.front().and_then(Option::as_ref);
        head.map_or(Head::Nothing, |packet| Head::Length(packet.len()))
    }

    #[inline]
    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn probe(&self, probe: &mut dyn Probe) {
        self.vars.probe(&self.params, Measure::Packets, probe);
        self.marking.probe(probe);
        probe.integer("matched", self.matched.into());
        probe.integer("head", self.head.into());
        let tail = self.head.wrapping_add(self.places.len() as u32) & self.mask;
        probe.integer("tail", tail.into());
    }
}

impl<P: Packet> Choke<P> {
    /// Returns a place drawn at random, if its packet belongs to the flow of `packet`.
    fn matching<O: Owner<P>>(&self, packet: &P, owner: &mut O) -> Option<usize> {
        let places = self.places.len() as u32;
        if places == 0 {
            return None;
        }
        let drawn = (0..TRIES).map(|_| below(places, owner) as usize);
        let place = { drawn }.find(|place| self.places[*place].is_some()).unwrap_or(0);
        let known = self.places[place].as_ref()?;
        (known.flow_id() == packet.flow_id()).then_some(place)
    }

    /// Takes out the packet at `place`. Holes at the head are removed, holes at the tail stay.
    fn take(&mut self, place: usize) -> Option<P> {
        let packet = self.places.get_mut(place)?.take()?;
        while let Some(None) = self.places.front() {
            self.places.pop_front();
            self.head = (self.head + 1) & self.mask;
        }
        self.backlog.packets -= 1;
        self.backlog.bytes -= u64::from(packet.len());
        Some(packet)
    }
}

/// Returns a number below `n`, each with the same probability (Lemire, "Fast random integer generation in an
/// interval", ACM TOMACS 2019). The number is the upper half of a product. The draw is repeated if the lower half is
/// one of the surplus values, which would favour some numbers.
fn below<P, O: Owner<P>>(n: u32, owner: &mut O) -> u32 {
    let surplus = n.wrapping_neg() % n;
    let draw = || u64::from(owner.random_u32()) * u64::from(n);
    let mut products = core::iter::repeat_with(draw).take(REDRAWS as usize);
    let product = products.find(|product| *product as u32 >= surplus);
    product.map_or(0, |product| (product >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Plain;
    use crate::signal::Mark;
    use goodqueue_units::{Ecn, Rate};
    use std::format;
    use std::vec::Vec;

    /// An owner that returns the given random numbers and then zeros, and notes drops and marks.
    #[derive(Default)]
    struct Loaded {
        dice: Vec<u32>,
        drawn: usize,
        dropped: Vec<(u64, Drop)>,
        marked: Vec<u64>,
    }

    impl Owner<Plain> for Loaded {
        fn dropped(&mut self, packet: Plain, why: Drop) {
            self.dropped.push((packet.id, why));
        }
        fn marked(&mut self, packet: &Plain, _why: Mark) {
            self.marked.push(packet.id);
        }
        fn random_u32(&mut self) -> u32 {
            self.drawn += 1;
            self.dice.get(self.drawn - 1).copied().unwrap_or(0)
        }
        fn random_u64(&mut self) -> u64 {
            0
        }
    }

    fn choke(words: &str) -> Result<Choke<Plain>, Error> {
        let link = Link { rate: Rate::from_bps(10_000_000).unwrap(), mtu: 1514 };
        static SPEC: QdiscSpec = Choke::<Plain>::SPEC;
        Choke::build(&Args::parse(&SPEC, words)?, &link)
    }

    /// A draw that hits the place after the first quarter of all places.
    const QUARTER: u32 = 1 << 30;

    fn offer(choke: &mut Choke<Plain>, owner: &mut Loaded, id: u64, flow: u32, ecn: Ecn) -> Enqueued {
        choke.enqueue(Instant::ZERO, Plain { id, flow_hash: flow, ecn, ..Plain::new(100) }, owner)
    }

    /// Offers packets 0 to 3, each of the flow of its number, with thresholds of 1 and 3 packets.
    ///
    /// A burst of 1 over 1 packet makes the weight 1/2: 1 + 1 - 1 = 1 = (1 - 1/2) * 2. So the average is kept
    /// doubled, and so are the thresholds: 2 and 6. With 0, 1, 2, 3 packets waiting the average is 0, 1, 1 + 2, 3 - 1 +
    /// 3 = 5. The third and the fourth packet are compared. For the third there are two places, and place 0 is
    /// drawn. Another draw puts the next drop beyond all tests. For the fourth there are three places: a draw of 0 is
    /// not accepted, because 2^32 = 1 mod 3, and a quarter is place 0.
    fn four(words: &str, dice: &[u32]) -> (Choke<Plain>, Loaded) {
        let dice = [&[0, u32::MAX, 0, QUARTER], dice].concat();
        let mut owner = Loaded { dice, ..Loaded::default() };
        let mut choke = choke(&format!("min 1 max 3 burst 1 probability 0.000001 {words}"))
            .unwrap_or_else(|e| panic!("{e}"));
        for id in 0..4 {
            assert_eq!(offer(&mut choke, &mut owner, id, id as u32, Ecn::Ect0), Enqueued::Success);
        }
        assert_eq!((choke.vars.shown().0, owner.drawn), (5, 4));
        (choke, owner)
    }

    fn drain(choke: &mut Choke<Plain>, owner: &mut Loaded) -> Vec<u64> {
        core::iter::from_fn(|| choke.dequeue(Instant::ZERO, owner)).map(|packet| packet.id).collect()
    }

    /// The place drawn, 1 of 4, has a packet of the same flow. Both must be dropped, the older one first, although
    /// both could be marked. RED's count and random number must not change. A hole must not be delivered.
    #[test]
    fn a_match_costs_both_packets() {
        let (mut choke, mut owner) = four("ecn", &[QUARTER]);
        let (_, count, random) = choke.vars.shown();
        assert_eq!(offer(&mut choke, &mut owner, 4, 1, Ecn::Ect0), Enqueued::Congestion);
        assert_eq!(owner.dropped, [(1, Drop::Flow), (4, Drop::Flow)]);
        assert_eq!(choke.vars.shown(), (7, count, random));
        assert_eq!(choke.backlog(), Backlog { packets: 3, bytes: 300 });
        assert_eq!(drain(&mut choke, &mut owner), [0, 2, 3]);
        assert_eq!((choke.head, choke.places.len()), (4, 0));
    }

    /// Place 1 is a hole. After three draws that hit it the head must be compared. When the head leaves, the hole
    /// must go with it. There must be three draws and no more.
    #[test]
    fn three_holes_are_answered_by_the_head() {
        let (mut choke, mut owner) = four("", &[QUARTER, QUARTER, QUARTER, QUARTER]);
        offer(&mut choke, &mut owner, 4, 1, Ecn::NotEct);
        assert_eq!(offer(&mut choke, &mut owner, 5, 0, Ecn::NotEct), Enqueued::Congestion);
        assert_eq!(
            (owner.dropped[2..].to_vec(), owner.drawn),
            ([(0, Drop::Flow), (5, Drop::Flow)].to_vec(), 8)
        );
        assert_eq!((choke.head, choke.places.len(), choke.backlog.packets), (2, 2, 2));
    }

    /// The fifth packet finds an average of 5 - 2 + 4 = 7, above max: a packet without a match must be marked or
    /// dropped.
    #[test]
    fn above_max_all_that_does_not_match_is_marked_or_dropped() {
        use Enqueued::{Congestion, Success};
        let table = [
            ("ecn", Ecn::Ect0, Success, 1),
            ("ecn", Ecn::NotEct, Congestion, 0),
            ("", Ecn::Ect0, Congestion, 0),
            ("ecn harddrop", Ecn::Ect0, Congestion, 0),
        ];
        for (words, ecn, told, marked) in table {
            let (mut choke, mut owner) = four(words, &[QUARTER]);
            assert_eq!(offer(&mut choke, &mut owner, 4, 9, ecn), told, "{words} {ecn:?}");
            assert_eq!((owner.marked.len(), owner.dropped.len()), (marked, 1 - marked), "{words} {ecn:?}");
            assert!(owner.dropped.iter().all(|(id, why)| (*id, *why) == (4, Drop::Forced)));
        }
    }

    /// An average of exactly max, 5 - 2 + 3 = 6, is not above max, where RED would drop. With an average of exactly
    /// min, 1 + 1 = 2, nothing must be drawn.
    #[test]
    fn an_average_on_a_threshold_is_below_it() {
        let (mut choke, mut owner) = four("", &[QUARTER]);
        choke.dequeue(Instant::ZERO, &mut owner);
        assert_eq!(offer(&mut choke, &mut owner, 4, 9, Ecn::NotEct), Enqueued::Success);
        assert_eq!(choke.vars.shown().0, 6);

        let mut choke = self::choke("min 1 max 3 burst 1").unwrap();
        let mut owner = Loaded::default();
        offer(&mut choke, &mut owner, 0, 0, Ecn::NotEct);
        offer(&mut choke, &mut owner, 1, 0, Ecn::NotEct);
        choke.dequeue(Instant::ZERO, &mut owner);
        offer(&mut choke, &mut owner, 2, 0, Ecn::NotEct);
        assert_eq!((choke.vars.shown().0, owner.drawn), (2, 0));
    }

    /// A limit of 3 is a ring of 4 places, 3 of which may be in use. The draw of three quarters hits the packet in
    /// the last of them, whose removal leaves a hole that stays. So two packets wait, and yet no place is free.
    #[test]
    fn a_ring_of_holes_is_full() {
        let dice = [0, u32::MAX, 3 * QUARTER, QUARTER].to_vec();
        let mut owner = Loaded { dice, ..Loaded::default() };
        let mut choke = choke("limit 3 min 1 max 3 burst 1 probability 0.000001").unwrap();
        for (id, flow) in [(0, 0), (1, 1), (2, 2), (3, 2)] {
            offer(&mut choke, &mut owner, id, flow, Ecn::NotEct);
        }
        assert_eq!((choke.backlog.packets, choke.places.len()), (2, 3));
        assert_eq!(offer(&mut choke, &mut owner, 4, 9, Ecn::NotEct), Enqueued::Dropped);
        assert_eq!(owner.dropped, [(2, Drop::Flow), (3, Drop::Flow), (4, Drop::Overlimit)]);
        assert_eq!(drain(&mut choke, &mut owner), [0, 1]);
        assert_eq!(choke.places.len(), 0, "a hole in front goes with the packet before it");
    }

    /// Linux's ring has roundup_pow_of_two(limit + 1) places, one of which stays free: 8 packets need 16 places, not
    /// 8.
    #[test]
    fn a_limit_that_is_a_power_of_two_is_kept() {
        let (mut choke, mut owner) = (choke("limit 8 min 7 max 8 burst 8").unwrap(), Loaded::default());
        let told = [0; 9].map(|id| offer(&mut choke, &mut owner, id, 0, Ecn::NotEct));
        assert_eq!((told[7], told[8], choke.places.len()), (Enqueued::Success, Enqueued::Dropped, 8));
    }

    /// 3 * 0x55555556 = 2^32 + 2 gives 1. A lower half of 0 is the surplus value. Dice that always show it must not
    /// loop forever.
    #[test]
    fn numbers_below_three_are_even() {
        let number = |dice: &[u32]| {
            let mut owner = Loaded { dice: dice.to_vec(), ..Loaded::default() };
            (below(3, &mut owner), owner.drawn)
        };
        assert_eq!(number(&[0x5555_5555]), (0, 1));
        assert_eq!(number(&[0x5555_5556]), (1, 1));
        assert_eq!(number(&[0, u32::MAX]), (2, 2));
        assert_eq!(number(&[]), (0, 32));
    }

    /// tc-choke(8) as in the golden headers: with a limit of 1000, max is 250, min 83, the burst 138 and the weight
    /// 2^-6. 138 + 1 - 83 = 56 packets need (1 - (63/64)^138) * 64 = 56.7, while 2^-5 gives 31.6.
    #[test]
    fn what_the_line_leaves_out_is_derived_in_packets() {
        let said = choke("limit 1000 min 83 max 250 burst 138").unwrap();
        assert_eq!(format!("{:?}", choke("limit 1000").unwrap().params), format!("{:?}", said.params));
        assert!(format!("{:?}", said.params).contains("wlog: 6"));
        assert_eq!(
            choke("min 6 max 5").unwrap_err().0,
            "choke: max must be above zero and not less than min"
        );
    }
}
