//! A driver's ring below a discipline: packets that wait there are out of the discipline's reach.

use crate::foreign::Discipline;
use crate::packet::Packet;
use crate::probe::delay::QueueDelays;
use goodqueue_qdisc::{Owner, Qdisc};
use goodqueue_units::Instant;
use std::collections::VecDeque;

/// A ring of so many packets, each with the time at which it left the discipline.
pub(crate) struct Ring {
    room: usize,
    packets: VecDeque<(Instant, Packet)>,
    /// How long packets waited in it.
    pub(crate) delays: QueueDelays,
}

impl Ring {
    pub(crate) fn new(room: u64) -> Self {
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        Self { room, packets: VecDeque::new(), delays: QueueDelays::new() }
    }

    /// Packets in it.
    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Takes from `qdisc` what there is room for.
    pub(crate) fn fill(&mut self, now: Instant, qdisc: &mut Discipline, owner: &mut impl Owner<Packet>) {
        while self.packets.len() < self.room {
            match qdisc.dequeue(now, owner) {
                Some(packet) => self.packets.push_back((now, packet)),
                None => break,
            }
        }
    }

    /// The next packet to send; the room that it leaves is filled.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        qdisc: &mut Discipline,
        owner: &mut impl Owner<Packet>,
    ) -> Option<Packet> {
        if self.packets.is_empty() {
            self.fill(now, qdisc, owner);
        }
        let (since, packet) = self.packets.pop_front()?;
        self.delays.record(now.since(since));
        self.fill(now, qdisc, owner);
        Some(packet)
    }
}
