//! The properties of a packet that a discipline may ask for.

use crate::ip::IpHeader;
use crate::tcp::TcpHeader;
use goodqueue_units::{Ecn, Instant, Rate};

/// Addresses, ports and protocol of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// The source address, as the number that its four bytes make.
    pub source: u32,
    /// The destination address.
    pub destination: u32,
    /// The protocol: 6 is TCP, 17 UDP, 1 ICMP.
    pub protocol: u8,
    /// The source port. 0: there is none.
    pub source_port: u16,
    /// The destination port.
    pub destination_port: u16,
}

/// A packet, as a queue discipline sees it. A simulator implements it for a small `Copy` value, a gateway for a
/// buffer.
#[allow(clippy::len_without_is_empty)] // a packet is never empty
pub trait Packet {
    /// Returns the length in bytes as `tc` counts it: on Ethernet with the link header, without preamble and
    /// checksum.
    fn len(&self) -> u32;

    /// Returns the length by which a limit on memory counts the packet, of which [`Packet::len`] is `len`. It is the
    /// same, except behind a size table (`stab`): the table changes what laws and shapers see, and not the packet's
    /// buffer.
    #[inline]
    fn buffered(&self, len: u32) -> u32 {
        len
    }

    /// Returns the memory that Linux counts for the packet, of which [`Packet::len`] is `len` (`truesize`). By default
    /// it is what the golden traces show: 256 bytes for the descriptor, and a buffer of a power of two that holds the
    /// packet and 384 bytes of margins.
    #[inline]
    fn memory(&self, len: u32) -> u64 {
        256 + (u64::from(self.buffered(len)) + 384).next_power_of_two()
    }

    /// Returns the ECN codepoint.
    fn ecn(&self) -> Ecn;

    /// Sets the codepoint to CE. A discipline calls it only if [`Ecn::is_capable`] holds.
    fn set_ce(&mut self);

    /// Returns a 32-bit hash of the flow. It is already salted, because disciplines draw no salt of their own.
    fn flow_hash(&self) -> u32;

    /// Returns the differentiated services codepoint (DSCP), 0 to 63.
    fn dscp(&self) -> u8;

    /// Returns the flow's identity, for disciplines that compare the flows of two packets (CHOKe, `cake ack-filter`).
    /// The default is the hash, whose collisions count as the same flow. Linux compares addresses and ports.
    fn flow_id(&self) -> u64 {
        self.flow_hash().into()
    }

    /// Returns the priority, 0 to 15, by which `pfifo_fast`, `prio` and `fq` pick a band. The default derives it from
    /// the DSCP's position in the TOS octet, as Linux does for packets that it forwards: see [`priority_of_dscp`].
    fn priority(&self) -> u8 {
        priority_of_dscp(self.dscp())
    }

    /// Returns the number by which a sender on this host may ask for a class of a tree (`SO_PRIORITY`, iptables
    /// CLASSIFY). Linux keeps it where it keeps the priority, and the default is the priority.
    fn class(&self) -> u32 {
        self.priority().into()
    }

    /// Returns the addresses and ports of IPv4, for filters of a tree. `None`: they are not known (the default).
    fn addresses(&self) -> Option<Addresses> {
        None
    }

    /// Returns the headers that filters of a tree compare. The default makes a header of IPv4 out of the addresses.
    fn ip_header(&self) -> IpHeader {
        IpHeader::of(&self.addresses().unwrap_or_default(), self.len())
    }

    /// Returns hashes of the source and the destination host, for disciplines that share fairly between hosts
    /// (`cake`). By default all packets belong to one host.
    fn host_hashes(&self) -> (u32, u32) {
        (0, 0)
    }

    /// Sets the DSCP, for disciplines that clear it (`cake wash`). By default the DSCP stays as it is.
    fn set_dscp(&mut self, dscp: u8) {
        let _ = dscp;
    }

    /// Returns the hashes of the flow and of its two hosts as they are behind address translation (`cake nat`). By
    /// default no translation is known, as in Linux for a connection that is not tracked.
    fn translated_from(&self) -> Option<(u32, (u32, u32))> {
        None
    }

