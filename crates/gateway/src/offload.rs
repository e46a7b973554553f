//! The work that Linux leaves to a network card: cutting large segments and filling in checksums.
//!
//! Each packet comes with a virtio-net header that requests this work (Virtual I/O Device 1.2, 5.1.6, `struct
//! virtio_net_hdr`). A queue discipline must see packets, so a large segment is cut here, as Linux's
//! `tcp_gso_segment` does. Checksums stay as they are: the receiver is on the same machine, and learns that it need
//! not check them.

use crate::packet::folded;

/// Bytes of a virtio-net header without the field for the number of buffers.
pub(crate) const HEADER_BYTES: usize = 10;

const NEEDS_CHECKSUM: u8 = 1;
const TCP_V4: u8 = 1;
const TCP_V6: u8 = 4;
/// Only the first packet of the segment carries CWR.
const WITH_ECN: u8 = 0x80;

const FIN_OR_PSH: u8 = 0x01 | 0x08;
const CWR: u8 = 0x80;
/// Offset of the checksum in a TCP header.
const TCP_CHECKSUM: u16 = 16;

/// The virtio-net header of a packet that begins with its IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offload {
    flags: u8,
    segmentation: u8,
    header_len: u16,
    segment_bytes: u16,
    checksum_start: u16,
    checksum_offset: u16,
}

impl Offload {
    /// Reads the header of a packet that has `link` bytes of link header before its IP header.
    #[must_use]
    pub fn read(bytes: [u8; 10], link: u16) -> Self {
        let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        Self {
            flags: bytes[0],
            segmentation: bytes[1],
            header_len: word(2).saturating_sub(link),
            segment_bytes: word(4),
            checksum_start: word(6).saturating_sub(link),
            checksum_offset: word(8),
        }
    }

