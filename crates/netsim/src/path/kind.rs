//! A kind of hop as data: its keys, and what is built from them.
//!
//! A kind is one file beside this one, with a constant `KIND`, and one word in the list of [`super`].

use super::netem::{Accepted, WireCounts};
use crate::packet::Packet;
use goodqueue_hosts::keys::{AnyKey, Result, Table, Values};
use goodqueue_units::{Duration, Instant, Stream};
use serde::Serialize;
use std::fmt;

/// A kind of hop.
pub struct HopKind {
    /// The name of the kind in a scenario.
    pub name: &'static str,
    /// What the hop is, in one sentence.
    pub summary: &'static str,
    /// The plural of the kind's name for a person: the title of a table.
    pub plural: &'static str,
    /// What a person reads of a hop: the noun, then the values of these keys, each after its words. A value of zero is
    /// left out. A link is described by its rate and its discipline instead.
    pub noun: &'static str,
    /// The keys after the noun, each with the words before its value.
    pub shows: &'static [(&'static str, &'static str)],
    /// What runs the hop on Linux. None: the kernel engine refuses the kind. (The live engine runs all kinds.)
    pub linux: Option<Linux>,
    /// The keys of the hop, in the order of a resolved scenario.
    pub keys: &'static [&'static dyn AnyKey],
    /// The names of the keys that `[[change]]` may change during a run. A link has its own.
    pub(crate) changes: &'static [&'static str],
    /// Refuses keys that contradict each other.
    pub(crate) check: fn(&Table<'_>, &Values) -> Result<()>,
    pub(crate) make: Make,
    /// Returns how long a packet takes at most as a rule, without queueing. Buffers are made large enough for it.
    pub(crate) delay: fn(&Values) -> Duration,
}

/// What runs a hop on Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Linux {
    /// A shaper with the hop's discipline below it.
    Shaper,
    /// netem, whose words are the hop's keys.
    Netem,
}

/// How a hop is built.
pub(crate) enum Make {
    /// A queue discipline above a transmitter: see [`crate::scenario::LinkSpec`].
    Link,
    /// A hop without a discipline.
    Element(fn(&Values, Stream) -> Box<dyn Element>),
}

/// A hop that packets cross, without an event loop of its own.
pub(crate) trait Element: Send + Sync {
    /// Takes `packet` at `now`, and returns what became of it. (The event loop notes which flow lost a packet.)
    fn accept(&mut self, now: Instant, packet: Packet) -> Accepted;
    /// Returns when the next packet comes out, if one is on its way.
    fn next_time(&self) -> Option<Instant>;
    /// Returns a packet that comes out by `now`, in order of time.
    fn release(&mut self, now: Instant) -> Option<Packet>;
    /// Changes the keys that the kind's `changes` names, to those of `values`, for packets from now on.
    fn change(&mut self, _values: &Values) {}
    /// Returns the counts so far.
    fn counts(&self) -> WireCounts;
}

impl HopKind {
    /// Builds a kind without keys and without delay. A person reads its name alone.
    pub(crate) const fn new(name: &'static str, summary: &'static str, make: Make) -> Self {
        Self {
            name,
            summary,
            plural: name,
            noun: name,
            shows: &[],
            linux: None,
            keys: &[],
            changes: &[],
            check: |_, _| Ok(()),
            make,
            delay: |_| Duration::ZERO,
        }
    }

    /// Returns whether the hop has a queue discipline.
    #[must_use]
    pub const fn has_queue(&self) -> bool {
        matches!(self.make, Make::Link)
    }
}

impl PartialEq for HopKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for HopKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
