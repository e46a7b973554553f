//! What a link does in a window, while hosts do nothing.

use super::{Link, TICK, Wire};
use crate::agenda::Agenda;
use crate::component::Component;
use crate::foreign::Discipline;
use crate::ledger::Ledger;
use crate::packet::Packet;
use crate::pipe::Pipes;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::{Packet as _, Qdisc, Visit};
use goodqueue_units::Instant;

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

impl<'s> Visit<Packet> for Stream<'_, 's> {
    type Answer = Rest<'s>;

    /// Does what [`Link::offer`], [`Link::settle`] and [`Link::transmit`] do, and each thing at one place: so the
    /// compiler makes one loop of the link and its discipline.
    #[inline(never)]
    fn visit<Q: Qdisc<Packet>>(self, qdisc: &mut Q) -> Rest<'s> {
        let Self { mut sent, until, is_crowded, wire: place, ledger, pipes, direction, agenda } = self;
        let Ledger { fates, forwarded, offered, .. } = ledger;
        let (mut wire, mut holds) = (*place, None);
        while holds.is_none() {
            let now = match sent {
                [packet, rest @ ..] if packet.arrival < wire.ends.min(until) => {
                    if is_crowded && let Some(later) = rest.get(1) {
                        qdisc.prefetch(later.flow_hash());
                    }
                    sent = rest;
                    *offered += 1;
                    qdisc.enqueue_copy(packet.arrival, packet, fates);
                    if wire.ends != Instant::MAX {
                        continue;
                    }
                    packet.arrival
                }
                _ if wire.ends < until => wire.ends,
                _ => break,
            };
            let begun = qdisc.dequeue_to(now, fates, |packet, length| {
                forwarded.count(now, packet, length);
                let duration = wire.fixed.occupy(length);
                wire.carry(now, duration);
                let pipe = pipes.of(packet);
                if let Some(time) = pipes.push(pipe, wire.free, packet) {
                    agenda.set(Component::pipe(direction, pipe), time);
                }
            });
            if begun.is_none() {
                wire.ends = Instant::MAX;
                holds = (!qdisc.is_work_conserving() && qdisc.backlog().packets > 0).then_some(now);
            }
        }
        *place = wire;
        Rest { sent, holds }
    }
}

impl Link {
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
        for packet in sent {
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
