//! Each transmission within a window of time.

use super::Protection;
use super::stations::Transmission;
use super::watch::Seen;
use crate::direction::Direction;
use crate::probe::rounded;
use goodqueue_units::{Duration, Instant};
use serde::Serialize;

/// Each transmission that began within a window.
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

/// Single transmissions: a frame or an aggregate each, with what goes before it and its answer.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AirSeries {
    /// When it began, in seconds of the run.
    pub time_s: Vec<f64>,
    /// How long it had the air.
    pub duration_us: Vec<f64>,
    /// The station that sent it to the access point, or to which that sent it.
    pub station: Vec<String>,
    /// Whether it went `down`, from the access point, or `up`.
    pub direction: Vec<Direction>,
    /// Access category: `background`, `best effort`, `video` or `voice`.
    pub category: Vec<&'static str>,
    /// Its rate, in the words of a scenario.
    pub mode: Vec<String>,
    /// What it was: a `frame`, an `aggregate`, or a `question` what has come of one (BlockAckReq).
    pub kind: Vec<&'static str>,
    /// What went before it: `rts`, the question whether the medium is free, with its CTS; `cts`, to oneself; null:
    /// nothing.
    pub before: Vec<Option<&'static str>>,
    /// Frames with packets in it.
    pub frames: Vec<u32>,
    /// Those of them that came.
    pub came: Vec<u32>,
    /// Whether any of it had been sent before.
    pub retry: Vec<bool>,
    /// What became of it: `came`, `partly`, `unanswered` or `collided`; of the last two all is tried again or given up.
    pub outcome: Vec<&'static str>,
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

    /// The log, where `name` says what a station is called.
    pub(crate) fn series<'a>(&self, name: impl Fn(u32) -> &'a str) -> AirSeries {
        let microseconds = |duration: Duration| rounded(duration.as_nanos() as f64 / 1e3);
        let mut series = AirSeries::default();
        for Noted { sent, before, is_retry } in &self.sent {
            series.time_s.push(sent.began.as_secs_f64());
            series.duration_us.push(microseconds(sent.airtime));
            series.station.push(name(sent.station).to_string());
            series.direction.push(sent.way);
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
