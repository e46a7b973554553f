//! A responsiveness test over HTTP/2: connections that load the path, requests beside and within them, and round trips
//! per minute (draft-ietf-ippm-responsiveness-09).
//!
//! A foreign probe opens a connection of its own: the handshake of TCP, TLS's round trip, a request of one byte. A self
//! probe is such a request on a connection that carries load, so it waits behind what that connection has not sent.
//! Two clients are known. They differ in their intervals, in when they add connections and probes, and in when they
//! end.

mod connection;
mod judge;
mod mach;

use super::application::{Application, Host, MOST_BYTES, SocketId};
use super::by_socket::BySocket;
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Key, Size, Span, Values};
use crate::probe::delay::{FlowDelays, Summary};
use crate::probe::rounded;
use connection::{Asked, CF_MACH, Connection, DRAFT, Messages};
use goodqueue_units::{Duration, Instant, Stream as Random};
use judge::{Draft, Found, Judge, Sample};
use mach::Mach;
use std::sync::Arc;

/// The most connections that load the path (MNP).
const MOST_LOADS: usize = 16;
/// The most probes per second, foreign and self together (MPS).
const MOST_PROBES: f64 = 100.0;
/// The share of the goodput that probes may take (PTC), and the bytes of one on average: 5000 and 1000 take turns.
const PROBES_SHARE: f64 = 0.05;
const PROBE_BYTES: f64 = 3000.0;
/// The range of an interval.
const INTERVALS: (Span, Span) = (Span(Duration::from_millis(100)), Span(Duration::from_secs(1000)));

const CLIENT: Key<Client> = Key::with_default("client", "\"draft\"")
    .help("whose algorithm: \"draft\", or \"cf-mach\", a client in use")
    .source("draft-ietf-ippm-responsiveness-09; cf-mach 0.4.0");
const INTERVAL: Key<Span> = Key::derived("interval", "5s, of cf-mach 1s", "\"1s\"")
    .range(INTERVALS.0, INTERVALS.1)
    .help("time after which the client looks whether its values are stable, and adds a connection")
    .source("draft-ietf-ippm-responsiveness-09, ID");
const LIMIT: Key<Span> = Key::derived("limit", "none, of cf-mach 20s", "\"40s\"")
    .range(INTERVALS.0, Span(Duration::from_secs(100_000)))
    .help("time after which the client ends, stable or not; none: at `stop`")
    .source("draft-ietf-ippm-responsiveness-09, Final Algorithm");
const UNSENT: Key<Size> = Key::with_default("unsent", "\"128kB\"")
    .range(Size(2000), MOST_BYTES)
    .help("bytes that the sender of load keeps written and not sent, which a self probe waits behind")
    .source("Linux, TCP_NOTSENT_LOWAT");

pub(crate) const KIND: Kind = Kind {
    keys: &[&CLIENT, &INTERVAL, &LIMIT, &UNSENT],
    transport: tcp::UNPACED,
    in_parallel: true,
    asks: true,
    check: |table, values| {
        let client = values.get(&CLIENT);
        if !table.has("interval") {
            values.put(&INTERVAL, Span(client.interval()));
        }
        if let (false, Some(limit)) = (table.has("limit"), client.limit()) {
            values.put(&LIMIT, Span(limit));
        }
        Ok(())
    },
    plural: "responsiveness tests",
    result: Some(RpmResult::PART),
    measures: &[
        Measure {
            unit: "per min",
            better: "high",
            decimals: Some(0),
            sentence: ["A responsiveness test finds {} round trips per minute", "{}", ""],
            ..Measure::new("rpm", "rpm", "RPM").main()
        },
        Measure {
            unit: "per min",
            better: "high",
            decimals: Some(0),
            ..Measure::new("rpm_foreign", "foreign_rpm", "RPM foreign")
        },
        Measure {
            unit: "per min",
            better: "high",
            decimals: Some(0),
            ..Measure::new("rpm_loaded", "loaded_rpm", "RPM loaded")
        },
        Measure::time("rpm_self_p50_ms", "self_ms.p50", "self probe p50", "self", "p50"),
    ],
    times: "self_ms",
    times_are: "request to answer",
    option: Shorthand { detail: "client", example: "", sets: &[] },
    ..Kind::new(
        "rpm",
        "a responsiveness test over HTTP/2: round trips per minute under its own load",
        Make::App(|values, random| Box::new(Rpm::new(values, random))),
    )
};

