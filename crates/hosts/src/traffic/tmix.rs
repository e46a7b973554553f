//! A replay of TMIX's connection vectors (Weigle, Adurthi, Hernández-Campos, Jeffay and Smith 2006). A vector
//! describes a connection in a link's capture without TCP, by what each end sends and how long it waits. So the
//! traffic of a real link loads the simulated one.
//!
//! In a sequential connection an end waits for the other end's data. In a concurrent connection each end sends at its
//! own times. The initiator is the receiver of the flow's data. A vector's window, round-trip time and losses are not
//! replayed; they result from the simulation.

mod vectors;

use super::application::{Application, Host, RTT_MAX, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::Key;
use crate::probe::delay::{FlowDelays, Summary};
use goodqueue_units::Instant;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use vectors::{Send, Vector, Vectors};

const VECTORS: Key<Vectors> = Key::required("vectors", "[{start_us = 0, sends = [[\">\", 300, 20000], [\"<\", 9000, 0]]}]")
    .help(
        "the connections: when each begins, and what its ends send: the end (> for the initiator, < for the acceptor), \
         the bytes, and the wait after them in microseconds. With concurrent = true the ends do not wait for each other. \
         On the command line and in a file also \"FILE.tmix\"",
    )
    .source("Weigle et al. 2006");

const FILE: Key<String> = Key::optional("file", "\"office.tmix\"")
    .help("the name of the file that the vectors are from, for titles; known if `vectors` names a file");

pub(crate) const KIND: Kind = Kind {
    keys: &[&VECTORS, &FILE, &RTT_MAX],
    transport: tcp::UNPACED,
    in_parallel: true,
    asks: true,
    plural: "replayed connections",
    things: "replayed connections",
    result: Some(TmixResult::PART),
    measures: &[
        Measure::time("tmix_response_p50_ms", "response_ms.p50", "replayed p50", "replayed", "p50"),
        Measure::time("tmix_response_p95_ms", "response_ms.p95", "replayed p95", "replayed", "p95")
            .main()
            .said("95 % of the replayed responses are there within {}", "within {}", ""),
        Measure::completed("tmix_connections", "replayed connections"),
    ],
    times: "response_ms",
    times_are: "request, and a connection's SYN before the first, to last byte",
    option: Shorthand { detail: "vectors", example: "FILE.tmix", sets: &[] },
    ..Kind::new(
        "tmix",
        "connections of a capture replayed, by TMIX's connection vectors: how long responses take",
        Make::App(|values, _| Box::new(Tmix::new(values.get(&VECTORS).0))),
    )
};

/// The connections of one flow.
struct Tmix {
    vectors: Arc<[Vector]>,
    /// How many vectors were begun, in their order.
    begun: usize,
    origin: Instant,
    active: BTreeMap<SocketId, Active>,
    /// The actions of ends after a wait. The number identifies the connection, because a later connection may have
    /// the same socket.
    timers: BinaryHeap<Reverse<(Instant, SocketId, usize, End)>>,
    is_over: bool,
    connections: u64,
    count: u64,
    completed: u64,
    /// Connections that the flow's `stop` cut.
    cut: u64,
    /// Whether any byte ever arrived.
    has_come: bool,
    times: FlowDelays,
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Initiator,
    Acceptor,
}

use End::{Acceptor, Initiator};

impl End {
    const fn other(self) -> Self {
        match self {
            Initiator => Acceptor,
            Acceptor => Initiator,
        }
    }

    fn side(self, host: &dyn Host) -> Side {
        match self {
            Initiator => host.receiver(),
            Acceptor => host.sender(),
        }
    }
}

/// A connection under way.
struct Active {
    /// The number of its vector.
    number: usize,
    /// The index of the next send. A concurrent connection has two: the initiator's and the acceptor's.
    next: [usize; 2],
    /// Bytes that the initiator and the acceptor will have received once everything written so far has arrived.
    wanted: [u64; 2],
    /// The end that acts next, once it has received its `wanted` bytes.
    listens: Option<End>,
    is_closed: bool,
    /// When the request under way was sent, or for a first request when its connection was opened; none: no request
    /// is under way.
    asked: Option<Instant>,
    counts: bool,
}

crate::part! {
    /// Connections and requests that began within the measured time.
    #[derive(Copy)]
    pub struct TmixResult {
        /// From a request of a sequential connection to the last byte of the response. For the first request, from the
        /// SYN.
        pub response_ms: Option<Summary> => result::times("response", "mean p10 p50 p90 p95 p99"),
        /// Connections that were opened.
        pub connections: u64 => result::column("opened", "", 0),
        /// Requests that were sent.
        pub count: u64 => result::column("asked", "", 0),
        /// Requests whose response arrived.
        #[optional(by_schema)]
        pub responses: u64 => result::column("came", "", 0),
        /// Connections that came to their end.
        pub completed: u64 => result::column("ended", "", 0),
    }
}

impl AppResult for TmixResult {}

impl Tmix {
    fn new(vectors: Arc<[Vector]>) -> Self {
        Self {
            vectors,
            begun: 0,
            origin: Instant::ZERO,
            active: BTreeMap::new(),
            timers: BinaryHeap::new(),
            is_over: false,
            connections: 0,
            count: 0,
            completed: 0,
            cut: 0,
            has_come: false,
            times: FlowDelays::new(),
        }
    }

    /// Does what is due, and asks to be woken for what is next.
    fn carry_on(&mut self, host: &mut dyn Host) {
        while let Some(&Reverse((time, socket, number, end))) = self.timers.peek()
            && time <= host.now()
        {
            self.timers.pop();
            if self.active.get(&socket).is_some_and(|active| active.number == number) {
                self.act(socket, end, host);
            }
        }
        while !self.is_over && self.next_start().is_some_and(|start| start <= host.now()) {
            self.open(host);
        }
        let due = self.timers.peek().map(|&Reverse((time, ..))| time);
        let start = self.next_start().filter(|_| !self.is_over);
        host.wake_at(due.into_iter().chain(start).min().unwrap_or(Instant::MAX));
    }

    fn next_start(&self) -> Option<Instant> {
        self.vectors.get(self.begun).map(|vector| self.origin + vector.start)
    }

    /// Opens the next connection. Its ends send as soon as they know of the connection: see [`Tmix::notice`].
    fn open(&mut self, host: &mut dyn Host) {
        let socket = host.open(Initiator.side(host));
        let vector = &self.vectors[self.begun];
        let is_request = !vector.is_concurrent && vector.sends[0].from == Initiator;
        let active = Active {
            number: self.begun,
            next: [0, 0],
            wanted: [0, 0],
            listens: None,
            is_closed: false,
            asked: is_request.then_some(host.now()),
            counts: true,
        };
        self.active.insert(socket, active);
        self.begun += 1;
        self.connections += 1;
        self.count += u64::from(is_request);
    }

    /// Makes the next send of `end` of `socket`, or closes it if there is none.
    fn act(&mut self, socket: SocketId, end: End, host: &mut dyn Host) {
        let Some(active) = self.active.get_mut(&socket) else { return };
        let Vector { is_concurrent, sends, .. } = &self.vectors[active.number];
        let cursor = if *is_concurrent { end as usize } else { 0 };
        let place = active.next[cursor];
        let mine = |send: &Send| !*is_concurrent || send.from == end;
        let Some(at) = (place..sends.len()).find(|&at| mine(&sends[at])) else {
            // In a concurrent connection the end that finishes last closes: if one end closed earlier, the other
            // would close at once, too.
            active.next[cursor] = usize::MAX;
            if !*is_concurrent || active.next == [usize::MAX; 2] {
                active.is_closed = true;
                host.close(socket, end.side(host));
                self.settle(socket, host);
            }
            return;
        };
        let Send { bytes, wait, .. } = sends[at];
        active.next[cursor] = at + 1;
        active.wanted[end.other() as usize] += bytes;
        if !*is_concurrent && end == Initiator && active.asked.is_none() {
            active.asked = Some(host.now());
            self.count += 1;
        }
        host.write(socket, end.side(host), bytes);
        match sends.get(at + 1) {
            Some(following) if !*is_concurrent && following.from != end => active.listens = Some(following.from),
            _ => self.timers.push(Reverse((host.now() + wait, socket, active.number, end))),
        }
    }

    /// Counts the response on `socket` if it is complete, and forgets connections that are over.
    fn settle(&mut self, socket: SocketId, host: &dyn Host) {
        let Some(active) = self.active.get_mut(&socket) else { return };
        let vector = &self.vectors[active.number];
        let has_all = |end: End| host.delivered(socket, end.side(host)) >= active.wanted[end as usize];
        let (initiator, acceptor) = (has_all(Initiator), has_all(Acceptor));
        let done = active.next[0].min(vector.sends.len()); // beyond the last send: the end has closed
        let ends_response = (1..=vector.sends.len()).contains(&done)
            && vector.sends[done - 1].from == Acceptor
            && vector.sends.get(done).is_none_or(|following| following.from == Initiator);
        if initiator && !vector.is_concurrent && ends_response && let Some(asked) = active.asked.take() && active.counts {
            self.times.record(host.now().since(asked));
        }
        if active.is_closed && initiator && acceptor {
            self.completed += u64::from(active.counts);
            self.active.remove(&socket);
        }
    }
}

impl Application for Tmix {
    fn start(&mut self, host: &mut dyn Host) {
        self.origin = host.now();
        self.carry_on(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        self.carry_on(host);
    }

    fn notice(&mut self, socket: SocketId, side: Side, host: &mut dyn Host) {
        let end = if side == host.sender() { Acceptor } else { Initiator };
        self.has_come |= host.delivered(socket, side) > 0;
        let Some(active) = self.active.get_mut(&socket) else { return };
        let Vector { is_concurrent, sends, .. } = &self.vectors[active.number];
        let number = active.number;
        let cursor = if *is_concurrent { end as usize } else { 0 };
        let is_first = active.next[cursor] == 0 && (*is_concurrent || sends[0].from == end);
        if is_first && host.is_established(socket, side) {
            self.act(socket, end, host);
        } else if active.listens == Some(end) && host.delivered(socket, side) >= active.wanted[end as usize] {
            active.listens = None;
            let wait = sends[active.next[0] - 1].wait;
            self.timers.push(Reverse((host.now() + wait, socket, number, end)));
        }
        self.settle(socket, host);
        self.carry_on(host);
    }

    /// Stops waking anyone. What was written still arrives, and then the connections end.
    fn stop(&mut self, host: &mut dyn Host) {
        self.is_over = true;
        self.timers.clear();
        for &socket in self.active.keys() {
            host.close(socket, host.sender());
            host.close(socket, host.receiver());
        }
        self.cut += self.active.len() as u64;
        self.active.clear();
    }

    fn measure_from(&mut self, _now: Instant) {
        (self.connections, self.count, self.completed) = (0, 0, 0);
        self.times.reset();
        self.active.values_mut().for_each(|active| active.counts = false);
    }

    fn result(&self, _now: Instant) -> Option<result::Result> {
        Some(Arc::new(TmixResult {
            response_ms: self.times.summary(),
            connections: self.connections,
            count: self.count,
            responses: self.times.count(),
            completed: self.completed,
        }))
    }

    fn undone(&self) -> Undone {
        Undone::in_turn(self.active.len() as u64 + self.cut, 0, self.has_come)
    }
}
