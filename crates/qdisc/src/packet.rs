//! What a queue discipline may ask of a packet.

use crate::tcp::TcpHeader;
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

    /// Which flow it is of, where two are compared (CHOKe, `cake ack-filter`). A hash serves, at the price of its collisions; a kernel
    /// compares addresses and ports.
    fn flow_id(&self) -> u64 {
        self.flow_hash().into()
    }

    /// The priority, 0 to 15, that `pfifo_fast` picks a band by. By default that of the codepoint as the eight bits
    /// that were called TOS, as Linux forwards it: see [`priority_of_dscp`].
    fn priority(&self) -> u8 {
        priority_of_dscp(self.dscp())
    }

    /// Hashes of the source and the destination host, for disciplines that share fairly between hosts (`cake`). By
    /// default all packets are of one host.
    fn host_hashes(&self) -> (u32, u32) {
        (0, 0)
    }

    /// Sets the codepoint, for disciplines that clear it (`cake wash`). By default it stays what it is.
    fn set_dscp(&mut self, dscp: u8) {
        let _ = dscp;
    }

    /// The hashes of the flow and of its hosts as they are behind address translation (`cake nat`). By default no
    /// translation is known, as to Linux where a connection is not tracked.
    fn translated_from(&self) -> Option<(u32, (u32, u32))> {
        None
    }

    /// The mark that a firewall left (`cake fwmark`); 0: none.
    fn fwmark(&self) -> u32 {
        0
    }

    /// The TCP header, for `cake ack-filter`; `None`: it is not TCP, or nobody looked. By default nobody looks.
    fn tcp(&self) -> Option<TcpHeader> {
        None
    }

    /// When the packet was offered to the discipline; what sojourn times are measured from (RFC 8289, 4.2).
    fn arrival(&self) -> Instant;

    /// Notes the arrival; called once by the discipline that takes the packet in.
    fn set_arrival(&mut self, now: Instant);
}

/// The priority that Linux gives to a packet that it forwards: tc-prio(8)'s table of the TOS octet, whose bits 4 to 2
/// are the low bits of the codepoint. Only these count, so that CS1 to CS7 are best effort (0) as 0 is, AF11 is bulk
/// (2), and EF is interactive bulk (4), not interactive (6).
#[must_use]
pub const fn priority_of_dscp(dscp: u8) -> u8 {
    const BY_LOW_BITS: [u8; 8] = [0, 0, 2, 2, 6, 6, 4, 4];
    BY_LOW_BITS[(dscp & 7) as usize]
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
    /// Hashes of the source and the destination host.
    pub host_hashes: (u32, u32),
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
    fn host_hashes(&self) -> (u32, u32) {
        self.host_hashes
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.dscp = dscp;
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    fn set_arrival(&mut self, now: Instant) {
        self.arrival = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// tc-prio(8): TOS 0x10 (minimum delay) is interactive, 0x08 (maximum throughput) bulk, 0x18 interactive bulk.
    #[test]
    fn priority_follows_the_tos_octet() {
        let of_tos = |tos: u8| priority_of_dscp(tos >> 2);
        assert_eq!([0x00, 0x04, 0x08, 0x10, 0x18].map(of_tos), [0, 0, 2, 6, 4]);
        assert_eq!([46, 8, 10].map(priority_of_dscp), [4, 0, 2], "EF, CS1, AF11");
        let packet = Plain { dscp: 46, flow_hash: 7, ..Plain::new(100) };
        assert_eq!((packet.priority(), packet.flow_id()), (4, 7));
    }
}
