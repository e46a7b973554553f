//! A driver's ring below a discipline. The discipline no longer controls the packets in the ring.

use crate::byte_limit::{Bql, ByteLimit};
use crate::packet::Packet;
use goodqueue_hosts::probe::delay::QueueDelays;
use goodqueue_qdisc::Packet as _;
use goodqueue_units::Instant;
use std::collections::VecDeque;

/// A ring with room for a number of packets. Each packet has the time at which it left the discipline, and whether
/// its receiver will refuse it because a bit was flipped there.
pub(crate) struct Ring {
    room: usize,
    packets: VecDeque<(Instant, Packet, bool)>,
    /// The limit in bytes, if there is one, and the bytes of the packet on the wire.
    limit: Option<ByteLimit>,
    on_wire: u32,
    /// How long packets waited in the ring.
    pub(crate) delays: QueueDelays,
}

impl Ring {
    pub(crate) fn new(room: u64, bql: Option<Bql>) -> Self {
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        let (packets, limit) = (VecDeque::new(), bql.map(ByteLimit::new));
        Self { room, packets, limit, on_wire: 0, delays: QueueDelays::new() }
    }

    /// Returns the number of packets in the ring.
    pub(crate) fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// Takes packets from the discipline with `take` until the ring is full.
    pub(crate) fn fill(&mut self, now: Instant, mut take: impl FnMut() -> Option<(Packet, bool)>) {
        while self.packets.len() < self.room
            && self.limit.as_ref().is_none_or(ByteLimit::has_room)
            && let Some((packet, is_corrupted)) = take()
        {
            if let Some(limit) = &mut self.limit {
                limit.comes(packet.len());
            }
            self.packets.push_back((now, packet, is_corrupted));
        }
    }

    /// Returns the next packet to send, and fills the place that it leaves. The packet before it is complete.
    pub(crate) fn take(
        &mut self,
        now: Instant,
        mut take: impl FnMut() -> Option<(Packet, bool)>,
    ) -> Option<(Packet, bool)> {
        if let Some(limit) = self.limit.as_mut().filter(|_| self.on_wire > 0) {
            limit.completes(now, std::mem::take(&mut self.on_wire));
        }
        if self.packets.is_empty() {
            self.fill(now, &mut take);
        }
        let (since, packet, is_corrupted) = self.packets.pop_front()?;
        self.delays.record(now.since(since));
        self.on_wire = packet.len();
        self.fill(now, take);
        Some((packet, is_corrupted))
    }
}