/// Whose algorithm a client follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    /// The draft's: a connection per interval, probes at equal distances, goodput before responsiveness.
    Draft,
    /// A connection per two intervals, one probe after the other, both values at once.
    CfMach,
}

crate::word!(Client);

impl Client {
    const ALL: [Self; 2] = [Self::Draft, Self::CfMach];

    const fn name(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::CfMach => "cf-mach",
        }
    }

    const fn interval(self) -> Duration {
        match self {
            Self::Draft => Duration::from_secs(5),
            Self::CfMach => Duration::from_secs(1),
        }
    }

    fn judge(self, interval: Duration) -> Box<dyn Judge> {
        match self {
            Self::Draft => Box::new(Draft::new(interval)),
            Self::CfMach => Box::new(Mach::new(interval)),
        }
    }

    const fn messages(self) -> &'static Messages {
        match self {
            Self::Draft => &DRAFT,
            Self::CfMach => &CF_MACH,
        }
    }

    const fn limit(self) -> Option<Duration> {
        match self {
            Self::Draft => None,
            Self::CfMach => Some(Duration::from_secs(20)),
        }
    }
}

/// A test under way, and what it found.
struct Rpm {
    client: Client,
    interval: Duration,
    limit: Option<Duration>,
    unsent: u64,
    random: Random,
    judge: Box<dyn Judge>,
    connections: BySocket<Connection>,
    loads: Vec<SocketId>,
    /// When the interval ends, the next probe is due, and the client's time is over.
    interval_end: Instant,
    probe_at: Instant,
    limit_at: Instant,
    /// Time between two probes, and whether the next one is a self probe.
    gap: Duration,
    is_own_next: bool,
    /// Intervals that are over.
    intervals: u64,
    begun: Instant,
    ended: Option<Instant>,
    /// Whether the test came to its own end: its values are stable, or its limit has passed.
    is_done: bool,
    /// Probes that were sent, and foreign probes that were answered.
    probes: u64,
    foreign: u64,
    own: FlowDelays,
}

crate::part! {
    /// A responsiveness test. It has a beginning and an end of its own, so the measured time of the run does not count.
    #[derive(Copy)]
    pub struct RpmResult {
        /// Round trips per minute: the mean of the next two. From the last four intervals of the test.
        pub rpm: Option<f64> => result::column("RPM", "", 0),
        /// The draft's word for it: `poor`, `fair` (300 or more), `good` (1000) or `excellent` (6000).
        pub in_words: Option<&'static str> => result::column("in words", "", 0),
        /// Round trips per minute of foreign probes: 60 s by the mean of `tcp_ms`, `tls_ms` and `http_ms`.
        pub foreign_rpm: Option<f64> => result::column("foreign", "RPM", 0),
        /// Round trips per minute of self probes: 60 s by `own_ms`.
        pub loaded_rpm: Option<f64> => result::column("loaded", "RPM", 0),
        /// How sure the client is: `low` (too few intervals), `medium` (not stable) or `high` (stable).
        pub confidence: &'static str => result::column("sure", "", 0),
        /// The mean of the shortest 95 % of the handshakes of TCP in the last four intervals.
        pub tcp_ms: Option<f64>,
        /// The same for TLS's round trip.
        pub tls_ms: Option<f64>,
        /// The same for requests on new connections.
        pub http_ms: Option<f64>,
        /// The same for requests on connections that carry load.
        pub own_ms: Option<f64>,
        /// All self probes of the test: from the request to the answer's last byte in order.
        pub self_ms: Option<Summary> => result::times("self", "p50 p95"),
        /// Goodput of the connections that load the path, in the last four intervals.
        pub load_mbps: f64 => result::column("load", "Mbit/s", 2),
        /// Connections that loaded the path.
        pub connections: u64,
        /// Probes that were sent, foreign and self.
        #[optional(by_schema)]
        pub probes: u64 => result::column("probes", "", 0),
        /// Foreign probes that were answered.
        pub foreign_probes: u64 => result::column("answered", "foreign", 0),
        /// Self probes that were answered.
        pub self_probes: u64 => result::column("", "self", 0),
        /// How long the test took until its end, the limit, or the end of the run.
        pub test_s: f64 => result::column("took", "s", 0),
    }
}

