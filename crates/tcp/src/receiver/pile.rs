//! The memory of packets that wait in a receiver, as Linux counts it.

use alloc::vec::Vec;
use core::iter;

/// The most fragments of a packet (`MAX_SKB_FRAGS`).
const MOST_FRAGMENTS: u8 = 17;
/// The sender's payload lies in pages of this size. A segment that two of them share has two fragments.
const PAGE: u32 = 32 << 10;

#[derive(Clone, Copy, Debug, Default)]
struct Packet {
    bytes: u32,
    fragments: u8,
}

/// Packets in a row. A packet joins the one before it while the fragments of both fit into one, and only its payload is
/// charged then (`tcp_try_coalesce`).
#[derive(Clone, Debug, Default)]
pub(super) struct Pile {
    /// Without fragments, if there is no packet. Apart from the others, because most piles are of one packet, and need
    /// no memory of ours then.
    first: Packet,
    others: Vec<Packet>,
    memory: u32,
}

impl Pile {
    /// Returns a packet of `bytes` at `offset` in the stream, with `overhead` bytes of memory beside them.
    pub(super) fn packet(offset: u32, bytes: u32, overhead: u32) -> Self {
        let fragments = (offset % PAGE + bytes.max(1) - 1) / PAGE + 1;
        let fragments = fragments.min(MOST_FRAGMENTS.into()) as u8;
        Self { first: Packet { bytes, fragments }, others: Vec::new(), memory: bytes + overhead }
    }

    /// Returns whether there is no packet.
    pub(super) fn is_empty(&self) -> bool {
        self.first.fragments == 0
    }

    /// Returns the bytes of memory.
    pub(super) fn memory(&self) -> u32 {
        self.memory
    }

    /// Returns the payload bytes of all packets but the first.
    pub(super) fn behind_first(&self) -> u32 {
        self.others.iter().map(|packet| packet.bytes).sum()
    }

    /// Puts `next` behind this one, packet by packet. Each has `overhead` bytes beside its payload, and joins the last
    /// one if both fit into one. Returns whether all of them do.
    pub(super) fn join(&mut self, next: &Self, overhead: u32) -> bool {
        self.memory += next.memory;
        let mut all_join = true;
        for packet in next.packets() {
            let last = self.others.last_mut().unwrap_or(&mut self.first);
            if last.fragments > 0 && last.fragments + packet.fragments <= MOST_FRAGMENTS {
                last.bytes += packet.bytes;
                last.fragments += packet.fragments;
                self.memory -= overhead;
            } else {
                self.push(packet);
                all_join = false;
            }
        }
        all_join
    }

    /// Puts `next` behind this one. Nothing joins.
    pub(super) fn put_behind(&mut self, next: &Self) {
        self.memory += next.memory;
        next.packets().for_each(|packet| self.push(packet));
    }

    fn push(&mut self, packet: Packet) {
        if self.is_empty() {
            self.first = packet;
        } else {
            self.others.push(packet);
        }
    }

    fn packets(&self) -> impl Iterator<Item = Packet> {
        iter::once(self.first).filter(|first| first.fragments > 0).chain(self.others.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: u32 = 960;

    /// Returns `count` segments in a row from `offset` on that came one by one.
    fn row(offset: u32, count: u32) -> Pile {
        let mut pile = Pile::default();
        for n in 0..count {
            pile.join(&Pile::packet(offset + 1448 * n, 1448, OVERHEAD), OVERHEAD);
        }
        pile
    }

    /// The offset wraps after 4 GiB. A segment over that border has two fragments, as at the border of any page.
    #[test]
    fn a_segment_may_lie_over_the_wrap_of_the_stream() {
        for border in [PAGE, 0] {
            let packet = Pile::packet(border.wrapping_sub(100), 1448, OVERHEAD);
            assert_eq!(packet.first.fragments, 2);
        }
    }

    /// A packet has 17 fragments at most, and the first 18 segments lie within the first page. Guards against a pile
    /// that takes a segment's overhead for each, or for all of them once.
    #[test]
    fn seventeen_segments_are_one_packet() {
        let of = |count| (row(0, count).memory() - 1448 * count) / OVERHEAD;
        assert_eq!((of(0), of(1), of(17), of(18)), (0, 1, 1, 2));
        assert_eq!(row(0, 18).behind_first(), 1448);
    }

    /// 32 768 bytes are 22.6 segments: the 23rd has two fragments. 16 whole segments and the 23rd do not fit into one
    /// packet, 15 and the 23rd do.
    #[test]
    fn a_segment_that_two_pages_share_has_two_fragments() {
        let fragments = |n: u32| Pile::packet(n * 1448, 1448, OVERHEAD).first.fragments;
        assert_eq!((fragments(21), fragments(22), fragments(23)), (1, 2, 1));
        assert_eq!(row(6 * 1448, 16).packets().count(), 1);
        assert_eq!(row(6 * 1448, 17).packets().count(), 2);
        assert_eq!(row(7 * 1448, 16).packets().count(), 1, "15 whole segments and the shared one");
    }

    /// Packets of nine and of nine segments do not fit into one. Nine and eight do, and the overhead of one is given
    /// back.
    #[test]
    fn packets_join_as_a_whole() {
        for (segments, joins, packets) in [(9, false, 2), (8, true, 1)] {
            let mut pile = row(0, 9);
            assert_eq!(pile.join(&row(9 * 1448, segments), OVERHEAD), joins);
            assert_eq!(pile.memory(), (9 + segments) * 1448 + packets * OVERHEAD);
        }
        let mut pile = row(0, 9);
        pile.put_behind(&row(9 * 1448, 1));
        assert_eq!((pile.memory(), pile.behind_first()), (10 * 1448 + 2 * OVERHEAD, 1448), "nothing joins");
    }
}
