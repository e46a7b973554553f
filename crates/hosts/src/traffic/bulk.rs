//! Bulk transfers: one connection from one side of the bottleneck to the other, which lasts as long as the flow.

use super::kind::{Kind, Make};
use super::tcp;

pub(crate) const KIND: Kind = Kind {
    transport: tcp::KEYS,
    ..Kind::new("bulk", "a TCP transfer that always has data to send", Make::Bulk)
};
