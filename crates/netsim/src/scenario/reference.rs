//! Every table of a scenario with its keys, as data: for the reference page and the JSON Schema.

use super::key::AnyKey;
use super::{change, hop, link, series, traffic};
use crate::path::link::KEYS as LINK_KEYS;

/// A table of a scenario.
pub struct TableDoc {
    /// As its heading stands in a file: `bottleneck.up`, `[traffic]` for a list of tables; empty: the top.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Its keys; those of `[traffic]` are all kinds'.
    pub keys: &'static [&'static dyn AnyKey],
}

/// The tables, in the order in which a file has them.
pub const TABLES: &[TableDoc] = &[
    TableDoc { name: "", help: "The run.", keys: super::KEYS },
    TableDoc { name: "bottleneck", help: "The queue and the link on the way down.", keys: LINK_KEYS },
    TableDoc {
        name: "bottleneck.buffer",
        help: "A limit that follows rate and RTT.",
        keys: link::BUFFER_KEYS,
    },
    TableDoc { name: "bottleneck.up", help: "The way up, where it differs.", keys: LINK_KEYS },
    TableDoc { name: "path", help: "Propagation.", keys: super::PATH_KEYS },
    TableDoc { name: "[hop]", help: "What the path has beside the bottleneck.", keys: hop::COMMON },
    TableDoc { name: "[traffic]", help: "One or several alike flows.", keys: traffic::COMMON },
    TableDoc {
        name: "[change]",
        help: "What becomes different in the course of the run.",
        keys: change::KEYS,
    },
    TableDoc { name: "series", help: "Time series in the record.", keys: series::KEYS },
    TableDoc {
        name: "series.packets",
        help: "A window in which each packet's delay is kept.",
        keys: series::WINDOW_KEYS,
    },
];
