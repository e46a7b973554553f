//! A kind of traffic as data: its keys, what it opens and sends, what it measures, and how its results are named and
//! shown.
//!
//! A kind is one file next to this file, with a constant `KIND`, and one word in the list in [`super`].

use super::application::{Application, check_rtts};
use super::isochronous::Pace;
use super::tcp;
use crate::keys::{AnyKey, Dscp, Json, Result, Span, Table, Values};
use crate::part::{Part, Shape};
use goodqueue_units::Stream as Random;
use serde::{Serialize, Serializer};
use serde_json::Map;
use std::fmt;

/// A kind of traffic.
pub struct Kind {
    /// The kind's name in a scenario.
    pub name: &'static str,
    /// A summary in one sentence.
    pub summary: &'static str,
    /// What the kind sends, and how.
    pub make: Make,
    /// The kind's own keys, in the order in which a resolved scenario has them.
    pub keys: &'static [&'static dyn AnyKey],
    /// Keys that the kind shares with other kinds of its transport: see [`super::tcp`] and `super::isochronous`.
    pub transport: &'static [&'static dyn AnyKey],
    /// Fills in values that follow from other keys, and refuses contradictions.
    pub check: fn(&Table<'_>, &mut Values) -> Result<()>,
    /// Returns how many web users one flow stands for. A run's memory grows with their number.
    pub users: fn(&Values) -> u64,
    /// Whether the kind only measures. The flows of such a kind carry no data, and the record does not list them as
    /// flows.
    pub is_probe: bool,
    /// Whether a flow may have several connections at a time, as a web page has.
    pub in_parallel: bool,
    /// Whether the receiver of the flow's data asks for them on a connection.
    pub asks: bool,
    /// Whether the packets are ICMP echoes.
    pub is_icmp: bool,
    /// What engines get beside the values of the kind's keys, in base units.
    pub outline: fn(&Values) -> Vec<(&'static str, Json)>,
    /// The plural of what the kind measures: the title of its table. Empty if the kind measures nothing.
    pub plural: &'static str,
    /// What a flow does several of, and what `never_started` and `unfinished` count. Empty: a flow is one of `plural`.
    pub things: &'static str,
    /// The key of the number of these things that ended, in the kind's part of the record. Empty: they have no end of
    /// their own, so none is `unfinished`.
    pub ended: &'static str,
    /// The kind's part of the record beside name and kind; none: the kind measures nothing.
    pub result: Option<&'static Part>,
    /// What the kind measures, for tables, figures and the store.
    pub measures: &'static [Measure],
    /// The key of the times by which the kind is judged, in its part of the record; empty: none.
    pub times: &'static str,
    /// What these times are, for a table's note: `SYN to last byte`.
    pub times_are: &'static str,
    /// The list in a record's time series to which the kind adds, and what it adds; none: nothing.
    pub series: Option<(&'static str, &'static Part)>,
    /// What a detail means in a list of sources on the command line.
    pub option: Shorthand,
}

/// The most users of a scenario, in all.
pub const MOST_USERS: u64 = 1_000_000;

/// A table's content.
pub type Content = Map<String, Json>;

/// What the flows of a kind are made of.
pub enum Make {
    /// One TCP connection that always has data to send.
    Bulk,
    /// An application above TCP connections. It draws from the stream.
    App(fn(&Values, Random) -> Box<dyn Application>),
    /// An application whose ends exchange only datagrams. It draws from the stream.
    Conversation(fn(&Values, Random) -> Box<dyn Application>),
    /// Datagrams at fixed times.
    Datagrams(fn(&Values) -> Pace),
    /// Packets that are put into the run from outside.
    Outside,
    /// Packets of endpoints that another package has, and which runs the scenario.
    Endpoints,
    /// Flows of other kinds: the tables that the kind's table stands for.
    Flows(fn(&Table<'_>) -> Result<Vec<Content>>),
}

/// What `--traffic KIND:DETAIL` means.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Shorthand {
    /// The key that a detail sets; empty: none. A direction never sets this key. A number sets this key only if
    /// `example` is a number, else it sets `count`.
    pub detail: &'static str,
    /// An example of the detail, if the kind needs one; empty: the detail is optional.
    pub example: &'static str,
    /// Keys that the shorthand sets in addition, with their values.
    pub sets: &'static [(&'static str, &'static str)],
}

/// How one number per application becomes one number per run, over all applications of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Sum {
    /// The mean over the applications that have the number.
    Mean,
    /// The sum over the applications.
    Total,
    /// The sum of times, in percent of the sum of them and of `played_ms`.
    ShareOfTime,
}

/// A number that a kind of traffic measures.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measure {
    /// The name in JSON and in the store, with the unit.
    pub key: &'static str,
    /// The path in the kind's part of the record: `mos`, `rtt_ms.p95`.
    pub path: &'static str,
    /// How the numbers of several flows are combined.
    pub sum: Sum,
    /// The name for a person.
    pub label: &'static str,
    /// The unit for a person.
    pub unit: &'static str,
    /// Which value is better: `low` or `high`; empty: neither.
    pub better: &'static str,
    /// The first line of the column's heading in narrow tables; empty: the label.
    pub heading: &'static str,
    /// The second line of the column's heading.
    pub detail: &'static str,
    /// How many decimals are shown; none: the size of the numbers decides.
    pub decimals: Option<u8>,
    /// Whether differences of the number are shown by default.
    pub is_main: bool,
    /// Whether tables show the number only if it is not 0 everywhere.
    pub hides_zero: bool,
    /// What a table's note says of the number; empty: nothing.
    pub note: &'static str,
    /// The least and the greatest value, if there are such: the ends of an axis.
    pub scale: Option<(f64, f64)>,
    /// Three parts of a sentence: on the best discipline, on the worst, and the end. `{}` stands for the number.
    /// Empty: no sentence.
    pub sentence: [&'static str; 3],
}

/// What a record has of each flow that measures, beside the measures of its kind. The kind's name and a `_` come before
/// the key, and what the kind counts before the label.
pub const UNDONE: [Measure; 2] = [
    Measure {
        note: "nothing of them came until the end of the run",
        is_main: true,
        ..Measure::undone("never_started", "never started")
    },
    Measure {
        note: "begun, and not ended at the end of the run",
        ..Measure::undone("unfinished", "unfinished")
    },
];

impl Measure {
    const fn undone(key: &'static str, label: &'static str) -> Self {
        Self {
            sum: Sum::Total,
            unit: "per run",
            better: "low",
            detail: label,
            decimals: Some(1),
            hides_zero: true,
            ..Self::new(key, key, label)
        }
    }

    /// Makes a measure with only a name and a path.
    #[must_use]
    pub const fn new(key: &'static str, path: &'static str, label: &'static str) -> Self {
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
            hides_zero: false,
            note: "",
            scale: None,
            sentence: [""; 3],
        }
    }

    /// Makes a measure that is a time of the kind's distribution, such as its 95th percentile.
    #[must_use]
    pub const fn time(
        key: &'static str,
        path: &'static str,
        label: &'static str,
        heading: &'static str,
        detail: &'static str,
    ) -> Self {
        Self { unit: "ms", better: "low", heading, detail, ..Self::new(key, path, label) }
    }

    /// Makes the measure that counts what ended within the measured time.
    #[must_use]
    pub const fn completed(key: &'static str, label: &'static str) -> Self {
        let note = "how many ended while measuring";
        Self {
            sum: Sum::Total,
            unit: "per run",
            decimals: Some(1),
            note,
            ..Self::new(key, "completed", label)
        }
    }

    /// Marks the measure as one whose differences are shown by default.
    #[must_use]
    pub const fn main(self) -> Self {
        Self { is_main: true, ..self }
    }

    /// Sets the parts of the sentence: on the best discipline, on the worst, and the end.
    #[must_use]
    pub const fn said(self, best: &'static str, worst: &'static str, end: &'static str) -> Self {
        Self { sentence: [best, worst, end], ..self }
    }
}

