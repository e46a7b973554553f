//! The loop's part for paths with more than one hop: packets that go on from one hop to the next.

use super::Simulation;
use super::places::Part;
use super::row::{Node, Row};
use crate::component::Component;
use crate::ids::{LinkId, PartId};
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::Enqueued;

impl Simulation {
    /// Lets the part `id` of the row act.
    #[cold]
    pub(super) fn hop_acts(&mut self, id: PartId) {
        let (now, agenda) = (self.now, &mut self.agenda);
        let Some(row) = &mut self.row else { return };
        let part = row.part(id);
        let (direction, from, packet) = match part {
            Part::BottleneckOnward(direction) => {
                let link = &mut self.links[LinkId::bottleneck(direction)];
                (direction, Some(Node::Bottleneck), link.take_onward(now, agenda))
            }
            Part::GateWire(direction) => return self.links[LinkId::gate(direction)].settle(now, agenda),
            Part::GateOnward(direction) => {
                (direction, None, self.links[LinkId::gate(direction)].take_onward(now, agenda))
            }
            Part::Timer(hop) | Part::Wire(hop) | Part::Onward(hop) | Part::Release(hop) => {
                let direction = self.scenario.hops.list[hop].direction;
                (direction, Some(Node::Hop(hop)), row.hops[hop].act(part, now, agenda))
            }
            Part::Cell => return self.cell_acts(),
            Part::Card(card) => return self.interrupt(card),
        };
        let Some(packet) = packet else { return };
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

    /// Lets the cell act, and hands over the packets that leave it.
    fn cell_acts(&mut self) {
        let Some(cell) = self.row.as_mut().and_then(|row| row.cell.as_mut()) else { return };
        cell.act(self.now, &mut self.agenda);
        while let Some(row) = &mut self.row
            && let Some((direction, packet)) = row.cell.as_mut().and_then(|cell| cell.leave())
        {
            let next = row.next(packet.flow, direction, Node::Cell);
            if let Some(fates) = self.fates_mut(Node::Cell, direction) {
                fates.free(&packet);
            }
            self.enter(next, direction, packet);
        }
        for direction in Direction::ALL {
            self.tell_senders(Node::Cell, direction);
        }
    }

    /// Puts `packet` into `node`, where it arrives now, or into the card in front of `node`. Returns the answer of the
    /// discipline there, if there is one.
    pub(super) fn enter(&mut self, node: Node, direction: Direction, packet: Packet) -> Enqueued {
        match self.row.as_ref().and_then(|row| row.cards.before(node, direction)) {
            Some(card) => {
                self.enter_card(card, packet);
                Enqueued::Success
            }
            None => self.hand_over(node, direction, packet),
        }
    }

    /// Puts `packet` into `node` itself. Returns as [`enter`](Self::enter).
    pub(super) fn hand_over(&mut self, node: Node, direction: Direction, packet: Packet) -> Enqueued {
        let (now, agenda) = (self.now, &mut self.agenda);
        match (node, self.row.as_deref_mut()) {
            (Node::Hop(hop), Some(row)) => row.hops[hop].enter(now, packet, agenda),
            (Node::Cell, Some(Row { cell: Some(cell), .. })) => {
                cell.offer(now, direction, Packet { arrival: now, ..packet }, agenda)
            }
            (Node::Host, Some(row)) => {
                let pipes = &mut self.links[LinkId::bottleneck(direction)].pipes;
                let pipe = pipes.by(row.exit(packet.flow, direction), &packet);
                if let Some(time) = pipes.push(pipe, now, &packet) {
                    agenda.set(Component::pipe(direction, pipe), time);
                }
                Enqueued::Success
            }
            _ => {
                let link = &mut self.links[LinkId::bottleneck(direction)];
                link.settle(now, agenda);
                link.offer_merged(now, Packet { arrival: now, ..packet }, agenda)
            }
        }
    }
}
