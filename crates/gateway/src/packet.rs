//! A real packet: the header fields that the path reads, and the bits that a queue discipline may set in them.
//!
//! A program may send anything, so no code here trusts a length.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice, ip_number};
use goodqueue_netsim::Headers;
use goodqueue_qdisc::{IpHeader, TcpHeader};
use goodqueue_units::Ecn;
use siphasher::sip::SipHasher24;
use std::hash::{Hash, Hasher};
use std::net::{IpAddr, SocketAddr};

/// Bytes of an Ethernet header. `tc` counts it as part of a packet, and a TUN device leaves it out.
pub(crate) const ETHERNET_BYTES: usize = 14;

/// Protocols whose first four bytes serve as ports, as in Linux's flow dissector (`skb_flow_get_ports`). ESP has its
/// SPI there.
const WITH_PORTS: [u8; 6] = [
    ip_number::TCP.0,
    ip_number::UDP.0,
    ip_number::DCCP.0,
    ip_number::ENCAPSULATING_SECURITY_PAYLOAD.0,
    ip_number::SCTP.0,
    ip_number::UDP_LITE.0,
];

/// Source and destination of a packet. Ports are 0 if the protocol has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    pub(crate) protocol: u8,
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
}

impl Ends {
    /// Returns the ends of a packet in the opposite direction.
    pub(crate) fn back(self) -> Self {
        Self { from: self.to, to: self.from, ..self }
    }
}

/// The TCP header fields of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) is_syn: bool,
    pub(crate) is_fin: bool,
}

impl Segment {
    /// Returns the sequence number after the segment's last byte. SYN and FIN count (RFC 9293, 3.4).
    pub(crate) fn end(self, payload: u32) -> u32 {
        self.seq.wrapping_add(payload).wrapping_add(self.is_syn.into()).wrapping_add(self.is_fin.into())
    }
}

/// What was read from a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen {
    pub(crate) headers: Headers,
    pub(crate) ends: Ends,
    pub(crate) segment: Option<Segment>,
    /// Bytes of the transport's payload.
    pub(crate) payload: u32,
}

/// Hashes flows as Linux does: SipHash of addresses, ports and protocol. The key is this run's own. Linux draws its
/// key at boot, so which flows share a queue is never the same there either.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hashing(u64, u64);

impl Hashing {
    pub(crate) const fn new(key: [u64; 2]) -> Self {
        Self(key[0], key[1])
    }

    fn of(self, what: impl Hash) -> u32 {
        let mut hasher = SipHasher24::new_with_keys(self.0, self.1);
        what.hash(&mut hasher);
        hasher.finish() as u32
    }
}

/// Reads an IP packet. Returns `None` if the bytes are not IP. The packet may be truncated or malformed: a field that
/// cannot be read counts as absent.
pub(crate) fn read(bytes: &[u8], hashing: Hashing) -> Option<Seen> {
    let sliced = LaxSlicedPacket::from_ip(bytes).ok()?;
    let (from, to, label, inside): (IpAddr, IpAddr, u32, _) = match sliced.net? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            (header.source_addr().into(), header.destination_addr().into(), 0, ip.payload().clone())
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let label = header.flow_label().value();
            (header.source_addr().into(), header.destination_addr().into(), label, ip.payload().clone())
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let protocol = inside.ip_number.0;
    // Linux reads no ports from fragments, not even from the first: its hash would differ from that of the other
    // fragments.
    let whole = !inside.fragmented;
    let ports = match *inside.payload {
        [a, b, c, d, ..] if whole && WITH_PORTS.contains(&protocol) => {
            [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]
        }
        _ => [0; 2],
    };
    // A flow label that an IPv6 sender set is trusted (RFC 6438; FLOW_DISSECTOR_F_STOP_AT_FLOW_LABEL).
    let flow_hash =
        if label == 0 { hashing.of((from, to, ports, protocol)) } else { hashing.of((from, to, label)) };
    let (mut segment, mut payload) = (None, inside.payload.len());
    match &sliced.transport {
        Some(TransportSlice::Tcp(found)) if whole => {
            payload = found.payload().len();
            segment = Some(Segment {
                seq: found.sequence_number(),
                ack: found.ack().then(|| found.acknowledgment_number()),
                is_syn: found.syn(),
                is_fin: found.fin(),
            });
        }
        Some(TransportSlice::Udp(found)) => payload = found.payload().len(),
        _ => {}
    }
    let traffic_class = traffic_class(bytes);
    Some(Seen {
        headers: Headers {
            len: u16::try_from(bytes.len() + ETHERNET_BYTES).unwrap_or(u16::MAX),
            ecn: Ecn::from_bits(traffic_class),
            dscp: traffic_class >> 2,
            flow_hash: Some(flow_hash),
            host_hashes: Some((hashing.of(from), hashing.of(to))),
            tcp: TcpHeader::from_ip(bytes),
            ip: IpHeader::read(bytes),
        },
        ends: Ends { protocol, from: (from, ports[0]).into(), to: (to, ports[1]).into() },
        segment,
        payload: payload as u32,
    })
}

