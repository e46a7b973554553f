//! What an endpoint is told once.

use crate::{Cc, CcLine, CcOptions, EcnMode, SeqNumber};

/// "No threshold yet": slow start ends at the first congestion, or when HyStart says so.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// Which TCP the endpoint behaves as. [`Difference`](crate::Difference) lists how they differ.
///
/// Not modelled in any: thin streams, and path MTU discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stack {
    /// Linux 3.10 (2013: what the papers ran).
    Linux3_10,
    /// Linux 3.14 (2014).
    Linux3_14,
    /// Linux 6.
    #[default]
    Linux6,
    /// The RFCs of the Standards Track to the letter.
    Rfc,
}

impl Stack {
    /// Every stack.
    pub const ALL: &'static [Self] = &[Self::Linux3_10, Self::Linux3_14, Self::Linux6, Self::Rfc];

    /// The word in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux3_10 => "linux-3.10",
            Self::Linux3_14 => "linux-3.14",
            Self::Linux6 => "linux-6.x",
            Self::Rfc => "rfc",
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
    /// Its words.
    pub cc_options: CcOptions,
    /// Which TCP.
    pub stack: Stack,
    /// The ECN feedback to ask for, or to agree to.
    pub ecn: EcnMode,
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
    /// Full segments that are acknowledged together, at the most 500 ms late; none: as Linux does (RFC 5681, 4.2).
    pub ack_every: Option<u8>,
    /// First slow-start threshold in segments.
    pub initial_ssthresh: u32,
    /// The most that the receive window may grow to, in bytes: half of the last number in Linux's `tcp_rmem`. Raised to
    /// two full segments where it is smaller.
    pub receive_window: u32,
    /// Sequence number of the SYN; fixed, because nobody attacks a simulation.
    pub initial_sequence: SeqNumber,
}

impl Config {
    /// Congestion control as a line.
    #[must_use]
    pub fn cc_line(&self) -> CcLine {
        CcLine { cc: self.cc, options: self.cc_options }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cc: Cc::Cubic,
            cc_options: CcOptions::default(),
            stack: Stack::default(),
            ecn: EcnMode::Off,
            pacing: false,
            delivery_rate: false,
            random: 0,
            mss: 1448,
            initial_window: 10,
            ack_every: None,
            initial_ssthresh: INFINITE_SSTHRESH,
            receive_window: 1 << 30,
            initial_sequence: SeqNumber(0),
        }
    }
}
