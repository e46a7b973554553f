//! What flows do, one file a family: `tcp` (bulk) and `isochronous` (cbr, ping).

pub(crate) mod isochronous;
pub(crate) mod tcp;

use serde::{Deserialize, Serialize};

/// A kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A TCP transfer that always has data to send.
    Bulk,
    /// Datagrams at a constant rate, one way.
    Cbr,
    /// Small datagrams that the other side sends back at once.
    Ping,
}

impl Kind {
    /// Every kind, in the order in which `goodqueue list traffic` shows them.
    pub const ALL: [Self; 3] = [Self::Bulk, Self::Cbr, Self::Ping];

    /// The word in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Cbr => "cbr",
            Self::Ping => "ping",
        }
    }

    /// One sentence.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Bulk => "a TCP transfer that always has data to send",
            Self::Cbr => "datagrams at a constant rate, one way",
            Self::Ping => "small datagrams that come back at once: the delay that others feel",
        }
    }

    /// The keys of `[[traffic]]` that the kind takes beside those that all take.
    #[must_use]
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Bulk => &["cc", "stack", "pacing", "ecn", "dscp"],
            Self::Cbr => &["rate", "packet_size", "ecn", "dscp"],
            Self::Ping => &["interval", "packet_size", "ecn", "dscp"],
        }
    }
}
