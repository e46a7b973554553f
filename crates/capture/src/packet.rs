//! A captured frame: its flow, its TCP header, and the key by which it is recognised on the other side.

use crate::Direction;
use crate::options;
use etherparse::{
    Ethernet2HeaderSlice, Ipv4HeaderSlice, TcpHeaderSlice, UdpHeaderSlice, ether_type, ip_number,
};

/// The first two bytes of the laboratory's server addresses. [`CLIENTS`] has those of the clients.
const SERVERS: [u8; 2] = [10, 9];
const CLIENTS: [u8; 2] = [10, 8];

const ETHERNET_BYTES: usize = 14;
/// Bytes of an IP packet in a capture of 100 bytes per frame. They are enough for TCP's longest header.
const KEY_BYTES: usize = 86;

/// A packet's key: its first bytes, without those that a router or a queue may write.
pub(crate) type Key = [u8; KEY_BYTES];

/// An address and a port. The port is 0 if the packet is neither TCP nor UDP.
pub(crate) type Endpoint = ([u8; 4], u16);

/// The two ends of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub(crate) protocol: u8,
    pub(crate) server: Endpoint,
    pub(crate) client: Endpoint,
}

/// One packet between a server and a client.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) direction: Direction,
    pub(crate) pair: Pair,
    pub(crate) key: Key,
    /// Codepoint of the IP header: 0 not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    pub(crate) ecn: u8,
    pub(crate) tcp: Option<Segment>,
}

/// The TCP header's content.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Segment {
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) payload: u32,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) sack: [Option<(u32, u32)>; 4],
}

impl Packet {
    /// Reads the captured bytes of a frame. `Ok(None)`: the frame does not go between a server and a client. `Err`:
    /// what is wrong with the frame.
    pub(crate) fn read(frame: &[u8]) -> Result<Option<Self>, String> {
        let ethernet = Ethernet2HeaderSlice::from_slice(frame).map_err(|error| error.to_string())?;
        if ethernet.ether_type() != ether_type::IPV4 {
            return Ok(None);
        }
        let bytes = frame.get(ETHERNET_BYTES..).unwrap_or_default();
        let ip = Ipv4HeaderSlice::from_slice(bytes).map_err(|error| error.to_string())?;
        let Some(direction) = direction(ip.source(), ip.destination()) else { return Ok(None) };
        let header_len = ip.slice().len();
        // Ethernet pads short frames.
        let inside = bytes.get(..bytes.len().min(ip.total_len().into())).unwrap_or_default();
        let payload = inside.get(header_len..).unwrap_or_default();
        let (mut ports, mut tcp, mut checksum) = ((0, 0), None, None);
        match ip.protocol() {
            _ if ip.fragments_offset().value() > 0 => {} // the ports are in the packet's first fragment alone
            ip_number::TCP => {
                let header = TcpHeaderSlice::from_slice(payload).map_err(|error| error.to_string())?;
                ports = (header.source_port(), header.destination_port());
                tcp = Some(Segment::read(&header, ip.total_len().into(), header_len));
                checksum = Some(16);
            }
            ip_number::UDP => {
                let header = UdpHeaderSlice::from_slice(payload).map_err(|error| error.to_string())?;
                ports = (header.source_port(), header.destination_port());
                checksum = Some(6);
            }
            _ => {}
        }
        let (from, to) = ((ip.source(), ports.0), (ip.destination(), ports.1));
        let (server, client) = if direction == Direction::Down { (from, to) } else { (to, from) };
        let pair = Pair { protocol: ip.protocol().0, server, client };
        let key = key(inside, checksum.map(|at| header_len + at));
        Ok(Some(Self { direction, pair, key, ecn: ip.ecn().value(), tcp }))
    }
}

impl Segment {
    fn read(header: &TcpHeaderSlice<'_>, total_len: usize, ip_header_len: usize) -> Self {
        let payload = total_len.saturating_sub(ip_header_len + header.slice().len()) as u32;
        Self {
            seq: header.sequence_number(),
            ack: header.ack().then(|| header.acknowledgment_number()),
            payload,
            syn: header.syn(),
            fin: header.fin(),
            sack: options::sack(header.options()),
        }
    }
}

/// Returns the way between two addresses. A scenario may say the address of one of them, as those of subscribers: the
/// other end is the laboratory's then.
fn direction(from: [u8; 4], to: [u8; 4]) -> Option<Direction> {
    let is = |[a, b, ..]: [u8; 4], net: [u8; 2]| [a, b] == net;
    let (down, up) = (is(from, SERVERS) || is(to, CLIENTS), is(to, SERVERS) || is(from, CLIENTS));
    match (down, up) {
        (true, false) => Some(Direction::Down),
        (false, true) => Some(Direction::Up),
        _ => None,
    }
}

/// Returns the bytes of a packet that are the same on both sides. These bytes may change: the DS field (marks, CAKE's
/// `wash`), the hop limit, and with them the header's checksum. TCP's and UDP's checksums are filled in late if a
/// network card computes them.
fn key(packet: &[u8], checksum: Option<usize>) -> Key {
    let mut key = [0; KEY_BYTES];
    let len = packet.len().min(KEY_BYTES);
    key[..len].copy_from_slice(&packet[..len]);
    for at in [1, 8, 10, 11].into_iter().chain(checksum.into_iter().flat_map(|at| [at, at + 1])) {
        if let Some(byte) = key.get_mut(at) {
            *byte = 0;
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards against reading a datagram's data as ports, and against a refusal of a last fragment of a few bytes.
    #[test]
    fn a_later_fragment_has_no_ports() {
        let mut frame = vec![0; 12];
        frame.extend([0x08, 0x00]);
        frame.extend([0x45, 0, 0, 25, 0, 7, 0, 185, 64, 17, 0, 0, 10, 9, 0, 1, 10, 8, 0, 1]);
        frame.extend([1, 2, 3, 4, 5]);
        let packet = Packet::read(&frame).unwrap().unwrap();
        assert_eq!((packet.direction, packet.pair.server.1, packet.pair.client.1), (Direction::Down, 0, 0));
    }
}
