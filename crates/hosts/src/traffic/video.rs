//! Video on demand over HTTP: a player fetches segments, one after the other, and chooses the rate of each.
//!
//! The player has one persistent connection and one request at a time. It plays from the first segment on, and while
//! its buffer lasts. If the buffer runs empty, the player stalls until the next segment is complete. It does not
//! request a segment for which the buffer has no room. All segments of one rate have the same size.

mod playback;
mod rule;

use super::application::{Application, Host, SocketId};
use super::kind::{Kind, Make, Measure, Shorthand, Sum};
use super::result::{self, AppResult, Undone};
use super::tcp;
use crate::direction::Side;
use crate::keys::{Json, Key, MOST_RATE, Quantity, RateText, Result, Span, Table, Values, describe, refuse};
use crate::probe::delay::{FlowDelays, Summary};
use crate::probe::rounded;
use goodqueue_units::{Duration, Instant};
use playback::Playback;
use rule::{Ladder, Rule, Throughputs};
use serde_json::json;
use std::sync::Arc;

/// Bytes of a request, as a web page's by default.
const REQUEST_BYTES: u64 = 400;
/// The most rates that a server has.
const MOST_RATES: usize = 100;
/// The range of a segment's length, and of times of whole segments.
const TIMES: (Span, Span) = (Span(Duration::from_millis(100)), Span(Duration::from_secs(100_000)));

const RULE: Key<Rule> = Key::with_default("rule", "\"bola\"")
    .help("what decides the rate of a segment: \"bola\", the buffer; \"throughput\", the last five segments")
    .source("BOLA-BASIC: Spiteri et al. 2016; RB: Yin et al. 2015, 7.1");
const RATES: Key<Rates> = Key::with_default(
    "rates",
    "[\"230kbit\", \"331kbit\", \"477kbit\", \"688kbit\", \"991kbit\", \"1427kbit\", \"2056kbit\", \"2962kbit\", \
     \"5027kbit\", \"6mbit\"]",
)
.help("rates that the server has, the lowest first")
.source("Spiteri et al. 2016, Table I");
const SEGMENT: Key<Span> = Key::with_default("segment", "\"3s\"")
    .range(TIMES.0, TIMES.1)
    .help("time that a segment plays")
    .source("Spiteri et al. 2016, V");
const BUFFER: Key<Span> = Key::with_default("buffer", "\"25s\"")
    .range(TIMES.0, TIMES.1)
    .help("time that the player's buffer holds, two segments or more")
    .source("Spiteri et al. 2016, V");
const LENGTH: Key<Span> = Key::optional("length", "\"10min\"")
    .range(TIMES.0, TIMES.1)
    .help("length of the video, rounded up to whole segments. If left out, it lasts until `stop`");

pub(crate) const KIND: Kind = Kind {
    keys: &[&RULE, &RATES, &SEGMENT, &BUFFER, &LENGTH],
    transport: tcp::KEYS,
    asks: true,
    check,
    plural: "videos",
    result: Some(VideoResult::PART),
    measures: &[
        Measure {
            unit: "Mbit/s",
            better: "high",
            decimals: Some(3),
            sentence: ["A video is fetched at {} on average", "at {}", ""],
            ..Measure::new("video_rate_mbps", "rate_mbps", "video rate").main()
        },
        Measure {
            sum: Sum::ShareOfTime,
            unit: "%",
            better: "low",
            decimals: Some(2),
            note: "share of the time since its first request in which a video's player waits",
            ..Measure::new("video_stalled_percent", "stalled_ms", "video stalled").main()
        },
        Measure {
            sum: Sum::Total,
            unit: "per run",
            better: "low",
            decimals: Some(1),
            ..Measure::new("video_stalls", "stalls", "video stalls")
        },
        Measure {
            sum: Sum::Total,
            unit: "per run",
            better: "low",
            decimals: Some(1),
            ..Measure::new("video_switches", "switches", "video switches")
        },
        Measure {
            unit: "ms",
            better: "low",
            ..Measure::new("video_start_ms", "start_ms", "video start")
        },
    ],
    times: "segment_ms",
    times_are: "request to last byte",
    series: Some(("videos", VideoSeries::PART)),
    option: Shorthand { detail: "rule", example: "", sets: &[] },
    ..Kind::new(
        "video",
        "video on demand in segments over TCP (rule bola or throughput): its rate, stalls and switches",
        Make::App(|values, _| Box::new(Video::new(values))),
    )
};

/// The rates of a server, the lowest first.
#[derive(Clone, Debug)]
struct Rates(Vec<RateText>);

