//! A link: a queue discipline above a transmitter. The bottleneck is a link too.

use super::access::{Access, Draws};
use super::bursts::Bursts;
use super::kind::{HopKind, Linux, Make};
use super::rate_file;
use super::rate_trace::RateTrace;
use super::transmitter::Transmitter;
use crate::byte_limit::Bql;
use crate::receive::Receive;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::{AnyKey, Json, Key, MOST_RATE, Quantity, RateText, Result, ScenarioError, Span, Table, describe, refuse};
use goodqueue_qdisc::Args;
use goodqueue_units::{Duration, Rate, Release};
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// The link's rate.
const RATE: Key<RateText> = Key::derived("rate", "the mean of `trace`, where there is one", "\"25mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the link's rate");
const TRACE: Key<TraceFile> = Key::optional("trace", "\"lte.mahimahi\"")
    .help("a file instead of `rate`: delivery opportunities (mahimahi), or rates over time (two columns, netem-trace's JSON, or a JSON list of durations and bandwidths)")
    .source("mm-link(1), Netravali et al. 2015");
const BURSTS: Key<Span> = Key::optional("bursts", "\"4ms\"")
    .range(Span(Duration::from_micros(1)), Span(Duration::from_secs(10)))
    .help("the link sends in bursts, one per interval of this length: each burst may carry rate times interval, and what is not used is lost")
    .simulator_only();
const PEAK: Key<RateText> = Key::optional("peak", "\"100mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the rate within a burst; if left out, a burst leaves at once")
    .simulator_only();
pub(crate) const RING: Key<u64> = Key::optional("ring", "256")
    .range(1, 1_000_000)
    .unit("packets")
    .help("packets that the driver's ring below the discipline holds; the discipline hands over the next packet as soon as the ring has room")
    .simulator_only();
pub(crate) const BQL: Key<Bql> = Key::optional("bql", "\"dynamic\"")
    .help("byte queue limits of the ring: `dynamic` finds the limit, or a size fixes it; one packet may end above it")
    .source("Linux since 3.3")
    .simulator_only();
const QDISC: Key<String> = Key::derived("qdisc", "the commands of `tc`, where there are some", "\"codel target 5ms\"")
    .help("the words after `tc qdisc add dev X root` (`goodqueue list qdiscs`), or FILE.py:CLASS with its parameters");

/// The discipline of a link that has no commands.
const REQUIRED: Key<String> = Key::required("qdisc", "\"codel target 5ms\"");

/// The keys of a link.
pub(crate) const KEYS: &[&dyn AnyKey] = &[
    &RATE,
    &QDISC,
    #[cfg(feature = "complete")]
    &super::commands::TC,
    &TRACE,
    &BURSTS,
    &PEAK,
    #[cfg(feature = "complete")]
    &super::access::ACCESS,
    &RING,
    &BQL,
    #[cfg(feature = "complete")]
    &crate::receive::RX_USECS,
    #[cfg(feature = "complete")]
    &crate::receive::RX_FRAMES,
    #[cfg(feature = "complete")]
    &crate::receive::GRO,
];

pub(crate) const KIND: HopKind = HopKind {
    keys: KEYS,
    plural: "links",
    linux: Some(Linux::Shaper),
    ..HopKind::new(
        "link",
        "a queue discipline above a transmitter: a rate, a trace of rates, bursts or an access network",
        Make::Link,
    )
};

/// A file of rates that has been read.
#[derive(Clone, Debug)]
pub struct TraceFile {
    file: String,
    pub(crate) trace: RateTrace,
}

impl Quantity for TraceFile {
    const TYPE: &'static str = "file";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let Some(file) = found.as_str() else {
            return Err(format!("found {}; accepted: a file's name in quotes", describe(found)));
        };
        let path = Path::new(file);
        // Refuses a folder, and a device or pipe whose end never comes.
        if !path.is_file() {
            return Err(format!("found no file {file:?}; accepted: a trace of rates"));
        }
        // Before it is read: a file of zeros takes no space on the disk, but it would take memory.
        let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
        rate_file::check_size(bytes).map_err(|why| format!("{file}: {why}"))?;
        let content =
            std::fs::read(path).map_err(|error| format!("{file}: {error}; accepted: a trace of rates"))?;
        let trace = rate_file::read(&content).map_err(|why| format!("{file}: {why}"))?;
        Ok(Self { file: file.to_string(), trace })
    }
    fn write(&self) -> Json {
        json!(self.file)
    }
    fn schema() -> Json {
        json!({"type": "string"})
    }
}

/// What is below the discipline of a link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Below {
    /// A file of rates, instead of a fixed rate.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_written")]
    pub trace: Option<TraceFile>,
    /// The interval between bursts, if the link is served in bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Span>,
    /// The rate within a burst.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak: Option<RateText>,
    /// The access network whose link it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Access>,
    /// Packets that a ring below the discipline holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<u64>,
    /// The ring's limit in bytes.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_written")]
    pub bql: Option<Bql>,
    /// The card in front of the discipline, if packets wait or merge there.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub receive: Option<Receive>,
}

fn as_written<T: Quantity, S: serde::Serializer>(
    value: &Option<T>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    value.as_ref().map(Quantity::write).serialize(serializer)
}

