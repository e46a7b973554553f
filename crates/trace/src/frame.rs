//! Frames: Ethernet, IPv4, and TCP, UDP or ICMP with all options and checksums, over a payload of zeros.

use etherparse::{
    EtherType, Ethernet2Header, IcmpEchoHeader, Icmpv4Header, Icmpv4Type, IpDscp, IpEcn, IpNumber,
    Ipv4Header, TcpHeader, TcpOptionElement, UdpHeader, ip_number,
};
use goodqueue_netsim::Packet;
use goodqueue_qdisc::Packet as _;
use goodqueue_tcp::{AccEcnOption, Flags, Segment};

/// Bytes of the Ethernet and the IPv4 header.
const OUTER_BYTES: usize = Ethernet2Header::LEN + Ipv4Header::MIN_LEN;

/// One end of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) address: [u8; 4],
    pub(crate) port: u16,
}

/// The values of a frame that its packet does not hold.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Route {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    /// IP's identification.
    pub(crate) id: u16,
    /// IP's time to live.
    pub(crate) ttl: u8,
    pub(crate) inner: Inner,
}

/// The kind of a datagram. A TCP segment ignores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    Udp,
    EchoRequest,
    EchoReply,
}

/// Replaces the content of `frame` by the whole frame of `packet`.
pub(crate) fn build(frame: &mut Vec<u8>, packet: &Packet, route: &Route) {
    frame.clear();
    frame.resize(packet.len() as usize, 0);
    let protocol = match (packet.segment(), route.inner) {
        (Some(_), _) => ip_number::TCP,
        (None, Inner::Udp) => ip_number::UDP,
        (None, Inner::EchoRequest | Inner::EchoReply) => ip_number::ICMP,
    };
    let (outer, inside) = frame.split_at_mut(OUTER_BYTES);
    let ip = ip(packet, route, protocol, inside.len() as u16);
    outer[..Ethernet2Header::LEN].copy_from_slice(&ethernet(route).to_bytes());
    outer[Ethernet2Header::LEN..].copy_from_slice(&ip.to_bytes());
    match (packet.segment(), packet.datagram().unwrap_or_default()) {
        (Some(segment), _) => {
            let mut header = tcp(segment, route);
            let (head, payload) = inside.split_at_mut(header.header_len());
            header.checksum = header.calc_checksum_ipv4(&ip, payload).unwrap_or_default();
            head.copy_from_slice(&header.to_bytes());
        }
        (None, number) if route.inner == Inner::Udp => {
            let (head, payload) = inside.split_at_mut(UdpHeader::LEN);
            payload[..4].copy_from_slice(&number.to_be_bytes());
            let (from, to) = (route.from.port, route.to.port);
            if let Ok(header) = UdpHeader::with_ipv4_checksum(from, to, &ip, payload) {
                head.copy_from_slice(&header.to_bytes());
            }
        }
        (None, number) => {
            // As `ping` does: one identifier per process, and the packet's number.
            let id = if route.inner == Inner::EchoRequest { route.to.port } else { route.from.port };
            let echo = IcmpEchoHeader { id, seq: number as u16 };
            let (head, payload) = inside.split_at_mut(Icmpv4Header::MIN_LEN);
            let kind = match route.inner {
                Inner::EchoReply => Icmpv4Type::EchoReply(echo),
                Inner::EchoRequest | Inner::Udp => Icmpv4Type::EchoRequest(echo),
            };
            head.copy_from_slice(&Icmpv4Header::with_checksum(kind, payload).to_bytes());
        }
    }
}

fn ethernet(route: &Route) -> Ethernet2Header {
    // Locally administered addresses (IEEE 802, section 8.2) that contain the host's IP address.
    let mac = |Endpoint { address: [a, b, c, d], .. }: Endpoint| [2, 0, a, b, c, d];
    Ethernet2Header { source: mac(route.from), destination: mac(route.to), ether_type: EtherType::IPV4 }
}