    /// Returns the bytes of the header, for a packet that has `link` bytes of link header before its IP header.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "a Port writes it, on Linux"))]
    pub(crate) fn written(self, link: u16) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        (bytes[0], bytes[1]) = (self.flags, self.segmentation);
        let start = if self.flags & NEEDS_CHECKSUM == 0 { 0 } else { self.checksum_start + link };
        let head = if self.header_len == 0 { 0 } else { self.header_len + link };
        let words = [head, self.segment_bytes, start, self.checksum_offset];
        for (place, word) in words.iter().enumerate() {
            bytes[2 + 2 * place..][..2].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// Returns where the TCP header begins if its checksum is still to be filled in.
    pub(crate) fn tcp_checksum_start(self) -> Option<usize> {
        let is_left = self.flags & NEEDS_CHECKSUM != 0 && self.checksum_offset == TCP_CHECKSUM;
        is_left.then_some(self.checksum_start.into())
    }

    /// Returns the header of a large segment whose packets have `each` bytes of payload.
    pub(crate) fn of_large(is_v4: bool, ip_len: u16, header_len: u16, each: u16) -> Self {
        Self {
            flags: NEEDS_CHECKSUM,
            segmentation: if is_v4 { TCP_V4 } else { TCP_V6 },
            header_len,
            segment_bytes: each,
            checksum_start: ip_len,
            checksum_offset: TCP_CHECKSUM,
        }
    }

    /// Returns whether the packet is a large segment.
    pub(crate) fn is_large(self) -> bool {
        self.segmentation != 0
    }
}

/// Cuts a large TCP segment into packets and hands each to `give`, with its own virtio-net header. Returns false if
/// the segment cannot be cut: Linux sends no such segment.
pub(crate) fn cut(packet: &[u8], offload: Offload, give: &mut impl FnMut(&[u8], Offload)) -> bool {
    let kind = offload.segmentation & !WITH_ECN;
    let (ip_len, most) = (usize::from(offload.checksum_start), usize::from(offload.segment_bytes));
    let is_v4 = kind == TCP_V4;
    let Some(&offset) = packet.get(ip_len + 12) else { return false };
    let headers = ip_len + usize::from(offset >> 4) * 4;
    let is_ip = if is_v4 { ip_len == usize::from(packet[0] & 15) * 4 } else { ip_len % 4 == 0 };
    let least = if is_v4 { 20 } else { 40 };
    let is_tcp = matches!(kind, TCP_V4 | TCP_V6) && is_ip && ip_len >= least;
    if !is_tcp || most == 0 || headers < ip_len + 20 || headers >= packet.len() {
        return false;
    }
    let mut one = packet[..headers].to_vec();
    let own = Offload {
        flags: NEEDS_CHECKSUM,
        checksum_start: offload.checksum_start,
        checksum_offset: TCP_CHECKSUM,
        ..Offload::default()
    };
    let at = |place: usize| u32::from(u16::from_be_bytes([packet[place], packet[place + 1]]));
    let (seq, id) = (at(ip_len + 4) << 16 | at(ip_len + 6), at(4));
    // The checksum field holds the sum of the pseudo-header with the large segment's length (RFC 9293, 3.1). That
    // length is subtracted here, because each packet has its own.
    let sum = at(ip_len + 16) + u32::from(!(((packet.len() - ip_len) & 0xffff) as u16));
    let payload = &packet[headers..];
    let count = payload.len().div_ceil(most);
    for (number, part) in payload.chunks(most).enumerate() {
        one.truncate(headers);
        one.copy_from_slice(&packet[..headers]);
        one.extend_from_slice(part);
        let len = one.len();
        if is_v4 {
            one[2..4].copy_from_slice(&(len as u16).to_be_bytes());
            one[4..6].copy_from_slice(&(id.wrapping_add(number as u32) as u16).to_be_bytes());
            one[10..12].fill(0);
            let words = one[..ip_len].chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
            let sum = !folded(words.sum());
            one[10..12].copy_from_slice(&sum.to_be_bytes());
        } else {
            one[4..6].copy_from_slice(&((len - 40) as u16).to_be_bytes());
        }
        let tcp = &mut one[ip_len..];
        tcp[4..8].copy_from_slice(&seq.wrapping_add((number * most) as u32).to_be_bytes());
        if number + 1 < count {
            tcp[13] &= !FIN_OR_PSH;
        }
        if number > 0 {
            tcp[13] &= !CWR;
        }
        let sum = folded(sum + (len - ip_len) as u32);
        tcp[16..18].copy_from_slice(&sum.to_be_bytes());
        give(&one, own);
    }
    true
}

/// Fills in the checksum that was left to a card (RFC 1071), in a copy that is shown to somebody.
pub(crate) fn complete(packet: &mut [u8], offload: Offload) {
    let start = usize::from(offload.checksum_start);
    let field = start + usize::from(offload.checksum_offset);
    if offload.flags & NEEDS_CHECKSUM == 0 || field + 2 > packet.len() {
        return;
    }
    let words = packet[start..]
        .chunks(2)
        .map(|word| u32::from(word[0]) << 8 | word.get(1).copied().map_or(0, u32::from));
    let sum = !folded(words.sum());
    packet[field..field + 2].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};

