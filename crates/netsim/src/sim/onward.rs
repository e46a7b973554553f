//! The loop's part for paths of more than a bottleneck: packets that go on from one hop to another.

use super::Simulation;
use super::row::{Body, GATES, HopState, Node, Part};
use crate::agenda::PIPE;
use crate::packet::Packet;
use crate::scenario::Direction;

impl Simulation {
    /// The `place`-th component of the row acts.
    #[cold]
    pub(super) fn hop_acts(&mut self, place: usize) {
        let (now, agenda) = (self.now, &mut self.agenda);
        let Some(row) = &mut self.row else { return };
        let part = row.part(place);
        let (from, packet) = match part {
            Part::BottleneckOnward(end) => (Some(Node::Bottleneck), self.links[end].take_onward(now, agenda)),
            Part::GateWire(end) => return self.links[GATES + end].settle(now, agenda),
            Part::GateOnward(end) => (None, self.links[GATES + end].take_onward(now, agenda)),
            Part::Timer(hop) | Part::Wire(hop) | Part::Onward(hop) => {
                let Body::Link(link) = &mut row.hops[hop].body else { return };
                match part {
                    Part::Timer(_) => return link.on_timer(now, agenda),
                    Part::Wire(_) => return link.settle(now, agenda),
                    _ => (Some(Node::Hop(hop)), link.take_onward(now, agenda)),
                }
            }
            Part::Release(hop) => (Some(Node::Hop(hop)), row.hops[hop].release(now, agenda)),
        };
        let Some(packet) = packet else { return };
        let direction = match part {
            Part::BottleneckOnward(end) | Part::GateWire(end) | Part::GateOnward(end) => Direction::ALL[end],
            Part::Timer(hop) | Part::Wire(hop) | Part::Onward(hop) | Part::Release(hop) => {
                self.scenario.hops.list[hop].direction
            }
        };
        let flow = packet.flow as usize;
        let next = from.map_or_else(|| row.entry(flow, direction), |from| row.next(flow, direction, from));
        self.enter(next, direction, packet);
    }

    /// `packet` arrives at `node` now.
    pub(super) fn enter(&mut self, node: Node, direction: Direction, packet: Packet) {
        let (now, agenda) = (self.now, &mut self.agenda);
        let end = direction.index();
        match (node, &mut self.row) {
            (Node::Hop(hop), Some(row)) => HopState::enter(&mut row.hops[hop], now, packet, agenda),
            (Node::Host, Some(row)) => {
                let pipes = &mut self.links[end].pipes;
                let exit = pipes.resolve(row.exit(packet.flow as usize, direction), &packet);
                if let Some((pipe, time)) = pipes.push(exit, now, &packet) {
                    agenda.set(PIPE + 2 * pipe + end as u32, time);
                }
            }
            _ => {
                let link = &mut self.links[end];
                link.settle(now, agenda);
                link.offer(now, Packet { arrival: now, ..packet }, agenda);
            }
        }
    }
}
