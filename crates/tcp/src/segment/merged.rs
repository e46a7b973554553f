//! Segments that a card has merged, and how they come apart.

use super::{Flags, IP_HEADERS, SackBlock, Segment};
use crate::SeqNumber;

impl Segment {
    /// Returns the number of segments that are merged in this one, or 1.
    #[inline]
    #[must_use]
    pub const fn parts(&self) -> u32 {
        if self.flags.contains(Flags::MERGED) { self.sack[0].end.0 } else { 1 }
    }

    /// Returns the payload bytes of each merged segment except the last, which may be shorter (Linux's `gso_size`). Of
    /// a single segment it is its payload.
    #[must_use]
    pub const fn part_len(&self) -> u16 {
        if self.flags.contains(Flags::MERGED) { self.sack[0].start.0 as u16 } else { self.payload_len }
    }

    /// Returns this segment with the payload of `next`, if Linux's generic receive offload (GRO) merges the two.
    /// Source: Linux 6.1, `tcp_gro_receive`, `inet_gro_receive` and `skb_gro_receive`. Both carry data. `next` is the
    /// next in order and not longer than the first part. Its ACK, window, options and codepoints are the same, and
    /// so are its flags, except that it may end the whole by PSH or FIN and has no CWR. The IP packet stays below
    /// 64 KiB. (17 fragments are no limit since 3.13: further segments are chained.)
    #[must_use]
    pub fn join(&self, next: &Self) -> Option<Self> {
        const ENDS: Flags = Flags(Flags::FIN.0 | Flags::PSH.0);
        let unlike = Flags(self.flags.0 ^ next.flags.0);
        let ignored = Flags(ENDS.0 | Flags::CWR.0 | Flags::MERGED.0);
        let fits = next.payload_len > 0
            && next.payload_len <= self.part_len()
            && next.seq == self.seq + u32::from(self.payload_len)
            && (next.ack, next.window) == (self.ack, self.window)
            && (next.tsval, next.tsecr) == (self.tsval, self.tsecr)
            && (next.ecn, next.dscp) == (self.ecn, self.dscp)
            && next.accecn() == self.accecn()
            && unlike.without(ignored) == Flags::NONE
            && !next.flags.contains(Flags::CWR)
            && u32::from(self.payload_len) + u32::from(next.payload_len) + IP_HEADERS <= u16::MAX.into();
        fits.then(|| {
            let note =
                SackBlock { start: SeqNumber(self.part_len().into()), end: SeqNumber(self.parts() + 1) };
            let flags = self.flags | Flags::MERGED | (next.flags & ENDS);
            let payload_len = self.payload_len + next.payload_len;
            Self { flags, payload_len, sack: [note, self.sack[1], self.sack[2]], ..*self }
        })
    }

    /// Returns this segment with the payload of `next`, if the two leave their host as one packet: the rest of a packet
    /// for segmentation offload. A packet with a [departure time](Self::departure) stays in parts, each of which has
    /// that time.
    #[must_use]
    pub fn join_departing(&self, next: &Self) -> Option<Self> {
        if self.departure().is_some() { None } else { self.join(next) }
    }

    /// Returns whether nothing can follow this segment in a merged one (`tcp_gro_receive`).
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        let parts_full = self.parts() * self.part_len() as u32 == self.payload_len as u32;
        let ends = Flags(Flags::SYN.0 | Flags::FIN.0 | Flags::PSH.0);
        self.payload_len == 0 || !parts_full || self.flags.intersects(ends)
    }

    /// Returns the merged segment at place `part`, from 0. Only the first has CWR, and only the last FIN and PSH
    /// (Linux's `tcp_gso_segment`).
    #[must_use]
    pub fn part(&self, part: u32) -> Self {
        let parts = self.parts();
        if parts == 1 {
            return *self;
        }
        let before = part * u32::from(self.part_len());
        let rest = (u32::from(self.payload_len) - before) as u16;
        let others = Flags::CWR.when(part > 0) | (Flags::FIN | Flags::PSH).when(part + 1 < parts);
        let flags = self.flags.without(Flags::MERGED | others);
        let sack = [SackBlock::default(), self.sack[1], self.sack[2]];
        Self { seq: self.seq + before, payload_len: rest.min(self.part_len()), flags, sack, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Ecn;
    use std::vec::Vec;

    fn data(seq: u32, payload_len: u16, flags: Flags) -> Segment {
        let (tsval, window, ecn) = (7, 9, Ecn::Ect0);
        Segment {
            seq: SeqNumber(seq),
            payload_len,
            flags: flags | Flags::ACK,
            tsval,
            window,
            ecn,
            ..Segment::default()
        }
    }

    #[test]
    fn what_a_card_merges_comes_apart_as_it_was() {
        let mut seq = 5000_u32.wrapping_sub(2 * 1448); // the numbers wrap within the merged segment
        let all: Vec<Segment> =
            [(1448, Flags::CWR), (1448, Flags::NONE), (1448, Flags::NONE), (700, Flags::PSH)]
                .into_iter()
                .map(|(len, flags)| {
                    let one = data(seq, len, flags);
                    seq = seq.wrapping_add(len.into());
                    one
                })
                .collect();
        let merged = all[1..].iter().fold(all[0], |merged, next| merged.join(next).unwrap());
        assert_eq!((merged.parts(), merged.part_len(), merged.payload_len), (4, 1448, 3 * 1448 + 700));
        assert_eq!(merged.wire_len(), 3 * 1514 + 766, "each part with its headers");
        assert_eq!(merged.flags.header_bits(), 0x98, "CWR, ACK and PSH");
        assert!(merged.is_complete() && merged.sack_blocks().is_empty() && size_of::<Segment>() == 48);
        assert_eq!((0..4).map(|part| merged.part(part)).collect::<Vec<_>>(), all);
        assert_eq!((all[0].parts(), all[0].part(0)), (1, all[0]), "a single segment is its only part");
    }

    #[test]
    fn a_card_merges_what_linux_merges() {
        let first = data(1, 1448, Flags::NONE);
        let next = data(1449, 1448, Flags::NONE);
        assert!(first.join(&next).is_some() && !first.is_complete());
        for (why, other) in [
            ("a bare ACK", Segment { payload_len: 0, ..next }),
            ("a gap", Segment { seq: SeqNumber(1450), ..next }),
            ("a longer one", Segment { payload_len: 1449, ..next }),
            ("another ACK", Segment { ack: SeqNumber(3), ..next }),
            ("another window", Segment { window: 10, ..next }),
            ("a later timestamp", Segment { tsval: 8, ..next }),
            ("another echo", Segment { tsecr: 8, ..next }),
            ("a mark", Segment { ecn: Ecn::Ce, ..next }),
            ("another codepoint", Segment { dscp: 46, ..next }),
            ("an echoed mark", Segment { flags: next.flags | Flags::ECE, ..next }),
            ("CWR", Segment { flags: next.flags | Flags::CWR, ..next }),
        ] {
            assert_eq!(first.join(&other), None, "{why}");
        }
        assert!(first.join(&Segment { payload_len: 10, ..next }).unwrap().is_complete(), "a short last one");
        let mut whole = first;
        while let Some(more) =
            whole.join(&data(whole.seq.0 + u32::from(whole.payload_len), 1448, Flags::NONE))
        {
            whole = more;
        }
        assert_eq!(whole.parts(), 45, "52 bytes of headers and 45 of 1448 are an IP packet below 64 KiB");
    }
}
