//! A flow: its application, its sockets, and the [`Host`] through which the application acts on them.

use crate::connection::{Connection, ENDLESS};
use crate::datagrams::Datagrams;
use crate::net::{Net, Ready};
use crate::options::{self, Info};
use crate::order::{Asked, at};
use goodqueue_netsim::record::AppRecord;
use goodqueue_netsim::traffic::Kind;
use goodqueue_netsim::traffic::application::{Application, Host, Message};
use goodqueue_netsim::{Program, Side, SocketId};
use goodqueue_units::{Instant, Stream as Random};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketAddrV4, SocketFlags, acceptfrom_with, bind, connect, getsockname, listen, sockopt};
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};
use std::io;

/// The length of the listen queue, which no flow fills.
const BACKLOG: i32 = 1024;

/// A flow of the run.
pub(crate) struct Flow {
    name: String,
    kind: &'static Kind,
    /// None: the sender always has data.
    application: Option<Box<dyn Application>>,
    desk: Desk,
    start: Instant,
    stop: Instant,
    is_started: bool,
    is_stopped: bool,
    /// The times of the samples, each with the counters of the sender's ends until then: see [`Info::sent`].
    sent: Vec<(f64, [u64; 3])>,
    /// The times of the samples, each with the TCP_INFO of the sender's end that was opened last.
    infos: Vec<(f64, String)>,
}

/// The application's sockets.
struct Desk {
    asked: Asked,
    number: u32,
    /// Whether the sender always has data.
    is_endless: bool,
    sender: Side,
    /// What chooses the way of each connection.
    routes: Random,
    /// The sockets that listen, by side and way.
    listening: HashMap<(Side, u32), OwnedFd>,
    /// Every connection, by its number.
    connections: Vec<Connection>,
    /// The connections that are not over.
    open: BTreeSet<u32>,
    /// The connections that are not accepted: by the side that listens, the way, and the port of the opener.
    expected: HashMap<(Side, u32, u16), u32>,
    datagrams: Datagrams,
    /// Ends that may have something to send.
    touched: Vec<(u32, Side)>,
    wake_at: Instant,
    /// The counters of the ends of the sender that are gone.
    past: [u64; 3],
    /// Why a socket failed first.
    failure: Option<io::Error>,
}

/// What an application sees during one event.
struct Sockets<'a> {
    now: Instant,
    desk: &'a mut Desk,
    net: &'a mut Net,
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
        self.desk.connections.push(Connection::default());
        self.desk.open.insert(index);
        if let Err(error) = self.desk.connect(index, opener, self.net) {
            self.desk.fail("connect", error);
        }
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

    fn is_established(&self, socket: SocketId, end: Side) -> bool {
        self.desk.connections[socket.index()].end(end).is_established
    }

    fn is_peer_finished(&self, socket: SocketId, end: Side) -> bool {
        self.desk.connections[socket.index()].end(end).is_peer_finished
    }

    /// Linux counts timeouts by connection only since 6.7.
    fn timeouts(&self, _socket: SocketId) -> Option<u64> {
        None
    }

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

    /// The captures count what arrived.
    fn count_delivered(&mut self, _bytes: u64) {}

    fn wake_at(&mut self, time: Instant) {
        self.desk.wake_at = time;
    }
}

