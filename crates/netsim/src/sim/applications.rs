//! The loop's part for applications: their connections' segments and timers, and their datagrams.

use super::Simulation;
use crate::flow::Source;
use crate::ids::{FlowId, Timer};
use crate::packet::{Body, Datagram, Packet};
use crate::sockets::Outgoing;
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::traffic::application::SocketId;
use goodqueue_tcp::Handled;
use goodqueue_units::Instant;

impl Simulation {
    /// Tells the application of `flow` that an `end` of one of its connections has taken a segment.
    #[inline(never)] // out of the way of flows that are no applications
    pub(super) fn heard(&mut self, flow: FlowId, end: (SocketId, Side), handled: Handled) {
        let Source::App(app) = &mut self.flows[flow].source else { return };
        if app.handled(self.now, end, handled, &mut self.sockets) {
            return self.serve(flow);
        }
        // The application was told nothing, so it has done nothing.
        self.let_send(flow, end);
        self.let_go(flow, end);
    }

    /// Gives a datagram to the application of `flow`.
    #[cold]
    pub(super) fn heard_datagram(&mut self, flow: FlowId, direction: Direction, datagram: Datagram) {
        let Source::App(app) = &mut self.flows[flow].source else {
            unreachable!("a flow's packets are its own")
        };
        app.handle_datagram(self.now, direction.receiver(), datagram, &mut self.sockets);
        self.serve(flow);
    }

    /// Handles the timer of end `end` of an application's connection.
    pub(super) fn socket_timer(&mut self, socket: SocketId, end: Side) {
        if self.has_many_sockets() {
            self.look_ahead_of_socket_timers();
        }
        let flow = self.sockets[socket].flow;
        self.agenda.set(self.components.socket(socket, end), Instant::MAX);
        self.sockets[socket].timers[end] = Instant::MAX;
        self.sockets[socket].ends[end].handle_due(self.now);
        self.let_send(flow, (socket, end));
        self.let_go(flow, (socket, end));
    }

    /// Does what the application of `flow` has left to be done: its connections send what they may, closed ones are
    /// released, and the timers are set.
    pub(super) fn serve(&mut self, flow: FlowId) {
        let known = (self.agenda.len() - self.components.count(0)) / Side::ALL.len();
        for id in self.sockets.numbers_from(known) {
            let rank = self.components.rank_of_sockets(self.sockets[id].flow);
            Side::ALL.into_iter().for_each(|_| self.agenda.add(rank));
        }
        while let Some(outgoing) = self.sockets.errands.datagrams.pop_front() {
            self.send_outgoing(flow, outgoing);
        }
        let mut touched = std::mem::take(&mut self.sockets.errands.touched);
        touched.iter().for_each(|&end| self.let_send(flow, end));
        touched.iter().for_each(|&end| self.let_go(flow, end));
        touched.clear();
        self.sockets.errands.touched = touched;
        let Source::App(app) = &self.flows[flow].source else { return };
        self.agenda.set(self.components.flow(flow, Timer::Sender), app.next_time(self.flow_paths[flow].stop));
    }

    /// Lets an end of an application's connection send what it may.
    #[inline]
    fn let_send(&mut self, flow: FlowId, (socket, end): (SocketId, Side)) {
        self.pump(flow, end, Some(socket));
        if self.sockets[socket].closes(end) {
            self.pump(flow, end, Some(socket));
        }
    }

    /// Releases an application's connection if it is closed.
    #[inline]
    fn let_go(&mut self, flow: FlowId, at: (SocketId, Side)) {
        let Source::App(app) = &mut self.flows[flow].source else { return };
        if app.let_go(at, &mut self.sockets) {
            for end in Side::ALL {
                self.agenda.set(self.components.socket(at.0, end), Instant::MAX);
            }
        }
    }

    #[cold]
    fn send_outgoing(&mut self, flow: FlowId, Outgoing { end, hash, datagram }: Outgoing) {
        let direction = end.sends();
        let body = Body::Datagram(Datagram { dscp: self.flow_paths[flow].dscp, ..datagram });
        let (arrival, hash) = (self.now, hash[direction]);
        let packet = Packet { arrival, flow, hash, body };
        self.offer(direction, packet);
    }
}
