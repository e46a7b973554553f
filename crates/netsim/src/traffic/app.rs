//! Applications: state machines above TCP connections, which they open, write to and close in the course of a run.
//!
//! An [`Application`] does no I/O and has no clock. It is told of the time and of what its connections brought; it acts
//! through a [`Host`], and names the time at which it wants to be woken. An application may have as many connections
//! at a time as it likes, or none, and send datagrams.

use super::connections::Connections;
use super::result;
use crate::direction::{Direction, Side};
use crate::ids::{FlowId, SocketId};
use crate::lists::PerWay;
use crate::packet::{Datagram, both_ways};
use crate::probe::delay::FlowDelays;
use crate::scenario::key::{Key, Result, Table, Values};
use crate::scenario::{Size, Span, refuse};
use crate::sockets::{Socket, Sockets, Stage};
use crate::tally::Totals;
use goodqueue_tcp::{CcLine, Config, Connection, Handled};
use goodqueue_units::{Duration, Ecn, Instant, Stream as Random};
use std::collections::VecDeque;

/// The most bytes that anything has.
pub(crate) const MOST_BYTES: Size = Size(1_000_000_000_000_000);
/// The longest time between two things that an application does.
pub(crate) const LONGEST_WAIT: Span = Span(Duration::from_secs(1_000_000));
/// How often an application does what it does.
pub(crate) const REPEAT: Key<u64> = Key::optional("repeat", "10")
    .range(1, 1_000_000_000)
    .help("how many transfers, exchanges or pages, one after the other; until `stop` if left out (one transfer, where `interval` is left out too)");
/// The time from the end of one to the start of the next.
pub(crate) const AGAIN: Key<Span> =
    Key::with_default("interval", "\"0s\"").range(Span(Duration::ZERO), LONGEST_WAIT).example("\"1s\"");

/// That each connection has a base RTT of its own.
pub(crate) const RTT_MAX: Key<Span> = Key::optional("rtt_max", "\"150ms\"")
    .help(
        "each connection has a base round-trip time of its own, drawn evenly from `rtt` to this, in steps of 1 ms; on the \
         kernel engine one of twelve, the middles of equal parts",
    );
/// The greatest distance between `rtt` and `rtt_max`.
const MOST_SPREAD: Span = Span(Duration::from_secs(1));

/// Refuses an [`RTT_MAX`] that is less than `rtt` or too far from it.
pub(crate) fn check_rtts(table: &Table<'_>, rtt: Span, values: &Values) -> Result<()> {
    match values.find(&RTT_MAX) {
        Some(most) if most.0 < rtt.0 || most.0 > rtt.0 + MOST_SPREAD.0 => {
            let accepted = format!("from rtt, {}, to {} more", rtt.0, MOST_SPREAD.0);
            refuse(&table.key("rtt_max"), most.0, &accepted)
        }
        _ => Ok(()),
    }
}

