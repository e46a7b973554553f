//! `[series]`: the time series to keep. They are the only data whose memory grows with the run. Series that would
//! fill the memory are refused before the run.

use super::{Direction, Scenario};
use goodqueue_hosts::keys::{AnyKey, Key, RateText, Result, ScenarioError, Span, Table, refuse};
use goodqueue_units::{Duration, Rate};
use serde::Serialize;

/// Most intervals of a run.
const MOST_INTERVALS: u64 = 1_000_000;
/// Most values in all time series.
const MOST_VALUES: u64 = 20_000_000;
/// Most packets whose delays are kept. Each packet takes about 85 bytes, from the log to the text of the record.
const MOST_PACKETS: u64 = 10_000_000;
/// Most transmissions that are kept. Each takes about 200 bytes, most of them in the text of the record.
const MOST_TRANSMISSIONS: u64 = 2_000_000;
/// The shortest possible exchange of frames: SIFS, two preambles and an ACK.
const SHORTEST: Duration = Duration::from_micros(50);
/// Most samples of `series.tcp`, and of `series.cc`. Each sample has up to seven numbers, and each number takes about
/// 30 bytes.
const MOST_SAMPLES: u64 = 6_000_000;

const INTERVAL: Key<Span> = Key::optional("interval", "\"100ms\"").help(
    "length of the intervals over which queues and flows are sampled; if left out, there are no such series",
);
const TCP: Key<bool> = Key::with_default("tcp", "false").help(
    "whether TCP's variables are also sampled at the end of each interval, under the names of `ss -tin`",
);
const LAW: Key<bool> = Key::with_default("law", "false")
    .help("whether the variables of the queues' laws are also sampled at the end of each interval")
    .simulator_only();
const CC: Key<bool> = Key::with_default("cc", "false")
    .help(
        "whether the variables of TCP's congestion controls are also sampled at the end of each interval, such as \
         the gains of `bbr3`",
    )
    .simulator_only();
const FROM: Key<Span> =
    Key::required("from", "\"10s\"").help("start of the window in which each packet's delay is kept");
const TO: Key<Span> = Key::required("to", "\"12s\"").help("end of that window");
const FLOWS: Key<bool> = Key::with_default("flows", "false")
    .help("whether the series has the flow of each packet, as its index in the record's flows")
    .simulator_only();

/// The keys of `[series]`.
pub(super) const KEYS: &[&dyn AnyKey] = &[&INTERVAL, &TCP, &CC, &LAW];
const AIR_FROM: Key<Span> = Key::required("from", "\"10s\"")
    .help("start of the window in which each transmission of a Wi-Fi cell is kept")
    .simulator_only();
const AIR_TO: Key<Span> = Key::required("to", "\"10.1s\"").help("end of that window").simulator_only();
/// The keys of `[series.air]`.
pub(super) const AIR_KEYS: &[&dyn AnyKey] = &[&AIR_FROM, &AIR_TO];
/// The keys of `[series.packets]`.
pub(super) const WINDOW_KEYS: &[&dyn AnyKey] = &[&FROM, &TO, &FLOWS];

/// The time series to keep.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Length of the intervals over which queues and flows are sampled. No such series if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Whether TCP's variables are sampled at the ends of the intervals, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tcp: bool,
    /// Whether the variables of the congestion controls are sampled at the ends of the intervals, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cc: bool,
    /// Whether the variables of the queues' laws are sampled at the ends of the intervals, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub law: bool,
    /// The window in which each packet's delay is kept. No such series if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<Window>,
    /// The window in which each transmission of a Wi-Fi cell is kept. No such series if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub air: Option<Window>,
}

/// A part of the run.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Window {
    /// Its start.
    pub from: Span,
    /// Its end.
    pub to: Span,
    /// Whether each packet's flow is kept, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub flows: bool,
}

impl Series {
    pub(super) fn read(table: &Table<'_>) -> Result<Self> {
        table.refuse_others(KEYS, &["packets", "air"])?;
        let packets = match table.table("packets")? {
            None => None,
            Some(window) => {
                window.refuse_others(WINDOW_KEYS, &[])?;
                Some(Window { from: window.take(&FROM)?, to: window.take(&TO)?, flows: window.take(&FLOWS)? })
            }
        };
        let air = match table.table("air")? {
            None => None,
            Some(window) => {
                window.refuse_others(AIR_KEYS, &[])?;
                Some(Window { from: window.take(&AIR_FROM)?, to: window.take(&AIR_TO)?, flows: false })
            }
        };
        let interval = table.find(&INTERVAL)?;
        let (tcp, cc, law) = (table.take(&TCP)?, table.take(&CC)?, table.take(&LAW)?);
        Ok(Self { interval, tcp, cc, law, packets, air })
    }

