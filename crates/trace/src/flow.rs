//! A flow as a capture knows it: its hosts, and its packets in transit.

use crate::frame::{Endpoint, Inner, Route};
use goodqueue_hosts::traffic::kind::Kind;
use goodqueue_netsim::scenario::HostName;
use goodqueue_netsim::{Direction, EPHEMERAL, Event, FlowOutline, Packet};
use goodqueue_tcp::Segment;
use goodqueue_units::Ecn;
use std::collections::{HashMap, VecDeque};

/// Addresses are those of the kernel engine's laboratory (`lab/addresses.py`), so that captures of both look alike. A
/// host that the scenario names has the address that its first flow gives it.
const NETWORKS: [[u8; 2]; 2] = [[10, 9], [10, 8]];
/// The largest number of flows.
const MOST_HOSTS: usize = 0xfffe;

/// A flow.
pub(crate) struct Flow {
    pub(crate) kind: &'static Kind,
    /// The direction of the flow's data.
    pub(crate) data: Direction,
    /// The end that sends the data, and the other end.
    ends: [Endpoint; 2],
    /// Which of them has a port of its own for each connection: the one that opens connections.
    opener: usize,
    /// The hosts of both ends: their places in [`Flows::next_ids`].
    hosts: [usize; 2],
    /// The numbers of the flow's connections, if the flow is an application's.
    connections: HashMap<u32, u16>,
    /// The flow's packets, by the end that sent them.
    under_way: [UnderWay; 2],
}

/// Every flow of a scenario, and what their hosts have counted.
pub(crate) struct Flows {
    flows: Vec<Flow>,
    /// The number of the next IP packet of each host.
    next_ids: Vec<u16>,
}

/// Packets with their numbers: those that wait in the queue, and those that have left it. The simulator's packets
/// have no room for a number, and a packet of the same flow with the same content is as good.
#[derive(Default)]
struct UnderWay {
    waiting: VecDeque<(Packet, u16)>,
    through: VecDeque<(Packet, u16)>,
}

impl Flows {
    /// Returns the flows of a scenario. `None`: there are more flows than addresses.
    pub(crate) fn all(outlines: &[FlowOutline]) -> Option<Self> {
        if outlines.len() > MOST_HOSTS {
            return None;
        }
        // The first flow of each host that the scenario names, per side.
        let mut first: [HashMap<&HostName, usize>; 2] = Default::default();
        let mut flows = Vec::with_capacity(outlines.len());
        for (place, outline) in outlines.iter().enumerate() {
            let names = [&outline.server, &outline.host];
            let owners: [usize; 2] = std::array::from_fn(|side| {
                names[side].as_ref().map_or(place, |name| *first[side].entry(name).or_insert(place))
            });
            let [user_port, server_port] = outline.ports;
            let at = |side: usize| {
                let [high, low] = (owners[side] as u16 + 1).to_be_bytes();
                let [a, b] = NETWORKS[side];
                Endpoint { address: [a, b, high, low], port: [server_port, user_port][side] }
            };
            let [source, sink] = if outline.direction == Direction::Down { [0, 1] } else { [1, 0] };
            flows.push(Flow {
                kind: outline.kind,
                data: outline.direction,
                ends: [at(source), at(sink)],
                // The sender of the data, unless it is a server whose port the scenario says.
                opener: usize::from(outline.port.is_some() && outline.direction == Direction::Down),
                hosts: [source, sink].map(|side| 2 * owners[side] + side),
                connections: HashMap::new(),
                under_way: Default::default(),
            });
        }
        Some(Self { flows, next_ids: vec![0; 2 * outlines.len()] })
    }

    /// Returns the flow number `flow`.
    pub(crate) fn get(&mut self, flow: u32) -> &mut Flow {
        &mut self.flows[flow as usize]
    }

    /// Returns the number of `packet`. The sending host gives it when the packet is offered: RFC 791 has a host count
    /// its packets.
    pub(crate) fn ip_id(&mut self, event: Event, direction: Direction, packet: &Packet) -> u16 {
        let flow = &mut self.flows[packet.flow() as usize];
        let end = usize::from(direction != flow.data);
        flow.under_way[end].id(event, packet, &mut self.next_ids[flow.hosts[end]])
    }
}

