//! Bulk transfers: one connection from one side of the bottleneck to the other, which lasts as long as the flow.

use super::kind::{Kind, Make};
use super::tcp;
use crate::keys::{AnyKey, Key, Span};

/// How long the flows of an entry take to open their connections, before all of them send.
pub const OPENING: Key<Span> = Key::optional("opening", "\"50ms\"")
    .help(
        "the flows open their connections in this time before `start`, one after the other, and all send at `start`, \
         as those of one iperf3 client. They share the time that `start_spread` draws. If left out, each flow opens \
         and sends at once",
    )
    .source("iperf3(1), -P")
    .simulator_only();

/// Whether the kind has [`OPENING`]. The page has not, for its size.
pub const OPENS_FIRST: bool = cfg!(not(target_family = "wasm"));
const KEYS: &[&dyn AnyKey] = if OPENS_FIRST { &[&OPENING] } else { &[] };

pub(crate) const KIND: Kind = Kind {
    transport: tcp::KEYS,
    keys: KEYS,
    ..Kind::new("bulk", "a TCP transfer that always has data to send", Make::Bulk)
};
