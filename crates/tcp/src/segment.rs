//! The segment: a TCP header with its options, without the bytes of its payload.

use crate::SeqNumber;
use core::fmt;
use core::ops::{BitAnd, BitOr, BitOrAssign};
use goodqueue_units::{Duration, Ecn, Instant};

/// Ethernet 14, IPv4 20, TCP 20: the bytes of headers without options, as `tc` counts them.
const HEADERS: u32 = 54;
/// IPv4 20, TCP 20, timestamps 12.
const IP_HEADERS: u32 = 52;
/// MSS 4, SACK-permitted 2, timestamps 10, window scale 3, one NOP.
const SYN_OPTIONS: u32 = 20;
/// Timestamps 10 and two NOPs (RFC 7323, appendix A).
const TIMESTAMPS: u32 = 12;

/// Control bits, as they stand in the header (RFC 9293, section 3.1; RFC 3168, section 6.1).
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// No bit.
    pub const NONE: Self = Self(0);
    /// The sender has no more data.
    pub const FIN: Self = Self(0x01);
    /// Opens a connection.
    pub const SYN: Self = Self(0x02);
    /// Several segments that a card has merged: see [`Segment::join`]. It has RST's place, which no segment uses, and
    /// does not stand in a header.
    pub(crate) const MERGED: Self = Self(0x04);
    /// The last segment of a burst: the receiver need not wait for a second segment before it acknowledges.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// The third bit of AccECN's counter (RFC 9768, 3.1). In the header it is bit 8; here it has URG's place, which no
    /// segment uses.
    pub const AE: Self = Self(0x20);
    /// ECN echo: the receiver saw CE.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced: the sender heard the echo.
    pub const CWR: Self = Self(0x80);

    /// The three bits of AccECN's counter, the highest first: AE, CWR, ECE (RFC 9768, 3.1).
    pub const ACE: Self = Self(Self::AE.0 | Self::CWR.0 | Self::ECE.0);

    /// Returns whether all of `flags` are set.
    #[inline]
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Returns whether any of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// Returns the bits as they stand in the header: the low twelve bits of the upper half of its fourth word (RFC
    /// 9293, 3.1).
    #[must_use]
    pub const fn header_bits(self) -> u16 {
        let ae = self.0 & Self::AE.0;
        (self.0 & !(Self::AE.0 | Self::MERGED.0)) as u16 | (ae as u16) << 3
    }

    /// Returns `self` without `flags`.
    const fn without(self, flags: Self) -> Self {
        Self(self.0 & !flags.0)
    }

    /// Returns `self` if `condition`, and no flag otherwise.
    #[inline]
    pub(crate) const fn when(self, condition: bool) -> Self {
        if condition { self } else { Self::NONE }
    }
}

impl BitOr for Flags {
    type Output = Self;
    #[inline]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Flags {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (Self::MERGED, 'M'),
            (Self::SYN, 'S'),
            (Self::FIN, 'F'),
            (Self::PSH, 'P'),
            (Self::ACK, '.'),
            (Self::ECE, 'E'),
            (Self::CWR, 'W'),
            (Self::AE, 'A'),
        ];
        for (flag, letter) in named {
            if self.contains(flag) {
                write!(f, "{letter}")?;
            }
        }
        Ok(())
    }
}

/// Bytes `start..end` that the receiver holds out of order (RFC 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first byte.
    pub start: SeqNumber,
    /// The byte after the last.
    pub end: SeqNumber,
}

/// One TCP segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of SYN, or of FIN if there is no payload.
    pub seq: SeqNumber,
    /// Next byte expected from the peer, if [`Flags::ACK`] is set.
    pub ack: SeqNumber,
    /// The sender's clock (RFC 7323, section 3), in milliseconds, from 1.
    pub tsval: u32,
    /// The peer's clock as last heard. 0 on a SYN.
    pub tsecr: u32,
    /// Receive window as in the header: shifted by the shift of the peer's SYN, except on a SYN itself.
    pub window: u16,
    /// Bytes of payload.
    pub payload_len: u16,
    /// Control bits.
    pub flags: Flags,
    /// The number of blocks in `sack`.
    pub sack_len: u8,
    /// ECN codepoint of the segment's IP header.
    pub ecn: Ecn,
    /// Differentiated services codepoint of the IP header. A connection sends 0; the caller that puts the segment on
    /// the wire may set it.
    pub dscp: u8,
    /// SACK blocks: first a DSACK (RFC 2883), if there is one, then the blocks, the most recent first. There are at
    /// most three, because the timestamps leave no room for a fourth. A SYN has its options here: see
    /// [`Segment::syn_options`]. Merged segments have here what [`Segment::part`] needs.
    pub sack: [SackBlock; 3],
}

/// The options of a SYN, besides SACK and timestamps, which it always has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SynOptions {
    /// Bytes of payload and options of the largest segment that the sender of the SYN accepts: with timestamps, 12 more
    /// than its payload (RFC 6691).
    pub mss: u16,
    /// Bits by which its windows are shifted (RFC 7323, section 2), at most 14.
    pub window_shift: u8,
}

/// Returns the clock of the timestamps at `now`: in milliseconds, as Linux's, and from 1, because 0 means no timestamp.
#[inline]
#[must_use]
pub(crate) const fn timestamp(now: Instant) -> u32 {
    (now.as_nanos() / 1_000_000) as u32 + 1
}

