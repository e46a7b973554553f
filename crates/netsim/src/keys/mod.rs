//! What the tables of a scenario share: how a key is declared and read, and how its values are written.
//!
//! Scenarios, hops and traffic use this room. It knows none of them.

mod draws;
mod dscp;
mod ecn;
mod key;
mod text;

pub(crate) use draws::line_through;
pub use draws::{Bytes, Count, Draws, Seconds, Unit};
pub use dscp::Dscp;
pub use ecn::{Codepoint, EcnAsked};
#[cfg(feature = "reference")]
pub use key::KeyDoc;
pub use key::{AnyKey, Key, Quantity, Table, Values};
pub(crate) use key::{Result, describe, no_such_word, refuse};
pub(crate) use serde_json::Value as Json;
pub(crate) use text::word;
pub use text::{RateText, Size, Span};

use goodqueue_units::Rate;

/// A refused scenario: the key, what was found there and what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if key.is_empty() { String::new() } else { format!("{key}: ") })]
pub struct ScenarioError {
    /// Dotted path of the key, such as `bottleneck.rate` or `traffic[0].cc`; may be empty.
    pub key: String,
    /// What was found, and what is accepted.
    pub message: String,
}

impl ScenarioError {
    pub(crate) fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// The lowest and the highest rate of any link or flow.
pub(crate) const MOST_RATE: (RateText, RateText) = (RateText(rate(1)), RateText(rate(1_000_000_000_000)));

const fn rate(bps: u64) -> Rate {
    match Rate::from_bps(bps) {
        Some(rate) => rate,
        None => unreachable!(),
    }
}

/// Bytes of a full frame: MSS 1448, timestamps, IPv4, Ethernet.
pub(crate) const FRAME_BYTES: u32 = 1514;
