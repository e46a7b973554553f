//! Bulk transfers: one connection from one side of the bottleneck to the other, which lasts as long as the flow.

use super::kind::{Kind, Make};
use super::tcp;

pub(crate) const KIND: Kind = Kind {
    transport: tcp::KEYS,
    ..Kind::new("bulk", "a TCP transfer that always has data to send", Make::Bulk)
};

#[cfg(test)]
mod tests {
    use crate::{Scenario, Simulation};

    /// Runs for 4 s, because a SYN that is lost twice is sent again at 3 s. Under a sanitizer this test reports a
    /// read beyond the last connection: `RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test -p
    /// goodqueue-netsim --lib --target x86_64-unknown-linux-gnu bulk`.
    #[test]
    fn more_flows_than_stay_in_a_cache_are_moved_both_ways() {
        let bulk = |count, direction| {
            format!(r#"{{"kind": "bulk", "count": {count}, "direction": "{direction}", "cc": "reno"}}"#)
        };
        let scenario = format!(
            r#"{{"duration": "4s", "bottleneck": {{"rate": "100mbit", "qdisc": "fq_codel"}}, "path": {{"rtt": "10ms"}},
                "traffic": [{}, {}, {{"kind": "transfer", "size": "10kB", "interval": "1ms"}}]}}"#,
            bulk(160, "down"),
            bulk(160, "up"),
        );
        let mut simulation = Simulation::new(Scenario::from_json(&scenario).unwrap()).unwrap();
        simulation.run();
        let record = simulation.record();
        assert!(record.flows.iter().all(|flow| flow.bytes_sent.unwrap() > 0), "a flow was never served");
    }
}
