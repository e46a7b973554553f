//! A stream: its application writes a chunk each interval, whether or not TCP keeps up (as live video does).
//!
//! A player at the receiver shows when that matters. It wants the first chunk when the flow starts, the second one
//! interval after the first arrived, and then one chunk per interval. If the next chunk is not there, the player waits
//! until it is; all chunks after it are then wanted later by the same time.

use super::application::{self, Application, Host, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand, Sum};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Key, MOST_RATE, RateText, Size, Span, refuse};
use crate::probe::delay::{FlowDelays, Summary};
use crate::probe::rounded;
use goodqueue_units::{Duration, Instant, Rate};
use std::sync::Arc;

const RATE: Key<RateText> = Key::required("rate", "\"10mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate at which the application writes, headers not included");
const INTERVAL: Key<Span> = Key::with_default("interval", "\"20ms\"")
    .range(Span(Duration::from_micros(1)), Span(Duration::from_secs(1000)))
    .help("time from one chunk to the next");
/// The group of picture of most video encoders at 30 frames per second: one second.
const GROUP_CHUNKS: u64 = 30;
const KEY_FRAME: Key<Size> = Key::optional("key_frame", "\"37500B\"").range(Size(1), application::MOST_BYTES).help(
    "bytes of the first chunk of each group, as a video's key frame has more than the frames after it. If left out, as \
     `rate` says",
);
const GROUP: Key<u64> = Key::optional("group", "30")
    .range(1, 1_000_000)
    .unit("chunks")
    .help("chunks from one `key_frame` to the next, 30 if left out");

pub(crate) const KIND: Kind = Kind {
    keys: &[&RATE, &INTERVAL, &KEY_FRAME, &GROUP],
    transport: tcp::KEYS,
    check: |table, values| {
        let (RateText(rate), Span(interval)) = (values.get(&RATE), values.get(&INTERVAL));
        if let (Some(group), None) = (values.find(&GROUP), values.find(&KEY_FRAME)) {
            return refuse(&table.key("group"), group, "none without key_frame");
        }
        if rate.bytes_in(interval) > 0 {
            return Ok(());
        }
        let found = format!("{interval}, in which {rate} makes no byte");
        refuse(&table.key("interval"), found, "a time for a chunk of one byte or more")
    },
    plural: "streams",
    ended: "",
    result: Some(StreamResult::PART),
    measures: &[
        Measure::time("chunk_delay_p95_ms", "delay_ms.p95", "stream p95", "stream", "p95"),
        Measure::time("stream_start_ms", "start_ms", "stream start", "", ""),
        Measure {
            sum: Sum::ShareOfTime,
            unit: "%",
            better: "low",
            decimals: Some(2),
            is_main: true,
            note: "share of the time since its first request in which a stream's player waits",
            sentence: ["Players of streams wait {} of the time", "{}", ""],
            ..Measure::new("stalled_percent", "stalled_ms", "stalled")
        },
    ],
    times: "delay_ms",
    times_are: "a chunk's way",
    option: Shorthand { detail: "rate", example: "1mbit", sets: &[("start_spread", "1s")] },
    ..Kind::new(
        "stream",
        "a TCP connection whose application writes at a rate: how late chunks are, and stalls",
        Make::App(|values, _| {
            let group = values.find(&KEY_FRAME).map(|size| (values.find(&GROUP).unwrap_or(GROUP_CHUNKS), size.0));
            Box::new(Stream::new(values.get(&RATE).0, values.get(&INTERVAL).0, group))
        }),
    )
};

/// One stream.
struct Stream {
    rate: Rate,
    interval: Duration,
    /// The chunks of a group, and the bytes of its first one, if these differ from the others'.
    group: Option<(u64, u64)>,
    socket: Option<SocketId>,
    /// When the player asked for the stream, and when the first chunk was written.
    asked: Option<Instant>,
    began: Option<Instant>,
    written: u64,
    arrived: u64,
    stopped: bool,
    /// When the player wants the next chunk; none before the flow starts.
    due: Option<Instant>,
    /// How long the first chunk took since the player asked.
    start: Option<Duration>,
    /// When the last chunk was there, after the flow's `stop`.
    ended: Option<Instant>,
    measured_from: Instant,
    first_measured: u64,
    delays: FlowDelays,
    stalls: u64,
    stalled: Duration,
}

crate::part! {
    /// A stream within the measured time.
    #[derive(Copy)]
    pub struct StreamResult {
        /// From writing a chunk to its last byte in order at the receiver.
        pub delay_ms: Option<Summary> => result::times("delay", "mean p50 p95 p99"),
        /// Chunks written.
        pub count: u64 => result::column("chunks", "sent", 0),
        /// Written chunks that arrived.
        pub completed: u64 => result::column("", "came", 0),
        /// How often the player had to wait. The wait for the first chunk counts only if it did not end.
        pub stalls: u64 => result::column("stalls", "", 0),
        /// Total time that the player had to wait, from the start of the flow on: the time before the first chunk
        /// counts.
        pub stalled_ms: f64 => result::column("waited", "ms", 0),
        /// Time that the player did not have to wait, up to the end of the stream or of the run.
        #[optional(by_schema)]
        pub played_ms: f64,
        /// From the start of the flow until the first chunk was there, even if that was before the measured time.
        #[optional(by_schema)]
        pub start_ms: Option<f64> => result::column("start", "ms", 0),
    }
}

