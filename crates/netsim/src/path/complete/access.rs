//! The key `access` of a link: an access network whose turns, handovers or grants decide when a packet leaves.
//!
//! Each kind is one file below this one: parameters as data, as those of a discipline are, and a [`Channel`]. A link
//! keeps its rate, which is the kind's rate in the long run, and its discipline.

mod docsis;
mod starlink;

use crate::path::transmitter::Transmitter;
use goodqueue_hosts::keys::{Json, Key, Quantity, Result, Table, describe, no_such_word};
use goodqueue_qdisc::param::{Args, QdiscSpec};
use goodqueue_units::{Duration, Instant, Rate, Streams};
use serde::{Serialize, Serializer};
use serde_json::json;

/// The key.
pub(crate) const ACCESS: Key<Access> = Key::optional("access", "\"starlink\"")
    .help(
        "the access network of the link, with its parameters (docs/concepts/access-links.md); `rate` is its rate in \
         the long run",
    )
    .simulator_only();

/// The channel of a link.
pub(crate) type AnyChannel = Box<dyn Channel>;

/// What an access network does to the packets of one direction.
pub(crate) trait Channel: std::fmt::Debug + Send + Sync {
    /// Notes that `packets` of `bytes` in all wait in the queue at the time of the next call. A modem asks for so much.
    fn note(&mut self, _bytes: u64, _packets: u64) {}
    /// Does what [`Transmitter::start`] does.
    fn start(&mut self, now: Instant) -> Instant;
    /// Does what [`Transmitter::occupy`] does.
    fn occupy(&mut self, now: Instant, bytes: u32) -> Duration;
    /// Does what [`Transmitter::idle`] does.
    fn idle(&mut self);
    /// Returns when a packet whose last bit was sent at `sent` has crossed the network. None: it is lost there. Times
    /// never fall, so no packet overtakes another.
    fn crosses(&mut self, sent: Instant) -> Option<Instant>;
    /// Does what [`Transmitter::capacity_bits`] does.
    fn capacity_bits(&self, from: Instant, to: Instant) -> f64;
    /// Does what [`Transmitter::mean_rate`] does.
    fn mean_rate(&self) -> Rate;
}

/// Where the random numbers of a channel come from: the run's streams, and the number of the link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    pub(crate) streams: Streams,
    pub(crate) link: u64,
}

impl Draws {
    pub(crate) const fn new(streams: Streams, link: u64) -> Self {
        Self { streams, link }
    }

    /// Returns draws for a channel that is only built to see whether it can be.
    pub(crate) const TRIAL: Self = Self { streams: Streams::new(0), link: 0 };
}

/// A channel, or why it cannot be.
type Made = std::result::Result<Box<dyn Channel>, String>;

/// A kind of access network.
struct Kind {
    spec: &'static QdiscSpec,
    make: fn(&Args, Rate, Draws) -> Made,
}

/// Every kind.
const KINDS: &[Kind] = &[docsis::KIND, starlink::KIND];

/// Returns the kinds with their parameters.
pub(crate) fn specs() -> impl Iterator<Item = &'static QdiscSpec> {
    KINDS.iter().map(|kind| kind.spec)
}

/// The access network of a link, as a scenario has it.
#[derive(Clone, Debug)]
pub struct Access(Args);

impl Access {
    /// Reads the key, or takes `other`.
    pub(crate) fn read(table: &Table<'_>, other: Option<&Self>) -> Result<Option<Self>> {
        Ok(table.find(&ACCESS)?.or_else(|| other.cloned()))
    }

    /// Returns the transmitter of a link of this `rate`.
    ///
    /// # Errors
    /// If a parameter contradicts the rate or another parameter.
    pub(crate) fn transmitter(&self, rate: Rate, draws: Draws) -> std::result::Result<Transmitter, String> {
        let kind = KINDS.iter().find(|kind| kind.spec.name == self.0.spec.name);
        let kind = kind.ok_or_else(|| format!("found {:?}; accepted: a kind", self.0.spec.name))?;
        (kind.make)(&self.0, rate, draws).map(Transmitter::Access)
    }
}

impl Quantity for Access {
    const TYPE: &'static str = "line";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let names: Vec<&str> = specs().map(|spec| spec.name).collect();
        let words = || format!("found {}; accepted: {}, with parameters", describe(found), names.join(", "));
        let text = found.as_str().map(str::trim).ok_or_else(words)?;
        let name = text.split_whitespace().next().ok_or_else(words)?;
        let spec = specs().find(|spec| spec.name == name).ok_or_else(|| no_such_word(name, &names))?;
        Args::parse(spec, &text[name.len()..]).map(Self).map_err(|error| error.0)
    }
    fn write(&self) -> Json {
        json!(self.0.to_string())
    }
    fn schema() -> Json {
        json!({"type": "string"})
    }
}

impl Serialize for Access {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.write().serialize(serializer)
    }
}
