//! A discipline's reports to its owner, and the random numbers that it asks for.

use crate::ip::IpHeader;
use crate::packet::Packet;
use core::fmt;

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Drop {
    /// The queue's limit in packets or bytes was reached.
    Overlimit,
    /// The limit on memory was reached.
    Memory,
    /// A control law dropped at random, at a probability below one (RED, PIE).
    Early,
    /// A control law dropped the packet in any case, without the dice (RED above its upper threshold).
    Forced,
    /// The packet's time in the queue had stayed above the target (CoDel).
    Target,
    /// The flow's own share of the queue was used up (SFQ's depth, the fattest flow on overflow).
    Flow,
    /// A later ACK of the same connection says all that this ACK says (`cake ack-filter`).
    Ack,
    /// The discipline plays a path that loses packets (`netem loss`).
    Loss,
    /// A Wi-Fi driver held the packet for longer than a frame's lifetime (802.11), and had not sent it yet.
    Lifetime,
}

/// Why a packet was set to CE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// As [`Drop::Early`], for an ECN-capable packet.
    Early,
    /// As [`Drop::Forced`], for an ECN-capable packet.
    Forced,
    /// As [`Drop::Target`], for an ECN-capable packet.
    Target,
    /// The packet's time in the queue exceeded `ce_threshold`.
    CeThreshold,
    /// As [`Drop::Loss`], for an ECN-capable packet (`netem ecn`).
    Loss,
}

impl Drop {
    /// All reasons, in declaration order: the index of a reason is `reason as usize`.
    pub const ALL: [Self; 9] = [
        Self::Overlimit,
        Self::Memory,
        Self::Early,
        Self::Forced,
        Self::Target,
        Self::Flow,
        Self::Ack,
        Self::Loss,
        Self::Lifetime,
    ];

    /// Returns the reason in one word, as results print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Overlimit => "overlimit",
            Self::Memory => "memory",
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Target => "target",
            Self::Flow => "flow",
            Self::Ack => "ack",
            Self::Loss => "loss",
            Self::Lifetime => "lifetime",
        }
    }
}

impl Mark {
    /// All reasons, in declaration order: the index of a reason is `reason as usize`.
    pub const ALL: [Self; 5] = [Self::Early, Self::Forced, Self::Target, Self::CeThreshold, Self::Loss];

    /// Returns the reason in one word, as results print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Target => "target",
            Self::CeThreshold => "ce_threshold",
            Self::Loss => "loss",
        }
    }
}

impl fmt::Display for Drop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The bit of a frame that `netem corrupt` has flipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flipped {
    /// The place of the byte, as a share of the frame in units of 2^-32. Linux draws it so (`prandom_u32_max`), and a
    /// packet that consists of several frames has the bit in its first frame.
    pub place: u32,
    /// The bit in this byte, 0 to 7. 0 is the lowest.
    pub bit: u32,
}

impl Flipped {
    /// Returns the index of the byte in a frame of `len` bytes, which begins with the destination's MAC address.
    #[must_use]
    pub fn byte(self, len: u32) -> u32 {
        ((u64::from(self.place) * u64::from(len)) >> 32) as u32
    }
}

/// The owner of a discipline. It gets back every packet that is not delivered, and it holds the dice.
///
/// Drops and marks are reported through these calls and not as return values: one call may drop many packets, and
/// perhaps not the offered one. Every offered packet leaves exactly once: `dequeue` returns it, or [`Owner::dropped`]
/// gets it.
pub trait Owner<P> {
    /// Takes back `packet`, which will not be delivered.
    fn dropped(&mut self, packet: P, why: Drop);

    /// Reports that `packet` was newly set to CE. The packet stays in the discipline's hands.
    fn marked(&mut self, packet: &P, why: Mark);

    /// Returns a copy of `packet`, for a discipline that duplicates packets (`netem duplicate`). The copy counts as
    /// offered: it leaves exactly once, too. `None`: this owner's packets cannot be copied (the default), and nothing
    /// is duplicated.
    fn duplicated(&mut self, packet: &P) -> Option<P> {
        let _ = packet;
        None
    }

    /// Reports that a bit of `packet` was `flipped` (`netem corrupt`). It is the next packet that the outermost
    /// discipline returns. The link sends it. Whether its receiver accepts it is the owner's to say, who knows the
    /// headers. The default ignores this: the packet is delivered whole.
    fn corrupted(&mut self, packet: &P, flipped: Flipped) {
        let _ = (packet, flipped);
    }

    /// Returns hashes of the source and the destination host of `packet`, for disciplines that share fairly between
    /// hosts (`cake`). The default asks the packet. An owner that knows the hosts of each flow overrides it, and its
    /// packets need no room for them.
    fn host_hashes(&self, packet: &P) -> (u32, u32)
    where
        P: Packet,
    {
        packet.host_hashes()
    }

    /// Returns the headers of `packet` that filters of a tree compare. The default asks the packet. An owner that knows
    /// those of each flow overrides it, as for the hashes.
    fn ip_header(&self, packet: &P) -> IpHeader
    where
        P: Packet,
    {
        packet.ip_header()
    }

    /// Returns the mark that a firewall set on `packet`, for filters and `cake fwmark`. The default asks the packet.
    fn fwmark(&self, packet: &P) -> u32
    where
        P: Packet,
    {
        packet.fwmark()
    }

    /// Returns the number that [`Owner::note_class`] was told for packets with the addresses of `packet`. `None`: it
    /// was told none, or keeps none (the default).
    fn noted_class(&self, packet: &P) -> Option<u32> {
        let _ = packet;
        None
    }

    /// Takes note of the number of the class to which a tree sorts packets with the addresses of `packet` that ask for
    /// no class themselves. It does not change before the tree does.
    fn note_class(&mut self, packet: &P, class: u32) {
        let _ = (packet, class);
    }

    /// Returns 16 uniform random bits. The default takes the low half of [`Owner::random_u32`]. Only a decision trace
    /// needs its own version, because it records how wide each draw was.
    fn random_u16(&mut self) -> u16 {
        self.random_u32() as u16
    }

    /// Returns 32 uniform random bits.
    fn random_u32(&mut self) -> u32;

    /// Returns 64 uniform random bits.
    fn random_u64(&mut self) -> u64;
}
