//! The memory of packets that wait in a receiver, as Linux counts it.

/// The most fragments of a packet (`MAX_SKB_FRAGS`).
const MOST_FRAGMENTS: u8 = 17;
/// The sender's payload lies in pages of this size. A segment that two of them share has two fragments.
const PAGE: u32 = 32 << 10;

/// Packets in a row. A packet joins the one before it while the fragments of both fit into one, and only its payload is
/// charged then (`tcp_try_coalesce`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pile {
    memory: u32,
    packets: u32,
    bytes: u32,
    /// Payload bytes of the first packet.
    head: u32,
    /// Fragments of the first packet, and of the last.
    first: u8,
    last: u8,
}

impl Pile {
    /// Returns a packet of `len` bytes at `offset` in the stream, with `overhead` bytes of memory beside them.
    pub(super) fn packet(offset: u32, len: u32, overhead: u32) -> Self {
        let fragments = (offset + len.max(1) - 1) / PAGE - offset / PAGE + 1;
        let fragments = fragments.min(MOST_FRAGMENTS.into()) as u8;
        Self { memory: len + overhead, packets: 1, bytes: len, head: len, first: fragments, last: fragments }
    }

    /// Returns the bytes of memory.
    pub(super) fn memory(&self) -> u32 {
        self.memory
    }

    /// Returns the payload bytes of all packets.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Returns the payload bytes of the first packet.
    pub(super) fn head(&self) -> u32 {
        self.head
    }

    /// Puts `next` behind this one. The first packet of `next` joins the last of this one if they fit into one, and each
    /// packet has `overhead` bytes beside its payload. Returns whether it joins.
    pub(super) fn join(&mut self, next: Self, overhead: u32) -> bool {
        let fits = self.packets > 0 && next.packets > 0 && self.last + next.first <= MOST_FRAGMENTS;
        if !fits {
            self.put_behind(next);
            return false;
        }
        let joined = self.last + next.first;
        self.last = if next.packets == 1 { joined } else { next.last };
        if self.packets == 1 {
            (self.first, self.head) = (joined, self.head + next.head);
        }
        self.memory += next.memory - overhead;
        self.packets += next.packets - 1;
        self.bytes += next.bytes;
        true
    }

    /// Puts `next` behind this one. Nothing joins.
    pub(super) fn put_behind(&mut self, next: Self) {
        match (self.packets, next.packets) {
            (_, 0) => return,
            (0, _) => *self = next,
            _ => {
                self.memory += next.memory;
                self.packets += next.packets;
                self.bytes += next.bytes;
                self.last = next.last;
            }
        }
    }
}