impl Desk {
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
            options::set_unsent(&made, self.asked.unsent_bytes)?;
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
    fn accept(&mut self, side: Side, route: u32, net: &Net) -> io::Result<Option<u32>> {
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

    /// Gives the sockets of the ends that were touched what they take, and forgets connections that are over.
    fn serve(&mut self, net: &Net) {
        for (index, side) in std::mem::take(&mut self.touched) {
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

fn added(sums: [u64; 3], more: [u64; 3]) -> [u64; 3] {
    [0, 1, 2].map(|place| sums[place] + more[place])
}

impl Flow {
    /// Makes the flow number `number`, and listens for what its ends will open.
    pub(crate) fn new(
        program: Program,
        asked: Asked,
        number: u32,
        routes: Random,
        net: &mut Net,
    ) -> io::Result<Self> {
        let Program { name, kind, direction, application } = program;
        let mut listening = HashMap::new();
        for side in Side::ALL.into_iter().filter(|_| kind.is_tcp()) {
            net.enter(side)?;
            for route in 0..asked.ports.len() {
                let made = options::tcp(&asked)?;
                bind(&made, &asked.listening(side, route))?;
                listen(&made, BACKLOG)?;
                net.watch(&made, number, Ready::Listener(side, route as u32))?;
                listening.insert((side, route as u32), made);
            }
        }
        let datagrams = match application {
            Some(_) => Datagrams::listen(net, &asked, number)?,
            None => Datagrams::default(),
        };
        let (start, stop) = (at(asked.start_s), at(asked.stop_s));
        let desk = Desk {
            asked,
            number,
            is_endless: application.is_none(),
            sender: direction.sender(),
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
        };
        let (sent, infos) = (Vec::new(), Vec::new());
        Ok(Self {
            name,
            kind,
            application,
            desk,
            start,
            stop,
            is_started: false,
            is_stopped: false,
            sent,
            infos,
        })
    }

    /// Returns when its timer is due: it starts or stops, or its application is woken.
    pub(crate) fn next_time(&self) -> Instant {
        match (self.is_started, self.is_stopped) {
            (_, true) => Instant::MAX,
            (false, false) => self.start.min(self.stop),
            (true, false) => self.desk.wake_at.min(self.stop),
        }
    }

    /// Handles the timer, which is due at `now`.
    pub(crate) fn due(&mut self, now: Instant, net: &mut Net) -> Result<(), String> {
        let (starts, stops) = (!self.is_started, now >= self.stop);
        (self.is_started, self.is_stopped) = (self.is_started || !stops, stops);
        if !stops {
            self.desk.wake_at = Instant::MAX;
        }
        let host = &mut Sockets { now, desk: &mut self.desk, net };
        match &mut self.application {
            _ if starts && stops => {}
            Some(application) if stops => application.stop(host),
            Some(application) if starts => application.start(host),
            Some(application) => application.wake(host),
            None if stops => host.close(SocketId::at(0), host.sender()),
            None => {
                let socket = host.open(host.sender());
                host.write(socket, host.sender(), ENDLESS);
            }
        }
        self.served(net)
    }

    /// Handles `ready`, a socket that has more to read or more room to write.
    pub(crate) fn ready(&mut self, ready: Ready, net: &mut Net) -> Result<(), String> {
        match ready {
            Ready::Listener(side, route) => {
                while let Some(index) = self
                    .desk
                    .accept(side, route, net)
                    .map_err(|error| self.failed(&format!("accept: {error}")))?
                {
                    self.notice(index, side, net);
                }
            }
            Ready::End(side, index) => self.end_ready(side, index, net)?,
            Ready::Exchange(_) | Ready::Datagrams(_) => {
                while let Some(arrival) = self
                    .desk
                    .datagrams
                    .take(net, ready)
                    .map_err(|error| self.failed(&format!("datagram: {error}")))?
                {
                    let host = &mut Sockets { now: arrival.at, desk: &mut self.desk, net };
                    if let Some(application) = &mut self.application {
                        application.datagram(arrival.message, arrival.end, host);
                    }
                }
            }
        }
        self.served(net)
    }

    fn end_ready(&mut self, side: Side, index: u32, net: &mut Net) -> Result<(), String> {
        let end = self.desk.connections[index as usize].end_mut(side);
        let Some(socket) = &end.socket else { return Ok(()) };
        let is_new = !end.is_established;
        if is_new && let Err(error) = sockopt::socket_error(socket).unwrap_or_else(Err) {
            return Err(self.failed(&format!("connect: {}", io::Error::from(error))));
        }
        end.is_established = true;
        let changed = end.take(net);
        self.desk.touched.push((index, side));
        if is_new || changed {
            self.notice(index, side, net);
        }
        Ok(())
    }

    /// Tells the application of news at an end. A program that reads end-of-file closes its own end.
    fn notice(&mut self, index: u32, side: Side, net: &mut Net) {
        let host = &mut Sockets { now: net.clock.now(), desk: &mut self.desk, net };
        let socket = SocketId::at(index as usize);
        if let Some(application) = &mut self.application {
            application.notice(socket, side, host);
        }
        if host.is_peer_finished(socket, side) {
            host.close(socket, side);
        }
        self.desk.touched.push((index, side));
    }

    fn served(&mut self, net: &mut Net) -> Result<(), String> {
        self.desk.serve(net);
        self.desk.failure.take().map_or(Ok(()), |error| Err(self.failed(&error.to_string())))
    }

    fn failed(&self, why: &str) -> String {
        format!("flow {}: {why}", self.name)
    }

    /// Begins to keep the time series of its kind.
    pub(crate) fn log(&mut self) {
        if let Some(application) = &mut self.application {
            application.log();
        }
    }

    /// Begins measuring.
    pub(crate) fn measure_from(&mut self, now: Instant) {
        if let Some(application) = &mut self.application {
            application.measure_from(now);
        }
    }

    /// Reads the state of the sender's ends, if the flow has started.
    pub(crate) fn sample(&mut self, now: Instant) {
        if !self.is_started || !self.kind.is_tcp() {
            return;
        }
        let (sender, seconds) = (self.desk.sender, now.as_secs_f64());
        let sockets = |index: &u32| self.desk.connections[*index as usize].end(sender).socket.as_ref();
        let infos = self.desk.open.iter().filter_map(sockets).filter_map(|socket| Info::of(socket).ok());
        let (mut sums, mut last) = (self.desk.past, None);
        for info in infos {
            sums = added(sums, info.sent());
            last = Some(info);
        }
        self.sent.push((seconds, sums));
        if let Some(info) = last.filter(|_| !self.is_stopped) {
            self.infos.push((seconds, info.to_hex()));
        }
    }

    /// Returns its name, and what it measured up to `now`: its part of the record, how long its transfer took if it
    /// made exactly one, its part of the time series, and the samples.
    pub(crate) fn result(&self, now: Instant) -> (String, Value) {
        let application = self.application.as_ref();
        let result = application.and_then(|application| application.result(now));
        let completion_ms = result.as_ref().and_then(|result| result.completion_ms());
        let app = result.map(|result| AppRecord { name: self.name.clone(), kind: self.kind, result });
        let series = application.and_then(|application| application.series(&self.name));
        let found = json!({
            "app": app, "completion_ms": completion_ms, "series": series, "sent": self.sent, "tcp_info": self.infos,
        });
        (self.name.clone(), found)
    }

    /// Ends the flow: resets its connections.
    pub(crate) fn abort(&mut self) {
        self.is_stopped = true;
        self.desk.connections.iter_mut().for_each(Connection::abort);
    }
}
