//! What a link does in a window, while hosts do nothing.

use super::{Link, TICK, Wire};
use crate::agenda::Agenda;
use crate::component::Component;
use crate::foreign::Discipline;
use crate::ledger::{Forwarded, Ledger};
use crate::packet::Packet;
use crate::pipe::Pipes;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::{Packet as _, Qdisc, Visit};
use goodqueue_units::Instant;
use goodqueue_units::processor::{PREFETCHES, prefetch};

/// Whether packets pass disciplines that are empty. They need not on the page, whose module is smaller without it.
const IS_FAST: bool = cfg!(not(target_family = "wasm"));

/// A link without its discipline, the packets that it is going to take, and the time at which it stops.
struct Stream<'a, 's> {
    sent: &'s [Packet],
    until: Instant,
    /// The queues of so many flows stay in no cache.
    is_crowded: bool,
    wire: &'a mut Wire,
    ledger: &'a mut Ledger,
    pipes: &'a mut Pipes,
    direction: Direction,
    agenda: &'a mut Agenda,
}

/// What is left of the packets, and since when the discipline holds packets back although the wire is free, if it does.
struct Rest<'s> {
    sent: &'s [Packet],
    holds: Option<Instant>,
}

/// What is behind the discipline.
struct Way<'a> {
    wire: Wire,
    forwarded: &'a mut Forwarded,
    pipes: &'a mut Pipes,
    direction: Direction,
    agenda: &'a mut Agenda,
}

impl Way<'_> {
    /// Takes a packet of `length` bytes from the discipline at `now`.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // each packet comes here
    fn take(&mut self, now: Instant, packet: &Packet, length: u32) {
        self.forwarded.count(now, packet, length);
        let duration = self.wire.fixed.occupy(length);
        self.wire.carry(now, duration);
        let pipe = self.pipes.of(packet);
        if let Some(time) = self.pipes.push(pipe, self.wire.free, packet) {
            self.agenda.set(Component::pipe(self.direction, pipe), time);
        }
    }
}

impl<'s> Visit<Packet> for Stream<'_, 's> {
    type Answer = Rest<'s>;

    /// Does what [`Link::offer`], [`Link::settle`] and [`Link::transmit`] do, and each thing at one place: so the
    /// compiler makes one loop of the link and its discipline.
    #[inline(never)]
    fn visit<Q: Qdisc<Packet>>(self, qdisc: &mut Q) -> Rest<'s> {
        let Self { mut sent, until, is_crowded, wire: place, ledger, pipes, direction, agenda } = self;
        let Ledger { fates, forwarded, offered, .. } = ledger;
        let mut way = Way { wire: *place, forwarded, pipes, direction, agenda };
        let mut holds = None;
        while holds.is_none() {
            let now = match sent {
                [packet, rest @ ..] if packet.arrival < way.wire.ends.min(until) => {
                    if is_crowded && let Some(later) = rest.get(1) {
                        qdisc.prefetch(later.flow_hash());
                    }
                    sent = rest;
                    *offered += 1;
                    let is_idle = way.wire.ends == Instant::MAX;
                    if IS_FAST
                        && is_idle
                        && let Some(length) = qdisc.pass(packet.arrival, packet)
                    {
                        way.take(packet.arrival, packet, length);
                        continue;
                    }
                    qdisc.enqueue_copy(packet.arrival, packet, fates);
                    if !is_idle {
                        continue;
                    }
                    packet.arrival
                }
                _ if way.wire.ends < until => way.wire.ends,
                _ => break,
            };
            let begun = qdisc.dequeue_to(now, fates, |packet, length| way.take(now, packet, length));
            if begun.is_none() {
                way.wire.ends = Instant::MAX;
                holds = (!qdisc.is_work_conserving() && qdisc.backlog().packets > 0).then_some(now);
            }
        }
        *place = way.wire;
        Rest { sent, holds }
    }
}

/// The queues of so many flows stay in a cache and need no prefetch.
const CACHED: usize = 2048;

