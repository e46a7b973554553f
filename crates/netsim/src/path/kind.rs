//! A kind of hop as data: its keys, and what it makes of them.
//!
//! A kind is one file beside this one, with a constant `KIND`, and one line in [`super::HOPS`].

use super::netem::{Accepted, WireCounts};
use crate::packet::Packet;
use crate::scenario::key::{AnyKey, Result, Table, Values};
use goodqueue_units::{Duration, Instant, Stream};
use std::fmt;

/// A kind of hop.
pub struct HopKind {
    /// The word in a scenario.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its keys, in the order in which a resolved scenario has them.
    pub keys: &'static [&'static dyn AnyKey],
    /// Refuses contradictions between its keys.
    pub(crate) check: fn(&Table<'_>, &Values) -> Result<()>,
    pub(crate) make: Make,
}

/// What a hop is.
pub(crate) enum Make {
    /// A queue discipline above a transmitter: see [`crate::scenario::LinkSpec`].
    Link,
    /// Something without a discipline.
    Element(fn(&Values, Stream) -> Box<dyn Element>),
}

/// Something on a path that packets go through, without an event loop of its own.
pub(crate) trait Element: Send + Sync {
    /// Takes `packet` at `now`, and returns what became of it. (The loop notes which flow lost a packet.)
    fn accept(&mut self, now: Instant, packet: Packet) -> Accepted;
    /// Returns when the next packet comes out, if one is on its way.
    fn next_time(&self) -> Option<Instant>;
    /// Returns a packet that comes out by `now`, in order of time.
    fn release(&mut self, now: Instant) -> Option<Packet>;
    /// Returns its counts so far.
    fn counts(&self) -> WireCounts;
}

impl HopKind {
    /// How much later a packet may come out, for the size of buffers: the mean delay of what `values` describe.
    pub(crate) fn delay(&self, values: &Values) -> Duration {
        values.find(&super::wire::DELAY).map_or(Duration::ZERO, |delay| delay.0)
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
