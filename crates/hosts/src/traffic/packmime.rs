//! Web traffic by PackMime-HTTP: connections of many users to many servers, as the link of a trunk sees them. They
//! begin at a given rate.
//!
//! On a connection a client sends a request; the server thinks and answers. If the connection is persistent
//! (HTTP/1.1), the client sends the next request after a while. The server closes after its last response (HTTP/1.0
//! has one). `laws` has the quantities that are drawn, and their distributions. The flow's data are the responses.
//!
//! ns-2's generator also draws a round-trip time per connection (its DelayBox). Here all connections have the flow's
//! round-trip time; for a mix, a scenario can have several tables with different values of `rtt`.

pub(super) mod curves;
mod farima;
mod laws;

use super::application::{Application, Host, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::Key;
use crate::probe::delay::{FlowDelays, Summary};
use goodqueue_units::Instant;
use laws::{Laws, Visit};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

/// PackMime's only parameter.
const RATE: Key<f64> = Key::with_default("rate", "5.0")
    .range(0.01, 10_000.0)
    .help("new connections per second. Each carries about 8.6 kB, so 100 per second are 7 Mbit/s on average")
    .source("Cao et al. 2004; the default: Nichols and Jacobson 2012");

pub(crate) const KIND: Kind = Kind {
    keys: &[&RATE],
    transport: tcp::UNPACED,
    in_parallel: true,
    asks: true,
    plural: "web responses",
    things: "web requests",
    result: Some(PackmimeResult::PART),
    measures: &[
        Measure::time("packmime_response_p50_ms", "response_ms.p50", "web p50", "web", "p50"),
        Measure::time("packmime_response_p95_ms", "response_ms.p95", "web p95", "web", "p95")
            .main()
            .said("95 % of the web's responses are there within {}", "within {}", ""),
        Measure::completed("packmime_responses", "web responses"),
    ],
    times: "response_ms",
    times_are: "request, and a connection's SYN before the first, to last byte",
    option: Shorthand { detail: "", example: "", sets: &[] },
    ..Kind::new(
        "packmime",
        "web traffic of many users by PackMime-HTTP, at a rate of connections: how long responses take",
        Make::App(|values, random| Box::new(Packmime::new(Laws::new(values.get(&RATE), random)))),
    )
};

/// The generator of one flow.
struct Packmime {
    laws: Laws,
    /// Connections that are not done yet.
    visits: BTreeMap<SocketId, Ongoing>,
    /// When a server has finished thinking, or a client sends its next request.
    timers: BinaryHeap<Reverse<(Instant, SocketId)>>,
    /// When the next connection is opened; none after the flow's time.
    next: Option<Instant>,
    begun: u64,
    asked: u64,
    /// Whether any response ever arrived.
    has_come: bool,
    times: FlowDelays,
}

/// A connection under way.
struct Ongoing {
    visit: Visit,
    /// The number of the exchange under way, and what the exchange waits for.
    number: usize,
    step: Step,
    asked_at: Instant,
    /// Whether the exchange began within the measured time.
    counts: bool,
    /// Bytes of all responses up to and including the current one.
    wanted: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// The request is on its way.
    Asked,
    /// The server thinks.
    Thinks,
    /// The response is on its way.
    Answered,
    /// The client reads the response.
    Reads,
}

crate::part! {
    /// Requests that were sent within the measured time.
    #[derive(Copy)]
    pub struct PackmimeResult {
        /// From the request to the response's last byte in order. For a connection's first request, from the SYN.
        pub response_ms: Option<Summary> => result::times("response", "mean p10 p50 p90 p95 p99"),
        /// Connections that were opened.
        pub connections: u64 => result::column("opened", "", 0),
        /// Requests that were sent.
        pub count: u64 => result::column("begun", "", 0),
        /// Requests that were answered.
        pub completed: u64 => result::column("ended", "", 0),
    }
}

impl AppResult for PackmimeResult {}

impl Packmime {
    fn new(laws: Laws) -> Self {
        Self {
            laws,
            visits: BTreeMap::new(),
            timers: BinaryHeap::new(),
            next: None,
            begun: 0,
            asked: 0,
            has_come: false,
            times: FlowDelays::new(),
        }
    }

    /// Opens a connection. Its first request is sent as soon as the handshake allows it.
    fn open(&mut self, host: &mut dyn Host) {
        let visit = self.laws.visit();
        let socket = host.open(host.receiver());
        let mut new =
            Ongoing { visit, number: 0, step: Step::Asked, asked_at: host.now(), counts: true, wanted: 0 };
        new.ask(socket, host);
        self.visits.insert(socket, new);
        self.begun += 1;
        self.asked += 1;
    }

    /// Does what was due for `socket`.
    fn act(&mut self, socket: SocketId, host: &mut dyn Host) {
        let Some(ongoing) = self.visits.get_mut(&socket) else { return };
        match ongoing.step {
            Step::Thinks => ongoing.answer(socket, host),
            Step::Reads => {
                ongoing.number += 1;
                ongoing.ask(socket, host);
                self.asked += 1;
            }
            Step::Asked | Step::Answered => {}
        }
    }

    fn plan(&self, host: &mut dyn Host) {
        let due = self.timers.peek().map(|&Reverse((time, _))| time);
        host.wake_at(due.into_iter().chain(self.next).min().unwrap_or(Instant::MAX));
    }
}

impl Ongoing {
    /// Sends a request of the client.
    fn ask(&mut self, socket: SocketId, host: &mut dyn Host) {
        (self.step, self.asked_at, self.counts) = (Step::Asked, host.now(), true);
        self.wanted += self.visit.exchanges[self.number].response;
        host.write(socket, host.receiver(), self.visit.request);
    }

    /// Sends the server's response, and closes after the last one.
    fn answer(&mut self, socket: SocketId, host: &mut dyn Host) {
        self.step = Step::Answered;
        host.write(socket, host.sender(), self.visit.exchanges[self.number].response);
        if self.is_last() {
            host.close(socket, host.sender());
        }
    }

    fn is_last(&self) -> bool {
        self.number + 1 == self.visit.exchanges.len()
    }
}

impl Application for Packmime {
    fn start(&mut self, host: &mut dyn Host) {
        self.next = Some(host.now() + self.laws.interarrival());
        self.plan(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        while let Some(&Reverse((time, socket))) = self.timers.peek()
            && time <= host.now()
        {
            self.timers.pop();
            self.act(socket, host);
        }
        while let Some(next) = self.next
            && next <= host.now()
        {
            self.open(host);
            self.next = Some(next + self.laws.interarrival());
        }
        self.plan(host);
    }

    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        let is_over = self.next.is_none();
        let Some(ongoing) = self.visits.get_mut(&socket) else { return };
        let exchange = ongoing.visit.exchanges[ongoing.number];
        let delivered = host.delivered(socket, end);
        let requests = (ongoing.number as u64 + 1) * ongoing.visit.request;
        if end == host.sender() && ongoing.step == Step::Asked && delivered >= requests {
            if is_over {
                return ongoing.answer(socket, host);
            }
            ongoing.step = Step::Thinks;
            self.timers.push(Reverse((host.now() + exchange.server_delay, socket)));
            self.plan(host);
        } else if end == host.receiver() && ongoing.step == Step::Answered && delivered >= ongoing.wanted {
            self.has_come = true;
            if ongoing.counts {
                self.times.record(host.now().since(ongoing.asked_at));
            }
            if ongoing.is_last() {
                self.visits.remove(&socket);
                return;
            }
            ongoing.step = Step::Reads;
            self.timers.push(Reverse((host.now() + exchange.gap, socket)));
            self.plan(host);
        }
    }

    /// Stops waking anyone: servers answer without thinking, and clients send no more requests.
    fn stop(&mut self, host: &mut dyn Host) {
        self.next = None;
        self.timers.clear();
        self.visits.retain(|&socket, ongoing| {
            ongoing.visit.exchanges.truncate(ongoing.number + 1);
            match ongoing.step {
                Step::Thinks => ongoing.answer(socket, host),
                Step::Answered | Step::Reads => host.close(socket, host.sender()),
                Step::Asked => {}
            }
            ongoing.step != Step::Reads
        });
    }

    fn measure_from(&mut self, _now: Instant) {
        (self.begun, self.asked) = (0, 0);
        self.times.reset();
        self.visits.values_mut().for_each(|ongoing| ongoing.counts = false);
    }

    fn result(&self, _now: Instant) -> Option<result::Result> {
        Some(Arc::new(PackmimeResult {
            response_ms: self.times.summary(),
            connections: self.begun,
            count: self.asked,
            completed: self.times.count(),
        }))
    }

    fn undone(&self) -> Undone {
        let under_way = self.visits.values().filter(|ongoing| ongoing.step != Step::Reads).count();
        Undone::in_turn(under_way as u64, 0, self.has_come)
    }
}
