//! What flows do, one file a family: `bulk` (one endless TCP connection), `isochronous` (cbr, ping, and `voip` with what its
//! listener measures), and applications that open TCP connections, write and close: `transfer`, `rr`, `stream`, `page`, above
//! what all of them share, `app`. Kinds that are made of others are in `scenario/flent.rs`.

pub(crate) mod app;
pub(crate) mod bulk;
pub(crate) mod isochronous;
pub(crate) mod page;
pub(crate) mod rr;
pub(crate) mod stream;
pub(crate) mod transfer;
pub(crate) mod voip;

use serde::{Deserialize, Serialize};

/// A kind of traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
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
    /// Packets of a voice codec, one way.
    Voip,
    /// Web pages, one after the other.
    Page,
    /// Flent's rrul: four TCP flows each way and probes, each in its class.
    Rrul,
    /// The same, all best effort.
    RrulBe,
    /// Flent's tcp_nup: TCP uploads and a ping.
    TcpNup,
    /// Flent's tcp_ndown: TCP downloads and a ping.
    TcpNdown,
}

impl Kind {
    /// Every kind, in the order in which `goodqueue list traffic` shows them.
    pub const ALL: [Self; 12] = [
        Self::Bulk,
        Self::Transfer,
        Self::Rr,
        Self::Stream,
        Self::Cbr,
        Self::Ping,
        Self::Voip,
        Self::Page,
        Self::Rrul,
        Self::RrulBe,
        Self::TcpNup,
        Self::TcpNdown,
    ];

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
            Self::Voip => "voip",
            Self::Page => "page",
            Self::Rrul => "rrul",
            Self::RrulBe => "rrul_be",
            Self::TcpNup => "tcp_nup",
            Self::TcpNdown => "tcp_ndown",
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
            Self::Voip => {
                "a call's packets, one way (codec g711 or ditg): delay, jitter, loss, MOS by the E-model"
            }
            Self::Page => {
                "web pages, DNS lookup to last object (page google, huffpost or FILE.har): how long each takes"
            }
            Self::Rrul => {
                "Flent's rrul: 4 TCP flows each way and 3 UDP pings in classes BE, BK, CS5 and EF, an ICMP ping"
            }
            Self::RrulBe => "Flent's rrul_be: the same, all best effort",
            Self::TcpNup => {
                "Flent's tcp_nup: so many TCP uploads as count says (tcp_8up: count 8), an ICMP ping"
            }
            Self::TcpNdown => "Flent's tcp_ndown: so many TCP downloads as count says, an ICMP ping",
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
            Self::Voip => &["codec", "ecn", "dscp"],
            Self::Page => &[
                "page",
                "objects",
                "request",
                "connections",
                "repeat",
                "interval",
                "cc",
                "stack",
                "ecn",
                "dscp",
            ],
            Self::Rrul => &["cc", "stack", "ecn"],
            Self::RrulBe | Self::TcpNup | Self::TcpNdown => &["cc", "stack", "ecn", "dscp"],
        }
    }
}
