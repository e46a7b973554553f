//! A packet as C passes it, and as a discipline holds it.

use goodqueue_qdisc::packet::Plain;
use goodqueue_qdisc::{Packet, TcpHeader};
use goodqueue_units::{Ecn, Instant};

/// The C type `goodqueue_packet`. The C header describes the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CPacket {
    /// The caller's number of the packet.
    pub id: u64,
    /// Length in bytes.
    pub len: u32,
    /// Hash of the flow.
    pub flow_hash: u32,
    /// Hash of the source host.
    pub src_host_hash: u32,
    /// Hash of the destination host.
    pub dst_host_hash: u32,
    /// ECN codepoint.
    pub ecn: u8,
    /// Differentiated services codepoint.
    pub dscp: u8,
}

/// A queued packet, and what was read from its bytes.
pub(crate) struct Held {
    plain: Plain,
    tcp: Option<TcpHeader>,
}

impl Held {
    pub(crate) fn new(packet: CPacket, tcp: Option<TcpHeader>) -> Self {
        let plain = Plain {
            id: packet.id,
            len: packet.len,
            flow_hash: packet.flow_hash,
            host_hashes: (packet.src_host_hash, packet.dst_host_hash),
            ecn: Ecn::from_bits(packet.ecn),
            dscp: packet.dscp & 63,
            arrival: Instant::ZERO,
        };
        Self { plain, tcp }
    }
}

impl From<&Held> for CPacket {
    fn from(Held { plain, .. }: &Held) -> Self {
        Self {
            id: plain.id,
            len: plain.len,
            flow_hash: plain.flow_hash,
            src_host_hash: plain.host_hashes.0,
            dst_host_hash: plain.host_hashes.1,
            ecn: plain.ecn.bits(),
            dscp: plain.dscp,
        }
    }
}

impl Packet for Held {
    fn len(&self) -> u32 {
        self.plain.len()
    }
    fn ecn(&self) -> Ecn {
        self.plain.ecn()
    }
    fn set_ce(&mut self) {
        self.plain.set_ce();
    }
    fn flow_hash(&self) -> u32 {
        self.plain.flow_hash()
    }
    fn dscp(&self) -> u8 {
        self.plain.dscp()
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.plain.set_dscp(dscp);
    }
    fn host_hashes(&self) -> (u32, u32) {
        self.plain.host_hashes()
    }
    fn tcp(&self) -> Option<TcpHeader> {
        self.tcp
    }
    fn arrival(&self) -> Instant {
        self.plain.arrival()
    }
    fn set_arrival(&mut self, now: Instant) {
        self.plain.set_arrival(now);
    }
}
