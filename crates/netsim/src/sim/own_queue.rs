//! The loop's part for senders whose first hop is a queue of their own host (`[[host]]`): they hear of what it drops
//! while they hand packets down, and with TCP small queues of each packet that leaves it. If it is `fq`, it paces them.

use super::Simulation;
use super::row::{Node, Row};
use crate::flow::Flow;
use crate::ids::{FlowId, LinkId};
use crate::ledger::{Fates, Queue};
use crate::link::Link;
use crate::lists::{List, PerFlow, PerSide};
use crate::packet::{Body, Packet};
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::traffic::application::SocketId;
use goodqueue_qdisc::{Enqueued, Qdisc};
use goodqueue_tcp::{Connection, LocalCongestion, Segment};
use goodqueue_units::Instant;

impl Row {
    /// Returns which ends of `flows` have a first queue that paces them, if any host has a queue of its own.
    pub(super) fn paced(
        &self,
        flows: &PerFlow<Flow>,
        links: &List<LinkId, Link>,
    ) -> Option<PerFlow<PerSide<bool>>> {
        let of = |flow| PerSide::of(|end: Side| self.queue_paces(flow, end.sends(), links));
        self.have_own_queues().then(|| flows.numbers().map(of).collect())
    }

    /// Returns whether the first hop of packets of `flow` is a queue of their sender's host that paces TCP.
    fn queue_paces(&self, flow: FlowId, direction: Direction, links: &List<LinkId, Link>) -> bool {
        let link = match self.entry(flow, direction) {
            Node::Bottleneck => Some(&links[LinkId::bottleneck(direction)]),
            Node::Hop(hop) => self.hops[hop].link(),
            Node::Host | Node::Cell => None, // a cell's queues are mac80211's, or have no fq
        };
        self.has_own_queue(flow, direction) && link.is_some_and(|link| link.qdisc.paces_sockets())
    }
}

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

    /// Does what [`pump`](Self::pump) does for a sender whose first hop is a queue of its host: one packet after the
    /// other, until the queue refuses one.
    #[cold]
    pub(super) fn hand_down(&mut self, flow: FlowId, end: Side, socket: Option<SocketId>) {
        let (now, direction) = (self.now, end.sends());
        let Some(row) = &self.row else { return };
        let (node, is_whole) = (row.entry(flow, direction), row.takes_whole(flow, direction));
        let mut next = None;
        while let Some(segment) = next.take().or_else(|| self.segment_to_leave(flow, end, socket)) {
            let mut segment = segment;
            while is_whole && self.connection(flow, end, socket).is_amid_packet() {
                next = self.segment_to_leave(flow, end, socket);
                let Some(joined) = next.and_then(|next| segment.join_departing(&next)) else { break };
                (segment, next) = (joined, None);
            }
            let hash = socket.map_or(self.flow_paths[flow].hash, |id| self.sockets[id].hash)[direction];
            let path = &mut self.flow_paths[flow];
            path.offered[direction] += u64::from(segment.parts());
            let body = Body::Tcp(Segment { dscp: path.dscp, ..segment });
            let congestion = match self.enter(node, direction, Packet { arrival: now, flow, hash, body }) {
                Enqueued::Success => continue,
                Enqueued::Congestion => LocalCongestion::Noticed,
                Enqueued::Dropped => LocalCongestion::Refused,
            };
            self.connection(flow, end, socket).on_local_congestion(now, &segment, congestion);
            if congestion == LocalCongestion::Refused && segment.seq_len() > 0 {
                break; // after a bare ACK the data is tried: only that sets a timer
            }
        }
        self.tell_senders(node, direction);
        let deadline = self.connection(flow, end, socket).poll_timeout().unwrap_or(Instant::MAX);
        let fires = match socket {
            Some(id) => &mut self.sockets[id].timers[end],
            None => &mut self.flow_paths[flow].timers[end],
        };
        if deadline < *fires {
            *fires = deadline;
            self.agenda.set(self.timer_of(flow, end, socket), deadline);
        }
    }

    /// Returns the next segment of a sender that its connection hands down now, with its departure time.
    fn segment_to_leave(&mut self, flow: FlowId, end: Side, socket: Option<SocketId>) -> Option<Segment> {
        let now = self.now;
        let connection = self.connection(flow, end, socket);
        let segment = connection.poll_transmit(now)?;
        Some(connection.departure().map_or(segment, |departure| segment.leaving_at(departure)))
    }

    fn connection(&mut self, flow: FlowId, end: Side, socket: Option<SocketId>) -> &mut Connection {
        match socket {
            Some(id) => &mut self.sockets[id].ends[end],
            None => &mut self.sockets.bulk[flow].ends[end],
        }
    }

    /// Tells the senders of packets of `direction` which of them have left `node`. Those that waited send on.
    #[inline]
    pub(super) fn tell_senders(&mut self, node: Node, direction: Direction) {
        if let Some(row) = &mut self.row
            && row.may_tell
        {
            row.may_tell = false;
            self.tell_all(node, direction);
        }
    }

    /// Tells senders until no freed packet is left.
    fn tell_all(&mut self, node: Node, direction: Direction) {
        while let Some((flow, hash)) =
            self.fates_mut(node, direction).and_then(|fates| fates.freed.as_mut()?.take())
        {
            self.tell_sender(flow, hash, direction);
        }
        if let Some(row) = &mut self.row {
            row.may_tell = true;
        }
    }

    fn tell_sender(&mut self, flow: FlowId, hash: u32, direction: Direction) {
        let (end, mut socket) = (direction.sender(), None);
        if !self.flow_paths[flow].is_bulk {
            socket = self.sockets.find(flow, direction, hash);
            if socket.is_none() {
                return; // the connection has ended
            }
        }
        if self.connection(flow, end, socket).on_freed() {
            self.pump(flow, end, socket);
        }
    }
}
