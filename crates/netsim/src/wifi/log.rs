//! The log of the transmissions within a window of time.

use super::cell::Protection;
use super::stations::Transmission;
use super::watch::Seen;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::probe::rounded;
use goodqueue_units::{Duration, Instant};

/// The transmissions that began within a window of time.
pub(crate) struct AirLog {
    from: Instant,
    to: Instant,
    sent: Vec<Noted>,
}

struct Noted {
    sent: Transmission,
    before: Protection,
    is_retry: bool,
}

goodqueue_hosts::part! {
    /// Every transmission of a window of time on the air of a Wi-Fi cell. Each is a frame or an aggregate, with its
    /// answer and what goes before it.
    #[derive(Default)]
    pub struct AirSeries {
        /// When it began, in seconds of the run.
        pub time_s: Vec<f64>,
        /// How long it occupied the air.
        pub duration_us: Vec<f64>,
        /// The station that sent it to the access point, or received it from the access point.
        pub station: Vec<String>,
        /// Its direction: `down` from the access point, or `up`.
        pub direction: Vec<Direction>,
        /// Access category: `background`, `best effort`, `video` or `voice`.
        pub category: Vec<&'static str>,
        /// Its rate, as a scenario writes it.
        pub mode: Vec<String>,
        /// Its kind: a `frame`, an `aggregate`, or a `question` which frames of an aggregate arrived (BlockAckReq).
        pub kind: Vec<&'static str>,
        /// The frames before it: `rts` for RTS and CTS, `cts` for a CTS-to-self, null for nothing.
        pub before: Vec<Option<&'static str>>,
        /// The number of frames with packets in it.
        pub frames: Vec<u32>,
        /// The number of those frames that arrived.
        pub came: Vec<u32>,
        /// Whether any of it had been sent before.
        pub retry: Vec<bool>,
        /// Its outcome: `came`, `partly`, `unanswered` or `collided`. After the last two, all of it is tried again or
        /// given up.
        pub outcome: Vec<&'static str>,
    }
}

impl AirLog {
    pub(crate) fn new(from: Instant, to: Instant) -> Self {
        Self { from, to, sent: Vec::new() }
    }

    pub(crate) fn note(&mut self, sent: &Transmission, seen: &Seen) {
        if self.from <= sent.began && sent.began < self.to {
            self.sent.push(Noted { sent: *sent, before: seen.before, is_retry: seen.is_retry() });
        }
    }

    /// Returns the log as a series. `name` returns the name of a station.
    pub(crate) fn series<'a>(&self, name: impl Fn(u32) -> &'a str) -> AirSeries {
        let microseconds = |duration: Duration| rounded(duration.as_nanos() as f64 / 1e3);
        let mut series = AirSeries::default();
        for Noted { sent, before, is_retry } in &self.sent {
            series.time_s.push(sent.began.as_secs_f64());
            series.duration_us.push(microseconds(sent.airtime));
            series.station.push(name(sent.station).to_string());
            series.direction.push(sent.direction);
            series.category.push(sent.category.name());
            series.mode.push(sent.mode.to_string());
            series.kind.push(["question", "frame", "aggregate"][sent.frames.min(2)]);
            series.before.push(match before {
                Protection::Nothing => None,
                Protection::RtsCts => Some("rts"),
                Protection::CtsToSelf => Some("cts"),
            });
            series.frames.push(sent.frames as u32);
            series.came.push(sent.came as u32);
            series.retry.push(*is_retry);
            series.outcome.push(match sent {
                Transmission { is_collision: true, .. } => "collided",
                Transmission { is_answered: false, .. } => "unanswered",
                Transmission { came, frames, .. } if came < frames => "partly",
                _ => "came",
            });
        }
        series
    }
}
