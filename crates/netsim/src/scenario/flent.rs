//! Flent's tests: `rrul`, `rrul_be`, `tcp_nup` and `tcp_ndown` are made of ordinary flows, which have the names that Flent's data
//! files use. Nothing behind this file knows of them: a resolved scenario, and the record, show the flows.
//!
//! Marks are those of Flent's `rrul.conf`. Its upload marked `BE` has CS0, `BK` CS1, and the others what they are called;
//! ACKs have their flow's. `rrul_be` marks nothing. As in Flent the probes last for the whole run, from before the load
//! to after it: `start`, `start_spread`, `stagger` and `stop` are those of the TCP flows. The UDP probes are what Flent has
//! `irtt` do, a packet each 200 ms whether or not the last came back (netperf's UDP_RR, which Flent also knows, waits for it),
//! of the one byte of payload that netperf's have: the smallest frame.

use super::resolve::{Result, refuse};
use super::{Direction, Dscp, Span, Traffic};
use crate::traffic::Kind;

/// Bytes of a UDP probe: the smallest Ethernet frame, without its checksum.
const UDP_PROBE_BYTES: u64 = 60;

const BE: u8 = 0;
const CS1: u8 = 8;
const CS5: u8 = 40;
const EF: u8 = 46;

/// The flows of a test: TCP in either direction, and probes, each a name and a mark.
struct Test {
    upload: &'static [(&'static str, u8)],
    download: &'static [(&'static str, u8)],
    udp: &'static [(&'static str, u8)],
}

const RRUL: Test = Test {
    upload: &[("TCP upload BE", BE), ("TCP upload BK", CS1), ("TCP upload CS5", CS5), ("TCP upload EF", EF)],
    download: &[
        ("TCP download BE", BE),
        ("TCP download BK", CS1),
        ("TCP download CS5", CS5),
        ("TCP download EF", EF),
    ],
    udp: &[("Ping (ms) UDP EF", EF), ("Ping (ms) UDP BK", CS1), ("Ping (ms) UDP BE", BE)],
};

const RRUL_BE: Test = Test {
    upload: &[("TCP upload BE", BE), ("TCP upload BE2", BE), ("TCP upload BE3", BE), ("TCP upload BE4", BE)],
    download: &[
        ("TCP download BE", BE),
        ("TCP download BE2", BE),
        ("TCP download BE3", BE),
        ("TCP download BE4", BE),
    ],
    udp: &[("Ping (ms) UDP BE1", BE), ("Ping (ms) UDP BE2", BE), ("Ping (ms) UDP BE3", BE)],
};

const TCP_NUP: Test = Test { upload: &[("TCP upload", BE)], download: &[], udp: &[] };
const TCP_NDOWN: Test = Test { upload: &[], download: &[("TCP download", BE)], udp: &[] };

const ICMP: &str = "Ping (ms) ICMP";

impl Traffic {
    /// The flows that this stands for: itself, unless it is a test of Flent's.
    pub(super) fn parts(self, key: &dyn Fn(&str) -> String) -> Result<Vec<Self>> {
        let test = match self.kind {
            Kind::Rrul => RRUL,
            Kind::RrulBe => RRUL_BE,
            Kind::TcpNup => TCP_NUP,
            Kind::TcpNdown => TCP_NDOWN,
            _ => return Ok(vec![self]),
        };
        if let Some(direction) = self.direction {
            let found = format!("{:?}", if direction == Direction::Up { "up" } else { "down" });
            return refuse(&key("direction"), found, &format!("none, as {:?} says it", self.kind.name()));
        }
        let load = |direction| {
            move |traffic: &Self, name: &str, mark: u8| Self {
                kind: Kind::Bulk,
                name: Some(traffic.named(name)),
                direction: Some(direction),
                dscp: traffic.dscp.or(Some(Dscp(mark))),
                ..traffic.clone()
            }
        };
        let (up, down) = (load(Direction::Up), load(Direction::Down));
        let mut parts: Vec<Self> = test.upload.iter().map(|(name, mark)| up(&self, name, *mark)).collect();
        parts.extend(test.download.iter().map(|(name, mark)| down(&self, name, *mark)));
        parts.extend(test.udp.iter().map(|(name, mark)| self.probe(name, *mark, Some(UDP_PROBE_BYTES))));
        parts.push(self.probe(ICMP, BE, None));
        Ok(parts)
    }

    /// A name of Flent's, after the table's own if it has one.
    fn named(&self, name: &str) -> String {
        self.name.as_ref().map_or_else(|| name.to_string(), |own| format!("{own} {name}"))
    }

    fn probe(&self, name: &str, mark: u8, packet_size: Option<u64>) -> Self {
        Self {
            kind: Kind::Ping,
            name: Some(self.named(name)),
            count: None,
            cc: None,
            stack: None,
            ecn: None,
            dscp: Some(Dscp(mark)),
            start: None,
            start_spread: None,
            stagger: None,
            stop: None,
            packet_size,
            ..self.clone()
        }
    }

    /// Whether a probe just as this one is there already: two tests of Flent's in one run share it.
    pub(super) fn is_probe_among(&self, before: &[(usize, Self)], path_rtt: Span) -> bool {
        let rtt = self.rtt.unwrap_or(path_rtt);
        self.kind == Kind::Ping
            && self.name.as_deref().is_some_and(|name| name.ends_with(ICMP))
            && before.iter().any(|(_, other)| {
                other.kind == Kind::Ping && other.name == self.name && other.rtt == Some(rtt)
            })
    }
}
