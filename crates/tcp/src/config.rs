//! The settings of an endpoint.

use crate::{Cc, CcLine, CcOptions, EcnMode, EcnUse, OptionUse, OwnCc, SeqNumber};

/// The threshold before the first congestion: slow start ends at the first congestion, or when HyStart ends it.
pub const INFINITE_SSTHRESH: u32 = 0x7fff_ffff;

/// The TCP that the endpoint behaves as. [`Difference`](crate::Difference) lists how the stacks differ.
///
/// No stack models thin streams or path MTU discovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stack {
    /// Linux 3.10 (2013), which the papers used.
    Linux3_10,
    /// Linux 3.14 (2014).
    Linux3_14,
    /// Linux 6.1 (2022).
    #[default]
    Linux6_1,
    /// Linux 6.12 (2024).
    Linux6_12,
    /// Linux 7.3 (2026).
    Linux7_3,
    /// The RFCs of the Standards Track to the letter.
    Rfc,
}

impl Stack {
    /// Every stack.
    pub const ALL: &'static [Self] =
        &[Self::Linux3_10, Self::Linux3_14, Self::Linux6_1, Self::Linux6_12, Self::Linux7_3, Self::Rfc];

    /// Returns the stack's name in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux3_10 => "linux-3.10",
            Self::Linux3_14 => "linux-3.14",
            Self::Linux6_1 => "linux-6.1",
            Self::Linux6_12 => "linux-6.12",
            Self::Linux7_3 => "linux-7.3",
            Self::Rfc => "rfc",
        }
    }

    /// Returns the stack called `name`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|stack| stack.name() == name)
    }

    /// Returns whether this release of Linux has AccECN. Other stacks have it without its option, if a scenario asks.
    #[must_use]
    pub const fn has_accecn(self) -> bool {
        self.era().ecn.accecn_option
    }
}

/// A buffer of TCP in bytes of memory: the second and the third number of Linux's `tcp_rmem` and `tcp_wmem`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its first size.
    pub first: u32,
    /// The size up to which it grows.
    pub most: u32,
}

impl Buffer {
    /// The sender's buffer of every release of Linux on a machine with enough memory (`tcp_wmem`).
    pub const WMEM: Self = Self { first: 16_384, most: 4 << 20 };

    /// Returns the receiver's buffer of `stack` on a machine with enough memory (`tcp_rmem`).
    #[must_use]
    pub const fn rmem(stack: Stack) -> Self {
        let receiver = &stack.era().receiver;
        Self { first: receiver.rcvbuf, most: receiver.rmem_max }
    }
}

/// One endpoint's settings. [`Config::default`] is a present-day Linux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Congestion control.
    pub cc: Cc,
    /// The words of the congestion control.
    pub cc_options: CcOptions,
    /// The caller's own congestion control, if `cc` is [`Cc::Own`].
    pub own: Option<OwnCc>,
    /// The TCP to behave as.
    pub stack: Stack,
    /// The ECN feedback that a client asks for, or that a server agrees to.
    pub ecn: EcnMode,
    /// The segments on which this end sends AccECN's option, if its stack has it.
    pub accecn_option: OptionUse,
    /// Whether to pace, as Linux's TCP does if a socket asks for it. Some congestion controls always pace.
    pub pacing: bool,
    /// Whether to estimate the delivery rate, as `ss` shows it. Some congestion controls always need it.
    pub delivery_rate: bool,
    /// Seed of a congestion control's random numbers. Connections of one run get different seeds.
    pub random: u32,
    /// Payload bytes of a full segment. 1448 fills an Ethernet frame of 1514 bytes with timestamps on.
    pub mss: u16,
    /// First congestion window in segments (RFC 6928).
    pub initial_window: u32,
    /// Full segments that are acknowledged together, at most 500 ms late (RFC 5681, 4.2). `None` acknowledges as Linux
    /// does.
    pub ack_every: Option<u8>,
    /// First slow-start threshold in segments.
    pub initial_ssthresh: u32,
    /// The limit of the receive window in bytes: half of the last number in Linux's `tcp_rmem`. A limit below two full
    /// segments is raised to them.
    pub receive_window: u32,
    /// First receive buffer in bytes of memory: the second number of `tcp_rmem`. `None`: as the stack has it.
    pub first_receive_buffer: Option<u32>,
    /// The sender's buffer (`tcp_wmem`). `None`: it grows with the congestion window, without a limit.
    pub send_buffer: Option<Buffer>,
    /// An application may write while fewer bytes than this wait unsent, and is woken below half of them
    /// (`TCP_NOTSENT_LOWAT`).
    pub unsent_limit: u32,
    /// The application closes its end when it has read the peer's last byte.
    pub closes_at_end: bool,
    /// Sequence number of the SYN. It is fixed, because nobody attacks a simulation.
    pub initial_sequence: SeqNumber,
}

impl Config {
    /// Returns the congestion control with its words.
    #[must_use]
    pub fn cc_line(&self) -> CcLine {
        CcLine { cc: self.cc, options: self.cc_options, own: self.own.clone() }
    }

    /// Returns the caller's own congestion control, if the connections have it.
    fn own_cc(&self) -> Option<&OwnCc> {
        self.own.as_ref().filter(|_| self.cc == Cc::Own)
    }

    /// Returns whether its TCP has AccECN's option: that of the stack, or of the L4S team's kernel with its Prague.
    pub(crate) const fn has_accecn_option(&self) -> bool {
        self.stack.has_accecn() || (cfg!(feature = "complete") && self.cc_options.module)
    }

    /// Returns whether the congestion control is model-based.
    pub(crate) fn is_model_based(&self) -> bool {
        self.own_cc().map_or(self.cc.is_model_based(), OwnCc::is_model_based)
    }

    /// Returns how the congestion control uses ECN.
    #[must_use]
    pub fn ecn_use(&self) -> EcnUse {
        self.own_cc().map_or(self.cc.ecn_use(), OwnCc::ecn_use)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            cc: Cc::Cubic,
            cc_options: CcOptions::default(),
            own: None,
            stack: Stack::default(),
            ecn: EcnMode::Off,
            accecn_option: OptionUse::default(),
            pacing: false,
            delivery_rate: false,
            random: 0,
            mss: 1448,
            initial_window: 10,
            ack_every: None,
            initial_ssthresh: INFINITE_SSTHRESH,
            receive_window: 1 << 30,
            first_receive_buffer: None,
            send_buffer: None,
            unsent_limit: u32::MAX,
            closes_at_end: false,
            initial_sequence: SeqNumber(0),
        }
    }
}