/// What an application does. It plays both [sides](Side).
pub(crate) trait Application: Send + Sync {
    /// The flow starts.
    fn start(&mut self, host: &mut Host<'_>);
    /// The time has come at which it wanted to be woken.
    fn wake(&mut self, host: &mut Host<'_>);
    /// At `end` of `socket` the handshake is over, more bytes came into order, or the other end has closed.
    fn notice(&mut self, socket: SocketId, end: Side, host: &mut Host<'_>);
    /// A datagram of this application arrived at `end`.
    fn datagram(&mut self, _datagram: Datagram, _end: Side, _host: &mut Host<'_>) {}
    /// The flow's time is over: nothing new begins, and what is under way may end.
    fn stop(&mut self, host: &mut Host<'_>);
    /// Measuring begins.
    fn measure_from(&mut self, now: Instant);
    /// What it measured up to `now`.
    fn result(&self, now: Instant) -> result::Result;
    /// The scenario asks for time series: what it does is to be kept.
    fn log(&mut self) {}
    /// What was kept, as the flow `name`'s part of the record's time series.
    fn series(&self, _name: &str) -> Option<result::Series> {
        None
    }
}

/// A flow's application, its connections, and what they did.
pub(crate) struct App {
    program: Box<dyn Application>,
    desk: Desk,
    started: bool,
    stopped: bool,
    /// Round-trip times as the sender of the flow's data measures them.
    pub(crate) rtt: FlowDelays,
}

/// What an application's host keeps for it.
struct Desk {
    config: Config,
    flow: FlowId,
    /// The end that sends the flow's data, and the one that receives them.
    sender: Side,
    receiver: Side,
    hashes: Random,
    open: Connections,
    /// Ends that may have something to send.
    touched: Vec<(SocketId, Side)>,
    /// Datagrams that ends are about to send.
    datagrams: VecDeque<Outgoing>,
    /// When the application wants to be woken; [`Instant::MAX`]: never.
    wake_at: Instant,
    /// What connections did that are gone; of all, what was delivered.
    past: Totals,
}

/// A datagram with the end that sends it, and what a classifier computes for it.
pub(crate) struct Outgoing {
    pub(crate) end: Side,
    pub(crate) hash: PerWay<u32>,
    pub(crate) datagram: Datagram,
}

/// An application's host: its clock, its timer and its sockets.
pub(crate) struct Host<'a> {
    pub(crate) now: Instant,
    desk: &'a mut Desk,
    sockets: &'a mut Sockets,
}

impl Host<'_> {
    /// The end that sends the flow's data.
    pub(crate) fn sender(&self) -> Side {
        self.desk.sender
    }

    /// The end that receives them.
    pub(crate) fn receiver(&self) -> Side {
        self.desk.receiver
    }

    /// Opens a connection from the end `opener`. Data may be written at once, and are sent when the handshake allows.
    pub(crate) fn open(&mut self, opener: Side) -> SocketId {
        let Desk { open, hashes, flow, config, touched, .. } = &mut *self.desk;
        let mut hash = both_ways(hashes.next_u32());
        // Packets find their connection by its hash, so two that are open at a time never share one.
        while open.has(hash[Direction::Down]) {
            hash = both_ways(hashes.next_u32());
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

    /// `end` writes no more. Where the other end has closed, and nothing was left to do, this happens by itself.
    pub(crate) fn close(&mut self, socket: SocketId, end: Side) {
        self.sockets[socket].close(end);
        self.desk.touched.push((socket, end));
    }

    /// Bytes that `end` got in order.
    pub(crate) fn delivered(&self, socket: SocketId, end: Side) -> u64 {
        self.sockets[socket].ends[end].delivered_bytes()
    }

    /// Whether the handshake is over, as `end` sees it.
    pub(crate) fn is_established(&self, socket: SocketId, end: Side) -> bool {
        self.sockets[socket].ends[end].is_established()
    }

    /// Whether `end` got all data, and that there will be no more.
    pub(crate) fn is_peer_finished(&self, socket: SocketId, end: Side) -> bool {
        self.sockets[socket].ends[end].is_peer_finished()
    }

    /// Retransmission timeouts of both ends so far, those of SYN and SYN-ACK included.
    pub(crate) fn timeouts(&self, socket: SocketId) -> u64 {
        self.sockets[socket].ends.iter().map(|end| end.stats().timeouts).sum()
    }

    /// The hashes of an exchange of datagrams between ports of its own.
    pub(crate) fn exchange(&mut self) -> PerWay<u32> {
        both_ways(self.desk.hashes.next_u32())
    }

    /// Sends the datagram `number`, of `len` bytes as `tc` counts them, from `end`.
    pub(crate) fn send_datagram(&mut self, end: Side, hash: PerWay<u32>, number: u32, len: u16, ecn: Ecn) {
        let datagram = Datagram { number, len, ecn, dscp: 0, envelope: None };
        self.desk.datagrams.push_back(Outgoing { end, hash, datagram });
    }

    /// Counts `bytes` of datagrams that the receiver has got as the flow's. Those of connections are counted by
    /// themselves.
    pub(crate) fn count_delivered(&mut self, bytes: u64) {
        self.desk.past.delivered_bytes += bytes;
    }

    /// Wakes the application at `time`, in place of any earlier wish.
    pub(crate) fn wake_at(&mut self, time: Instant) {
        self.desk.wake_at = time;
    }
}

impl App {
    /// The application of flow `flow`, whose data go in `direction`; `hashes` is the stream of its connections' hashes.
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

    /// Congestion control of its connections.
    pub(crate) fn cc(&self) -> CcLine {
        self.desk.config.cc_line()
    }

    /// When its timer is to fire, given when the flow stops.
    pub(crate) fn next_time(&self, stop: Instant) -> Instant {
        if self.stopped { Instant::MAX } else { self.desk.wake_at.min(stop) }
    }

    /// Its timer has fired: the flow starts, or stops, or the application is woken.
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

    /// The connection of which packets in `direction` have the hash `hash`; none where it is over already.
    pub(crate) fn socket(&self, direction: Direction, hash: u32) -> Option<SocketId> {
        self.desk.open.find(direction, hash)
    }

    /// A segment has arrived at an end of a connection, which says what it brought.
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
                // As programs do that read an end. Linux delays the ACK of a FIN, so that this one carries it
                // (`tcp_fin`).
                host.sockets[socket].ends[end].close();
            }
        }
    }

    /// A datagram arrives at `end`.
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

    /// The timer of `end` of `socket` has fired; it is lazy, the deadline may have moved on since.
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

    /// The next datagram to send.
    pub(crate) fn next_datagram(&mut self) -> Option<Outgoing> {
        self.desk.datagrams.pop_front()
    }

    /// The ends that may have something to send, each as often as something happened to it.
    pub(crate) fn take_touched(&mut self) -> Vec<(SocketId, Side)> {
        std::mem::take(&mut self.desk.touched)
    }

    /// Takes the list back, for its room to be used again.
    pub(crate) fn served(&mut self, mut touched: Vec<(SocketId, Side)>) {
        touched.clear();
        self.desk.touched = touched;
    }

    /// Lets `socket` go if both of its ends are over; whether it did.
    pub(crate) fn let_go(&mut self, socket: SocketId, sockets: &mut Sockets) -> bool {
        let Socket { ends, hash, .. } = &sockets[socket];
        if !ends.iter().all(Connection::is_closed) || !self.desk.open.remove(hash[Direction::Down], socket) {
            return false;
        }
        self.desk.past += Totals::of_sender(&ends[self.desk.sender]);
        sockets.release(socket);
        true
    }

    /// Measuring begins.
    pub(crate) fn measure_from(&mut self, now: Instant) {
        self.rtt.reset();
        self.program.measure_from(now);
    }

    /// What the application measured up to `now`.
    pub(crate) fn result(&self, now: Instant) -> result::Result {
        self.program.result(now)
    }

    /// Keeps what the application does from now on, for the time series.
    pub(crate) fn log(&mut self) {
        self.program.log();
    }

    /// What was kept, if the application keeps anything.
    pub(crate) fn series(&self, name: &str) -> Option<result::Series> {
        self.program.series(name)
    }

    /// What its connections have done so far.
    pub(crate) fn totals(&self, sockets: &Sockets) -> Totals {
        let open = self.desk.open.iter().map(|id| Totals::of_sender(&sockets[id].ends[self.desk.sender]));
        open.fold(self.desk.past, |sum, totals| sum + totals)
    }

    /// The sender of the connection that was opened last, while there is one.
    pub(crate) fn sender<'a>(&self, sockets: &'a Sockets) -> Option<&'a Connection> {
        self.desk.open.last().map(|id| &sockets[id].ends[self.desk.sender])
    }
}
