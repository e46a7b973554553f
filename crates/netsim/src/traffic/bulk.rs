//! Bulk transfers: two connections, one at each side of the bottleneck, for as long as the flow lasts.

use super::kind::{Kind, Make};
use super::tcp;
use crate::probe::delay::FlowDelays;
use crate::direction::{Direction, Side};
use crate::ids::PerSide;
use crate::tally::Totals;
use goodqueue_tcp::{Config, Connection};
use goodqueue_units::{prefetch, prefetch_bytes};

pub(crate) const KIND: Kind = Kind {
    transport: tcp::KEYS,
    ..Kind::new("bulk", "a TCP transfer that always has data to send", Make::Bulk)
};

/// A TCP connection that always has data to send.
pub(crate) struct Bulk {
    pub(crate) ends: PerSide<Connection>,
    /// Round-trip times as the sender measures them.
    pub(crate) rtt: FlowDelays,
}

impl Bulk {
    /// A transfer in `direction` that always has data to send, once it is started.
    pub(crate) fn new(config: Config, direction: Direction) -> Self {
        let sender = direction.sender();
        let mut ends = PerSide::of(|_| Connection::server(config.clone()));
        ends[sender] = Connection::client(config);
        ends[sender].write_unlimited();
        Self { ends, rtt: FlowDelays::new() }
    }

    /// One that is never opened, in the place of a flow that is no bulk transfer.
    pub(crate) fn idle() -> Self {
        Self::new(Config::default(), Direction::Down)
    }

    /// The end that sends, of a transfer in `direction`.
    pub(crate) fn sender(&self, direction: Direction) -> &Connection {
        &self.ends[direction.sender()]
    }

    /// Asks the processor for what a segment is going to touch for which `end` is meant, which `sends` or does not.
    #[inline]
    pub(crate) fn prefetch(&self, end: Side, sends: bool) {
        for bytes in Connection::hot_bytes(sends) {
            prefetch_bytes(&self.ends[end], bytes);
        }
        if sends {
            prefetch(&self.rtt);
        }
    }

    /// What a transfer in `direction` has done so far.
    pub(crate) fn totals(&self, direction: Direction) -> Totals {
        Totals {
            delivered_bytes: self.ends[direction.receiver()].delivered_bytes(),
            ..Totals::of_sender(self.sender(direction))
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Scenario, Simulation};

    /// In 4 s, since a SYN that is lost twice comes again at 3 s. For a sanitizer, which would report a read beyond the last
    /// connection: `RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test -p goodqueue-netsim --lib --target
    /// x86_64-unknown-linux-gnu bulk`.
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
