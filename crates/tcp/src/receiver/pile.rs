//! The memory of packets that wait in a receiver, as Linux counts it.

use alloc::vec::Vec;

/// The most fragments of a packet (`MAX_SKB_FRAGS`).
const MOST_FRAGMENTS: u8 = 17;
/// The sender's payload lies in pages of this size. A segment that two of them share has two fragments.
const PAGE: u32 = 32 << 10;

#[derive(Clone, Copy, Debug)]
struct Packet {
    bytes: u32,
    fragments: u8,
}

/// Packets in a row. A packet joins the one before it while the fragments of both fit into one, and only its payload is
/// charged then (`tcp_try_coalesce`).
#[derive(Clone, Debug, Default)]
pub(super) struct Pile {
    packets: Vec<Packet>,
    memory: u32,
}

impl Pile {
    /// Returns a packet of `bytes` at `offset` in the stream, with `overhead` bytes of memory beside them.
    pub(super) fn packet(offset: u32, bytes: u32, overhead: u32) -> Self {
        let fragments = (offset + bytes.max(1) - 1) / PAGE - offset / PAGE + 1;
        let fragments = fragments.min(MOST_FRAGMENTS.into()) as u8;
        Self { packets: alloc::vec![Packet { bytes, fragments }], memory: bytes + overhead }
    }

    /// Returns whether there is no packet.
    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the bytes of memory.
    pub(super) fn memory(&self) -> u32 {
        self.memory
    }

    /// Returns the payload bytes of all packets but the first.
    pub(super) fn behind_first(&self) -> u32 {
        self.packets.iter().skip(1).map(|packet| packet.bytes).sum()
    }

    /// Puts `next` behind this one, packet by packet. Each has `overhead` bytes beside its payload, and joins the last
    /// one if both fit into one. Returns whether all of them do.
    pub(super) fn join(&mut self, next: &Self, overhead: u32) -> bool {
        self.memory += next.memory;
        let before = self.packets.len();
        for packet in &next.packets {
            match self.packets.last_mut() {
                Some(last) if last.fragments + packet.fragments <= MOST_FRAGMENTS => {
                    last.bytes += packet.bytes;
                    last.fragments += packet.fragments;
                    self.memory -= overhead;
                }
                _ => self.packets.push(*packet),
            }
        }
        self.packets.len() == before
    }

    /// Puts `next` behind this one. Nothing joins.
    pub(super) fn put_behind(&mut self, next: &Self) {
        self.memory += next.memory;
        self.packets.extend_from_slice(&next.packets);
    }
}
