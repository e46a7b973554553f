//! A kind of traffic as data: its keys, what it opens and sends, what it measures, and how that is named and shown.
//!
//! A kind is one file beside this one, with a constant `KIND`, and one word in the list of [`super`].

use super::app::Application;
use super::isochronous::Pace;
use super::result::Field;
use crate::scenario::key::{AnyKey, Result, Table, Values};
use crate::scenario::{Json, Traffic};
use goodqueue_units::Stream as Random;
use serde::{Serialize, Serializer};
use serde_json::Map;
use std::fmt;

/// A kind of traffic.
pub struct Kind {
    /// The word in a scenario.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What it sends, and how.
    pub(crate) make: Make,
    /// Keys of its own, in the order in which a resolved scenario has them.
    pub keys: &'static [&'static dyn AnyKey],
    /// Keys that it shares with others of its transport: see [`super::tcp`] and [`super::isochronous`].
    pub transport: &'static [&'static dyn AnyKey],
    /// Fills in what follows from other keys, and refuses contradictions.
    pub(crate) check: fn(&Table<'_>, &mut Values) -> Result<()>,
    /// Whether it only measures: its flows carry no data, and are no flows of the record.
    pub is_probe: bool,
    /// Whether its packets are ICMP echoes.
    pub is_icmp: bool,
    /// What engines get to know beside the values of its keys, in base units.
    pub(crate) outline: fn(&Traffic) -> Map<String, Json>,
    /// What a flow of it will draw from the stream, for engines that have not the simulator's generator; null: nothing.
    pub(crate) ahead: fn(&Traffic, Random) -> Json,
    /// What several of them are called, where they measure something: the title of their table.
    pub plural: &'static str,
    /// Its part of the record beside name and kind, for the table of one run and the reference.
    pub fields: &'static [Field],
    /// What it measures, for tables, figures and the store.
    pub measures: &'static [Measure],
    /// The key of the times in its part of the record that it is judged by; empty: it has none.
    pub times: &'static str,
    /// What these times are, for a table's note: `SYN to last byte`.
    pub times_are: &'static str,
    /// The list among a record's time series that it adds to; empty: none.
    pub series: &'static str,
    /// How a list of sources on the command line says what it needs.
    pub option: Shorthand,
}

/// A table's content.
pub(crate) type Content = Map<String, Json>;

/// What a kind's flows are made of.
pub(crate) enum Make {
    /// One TCP connection that always has data to send.
    Bulk,
    /// An application above TCP connections, which draws from the stream.
    App(fn(&Values, Random) -> Box<dyn Application>),
    /// An application whose ends tell each other by datagrams alone, and which draws from the stream.
    Conversation(fn(&Values, Random) -> Box<dyn Application>),
    /// Datagrams at fixed times.
    Datagrams(fn(&Values) -> Pace),
    /// Packets that are put into the run from outside.
    Outside,
    /// Flows of other kinds: the tables that the table stands for.
    Flows(fn(&Table<'_>) -> Result<Vec<Content>>),
}

/// What `--traffic KIND:DETAIL` means.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Shorthand {
    /// The key that a detail sets which is neither a number nor a direction; empty: no such detail.
    pub detail: &'static str,
    /// An example of the detail where the kind cannot do without; empty: it can.
    pub example: &'static str,
    /// Keys that the shorthand sets beside it.
    pub sets: &'static [(&'static str, &'static str)],
}

/// How a number of the applications of one kind becomes one number of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sum {
    /// The mean of those that have it.
    Mean,
    /// Their sum.
    Total,
    /// The mean, in percent of the measured time.
    ShareOfTime,
}

/// A number that a kind of traffic measures.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measure {
    /// Its name in JSON and in the store, with the unit.
    pub key: &'static str,
    /// Where it stands in the kind's part of the record: `mos`, `rtt_ms.p95`.
    pub path: &'static str,
    /// How those of several flows are summed up.
    pub sum: Sum,
    /// Its name for a person.
    pub label: &'static str,
    /// Its unit for a person.
    pub unit: &'static str,
    /// `low`, `high`, or empty where neither is better in itself.
    pub better: &'static str,
    /// The first line of its column in narrow tables; empty: the label.
    pub heading: &'static str,
    /// The second line of its column.
    pub detail: &'static str,
    /// How many decimals are shown; none where the size of the numbers decides.
    pub decimals: Option<u8>,
    /// Whether differences of it are shown unasked.
    pub is_main: bool,
    /// What a table's note says of it; empty: nothing.
    pub note: &'static str,
    /// Its least and its greatest value, where it has such: the ends of an axis.
    pub scale: Option<(f64, f64)>,
    /// What is said of the best discipline, then of the worst, and at the end, `{}` for the number; empty: nothing.
    pub sentence: [&'static str; 3],
}

impl Measure {
    /// A number of which nothing is known but its name and its place.
    pub(crate) const fn new(key: &'static str, path: &'static str, label: &'static str) -> Self {
        Self {
            key,
            path,
            sum: Sum::Mean,
            label,
            unit: "",
            better: "",
            heading: "",
            detail: "",
            decimals: None,
            is_main: false,
            note: "",
            scale: None,
            sentence: [""; 3],
        }
    }

    /// A time of the kind's distribution, such as its 95th percentile.
    pub(crate) const fn time(
        key: &'static str,
        path: &'static str,
        label: &'static str,
        heading: &'static str,
        detail: &'static str,
    ) -> Self {
        Self { unit: "ms", better: "low", heading, detail, ..Self::new(key, path, label) }
    }

    /// How many ended within the measured time.
    pub(crate) const fn completed(key: &'static str, label: &'static str) -> Self {
        let note = "how many ended while measuring";
        Self {
            sum: Sum::Total,
            unit: "per run",
            decimals: Some(1),
            note,
            ..Self::new(key, "completed", label)
        }
    }

    /// Differences of it are shown unasked.
    pub(crate) const fn main(self) -> Self {
        Self { is_main: true, ..self }
    }

    /// What is said of the best discipline, then of the worst, and at the end.
    pub(crate) const fn said(self, best: &'static str, worst: &'static str, end: &'static str) -> Self {
        Self { sentence: [best, worst, end], ..self }
    }
}

impl Kind {
    /// A kind that sends as `make` says, with nothing else.
    pub(crate) const fn new(name: &'static str, summary: &'static str, make: Make) -> Self {
        Self {
            name,
            summary,
            make,
            keys: &[],
            transport: &[],
            check: |_, _| Ok(()),
            is_probe: false,
            is_icmp: false,
            outline: |_| Map::new(),
            ahead: |_, _| Json::Null,
            plural: "",
            fields: &[],
            measures: &[],
            times: "",
            times_are: "",
            series: "",
            option: Shorthand { detail: "", example: "", sets: &[] },
        }
    }

    /// Its keys beside those of all kinds, its own first.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static dyn AnyKey> + use<> {
        self.keys.iter().chain(self.transport).copied()
    }

    /// Whether it has TCP connections.
    #[must_use]
    pub const fn is_tcp(&self) -> bool {
        matches!(self.make, Make::Bulk | Make::App(_))
    }

    /// Whether its flows may open more than one connection.
    #[must_use]
    pub const fn opens_connections(&self) -> bool {
        matches!(self.make, Make::App(_))
    }

    /// Whether it stands for flows of other kinds.
    #[must_use]
    pub const fn is_made_of_flows(&self) -> bool {
        matches!(self.make, Make::Flows(_))
    }
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}