impl AppResult for RpmResult {}

impl Rpm {
    fn new(values: &Values, random: Random) -> Self {
        let (client, interval) = (values.get(&CLIENT), values.get(&INTERVAL).0);
        Self {
            client,
            interval,
            limit: values.find(&LIMIT).map(|limit| limit.0),
            unsent: values.get(&UNSENT).0,
            random,
            judge: client.judge(interval),
            connections: BySocket::new(),
            loads: Vec::new(),
            interval_end: Instant::MAX,
            probe_at: Instant::MAX,
            limit_at: Instant::MAX,
            gap: Duration::ZERO,
            is_own_next: false,
            intervals: 0,
            begun: Instant::ZERO,
            ended: None,
            is_done: false,
            probes: 0,
            foreign: 0,
            own: FlowDelays::new(),
        }
    }

    fn open(&mut self, is_load: bool, host: &mut dyn Host) {
        let connection = Connection::open(is_load, self.client.messages(), host);
        if is_load {
            self.loads.push(connection.socket);
        }
        self.connections.insert(connection.socket, connection);
    }

    /// Sends a probe: a self probe if it is that one's turn and a connection carries load.
    fn probe(&mut self, host: &mut dyn Host) {
        self.probes += 1;
        let is_own = self.is_own_next;
        self.is_own_next = !is_own;
        let ready = |one: &&SocketId| self.connections.get(**one).is_some_and(|one| one.is_loading);
        let count = self.loads.iter().filter(ready).count();
        if !is_own || count == 0 {
            self.is_own_next = true;
            return self.open(false, host);
        }
        let chosen = (self.random.next_f64() * count as f64) as usize;
        let socket = self.loads.iter().filter(ready).nth(chosen).copied();
        if let Some(connection) = socket.and_then(|socket| self.connections.get_mut(socket)) {
            connection.ask(Asked::OwnProbe, host);
        }
    }

    /// Ends an interval: looks whether all is stable, and adds load.
    fn end_interval(&mut self, host: &mut dyn Host) {
        let now = host.now();
        let bytes = self.loads.iter().map(|socket| host.delivered(*socket, host.receiver())).sum::<u64>();
        self.interval_end = now + self.interval;
        if self.judge.end_interval(bytes) {
            self.is_done = true;
            return self.end(host);
        }
        let adds = self.client == Client::Draft || self.intervals.is_multiple_of(2);
        self.intervals += 1;
        if adds && self.loads.len() < MOST_LOADS {
            self.open(true, host);
        }
        if self.client == Client::Draft {
            // Within the first interval the capacity is not known, so there are no probes.
            let per_s = MOST_PROBES.min(self.judge.goodput_bps() * PROBES_SHARE / (PROBE_BYTES * 8.0));
            self.gap = if per_s > 0.0 { Duration::from_secs_f64(1.0 / per_s) } else { Duration::ZERO };
            let next = if per_s > 0.0 { now + self.gap } else { Instant::MAX };
            self.probe_at = if self.probe_at > self.interval_end { next } else { self.probe_at.min(next) };
        }
    }

    /// Ends the test, once: closes what is open. What is under way may arrive.
    fn end(&mut self, host: &mut dyn Host) {
        if self.ended.is_none() {
            self.ended = Some(host.now());
            for connection in self.connections.in_order() {
                connection.is_loading = false;
                host.close(connection.socket, Side::User);
            }
        }
    }