    /// Returns the mark that a firewall set (`cake fwmark`). 0: none.
    fn fwmark(&self) -> u32 {
        0
    }

    /// Returns the TCP header, for `cake ack-filter`. `None`: the packet is not TCP, or its header was not parsed
    /// (the default).
    fn tcp(&self) -> Option<TcpHeader> {
        None
    }

    /// Returns what a card or a sender has merged in this packet (GRO, GSO). `None`: it is a single one (the default).
    fn merged(&self) -> Option<Merged> {
        None
    }

    /// Whether a merged packet can be taken apart ([`Packet::part`]). Otherwise the caller has done so.
    const SPLITS: bool = false;

    /// Returns the packet `number` of those that are merged in this one. `None`: there is no such packet, or the caller
    /// takes them apart (the default).
    fn part(&self, number: u32) -> Option<Self>
    where
        Self: Sized,
    {
        let _ = number;
        None
    }

    /// Returns the packet's earliest departure time (EDT), which a sender on this host set (`fq`). `None`: the packet
    /// may leave at once (the default, as for a packet that is forwarded).
    fn departure(&self) -> Option<Instant> {
        None
    }

    /// Returns the socket of this host that sends the packet (`fq`). `None`: the packet is forwarded (the default).
    fn socket(&self) -> Option<Socket> {
        None
    }

    /// Returns whether the packet's memory is charged to a socket of this host (`is_skb_wmem`), as it is for all that
    /// [`Packet::socket`] names.
    fn is_charged(&self) -> bool {
        self.socket().is_some()
    }

    /// Returns when the packet was offered to the discipline. Sojourn times are measured from here (RFC 8289, 4.2).
    fn arrival(&self) -> Instant;

    /// Sets the arrival time. The discipline that takes the packet in calls it once.
    fn set_arrival(&mut self, now: Instant);
}

/// The packets of the wire that are merged in one. All except the last have the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The number of packets, two or more.
    pub count: u32,
    /// The length in bytes of each packet except the last, counted as [`Packet::len`] counts it.
    pub len: u32,
    /// The length in bytes of the last packet.
    pub last: u32,
}

/// A socket of the host whose discipline it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Socket {
    /// The socket's number, below 2^63.
    pub id: u64,
    /// Whether it is TCP's. TCP asks for departure times itself, so its pacing rate alone rules out no fast path.
    pub is_tcp: bool,
    /// Its pacing rate, such as `SO_MAX_PACING_RATE`. `None`: unlimited.
    pub pacing: Option<Rate>,
}

/// Returns the priority that Linux gives to a packet that it forwards: tc-prio(8)'s table of the TOS octet. Only bits
/// 4 to 2 of the octet count, which are the low three bits of the DSCP. So CS1 to CS7 are best effort (0) like DSCP
/// 0, AF11 is bulk (2), and EF is interactive bulk (4), not interactive (6).
#[must_use]
pub const fn priority_of_dscp(dscp: u8) -> u8 {
    const BY_LOW_BITS: [u8; 8] = [0, 0, 2, 2, 6, 6, 4, 4];
    BY_LOW_BITS[(dscp & 7) as usize]
}

/// Returns the hashes of two hosts that belong to one flow alone. `flow` is a number that distinguishes flows. The
/// two hashes are unlike each other: `cake hosts` combines them by exclusive or, and the result must distinguish
/// flows, too. The multiplier is one of MurmurHash3's finalizer. It is odd, so no two flows share a hash.
#[must_use]
pub const fn hosts_of_flow(flow: u32) -> (u32, u32) {
    (flow, flow.wrapping_mul(0xC2B2_AE35))
}

/// The smallest useful packet, for tests, examples and benchmarks.
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
    /// When the packet was offered.
    pub arrival: Instant,
    /// An identity for the owner's use.
    pub id: u64,
}

impl Plain {
    /// Returns a Not-ECT packet of `len` bytes of flow 0.
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
