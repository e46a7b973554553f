//! A packet as C passes it, and as a discipline holds it.

use goodqueue_qdisc::packet::{Plain, Socket};
use goodqueue_qdisc::{Packet, TcpHeader};
use goodqueue_units::{Ecn, Instant, Rate};

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

/// The C type `goodqueue_sender`. The C header describes the fields.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CSender {
    /// The socket's number.
    pub socket: u64,
    /// The earliest departure time. 0: none.
    pub departure_ns: u64,
    /// The socket's pacing rate in bit/s. 0: unlimited.
    pub pacing_bps: u64,
    /// Whether the socket is TCP's, as a C boolean.
    pub is_tcp: u8,
}

impl CSender {
    fn socket(self) -> Socket {
        Socket { id: self.socket, is_tcp: self.is_tcp != 0, pacing: Rate::from_bps(self.pacing_bps) }
    }
}

/// What is known of a packet beside its fields.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    /// Nothing.
    Nothing,
    /// Its TCP header.
    Tcp(TcpHeader),
    /// The socket of this host that sends it.
    Sender(CSender),
}

/// A queued packet, and what is known of it.
pub(crate) struct Held {
    plain: Plain,
    known: Known,
}

impl Held {
    pub(crate) fn new(packet: CPacket, known: Known) -> Self {
        let plain = Plain {
            id: packet.id,
            len: packet.len,
            flow_hash: packet.flow_hash,
            host_hashes: (packet.src_host_hash, packet.dst_host_hash),
            ecn: Ecn::from_bits(packet.ecn),
            dscp: packet.dscp & 63,
            arrival: Instant::ZERO,
        };
        Self { plain, known }
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
        if let Known::Tcp(header) = self.known { Some(header) } else { None }
    }
    fn departure(&self) -> Option<Instant> {
        match self.known {
            Known::Sender(CSender { departure_ns: ns @ 1.., .. }) => Some(Instant::from_nanos(ns)),
            _ => None,
        }
    }
    fn socket(&self) -> Option<Socket> {
        if let Known::Sender(sender) = self.known { Some(sender.socket()) } else { None }
    }
    fn arrival(&self) -> Instant {
        self.plain.arrival()
    }
    fn set_arrival(&mut self, now: Instant) {
        self.plain.set_arrival(now);
    }
}
