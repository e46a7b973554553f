//! The loop's part for TCP small queues: senders hear of the packets that left the queues of their hosts.

use super::Simulation;
use super::row::Node;
use crate::flow::Source;
use crate::ids::{FlowId, LinkId};
use crate::ledger::{Fates, Queue};
use goodqueue_hosts::direction::Direction;

impl Simulation {
    /// Returns what became of the packets of `direction` at `node`, if it has a queue.
    pub(super) fn fates_mut(&mut self, node: Node, direction: Direction) -> Option<&mut Fates> {
        let row = self.row.as_deref_mut();
        let ledger = match node {
            Node::Host => return None,
            Node::Bottleneck => &mut self.links[LinkId::bottleneck(direction)].ledger,
            Node::Hop(hop) => &mut row?.hops[hop].link_mut()?.ledger,
            Node::Cell => row?.cell.as_mut()?.senders[direction].ledger_mut(),
        };
        Some(&mut ledger.fates)
    }

    /// Tells the senders of packets of `direction` which of them have left `node`. Those that waited send on.
    pub(super) fn tell_senders(&mut self, node: Node, direction: Direction) {
        while let Some((flow, hash)) =
            self.fates_mut(node, direction).and_then(|fates| fates.freed.as_mut()?.take())
        {
            self.tell_sender(flow, hash, direction);
        }
    }

    fn tell_sender(&mut self, flow: FlowId, hash: u32, direction: Direction) {
        let (end, mut socket) = (direction.sender(), None);
        let connection = if self.flow_paths[flow].is_bulk {
            &mut self.sockets.bulk[flow].ends[end]
        } else {
            let Source::App(app) = &self.flows[flow].source else { return };
            let Some(id) = app.socket(direction, hash) else { return }; // the connection has ended
            socket = Some(id);
            &mut self.sockets[id].ends[end]
        };
        if connection.on_freed() {
            self.pump(flow, end, socket);
        }
    }
}
