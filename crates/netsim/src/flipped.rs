//! What a flipped bit does to a frame: whether its receiver still accepts the packet.
//!
//! `netem corrupt` flips one bit of an Ethernet frame whose checksums are already filled in (`netem_enqueue`). These
//! are the fields of an IPv4 packet, and what Linux's receiver checks:
//!
//! | bytes | field | what finds a flipped bit |
//! |---|---|---|
//! | 0 to 5 | destination's MAC address | the frame is another host's (`eth_type_trans`, `ip_rcv_core`) |
//! | byte 0, bit 0 | its group bit | TCP, which accepts nothing from a group (`tcp_v4_rcv`); UDP and ICMP do not look |
//! | 6 to 11 | source's MAC address | nothing |
//! | 12, 13 | EtherType | nobody receives a type that is one bit off |
//! | 14 to 33 | IPv4 header | its checksum |
//! | from 34 | TCP, UDP or ICMP | its checksum, which covers all data. One bit always changes the sum |
//!
//! So a segment is accepted with any of the 48 bits of the source's address, and a datagram with one more: 49 of the
//! 576 bits of a frame of 72 bytes, 8.5 %, and 0.4 % of the bits of 1514 bytes. With raw frames over a veth pair, one
//! for each bit, Linux 6.18 accepts the same 49 datagrams and 48 segments (SYN).
//!
//! Three things are left out. A router accepts no group either (`ip_forward`). IPv6 has no checksum over its header, so
//! flow label, traffic class and hop limit may change. And Linux flips only bits of a packet's linear part: a large
//! segment that netem cuts has only its headers there.

use crate::packet::Packet;
use goodqueue_qdisc::{Flipped, Packet as _};
use std::ops::Range;

/// The bytes of the source's MAC address.
const SOURCE: Range<u32> = 6..12;

/// Returns whether the receiver of `packet` refuses it for its `flipped` bit. Of merged packets it is the first.
pub(crate) fn is_noticed(packet: &Packet, flipped: Flipped) -> bool {
    let first = packet.split().next().unwrap_or(*packet);
    let byte = flipped.byte(first.len());
    let is_of_group = (byte, flipped.bit) == (0, 0);
    !SOURCE.contains(&byte) && (!is_of_group || first.tcp().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{FlowId, Number as _};
    use crate::packet::{Body, Datagram};
    use goodqueue_tcp::Segment;
    use goodqueue_units::{Ecn, Instant};

    /// Returns how many of the bits of the frame the receiver does not notice.
    fn harmless(body: Body) -> usize {
        let packet = Packet { arrival: Instant::ZERO, flow: FlowId::at(0), hash: 0, body };
        let len = packet.len();
        // The smallest number that leads to the byte.
        let place = |byte: u32| ((u64::from(byte) << 32).div_ceil(len.into())) as u32;
        let bits = (0..len).flat_map(|byte| (0..8).map(move |bit| Flipped { place: place(byte), bit }));
        assert!(bits.clone().zip(0..).all(|(one, count)| one.byte(len) == count / 8));
        bits.filter(|flipped| !is_noticed(&packet, *flipped)).count()
    }

    /// Linux 6.18 accepted these many frames of one raw socket, which had one bit flipped each.
    #[test]
    fn a_datagram_survives_49_bits_and_a_segment_48() {
        let datagram = |len| Datagram { number: 0, len, ecn: Ecn::NotEct, dscp: 0, envelope: None };
        assert_eq!([72, 1514].map(|len| harmless(Body::Datagram(datagram(len)))), [49, 49]);
        assert_eq!(harmless(Body::Tcp(Segment::default())), 48);
    }
}
