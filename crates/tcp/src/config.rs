//! What an endpoint is told once.

use crate::{Cc, SeqNumber};

/// "No threshold yet": slow start ends at the first congestion, or when HyStart says so.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Which Linux the endpoint behaves as.
///
/// Not modelled in either: undo of a spurious timeout by F-RTO, DSACK or Eifel, tail loss probes and RACK's reordering
/// window, FACK's early marking, and slow start after idle.
///
/// This is the one list of the differences that are modelled; "growth" is that of the congestion window.
///
/// | | `Linux3_10` (2013: what the papers ran) | `Linux6` |
/// |---|---|---|
/// | growth counts | ACKs (each as one segment) | segments delivered |
/// | slow start while | cwnd ≤ ssthresh | cwnd < ssthresh, and stops at ssthresh exactly |
/// | linear growth | one segment after `cnt` + 1 ACKs | one segment per `cnt` segments, fractions kept |
/// | CUBIC's `cnt` | divided by the measured segments per ACK, at least 1 | at least 2 (1.5× a round trip) |
/// | HyStart's delay step | delay_min / 16 | delay_min / 8 |
/// | HyStart's train of ACKs | delay_min / 2 | (delay_min + 1 ms) / 2 |
/// | quick ACKs while the receive window grows | from the first segment; to twice a round trip's data | from the first round trip on; to several times that |
/// | ACKs of data out of order | each at once | three at once, then one a twentieth of an RTT, a millisecond at most |
/// | no quick ACKs once we have answered | one question | three |
/// | PRR below ssthresh | one segment extra on every ACK (RFC 6937 SSRB) | only if the ACK advances and shows no new loss (RFC 9937), else CRB |
/// | PSH | never | on the last segment of those that leave as one packet for segmentation offload; acknowledged at once |
/// | a SYN sent again | still asks for ECN | no longer asks (RFC 3168, 6.1.1.1) |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stack {
    /// Linux 3.10.
    Linux3_10,
    /// Linux 6.
    #[default]
    Linux6,
}

impl Stack {
    /// Every stack.
    pub const ALL: &'static [Self] = &[Self::Linux3_10, Self::Linux6];

    /// The word in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux3_10 => "linux-3.10",
            Self::Linux6 => "linux-6.x",
        }
    }

    /// The stack that `name` names.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stack| stack.name() == name)
    }
}

/// One endpoint's settings; [`Config::default`] is a present-day Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Congestion control.
    pub cc: Cc,
    /// Which Linux.
    pub stack: Stack,
    /// Ask for, or agree to, ECN (RFC 3168).
    pub ecn: bool,
    /// Pace what is sent, as Linux's TCP does where a socket asks for it; some congestion controls always do.
    pub pacing: bool,
    /// Estimate the delivery rate, as `ss` shows it; some congestion controls always do.
    pub delivery_rate: bool,
    /// What a congestion control that draws draws from: connections of one run get different numbers.
    pub random: u32,
    /// Payload bytes of a full segment; 1448 fills a 1514 byte Ethernet frame with timestamps on.
    pub mss: u16,
    /// First congestion window in segments (RFC 6928).
    pub initial_window: u32,
    /// First slow-start threshold in segments.
    pub initial_ssthresh: u32,
    /// The most that the receive window may grow to, in bytes: half of the last number in Linux's `tcp_rmem`. Raised to two
    /// full segments where it is smaller.
    pub receive_window: u32,
    /// Sequence number of the SYN; fixed, because nobody attacks a simulation.
    pub initial_sequence: SeqNumber,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cc: Cc::Cubic,
            stack: Stack::default(),
            ecn: false,
            pacing: false,
            delivery_rate: false,
            random: 0,
            mss: 1448,
            initial_window: 10,
            initial_ssthresh: INFINITE_SSTHRESH,
            receive_window: 1 << 30,
            initial_sequence: SeqNumber(0),
        }
    }
}