    /// Refuses series of `scenario` that contradict it, or that would be too large.
    pub(super) fn check(&self, scenario: &Scenario) -> Result<()> {
        let whole = scenario.duration.0;
        let flows: u64 = scenario.traffic.iter().map(|traffic| traffic.count).sum();
        if let Some(Span(interval)) = self.interval {
            let least = Duration::from_nanos(whole.as_nanos().div_ceil(MOST_INTERVALS).max(1));
            if !(least..=whole).contains(&interval) {
                return refuse("series.interval", interval, &format!("{least} to {whole}"));
            }
            let packets = scenario.traffic.iter().map(|traffic| traffic.packets(whole)).sum();
            // A station has two values per direction.
            let stations = scenario.bottleneck.wifi.as_ref().map_or(0, |wifi| 4 * wifi.each().count() as u64);
            let intervals = whole.as_nanos() / interval.as_nanos();
            let values = ((flows + stations) * intervals).saturating_add(packets);
            if values > MOST_VALUES {
                let found = format!("{interval}, which makes {values} values for {flows} flows");
                return refuse("series.interval", found, &format!("at most {MOST_VALUES}"));
            }
        }
        for (key, asked) in [("series.tcp", self.tcp), ("series.cc", self.cc), ("series.law", self.law)] {
            if asked && self.interval.is_none() {
                let message =
                    format!("missing, and {key} samples at its ends; accepted: a time such as \"100ms\"");
                return Err(ScenarioError::new("series.interval", message));
            }
        }
        for (key, window) in [("series.packets", self.packets), ("series.air", self.air)] {
            if let Some(window) = window
                && (window.from >= window.to || window.to.0 > whole)
            {
                let found = format!("{} to {}", window.from.0, window.to.0);
                return refuse(key, found, &format!("a window within the run, 0s to {whole}"));
            }
        }
        if let Some(window) = self.air {
            if scenario.bottleneck.wifi.is_none() {
                return refuse("series.air", "a window", "none; the air is of [bottleneck.wifi]");
            }
            let span = window.to.0 - window.from.0;
            let count = span.as_nanos() / SHORTEST.as_nanos();
            if count > MOST_TRANSMISSIONS {
                let found = format!("{span}, in which there may be {count} transmissions");
                return refuse("series.air", found, &format!("a window of at most {MOST_TRANSMISSIONS}"));
            }
        }
        self.check_memory(scenario, flows)
    }

    fn check_memory(&self, scenario: &Scenario, flows: u64) -> Result<()> {
        let samples = self
            .interval
            .map_or(0, |interval| flows * (scenario.duration.0.as_nanos() / interval.0.as_nanos()));
        for (key, asked) in [("series.tcp", self.tcp), ("series.cc", self.cc)] {
            if asked && samples > MOST_SAMPLES {
                let found = format!("true, which takes {samples} samples of {flows} flows");
                let accepted = format!("at most {MOST_SAMPLES}, as with a longer series.interval");
                return refuse(key, found, &accepted);
            }
        }
        if let Some(window) = self.packets {
            let span = window.to.0 - window.from.0;
            let sizes = scenario.traffic.iter().filter_map(super::Traffic::packet_bytes);
            let full = u64::from(scenario.path.frame_bytes());
            let least = sizes.min().unwrap_or(full).clamp(1, full);
            let packets: u64 = Direction::ALL
                .map(|direction| fastest(scenario, direction).bytes_in(span) / least)
                .iter()
                .sum();
            if packets > MOST_PACKETS {
                let found = format!("{span}, in which {packets} packets may leave");
                return refuse("series.packets", found, &format!("a window of at most {MOST_PACKETS}"));
            }
        }
        Ok(())
    }
}

/// Returns the highest rate of the link during the run.
fn fastest(scenario: &Scenario, direction: Direction) -> Rate {
    let later = scenario
        .change
        .iter()
        .filter(|change| change.direction == direction)
        .filter_map(|change| change.rate);
    let first = scenario.link(direction).rate.0;
    later.map(|RateText(rate)| rate).fold(first, |a, b| if b.as_bps() > a.as_bps() { b } else { a })
}
