//! What a queue discipline may ask of a packet.

use goodqueue_units::{Ecn, Instant};

/// A packet, as a queue discipline sees it. Simulators implement it for a small `Copy` value, a gateway for a buffer.
#[allow(clippy::len_without_is_empty)] // a packet is never empty
pub trait Packet {
    /// Length in bytes as `tc` counts it: on Ethernet with the link header, without preamble and checksum.
    fn len(&self) -> u32;

    /// The ECN codepoint.
    fn ecn(&self) -> Ecn;

    /// Sets the codepoint to CE. A discipline calls it only where [`Ecn::is_capable`] holds.
    fn set_ce(&mut self);

    /// A 32-bit hash of the flow; already salted, since disciplines draw no salt of their own.
    fn flow_hash(&self) -> u32;

    /// The differentiated services codepoint, 0 to 63.
    fn dscp(&self) -> u8;

    /// When the packet was offered to the discipline; what sojourn times are measured from (RFC 8289, 4.2).
    fn arrival(&self) -> Instant;

    /// Notes the arrival; called once by the discipline that takes the packet in.
    fn set_arrival(&mut self, now: Instant);
}

/// The smallest useful packet: for tests, examples and benchmarks, and to show how little is needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// Length in bytes.
    pub len: u32,
    /// ECN codepoint.
    pub ecn: Ecn,
    /// Hash of the flow.
    pub flow_hash: u32,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// When it was offered.
    pub arrival: Instant,
    /// Whatever the owner wants to know it by.
    pub id: u64,
}

impl Plain {
    /// A Not-ECT packet of `len` bytes, flow 0.
    #[must_use]
    pub fn new(len: u32) -> Self {
        Self { len, ..Self::default() }
    }
}

impl Packet for Plain {
    fn len(&self) -> u32 {
        self.len
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ce(&mut self) {
        self.ecn = Ecn::Ce;
    }
    fn flow_hash(&self) -> u32 {
        self.flow_hash
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.arrival = now;
    }
}
