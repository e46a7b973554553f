//! The headers of a packet that filters of a tree compare.

use crate::packet::Addresses;

/// The headers of an IPv4 or IPv6 packet, as far as filters of a tree compare them. Filters of Linux read either bytes
/// at fixed places (`u32`) or what its flow dissector made of them (`flower`, `flow`), so both are here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeader {
    /// The packet's first 44 bytes, four in each word: IPv6's header and the first word behind it. Bytes that the
    /// packet does not have are 0.
    pub words: [u32; 11],
    /// The protocol behind IPv4's options or IPv6's extension headers: 6 is TCP, 17 UDP, 1 ICMP, 58 ICMPv6.
    pub protocol: u8,
    /// The source port in the upper half and the destination port in the lower half. 0: a fragment, or a protocol
    /// without ports.
    pub ports: u32,
}

/// The protocol number of a fragment header (RFC 8200, 4.5).
const FRAGMENT: u8 = 44;

impl Default for IpHeader {
    fn default() -> Self {
        Self::of(&Addresses::default(), 0)
    }
}

impl IpHeader {
    /// Returns the header of an IPv4 packet without options, with a TTL of 64, whose length `tc` counts as `len` bytes
    /// on Ethernet. Filters take its codepoints from the packet.
    #[must_use]
    #[inline]
    pub const fn of(own: &Addresses, len: u32) -> Self {
        const ETHERNET: u32 = 14;
        let length = len.saturating_sub(ETHERNET);
        let length = if length > 0xffff { 0xffff } else { length };
        let ports = (own.source_port as u32) << 16 | own.destination_port as u32;
        let protocol = own.protocol;
        let mut words = [0; 11];
        words[0] = 0x4500_0000 | length;
        words[2] = 64 << 24 | (protocol as u32) << 16;
        (words[3], words[4], words[5]) = (own.source, own.destination, ports);
        Self { words, protocol, ports: if ports_at(protocol).is_some() { ports } else { 0 } }
    }

    /// Reads the header of a packet, of which `ip` has the first bytes. The packet may be truncated or malformed.
    /// `None`: it does not begin with a whole header of IPv4 or IPv6.
    #[must_use]
    pub fn read(ip: &[u8]) -> Option<Self> {
        let (mut protocol, mut at, mut is_fragment) = match ip.first()? >> 4 {
            // RFC 791, 3.1.
            4 => {
                let len = 4 * usize::from(ip[0] & 0xf);
                (*ip.get(9)?, Some(len).filter(|len| *len >= 20)?, [ip[6] & 0x3f, ip[7]] != [0, 0])
            }
            // RFC 8200, 3.
            6 => (*ip.get(6)?, 40, false),
            _ => return None,
        };
        ip.get(..if ip[0] >> 4 == 4 { 20 } else { 40 })?;
        // The extension headers that Linux reads, too (`__skb_flow_dissect`): hop-by-hop and destination options,
        // routing, and a fragment's. Behind the last of these it reads nothing.
        while ip[0] >> 4 == 6 && !is_fragment && matches!(protocol, 0 | 43 | 60 | FRAGMENT) {
            let &[next, len, ..] = ip.get(at..).unwrap_or_default() else { break };
            is_fragment = protocol == FRAGMENT;
            at += if is_fragment { 8 } else { 8 * (1 + usize::from(len)) };
            protocol = next;
        }
        let ports = ports_at(protocol).filter(|_| !is_fragment);
        let ports = ports.and_then(|behind| ip.get(at + behind..)?.first_chunk());
        let mut words = [0; 11];
        for (word, bytes) in words.iter_mut().zip(ip.chunks(4)) {
            let mut whole = [0; 4];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u32::from_be_bytes(whole);
        }
        Some(Self { words, protocol, ports: ports.map_or(0, |ports| u32::from_be_bytes(*ports)) })
    }

    /// Returns whether it is a header of IPv6.
    #[must_use]
    #[inline]
    pub const fn is_v6(&self) -> bool {
        self.words[0] >> 28 == 6
    }
}

