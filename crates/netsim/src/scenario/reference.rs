//! Every table of a scenario with its keys, as data for the reference page and the JSON Schema.

use super::complete::{autorate, isp};
use super::{change, hop, link, linux, series, stack, traffic};
use crate::path::HOPS;
use crate::path::link::KEYS as LINK_KEYS;
use crate::wifi::spec as wifi;
use goodqueue_hosts::keys::{AnyKey, KeyDoc};
use goodqueue_hosts::traffic::KINDS;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// A table of a scenario.
pub struct TableDoc {
    /// Its heading in a file: `bottleneck.up`, or `[traffic]` for a list of tables. Empty: the top level.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// Whether a scenario must have it.
    pub required: bool,
    /// The table whose values it has for keys that it leaves out. Empty: none.
    pub otherwise: &'static str,
    /// Its keys, except those of its kinds.
    pub keys: &'static [&'static dyn AnyKey],
    kinds: Kinds,
}

/// The kinds of a table, which its key `kind` names.
#[derive(Clone, Copy)]
enum Kinds {
    None,
    Traffic,
    Hops,
}

/// A kind of a table, with the keys that it adds to the table's own.
#[derive(Clone, Debug, Serialize)]
pub struct KindDoc {
    /// The word in a scenario.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// Its keys.
    pub keys: Vec<KeyDoc>,
}

impl TableDoc {
    const fn new(
        name: &'static str,
        required: bool,
        help: &'static str,
        keys: &'static [&'static dyn AnyKey],
    ) -> Self {
        Self { name, help, required, otherwise: "", keys, kinds: Kinds::None }
    }

    /// Returns the descriptions of its keys.
    #[must_use]
    pub fn keys(&self) -> Vec<KeyDoc> {
        let mut docs: Vec<KeyDoc> = self.keys.iter().map(|key| key.doc()).collect();
        if !self.otherwise.is_empty() {
            for doc in &mut docs {
                doc.required = false;
                doc.default = format!("as in [{}]", self.otherwise);
            }
        }
        docs
    }

    /// Returns its kinds. None if all such tables have the same keys.
    #[must_use]
    pub fn kinds(&self) -> Vec<KindDoc> {
        let docs = |keys: &mut dyn Iterator<Item = &'static dyn AnyKey>| -> Vec<KeyDoc> {
            keys.map(AnyKey::doc).collect()
        };
        match self.kinds {
            Kinds::None => Vec::new(),
            Kinds::Traffic => KINDS
                .iter()
                .map(|kind| KindDoc {
                    name: kind.name,
                    summary: kind.summary,
                    keys: docs(&mut kind.all_keys()),
                })
                .collect(),
            Kinds::Hops => HOPS
                .iter()
                .map(|kind| {
                    let mut keys = docs(&mut kind.keys.iter().copied());
                    if kind.linux.is_none() {
                        // The kernel engine refuses the kind.
                        keys.iter_mut().for_each(|key| key.engines = vec!["sim"]);
                    }
                    KindDoc { name: kind.name, summary: kind.summary, keys }
                })
                .collect(),
        }
    }
}

impl Serialize for TableDoc {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_struct("TableDoc", 5)?;
        table.serialize_field("name", self.name)?;
        table.serialize_field("help", self.help)?;
        table.serialize_field("required", &self.required)?;
        table.serialize_field("keys", &self.keys())?;
        table.serialize_field("kinds", &self.kinds())?;
        table.end()
    }
}

/// The tables, in the order in which a file has them.
pub const TABLES: &[TableDoc] = &[
    TableDoc::new("", true, "The run.", super::KEYS),
    TableDoc::new("bottleneck", true, "The queue and the link on the way down.", LINK_KEYS),
    TableDoc::new(
        "bottleneck.buffer",
        false,
        "A limit that follows rate and RTT; the way up has it too, unless it has a qdisc line of its own.",
        link::BUFFER_KEYS,
    ),
    TableDoc {
        otherwise: "bottleneck",
        ..TableDoc::new("bottleneck.up", false, "The way up, where it differs.", LINK_KEYS)
    },
    TableDoc::new("bottleneck.up.buffer", false, "The same for the way up.", link::BUFFER_KEYS),
    TableDoc::new(
        "bottleneck.wifi",
        false,
        "An 802.11 cell instead of the links' rates. [bottleneck] has the access point's line, and the way up has the line of each station.",
        wifi::KEYS,
    ),
    TableDoc::new(
        "[bottleneck.wifi.station]",
        false,
        "The cell's stations, at least one.",
        wifi::STATION_KEYS,
    ),
    TableDoc::new("path", true, "Propagation.", super::PATH_KEYS),
    TableDoc::new(
        "linux",
        false,
        "The release of Linux whose laws the queues have, and TCP's buffers.",
        linux::KEYS,
    ),
    TableDoc {
        kinds: Kinds::Hops,
        ..TableDoc::new("[hop]", false, "A hop beside the bottleneck.", hop::COMMON)
    },
    TableDoc::new(
        "[host]",
        false,
        "The stack of a user's host or of a server: the queue of its interface, and TCP's small queues.",
        stack::KEYS,
    ),
    TableDoc {
        kinds: Kinds::Traffic,
        ..TableDoc::new("[traffic]", true, "One flow, or several equal flows.", traffic::COMMON)
    },
    TableDoc::new(
        "[node]",
        false,
        "A node between the link and subscribers: a site or an access point with a rate of its own.",
        isp::NODE_KEYS,
    ),
    TableDoc::new(
        "[subscriber]",
        false,
        "A subscriber of an Internet provider, or several equal ones: a class of htb, a queue, addresses and traffic.",
        isp::KEYS,
    ),
    TableDoc::new(
        "isp",
        false,
        "Nodes and subscribers from the files of LibreQoS, instead of tables.",
        isp::FILES_KEYS,
    ),
    TableDoc::new(
        "evening",
        false,
        "The hours that the run stands for, and the share of subscribers active in each. `evening = true` has the defaults.",
        isp::EVENING_KEYS,
    ),
    TableDoc::new("[change]", false, "A change during the run.", change::KEYS),
    TableDoc::new(
        "autorate",
        false,
        "A program that measures pings and sets the rates of the shapers (cake), as cake-autorate does.",
        autorate::KEYS,
    ),
    TableDoc::new("autorate.down", false, "The rates of the shaper on the way down.", autorate::BOUNDS),
    TableDoc::new("autorate.up", false, "The same for the way up.", autorate::BOUNDS),
    TableDoc::new("series", false, "Time series in the record.", series::KEYS),
    TableDoc::new(
        "series.packets",
        false,
        "A window in which each packet's delay is kept.",
        series::WINDOW_KEYS,
    ),
    TableDoc::new(
        "series.air",
        false,
        "A window in which each transmission of a Wi-Fi cell is kept.",
        series::AIR_KEYS,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_hosts::keys::{Table, Values};

    /// A default that its type or its range refuses would refuse each scenario that leaves the key out.
    #[test]
    fn every_default_is_accepted() {
        let of_traffic = KINDS.iter().flat_map(|kind| kind.all_keys());
        let of_hops = HOPS.iter().flat_map(|kind| kind.keys.iter().copied());
        let keys = TABLES.iter().flat_map(|table| table.keys.iter().copied());
        let nothing = serde_json::json!({});
        for key in keys.chain(of_traffic).chain(of_hops) {
            if let Err(error) = key.read(&Table::new("", &nothing).unwrap(), &mut Values::default()) {
                assert!(error.message.starts_with("missing; "), "{error}");
            }
        }
    }
}
