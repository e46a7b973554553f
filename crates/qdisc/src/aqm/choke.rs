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
    AVPKT, Asked, BANDWIDTH, BURST, HARDDROP, Marking, PROBABILITY, Params, Scale, Vars, Verdict,
};
use crate::discipline::Discipline;
use crate::kept::Look;
use crate::packet::Packet;
use crate::param::{Args, ECN, Error, LIMIT, Link, Param, ParamSpec, QdiscSpec};
use crate::params;
use crate::qdisc::{Backlog, Enqueued, Measure, Probe, Qdisc};
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
        let asked = asked(args);
        let params = asked.set_up(Some(args.get(&BANDWIDTH)))?;
        let limit = args.get(&LIMIT);
        Ok(Self {
            places: VecDeque::new(),
            head: 0,
            mask: (limit + 1).next_power_of_two() - 1,
            backlog: Backlog::default(),
            limit,
            vars: Vars::new(&params, asked.max_p()),
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
        self.vars = self.vars.under(&self.params, &fresh.params, asked(args).max_p());
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

    fn look(&mut self) -> Look<'_, P> {
        Look::Shown(self.places.front().and_then(Option::as_ref).map(P::len))
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
mod tests;