impl Flow {
    /// Returns source and destination of `packet`. The first connection of an application has the flow's ports. The
    /// others have ports of their own at the end that opens them.
    fn ends(&mut self, direction: Direction, packet: &Packet) -> (Endpoint, Endpoint) {
        let mut ends = self.ends;
        if self.kind.opens_connections() {
            let next = self.connections.len() as u16;
            let number = *self.connections.entry(packet.connection(direction)).or_insert(next);
            if number > 0 {
                ends[self.opener].port = EPHEMERAL.0 + number % EPHEMERAL.1;
            }
        }
        let [source, sink] = ends;
        if direction == self.data { (source, sink) } else { (sink, source) }
    }

    /// Returns the values of `packet`'s frame that the packet itself does not hold. `id` is the host's number for the
    /// packet.
    pub(crate) fn route(&mut self, direction: Direction, packet: &Packet, id: u16, ttl: u8) -> Route {
        let inner = match (self.kind.is_icmp, direction == self.data) {
            (true, true) => Inner::EchoRequest,
            (true, false) => Inner::EchoReply,
            (false, _) => Inner::Udp,
        };
        let (from, to) = self.ends(direction, packet);
        Route { from, to, id, ttl, inner }
    }

    /// Returns the number that the sending host gave to `packet`, which is on the air and has left the queue.
    pub(crate) fn ip_id_on_air(&self, direction: Direction, packet: &Packet) -> u16 {
        let through = &self.under_way[usize::from(direction != self.data)].through;
        through.iter().find(|(sent, _)| same(sent, packet)).map_or(0, |(_, id)| *id)
    }
}

impl UnderWay {
    /// Returns the number of `packet`, and notes what became of the packet. `next` is its host's next number.
    fn id(&mut self, event: Event, packet: &Packet, next: &mut u16) -> u16 {
        let Self { waiting, through } = self;
        match event {
            Event::Offered => {
                let id = *next;
                *next = id.wrapping_add(1);
                waiting.push_back((*packet, id));
                id
            }
            Event::Started => {
                let id =
                    waiting.iter().position(|(sent, _)| same(sent, packet)).and_then(|at| waiting.remove(at));
                let id = id.map_or(0, |(_, id)| id);
                through.push_back((*packet, id));
                id
            }
            // Most disciplines drop the arriving packet, so the search begins at the newest.
            Event::Dropped(_) => {
                let at = waiting.iter().rposition(|(sent, _)| same(sent, packet));
                at.and_then(|at| waiting.remove(at)).map_or(0, |(_, id)| id)
            }
            // No packet overtakes another in the pipe. The packets before this one have arrived, or were lost on the
            // air.
            Event::Arrived => loop {
                match through.pop_front() {
                    Some((sent, id)) if same(&sent, packet) => break id,
                    Some(_) => {}
                    None => break 0,
                }
            },
        }
    }
}

/// Returns whether the two packets have the same content. The DS field does not count, because a queue may write it.
fn same(sent: &Packet, seen: &Packet) -> bool {
    let words =
        |packet: &Packet| packet.segment().map(|segment| Segment { ecn: Ecn::NotEct, dscp: 0, ..*segment });
    let connection = |packet: &Packet| packet.connection(Direction::Down);
    connection(sent) == connection(seen) && words(sent) == words(seen) && sent.datagram() == seen.datagram()
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_netsim::Scenario;
    use std::collections::HashSet;

    /// There are more flows than ports here. Without a shift two flows between the same hosts would look like one.
    #[test]
    fn flows_between_the_same_hosts_have_different_ports() {
        let scenario = |hosts: &str| {
            let traffic = format!(r#"{{"kind": "cbr", "rate": "1bit", "count": 25000{hosts}}}"#);
            let text = format!(
                r#"{{"duration": "1s", "bottleneck": {{"rate": "1mbit", "qdisc": "pfifo"}},
                "path": {{"rtt": "1ms"}}, "traffic": [{traffic}]}}"#
            );
            Flows::all(&Scenario::from_json(&text).unwrap().flows()).unwrap().flows
        };
        for hosts in ["", r#", "host": "alice""#, r#", "host": "alice", "server": "cdn""#] {
            let ends = scenario(hosts).into_iter().map(|flow| flow.ends.map(|end| (end.address, end.port)));
            assert_eq!(ends.collect::<HashSet<_>>().len(), 25_000, "{hosts}");
        }
    }
}