impl Quantity for Rates {
    const TYPE: &'static str = "list of rates";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let Some(list) = found.as_array() else {
            return Err(format!("found {}; accepted: a list of rates", describe(found)));
        };
        if !(1..=MOST_RATES).contains(&list.len()) {
            return Err(format!("found {} rates; accepted: 1 to {MOST_RATES}", list.len()));
        }
        let mut rates: Vec<RateText> = Vec::with_capacity(list.len());
        for (place, one) in list.iter().enumerate() {
            let read = RateText::read(one).and_then(|rate| rate.check(&MOST_RATE, "").map(|()| rate));
            let rate = read.map_err(|error| format!("[{place}]: {error}"))?;
            if let Some(last) = rates.last().filter(|last| last.0.as_bps() >= rate.0.as_bps()) {
                return Err(format!("[{place}]: found {} after {}; accepted: a greater rate", rate.0, last.0));
            }
            rates.push(rate);
        }
        Ok(Self(rates))
    }
    fn write(&self) -> Json {
        self.0.iter().map(RateText::write).collect()
    }
    fn schema() -> Json {
        json!({"type": "array", "items": RateText::schema(), "minItems": 1, "maxItems": MOST_RATES})
    }
}

fn check(table: &Table<'_>, values: &mut Values) -> Result<()> {
    let (segment, buffer) = (values.get(&SEGMENT).0, values.get(&BUFFER).0);
    if buffer < segment * 2 {
        return refuse(&table.key("buffer"), buffer, &format!("two segments or more, {}", segment * 2));
    }
    Ok(())
}

/// A video under way.
struct Video {
    rule: Rule,
    ladder: Ladder,
    /// How many segments are not requested yet; none: without end.
    left: Option<u64>,
    /// Whether the video has a length, and whether its last segment is there.
    has_length: bool,
    is_whole: bool,
    /// Whether the flow's `stop` has come.
    is_stopped: bool,
    socket: Option<SocketId>,
    begun: Instant,
    /// The segment that was requested and is not complete.
    pending: Option<Pending>,
    /// How many segments were requested, and their bytes.
    asked: u64,
    bytes: u64,
    /// The place of the last segment's rate.
    last: Option<usize>,
    past: Throughputs,
    playback: Playback,
    start: Option<Duration>,
    times: FlowDelays,
    /// Sums since measuring began: segments that were requested, changes of rate, and the rates in bit/s of those of
    /// these segments that are there.
    segments: u64,
    switches: u64,
    rates_bps: u64,
    log: Option<Vec<(Instant, u64, Duration)>>,
}

/// A segment that is being fetched.
struct Pending {
    since: Instant,
    bytes: u64,
    /// Whether the server has had the request and sends the segment.
    is_answered: bool,
    /// Whether it was requested within the measured time.
    counts: bool,
}

crate::part! {
    /// A video within the measured time.
    #[derive(Copy)]
    pub struct VideoResult {
        /// Mean rate of the segments that were requested and came.
        pub rate_mbps: Option<f64> => result::column("rate", "Mbit/s", 3),
        /// Time during which the buffer was empty and the video was not over, from the start of the flow on: the time
        /// before the first segment counts.
        pub stalled_ms: f64 => result::column("waited", "ms", 0),
        /// Stalls that began. The wait for the first segment counts only if it did not end.
        pub stalls: u64 => result::column("stalls", "", 0),
        /// How often a segment had another rate than the segment before it.
        pub switches: u64 => result::column("switches", "", 0),
        /// Segments that were requested.
        pub segments: u64 => result::column("segments", "asked", 0),
        /// Those of them that came completely.
        #[optional(by_schema)]
        pub completed: u64 => result::column("", "came", 0),
        /// From requesting a segment to its last byte in order.
        pub segment_ms: Option<Summary> => result::times("segment", "p50 p95"),
        /// Time played.
        pub played_ms: f64,
        /// From the start of the flow until the first segment was complete, even if that was before the measured time.
        pub start_ms: Option<f64> => result::column("start", "ms", 0),
    }
}

crate::part! {
    /// A video's segments.
    pub struct VideoSeries {
        /// The flow's name.
        pub name: String,
        /// When each segment was complete, in seconds of the run.
        pub time_s: Vec<f64>,
        /// The rate of each segment.
        pub rate_mbps: Vec<f64>,
        /// How long the buffer could play then.
        pub buffer_s: Vec<f64>,
    }
}

impl AppResult for VideoResult {}

impl Video {
    fn new(values: &Values) -> Self {
        let segment = values.get(&SEGMENT).0;
        let rates = values.get(&RATES).0.into_iter().map(|rate| rate.0).collect();
        let whole = |length: Span| length.0.as_nanos().div_ceil(segment.as_nanos());
        Self {
            rule: values.get(&RULE),
            ladder: Ladder { rates, segment, buffer: values.get(&BUFFER).0 },
            left: values.find(&LENGTH).map(whole),
            has_length: values.find(&LENGTH).is_some(),
            is_whole: false,
            is_stopped: false,
            socket: None,
            begun: Instant::ZERO,
            pending: None,
            asked: 0,
            bytes: 0,
            last: None,
            past: Throughputs::default(),
            playback: Playback::new(),
            start: None,
            times: FlowDelays::new(),
            segments: 0,
            switches: 0,
            rates_bps: 0,
            log: None,
        }
    }

