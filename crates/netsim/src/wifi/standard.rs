//! The parameters that a cell's standard sets: the times of medium access, and the access categories.
//!
//! Source: IEEE 802.11-2012, tables 17-2, 18-17, 19-8 and 20-25 (times) and 8-105 (access categories). The contention
//! windows are those that Linux's mac80211 sets (`net/mac80211/util.c`).

use super::mode::Mode;
use goodqueue_units::Duration;

/// A standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standard {
    /// 802.11b: 1 to 11 Mbit/s.
    B,
    /// 802.11g: up to 54 Mbit/s at 2.4 GHz.
    G,
    /// 802.11a: up to 54 Mbit/s at 5 GHz.
    A,
    /// 802.11n: several spatial streams, aggregation.
    N,
}

impl Standard {
    const ALL: [Self; 4] = [Self::B, Self::G, Self::A, Self::N];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::B => "802.11b",
            Self::G => "802.11g",
            Self::A => "802.11a",
            Self::N => "802.11n",
        }
    }
}

goodqueue_hosts::word!(Standard);

/// A frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// 2.4 GHz.
    Low,
    /// 5 GHz.
    High,
}

impl Band {
    const ALL: [Self; 2] = [Self::Low, Self::High];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Low => "2.4ghz",
            Self::High => "5ghz",
        }
    }
}

goodqueue_hosts::word!(Band);

/// An access category (EDCA), least urgent first. A cell without QoS has only [`Category::BestEffort`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE.
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl Category {
    pub(crate) const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// Returns the name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::BestEffort => "best effort",
            Self::Video => "video",
            Self::Voice => "voice",
        }
    }

    /// Returns the category of packets with this DSCP, as Linux maps it: the upper three bits are the user priority.
    pub(crate) fn of(dscp: u8) -> Self {
        match dscp >> 3 {
            1 | 2 => Self::Background,
            0 | 3 => Self::BestEffort,
            4 | 5 => Self::Video,
            _ => Self::Voice,
        }
    }
}

/// How a category contends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    /// AIFSN: the slots after SIFS before the backoff counts down.
    pub(crate) aifsn: u32,
    pub(crate) cw_min: u32,
    pub(crate) cw_max: u32,
    /// How long the category may send once it has the medium (TXOP limit). Zero means one exchange.
    pub(crate) txop: Duration,
}

/// The times and overheads of frames in a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) slot: Duration,
    pub(crate) sifs: Duration,
    /// Whether a signal extension follows OFDM frames.
    pub(crate) extended: bool,
    /// Whether frames have the MAC header with QoS, and an access category.
    pub(crate) has_qos: bool,
    pub(crate) band: Band,
    standard: Standard,
}

/// The bytes around an IP packet: LLC and SNAP, FCS, and the MAC header without and with QoS.
const LLC_BYTES: u32 = 8;
const FCS_BYTES: u32 = 4;
const MAC_BYTES: [u32; 2] = [24, 26];
/// How long the sender of an HT frame waits for the start of an answer, beyond SIFS and one slot.
const HT_ANSWER_DELAY: Duration = Duration::from_micros(24);

impl Timing {
    /// Bytes of control frames.
    pub(crate) const ACK_BYTES: u32 = 14;
    pub(crate) const CTS_BYTES: u32 = 14;
    pub(crate) const RTS_BYTES: u32 = 20;
    pub(crate) const BLOCK_ACK_BYTES: u32 = 32;
    /// The mode of a CTS-to-self. Stations of 802.11b understand it.
    pub(crate) const CTS_TO_SELF: Mode = Mode::Dsss(20);

    /// Returns the timing of `standard` in `band`. `with_b` says that a station of 802.11b is near, so slots are
    /// long.
    pub(crate) fn new(standard: Standard, band: Band, with_b: bool) -> Self {
        let low = band == Band::Low;
        let is_b = standard == Standard::B;
        Self {
            slot: Duration::from_micros(if is_b || with_b { 20 } else { 9 }),
            sifs: Duration::from_micros(if low { 10 } else { 16 }),
            extended: low && !is_b,
            has_qos: standard == Standard::N,
            band,
            standard,
        }
    }

    /// Returns how `category` contends.
    pub(crate) fn access(&self, category: Category) -> Access {
        let is_b = self.standard == Standard::B;
        let (cw_min, cw_max) = (if is_b { 31 } else { 15 }, 1023);
        if !self.has_qos {
            return Access { aifsn: 2, cw_min, cw_max, txop: Duration::ZERO };
        }
        let (aifsn, cw_min, cw_max, txop_us) = match category {
            Category::Background => (7, cw_min, cw_max, 0),
            Category::BestEffort => (3, cw_min, cw_max, 0),
            Category::Video => (2, cw_min.div_ceil(2) - 1, cw_min, 3008),
            Category::Voice => (2, cw_min.div_ceil(4) - 1, cw_min.div_ceil(2) - 1, 1504),
        };
        Access { aifsn, cw_min, cw_max, txop: Duration::from_micros(txop_us) }
    }

    /// Returns the category of packets with this DSCP.
    pub(crate) fn category(&self, dscp: u8) -> Category {
        if self.has_qos { Category::of(dscp) } else { Category::BestEffort }
    }

    /// Returns the duration of a frame of `bytes` in `mode`.
    pub(crate) fn frame(&self, mode: Mode, bytes: u32) -> Duration {
        mode.duration(bytes, self.extended)
    }

    /// Returns the bytes of an MPDU with a packet of `packet_bytes`. `tc` counts 14 bytes of Ethernet header in a
    /// packet, which the MPDU does not have.
    pub(crate) fn mpdu_bytes(&self, packet_bytes: u32) -> u32 {
        packet_bytes.saturating_sub(14) + LLC_BYTES + MAC_BYTES[usize::from(self.has_qos)] + FCS_BYTES
    }

    /// Returns the duration of the answer to a frame of `mode`: a BlockAck for an aggregate, else an ACK.
    pub(crate) fn answer(&self, mode: Mode, is_aggregate: bool) -> Duration {
        self.frame(mode.control(), if is_aggregate { Self::BLOCK_ACK_BYTES } else { Self::ACK_BYTES })
    }

    /// Returns the duration of RTS and CTS before a frame of `mode`, each with the SIFS after it.
    pub(crate) fn rts_cts(&self, mode: Mode) -> Duration {
        self.rts(mode) + self.sifs + self.frame(mode.control(), Self::CTS_BYTES) + self.sifs
    }

    /// Returns the duration of the RTS before a frame of `mode`.
    pub(crate) fn rts(&self, mode: Mode) -> Duration {
        self.frame(mode.control(), Self::RTS_BYTES)
    }

    /// Returns the duration of a CTS-to-self with the SIFS after it, in a mode that stations of 802.11b understand.
    pub(crate) fn cts_to_self(&self) -> Duration {
        self.frame(Self::CTS_TO_SELF, Self::CTS_BYTES) + self.sifs
    }

    /// Returns how long after its frame of `mode` a sender gives up waiting for an answer.
    pub(crate) fn answer_timeout(&self, mode: Mode) -> Duration {
        let start = match mode {
            Mode::Ht(_) => HT_ANSWER_DELAY,
            other => other.preamble(),
        };
        self.sifs + self.slot + start
    }
}
