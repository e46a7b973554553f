//! `[bottleneck]` and `[bottleneck.up]`: the queue and the link of each direction. Also reads a hop that is a link.

use super::{Direction, Path, Traffic};
use crate::foreign::is_foreign;
use crate::packet::Packet;
use crate::path::link::{self, Below, KEYS, LinkQdisc};
use crate::wifi::spec::WifiSpec;
use goodqueue_hosts::keys::{AnyKey, Key, RateText, Result, ScenarioError, Table, no_such_word, refuse};
use goodqueue_qdisc::param::{ParamSpec, Unit, Value};
use goodqueue_qdisc::sched::mac80211;
use goodqueue_qdisc::{AnyQdisc, Args, Link, registry};
use goodqueue_units::Rate;
use serde::{Serialize, Serializer};
use std::sync::Arc;

const BDP: Key<f64> = Key::required("bdp", "2.0")
    .range(0.0, 1e6)
    .help("the queue's limit instead of a `limit` in the line: a multiple of rate times `path.rtt`, in full frames, rounded down");
const MIN_PACKETS: Key<u64> = Key::with_default("min_packets", "0")
    .unit("packets")
    .range(0, 1_000_000_000)
    .example("10")
    .help("the least limit, in full frames");

/// The keys of `buffer` in both tables.
pub(super) const BUFFER_KEYS: &[&dyn AnyKey] = &[&BDP, &MIN_PACKETS];

/// A qdisc line, parsed if the discipline is in the registry.
#[derive(Clone, Debug)]
pub enum Line {
    /// A discipline of the registry, with its parameters.
    Registry(Args),
    /// A discipline outside the registry, in its own words.
    Foreign(String),
    /// No discipline, but the queues of mac80211.
    Mac80211(Args),
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Registry(args) | Self::Mac80211(args) => args.fmt(f),
            Self::Foreign(line) => f.write_str(line),
        }
    }
}

/// A discipline above a link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// The rate of the link. If it varies, its mean rate.
    pub rate: RateText,
    /// What the link has below its discipline.
    pub below: Below,
    /// The discipline. A limit from `buffer` is among its parameters.
    pub line: Line,
    /// Whether it is an end of a Wi-Fi cell, which has its own rates.
    pub(crate) is_wifi: bool,
    /// The line of the queues below it, if its own line is the tree of a provider's subscribers. The scenario has the
    /// tree as tables.
    pub(crate) of_leaves: Option<Arc<str>>,
    /// Bytes of a full frame.
    pub(crate) frame_bytes: u32,
    /// The key of the line in the scenario, for error messages.
    pub(crate) key: String,
}

impl Serialize for LinkSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            rate: Option<RateText>,
            qdisc: &'a str,
            #[serde(flatten)]
            below: &'a Below,
        }
        let qdisc = self.written();
        let rate = (self.below.trace.is_none() && !self.is_wifi).then_some(self.rate);
        Written { rate, qdisc: &qdisc, below: &self.below }.serialize(serializer)
    }
}

impl LinkSpec {
    /// Returns the line as scenario and record have it.
    pub(crate) fn written(&self) -> String {
        self.of_leaves.as_ref().map_or_else(|| self.line.to_string(), |line| line.to_string())
    }

    /// Returns what the discipline knows of its link.
    pub(crate) fn parameters(&self) -> Link {
        Link { rate: self.rate.0, mtu: self.frame_bytes }
    }
}

/// Both directions.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// To the user.
    pub down: LinkSpec,
    /// From the user.
    pub up: LinkSpec,
    /// The Wi-Fi cell of which the links are ends, if there is one.
    pub wifi: Option<WifiSpec>,
}

impl Serialize for Bottleneck {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            #[serde(flatten)]
            down: &'a LinkSpec,
            up: &'a LinkSpec,
            #[serde(skip_serializing_if = "Option::is_none")]
            wifi: Option<&'a WifiSpec>,
        }
        Written { down: &self.down, up: &self.up, wifi: self.wifi.as_ref() }.serialize(serializer)
    }
}

/// A limit that follows from rate and RTT.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    bdp: f64,
    min_packets: u64,
}

impl Buffer {
    fn read(table: &Table<'_>) -> Result<Option<Self>> {
        let Some(table) = table.table("buffer")? else { return Ok(None) };
        table.refuse_others(BUFFER_KEYS, &[])?;
        Ok(Some(Self { bdp: table.take(&BDP)?, min_packets: table.take(&MIN_PACKETS)? }))
    }

    /// Returns the limit in full frames.
    fn frames(self, rate: Rate, path: Path) -> u64 {
        let bytes = rate.bytes_in(path.rtt.0) as f64;
        let frames = (self.bdp * bytes / f64::from(path.frame_bytes())) as u64;
        frames.max(self.min_packets).max(1)
    }
}

