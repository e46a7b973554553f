//! What travels: a TCP header with its options, without the bytes of its payload.

use crate::SeqNumber;
use core::fmt;
use core::ops::{BitOr, BitOrAssign};

/// Ethernet 14, IPv4 20, TCP 20: the bytes of headers without options, as `tc` counts them.
const HEADERS: u32 = 54;
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
    /// The last segment of a burst: a receiver need not wait for a second one before it acknowledges.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN echo: the receiver saw CE.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced: the sender heard the echo.
    pub const CWR: Self = Self(0x80);

    /// Whether all of `flags` are set.
    #[inline]
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// Whether any of `flags` is set.
    #[inline]
    #[must_use]
    pub const fn intersects(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// `self` if `condition`, else nothing.
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

impl BitOrAssign for Flags {
    #[inline]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl fmt::Debug for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (Self::SYN, 'S'),
            (Self::FIN, 'F'),
            (Self::PSH, 'P'),
            (Self::ACK, '.'),
            (Self::ECE, 'E'),
            (Self::CWR, 'W'),
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
    /// Sequence number of the first byte (or of SYN, or of FIN where there is no payload).
    pub seq: SeqNumber,
    /// Next byte expected from the peer, where [`Flags::ACK`] is set.
    pub ack: SeqNumber,
    /// Receive window in bytes, already scaled.
    pub window: u32,
    /// Bytes of payload.
    pub payload_len: u16,
    /// Control bits.
    pub flags: Flags,
    /// How many of `sack` are there.
    pub sack_len: u8,
    /// SACK blocks, the most recent first; three, because the timestamps leave no room for a fourth.
    pub sack: [SackBlock; 3],
}

impl Segment {
    /// Bytes on Ethernet, as `tc` counts them: 1514 for a full segment of MSS 1448, 66 for a bare ACK, 74 for a SYN.
    #[inline]
    #[must_use]
    pub const fn wire_len(&self) -> u32 {
        let options = if self.flags.contains(Flags::SYN) {
            SYN_OPTIONS
        } else if self.sack_len == 0 {
            TIMESTAMPS
        } else {
            TIMESTAMPS + 4 + 8 * self.sack_len as u32 // two NOPs, kind, length, blocks
        };
        HEADERS + options + self.payload_len as u32
    }

    /// Sequence space taken: payload, SYN and FIN.
    #[inline]
    #[must_use]
    pub const fn seq_len(&self) -> u32 {
        self.payload_len as u32
            + self.flags.contains(Flags::SYN) as u32
            + self.flags.contains(Flags::FIN) as u32
    }

    /// The SACK blocks that are there.
    #[inline]
    #[must_use]
    pub fn sack_blocks(&self) -> &[SackBlock] {
        &self.sack[..usize::from(self.sack_len.min(3))]
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
        assert!(size_of::<Segment>() <= 40);
        assert_eq!(format!("{:?}", Flags::SYN | Flags::ACK | Flags::ECE), "S.E");
        let fin = Segment { payload_len: 10, flags: Flags::FIN | Flags::ACK, ..Segment::default() };
        assert_eq!(fin.seq_len(), 11);
    }
}
