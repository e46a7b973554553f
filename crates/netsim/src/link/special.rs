//! What only few links have: another transmitter than a fixed rate, a driver's ring, and a way to another hop.

use super::Link;
use crate::agenda::Agenda;
use crate::component::Component;
use crate::foreign::Discipline;
use crate::ids::PipeId;
use crate::ledger::Fates;
use crate::packet::Packet;
use crate::path::transmitter::Transmitter;
use crate::ring::Ring;
use goodqueue_qdisc::{Packet as _, Qdisc};
use goodqueue_units::Instant;
use std::collections::VecDeque;

/// What only few links have.
pub(super) struct Special {
    /// The transmitter, if the rate is not fixed.
    pub(super) transmitter: Option<Transmitter>,
    /// The driver's ring below the discipline, if there is one.
    pub(super) ring: Option<Ring>,
    /// Packets that go on to another hop, with the time at which they arrive there.
    pub(super) onward: VecDeque<(Instant, Packet)>,
}

/// What a link has below its discipline.
pub(crate) struct Below {
    pub(crate) transmitter: Transmitter,
    pub(crate) ring: Option<Ring>,
}

/// Takes the next packet from a discipline. Returns it, and whether one of its bits was flipped there.
pub(super) fn dequeue(qdisc: &mut Discipline, now: Instant, fates: &mut Fates) -> Option<(Packet, bool)> {
    let packet = qdisc.dequeue(now, fates)?;
    Some((packet, fates.take_corrupted()))
}

impl Link {
    /// Transmits as [`transmit`](Self::transmit) does, for a link with more than a fixed rate and hosts behind it.
    #[cold]
    pub(super) fn transmit_special(&mut self, now: Instant, agenda: &mut Agenda) {
        let Some(mut special) = self.special.take() else { return };
        let start = special.transmitter.as_mut().map_or(now, |transmitter| transmitter.start(now));
        let waits =
            self.qdisc.backlog().packets > 0 || special.ring.as_ref().is_some_and(|ring| ring.len() > 0);
        if start > now && waits {
            // Until `start` the link behaves as if the wire were occupied.
            self.ends = start;
            agenda.set(self.parts.wire, start);
        } else if let Some((packet, is_corrupted)) = self.pull(now, &mut special) {
            let length = packet.len();
            let duration = match &mut special.transmitter {
                Some(transmitter) => transmitter.occupy(now, length),
                None => self.fixed.occupy(length),
            };
            self.begin(now, &packet, length, duration, agenda);
            match self.pipes.of(&packet) {
                _ if is_corrupted => self.ledger.fates.lost_behind(&packet),
                PipeId::ONWARD => {
                    if special.onward.is_empty() {
                        agenda.set(self.parts.onward, self.wire_free);
                    }
                    special.onward.push_back((self.wire_free, packet));
                }
                pipe => {
                    if let Some(time) = self.pipes.push(pipe, self.wire_free, &packet) {
                        agenda.set(Component::pipe(self.direction, pipe), time);
                    }
                }
            }
        } else {
            if let Some(transmitter) = &mut special.transmitter {
                transmitter.idle();
            }
            self.rest(now, agenda);
        }
        self.special = Some(special);
    }

    /// Returns the next packet, from the ring if there is one, and whether one of its bits was flipped.
    fn pull(&mut self, now: Instant, special: &mut Special) -> Option<(Packet, bool)> {
        match &mut special.ring {
            None => dequeue(&mut self.qdisc, now, &mut self.ledger.fates),
            Some(ring) => ring.take(now, || dequeue(&mut self.qdisc, now, &mut self.ledger.fates)),
        }
    }

    /// Takes the packet that goes on to another hop now.
    pub(crate) fn take_onward(&mut self, now: Instant, agenda: &mut Agenda) -> Option<Packet> {
        self.settle(now, agenda);
        let onward = &mut self.special.as_mut()?.onward;
        let (time, packet) = onward.pop_front()?;
        debug_assert_eq!(time, now);
        agenda.set(self.parts.onward, onward.front().map_or(Instant::MAX, |(next, _)| *next));
        Some(packet)
    }

    /// Returns the driver's ring below the discipline, if there is one.
    pub(super) fn ring(&self) -> Option<&Ring> {
        self.special.as_ref()?.ring.as_ref()
    }
}