impl Bottleneck {
    /// Reads `table`, whose links are part of `path`.
    pub(super) fn read(table: &Table<'_>, path: Path) -> Result<Self> {
        table.refuse_others(KEYS, &["buffer", "up", "wifi"])?;
        let wifi = table.table("wifi")?.map(|wifi| WifiSpec::read(&wifi)).transpose()?;
        let down = LinkSpec::read(table, path, wifi.as_ref(), None, Some(Direction::Down))?;
        let empty = serde_json::Value::Object(serde_json::Map::new());
        let up = match table.table("up")? {
            Some(up) => up,
            None => Table::new(table.key("up"), &empty)?,
        };
        up.refuse_others(KEYS, &["buffer"])?;
        // A qdisc line for the direction `Up` does not take the buffer of the direction `Down`.
        let qdisc = if up.has("qdisc") || up.has("tc") {
            None
        } else {
            link::qdisc(table, Some(Direction::Up), path.release)?
        };
        let buffer = Buffer::read(table)?.filter(|_| qdisc.is_some());
        let up = LinkSpec::read(&up, path, wifi.as_ref(), Some(Other { link: &down, qdisc, buffer }), None)?;
        Ok(Self { down, up, wifi })
    }
}

impl Bottleneck {
    /// Refuses stations in `traffic` that the cell does not have.
    pub(super) fn check(&self, traffic: &[Traffic]) -> Result<()> {
        for (place, one) in traffic.iter().enumerate() {
            let Some(name) = &one.station else { continue };
            let key = format!("traffic[{place}].station");
            let Some(wifi) = &self.wifi else {
                return refuse(
                    &key,
                    format!("{name:?} without Wi-Fi"),
                    "none; stations are of [bottleneck.wifi]",
                );
            };
            if wifi.numbers(Some(name)).is_empty() {
                let names: Vec<&str> = wifi.stations.iter().map(|station| station.name.as_str()).collect();
                return Err(ScenarioError::new(key, no_such_word(name, &names)));
            }
        }
        Ok(())
    }
}

/// The values that the direction `Up` takes from `Down`.
struct Other<'a> {
    link: &'a LinkSpec,
    qdisc: Option<LinkQdisc>,
    buffer: Option<Buffer>,
}

impl LinkSpec {
    /// Refuses a card that merges, for a path of packets from outside.
    pub(super) fn check_outside(&self) -> Result<()> {
        if self.below.receive.is_none_or(|card| !card.merges()) {
            return Ok(());
        }
        let accepted = "false, since packets of real programs do not merge here";
        refuse(&self.key.replace("qdisc", "gro"), "true", accepted)
    }

    /// Reads the link of a hop, which has no `buffer`.
    pub(super) fn of_hop(table: &Table<'_>, path: Path) -> Result<Self> {
        Self::read(table, path, None, None, None)
    }

    /// Returns the same link as the interface of the host that sends all its packets. A card's keys in the host's table
    /// are of the card that receives.
    pub(super) fn at_sender(self) -> Self {
        let line = match self.line {
            Line::Registry(args) => Line::Registry(args.at_sender()),
            other => other,
        };
        Self { line, below: Below { receive: None, ..self.below }, ..self }
    }

    /// Reads a link, or an end of a cell. Values that the table leaves out are those of `other`. Commands of two
    /// devices are those of two directions, of which this is `direction`.
    fn read(
        table: &Table<'_>,
        path: Path,
        wifi: Option<&WifiSpec>,
        other: Option<Other<'_>>,
        direction: Option<Direction>,
    ) -> Result<Self> {
        let of_link = other.as_ref().map(|other| (other.link.rate, &other.link.below));
        let (rate, below) = match wifi {
            Some(wifi) => (RateText(wifi.fastest()), Below::none(table)?),
            None => Below::read(table, of_link)?,
        };
        let qdisc = match other.as_ref().and_then(|other| other.qdisc.clone()) {
            Some(qdisc) => qdisc,
            None => link::required_qdisc(table, direction, path.release)?,
        };
        let buffer = Buffer::read(table)?.or(other.and_then(|other| other.buffer));
        let is_wifi = wifi.is_some();
        let line = match &qdisc {
            LinkQdisc::Line(words) => mac80211(table, words, is_wifi, buffer, path)?,
            LinkQdisc::Tree(_) => None,
        };
        let line = match line {
            Some(line) => line,
            None => understood(table, qdisc, rate.0, buffer, path)?,
        };
        if is_wifi && matches!(&line, Line::Registry(args) if args.is_given("corrupt")) {
            let accepted = "a line without it: a cell has bit errors of its own";
            return refuse(&table.key("qdisc"), "corrupt on Wi-Fi", accepted);
        }
        Ok(Self {
            rate,
            below,
            line,
            is_wifi,
            of_leaves: None,
            frame_bytes: path.frame_bytes(),
            key: table.key("qdisc"),
        })
    }
}

