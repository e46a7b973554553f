//! `[linux]`: the release of Linux whose disciplines and Wi-Fi queues the scenario has, and the sysctls of its TCP.

use super::sysctls::{Sysctls, TCP_ECN, TCP_ECN_OPTION};
use goodqueue_hosts::keys::{AnyKey, Json, Key, Quantity, Result, Table, describe, refuse};
use goodqueue_tcp::Buffer;
use goodqueue_units::Release;
use serde::{Serialize, Serializer};
use serde_json::json;
use std::ops::RangeInclusive;

const RELEASE: Key<Release> = Key::with_default("release", "\"6.1\"")
    .example("\"7.3\"")
    .help(
        "the release whose laws the disciplines have, and mac80211's queues: the default is the newest long-term \
         release that decision traces prove whole. `goodqueue list linux` shows what differs",
    )
    .source("golden traces");
const TCP_RMEM: Key<Memory> = Key::optional("tcp_rmem", "\"4096 131072 6291456\"")
    .unit("bytes")
    .help(
        "TCP's receive buffer in bytes of memory: least, first and greatest. \"stock\" is what each stack has. If left \
         out, it never limits a flow",
    )
    .source("Linux, net.ipv4.tcp_rmem");
const TCP_WMEM: Key<Memory> = Key::optional("tcp_wmem", "\"4096 16384 4194304\"")
    .unit("bytes")
    .help(
        "TCP's send buffer in bytes of memory: least, first and greatest. \"stock\" is 16 kB and 4 MiB. If left out, it \
         never limits a flow",
    )
    .source("Linux, net.ipv4.tcp_wmem");

/// The keys of `[linux]`.
pub(super) const KEYS: &[&dyn AnyKey] = &[&RELEASE, &TCP_RMEM, &TCP_WMEM, &TCP_ECN, &TCP_ECN_OPTION];

/// The table. A scenario without it and one with the defaults are the same.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Linux {
    #[serde(skip_serializing_if = "is_default", serialize_with = "write")]
    pub(crate) release: Release,
    /// The receivers' buffers, if they are limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tcp_rmem: Option<Memory>,
    /// The senders' buffers, if they are limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tcp_wmem: Option<Memory>,
    /// Those of hosts that have none of their own.
    #[serde(flatten)]
    pub(crate) sysctls: Sysctls,
}

fn write<Q: Quantity, S: Serializer>(value: &Q, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    value.write().serialize(serializer)
}

fn is_default(release: &Release) -> bool {
    *release == Release::default()
}

impl Linux {
    /// Returns whether it says no more than a scenario without it.
    pub(super) fn is_default(&self) -> bool {
        is_default(&self.release)
            && self.tcp_rmem.is_none()
            && self.tcp_wmem.is_none()
            && self.sysctls.is_default()
    }
}

/// Reads the table of `scenario`.
pub(super) fn read(scenario: &Table<'_>) -> Result<Linux> {
    let Some(table) = scenario.table("linux")? else { return Ok(Linux::default()) };
    if !crate::complete::COMPLETE {
        return refuse("linux", "a release", "none here; the complete program has it");
    }
    table.refuse_others(KEYS, &[])?;
    let (tcp_rmem, tcp_wmem) = (table.find(&TCP_RMEM)?, table.find(&TCP_WMEM)?);
    Ok(Linux { release: table.take(&RELEASE)?, tcp_rmem, tcp_wmem, sysctls: Sysctls::read(&table)? })
}

/// The memory of TCP's buffers on one side, as a sysctl has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Linux's own.
    Stock,
    /// The three numbers: at least, first, at most.
    Own([u32; 3]),
}

impl Memory {
    /// What a number may be: Linux's least buffer, and the greatest that 31 bits say.
    const RANGE: RangeInclusive<u32> = 4096..=i32::MAX as u32;

    /// Returns the buffer, where Linux's own is `stock`. The first number holds only if memory is short.
    pub(crate) fn or(self, stock: Buffer) -> Buffer {
        match self {
            Self::Stock => stock,
            Self::Own([_, first, most]) => Buffer { first, most },
        }
    }
}

impl Quantity for Memory {
    const TYPE: &'static str = "buffer";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let refusal = || {
            let (least, most) = Self::RANGE.into_inner();
            let accepted = format!("\"stock\", or three ascending numbers from {least} to {most}, such as");
            let shown = found.as_str().map_or_else(|| describe(found), |text| format!("{text:?}"));
            format!("found {shown}; accepted: {accepted} \"4096 131072 6291456\"")
        };
        let text = found.as_str().ok_or_else(refusal)?;
        if text == "stock" {
            return Ok(Self::Stock);
        }
        let numbers: Vec<u32> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let numbers: [u32; 3] = numbers.try_into().map_err(|_| refusal())?;
        let is_sound = numbers.is_sorted()
            && numbers.iter().all(|number| Self::RANGE.contains(number))
            && text.split_whitespace().count() == 3;
        if is_sound { Ok(Self::Own(numbers)) } else { Err(refusal()) }
    }
    fn write(&self) -> Json {
        match self {
            Self::Stock => json!("stock"),
            Self::Own([least, first, most]) => json!(format!("{least} {first} {most}")),
        }
    }
    fn schema() -> Json {
        json!({"type": "string", "examples": ["stock", "4096 131072 6291456"]})
    }
}

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        write(self, serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Direction, Line, Scenario};
    use goodqueue_qdisc::Args;
    use goodqueue_units::Release;
    use serde_json::json;

    fn args(line: &Line) -> &Args {
        match line {
            Line::Registry(args) | Line::Mac80211(args) => args,
            Line::Foreign(line) => panic!("{line}"),
        }
    }

    /// A law that stayed that of 6.1 in some place would give a record that lies about its release.
    #[test]
    fn all_queues_have_the_law_of_the_release() {
        let mut asked = json!({
            "duration": "4s",
            "bottleneck": {"rate": "10mbit", "qdisc": "tbf rate 9mbit burst 5kb child cake"},
            "path": {"rtt": "40ms"},
            "linux": {"release": "7.3"},
            "hop": [{"name": "modem", "kind": "link", "rate": "20mbit", "qdisc": "codel"}],
            "host": [{"name": "alice", "rate": "1gbit", "qdisc": "fq_codel"}],
            "traffic": [{"kind": "bulk"}, {"kind": "bulk", "direction": "up", "host": "alice"}],
        });
        let scenario = Scenario::from_json(&asked.to_string()).unwrap();
        let down = args(&scenario.link(Direction::Down).line);
        let hops = scenario.hops.list.iter().filter_map(|hop| hop.link.as_ref());
        let all: Vec<&Args> =
            [down, down.child().unwrap()].into_iter().chain(hops.map(|link| args(&link.line))).collect();
        assert_eq!(all.iter().map(|args| args.release()).collect::<Vec<_>>(), [Release::Linux7_3; 4]);

        let cell = json!({"standard": "802.11n", "station": [{"name": "a", "rate": "mcs7"}]});
        asked["bottleneck"] = json!({"qdisc": "mac80211", "wifi": cell});
        asked["traffic"] = json!([{"kind": "bulk", "station": "a"}]);
        for key in ["hop", "host"] {
            asked.as_object_mut().unwrap().remove(key);
        }
        let cell = Scenario::from_json(&asked.to_string()).unwrap();
        assert_eq!(args(&cell.link(Direction::Down).line).release(), Release::Linux7_3);
    }
}
