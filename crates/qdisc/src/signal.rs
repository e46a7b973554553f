//! What a discipline tells its owner, and what it may ask of it.

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
    /// A control law dropped because it must, whatever the dice (RED above its upper threshold).
    Forced,
    /// The packet's time in the queue stood above the target (CoDel).
    Target,
    /// The flow's own share of the queue was used up (SFQ's depth, the fattest flow on overflow).
    Flow,
    /// A later ACK of the same connection said all that this one did (`cake ack-filter`).
    Ack,
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
}

impl Drop {
    /// All reasons, in declaration order: the index of a reason is `reason as usize`.
    pub const ALL: [Self; 7] =
        [Self::Overlimit, Self::Memory, Self::Early, Self::Forced, Self::Target, Self::Flow, Self::Ack];

    /// The reason in one word, as results print it.
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
        }
    }
}

impl Mark {
    /// All reasons, in declaration order: the index of a reason is `reason as usize`.
    pub const ALL: [Self; 4] = [Self::Early, Self::Forced, Self::Target, Self::CeThreshold];

    /// The reason in one word, as results print it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Early => "early",
            Self::Forced => "forced",
            Self::Target => "target",
            Self::CeThreshold => "ce_threshold",
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

/// The owner of a discipline: it gets every packet back that is not delivered, and it holds the dice.
///
/// One call may drop many packets, none of them the one offered, so fates are told here and not returned.
/// Every packet offered leaves exactly once: returned by `dequeue`, or handed to [`Owner::dropped`].
pub trait Owner<P> {
    /// `packet` will not be delivered.
    fn dropped(&mut self, packet: P, why: Drop);

    /// `packet` was newly set to CE and stays on its way.
    fn marked(&mut self, packet: &P, why: Mark);

    /// 16 uniform random bits; by default the low ones of 32. Only a trace, which tells how wide each draw was, cares.
    fn random_u16(&mut self) -> u16 {
        self.random_u32() as u16
    }

    /// 32 uniform random bits.
    fn random_u32(&mut self) -> u32;

    /// 64 uniform random bits.
    fn random_u64(&mut self) -> u64;
}
