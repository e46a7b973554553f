//! Requests and responses on one connection, as in netperf's TCP_RR. The receiver of the flow's data asks, and the
//! sender answers.

use super::application::{self as app, Application, Host, LONGEST_WAIT, MOST_BYTES, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Key, ScenarioError, Size, Span};
use crate::probe::delay::{FlowDelays, Summary};
use goodqueue_units::{Duration, Instant, Stream as Random};
use std::sync::Arc;

const REPEAT: Key<u64> =
    app::REPEAT.help("number of exchanges, one after the other. If left out, they go on until `stop`");
const REQUEST: Key<Size> =
    Key::required("request", "\"100kB\"").range(Size(1), MOST_BYTES).help("bytes of a request");
const RESPONSE: Key<Size> = Key::required("response", "\"100kB\"")
    .range(Size(1), MOST_BYTES)
    .help("bytes of the response to it");
const THINK: Key<Span> = Key::derived("think", "0s, where think_mean is left out too", "\"1s\"")
    .range(Span(Duration::ZERO), LONGEST_WAIT)
    .help("time from a response to the next request");
const THINK_MEAN: Key<Span> = Key::optional("think_mean", "\"1s\"")
    .range(Span(Duration::ZERO), LONGEST_WAIT)
    .help("mean of that time, if it is drawn from an exponential distribution");

pub(crate) const KIND: Kind = Kind {
    keys: &[&REPEAT, &REQUEST, &RESPONSE, &THINK, &THINK_MEAN],
    transport: tcp::KEYS,
    asks: true,
    check: |table, values| {
        if table.has("think") && table.has("think_mean") {
            return Err(ScenarioError::new(
                table.key("think_mean"),
                "found a think time besides; accepted: think (fixed) or think_mean (exponential)",
            ));
        }
        if !table.has("think") && !table.has("think_mean") {
            values.put(&THINK, Span::default());
        }
        Ok(())
    },
    plural: "exchanges",
    things: "exchanges",
    result: Some(RrResult::PART),
    measures: &[Measure::time("response_p95_ms", "response_ms.p95", "rr p95", "rr", "p95")
        .main()
        .said("95 % of the requests are answered within {}", "within {}", "")],
    times: "response_ms",
    times_are: "request to response",
    option: Shorthand {
        detail: "response",
        example: "10kB",
        sets: &[("request", "200B"), ("start_spread", "1s")],
    },
    ..Kind::new(
        "rr",
        "requests and responses on one TCP connection: how long an answer takes",
        Make::App(|values, random| {
            let think = match values.find(&THINK_MEAN) {
                Some(mean) => Think::Exponential(mean.0, random),
                None => Think::Fixed(values.get(&THINK).0),
            };
            let (request, response) = (values.get(&REQUEST).0, values.get(&RESPONSE).0);
            Box::new(Rr::new(request, response, think, values.find(&REPEAT)))
        }),
    )
};

/// The exchanges of one flow, one after the other.
struct Rr {
    request: u64,
    response: u64,
    think: Think,
    /// How many requests are not yet sent; none: without end.
    left: Option<u64>,
    /// How many had not been sent at the flow's `stop`.
    skipped: u64,
    /// Counts since the start: requests sent, requests that the far end answered, and answers that arrived.
    asked: u64,
    answered: u64,
    heard: u64,
    socket: Option<SocketId>,
    /// Whether any byte of an answer ever arrived.
    has_come: bool,
    asked_at: Instant,
    /// How many requests were sent before measuring began.
    first_measured: u64,
    times: FlowDelays,
}

/// The time from a response to the next request.
enum Think {
    Fixed(Duration),
    /// The mean, and the stream from which times are drawn.
    Exponential(Duration, Random),
}

crate::part! {
    /// Exchanges whose requests were sent within the measured time.
    #[derive(Copy)]
    pub struct RrResult {
        /// From writing the request to the response's last byte in order.
        pub response_ms: Option<Summary> => result::times("response", "mean p10 p50 p90 p95 p99"),
        /// Requests that were sent.
        pub count: u64 => result::column("begun", "", 0),
        /// Requests that were answered.
        pub completed: u64 => result::column("ended", "", 0),
    }
}

impl AppResult for RrResult {}

impl Think {
    fn time(&mut self) -> Duration {
        match self {
            Self::Fixed(time) => *time,
            // The inverse of the distribution function, at 1 - u, which is never 0.
            Self::Exponential(mean, random) => {
                Duration::from_secs_f64(-mean.as_secs_f64() * libm::log(1.0 - random.next_f64()))
            }
        }
    }
}

impl Rr {
    fn new(request: u64, response: u64, think: Think, repeat: Option<u64>) -> Self {
        Self {
            request,
            response,
            think,
            left: repeat,
            skipped: 0,
            asked: 0,
            answered: 0,
            heard: 0,
            socket: None,
            has_come: false,
            asked_at: Instant::ZERO,
            first_measured: 0,
            times: FlowDelays::new(),
        }
    }

    fn ask(&mut self, host: &mut dyn Host) {
        let Some(socket) = self.socket.filter(|_| self.left != Some(0)) else { return };
        self.left = self.left.map(|left| left - 1);
        self.asked += 1;
        self.asked_at = host.now();
        host.write(socket, host.receiver(), self.request);
    }

    fn answer(&mut self, socket: SocketId, host: &mut dyn Host) {
        let received = host.delivered(socket, host.sender());
        while received >= (self.answered + 1) * self.request {
            self.answered += 1;
            host.write(socket, host.sender(), self.response);
        }
    }

    fn hear(&mut self, socket: SocketId, host: &mut dyn Host) {
        let delivered = host.delivered(socket, host.receiver());
        self.has_come |= delivered > 0;
        if delivered < (self.heard + 1) * self.response {
            return;
        }
        self.heard += 1;
        if self.asked > self.first_measured {
            self.times.record(host.now().since(self.asked_at));
        }
        if self.left == Some(0) {
            host.close(socket, host.receiver());
            return;
        }
        match self.think.time() {
            Duration::ZERO => self.ask(host),
            time => host.wake_at(host.now() + time),
        }
    }
}

impl Application for Rr {
    fn start(&mut self, host: &mut dyn Host) {
        self.socket = Some(host.open(host.receiver()));
    }

    fn wake(&mut self, host: &mut dyn Host) {
        self.ask(host);
    }

    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        if end == host.sender() {
            self.answer(socket, host);
        } else if self.asked == 0 && host.is_established(socket, end) {
            self.ask(host);
        } else {
            self.hear(socket, host);
        }
    }

    fn stop(&mut self, host: &mut dyn Host) {
        self.skipped = self.left.replace(0).unwrap_or(0);
        if let Some(socket) = self.socket {
            host.close(socket, host.receiver());
        }
    }

    fn measure_from(&mut self, _now: Instant) {
        self.first_measured = self.asked;
        self.times.reset();
    }

    fn result(&self, _now: Instant) -> Option<result::Result> {
        Some(Arc::new(RrResult {
            response_ms: self.times.summary(),
            count: self.asked - self.first_measured,
            completed: self.times.count(),
        }))
    }

    /// Counts the exchanges. Without an answer to the handshake the first one waits, too, even without `repeat`.
    fn undone(&self) -> Undone {
        let first = u64::from(self.asked == 0 && self.socket.is_some());
        let waiting = (self.left.unwrap_or(0) + self.skipped).max(first);
        Undone::in_turn(self.asked - self.heard, waiting, self.has_come)
    }
}
