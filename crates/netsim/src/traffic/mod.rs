//! What flows do, one file a family: `bulk` (one endless TCP connection), `isochronous` (cbr, ping), and applications
//! that open TCP connections, write and close: `transfer`, `rr`, `stream`, above what all of them share, `app`.

pub(crate) mod app;
pub(crate) mod bulk;
pub(crate) mod isochronous;
pub(crate) mod rr;
pub(crate) mod stream;
pub(crate) mod transfer;

use serde::{Deserialize, Serialize};

/// A kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A TCP transfer that always has data to send.
    Bulk,
    /// TCP transfers of a size, a new connection each.
    Transfer,
    /// Requests and responses on one TCP connection (netperf's TCP_RR).
    Rr,
    /// A TCP connection whose application writes at a rate.
    Stream,
    /// Datagrams at a constant rate, one way.
    Cbr,
    /// Small datagrams that the other side sends back at once.
    Ping,
}

impl Kind {
    /// Every kind, in the order in which `goodqueue list traffic` shows them.
    pub const ALL: [Self; 6] = [Self::Bulk, Self::Transfer, Self::Rr, Self::Stream, Self::Cbr, Self::Ping];

    /// The word in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bulk => "bulk",
            Self::Transfer => "transfer",
            Self::Rr => "rr",
            Self::Stream => "stream",
            Self::Cbr => "cbr",
            Self::Ping => "ping",
        }
    }

    /// One sentence.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Bulk => "a TCP transfer that always has data to send",
            Self::Transfer => "TCP transfers of a size, a new connection each: how long they take",
            Self::Rr => "requests and responses on one TCP connection: how long an answer takes",
            Self::Stream => {
                "a TCP connection whose application writes at a rate: how late chunks are, and stalls"
            }
            Self::Cbr => "datagrams at a constant rate, one way",
            Self::Ping => "small datagrams that come back at once: the delay that others feel",
        }
    }

    /// The keys of `[[traffic]]` that the kind takes beside those that all take.
    #[must_use]
    pub const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Bulk => &["cc", "stack", "pacing", "ecn", "dscp"],
            Self::Transfer => &["size", "repeat", "interval", "cc", "stack", "pacing", "ecn", "dscp"],
            Self::Rr => &[
                "request",
                "response",
                "think",
                "think_mean",
                "repeat",
                "cc",
                "stack",
                "pacing",
                "ecn",
                "dscp",
            ],
            Self::Stream => &["rate", "interval", "cc", "stack", "pacing", "ecn", "dscp"],
            Self::Cbr => &["rate", "packet_size", "ecn", "dscp"],
            Self::Ping => &["interval", "packet_size", "ecn", "dscp"],
        }
    }
}