/// Returns the DS field and the ECN field (RFC 2474, 3; RFC 3168, 5). In IPv6 they span two bytes. The header must
/// have been read before.
fn traffic_class(packet: &[u8]) -> u8 {
    match *packet {
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        [_, second, ..] => second,
        _ => 0,
    }
}

/// Sets DSCP and ECN in `packet`, and updates IPv4's checksum (RFC 1624, equation 3).
pub(crate) fn set_traffic_class(packet: &mut [u8], ecn: Ecn, dscp: u8) {
    let new = dscp << 2 | ecn.bits();
    if new == traffic_class(packet) {
        return;
    }
    match packet {
        [first, second, ..] if *first >> 4 == 6 => {
            *first = 0x60 | new >> 4;
            *second = new << 4 | *second & 0x0f;
        }
        [first, second, _, _, _, _, _, _, _, _, high, low, ..] => {
            let word = |low: u8| u16::from_be_bytes([*first, low]);
            let [before, after] = [word(*second), word(new)];
            let sum = u32::from(!u16::from_be_bytes([*high, *low])) + u32::from(!before) + u32::from(after);
            [*high, *low] = (!folded(sum)).to_be_bytes();
            *second = new;
        }
        _ => {}
    }
}

/// Folds a sum of 16-bit words in ones' complement (RFC 1071).
pub(crate) fn folded(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    ((once & 0xffff) + (once >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    const HASHING: Hashing = Hashing::new([1, 2]);

    fn ipv4_checksum_holds(packet: &[u8]) -> bool {
        let words = packet[..20].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        folded(words.sum()) == 0xffff
    }

    fn tcp4(traffic_class: u8) -> Vec<u8> {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1000, 2000, 77, 500).ack(99);
        builder.write(&mut packet, &[0; 100]).unwrap();
        set_traffic_class(&mut packet, Ecn::from_bits(traffic_class), traffic_class >> 2);
        packet
    }

    /// Guards against a mark that the receiver discards for its checksum, and against one that changes the DSCP.
    #[test]
    fn a_mark_keeps_the_checksum_right() {
        for before in 0..=255 {
            for after in [Ecn::Ce, Ecn::Ect0] {
                let mut packet = tcp4(before);
                assert!(ipv4_checksum_holds(&packet));
                set_traffic_class(&mut packet, after, before >> 2);
                assert!(ipv4_checksum_holds(&packet), "{before} to {after:?}");
                let seen = read(&packet, HASHING).unwrap().headers;
                assert_eq!((seen.ecn, seen.dscp), (after, before >> 2));
            }
        }
    }

    /// In IPv6 the field spans two bytes. Guards against a mark that changes the version or the flow label.
    #[test]
    fn a_mark_in_ipv6() {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(5, 6).write(&mut packet, &[0; 10]).unwrap();
        (packet[0], packet[1], packet[2]) = (0x6b, 0x8a, 0xbc); // class 0xb8 is EF, label 0xabc00
        let seen = read(&packet, HASHING).unwrap();
        assert_eq!((seen.headers.dscp, seen.headers.ecn, seen.payload), (46, Ecn::NotEct, 10));
        set_traffic_class(&mut packet, Ecn::Ce, 46);
        assert_eq!(packet[..4], [0x6b, 0xba, 0xbc, 0]);
    }

    /// The packet has 14 bytes of Ethernet, 20 each of IPv4 and TCP, and 100 of payload.
    #[test]
    fn a_segment_is_read() {
        let seen = read(&tcp4(2), HASHING).unwrap();
        assert_eq!((seen.headers.len, seen.payload), (154, 100));
        let segment = seen.segment.unwrap();
        assert_eq!((segment.seq, segment.ack, segment.end(seen.payload)), (77, Some(99), 177));
        let tcp = seen.headers.tcp.unwrap();
        assert_eq!((tcp.ack, tcp.flags, tcp.has_payload), (99, TcpHeader::ACK, true));
        assert_eq!(seen.ends.back().to, seen.ends.from);
    }

    /// Fragments share a queue, because ports are read from none of them.
    #[test]
    fn fragments_are_of_one_flow() {
        let [mut first, mut last] = [tcp4(0), tcp4(0)];
        (first[6], last[7]) = (0x20, 1); // more fragments; an offset
        last[20] = 9; // the bytes where the ports would be
        let hashes = [first, last].map(|packet| read(&packet, HASHING).unwrap().headers.flow_hash);
        assert_eq!(hashes[0], hashes[1]);
        assert_ne!(hashes[0], read(&tcp4(0), HASHING).unwrap().headers.flow_hash);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]
        /// Any bytes are read as a packet or refused.
        #[test]
        fn anything_may_come(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200), head in 0..4) {
            if let Some(first) = bytes.first_mut() {
                *first = [*first, 0x45, 0x60, 0x4f][head as usize];
            }
            let before = bytes.clone();
            if let Some(seen) = read(&bytes, HASHING) {
                set_traffic_class(&mut bytes, seen.headers.ecn, seen.headers.dscp);
                assert_eq!(bytes, before);
                set_traffic_class(&mut bytes, Ecn::Ce, seen.headers.dscp);
            }
        }
    }
}
