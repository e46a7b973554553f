//! Every table of a scenario with its keys, as data: for the reference page and the JSON Schema.

use super::key::AnyKey;
use super::{change, link, series, traffic};

/// A table of a scenario.
pub struct TableDoc {
    /// As its heading stands in a file: `bottleneck.up`, `[traffic]` for a list of tables; empty: the top.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Whether a scenario must have it.
    pub required: bool,
    /// Its keys; those of `[traffic]` are all kinds'.
    pub keys: &'static [&'static dyn AnyKey],
}

/// The tables, in the order in which a file has them.
pub const TABLES: &[TableDoc] = &[
    TableDoc { name: "", required: true, help: "The run.", keys: super::KEYS },
    TableDoc {
        name: "bottleneck",
        required: true,
        help: "The queue and the link on the way down.",
        keys: link::KEYS,
    },
    TableDoc {
        name: "bottleneck.buffer",
        required: false,
        help: "A limit that follows rate and RTT; the way up has it too, unless it has a qdisc line of its own.",
        keys: link::BUFFER_KEYS,
    },
    TableDoc {
        name: "bottleneck.up",
        required: false,
        help: "The way up, where it differs.",
        keys: link::UP_KEYS,
    },
    TableDoc {
        name: "bottleneck.up.buffer",
        required: false,
        help: "The same for the way up.",
        keys: link::BUFFER_KEYS,
    },
    TableDoc { name: "path", required: true, help: "Propagation.", keys: super::PATH_KEYS },
    TableDoc {
        name: "[traffic]",
        required: true,
        help: "One or several alike flows.",
        keys: traffic::COMMON,
    },
    TableDoc {
        name: "[change]",
        required: false,
        help: "What becomes different in the course of the run.",
        keys: change::KEYS,
    },
    TableDoc { name: "series", required: false, help: "Time series in the record.", keys: series::KEYS },
    TableDoc {
        name: "series.packets",
        required: false,
        help: "A window in which each packet's delay is kept.",
        keys: series::WINDOW_KEYS,
    },
];