/// Returns the round trip that the echo `tsecr` of our clock shows at `now`, at least 1 ms (RFC 7323, section 4.1).
pub(crate) fn echo_rtt(now: Instant, tsecr: u32) -> Option<Duration> {
    let ms = timestamp(now).wrapping_sub(tsecr);
    (tsecr != 0 && ms < 1 << 31).then(|| Duration::from_millis(ms.max(1).into()))
}

impl Segment {
    /// Returns the bytes on Ethernet, as `tc` counts them: 1514 for a full segment of MSS 1448, 66 for a bare ACK, 74
    /// for a SYN. Merged segments count with the headers of each (Linux's `qdisc_pkt_len_init`).
    #[inline]
    #[must_use]
    pub const fn wire_len(&self) -> u32 {
        // One comparison for nearly all segments (instructions): the length is needed several times per packet.
        const UNUSUAL: u16 = u16::from_le_bytes([Flags::SYN.0 | Flags::MERGED.0, u8::MAX]);
        if u16::from_le_bytes([self.flags.0, self.sack_len]) & UNUSUAL == 0 {
            return HEADERS + TIMESTAMPS + self.payload_len as u32;
        }
        if self.flags.contains(Flags::MERGED) {
            return self.parts() * (HEADERS + TIMESTAMPS) + self.payload_len as u32;
        }
        let options = if self.flags.contains(Flags::SYN) {
            SYN_OPTIONS
        } else {
            TIMESTAMPS + 4 + 8 * self.sack_len as u32 // two NOPs, kind, length, blocks
        };
        HEADERS + options + self.payload_len as u32
    }

    /// Returns the sequence space taken: payload, SYN and FIN.
    #[inline]
    #[must_use]
    pub const fn seq_len(&self) -> u32 {
        self.payload_len as u32
            + self.flags.contains(Flags::SYN) as u32
            + self.flags.contains(Flags::FIN) as u32
    }

    /// Returns the SYN with `options`. A SYN has no SACK blocks, so the options stand in their place.
    #[must_use]
    pub fn with_syn_options(mut self, options: SynOptions) -> Self {
        self.sack[0] =
            SackBlock { start: SeqNumber(options.mss.into()), end: SeqNumber(options.window_shift.into()) };
        self
    }

    /// Returns the options of a SYN.
    #[must_use]
    pub fn syn_options(&self) -> Option<SynOptions> {
        let SackBlock { start, end } = self.sack[0];
        let options = SynOptions { mss: start.0 as u16, window_shift: (end.0 as u8).min(14) };
        self.flags.contains(Flags::SYN).then_some(options)
    }

    /// Returns the SACK blocks of the segment.
    #[inline]
    #[must_use]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_len.min(3))]
    }

    /// Returns the segment as the queue of its sender's host gets it, which lets it leave at `departure` (Linux's
    /// earliest departure time, EDT). Its timestamp shows that time (`tcp_skb_timestamp_ts`). Only a segment that takes
    /// sequence numbers has one, since it has no SACK blocks: the time stands in place of the last block.
    #[must_use]
    pub fn leaving_at(mut self, departure: Instant) -> Self {
        if self.seq_len() > 0 {
            let nanos = departure.as_nanos();
            self.tsval = timestamp(departure);
            self.sack[2] = SackBlock { start: SeqNumber((nanos >> 32) as u32), end: SeqNumber(nanos as u32) };
        }
        self
    }

    /// Returns when the queue of its sender's host lets the segment leave. `None`: no such queue was told.
    #[must_use]
    pub fn departure(&self) -> Option<Instant> {
        let SackBlock { start, end } = self.sack[2];
        let nanos = u64::from(start.0) << 32 | u64::from(end.0);
        (self.seq_len() > 0 && nanos > 0).then(|| Instant::from_nanos(nanos))
    }

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
    /// next in order and not longer than the first part. Its ACK, window, timestamps and codepoints are the same, and
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
            && unlike.without(ignored) == Flags::NONE
            && !next.flags.contains(Flags::CWR)
            && u32::from(self.payload_len) + u32::from(next.payload_len) + IP_HEADERS <= u16::MAX.into();
        fits.then(|| {
            let note =
                SackBlock { start: SeqNumber(self.part_len().into()), end: SeqNumber(self.parts() + 1) };
            let flags = self.flags | Flags::MERGED | (next.flags & ENDS);
            let payload_len = self.payload_len + next.payload_len;
            Self { flags, payload_len, sack: [note, SackBlock::default(), SackBlock::default()], ..*self }
        })
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
        let sack = [SackBlock::default(); 3];
        Self { seq: self.seq + before, payload_len: rest.min(self.part_len()), flags, sack, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::vec::Vec;

    #[test]
    fn lengths_are_those_that_tc_sees() {
        let bare = Segment { flags: Flags::ACK, ..Segment::default() };
        assert_eq!(bare.wire_len(), 66);
        assert_eq!(Segment { payload_len: 1448, ..bare }.wire_len(), 1514);
        assert_eq!(Segment { flags: Flags::SYN, ..bare }.wire_len(), 74);
        assert_eq!(Segment { flags: Flags::SYN | Flags::ACK, ..bare }.wire_len(), 74);
        assert_eq!(Segment { sack_len: 1, ..bare }.wire_len(), 78);
        assert_eq!(Segment { sack_len: 3, ..bare }.wire_len(), 94);
    }

    #[test]
    fn a_segment_stays_small_because_the_simulator_copies_it() {
        assert!(size_of::<Segment>() <= 48 && size_of::<Option<Segment>>() == 48);
        assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK | Flags::ECE), "S.E");
        let fin = Segment { payload_len: 10, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(fin.seq_len(), 11);
    }

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