/// Returns how far behind the beginning of its header a protocol has its ports (`proto_ports_offset`, Linux 6.1). In
/// ESP and AH it is the security parameters index.
const fn ports_at(protocol: u8) -> Option<usize> {
    match protocol {
        6 | 17 | 33 | 50 | 132 | 136 => Some(0),
        51 => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn v4(flags: u16, protocol: u8, behind: &[u8]) -> Vec<u8> {
        let mut packet =
            alloc::vec![0x45, 0, 0, 0, 0, 0, (flags >> 8) as u8, flags as u8, 64, protocol, 0, 0];
        packet.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        packet.extend(behind);
        packet
    }

    fn v6(next: u8, behind: &[u8]) -> Vec<u8> {
        let mut packet = alloc::vec![0x60, 0, 0, 0, 0, 0, next, 64];
        packet.extend([0x20; 32]);
        packet.extend(behind);
        packet
    }

    fn seen(packet: &[u8]) -> (u8, u32) {
        let header = IpHeader::read(packet).unwrap();
        (header.protocol, header.ports)
    }

    /// Linux reads no ports of fragments, not even of the first. `u32` compares the bytes there all the same.
    #[test]
    fn ports_are_of_whole_packets() {
        let ports = [0, 80, 1, 187];
        assert_eq!(seen(&v4(0x4000, 6, &ports)), (6, 80 << 16 | 443), "don't fragment");
        for fragment in [0x2000, 0x0001] {
            let header = IpHeader::read(&v4(fragment, 17, &ports)).unwrap();
            assert_eq!((header.ports, header.words[5]), (0, 80 << 16 | 443), "{fragment:#x}");
        }
        let mut options = v4(0, 17, &[1, 1, 1, 1]);
        options[0] = 0x46;
        options.extend(ports);
        assert_eq!(seen(&options), (17, 80 << 16 | 443));
        assert_eq!(seen(&v4(0, 1, &[8, 0, 0, 0])), (1, 0), "ICMP has none");
        assert_eq!(seen(&v4(0, 6, &ports[..3])), (6, 0), "cut off");
    }

    #[test]
    fn extension_headers_of_ipv6_are_passed() {
        let ports = [0, 80, 1, 187];
        let header = IpHeader::read(&v6(6, &ports)).unwrap();
        assert_eq!((header.protocol, header.ports, header.words[10]), (6, 80 << 16 | 443, 80 << 16 | 443));
        let hop_by_hop = [17, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(seen(&v6(0, &[&hop_by_hop[..], &ports].concat())), (17, 80 << 16 | 443));
        assert_eq!(seen(&v6(FRAGMENT, &[&hop_by_hop[..], &ports].concat())), (17, 0), "a fragment");
        assert_eq!(seen(&v6(0, &[])), (0, 0), "cut off");
    }

    /// A header that is made and one that is read are the same.
    #[test]
    fn what_is_made_is_read() {
        let own = Addresses {
            source: 0x0a00_0001,
            destination: 0x0a00_0002,
            protocol: 6,
            source_port: 80,
            destination_port: 443,
        };
        let mut packet = v4(0, 6, &[0, 80, 1, 187]);
        packet[3] = 100;
        assert_eq!(IpHeader::read(&packet), Some(IpHeader::of(&own, 114)));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]
        /// Any bytes are read or refused, and a longer piece of the same packet shows the same bytes.
        #[test]
        fn anything_may_come(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..120), head in 0..4_usize) {
            if let Some(first) = bytes.first_mut() {
                *first = [*first, 0x45, 0x60, 0x4f][head];
            }
            let least = if head == 2 { 40 } else { 20 };
            let whole = IpHeader::read(&bytes);
            proptest::prop_assert!(head == 0 || whole.is_some() == (bytes.len() >= least));
            for len in 0..bytes.len() {
                let Some(part) = IpHeader::read(&bytes[..len]) else { continue };
                let whole = whole.unwrap();
                let known = len.min(44) / 4;
                proptest::prop_assert_eq!(&part.words[..known], &whole.words[..known]);
                proptest::prop_assert!(part.ports == 0 || (part.protocol, part.ports) == (whole.protocol, whole.ports));
            }
        }
    }
}