impl Below {
    /// Reads the link's keys from `table`, and returns the long-run rate with them. Keys that the table leaves out
    /// are taken from `other`, unless the table has a rate or a trace of its own.
    pub(crate) fn read(table: &Table<'_>, other: Option<(RateText, &Self)>) -> Result<(RateText, Self)> {
        let (rate, trace) = (table.find(&RATE)?, table.find(&TRACE)?);
        let other = other.filter(|_| rate.is_none() && trace.is_none());
        let inherited = |pick: fn(&Self) -> Option<u64>| other.and_then(|(_, below)| pick(below));
        let ring = table.find(&RING)?.or_else(|| inherited(|below| below.ring));
        let bursts = table.find(&BURSTS)?.or_else(|| other.and_then(|(_, below)| below.bursts));
        let peak = table.find(&PEAK)?.or_else(|| other.and_then(|(_, below)| below.peak));
        let trace = trace.or_else(|| other.and_then(|(_, below)| below.trace.clone()));
        let bql = table.find(&BQL)?.or_else(|| other.and_then(|(_, below)| below.bql));
        let access = Access::read(table, other.and_then(|(_, below)| below.access.as_ref()))?;
        let receive = Receive::read(table, other.and_then(|(_, below)| below.receive))?;
        let below = Self { trace, bursts, peak, access, ring, bql, receive };
        let rate = match (rate, &below.trace, other) {
            (Some(_), Some(_), _) => {
                return refuse(&table.key("trace"), "a rate besides", "rate or trace");
            }
            (None, Some(file), _) => RateText(Transmitter::trace(file.trace.clone()).mean_rate()),
            (Some(rate), None, _) | (None, None, Some((rate, _))) => rate,
            (None, None, None) => {
                let message = format!("missing; accepted: a rate such as {}", "\"25mbit\"");
                return Err(ScenarioError::new(table.key("rate"), message));
            }
        };
        below.check(table, rate)?;
        Ok((rate, below))
    }

    /// Returns the parameters of a link that is an end of a Wi-Fi cell: none. Refuses all keys of a link except
    /// `qdisc`.
    pub(crate) fn none(table: &Table<'_>) -> Result<Self> {
        let mut others = KEYS.iter().filter(|key| key.name() != QDISC.name());
        match others.find(|key| table.has(key.name())) {
            Some(key) => refuse(&table.key(key.name()), "one with Wi-Fi", "none: stations have the rates"),
            None => Ok(Self::default()),
        }
    }

    fn check(&self, table: &Table<'_>, rate: RateText) -> Result<()> {
        if self.trace.is_some() && self.bursts.is_some() {
            return refuse(&table.key("bursts"), "a trace besides", "bursts with a rate");
        }
        if self.peak.is_some() && self.bursts.is_none() {
            return refuse(&table.key("peak"), "no bursts", "a peak rate with bursts");
        }
        if self.bql.is_some() && self.ring.is_none() {
            return refuse(&table.key("bql"), "no ring", "limits of a ring");
        }
        if let Some(access) = &self.access {
            for (name, is_there) in
                [("trace", self.trace.is_some()), ("bursts", self.bursts.is_some()), ("ring", self.ring.is_some())]
            {
                if is_there {
                    return refuse(&table.key(name), "one with `access`", "none: the access network decides");
                }
            }
            let refused = |why| ScenarioError::new(table.key("access"), why);
            return access.transmitter(rate.0, Draws::TRIAL).map(drop).map_err(refused);
        }
        let refused =
            |why| ScenarioError::new(table.key(if self.peak.is_some() { "peak" } else { "bursts" }), why);
        self.transmitter(rate.0, Draws::TRIAL).map(drop).map_err(refused)
    }

    /// Returns whether the link has the same rate at all times.
    pub(crate) fn is_fixed(&self) -> bool {
        self.trace.is_none() && self.bursts.is_none() && self.access.is_none()
    }

    /// Returns the transmitter of a link. `rate` is its rate in the long run, and `draws` are for an access network.
    pub(crate) fn transmitter(&self, rate: Rate, draws: Draws) -> std::result::Result<Transmitter, String> {
        if let Some(access) = &self.access {
            return access.transmitter(rate, draws);
        }
        if let Some(file) = &self.trace {
            return Ok(Transmitter::trace(file.trace.clone()));
        }
        match self.bursts {
            Some(every) => Bursts::new(rate, every.0, self.peak.map(|peak| peak.0)).map(Transmitter::bursts),
            None => Ok(Transmitter::fixed(rate)),
        }
    }
}

/// The discipline that a table gives a link.
#[derive(Clone, Debug)]
pub(crate) enum LinkQdisc {
    /// A line that nobody has read.
    Line(String),
    /// The tree that commands make.
    Tree(Args),
}

/// Returns the discipline, if the table has one. The table of both directions may have one for each.
pub(crate) fn qdisc(
    table: &Table<'_>,
    direction: Option<Direction>,
    release: Release,
) -> Result<Option<LinkQdisc>> {
    if let Some(tree) = super::commands::tree(table, direction, release)? {
        return Ok(Some(LinkQdisc::Tree(tree)));
    }
    Ok(if table.has("qdisc") { table.find(&QDISC)?.map(LinkQdisc::Line) } else { None })
}

/// Returns the same as [`qdisc`], but the table must have a discipline.
pub(crate) fn required_qdisc(
    table: &Table<'_>,
    direction: Option<Direction>,
    release: Release,
) -> Result<LinkQdisc> {
    match qdisc(table, direction, release)? {
        Some(qdisc) => Ok(qdisc),
        None => table.take(&REQUIRED).map(LinkQdisc::Line),
    }
}
