//! The segment: a TCP header with its options, without the bytes of its payload.

use crate::SeqNumber;
use core::fmt;
use core::ops::{BitAnd, BitOr, BitOrAssign};
use goodqueue_units::{Duration, Ecn, Instant};

mod accecn;
mod merged;

pub use accecn::AccEcnOption;

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

impl SackBlock {
    /// Returns whether no byte lies between `self` and `other`.
    pub(crate) fn touches(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    /// Returns all from the first byte of both to the last.
    pub(crate) fn join(self, other: Self) -> Self {
        Self { start: self.start.earlier(other.start), end: self.end.later(other.end) }
    }
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
    /// The number of blocks in `sack`, and above it whether there is AccECN's option: see [`Segment::accecn`].
    pub sack_len: u8,
    /// ECN codepoint of the segment's IP header.
    pub ecn: Ecn,
    /// Differentiated services codepoint of the IP header. A connection sends 0; the caller that puts the segment on
    /// the wire may set it.
    pub dscp: u8,
    /// SACK blocks: first a DSACK (RFC 2883), if there is one, then the blocks, the most recent first. There are at
    /// most three, because the timestamps leave no room for a fourth. A SYN has its options here: see
    /// [`Segment::syn_options`]. Merged segments have here what [`Segment::part`] needs. AccECN's option stands in the
    /// place of the last two, or of the last one.
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
            return self.parts() * (HEADERS + TIMESTAMPS + self.accecn_len()) + self.payload_len as u32;
        }
        let options = if self.flags.contains(Flags::SYN) {
            SYN_OPTIONS
        } else {
            match self.blocks() as u32 {
                0 => TIMESTAMPS,
                blocks => TIMESTAMPS + 4 + 8 * blocks, // two NOPs, kind, length, blocks
            }
        };
        HEADERS + options + self.accecn_len() + self.payload_len as u32
    }

    /// Returns the sequence space taken: payload, SYN and FIN.
    #[inline]
    #[must_use]
    pub const fn seq_len(&self) -> u32 {
        self.payload_len as u32
            + self.flags.contains(Flags::SYN) as u32
            + self.flags.contains(Flags::FIN) as u32
    }

    /// Returns whether the segment has no flags but ACK and PSH, and no options that only some segments have.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        (self.flags | Flags::PSH) == (Flags::ACK | Flags::PSH) && self.sack_len == 0
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
        &self.sack[..self.blocks()]
    }

    /// Returns the segment as the queue of its sender's host gets it, which lets it leave at `departure` (Linux's
    /// earliest departure time, EDT). Its timestamp shows that time (`tcp_skb_timestamp_ts`). Only a segment that takes
    /// sequence numbers has one, since it has no SACK blocks: the time stands in place of the first block.
    #[must_use]
    pub fn leaving_at(mut self, departure: Instant) -> Self {
        if self.has_departure() {
            let nanos = departure.as_nanos();
            self.tsval = timestamp(departure);
            self.sack[0] = SackBlock { start: SeqNumber((nanos >> 32) as u32), end: SeqNumber(nanos as u32) };
        }
        self
    }

    /// Returns when the queue of its sender's host lets the segment leave. `None`: no such queue was told.
    #[must_use]
    pub fn departure(&self) -> Option<Instant> {
        let SackBlock { start, end } = self.sack[0];
        let nanos = u64::from(start.0) << 32 | u64::from(end.0);
        (self.has_departure() && nanos > 0).then(|| Instant::from_nanos(nanos))
    }

    fn has_departure(&self) -> bool {
        self.seq_len() > 0 && !self.flags.intersects(Flags(Flags::SYN.0 | Flags::MERGED.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

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
}
