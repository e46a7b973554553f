//! What the tables of a scenario share: how a key is declared and read, and how its values are written.
//!
//! Scenarios, hops and traffic use this room. It knows none of them.

#[cfg(feature = "complete")]
mod draws;
mod dscp;
mod ecn;
mod key;
mod line;
mod percent;
mod text;
mod values;

#[cfg(feature = "complete")]
pub use draws::{Bytes, Count, Draws, Scale, Seconds, Unit};
pub use dscp::Dscp;
pub use ecn::{Codepoint, EcnAsked};
#[cfg(feature = "reference")]
pub use key::KeyDoc;
pub use key::{AnyKey, Key, Quantity, Result, Table, describe, no_such_word, refuse};
pub(crate) use line::line_through;
pub use percent::{Percent, percent, share};
pub use serde_json::Value as Json;
pub use text::{RateText, Size, Span};
pub use values::Values;

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
    /// Makes the refusal of what stands at `key`.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into() }
    }
}

/// The lowest and the highest rate of any link or flow.
pub const MOST_RATE: (RateText, RateText) = (RateText(rate(1)), RateText(rate(1_000_000_000_000)));

const fn rate(bps: u64) -> Rate {
    match Rate::from_bps(bps) {
        Some(rate) => rate,
        None => unreachable!(),
    }
}

/// Bytes of a full frame: MSS 1448, timestamps, IPv4, Ethernet.
pub const FRAME_BYTES: u32 = 1514;
