//! The headers of the packets of each flow, for filters of trees.

use crate::ids::FlowId;
use crate::lists::{PerFlow, PerSide};
use crate::packet::{EPHEMERAL, Packet};
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_qdisc::IpHeader;
use goodqueue_qdisc::packet::Addresses;
use goodqueue_units::processor::prefetch;
use std::sync::Arc;

/// What the headers of all packets of a flow have in common.
#[derive(Clone, Copy)]
pub(crate) struct Ends {
    pub(crate) addresses: PerSide<u32>,
    pub(crate) ports: PerSide<u16>,
    /// The side where each connection has a port of its own, if the flow opens several.
    pub(crate) varied: Option<Side>,
    /// The direction of the data. ICMP asks there, and answers in the other one.
    pub(crate) data: Direction,
    pub(crate) is_icmp: bool,
    pub(crate) mark: u32,
}

/// The ends of all flows.
#[derive(Clone, Default)]
pub(crate) struct FlowHeaders(pub(crate) Arc<PerFlow<Ends>>);

impl FlowHeaders {
    /// Returns the mark of the packets of `flow`.
    pub(crate) fn mark(&self, flow: FlowId) -> u32 {
        self.0.get(flow).map_or(0, |ends| ends.mark)
    }

    /// Prefetches what the headers of `flow` have in common.
    pub(crate) fn prefetch(&self, flow: FlowId) {
        if let Some(ends) = self.0.get(flow) {
            prefetch(ends);
        }
    }

    /// Returns the header of `packet`, which goes in `direction`.
    pub(crate) fn ip_header(&self, packet: &Packet, direction: Direction) -> IpHeader {
        use goodqueue_qdisc::Packet as _;
        if let Some(own) = packet.envelope().and_then(|envelope| envelope.headers().ip) {
            return own;
        }
        let Some(ends) = self.0.get(packet.flow) else { return IpHeader::default() };
        let connection = ends.varied.map(|_| packet.connection(direction));
        IpHeader::of(&ends.addresses(packet.segment().is_some(), connection, direction), packet.len())
    }
}

impl Ends {
    /// Returns the addresses and ports of a packet of TCP or not, of a `connection` if the flow has several.
    pub(crate) fn addresses(&self, is_tcp: bool, connection: Option<u32>, direction: Direction) -> Addresses {
        let [from, to] = [direction.sender(), direction.receiver()];
        let port = |side| match connection {
            Some(connection) if self.varied == Some(side) => {
                EPHEMERAL.0 + (connection % u32::from(EPHEMERAL.1)) as u16
            }
            _ => self.ports[side],
        };
        // Where TCP and UDP have ports, ICMP has its type and code (RFC 792): 8 asks for an echo, and 0 is one.
        let (protocol, source_port, destination_port) = match (is_tcp, self.is_icmp) {
            (true, _) => (6, port(from), port(to)),
            (false, false) => (17, port(from), port(to)),
            (false, true) => (1, if direction == self.data { 8 << 8 } else { 0 }, 0),
        };
        let (source, destination) = (self.addresses[from], self.addresses[to]);
        Addresses { source, destination, protocol, source_port, destination_port }
    }
}
