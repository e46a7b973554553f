//! What filters see of a packet: the first words of its IP header, its ports, its mark, its priority and TCP's flags.
//!
//! Every filter compares bits at fixed places with constants. So the places are nine words of 32 bits, and a filter is
//! a mask and a value for each. The IP header is that of IPv4 without options (RFC 791, 3.1).

use crate::packet::Packet;
use crate::signal::Owner;

/// Words that filters compare: five of the IP header, the ports, the mark of a firewall, the priority, and
/// TCP's flags.
pub(super) const WORDS: usize = 9;
/// The word with the protocol, that with the ports, and those that are no part of the IP header.
pub(super) const PROTOCOL: usize = 2;
pub(super) const PORTS: usize = 5;
pub(super) const MARK: usize = 6;
pub(super) const PRIORITY: usize = 7;
pub(super) const FLAGS: usize = 8;

/// The nine words.
pub(super) type Words = [u32; WORDS];

/// Returns the words of `packet`. A packet whose owner knows no addresses has zeros there.
pub(super) fn of<P: Packet, O: Owner<P>>(packet: &P, owner: &O) -> Words {
    const ETHERNET: u32 = 14;
    let own = owner.addresses(packet).unwrap_or_default();
    let tos = u32::from(packet.dscp()) << 2 | u32::from(packet.ecn().bits());
    let length = packet.len().saturating_sub(ETHERNET).min(0xffff);
    [
        0x4500_0000 | tos << 16 | length,
        0,
        64 << 24 | u32::from(own.protocol) << 16,
        own.source,
        own.destination,
        u32::from(own.source_port) << 16 | u32::from(own.destination_port),
        packet.fwmark(),
        packet.class(),
        packet.tcp().map_or(0, |header| u32::from(header.flags)),
    ]
}
