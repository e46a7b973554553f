//! Applications: state machines above TCP connections. They open, write to and close connections during a run.
//!
//! An [`Application`] does no I/O and has no clock. Its caller passes the time and reports what arrived on its
//! connections. The application acts through a [`Host`], and sets the time at which it is woken next. It may have any
//! number of connections at a time, or none, and may send datagrams.

use super::connections::Connections;
use super::result;
use crate::direction::{Direction, Side};
use crate::ids::{FlowId, SocketId};
use crate::keys::{Key, Result, Size, Span, Table, Values, refuse};
use crate::lists::ByDirection;
use crate::packet::{Datagram, both_directions};
use crate::probe::delay::FlowDelays;
use crate::sockets::{Socket, Sockets, Stage};
use crate::tally::Totals;
use goodqueue_tcp::{CcLine, Config, Connection, Handled};
use goodqueue_units::{Duration, Ecn, Instant, Stream as Random};
use std::collections::VecDeque;

/// Upper bound of every key that is a size in bytes.
pub(crate) const MOST_BYTES: Size = Size(1_000_000_000_000_000);
/// Upper bound of the time between two actions of an application.
pub(crate) const LONGEST_WAIT: Span = Span(Duration::from_secs(1_000_000));
/// How many times an application acts. Each kind says what it counts.
pub(crate) const REPEAT: Key<u64> = Key::optional("repeat", "10").range(1, 1_000_000_000);
/// Time from the end of one action to the start of the next.
pub(crate) const AGAIN: Key<Span> =
    Key::with_default("interval", "\"0s\"").range(Span(Duration::ZERO), LONGEST_WAIT).example("\"1s\"");

/// Upper bound of the base RTTs, if each connection has its own.
pub(crate) const RTT_MAX: Key<Span> = Key::optional("rtt_max", "\"150ms\"")
    .help(
        "each connection has its own base round-trip time, uniform between `rtt` and this in steps of 1 ms. The kernel \
         engine has twelve values, the middles of equal parts",
    );
/// The greatest difference between `rtt` and `rtt_max`.
const MOST_SPREAD: Span = Span(Duration::from_secs(1));

/// Refuses an [`RTT_MAX`] that is less than `rtt`, or greater than `rtt` by more than [`MOST_SPREAD`].
pub(crate) fn check_rtts(table: &Table<'_>, rtt: Span, values: &Values) -> Result<()> {
    match values.find(&RTT_MAX) {
        Some(most) if most.0 < rtt.0 || most.0 > rtt.0 + MOST_SPREAD.0 => {
            let accepted = format!("from rtt, {}, to {} more", rtt.0, MOST_SPREAD.0);
            refuse(&table.key("rtt_max"), most.0, &accepted)
        }
        _ => Ok(()),
    }
}