impl AppResult for StreamResult {}

impl Stream {
    fn new(rate: Rate, interval: Duration, group: Option<(u64, u64)>) -> Self {
        Self {
            rate,
            interval,
            group,
            socket: None,
            asked: None,
            began: None,
            written: 0,
            arrived: 0,
            stopped: false,
            due: None,
            start: None,
            ended: None,
            measured_from: Instant::ZERO,
            first_measured: 0,
            delays: FlowDelays::new(),
            stalls: 0,
            stalled: Duration::ZERO,
        }
    }

    /// Returns the bytes of the first `chunks` chunks together, so that rounding loses nothing of the rate.
    fn bytes(&self, chunks: u64) -> u64 {
        let (keys, bytes) = self.group.map_or((0, 0), |(group, bytes)| (chunks.div_ceil(group), bytes));
        self.rate.bytes_in(self.interval * (chunks - keys)) + keys * bytes
    }

    fn write(&mut self, host: &mut dyn Host) {
        let (Some(socket), Some(began)) = (self.socket, self.began) else { return };
        let bytes = self.bytes(self.written + 1) - self.bytes(self.written);
        self.written += 1;
        host.write(socket, host.sender(), bytes);
        host.wake_at(began + self.interval * self.written);
    }

    /// Takes the next chunk, which has arrived completely.
    fn take(&mut self, began: Instant, now: Instant) {
        if self.arrived >= self.first_measured {
            self.delays.record(now.since(began + self.interval * self.arrived));
        }
        let due = self.due.unwrap_or(now);
        if now > due {
            self.stalls += u64::from(self.arrived > 0 && now > self.measured_from);
            self.stalled = self.stalled + now.since(due.max(self.measured_from));
        }
        if self.arrived == 0 {
            self.start = self.asked.map(|asked| now.since(asked));
        }
        self.arrived += 1;
        self.due = Some(due.max(now) + self.interval);
        if self.stopped && self.arrived == self.written {
            self.ended = Some(now);
        }
    }

    /// Returns since when the player waits at `now`, if it does.
    fn waits_since(&self, now: Instant) -> Option<Instant> {
        let wants_more = self.ended.is_none() && (self.arrived == 0 || self.arrived < self.written);
        self.due.filter(|due| wants_more && *due < now)
    }

    /// Returns the measured time from the player's first request to the end of the stream, or to `now`.
    fn watched(&self, now: Instant) -> Duration {
        let from = self.asked.map_or(now, |asked| asked.max(self.measured_from));
        self.ended.unwrap_or(now).since(from)
    }
}

impl Application for Stream {
    fn start(&mut self, host: &mut dyn Host) {
        (self.asked, self.due) = (Some(host.now()), Some(host.now()));
        self.socket = Some(host.open(Side::User));
    }

    fn wake(&mut self, host: &mut dyn Host) {
        self.write(host);
    }

    fn notice(&mut self, socket: SocketId, end: Side, host: &mut dyn Host) {
        if end == host.sender() && self.began.is_none() && !self.stopped && host.is_established(socket, end) {
            self.began = Some(host.now());
            self.write(host);
        }
        let Some(began) = self.began.filter(|_| end == host.receiver()) else { return };
        while self.arrived < self.written && host.delivered(socket, end) >= self.bytes(self.arrived + 1) {
            self.take(began, host.now());
        }
    }

    fn stop(&mut self, host: &mut dyn Host) {
        self.stopped = true;
        if self.arrived == self.written {
            // A player that got nothing has waited in vain.
            if let Some(since) = self.waits_since(host.now()) {
                self.stalls += 1;
                self.stalled = self.stalled + host.now().since(since.max(self.measured_from));
            }
            self.ended = Some(host.now());
        }
        if let Some(socket) = self.socket {
            host.close(socket, host.sender());
        }
    }

    fn measure_from(&mut self, now: Instant) {
        (self.measured_from, self.first_measured) = (now, self.written);
        (self.stalls, self.stalled) = (0, Duration::ZERO);
        self.delays.reset();
    }

    /// Returns the results. A stall that still lasts counts too.
    fn result(&self, now: Instant) -> Option<result::Result> {
        let stalled_since = self.waits_since(now);
        let lasting = stalled_since.map_or(Duration::ZERO, |due| now.since(due.max(self.measured_from)));
        let stalled = self.stalled + lasting;
        Some(Arc::new(StreamResult {
            delay_ms: self.delays.summary(),
            count: self.written - self.first_measured,
            completed: self.delays.count(),
            stalls: self.stalls + u64::from(stalled_since.is_some()),
            stalled_ms: rounded(stalled.as_millis_f64()),
            played_ms: rounded(self.watched(now).saturating_sub(stalled).as_millis_f64()),
            start_ms: self.start.map(|time| rounded(time.as_millis_f64())),
        }))
    }

    /// Returns whether it never started. A stream has no end of its own.
    fn undone(&self) -> Undone {
        Undone::of_one(self.asked.is_some(), self.arrived > 0, false)
    }
}