/// How many places behind the present packet another one is when the steps of its approach are taken.
const APPROACH: [usize; 3] = [6, 4, 2];

/// Looks ahead at the packets that are going to arrive at a tree of many classes: see
/// [`AnyQdisc::foresee`](goodqueue_qdisc::AnyQdisc::foresee). A packet of another subscriber than the last ones
/// otherwise waits for memory some dozens of times, each time for the address of the next.
///
/// Gain: see "Many subscribers" in `docs/results/benchmarks.md`.
#[derive(Default)]
struct Ahead {
    /// The classes of the next packets, by their numbers.
    classes: [Option<u32>; 8],
}

impl Ahead {
    /// Looks ahead from the packet number `at` of those that hosts have `sent`.
    #[inline(never)]
    fn look(&mut self, at: usize, sent: &[Packet], link: &Link) {
        let known = self.classes.len();
        if let Some(packet) = sent.get(at + 24) {
            prefetch(packet);
        }
        if let Some(packet) = sent.get(at + 12) {
            link.ledger.fates.prefetch(packet.flow);
        }
        if let Some(packet) = sent.get(at + 5) {
            link.ledger.fates.prefetch_room(packet.flow);
        }
        if let Some(packet) = sent.get(at + known) {
            self.classes[at % known] = link.qdisc.foresee(packet, &link.ledger.fates);
        }
        for (step, places) in APPROACH.into_iter().enumerate() {
            if let (Some(packet), Some(class)) = (sent.get(at + places), self.classes[(at + places) % known])
            {
                link.qdisc.approach(class, packet, step);
            }
        }
    }
}

impl Link {
    /// Returns whether this is a tree of so many classes that they do not stay in a cache.
    fn has_many_classes(&self) -> bool {
        PREFETCHES && self.ledger.fates.dropped.len() > CACHED && self.qdisc.is_tree()
    }

    /// Takes the packets that hosts have `sent` before `until`, and does all else that happens at the link before then.
    pub(crate) fn run(&mut self, mut sent: &[Packet], until: Instant, is_crowded: bool, agenda: &mut Agenda) {
        if self.special.is_some() || self.ledger.fates.watch.is_some() {
            return self.run_watched(sent, until, agenda);
        }
        loop {
            let timer = agenda.time_of(self.parts.timer);
            let Self { qdisc, wire, ledger, pipes, direction, .. } = self;
            // At equal times the timer acts first.
            let (until_timer, direction) = (until.min(timer), *direction);
            let stream =
                Stream { sent, until: until_timer, is_crowded, wire, ledger, pipes, direction, agenda };
            let rest = match qdisc {
                Discipline::Registry(qdisc) => qdisc.visit(stream),
                Discipline::Foreign(_) => stream.visit(qdisc),
            };
            sent = rest.sent;
            if let Some(since) = rest.holds {
                self.plan_timer(since, agenda); // the discipline wants to be asked again
            } else if timer < until {
                self.on_timer(timer, agenda);
            } else {
                return;
            }
        }
    }

    /// Does the same for a link that is more than a fixed rate, or that somebody watches.
    fn run_watched(&mut self, sent: &[Packet], until: Instant, agenda: &mut Agenda) {
        let mut ahead = self.has_many_classes().then(Ahead::default);
        for (at, packet) in sent.iter().enumerate() {
            if let Some(ahead) = &mut ahead {
                ahead.look(at, sent, self);
            }
            self.act_before(packet.arrival + TICK, agenda);
            self.offer(packet.arrival, *packet, agenda);
        }
        self.act_before(until, agenda);
    }

    /// Lets the discipline's timer and the wire act before `until`.
    fn act_before(&mut self, until: Instant, agenda: &mut Agenda) {
        loop {
            let timer = agenda.time_of(self.parts.timer);
            if timer <= self.wire.ends && timer < until {
                self.on_timer(timer, agenda);
            } else if self.wire.ends < until {
                self.transmit(self.wire.ends, agenda);
            } else {
                return;
            }
        }
    }
}