impl Kind {
    /// Makes a kind that sends as `make` says. All other properties are empty.
    #[must_use]
    pub const fn new(name: &'static str, summary: &'static str, make: Make) -> Self {
        Self {
            name,
            summary,
            make,
            keys: &[],
            transport: &[],
            check: |_, _| Ok(()),
            users: |_| 0,
            is_probe: false,
            in_parallel: false,
            asks: false,
            is_icmp: false,
            outline: |_| Vec::new(),
            plural: "",
            things: "",
            ended: "completed",
            result: None,
            measures: &[],
            times: "",
            times_are: "",
            series: None,
            option: Shorthand { detail: "", example: "", sets: &[] },
        }
    }

    /// Returns the kind as the list of kinds has it. A program without the reference shows no kinds to people, so it
    /// does without the words for them.
    pub(super) const fn listed(self) -> Self {
        if cfg!(feature = "reference") {
            return self;
        }
        let option = Shorthand { detail: "", example: "", sets: &[] };
        Self { summary: "", plural: "", things: "", measures: &[], times: "", times_are: "", option, ..self }
    }

    /// Returns the keys beside the keys that all kinds have: the kind's own first.
    pub fn all_keys(&self) -> impl Iterator<Item = &'static dyn AnyKey> + use<> {
        self.keys.iter().chain(self.transport).copied()
    }

    /// Reads the values of these keys from a flow's `table`. `rtt` is the flow's base round-trip time.
    ///
    /// # Errors
    /// The key, what was found, and what is accepted.
    pub fn read(&self, table: &Table<'_>, rtt: Span) -> Result<Values> {
        let mut values = Values::default();
        for key in self.transport.iter().chain(self.keys) {
            key.read(table, &mut values)?;
        }
        if values.find(&tcp::DSCP) == Some(Dscp::default()) {
            values.unset(&tcp::DSCP); // two spellings of one scenario
        }
        if self.is_tcp() {
            tcp::check(table, &mut values)?;
        }
        check_rtts(table, rtt, &values)?;
        (self.check)(table, &mut values)?;
        let order: Vec<&'static dyn AnyKey> = tcp::ORDER.iter().chain(self.keys).copied().collect();
        values.sort(&order);
        Ok(values)
    }

    /// Returns whether the kind has TCP connections.
    #[must_use]
    pub const fn is_tcp(&self) -> bool {
        matches!(self.make, Make::Bulk | Make::App(_))
    }

    /// Returns whether a flow of this kind may open more than one connection.
    #[must_use]
    pub const fn opens_connections(&self) -> bool {
        matches!(self.make, Make::App(_))
    }

    /// Returns whether the kind stands for flows of other kinds.
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

crate::shapes! { &'static Kind => Shape::Text }