    /// Requests the next segment, or waits until the buffer has room for it.
    fn ask(&mut self, host: &mut dyn Host) {
        let Some(socket) = self.socket.filter(|_| self.pending.is_none() && self.left != Some(0)) else { return };
        let now = host.now();
        self.playback.advance(now);
        let full = self.playback.level() + self.ladder.segment;
        if full > self.ladder.buffer {
            return host.wake_at(now + (full - self.ladder.buffer));
        }
        let place = self.ladder.choose(self.rule, self.playback.level(), &self.past);
        let bytes = self.ladder.bytes(place);
        self.left = self.left.map(|left| left - 1);
        self.pending = Some(Pending { since: now, bytes, is_answered: false, counts: true });
        self.asked += 1;
        self.bytes += bytes;
        self.segments += 1;
        self.switches += u64::from(self.last.is_some_and(|last| last != place));
        self.last = Some(place);
        host.write(socket, host.receiver(), REQUEST_BYTES);
    }

    /// Sends the requested segment, if the whole request is there.
    fn answer(&mut self, socket: SocketId, host: &mut dyn Host) {
        let received = host.delivered(socket, host.sender());
        let Some(pending) = self.pending.as_mut().filter(|pending| !pending.is_answered) else { return };
        if received >= self.asked * REQUEST_BYTES {
            pending.is_answered = true;
            host.write(socket, host.sender(), pending.bytes);
        }
    }

    /// Takes a segment, if it is complete.
    fn take(&mut self, socket: SocketId, host: &mut dyn Host) {
        if host.delivered(socket, host.receiver()) < self.bytes {
            return;
        }
        let Some(pending) = self.pending.take() else { return };
        let now = host.now();
        let time = now.since(pending.since);
        self.past.add(pending.bytes, time);
        let bps = self.last.map_or(0, |place| self.ladder.rates[place].as_bps());
        if pending.counts {
            self.times.record(time);
            self.rates_bps += bps;
        }
        if self.playback.add(now, self.ladder.segment) {
            self.start = Some(now.since(self.begun));
        }
        if let Some(log) = &mut self.log {
            log.push((now, bps, self.playback.level()));
        }
        if self.left == Some(0) {
            self.is_whole = !self.is_stopped;
            self.playback.end(now);
            host.close(socket, host.receiver());
        } else {
            self.ask(host);
        }
    }
}

impl Application for Video {
    fn start(&mut self, host: &mut dyn Host) {
        self.begun = host.now();
        self.playback.begin(self.begun);
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
            self.take(socket, host);
        }
    }

    /// Requests nothing more. A segment under way may arrive.
    fn stop(&mut self, host: &mut dyn Host) {
        (self.left, self.is_stopped) = (Some(0), true);
        if let Some(socket) = self.socket.filter(|_| self.pending.is_none()) {
            self.playback.end(host.now());
            host.close(socket, host.receiver());
        }
    }

    fn measure_from(&mut self, now: Instant) {
        self.playback.measure_from(now);
        (self.segments, self.switches, self.rates_bps) = (0, 0, 0);
        self.times.reset();
        if let Some(pending) = &mut self.pending {
            pending.counts = false;
        }
    }

    fn result(&self, now: Instant) -> Option<result::Result> {
        let (played, stalled, stalls) = self.playback.seen(now);
        let completed = self.times.count();
        let mean_mbps = self.rates_bps as f64 * 1e-6 / completed as f64;
        Some(Arc::new(VideoResult {
            rate_mbps: (completed > 0).then(|| rounded(mean_mbps)),
            stalled_ms: rounded(stalled.as_millis_f64()),
            stalls,
            switches: self.switches,
            segments: self.segments,
            completed,
            segment_ms: self.times.summary(),
            played_ms: rounded(played.as_millis_f64()),
            start_ms: self.start.map(|time| rounded(time.as_millis_f64())),
        }))
    }

    /// Returns what of it is undone. A video without a `length` has no end of its own.
    fn undone(&self) -> Undone {
        Undone::of_one(self.socket.is_some(), self.start.is_some(), self.has_length && !self.is_whole)
    }

    fn log(&mut self) {
        self.log = Some(Vec::new());
    }

    fn series(&self, name: &str) -> Option<result::Series> {
        let log = self.log.as_ref()?;
        Some(Arc::new(VideoSeries {
            name: name.to_string(),
            time_s: log.iter().map(|(time, ..)| time.as_secs_f64()).collect(),
            rate_mbps: log.iter().map(|(_, bps, _)| *bps as f64 / 1e6).collect(),
            buffer_s: log.iter().map(|(.., level)| level.as_secs_f64()).collect(),
        }))
    }
}