/// What an application does. One object plays both [sides](Side).
pub(crate) trait Application: Send + Sync {
    /// Begins the application, because the flow starts.
    fn start(&mut self, host: &mut Host<'_>);
    /// Acts at the time that the application asked for with [`Host::wake_at`].
    fn wake(&mut self, host: &mut Host<'_>);
    /// Takes note that at `end` of `socket` the handshake is over, more bytes have arrived in order, or the peer has
    /// closed.
    fn notice(&mut self, socket: SocketId, end: Side, host: &mut Host<'_>);
    /// Takes a datagram of this application that arrived at `end`.
    fn datagram(&mut self, _datagram: Datagram, _end: Side, _host: &mut Host<'_>) {}
    /// Ends the application, because the flow's time is over. The application begins nothing new. What is under way may
    /// end.
    fn stop(&mut self, host: &mut Host<'_>);
    /// Begins measuring.
    fn measure_from(&mut self, now: Instant);
    /// Returns what the application measured up to `now`.
    fn result(&self, now: Instant) -> result::Result;
    /// Keeps what the application does from now on: the scenario asks for time series.
    fn log(&mut self) {}
    /// Returns what was kept: the part of the record's time series of the flow `name`.
    fn series(&self, _name: &str) -> Option<result::Series> {
        None
    }
}

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
    config: Config,
    flow: FlowId,
    /// The end that sends the flow's data, and the end that receives the data.
    sender: Side,
    receiver: Side,
    hashes: Random,
    open: Connections,
    /// Ends that may have something to send.
    touched: Vec<(SocketId, Side)>,
    /// Datagrams that ends are about to send.
    datagrams: VecDeque<Outgoing>,
    /// When the application is woken next; [`Instant::MAX`]: never.
    wake_at: Instant,
    /// Totals of the connections that are gone. `delivered_bytes` counts all connections and datagrams.
    past: Totals,
}

/// A datagram, the end that sends it, and its hashes, as a classifier would compute them.
pub(crate) struct Outgoing {
    pub(crate) end: Side,
    pub(crate) hash: ByDirection<u32>,
    pub(crate) datagram: Datagram,
}

/// What an application acts through: its clock, its timer and its sockets.
pub(crate) struct Host<'a> {
    pub(crate) now: Instant,
    desk: &'a mut Desk,
    sockets: &'a mut Sockets,
}

impl Host<'_> {
    /// Returns the end that sends the flow's data.
    pub(crate) fn sender(&self) -> Side {
        self.desk.sender
    }

    /// Returns the end that receives the flow's data.
    pub(crate) fn receiver(&self) -> Side {
        self.desk.receiver
    }

    /// Opens a connection from the end `opener`. Data may be written at once; they are sent as soon as the handshake
    /// allows it.
    pub(crate) fn open(&mut self, opener: Side) -> SocketId {
        let Desk { open, hashes, flow, config, touched, .. } = &mut *self.desk;
        let mut hash = both_directions(hashes.next_u32());
        // A packet's hash identifies its connection, so two open connections never share a hash.
        while open.has(hash[Direction::Down]) {
            hash = both_directions(hashes.next_u32());
        }
        let id = self.sockets.open(config, opener, *flow, hash);
        open.insert(hash[Direction::Down], id);
        touched.push((id, opener));
        id
    }

    /// Writes `bytes` at `end`.
    pub(crate) fn write(&mut self, socket: SocketId, end: Side, bytes: u64) {
        self.sockets[socket].ends[end].write(bytes);
        self.desk.touched.push((socket, end));
    }

    /// Closes `end`: it writes no more. An end also closes by itself, once the peer has closed and all of the peer's
    /// data have arrived.
    pub(crate) fn close(&mut self, socket: SocketId, end: Side) {
        self.sockets[socket].close(end);
        self.desk.touched.push((socket, end));
    }

    /// Returns the number of bytes that `end` has received in order.
    pub(crate) fn delivered(&self, socket: SocketId, end: Side) -> u64 {
        self.sockets[socket].ends[end].delivered_bytes()
    }

    /// Returns whether the handshake is over, as `end` sees it.
    pub(crate) fn is_established(&self, socket: SocketId, end: Side) -> bool {
        self.sockets[socket].ends[end].is_established()
    }

    /// Returns whether the peer of `end` has closed, and `end` has received all data.
    pub(crate) fn is_peer_finished(&self, socket: SocketId, end: Side) -> bool {
        self.sockets[socket].ends[end].is_peer_finished()
    }

    /// Returns the number of retransmission timeouts at both ends so far, including timeouts of SYN and SYN-ACK.
    pub(crate) fn timeouts(&self, socket: SocketId) -> u64 {
        self.sockets[socket].ends.iter().map(|end| end.stats().timeouts).sum()
    }

    /// Draws the hashes for an exchange of datagrams that has ports of its own.
    pub(crate) fn exchange(&mut self) -> ByDirection<u32> {
        both_directions(self.desk.hashes.next_u32())
    }

    /// Sends the datagram `number` from `end`. Its length is `len` bytes as `tc` counts them.
    pub(crate) fn send_datagram(
        &mut self,
        end: Side,
        hash: ByDirection<u32>,
        number: u32,
        len: u16,
        ecn: Ecn,
    ) {
        let datagram = Datagram { number, len, ecn, dscp: 0, envelope: None };
        self.desk.datagrams.push_back(Outgoing { end, hash, datagram });
    }

    /// Adds `bytes` of datagrams that the receiver got to the flow's delivered bytes. Bytes of connections are
    /// counted elsewhere ([`App::handled`]).
    pub(crate) fn count_delivered(&mut self, bytes: u64) {
        self.desk.past.delivered_bytes += bytes;
    }

    /// Sets the time at which the application is woken next, and replaces any earlier time.
    pub(crate) fn wake_at(&mut self, time: Instant) {
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
            config,
            flow,
            sender: direction.sender(),
            receiver: direction.receiver(),
            hashes,
            open: Connections::default(),
            touched: Vec::new(),
            datagrams: VecDeque::new(),
            wake_at: Instant::MAX,
            past: Totals::default(),
        };
        Self { program, desk, started: false, stopped: false, rtt: FlowDelays::new() }
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
        let host = &mut Host { now, desk: &mut self.desk, sockets };
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

    /// Returns the open connection whose packets in `direction` have the hash `hash`.
    pub(crate) fn socket(&self, direction: Direction, hash: u32) -> Option<SocketId> {
        self.desk.open.find(direction, hash)
    }

    /// Takes note of a segment that arrived at an end of a connection. `handled` says what the segment brought.
    pub(crate) fn handled(
        &mut self,
        now: Instant,
        (socket, end): (SocketId, Side),
        handled: Handled,
        sockets: &mut Sockets,
    ) {
        self.desk.touched.push((socket, end));
        if let (Some(rtt), true) = (handled.rtt, end == self.desk.sender) {
            self.rtt.record(rtt);
        }
        if end == self.desk.receiver {
            self.desk.past.delivered_bytes += u64::from(handled.newly_delivered_bytes);
        }
        let (before, stage) = sockets[socket].advance(end);
        if handled.newly_delivered_bytes > 0 || stage != before {
            let host = &mut Host { now, desk: &mut self.desk, sockets };
            self.program.notice(socket, end, host);
            if stage != before && stage == Stage::Ending {
                // A program that reads end-of-file closes its own end. Linux delays the ACK of a FIN (`tcp_fin`), so
                // the FIN of this close carries that ACK.
                host.sockets[socket].ends[end].close();
            }
        }
    }

    /// Takes a datagram that arrived at `end`.
    pub(crate) fn handle_datagram(
        &mut self,
        now: Instant,
        end: Side,
        datagram: Datagram,
        sockets: &mut Sockets,
    ) {
        let host = &mut Host { now, desk: &mut self.desk, sockets };
        self.program.datagram(datagram, end, host);
    }

    /// Handles the timer of `end` of `socket`. The timer is lazy: the deadline may have moved to a later time
    /// since.
    pub(crate) fn handle_socket_timeout(
        &mut self,
        now: Instant,
        at: (SocketId, Side),
        sockets: &mut Sockets,
    ) {
        let connection = &mut sockets[at.0].ends[at.1];
        if connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
            connection.handle_timeout(now);
        }
        self.desk.touched.push(at);
    }

    /// Returns the next datagram to send.
    pub(crate) fn next_datagram(&mut self) -> Option<Outgoing> {
        self.desk.datagrams.pop_front()
    }

    /// Takes the list of the ends that may have something to send. An end is in the list once per event.
    pub(crate) fn take_touched(&mut self) -> Vec<(SocketId, Side)> {
        std::mem::take(&mut self.desk.touched)
    }

    /// Takes the list back, so that its memory is used again.
    pub(crate) fn served(&mut self, mut touched: Vec<(SocketId, Side)>) {
        touched.clear();
        self.desk.touched = touched;
    }

    /// Releases `socket` if both of its ends are closed. Returns whether it was released.
    pub(crate) fn let_go(&mut self, socket: SocketId, sockets: &mut Sockets) -> bool {
        let Socket { ends, hash, .. } = &sockets[socket];
        if !ends.iter().all(Connection::is_closed) || !self.desk.open.remove(hash[Direction::Down], socket) {
            return false;
        }
        self.desk.past += Totals::of_sender(&ends[self.desk.sender]);
        sockets.release(socket);
        true
    }

    /// Begins measuring.
    pub(crate) fn measure_from(&mut self, now: Instant) {
        self.rtt.reset();
        self.program.measure_from(now);
    }

    /// Returns what the application measured up to `now`.
    pub(crate) fn result(&self, now: Instant) -> result::Result {
        self.program.result(now)
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
        let open = self.desk.open.iter().map(|id| Totals::of_sender(&sockets[id].ends[self.desk.sender]));
        open.fold(self.desk.past, |sum, totals| sum + totals)
    }

    /// Returns the sender of the connection that was opened last, if any is open.
    pub(crate) fn sender<'a>(&self, sockets: &'a Sockets) -> Option<&'a Connection> {
        self.desk.open.last().map(|id| &sockets[id].ends[self.desk.sender])
    }
}
