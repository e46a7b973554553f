//! Live video with congestion control: an encoder as in RFC 8593, which sends at the rate that NADA (RFC 8698)
//! allows.

mod nada;
mod session;
mod transit;
mod video;

use super::isochronous::{CODEPOINT, ecn_of};
use super::kind::{Kind, Make, Measure, Shorthand};
use super::result::{self, AppResult};
use super::tcp::DSCP;
use crate::keys::{FRAME_BYTES, Json, Key, MOST_RATE, Quantity, RateText, Result, Span, Table, Values, describe, refuse};
use crate::probe::delay::Summary;
use goodqueue_units::{Duration, Instant};
use serde_json::json;
use session::{HEADER_BYTES, Session, Setup};

const CC: Key<MediaCc> = Key::with_default("cc", "\"nada\"")
    .help("congestion control: how the rate follows the receiver's reports")
    .source("RFC 8698");
const MIN_RATE: Key<RateText> = Key::with_default("min_rate", "\"150kbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("lowest rate of the encoder, without headers")
    .source("RFC 8698, RMIN; RFC 8867, 4.3");
const MAX_RATE: Key<RateText> = Key::with_default("max_rate", "\"1500kbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("highest rate of the encoder, without headers")
    .source("RFC 8698, RMAX; RFC 8867, 4.3");
const START_RATE: Key<RateText> = Key::derived("start_rate", "min_rate", "\"300kbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("rate before the first report, and after a pause")
    .source("RFC 8698, 4.3; RFC 8867, 4.3");
const FPS: Key<u64> = Key::with_default("fps", "30")
    .unit("frames/s")
    .range(1, 240)
    .help("average number of frames per second")
    .source("RFC 8593, Figure 2");
const REACTION: Key<Span> = Key::with_default("reaction", "\"200ms\"")
    .range(Span(Duration::ZERO), Span(Duration::from_secs(10)))
    .help("least time between two changes of the encoder's rate")
    .source("RFC 8593, tau_v; RFC 8867, 4.3 has 100 ms");
const PACKET_SIZE: Key<u64> = Key::with_default("packet_size", "1200")
    .unit("bytes")
    .range(100, FRAME_BYTES as u64 - HEADER_BYTES)
    .help("most bytes of media in a packet; the headers of RTP, UDP, IPv4 and Ethernet add 54");
const PRIORITY: Key<f64> = Key::with_default("priority", "1.0")
    .range(0.01, 100.0)
    .help("weight against other flows of media at the same bottleneck")
    .source("RFC 8698, PRIO");
const PAUSE: Key<Pause> = Key::optional("pause", "[\"40s\", \"60s\"]")
    .help("times in the run at which it pauses and resumes")
    .source("RFC 8867, 5.8");

pub(crate) const KIND: Kind = Kind {
    keys: &[&MIN_RATE, &MAX_RATE, &START_RATE, &FPS, &REACTION, &PACKET_SIZE, &PRIORITY, &PAUSE],
    transport: &[&CC, &CODEPOINT, &DSCP],
    check,
    plural: "media flows",
    ended: "",
    result: Some(MediaResult::PART),
    measures: &[
        Measure {
            unit: "Mbit/s",
            better: "high",
            heading: "media",
            detail: "Mbit/s",
            decimals: Some(3),
            ..Measure::new("media_rate_mbps", "rate_mbps", "media rate")
        },
        Measure::time("media_delay_p95_ms", "delay_ms.p95", "media p95", "media", "p95")
            .main()
            .said("95 % of the media packets arrive within {}", "within {}", ""),
        Measure::time("media_frame_p95_ms", "frame_delay_ms.p95", "frame p95", "frame", "p95"),
        Measure {
            unit: "%",
            better: "low",
            decimals: Some(2),
            ..Measure::new("media_loss_percent", "loss_percent", "media loss")
        },
    ],
    times: "delay_ms",
    times_are: "one way",
    option: Shorthand { detail: "max_rate", example: "", sets: &[] },
    ..Kind::new(
        "media",
        "live video, one way, whose rate follows the path (NADA): rate, delay, loss",
        Make::Conversation(|values, random| {
            let bps = |key| values.get::<RateText>(key).0.as_bps() as f64;
            let fps = values.get(&FPS) as f64;
            let wish = nada::Wish {
                rmin: bps(&MIN_RATE),
                rmax: bps(&MAX_RATE),
                start: bps(&START_RATE),
                prio: values.get(&PRIORITY),
                fps,
            };
            let setup = Setup {
                wish,
                tau_v: values.get(&REACTION).0,
                packet_size: values.get(&PACKET_SIZE),
                ecn: ecn_of(values),
                pause: values.find(&PAUSE),
            };
            Box::new(Session::new(setup, random))
        }),
    )
};

crate::word!(MediaCc);

/// A congestion control for media.
#[derive(Clone, Copy, Debug)]
enum MediaCc {
    /// NADA, RFC 8698.
    Nada,
}

impl MediaCc {
    const ALL: [Self; 1] = [Self::Nada];

    fn name(self) -> &'static str {
        match self {
            Self::Nada => "nada",
        }
    }
}

/// The start and the end of a pause in which nothing is captured, in time of the run.
#[derive(Clone, Copy, Debug)]
struct Pause(Span, Span);

impl Pause {
    fn has(self, now: Instant) -> bool {
        Instant::ZERO + self.0.0 <= now && now < self.end()
    }

    fn end(self) -> Instant {
        Instant::ZERO + self.1.0
    }
}

impl Quantity for Pause {
    const TYPE: &'static str = "pair of times";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let accepted = r#"accepted: two times, as in ["40s", "60s"]"#;
        let Some([from, to]) = found.as_array().map(Vec::as_slice) else {
            return Err(format!("found {}; {accepted}", describe(found)));
        };
        let (from, to) = (Span::read(from)?, Span::read(to)?);
        if from >= to {
            return Err(format!("found {} to {}; accepted: an end after the beginning", from.0, to.0));
        }
        Ok(Self(from, to))
    }
    fn write(&self) -> Json {
        json!([self.0.write(), self.1.write()])
    }
    fn schema() -> Json {
        json!({"type": "array", "items": Span::schema(), "minItems": 2, "maxItems": 2})
    }
}

/// Refuses rates that contradict each other.
fn check(table: &Table<'_>, values: &mut Values) -> Result<()> {
    let (least, most) = (values.get(&MIN_RATE).0, values.get(&MAX_RATE).0);
    if least > most {
        return refuse(&table.key("min_rate"), least, &format!("at most max_rate, {most}"));
    }
    let byte_a_frame = 8 * values.get(&FPS);
    if least.as_bps() < byte_a_frame {
        return refuse(&table.key("min_rate"), least, &format!("{byte_a_frame}bit or more, a byte a frame"));
    }
    let start = values.find(&START_RATE).map_or(least, |start| start.0);
    if !(least..=most).contains(&start) {
        let accepted = format!("from min_rate, {least}, to max_rate, {most}");
        return refuse(&table.key("start_rate"), start, &accepted);
    }
    values.put(&START_RATE, RateText(start));
    Ok(())
}

crate::part! {
    /// A media flow within the measured time.
    pub struct MediaResult {
        /// Mean of the encoder's target rate, which the congestion control sets. Without headers.
        pub rate_mbps: Option<f64> => result::column("rate", "Mbit/s", 3),
        /// The 0th to 100th percentile of the target rate. Each frame is a sample.
        #[wider(Option<Vec<Option<f64>>>)]
        pub rate_percentiles_mbps: Option<Vec<f64>>,
        /// From sending a packet to its arrival.
        pub delay_ms: Option<Summary> => result::times("delay", "mean p50 p95 p99"),
        /// From capturing a frame to the arrival of its last packet. Frames that lost a packet do not count.
        pub frame_delay_ms: Option<Summary> => result::times("frame", "p50 p95"),
        /// Frames captured.
        #[optional(by_schema)]
        pub frames: u64 => result::column("frames", "", 0),
        /// Frames that arrived completely.
        #[optional(by_schema)]
        pub frames_completed: u64 => result::column("came", "", 0),
        /// Packets sent.
        pub sent: u64,
        /// Packets that arrived.
        pub received: u64,
        /// Share of the packets that did not arrive, up to the last one that did. Of the packets after it, those count
        /// that were under way for more than three times the longest delay. 100 if none arrived, null if none was sent.
        pub loss_percent: Option<f64> => result::column("lost", "%", 2),
        /// Share of the arrived reports that ask for an accelerated ramp-up (RFC 8698, 4.2). Null if no report arrived.
        pub ramp_up_percent: Option<f64> => result::column("ramp-up", "%", 1),
    }
}

impl AppResult for MediaResult {}
