//! Flent's tests: `rrul`, `rrul_be`, `tcp_nup` and `tcp_ndown`. Each test is made of ordinary flows, with the names
//! that Flent's data files use. A resolved scenario and the record show these flows, not the test.
//!
//! Marks are those of Flent's `rrul.conf`. The upload named `BE` has CS0, `BK` has CS1, and the others have the mark
//! in their name; ACKs have the mark of their flow. `rrul_be` marks nothing. As in Flent, the probes last for the
//! whole run: they start before the load and end after it. The keys `start`, `start_spread`, `stagger` and `stop`
//! apply to the TCP flows only. The UDP probes are those that Flent runs with `irtt`: one packet per 200 ms, whether
//! or not the last packet came back. (Flent can also use netperf's UDP_RR, which waits for the answer.) Each probe is
//! the smallest frame: it holds the one byte of payload that netperf's probes have.

use super::kind::{Content, Kind, Make};
use super::tcp;
use crate::keys::{Dscp, Json, Quantity, Result, Table, refuse};
use serde_json::json;

/// Bytes of a UDP probe: the smallest Ethernet frame, without its checksum.
const UDP_PROBE_BYTES: u64 = 60;

const BE: u8 = 0;
const CS1: u8 = 8;
const CS5: u8 = 40;
const EF: u8 = 46;

/// The flows of a test: TCP in both directions, and probes. Each flow has a name and a mark.
struct Test {
    upload: &'static [(&'static str, u8)],
    download: &'static [(&'static str, u8)],
    udp: &'static [(&'static str, u8)],
}

/// The probe that every test has. Two tests in one run share it.
pub const ICMP: &str = "Ping (ms) ICMP";

pub(crate) const RRUL: Kind = Kind {
    transport: tcp::UNMARKED,
    ..Kind::new(
        "rrul",
        "Flent's rrul: 4 TCP flows each way and 3 UDP pings in classes BE, BK, CS5 and EF, an ICMP ping",
        Make::Flows(|table| {
            const TEST: Test = Test {
                upload: &[
                    ("TCP upload BE", BE),
                    ("TCP upload BK", CS1),
                    ("TCP upload CS5", CS5),
                    ("TCP upload EF", EF),
                ],
                download: &[
                    ("TCP download BE", BE),
                    ("TCP download BK", CS1),
                    ("TCP download CS5", CS5),
                    ("TCP download EF", EF),
                ],
                udp: &[("Ping (ms) UDP EF", EF), ("Ping (ms) UDP BK", CS1), ("Ping (ms) UDP BE", BE)],
            };
            TEST.flows(table)
        }),
    )
};

pub(crate) const RRUL_BE: Kind = Kind {
    transport: tcp::UNPACED,
    ..Kind::new(
        "rrul_be",
        "Flent's rrul_be: the same, all best effort",
        Make::Flows(|table| {
            const TEST: Test = Test {
                upload: &[
                    ("TCP upload BE", BE),
                    ("TCP upload BE2", BE),
                    ("TCP upload BE3", BE),
                    ("TCP upload BE4", BE),
                ],
                download: &[
                    ("TCP download BE", BE),
                    ("TCP download BE2", BE),
                    ("TCP download BE3", BE),
                    ("TCP download BE4", BE),
                ],
                udp: &[("Ping (ms) UDP BE1", BE), ("Ping (ms) UDP BE2", BE), ("Ping (ms) UDP BE3", BE)],
            };
            TEST.flows(table)
        }),
    )
};

pub(crate) const TCP_NUP: Kind = Kind {
    transport: tcp::UNPACED,
    ..Kind::new(
        "tcp_nup",
        "Flent's tcp_nup: as many TCP uploads as count says (tcp_8up: count 8), an ICMP ping",
        Make::Flows(|table| Test { upload: &[("TCP upload", BE)], download: &[], udp: &[] }.flows(table)),
    )
};

pub(crate) const TCP_NDOWN: Kind = Kind {
    transport: tcp::UNPACED,
    ..Kind::new(
        "tcp_ndown",
        "Flent's tcp_ndown: as many TCP downloads as count says, an ICMP ping",
        Make::Flows(|table| Test { upload: &[], download: &[("TCP download", BE)], udp: &[] }.flows(table)),
    )
};

impl Test {
    /// Returns the tables of the flows that `table` stands for.
    fn flows(&self, table: &Table<'_>) -> Result<Vec<Content>> {
        if table.has("direction") {
            let found = &table.content()["direction"];
            let kind = &table.content()["kind"];
            return refuse(&table.key("direction"), found, &format!("none, as {kind} says it"));
        }
        let load = |direction: &'static str| {
            move |&(name, mark): &(&str, u8)| {
                let mut flow = table.content().clone();
                flow.insert("kind".to_string(), json!("bulk"));
                flow.insert("name".to_string(), json!(named(table, name)));
                flow.insert("direction".to_string(), json!(direction));
                flow.entry("dscp").or_insert(Dscp(mark).write());
                flow
            }
        };
        let mut flows: Vec<_> = self.upload.iter().map(load("up")).collect();
        flows.extend(self.download.iter().map(load("down")));
        flows.extend(self.udp.iter().map(|&(name, mark)| {
            let mut flow = probe(table, name);
            flow.insert("dscp".to_string(), Dscp(mark).write());
            flow.insert("packet_size".to_string(), json!(UDP_PROBE_BYTES));
            flow
        }));
        flows.push(probe(table, ICMP));
        Ok(flows)
    }
}

/// Returns Flent's name of a flow, after the table's own name if it has one.
fn named(table: &Table<'_>, name: &str) -> String {
    match table.content().get("name").and_then(Json::as_str) {
        Some(own) => format!("{own} {name}"),
        None => name.to_string(),
    }
}

/// Returns the table of a ping of the test. The ping lasts for the whole run, takes the path of the test and has its
/// hosts.
fn probe(table: &Table<'_>, name: &str) -> Content {
    let path = ["rtt", "host", "server", "mark", "hops"].into_iter();
    let path = path.filter_map(|key| Some((key.to_string(), table.content().get(key)?.clone())));
    let own = [("kind".to_string(), json!("ping")), ("name".to_string(), json!(named(table, name)))];
    own.into_iter().chain(path).collect()
}
