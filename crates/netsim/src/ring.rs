//! A driver's ring below a discipline. The discipline no longer controls the packets in the ring.

use crate::packet::Packet;
use crate::probe::delay::QueueDelays;
use goodqueue_units::Instant;
use std::collections::VecDeque;

/// A ring with room for a number of packets. Each packet has the time at which it left the discipline, and whether one
/// of its bits was flipped there.
pub(crate) struct Ring {
    room: usize,
    packets: VecDeque<(Instant, Packet, bool)>,
    /// How long packets waited in the ring.
    pub(crate) delays: QueueDelays,
}

impl Ring {
    pub(crate) fn new(room: u64) -> Self {
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        Self { room, packets: VecDeque::new(), delays: QueueDelays::new() }
    }

    /// Returns the number of packets in the ring.
    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Takes packets from the discipline with `take` until the ring is full.
    pub(crate) fn fill(&mut self, now: Instant, mut take: impl FnMut() -> Option<(Packet, bool)>) {
        while self.packets.len() < self.room
            && let Some((packet, is_corrupted)) = take()
        {
            self.packets.push_back((now, packet, is_corrupted));
        }
    }

    /// Returns the next packet to send, and fills the place that it leaves.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        mut take: impl FnMut() -> Option<(Packet, bool)>,
    ) -> Option<(Packet, bool)> {
        if self.packets.is_empty() {
            self.fill(now, &mut take);
        }
        let (since, packet, is_corrupted) = self.packets.pop_front()?;
        self.delays.record(now.since(since));
        self.fill(now, take);
        Some((packet, is_corrupted))
    }
}
