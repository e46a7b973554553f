//! The simulator's side of an application: its connections, and the [`Host`] through which it acts.

use crate::ids::FlowId;
use crate::packet::{Datagram, both_directions};
use crate::sockets::{Outgoing, Socket, Sockets};
use crate::tally::Totals;
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_hosts::traffic::application::{Application, Host, LossyWindows, Message, SocketId};
use goodqueue_hosts::traffic::result;
use goodqueue_tcp::{CcLine, Config, Connection, Handled};
use goodqueue_units::processor::{LINE, prefetch_bytes};
use goodqueue_units::{Instant, Stream as Random};

/// A flow's application, the application's connections, and their totals.
pub(crate) struct App {
    program: Box<dyn Application>,
    desk: Desk,
    started: bool,
    stopped: bool,
    /// Round-trip times as the sender of the flow's data measures them.
    pub(crate) rtt: FlowDelays,
}

/// The state that an application's host keeps for the application.
struct Desk {
    /// In a box, because packets do not need it.
    config: Box<Config>,
    flow: FlowId,
    /// The end that sends the flow's data, and the end that receives the data.
    sender: Side,
    receiver: Side,
    hashes: Random,
    /// The open connections, in no order. Thousands may be open at a time.
    open: Vec<SocketId>,
    /// Slots of its connections that are gone.
    free: Vec<SocketId>,
    /// When the application is woken next; [`Instant::MAX`]: never.
    wake_at: Instant,
    /// Totals of the connections that are gone. `delivered_bytes` counts all connections and datagrams.
    past: Totals,
}

/// The simulator's host of an application.
struct Simulated<'a> {
    now: Instant,
    desk: &'a mut Desk,
    sockets: &'a mut Sockets,
}

impl Host for Simulated<'_> {
    fn now(&self) -> Instant {
        self.now
    }

    fn sender(&self) -> Side {
        self.desk.sender
    }

    fn open(&mut self, opener: Side) -> SocketId {
        let Desk { open, hashes, flow, config, free, .. } = &mut *self.desk;
        let mut hash = both_directions(hashes.next_u32());
        // A packet's hash identifies its connection, so two open connections never share a hash.
        while self.sockets.find(*flow, Direction::Down, hash[Direction::Down]).is_some() {
            hash = both_directions(hashes.next_u32());
        }
        let id = self.sockets.open(config, opener, *flow, hash, free.pop());
        self.sockets[id].place = open.len() as u32;
        open.push(id);
        self.sockets.errands.touched.push((id, opener));
        id
    }

    fn write(&mut self, socket: SocketId, end: Side, bytes: u64) {
        self.sockets[socket].ends[end].write(bytes);
        self.sockets.errands.touched.push((socket, end));
    }

    fn close(&mut self, socket: SocketId, end: Side) {
        // An application that stops closes what may have ended before.
        if let Some(own) = self.sockets.get_mut(socket) {
            own.close(end);
            self.sockets.errands.touched.push((socket, end));
        }
    }

    fn delivered(&self, socket: SocketId, end: Side) -> u64 {
        self.sockets[socket].ends[end].delivered_bytes()
    }

    fn await_bytes(&mut self, socket: SocketId, end: Side, bytes: u64) {
        self.sockets[socket].awaited[end] = bytes;
    }

    fn unsent(&self, socket: SocketId, end: Side) -> u64 {
        self.sockets[socket].ends[end].unsent_bytes()
    }

    fn is_established(&self, socket: SocketId, end: Side) -> bool {
        self.sockets[socket].ends[end].is_established()
    }

    fn is_peer_finished(&self, socket: SocketId, end: Side) -> bool {
        self.sockets[socket].ends[end].is_peer_finished()
    }

    fn timeouts(&self, socket: SocketId) -> Option<u64> {
        Some(self.sockets[socket].ends.iter().map(|end| end.stats().timeouts).sum())
    }

    fn lossy_windows(&self, socket: SocketId, end: Side) -> Option<LossyWindows> {
        let stats = self.sockets[socket].ends[end].stats();
        Some(LossyWindows { all: stats.lossy_windows.into(), multi: stats.multi_loss_windows.into() })
    }

    fn exchange(&mut self) -> u32 {
        self.desk.hashes.next_u32()
    }

    fn send_datagram(&mut self, end: Side, exchange: u32, Message { number, len, ecn }: Message) {
        let datagram = Datagram { number, len, ecn, dscp: 0, envelope: None };
        self.sockets.errands.datagrams.push_back(Outgoing { end, hash: both_directions(exchange), datagram });
    }

    fn count_delivered(&mut self, bytes: u64) {
        self.desk.past.delivered_bytes += bytes;
    }

    fn wake_at(&mut self, time: Instant) {
        self.desk.wake_at = time;
    }
}

impl App {
    /// Makes the application of flow `flow`, which sends its data in `direction`. The stream `hashes` gives the
    /// hashes of its connections.
    pub(crate) fn new(
        program: Box<dyn Application>,
        config: Config,
        flow: FlowId,
        direction: Direction,
        hashes: Random,
    ) -> Self {
        let desk = Desk {
            config: Box::new(config),
            flow,
            sender: direction.sender(),
            receiver: direction.receiver(),
            hashes,
            open: Vec::new(),
            free: Vec::new(),
            wake_at: Instant::MAX,
            past: Totals::default(),
        };
        Self { program, desk, started: false, stopped: false, rtt: FlowDelays::new() }
    }

