//! The packet that the simulator moves: 64 bytes, `Copy`, one cache line.

use crate::ids::FlowId;
use crate::lists::ByDirection;
use crate::outside::Envelope;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::packet::{Merged, Socket, hosts_of_flow};
use goodqueue_qdisc::{Packet as QdiscPacket, TcpHeader};
use goodqueue_tcp::{Flags, Segment};
use goodqueue_units::{Ecn, Instant};

/// The first port of connections that name none, and how many of them there are, up to the listening ports.
pub const EPHEMERAL: (u16, u16) = (0x1000, 0x7000);

/// A packet on its way. Its contents are private to the simulator.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When it was offered to the queue in which it waits, or waited last.
    pub(crate) arrival: Instant,
    pub(crate) flow: FlowId,
    /// Salted hash of its flow and direction, as a classifier would compute it.
    pub(crate) hash: u32,
    /// Its contents, with the length and the fields of the IP header.
    pub(crate) body: Body,
}

/// The contents of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A datagram.
    Datagram(Datagram),
}

/// A datagram.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram {
    /// The number by which its flow knows its contents, or when it was sent.
    pub(crate) number: u32,
    /// Length in bytes as `tc` counts it on Ethernet.
    pub(crate) len: u16,
    pub(crate) ecn: Ecn,
    /// Differentiated services codepoint.
    pub(crate) dscp: u8,
    /// The envelope of a packet from outside, with the other fields that a discipline may ask for.
    pub(crate) envelope: Option<&'static Envelope>,
}

/// A classifier's hash differs between the two directions of a connection. For applications' connections the
/// difference is this constant, so that one hash can be computed from the other.
const OTHER_DIRECTION: u32 = 0x9e37_79b9;

/// Returns the hashes of an application's connection per direction. `down` is its hash in the direction `Down`.
pub(crate) fn both_directions(down: u32) -> ByDirection<u32> {
    ByDirection::from([down, down ^ OTHER_DIRECTION])
}

/// Returns the hashes of the hosts that belong to `flow` alone: the user's and the remote one. The multiplier is that
/// of Fibonacci hashing. It is odd, so no two flows share a hash.
pub(crate) fn hosts_of(flow: FlowId) -> (u32, u32) {
    hosts_of_flow(flow.number().wrapping_mul(0x9E37_79B1))
}

const _: () = assert!(size_of::<Packet>() <= 64, "a packet must fit a cache line");

impl Packet {
    /// Returns the number of the packet's flow: its index in the scenario, from 0.
    #[must_use]
    pub fn flow(&self) -> u32 {
        self.flow.number()
    }

    /// Returns a number that distinguishes the connections of an application. It is the same for all packets of a
    /// connection, in both directions. `direction` is the direction of this packet.
    #[must_use]
    pub fn connection(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Down => self.hash,
            Direction::Up => self.hash ^ OTHER_DIRECTION,
        }
    }

    /// Returns the place of a packet that has left the pipe of another part of the run, among those that left it at the
    /// same time. The arrival stands for it (see `sim::part`).
    pub(crate) fn place(&self) -> u32 {
        self.arrival.as_nanos() as u32
    }

    /// Returns the TCP segment in the packet, if there is one.
    #[must_use]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            Body::Tcp(segment) => Some(segment),
            Body::Datagram(_) => None,
        }
    }

    /// Returns the number of packets that a card has merged in this one, or 1.
    #[inline]
    pub(crate) fn parts(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) if crate::complete::COMPLETE => segment.parts(),
            _ => 1,
        }
    }

    /// Returns the packets that were merged in this one, or the packet itself.
    pub(crate) fn split(self) -> impl Iterator<Item = Self> {
        (0..self.parts()).map(move |part| match &self.body {
            Body::Tcp(segment) if crate::complete::COMPLETE => {
                Self { body: Body::Tcp(segment.part(part)), ..self }
            }
            _ => self,
        })
    }

    /// Returns the envelope, for a packet from outside.
    #[must_use]
    pub fn envelope(&self) -> Option<&'static Envelope> {
        match &self.body {
            Body::Tcp(_) => None,
            Body::Datagram(datagram) => datagram.envelope,
        }
    }

    /// Returns the number of the datagram, if the packet is one.
    #[must_use]
    pub fn datagram(&self) -> Option<u32> {
        match self.body {
            Body::Tcp(_) => None,
            Body::Datagram(datagram) => Some(datagram.number),
        }
    }
}

