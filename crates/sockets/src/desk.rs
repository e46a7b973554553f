//! The sockets of a flow's application, and the [`Host`] through which the application acts on them.

use crate::connection::Connection;
use crate::datagrams::Datagrams;
use crate::net::{Net, Ready};
use crate::options::{self, Info};
use crate::order::Asked;
use goodqueue_hosts::direction::Side;
use goodqueue_hosts::traffic::application::{Host, Message, SocketId};
use goodqueue_netsim::UNSENT;
use goodqueue_units::{Instant, Stream as Random};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketAddrV4, SocketFlags, acceptfrom_with, bind, connect, getsockname, listen};
use std::collections::{BTreeSet, HashMap};
use std::io;

/// The length of the listen queue, which no flow fills.
const BACKLOG: i32 = 1024;

/// The application's sockets.
pub(crate) struct Desk {
    asked: Asked,
    number: u32,
    /// Whether the sender always has data.
    is_endless: bool,
    pub(crate) sender: Side,
    /// What chooses the way of each connection.
    routes: Random,
    /// The sockets that listen, by side and way.
    listening: HashMap<(Side, u32), OwnedFd>,
    /// Every connection, by its number.
    pub(crate) connections: Vec<Connection>,
    /// The connections that are not over.
    pub(crate) open: BTreeSet<u32>,
    /// The connections that are not accepted: by the side that listens, the way, and the port of the opener.
    expected: HashMap<(Side, u32, u16), u32>,
    pub(crate) datagrams: Datagrams,
    /// Ends that may have something to send.
    pub(crate) touched: Vec<(u32, Side)>,
    pub(crate) wake_at: Instant,
    /// The counters of the ends of the sender that are gone.
    pub(crate) past: [u64; 3],
    /// Why a socket failed first.
    pub(crate) failure: Option<io::Error>,
}

/// What an application sees during one event.
pub(crate) struct Sockets<'a> {
    pub(crate) now: Instant,
    pub(crate) desk: &'a mut Desk,
    pub(crate) net: &'a mut Net,
}

impl Host for Sockets<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn sender(&self) -> Side {
        self.desk.sender
    }

    fn open(&mut self, opener: Side) -> SocketId {
        let index = self.desk.connections.len() as u32;
        self.desk.connections.push(Connection::new(opener));
        self.desk.open.insert(index);
        self.desk.touched.push((index, opener));
        SocketId::at(index as usize)
    }

    fn write(&mut self, socket: SocketId, end: Side, bytes: u64) {
        self.desk.connections[socket.index()].end_mut(end).write(bytes);
        self.desk.touched.push((socket.index() as u32, end));
    }

    fn close(&mut self, socket: SocketId, end: Side) {
        self.desk.connections[socket.index()].end_mut(end).close();
        self.desk.touched.push((socket.index() as u32, end));
    }

    fn delivered(&self, socket: SocketId, end: Side) -> u64 {
        self.desk.connections[socket.index()].end(end).delivered
    }

    fn unsent(&self, socket: SocketId, end: Side) -> u64 {
        self.desk.connections[socket.index()].end(end).unsent()
    }

    fn is_established(&self, socket: SocketId, end: Side) -> bool {
        self.desk.connections[socket.index()].end(end).is_established
    }

    fn is_peer_finished(&self, socket: SocketId, end: Side) -> bool {
        self.desk.connections[socket.index()].end(end).is_peer_finished
    }

    /// Returns none, since Linux counts timeouts by connection only since 6.7.
    fn timeouts(&self, _socket: SocketId) -> Option<u64> {
        None
    }

    /// Returns none, since Linux tells of no window.
    fn exchange(&mut self) -> u32 {
        self.desk.datagrams.exchange()
    }

    fn send_datagram(&mut self, end: Side, exchange: u32, message: Message) {
        let Desk { datagrams, asked, number, .. } = &mut *self.desk;
        let event = (self.now, end);
        if let Err(error) = datagrams.send(self.net, (asked, *number), event, exchange, message) {
            self.desk.fail("datagram", error);
        }
    }

    /// Does nothing, since the captures count what arrived.
    fn count_delivered(&mut self, _bytes: u64) {}

    fn wake_at(&mut self, time: Instant) {
        self.desk.wake_at = time;
    }
}

