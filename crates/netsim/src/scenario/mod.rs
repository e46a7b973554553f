//! The scenario: what a run is, in the words of its TOML file.
//!
//! A scenario is read with [`Scenario::from_json`], which also fills in every default: what it returns prints to
//! JSON that reads back as itself and gives the same run.

mod applications;
mod change;
mod dscp;
mod ecn;
mod flent;
mod memory;
mod page;
mod resolve;
mod text;
mod traffic;

pub use change::Change;
pub use dscp::Dscp;
pub use ecn::EcnAsked;
pub use page::Object;
pub(crate) use page::{DEFAULT_REQUEST, objects_of};
pub(crate) use resolve::Line;
pub use text::{RateText, Size, Span};

use crate::traffic::Kind;
use serde::{Deserialize, Serialize};

/// A refused scenario: which key, what was found there and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct ScenarioError {
    /// Dotted path of the key, such as `bottleneck.rate` or `traffic[0].cc`; may be empty.
    pub key: String,
    /// What was found, and what is accepted.
    pub message: String,
}

impl ScenarioError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// A run's description.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// How long the run lasts.
    pub duration: Span,
    /// Time at the start that is left out of the statistics.
    #[serde(default)]
    pub warmup: Span,
    /// What all random streams derive from.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// The queues and links.
    pub bottleneck: Bottleneck,
    /// Propagation.
    pub path: Path,
    /// Who sends.
    pub traffic: Vec<Traffic>,
    /// What becomes different in the course of the run, in the order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub change: Vec<Change>,
    /// Time series, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<Series>,
}

fn first_seed() -> u64 {
    1
}

/// The `down` direction, and where it differs the way `up`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Bottleneck {
    /// Link rate.
    pub rate: RateText,
    /// The line that follows `tc qdisc add dev X root`.
    pub qdisc: String,
    /// The queue's limit in bandwidth-delay products, in place of a `limit` in the line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
    /// The way back; what it leaves out is as above.
    #[serde(default)]
    pub up: Up,
}

/// The `up` direction: what is left out is as in the `down` direction.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Up {
    /// Link rate.
    #[serde(default)]
    pub rate: Option<RateText>,
    /// The line that follows `tc qdisc add dev X root`.
    #[serde(default)]
    pub qdisc: Option<String>,
    /// As in [`Bottleneck`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Buffer>,
}

/// A limit that follows rate and RTT.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Buffer {
    /// Multiples of rate times `path.rtt`, in full frames, rounded down.
    pub bdp: f64,
    /// At least so many full frames.
    #[serde(default)]
    pub min_packets: u64,
}

/// Propagation.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Base round-trip time, without queueing and transmission; half of it each way.
    pub rtt: Span,
}

/// One or several alike sources. Which keys a kind takes is said by [`Kind::keys`].
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// What it does.
    pub kind: Kind,
    /// What its flows are called, followed by `/` and a number; the kind, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How many of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Which way the data go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Congestion control: its name and its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cc: Option<String>,
    /// Which TCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Whether packets are ECN-capable, and TCP's feedback; what the congestion control needs, if left out, else none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnAsked>,
    /// Whether TCP paces what it sends, as where a socket asks for it; some congestion controls always do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// Codepoint of the packets both ways; CS0, if left out. A ping's echo has what arrived (as ICMP's in Linux); TCP's ACKs have
    /// the flow's, as where both ends set it or `net.ipv4.tcp_reflect_tos` is 1 (it is 0 by default: then they have CS0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dscp: Option<Dscp>,
    /// When the first starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Span>,
    /// Each starts later by a time drawn uniformly from zero to this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_spread: Option<Span>,
    /// Each starts so much later than the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stagger: Option<Span>,
    /// When they stop sending; the end of the run, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Span>,
    /// Base round-trip time, in place of `path.rtt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt: Option<Span>,
    /// Rate of each: of datagrams headers included, of a `stream` what its application writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<RateText>,
    /// Bytes of each packet as `tc` counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_size: Option<u64>,
    /// Time between packets, between a stream's chunks, or from the end of a transfer or page to the next one's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Bytes of a transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// How many transfers, exchanges or pages, one after the other; until `stop`, if left out (but one transfer, where there
    /// is no `interval` either).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<u64>,
    /// Bytes of a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Size>,
    /// Bytes of the response to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Size>,
    /// Time from a response to the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Span>,
    /// The same, drawn from an exponential distribution with this mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_mean: Option<Span>,
    /// What a call's packets are: `g711` or `ditg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<String>,
    /// Which page is fetched: `google` or `huffpost`; with `objects`, what they are the objects of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// A page's objects; the first is the document, and the others are asked for once it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<Vec<Object>>,
    /// How many connections a browser has to a host at a time, at the most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u64>,
}

/// Which way the data go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// To the user: the direction that a scenario's `[bottleneck]` describes.
    #[default]
    Down,
    /// From the user.
    Up,
}

impl Direction {
    pub(crate) const BOTH: [Self; 2] = [Self::Down, Self::Up];

    pub(crate) fn index(self) -> usize {
        self as usize
    }

    pub(crate) fn reverse(self) -> Self {
        match self {
            Self::Down => Self::Up,
            Self::Up => Self::Down,
        }
    }
}

/// Which time series to keep.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    /// Length of the intervals that queues and flows are sampled over; no such series, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Span>,
    /// Whether TCP's variables are sampled at the intervals' ends, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tcp: bool,
    /// Whether the queues' laws show their variables at the intervals' ends, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub law: bool,
    /// The window in which each packet's delay is kept; no such series, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packets: Option<Window>,
}

/// A span of the run.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Its start.
    pub from: Span,
    /// Its end.
    pub to: Span,
}
