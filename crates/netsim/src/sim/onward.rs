//! The loop's part for paths with more than one hop: packets that go on from one hop to the next.

use super::Simulation;
use super::row::{Body, HopState, Node, Part};
use crate::component::Component;
use crate::direction::Direction;
use crate::ids::{LinkId, PartId};
use crate::packet::Packet;

impl Simulation {
    /// Lets the part `id` of the row act.
    #[cold]
    pub(super) fn hop_acts(&mut self, id: PartId) {
        let (now, agenda) = (self.now, &mut self.agenda);
        let Some(row) = &mut self.row else { return };
        let part = row.part(id);
        let (from, packet) = match part {
            Part::BottleneckOnward(direction) => {
                let link = &mut self.links[LinkId::bottleneck(direction)];
                (Some(Node::Bottleneck), link.take_onward(now, agenda))
            }
            Part::GateWire(direction) => return self.links[LinkId::gate(direction)].settle(now, agenda),
            Part::GateOnward(direction) => {
                (None, self.links[LinkId::gate(direction)].take_onward(now, agenda))
            }
            Part::Timer(hop) | Part::Wire(hop) | Part::Onward(hop) => {
                let Body::Link(link) = &mut row.hops[hop].body else { return };
                match part {
                    Part::Timer(_) => return link.on_timer(now, agenda),
                    Part::Wire(_) => return link.settle(now, agenda),
                    _ => (Some(Node::Hop(hop)), link.take_onward(now, agenda)),
                }
            }
            Part::Release(hop) => (Some(Node::Hop(hop)), row.hops[hop].release(now, agenda)),
            Part::Cell => return self.cell_acts(),
        };
        let Some(packet) = packet else { return };
        let direction = match part {
            Part::BottleneckOnward(direction) | Part::GateWire(direction) | Part::GateOnward(direction) => {
                direction
            }
            Part::Timer(hop) | Part::Wire(hop) | Part::Onward(hop) | Part::Release(hop) => {
                self.scenario.hops.list[hop].direction
            }
            Part::Cell => return,
        };
        let flow = packet.flow;
        if let Some(fates) = from.and_then(|from| self.fates_mut(from, direction)) {
            fates.free(&packet);
        }
        let Some(row) = &self.row else { return };
        let next = from.map_or_else(|| row.entry(flow, direction), |from| row.next(flow, direction, from));
        self.enter(next, direction, packet);
        for node in from.into_iter().chain([next]) {
            self.tell_senders(node, direction);
        }
    }

    /// Puts `packet` into `node`, where it arrives now.
    pub(super) fn enter(&mut self, node: Node, direction: Direction, packet: Packet) {
        let (now, agenda) = (self.now, &mut self.agenda);
        match (node, &mut self.row) {
            (Node::Hop(hop), Some(row)) => HopState::enter(&mut row.hops[hop], now, packet, agenda),
            (Node::Host, Some(row)) => {
                let pipes = &mut self.links[LinkId::bottleneck(direction)].pipes;
                let pipe = pipes.by(row.exit(packet.flow, direction), &packet);
                if let Some(time) = pipes.push(pipe, now, &packet) {
                    agenda.set(Component::pipe(direction, pipe), time);
                }
            }
            (_, Some(row)) if row.cell.is_some() => {
                let Some(cell) = &mut row.cell else { return };
                cell.offer(now, direction, Packet { arrival: now, ..packet });
                agenda.set(row.cell_component, cell.next_time());
            }
            _ => {
                let link = &mut self.links[LinkId::bottleneck(direction)];
                link.settle(now, agenda);
                link.offer(now, Packet { arrival: now, ..packet }, agenda);
            }
        }
    }
}
