//! `[bottleneck]` and `[bottleneck.up]`: the queue and the link of each direction.

use super::key::{AnyKey, Key, Result, Table};
use super::{MOST_RATE, RateText, ScenarioError};
use crate::foreign::is_foreign;
use goodqueue_qdisc::param::{Unit, Value};
use goodqueue_qdisc::{AnyQdisc, Args, Link, packet::Plain, registry};
use goodqueue_units::{Duration, Rate};
use serde::{Serialize, Serializer};

/// Bytes of a full frame: MSS 1448, timestamps, IPv4, Ethernet.
pub(crate) const FRAME_BYTES: u32 = 1514;

const RATE: Key<RateText> =
    Key::required("rate", "\"25mbit\"").range(MOST_RATE.0, MOST_RATE.1).help("the link's rate");
const QDISC: Key<String> = Key::required("qdisc", "\"codel target 5ms\"")
    .help("what would follow `tc qdisc add dev X root` (`goodqueue list qdiscs`), or FILE.py:CLASS with its parameters");
const UP_RATE: Key<RateText> = Key::derived("rate", "as down", "\"2mbit\"")
    .range(MOST_RATE.0, MOST_RATE.1)
    .help("the link's rate on the way up");
const UP_QDISC: Key<String> =
    Key::derived("qdisc", "as down", "\"fq_codel\"").help("the qdisc line of the way up");
const BDP: Key<f64> = Key::required("bdp", "2.0")
    .range(0.0, 1e6)
    .help("the queue's limit, in place of a `limit` in the line: multiples of rate times `path.rtt`, in full frames, rounded down");
const MIN_PACKETS: Key<u64> = Key::with_default("min_packets", "0")
    .unit("packets")
    .range(0, 1_000_000_000)
    .example("10")
    .help("the limit is at least so many full frames");

/// Of `[bottleneck]`.
pub(super) const KEYS: &[&dyn AnyKey] = &[&RATE, &QDISC];
/// Of `[bottleneck.up]`.
pub(super) const UP_KEYS: &[&dyn AnyKey] = &[&UP_RATE, &UP_QDISC];
/// Of `buffer` in both.
pub(super) const BUFFER_KEYS: &[&dyn AnyKey] = &[&BDP, &MIN_PACKETS];

/// A qdisc line, understood as far as it is ours.
#[derive(Clone, Debug)]
pub enum Line {
    /// A discipline of the registry, with its parameters.
    Registry(Args),
    /// A discipline of somebody else's, in its own words.
    Foreign(String),
}

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Registry(args) => args.fmt(f),
            Self::Foreign(line) => f.write_str(line),
        }
    }
}

/// The queue and the link of one direction.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// The link's rate.
    pub rate: RateText,
    /// The discipline, the limit from a `buffer` among its parameters.
    pub line: Line,
    /// Where the line stands in the scenario, for refusals.
    pub(crate) key: &'static str,
}

impl LinkSpec {
    /// What the discipline gets to know of its link.
    pub(crate) fn parameters(&self) -> Link {
        Link { rate: self.rate.0, mtu: FRAME_BYTES }
    }
}

/// Both directions.
#[derive(Clone, Debug)]
pub struct Bottleneck {
    /// To the user.
    pub down: LinkSpec,
    /// From the user.
    pub up: LinkSpec,
}

impl Serialize for Bottleneck {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Up<'a> {
            rate: RateText,
            qdisc: &'a str,
        }
        #[derive(Serialize)]
        struct Down<'a> {
            rate: RateText,
            qdisc: &'a str,
            up: Up<'a>,
        }
        let [down, up] = [&self.down, &self.up].map(|link| link.line.to_string());
        let up = Up { rate: self.up.rate, qdisc: &up };
        Down { rate: self.down.rate, qdisc: &down, up }.serialize(serializer)
    }
}

/// A limit that follows rate and RTT.
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

    /// In full frames.
    fn frames(self, rate: Rate, rtt: Duration) -> u64 {
        let frames = (self.bdp * rate.bytes_in(rtt) as f64 / f64::from(FRAME_BYTES)) as u64;
        frames.max(self.min_packets).max(1)
    }
}

