//! What filters see of a packet: the bytes of its IP header, what Linux's flow dissector makes of them, its mark, its
//! priority and TCP's flags.
//!
//! Every filter compares bits at fixed places with constants. So the places are sixteen words of 32 bits, and a filter
//! is a mask and a value for each. The first eleven are the packet's first 44 bytes (RFC 791, 3.1; RFC 8200, 3).

use crate::packet::Packet;
use crate::signal::Owner;

/// Words that filters compare: eleven of the packet, one of its protocols, its ports, the mark of a firewall, the
/// priority, and TCP's flags.
pub(super) const WORDS: usize = 16;
/// The words with the addresses of IPv4, which in `flow` stand for those of IPv6, too.
pub(super) const SOURCE: usize = 3;
pub(super) const DESTINATION: usize = 4;
/// The number of the protocol whose packet it is, by which Linux finds the filters that are asked (the upper half), and
/// the protocol behind the headers of IP (from bit 8 on).
pub(super) const PROTOCOLS: usize = 11;
/// The ports. 0: a fragment, or a protocol without ports.
pub(super) const PORTS: usize = 12;
pub(super) const MARK: usize = 13;
pub(super) const PRIORITY: usize = 14;
pub(super) const FLAGS: usize = 15;

/// `ETH_P_IP` and `ETH_P_IPV6`.
pub(super) const IP: u16 = 0x0800;
pub(super) const IPV6: u16 = 0x86dd;

/// The sixteen words.
pub(super) type Words = [u32; WORDS];

/// Returns the words of `packet`. A packet whose owner knows no headers has zeros there. The codepoints are those that
/// the packet has now, as a queue may have changed them.
pub(super) fn of<P: Packet, O: Owner<P>>(packet: &P, owner: &O) -> Words {
    let header = owner.ip_header(packet);
    let tos = u32::from(packet.dscp()) << 2 | u32::from(packet.ecn().bits());
    let [mut first, rest @ ..] = header.words;
    let ethernet = if header.is_v6() {
        first = first & !0x0ff0_0000 | tos << 20;
        IPV6
    } else {
        first = first & !0x00ff_0000 | tos << 16;
        IP
    };
    let [w1, w2, w3, w4, w5, w6, w7, w8, w9, w10] = rest;
    // Data offset and flags of a simulated packet, whose owner knows no bytes behind the ports (RFC 9293, 3.1).
    let tcp = packet.tcp();
    let w8 = match &tcp {
        Some(header) if w8 == 0 && ethernet == IP => header.offset() << 28 | u32::from(header.flags) << 16,
        _ => w8,
    };
    let protocols = u32::from(ethernet) << 16 | u32::from(header.protocol) << 8;
    let flags = tcp.map_or(0, |header| u32::from(header.flags));
    [
        first,
        w1,
        w2,
        w3,
        w4,
        w5,
        w6,
        w7,
        w8,
        w9,
        w10,
        protocols,
        header.ports,
        owner.fwmark(packet),
        packet.class(),
        flags,
    ]
}