impl QdiscPacket for Packet {
    #[inline]
    fn len(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => segment.wire_len(),
            Body::Datagram(datagram) => datagram.len.into(),
        }
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Tcp(segment) => segment.ecn,
            Body::Datagram(datagram) => datagram.ecn,
        }
    }
    fn set_ce(&mut self) {
        match &mut self.body {
            Body::Tcp(segment) => segment.ecn = Ecn::Ce,
            Body::Datagram(datagram) => datagram.ecn = Ecn::Ce,
        }
    }
    fn flow_hash(&self) -> u32 {
        self.hash
    }
    fn flow_id(&self) -> u64 {
        u64::from(self.flow.number()) << 32 | u64::from(self.hash)
    }
    fn tcp(&self) -> Option<TcpHeader> {
        let Body::Tcp(segment) = self.body else { return self.envelope().and_then(|own| own.headers().tcp) };
        let mut sack = [(0, 0); 4];
        for (block, shown) in segment.sack_blocks().iter().zip(&mut sack) {
            *shown = (block.start.0, block.end.0);
        }
        Some(TcpHeader {
            ack: segment.ack.0,
            flags: segment.flags.header_bits(),
            has_payload: segment.payload_len > 0,
            timestamps: Some((segment.tsval, segment.tsecr)),
            has_other_options: segment.flags.contains(Flags::SYN) || segment.accecn().is_some(),
            sack_len: segment.sack_blocks().len() as u8,
            sack,
        })
    }
    fn merged(&self) -> Option<Merged> {
        let segment = self.segment().filter(|_| self.parts() > 1)?;
        let len = |part| segment.part(part).wire_len();
        Some(Merged { count: segment.parts(), len: len(0), last: len(segment.parts() - 1) })
    }
    /// Returns the hashes of the two hosts. Every flow has two hosts of its own, which all connections of an
    /// application share. If the scenario names hosts, its link answers instead.
    fn host_hashes(&self) -> (u32, u32) {
        let own = self.envelope().and_then(|envelope| envelope.headers().host_hashes);
        own.unwrap_or_else(|| hosts_of(self.flow))
    }
    fn dscp(&self) -> u8 {
        match &self.body {
            Body::Tcp(segment) => segment.dscp,
            Body::Datagram(datagram) => datagram.dscp,
        }
    }
    fn set_dscp(&mut self, value: u8) {
        match &mut self.body {
            Body::Tcp(segment) => segment.dscp = value,
            Body::Datagram(datagram) => datagram.dscp = value,
        }
    }
    /// Returns the departure time of TCP in the queue of its own host. In every later queue that time is before the
    /// packet's arrival, because to send a packet takes time: there the packet is forwarded, and has none.
    fn departure(&self) -> Option<Instant> {
        self.segment()?.departure().filter(|departure| *departure >= self.arrival)
    }
    fn socket(&self) -> Option<Socket> {
        let id = (u64::from(self.flow.number()) << 32 | u64::from(self.hash)) & (u64::MAX >> 1);
        self.departure().map(|_| Socket { id, is_tcp: true, pacing: None })
    }
    fn arrival(&self) -> Instant {
        self.arrival
    }
    /// Does nothing: the time is known already, because hosts offer a packet at the moment at which they make it.
    fn set_arrival(&mut self, now: Instant) {
        debug_assert_eq!(self.arrival, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Number as _;

    /// Two segments of 1448 and 100 bytes are frames of 1514 and 166 bytes, with 66 bytes of headers each.
    #[test]
    fn a_merged_packet_knows_the_frames_in_it() {
        let flags = Flags::ACK;
        let first = Segment { payload_len: 1448, flags, ..Segment::default() };
        let next = Segment { seq: first.seq + 1448, payload_len: 100, ..first };
        let of = |segment| {
            let body = Body::Tcp(segment);
            Packet { arrival: Instant::ZERO, flow: FlowId::at(0), hash: 0, body }.merged()
        };
        let merged = crate::complete::COMPLETE.then_some(Merged { count: 2, len: 1514, last: 166 });
        assert_eq!([of(first), first.join(&next).and_then(of)], [None, merged]);
    }
}