fn ip(packet: &Packet, route: &Route, protocol: IpNumber, bytes: u16) -> Ipv4Header {
    let mut header = Ipv4Header {
        dscp: IpDscp::try_new(packet.dscp()).unwrap_or_default(),
        ecn: IpEcn::try_new(packet.ecn().bits()).unwrap_or_default(),
        total_len: Ipv4Header::MIN_LEN as u16 + bytes,
        identification: route.id,
        dont_fragment: true, // as with path MTU discovery (RFC 1191)
        time_to_live: route.ttl,
        protocol,
        source: route.from.address,
        destination: route.to.address,
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    header
}

/// Returns the header of `segment`, without its checksum.
fn tcp(segment: &Segment, route: &Route) -> TcpHeader {
    let has = |flag: Flags| segment.flags.contains(flag);
    let mut header = TcpHeader {
        acknowledgment_number: if has(Flags::ACK) { segment.ack.0 } else { 0 },
        fin: has(Flags::FIN),
        syn: has(Flags::SYN),
        psh: has(Flags::PSH),
        ack: has(Flags::ACK),
        ece: has(Flags::ECE),
        cwr: has(Flags::CWR),
        ns: has(Flags::AE), // the bit that RFC 3540 had called the nonce sum
        ..TcpHeader::new(route.from.port, route.to.port, segment.seq.0, segment.window)
    };
    // Options in Linux's order. All of them fill whole words, as `Segment::wire_len` counts them.
    let timestamps = TcpOptionElement::Timestamp(segment.tsval, segment.tsecr);
    let blocks = segment.sack_blocks();
    let block = |place: usize| blocks.get(place).map(|block| (block.start.0, block.end.0));
    let nop = TcpOptionElement::Noop;
    if let Some(option) = segment.accecn() {
        let written = header.set_options_raw(&with_accecn(segment, &option));
        debug_assert!(written.is_ok(), "TCP's header has room for 40 bytes of options");
        return header;
    }
    let written = if let Some(syn) = segment.syn_options() {
        header.set_options(&[
            TcpOptionElement::MaximumSegmentSize(syn.mss),
            TcpOptionElement::SelectiveAcknowledgementPermitted,
            timestamps,
            nop,
            TcpOptionElement::WindowScale(syn.window_shift),
        ])
    } else if let Some(first) = block(0) {
        let sack = TcpOptionElement::SelectiveAcknowledgement(first, [block(1), block(2), None]);
        header.set_options(&[nop.clone(), nop.clone(), timestamps, nop.clone(), nop, sack])
    } else {
        header.set_options(&[nop.clone(), nop, timestamps])
    };
    debug_assert!(written.is_ok(), "TCP's header has room for 40 bytes of options");
    header
}

/// Returns the options of `segment`, which has AccECN's `option`, in Linux's order: MSS, SACK-permitted and timestamps,
/// AccECN, then the window's shift or SACK blocks (RFC 9768, 3.2.3).
fn with_accecn(segment: &Segment, option: &AccEcnOption) -> Vec<u8> {
    const NOP: u8 = 1;
    let mut raw = Vec::with_capacity(40);
    let syn = segment.syn_options();
    match syn {
        Some(syn) => {
            raw.extend([2, 4]);
            raw.extend(syn.mss.to_be_bytes());
            raw.extend([4, 2]);
        }
        None => raw.extend([NOP, NOP]),
    }
    raw.extend([8, 10]);
    raw.extend([segment.tsval, segment.tsecr].iter().flat_map(|clock| clock.to_be_bytes()));
    let fields = [Some(option.first), Some(option.ce), option.last];
    let fields: Vec<u8> =
        fields.into_iter().flatten().flat_map(|field| field.to_be_bytes()[1..].to_vec()).collect();
    raw.extend([if option.is_ect0_first { 172 } else { 174 }, 2 + fields.len() as u8]);
    raw.extend(fields);
    raw.resize(raw.len().next_multiple_of(4), NOP);
    if let Some(syn) = syn {
        raw.extend([NOP, 3, 3, syn.window_shift]);
    }
    let blocks = segment.sack_blocks();
    if !blocks.is_empty() {
        raw.extend([NOP, NOP, 5, 2 + 8 * blocks.len() as u8]);
        raw.extend(blocks.iter().flat_map(|block| [block.start.0, block.end.0]).flat_map(u32::to_be_bytes));
    }
    raw
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_tcp::{SackBlock, SeqNumber};

    /// By hand from RFC 9768, 3.2.3, figure 4. Linux pads the option with one NOP behind it.
    #[test]
    fn the_option_of_accecn_stands_between_timestamps_and_sack_blocks() {
        let block = SackBlock { start: SeqNumber(1), end: SeqNumber(2) };
        let segment = Segment {
            sack_len: 1,
            sack: [block; 3],
            tsval: 3,
            tsecr: 4,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let option = AccEcnOption { is_ect0_first: false, first: 1, ce: 0x01_0203, last: Some(5) };
        let header = tcp(&segment.with_accecn(&option), &ROUTE);
        let expected = [
            &[1, 1, 8, 10, 0, 0, 0, 3, 0, 0, 0, 4][..],
            &[174, 11, 0, 0, 1, 1, 2, 3, 0, 0, 5, 1],
            &[1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2],
        ];
        assert_eq!(header.options.as_slice(), expected.concat());
        let syn = Segment { flags: Flags::SYN | Flags::ACK, tsval: 3, ..Segment::default() };
        let syn = syn
            .with_syn_options(goodqueue_tcp::SynOptions { mss: 1460, window_shift: 7 })
            .with_accecn(&option);
        let expected = [
            &[2, 4, 5, 180, 4, 2, 8, 10, 0, 0, 0, 3, 0, 0, 0, 0][..],
            &[174, 11, 0, 0, 1, 1, 2, 3, 0, 0, 5, 1],
            &[1, 3, 3, 7],
        ];
        assert_eq!(tcp(&syn, &ROUTE).options.as_slice(), expected.concat());
    }

    const ROUTE: Route = Route {
        from: Endpoint { address: [10, 9, 0, 1], port: 0x4e20 },
        to: Endpoint { address: [10, 8, 0, 1], port: 0x2710 },
        id: 0,
        ttl: 64,
        inner: Inner::Udp,
    };

    /// By hand from RFC 9293 (3.1), RFC 7323 (3.2), RFC 2018 (3) and RFC 9768 (3.1).
    #[test]
    fn every_field_of_a_segment_has_its_place_in_the_header() {
        let block = |start, end| SackBlock { start: SeqNumber(start), end: SeqNumber(end) };
        let segment = Segment {
            seq: SeqNumber(0x0102_0304),
            ack: SeqNumber(0x0506_0708),
            tsval: 0x1111_1111,
            tsecr: 0x2222_2222,
            window: 0x3344,
            flags: Flags::ACK | Flags::ECE | Flags::AE,
            sack_len: 2,
            sack: [block(0xa0, 0xb0), block(0xc0, 0xd0), SackBlock::default()],
            ..Segment::default()
        };
        let expected = [
            &[0x4e, 0x20, 0x27, 0x10, 1, 2, 3, 4, 5, 6, 7, 8][..],
            // 20 bytes, 12 of timestamps, 20 of two blocks: 13 words. AE is the bit before CWR.
            &[0xd1, 0x50, 0x33, 0x44, 0, 0, 0, 0],
            &[1, 1, 8, 10, 0x11, 0x11, 0x11, 0x11, 0x22, 0x22, 0x22, 0x22],
            &[1, 1, 5, 18, 0, 0, 0, 0xa0, 0, 0, 0, 0xb0, 0, 0, 0, 0xc0, 0, 0, 0, 0xd0],
        ];
        assert_eq!(tcp(&segment, &ROUTE).to_bytes()[..], expected.concat());
        assert_eq!(expected.concat().len() as u32, segment.wire_len() - OUTER_BYTES as u32);
    }

    #[test]
    fn a_number_without_the_ack_bit_is_not_shown() {
        let segment = Segment { ack: SeqNumber(7), flags: Flags::PSH, ..Segment::default() };
        assert_eq!(tcp(&segment, &ROUTE).to_bytes()[8..14], [0, 0, 0, 0, 0x80, 0x08]);
    }
}
