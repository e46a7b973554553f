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
use goodqueue_qdisc::{Enqueued, Packet as _, Qdisc};
use goodqueue_units::Instant;
use std::collections::VecDeque;

/// What only few links have.
pub(super) struct Special {
    /// The transmitter, if the rate is not fixed.
    pub(super) transmitter: Option<Transmitter>,
    /// The driver's ring below the discipline, if there is one.
    pub(super) ring: Option<Ring>,
    /// The rest of a merged packet that has left the discipline. It is cut there: by the host (`validate_xmit_skb`), or
    /// by its card, which has a descriptor for each piece in any case.
    pub(super) cut: VecDeque<Packet>,
    /// Packets that go on to another hop, with the time at which they arrive there.
    pub(super) onward: VecDeque<(Instant, Packet)>,
}

/// What a link has below its discipline.
pub(crate) struct Below {
    pub(crate) transmitter: Transmitter,
    pub(crate) ring: Option<Ring>,
    /// Whether merged packets come, which it cuts.
    pub(crate) cuts: bool,
}

/// Takes the next packet from `cut`, or from a discipline. Returns it, and whether a bit was flipped
/// there so that its receiver refuses it.
pub(super) fn dequeue(
    qdisc: &mut Discipline,
    cut: &mut VecDeque<Packet>,
    now: Instant,
    fates: &mut Fates,
) -> Option<(Packet, bool)> {
    if let Some(packet) = cut.pop_front() {
        return Some((packet, false));
    }
    let mut packet = qdisc.dequeue(now, fates)?;
    if packet.parts() > 1 {
        fates.merged -= u64::from(packet.parts() - 1);
        cut.extend(packet.split());
        packet = cut.pop_front()?;
    }
    Some((packet, fates.take_corrupted()))
}

impl Link {
    /// Transmits as [`transmit`](Self::transmit) does, for a link with more than a fixed rate and hosts behind it.
    #[cold]
    pub(super) fn transmit_special(&mut self, now: Instant, agenda: &mut Agenda) {
        let Some(mut special) = self.special.take() else { return };
        if let Some(Transmitter::Access(channel)) = &mut special.transmitter {
            let cut: u64 = special.cut.iter().map(|packet| u64::from(packet.len())).sum();
            let (waiting, pieces) = (self.qdisc.backlog(), special.cut.len() as u64);
            channel.note(waiting.bytes + cut, u64::from(waiting.packets) + pieces);
        }
        let start = special.transmitter.as_mut().map_or(now, |transmitter| transmitter.start(now));
        let waits = || {
            self.qdisc.backlog().packets > 0
                || special.ring.as_ref().is_some_and(|ring| ring.len() > 0)
                || !special.cut.is_empty()
        };
        if start > now && waits() {
            // Until `start` the link behaves as if the wire were occupied.
            self.wire.ends = start;
            agenda.set(self.parts.wire, start);
        } else if let Some((packet, is_corrupted)) = self.pull(now, &mut special) {
            let length = packet.len();
            let duration = match &mut special.transmitter {
                Some(transmitter) => transmitter.occupy(now, length),
                None => self.wire.fixed.occupy(length),
            };
            self.begin(now, &packet, length, duration);
            let mut ends = self.wire.ends + self.patience;
            let crossed =
                special.transmitter.as_mut().map_or(Some(self.wire.free), |one| one.crosses(self.wire.free));
            let (is_corrupted, arrives) =
                (is_corrupted || crossed.is_none(), crossed.unwrap_or(self.wire.free));
            match self.pipes.of(&packet) {
                _ if is_corrupted => self.ledger.fates.lost_behind(&packet),
                PipeId::ONWARD => {
                    if special.onward.is_empty() {
                        agenda.set(self.parts.onward, arrives);
                    }
                    // `take_onward` settles the link at this time in any case. So the end needs no plan of its own.
                    if arrives == self.wire.ends && self.parts.acts_as_one() {
                        ends = Instant::MAX;
                    }
                    special.onward.push_back((arrives, packet));
                }
                pipe => {
                    if let Some(time) = self.pipes.push(pipe, arrives, &packet) {
                        agenda.set(Component::pipe(self.direction, pipe), time);
                    }
                }
            }
            agenda.set(self.parts.wire, ends);
        } else {
            if let Some(transmitter) = &mut special.transmitter {
                transmitter.idle();
            }
            self.rest(now, agenda);
        }
        self.special = Some(special);
    }

    /// Returns the next packet, from the ring if there is one, and whether its receiver will refuse it.
    fn pull(&mut self, now: Instant, special: &mut Special) -> Option<(Packet, bool)> {
        let Special { ring, cut, .. } = special;
        let mut next = || dequeue(&mut self.qdisc, cut, now, &mut self.ledger.fates);
        match ring {
            None => next(),
            Some(ring) => ring.take(now, next),
        }
    }

    /// Offers `packet`, which a card has handed on, as [`offer`](Self::offer) does. A discipline that does not take it
    /// whole gets its parts, and its last answer counts.
    pub(crate) fn offer_merged(&mut self, now: Instant, packet: Packet, agenda: &mut Agenda) -> Enqueued {
        if packet.parts() > 1 && !self.qdisc.takes_whole(packet.len()) {
            return packet.split().fold(Enqueued::Success, |_, one| self.offer(now, one, agenda));
        }
        let others = u64::from(packet.parts() - 1);
        self.ledger.offered += others;
        self.ledger.fates.merged += others;
        self.offer(now, packet, agenda)
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
