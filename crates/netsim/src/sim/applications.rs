//! The loop's part for applications: their connections' segments and timers, and their datagrams.

use super::Simulation;
use crate::agenda::Component;
use crate::flow::Source;
use crate::packet::{Body, Datagram, Packet};
use crate::scenario::Direction;
use crate::sockets::SocketId;
use crate::traffic::app::{App, Outgoing};
use goodqueue_tcp::Handled;
use goodqueue_units::Instant;

impl Simulation {
    /// An end of a connection of the application of flow `index` has taken a segment.
    #[inline(never)] // out of the way of the flows that are no application
    pub(super) fn heard(&mut self, index: usize, end: (SocketId, usize), handled: Handled) {
        let Source::App(app) = &mut self.flows[index].source else { return };
        app.handled(self.now, end, handled, &mut self.sockets);
        self.serve(index);
    }

    /// The application of flow `index` gets its datagram `number`.
    #[cold]
    pub(super) fn heard_datagram(&mut self, index: usize, direction: Direction, number: u32) {
        let Source::App(app) = &mut self.flows[index].source else {
            unreachable!("a flow's packets are its own")
        };
        app.handle_datagram(self.now, direction.index(), number, &mut self.sockets);
        self.serve(index);
    }

    /// The timer of end `end` of an application's connection.
    pub(super) fn socket_timer(&mut self, socket: SocketId, end: usize) {
        let index = self.sockets[socket].flow as usize;
        self.agenda.set(self.socket_timer_of(socket, end), Instant::MAX);
        self.sockets[socket].timers[end] = Instant::MAX;
        let Source::App(app) = &mut self.flows[index].source else { return };
        app.handle_socket_timeout(self.now, (socket, end), &mut self.sockets);
        self.serve(index);
    }

    /// Lets the connections of the application of flow `index` send what they may, lets go of those that are over, and
    /// sets the timers.
    pub(super) fn serve(&mut self, index: usize) {
        let sockets = self.sockets.len() as SocketId;
        self.agenda.grow(self.socket_timer_of(sockets, 0) as usize);
        while let Some(outgoing) = self.app(index).and_then(App::next_datagram) {
            self.send_outgoing(index, outgoing);
        }
        let Some(touched) = self.app(index).map(App::take_touched) else { return };
        for &(id, end) in &touched {
            self.pump(index, end, Some(id));
            if self.sockets[id].closes(end) {
                self.pump(index, end, Some(id));
            }
        }
        let (app_timer, first) = (self.timer(index, 0), self.socket_timer_of(0, 0));
        let Source::App(app) = &mut self.flows[index].source else { return };
        for &(id, _) in &touched {
            if app.let_go(id, &mut self.sockets) {
                self.agenda.set(first + 2 * id, Instant::MAX);
                self.agenda.set(first + 2 * id + 1, Instant::MAX);
            }
        }
        app.served(touched);
        self.agenda.set(app_timer, app.next_time(self.ways[index].stop));
    }

    #[cold]
    fn send_outgoing(&mut self, index: usize, Outgoing { end, hash, datagram }: Outgoing) {
        let direction = Direction::ALL[end].reverse();
        let body = Body::Datagram(Datagram { dscp: self.ways[index].dscp, ..datagram });
        let (arrival, hash) = (self.now, hash[direction.index()]);
        let packet = Packet { arrival, flow: index as u32, hash, body };
        self.offer(direction, packet);
    }

    fn app(&mut self, index: usize) -> Option<&mut App> {
        match &mut self.flows[index].source {
            Source::App(app) => Some(app),
            Source::Bulk(_) | Source::Isochronous(_) => None,
        }
    }

    /// The timers of applications' connections come after those of the flows; there are ever as many as ever were needed.
    pub(super) fn socket_timer_of(&self, socket: SocketId, end: usize) -> Component {
        self.timer(self.flows.len(), 0) + 2 * socket + end as u32
    }
}