    /// Takes an answer at the user.
    fn take(&mut self, socket: SocketId, (asked, time): (Asked, Duration), host: &mut dyn Host) {
        let Some(connection) = self.connections.get_mut(socket) else { return };
        match asked {
            Asked::Tls => return connection.secured(time, host),
            Asked::Tickets => return connection.begin(host),
            Asked::Load => return,
            Asked::Probe => {
                let since = connection.opened.since(self.begun);
                let tcp = connection.tcp.unwrap_or_default();
                for (sample, time) in [(Sample::Tcp, tcp), (Sample::Tls, connection.tls), (Sample::Http, time)] {
                    self.judge.add(sample, since, time);
                }
                self.foreign += 1;
                self.connections.remove(socket);
                host.close(socket, Side::User);
            }
            Asked::OwnProbe => {
                self.judge.add(Sample::Own, host.now().since(self.begun).saturating_sub(time), time);
                self.own.record(time);
            }
        }
        if self.client == Client::CfMach {
            self.probe(host);
        }
    }

    fn wait(&self, host: &mut dyn Host) {
        if self.ended.is_none() {
            host.wake_at(self.interval_end.min(self.probe_at).min(self.limit_at));
        }
    }
}

impl Application for Rpm {
    fn start(&mut self, host: &mut dyn Host) {
        self.begun = host.now();
        self.interval_end = self.begun + self.interval;
        self.limit_at = self.limit.map_or(Instant::MAX, |limit| self.begun + limit);
        self.open(true, host);
        if self.client == Client::CfMach {
            self.probe(host);
        }
        self.wait(host);
    }

    fn wake(&mut self, host: &mut dyn Host) {
        let now = host.now();
        if now >= self.interval_end {
            self.end_interval(host);
        }
        if now >= self.limit_at {
            self.is_done = true;
            self.end(host);
        }
        if now >= self.probe_at && self.ended.is_none() {
            self.probe_at = now + self.gap;
            self.probe(host);
        }
        self.wait(host);
    }

    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        let Some(connection) = self.connections.get_mut(socket).filter(|_| self.ended.is_none()) else { return };
        if end == Side::User {
            if connection.tcp.is_none() && host.is_established(socket, end) {
                connection.established(host);
            }
            while let Some(heard) = self.connections.get_mut(socket).and_then(|one| one.hear(host)) {
                self.take(socket, heard, host);
            }
        } else if connection.answer(host) {
            connection.is_loading = true;
        }
        if let Some(connection) = self.connections.get_mut(socket) {
            connection.load(host.sender(), self.unsent, host);
        }
    }

    fn stop(&mut self, host: &mut dyn Host) {
        self.end(host);
    }

    /// Does nothing: the test measures its own last intervals.
    fn measure_from(&mut self, _now: Instant) {}

    fn result(&self, now: Instant) -> Option<result::Result> {
        let found = self.judge.found();
        let of = |value: fn(&Found) -> f64| found.as_ref().map(value).map(rounded);
        Some(Arc::new(RpmResult {
            rpm: of(|found| found.rpm),
            in_words: self.judge.found().as_ref().map(Found::in_words),
            foreign_rpm: of(|found| found.foreign_rpm),
            loaded_rpm: of(|found| found.loaded_rpm),
            confidence: self.judge.confidence().name(),
            tcp_ms: of(|found| found.means[Sample::Tcp as usize]),
            tls_ms: of(|found| found.means[Sample::Tls as usize]),
            http_ms: of(|found| found.means[Sample::Http as usize]),
            own_ms: of(|found| found.means[Sample::Own as usize]),
            self_ms: self.own.summary(),
            load_mbps: rounded(self.judge.goodput_bps() / 1e6),
            connections: self.loads.len() as u64,
            probes: self.probes,
            foreign_probes: self.foreign,
            self_probes: self.own.count(),
            test_s: rounded(self.ended.unwrap_or(now).since(self.begun).as_secs_f64()),
        }))
    }

    fn undone(&self) -> Undone {
        Undone::of_one(!self.loads.is_empty(), self.foreign + self.own.count() > 0, !self.is_done)
    }
}
