//! `[linux]`: the release of Linux whose disciplines and Wi-Fi queues the scenario has.

use goodqueue_hosts::keys::{AnyKey, Key, Result, Table, refuse};
use goodqueue_units::Release;
use serde::Serialize;

const RELEASE: Key<Release> = Key::with_default("release", "\"6.1\"")
    .example("\"7.3\"")
    .help(
        "the release whose laws the disciplines have, and mac80211's queues: the default is the newest long-term \
         release that decision traces prove whole. `goodqueue list linux` shows what differs",
    )
    .source("golden traces");

/// The keys of `[linux]`.
pub(super) const KEYS: &[&dyn AnyKey] = &[&RELEASE];

/// The table. A scenario without it and one with the default are the same.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Linux {
    release: &'static str,
}

impl Linux {
    /// Returns the table that says `release`. `None`: it is the default.
    pub(super) fn written(release: Release) -> Option<Self> {
        (release != Release::default()).then(|| Self { release: release.name() })
    }
}

/// Reads the release of `scenario`.
pub(super) fn read(scenario: &Table<'_>) -> Result<Release> {
    let Some(table) = scenario.table("linux")? else { return Ok(Release::default()) };
    if cfg!(not(feature = "emulation")) {
        return refuse("linux", "a release", "none here; goodqueue run has it");
    }
    table.refuse_others(KEYS, &[])?;
    table.take(&RELEASE)
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