impl Desk {
    /// Opens the sockets that listen, for what the ends of flow number `number` will open.
    pub(crate) fn listen(
        (asked, number): (Asked, u32),
        is_tcp: bool,
        is_endless: bool,
        sender: Side,
        routes: Random,
        net: &mut Net,
    ) -> io::Result<Self> {
        let mut listening = HashMap::new();
        for side in Side::ALL.into_iter().filter(|_| is_tcp) {
            net.enter(side)?;
            for route in 0..asked.ports.len() {
                let made = options::tcp(&asked)?;
                bind(&made, &asked.listening(side, route))?;
                listen(&made, BACKLOG)?;
                net.watch(&made, number, Ready::Listener(side, route as u32))?;
                listening.insert((side, route as u32), made);
            }
        }
        let datagrams =
            if is_endless { Datagrams::default() } else { Datagrams::listen(net, &asked, number)? };
        Ok(Self {
            asked,
            number,
            is_endless,
            sender,
            routes,
            listening,
            connections: Vec::new(),
            open: BTreeSet::new(),
            expected: HashMap::new(),
            datagrams,
            touched: Vec::new(),
            wake_at: Instant::MAX,
            past: [0; 3],
            failure: None,
        })
    }

    fn fail(&mut self, what: &str, error: io::Error) {
        self.failure.get_or_insert(io::Error::new(error.kind(), format!("{what}: {error}")));
    }

    /// Opens the connection `index` from `opener`, on one of the flow's ways.
    fn connect(&mut self, index: u32, opener: Side, net: &mut Net) -> io::Result<()> {
        let ways = self.asked.ports.len();
        let route = if ways > 1 { (self.routes.next_f64() * ways as f64) as usize } else { 0 };
        net.enter(opener)?;
        let made = options::tcp(&self.asked)?;
        let mut port = 0;
        if self.is_endless {
            options::set_unsent(&made, UNSENT)?;
            port = self.asked.first_port;
        }
        bind(&made, &SocketAddrV4::new(self.asked.address(opener), port))?;
        match connect(&made, &self.asked.listening(opener.other(), route)) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let from: SocketAddrV4 = getsockname(&made)?.try_into()?;
        self.expected.insert((opener.other(), route as u32, from.port()), index);
        net.watch(&made, self.number, Ready::End(opener, index))?;
        self.connections[index as usize].end_mut(opener).socket = Some(made);
        Ok(())
    }

    /// Takes the next connection that has arrived at a listening socket. Returns its number.
    pub(crate) fn accept(&mut self, side: Side, route: u32, net: &Net) -> io::Result<Option<u32>> {
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let (made, from) = match acceptfrom_with(&self.listening[&(side, route)], flags) {
            Err(Errno::AGAIN | Errno::INTR | Errno::CONNABORTED) => return Ok(None),
            got => got?,
        };
        let from: SocketAddrV4 = from.ok_or(Errno::INVAL)?.try_into()?;
        let Some(index) = self.expected.remove(&(side, route, from.port())) else { return Ok(None) };
        net.watch(&made, self.number, Ready::End(side, index))?;
        let end = self.connections[index as usize].end_mut(side);
        (end.socket, end.is_established) = (Some(made), true);
        Ok(Some(index))
    }

    /// Opens connections and gives the sockets of the ends that were touched what they take, in the order of the
    /// application's calls. Forgets connections that are over.
    pub(crate) fn serve(&mut self, net: &mut Net) {
        for (index, side) in std::mem::take(&mut self.touched) {
            if self.connections[index as usize].is_to_open(side)
                && let Err(error) = self.connect(index, side, net)
            {
                self.fail("connect", error);
            }
            if self.connections[index as usize].end_mut(side).flush(net) {
                let end = self.connections[index as usize].end_mut(side);
                if let Some(socket) = end.socket.take()
                    && side == self.sender
                    && let Ok(info) = Info::of(&socket)
                {
                    self.past = added(self.past, info.sent());
                }
                if Side::ALL.iter().all(|&side| self.connections[index as usize].end(side).socket.is_none()) {
                    self.open.remove(&index);
                }
            }
        }
    }
}

pub(crate) fn added(sums: [u64; 3], more: [u64; 3]) -> [u64; 3] {
    [0, 1, 2].map(|place| sums[place] + more[place])
}