    /// Builds a large segment with `bytes` bytes of payload, as Linux hands it over: the checksum field holds the
    /// pseudo-header's sum.
    pub(crate) fn large(bytes: usize, is_v4: bool) -> (Vec<u8>, Offload) {
        let payload: Vec<u8> = (0..bytes).map(|byte| byte as u8).collect();
        let mut packet = Vec::new();
        let (ip_len, kind) = if is_v4 { (20, TCP_V4) } else { (40, TCP_V6) };
        if is_v4 {
            let builder =
                PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1000, 2000, u32::MAX - 500, 500);
            builder.psh().fin().cwr().write(&mut packet, &payload).unwrap();
        } else {
            let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).tcp(1000, 2000, u32::MAX - 500, 500);
            builder.psh().fin().cwr().write(&mut packet, &payload).unwrap();
        }
        let pairs = |bytes: &[u8]| {
            bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(word[1])).sum::<u32>()
        };
        let addresses = if is_v4 { &packet[12..20] } else { &packet[8..40] };
        let pseudo = folded(pairs(addresses) + 6 + (packet.len() - ip_len) as u32);
        packet[ip_len + 16..ip_len + 18].copy_from_slice(&pseudo.to_be_bytes());
        let offload = Offload {
            flags: NEEDS_CHECKSUM,
            segmentation: kind | WITH_ECN,
            header_len: ip_len as u16 + 20,
            segment_bytes: 1448,
            checksum_start: ip_len as u16,
            checksum_offset: TCP_CHECKSUM,
        };
        (packet, offload)
    }

    /// 5000 bytes are cut into 1448, 1448, 1448 and 656. Guards against a checksum that the receiver refuses, FIN on
    /// the first packet, CWR on a later one, and a gap in the sequence numbers (they pass 2^32 here).
    #[test]
    fn a_large_segment_is_cut_as_linux_cuts_it() {
        for is_v4 in [true, false] {
            let (packet, offload) = large(5000, is_v4);
            let (mut payload, mut ids) = (Vec::new(), Vec::new());
            let all = cut(&packet, offload, &mut |one, own| {
                let mut one = one.to_vec();
                complete(&mut one, own);
                let sliced = SlicedPacket::from_ip(&one).unwrap();
                let Some(TransportSlice::Tcp(tcp)) = &sliced.transport else { panic!("no TCP") };
                let header = tcp.to_header();
                let at = payload.len();
                assert_eq!(header.sequence_number, (u32::MAX - 500).wrapping_add(at as u32));
                assert_eq!((header.cwr, header.fin, header.psh), (at == 0, at == 4344, at == 4344));
                payload.extend_from_slice(tcp.payload());
                let sum = match sliced.net.unwrap() {
                    etherparse::NetSlice::Ipv4(ip) => {
                        assert_eq!(
                            ip.header().header_checksum(),
                            ip.header().to_header().calc_header_checksum()
                        );
                        ids.push(ip.header().identification());
                        header.calc_checksum_ipv4(&ip.header().to_header(), tcp.payload()).unwrap()
                    }
                    etherparse::NetSlice::Ipv6(ip) => {
                        header.calc_checksum_ipv6(&ip.header().to_header(), tcp.payload()).unwrap()
                    }
                    etherparse::NetSlice::Arp(_) => panic!("no IP"),
                };
                assert_eq!(header.checksum, sum);
            });
            assert!(all);
            assert_eq!(payload, (0..5000).map(|byte| byte as u8).collect::<Vec<_>>());
            assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 1), "{ids:?}");
        }
    }

    /// Reads and writes a header that counts 14 bytes of Ethernet before the packet.
    #[test]
    fn the_header_counts_from_the_link_header_on() {
        let bytes = [1, 1, 54, 0, 0xa8, 5, 34, 0, 16, 0];
        let read = Offload::read(bytes, 14);
        assert_eq!((read.header_len, read.segment_bytes, read.checksum_start), (40, 1448, 20));
        assert_eq!(read.written(14), bytes);
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig { failure_persistence: None, ..Default::default() })]
        /// Any header with any packet: the packet is cut or refused.
        #[test]
        fn anything_may_come(
            bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..300),
            header: [u8; HEADER_BYTES],
            is_near: bool,
        ) {
            let mut offload = Offload::read(header, 0);
            if is_near {
                offload.segmentation = if header[1] & 1 == 0 { TCP_V4 } else { TCP_V6 };
                offload.checksum_start %= 64;
            }
            let mut cut_bytes = 0;
            cut(&bytes, offload, &mut |one, _| cut_bytes += one.len());
            assert!(cut_bytes <= bytes.len() * 300);
            complete(&mut bytes.clone(), offload);
        }
    }
}