/// Returns the queues of mac80211, if `words` name them.
fn mac80211(
    table: &Table<'_>,
    words: &str,
    is_wifi: bool,
    buffer: Option<Buffer>,
    path: Path,
) -> Result<Option<Line>> {
    let words = words.trim();
    let name = mac80211::SPEC.name;
    let Some(parameters) = words.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with(' '))
    else {
        return Ok(None);
    };
    if !is_wifi {
        let accepted = "a discipline; those queues are of [bottleneck.wifi]";
        return refuse(&table.key("qdisc"), format!("{name:?} without Wi-Fi"), accepted);
    }
    if buffer.is_some() {
        return refuse(&table.key("buffer"), format!("one with {name}"), "its parameter `limit`");
    }
    let refused = |error: goodqueue_qdisc::Error| ScenarioError::new(table.key("qdisc"), error.0);
    let args = Args::parse(&mac80211::SPEC, parameters).map_err(refused)?;
    Ok(Some(Line::Mac80211(args.in_release(path.release))))
}

/// Reads a line, or takes a tree, and adds the limit from `buffer` to its parameters.
fn understood(
    table: &Table<'_>,
    qdisc: LinkQdisc,
    rate: Rate,
    buffer: Option<Buffer>,
    path: Path,
) -> Result<Line> {
    if let LinkQdisc::Line(words) = &qdisc
        && is_foreign(words)
    {
        return foreign(table, words, rate, buffer, path).map(Line::Foreign);
    }
    let link = Link { rate, mtu: path.frame_bytes() };
    let refuse_line = |error: goodqueue_qdisc::Error| ScenarioError::new(table.key("qdisc"), error.0);
    let args = match qdisc {
        LinkQdisc::Line(words) => registry::parse_line(&words).map_err(refuse_line)?,
        LinkQdisc::Tree(args) => args,
    };
    let mut args = args.in_release(path.release);
    args.refuse_newer().map_err(refuse_line)?;
    args.resolve(rate).map_err(refuse_line)?;
    if let Some(buffer) = buffer {
        apply_buffer(table, &mut args, (buffer.frames(rate, path), path.frame_bytes()))?;
    }
    AnyQdisc::<Packet>::build(&args, &link).map_err(refuse_line)?;
    Ok(Line::Registry(args))
}

/// Returns a foreign line with single spaces. A buffer becomes its parameter `limit`, in packets.
fn foreign(table: &Table<'_>, line: &str, rate: Rate, buffer: Option<Buffer>, path: Path) -> Result<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some(buffer) = buffer {
        if words.contains(&"limit") {
            return Err(Unset::Given("the discipline", "limit").refusal(table));
        }
        line += &format!(" limit {}", buffer.frames(rate, path));
    }
    Ok(line)
}

/// Why a buffer cannot set the limit of a line: the discipline, and the word in the line that is its limit.
enum Unset<'a> {
    Given(&'a str, &'a str),
    NoLimit(&'a str),
}

impl std::fmt::Display for Unset<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Given(name, word) => write!(f, "{name} has a {word} in its line already"),
            Self::NoLimit(name) => write!(f, "{name} has no limit that a buffer could set"),
        }
    }
}

impl Unset<'_> {
    fn refusal(&self, table: &Table<'_>) -> ScenarioError {
        let accepted = if matches!(self, Self::Given(..)) { "; accepted: one of them" } else { "" };
        ScenarioError::new(table.key("buffer"), format!("{self}{accepted}"))
    }
}

/// Returns the unit of the limit that a buffer sets in a line: that of the innermost discipline, which queues.
fn limit_unit(args: &Args) -> std::result::Result<Unit, Unset<'_>> {
    if let Some(child) = args.child() {
        return limit_unit(child);
    }
    let name = args.spec.name;
    if let Some(word) = ["limit", "latency"].into_iter().find(|word| args.is_given(word)) {
        return Err(Unset::Given(name, word));
    }
    let limit = args.spec.params.iter().find(|param| param.name == "limit").and_then(ParamSpec::unit);
    limit.filter(|unit| matches!(unit, Unit::Packets | Unit::Bytes)).ok_or(Unset::NoLimit(name))
}

/// Returns why a `buffer` does not apply to `line`, in one sentence. Returns `None` if it sets the limit of the line,
/// and for a line that is refused.
#[must_use]
pub fn without_buffer(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let first = *words.first()?;
    if first == mac80211::SPEC.name {
        return Some(Unset::NoLimit(first).to_string());
    }
    if is_foreign(line) {
        return words.contains(&"limit").then(|| Unset::Given("the discipline", "limit").to_string());
    }
    let args = registry::parse_line(line).ok()?;
    limit_unit(&args).err().map(|why| why.to_string())
}

/// Sets the limit of the discipline that queues to this number of `frames`.
fn apply_buffer(table: &Table<'_>, args: &mut Args, (frames, frame_bytes): (u64, u32)) -> Result<()> {
    let limit = match limit_unit(args).map_err(|why| why.refusal(table))? {
        Unit::Bytes => frames.saturating_mul(frame_bytes.into()),
        _ => frames,
    };
    set_limit(args, limit);
    Ok(())
}

fn set_limit(args: &mut Args, limit: u64) {
    match args.child_mut() {
        Some(child) => set_limit(child, limit),
        None => args.set_default("limit", Value::Integer(limit)),
    }
}