    /// Prefetches the beginning of the program, which has what each packet asks for.
    #[inline]
    pub(crate) fn prefetch_program(&self) {
        prefetch_bytes(&*self.program, 0..3 * LINE);
    }

    /// Returns the application alone.
    pub(crate) fn into_program(self) -> Box<dyn Application> {
        self.program
    }

    /// Returns the congestion control of the application's connections.
    pub(crate) fn cc(&self) -> CcLine {
        self.desk.config.cc_line()
    }

    /// Returns when the application's timer fires. The flow stops at `stop`.
    pub(crate) fn next_time(&self, stop: Instant) -> Instant {
        if self.stopped { Instant::MAX } else { self.desk.wake_at.min(stop) }
    }

    /// Handles the timer: the flow starts or stops, or the application is woken.
    pub(crate) fn handle_timeout(&mut self, now: Instant, stop: Instant, sockets: &mut Sockets) {
        let host = &mut Simulated { now, desk: &mut self.desk, sockets };
        if now >= stop {
            self.stopped = true;
            self.program.stop(host);
        } else if !self.started {
            self.started = true;
            self.program.start(host);
        } else if now >= host.desk.wake_at {
            host.desk.wake_at = Instant::MAX;
            self.program.wake(host);
        }
    }

    /// Takes note of a segment that arrived at an end of a connection. `handled` says what the segment brought. Returns
    /// whether the application was told of it, and may have acted.
    pub(crate) fn handled(
        &mut self,
        now: Instant,
        (socket, end): (SocketId, Side),
        handled: Handled,
        sockets: &mut Sockets,
    ) -> bool {
        if let (Some(rtt), true) = (handled.rtt, end == self.desk.sender) {
            self.rtt.record(rtt);
        }
        if end == self.desk.receiver {
            self.desk.past.delivered_bytes += u64::from(handled.newly_delivered_bytes);
        }
        let own = &mut sockets[socket];
        let (before, stage) = own.advance(end);
        let has_come = || own.ends[end].delivered_bytes() >= own.awaited[end] || self.desk.wake_at <= now;
        let is_told = stage != before || handled.newly_delivered_bytes > 0 && has_come();
        if is_told {
            sockets.errands.touched.push((socket, end));
            let host = &mut Simulated { now, desk: &mut self.desk, sockets };
            self.program.notice(socket, end, host);
        }
        is_told
    }

    /// Takes a datagram that arrived at `end`.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        end: Side,
        datagram: Datagram,
        sockets: &mut Sockets,
    ) {
        let host = &mut Simulated { now, desk: &mut self.desk, sockets };
        let Datagram { number, len, ecn, .. } = datagram;
        self.program.datagram(Message { number, len, ecn }, end, host);
    }

    /// Releases `socket` if both of its ends are closed. Something has happened at `end`, so it is asked first: the
    /// other one is in no cache. Returns whether the socket was released.
    pub(crate) fn let_go(&mut self, (socket, end): (SocketId, Side), sockets: &mut Sockets) -> bool {
        let Some(Socket { ends, place, .. }) = sockets.get(socket) else { return false };
        if !ends[end].is_closed() || !ends[end.other()].is_closed() {
            return false;
        }
        let (totals, place) = (Totals::of_sender(&ends[self.desk.sender]), *place);
        sockets.release(socket);
        self.desk.past += totals;
        self.desk.free.push(socket);
        self.desk.open.swap_remove(place as usize);
        if let Some(moved) = self.desk.open.get(place as usize) {
            sockets[*moved].place = place;
        }
        true
    }

    /// Begins measuring.
    pub(crate) fn measure_from(&mut self, now: Instant) {
        self.rtt.reset();
        self.program.measure_from(now);
    }

    /// Returns what the application measured up to `now`, if it measures.
    pub(crate) fn result(&self, now: Instant) -> Option<result::Result> {
        self.program.result(now)
    }

    /// Returns what the application was asked for and has not done.
    pub(crate) fn undone(&self) -> result::Undone {
        self.program.undone()
    }

    /// Keeps what the application does from now on, for the time series.
    pub(crate) fn log(&mut self) {
        self.program.log();
    }

    /// Returns what was kept for the flow `name`, if the application keeps anything.
    pub(crate) fn series(&self, name: &str) -> Option<result::Series> {
        self.program.series(name)
    }

    /// Returns the totals of all connections so far.
    pub(crate) fn totals(&self, sockets: &Sockets) -> Totals {
        let open = self.desk.open.iter().map(|id| Totals::of_sender(&sockets[*id].ends[self.desk.sender]));
        open.fold(self.desk.past, |sum, totals| sum + totals)
    }

    /// Puts the totals of open connections to those that are gone: from now on the application needs no `sockets`.
    #[cfg(feature = "threads")]
    pub(crate) fn close_books(&mut self, sockets: &Sockets) {
        self.desk.past = self.totals(sockets);
        self.desk.open.clear();
    }

    /// Returns the sender of the connection that was opened last, if any is open.
    pub(crate) fn sender<'a>(&self, sockets: &'a Sockets) -> Option<&'a Connection> {
        let last = self.desk.open.iter().max_by_key(|id| sockets[**id].number);
        last.map(|id| &sockets[*id].ends[self.desk.sender])
    }
}