impl Bottleneck {
    /// Reads `table`, of a path with the base RTT `rtt`.
    pub(super) fn read(table: &Table<'_>, rtt: Duration) -> Result<Self> {
        table.refuse_others(KEYS, &["buffer", "up"])?;
        let (rate, words, buffer) = (table.take(&RATE)?, table.take(&QDISC)?, Buffer::read(table)?);
        let empty = serde_json::Value::Object(serde_json::Map::new());
        let up = match table.table("up")? {
            Some(up) => up,
            None => Table::new(table.key("up"), &empty)?,
        };
        up.refuse_others(UP_KEYS, &["buffer"])?;
        let (up_rate, up_words) = (up.find(&UP_RATE)?.unwrap_or(rate), up.find(&UP_QDISC)?);
        // A qdisc line of its own comes without the other direction's buffer.
        let inherited = if up_words.is_none() { buffer } else { None };
        let up_buffer = Buffer::read(&up)?.or(inherited);
        let down = understood(table, &words, rate.0, buffer, rtt)?;
        let up = understood(&up, up_words.as_ref().unwrap_or(&words), up_rate.0, up_buffer, rtt)?;
        Ok(Self {
            down: LinkSpec { rate, line: down, key: "bottleneck.qdisc" },
            up: LinkSpec { rate: up_rate, line: up, key: "bottleneck.up.qdisc" },
        })
    }
}

/// The qdisc line `words`, with the limit from `buffer` among its parameters.
fn understood(
    table: &Table<'_>,
    words: &str,
    rate: Rate,
    buffer: Option<Buffer>,
    rtt: Duration,
) -> Result<Line> {
    if is_foreign(words) {
        return foreign(table, words, rate, buffer, rtt).map(Line::Foreign);
    }
    let link = Link { rate, mtu: FRAME_BYTES };
    let refuse_line = |error: goodqueue_qdisc::Error| ScenarioError::new(table.key("qdisc"), error.0);
    let mut args = registry::parse_line(words).map_err(refuse_line)?;
    if let Some(buffer) = buffer {
        apply_buffer(table, &mut args, buffer.frames(rate, rtt))?;
    }
    AnyQdisc::<Plain>::build(&args, &link).map_err(refuse_line)?;
    Ok(Line::Registry(args))
}

/// A foreign line, tidied; a buffer becomes its parameter `limit`, in packets.
fn foreign(
    table: &Table<'_>,
    line: &str,
    rate: Rate,
    buffer: Option<Buffer>,
    rtt: Duration,
) -> Result<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut line = words.join(" ");
    if let Some(buffer) = buffer {
        if words.contains(&"limit") {
            return Err(twice(table, "the discipline", "limit"));
        }
        line += &format!(" limit {}", buffer.frames(rate, rtt));
    }
    Ok(line)
}

fn twice(table: &Table<'_>, name: &str, word: &str) -> ScenarioError {
    let message = format!("{name} has a {word} in its line already; accepted: one of them");
    ScenarioError::new(table.key("buffer"), message)
}

/// Makes `frames` the limit of the discipline, or of the one inside it, which queues.
fn apply_buffer(table: &Table<'_>, args: &mut Args, frames: u64) -> Result<()> {
    if let Some(child) = args.child_mut() {
        return apply_buffer(table, child, frames);
    }
    let name = args.spec.name;
    if let Some(word) = ["limit", "latency"].into_iter().find(|word| args.is_given(word)) {
        return Err(twice(table, name, word));
    }
    let limit = args.spec.params.iter().find(|param| param.name == "limit");
    let limit = match limit.map(|param| param.unit) {
        Some(Unit::Packets) => frames,
        Some(Unit::Bytes) => frames.saturating_mul(FRAME_BYTES.into()),
        _ => {
            let message = format!("{name} has no limit that a buffer could set");
            return Err(ScenarioError::new(table.key("buffer"), message));
        }
    };
    args.set_default("limit", Value::Integer(limit));
    Ok(())
}
