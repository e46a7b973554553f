//! The hosts' part of a record, if the scenario names hosts.

use super::{CardRecord, PerDirection, percent, ratio, rounded};
use crate::flow::Source;
use crate::ids::{FlowId, Number};
use crate::lists::ByDirection;
use crate::scenario::{HostName, Traffic};
use crate::sim::Simulation;
use crate::tally::FlowFates;
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::part::Value;
use goodqueue_hosts::probe::delay::{FlowDelays, Summary};
use goodqueue_units::Instant;
use std::collections::BTreeMap;

goodqueue_hosts::part! {
    /// A host that the scenario names, within the measured time.
    pub struct HostRecord as "Host" {
        /// Its name in the scenario.
        pub name: HostName,
        /// The key of `[[traffic]]` that names it: `host` for a user's host, or `server`.
        pub role: &'static str,
        /// The number of its flows that carry data.
        pub flows: u64,
        /// Bytes that its flows delivered by the direction of their data, per time from the start of the first of these
        /// flows or from the end of the warm-up. Null if no flow has its data in that direction.
        pub goodput_mbps: PerDirection<Option<f64>>,
        /// Round-trip times as the senders of its TCP flows measured them.
        pub rtt_ms: Option<Summary>,
        /// Packets of its flows dropped at the bottleneck or lost at another hop, as a percentage of the packets that
        /// their senders offered. Null if they offered none.
        pub loss_percent: Option<f64>,
        /// The card by which it receives, if packets wait or merge there.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        #[not_from(Kernel, Live)]
        pub card: Option<CardRecord>,
    }
}

/// The sums over the flows of one host.
struct Sums {
    flows: u64,
    directions: ByDirection<Option<Goodput>>,
    rtt: FlowDelays,
    fates: FlowFates,
}

/// The bytes of flows in one direction, and the time in which the flows were active.
#[derive(Clone, Copy)]
struct Goodput {
    bytes: u64,
    start: Instant,
    stop: Instant,
}

impl Simulation {
    /// Returns the hosts that the scenario names, in its order. The users' hosts come first.
    pub(super) fn hosts(&self) -> Vec<HostRecord> {
        let users = self.hosts_of("host", |traffic| traffic.host.as_ref());
        users.into_iter().chain(self.hosts_of("server", |traffic| traffic.server.as_ref())).collect()
    }

    /// Returns the hosts that the key `role` names. `named` returns the key's value.
    fn hosts_of(&self, role: &'static str, named: fn(&Traffic) -> Option<&HostName>) -> Vec<HostRecord> {
        let mut places = BTreeMap::new();
        let mut found: Vec<(&HostName, Sums)> = Vec::new();
        let mut first = 0;
        for traffic in &self.scenario.traffic {
            let flows = first..first + traffic.count as usize;
            first = flows.end;
            // A subscriber has a part of its own.
            let Some(name) = named(traffic).filter(|_| traffic.subscriber.is_none()) else { continue };
            let place = *places.entry(name).or_insert_with(|| {
                found.push((name, Sums::new()));
                found.len() - 1
            });
            if !traffic.kind.is_probe {
                flows.map(FlowId::at).for_each(|id| self.add_flow(id, &mut found[place].1));
            }
        }
        found.into_iter().map(|(name, sums)| self.host(role, name, &sums)).collect()
    }

    fn add_flow(&self, id: FlowId, sums: &mut Sums) {
        let (flow, measured) = (&self.flows[id], self.measured(id));
        sums.flows += 1;
        sums.fates.offered += measured.fates.offered;
        sums.fates.dropped += measured.fates.dropped;
        match &flow.source {
            Source::Bulk(_) => sums.rtt.add(&self.sockets.bulk[id].rtt),
            Source::App(app) => sums.rtt.add(&app.rtt),
            Source::Isochronous(_) | Source::Outside { .. } => {}
        }
        let own = Goodput { bytes: measured.delivered_bytes, start: flow.start, stop: flow.stop };
        let sum = &mut sums.directions[flow.direction];
        *sum = Some(sum.map_or(own, |sum| Goodput {
            bytes: sum.bytes + own.bytes,
            start: sum.start.min(own.start),
            stop: sum.stop.max(own.stop),
        }));
    }

    fn host(&self, role: &'static str, name: &HostName, sums: &Sums) -> HostRecord {
        let goodput = |direction: Direction| {
            sums.directions[direction].map(|Goodput { bytes, start, stop }| {
                rounded(ratio(bytes as f64 * 8e-6, self.measured_s(start, stop)))
            })
        };
        let cards = self.row.as_ref().map(|row| &row.cards);
        let side = Side::ALL.into_iter().find(|side| side.name() == role);
        HostRecord {
            name: name.clone(),
            role,
            flows: sums.flows,
            goodput_mbps: PerDirection { down: goodput(Direction::Down), up: goodput(Direction::Up) },
            rtt_ms: sums.rtt.summary(),
            loss_percent: (sums.fates.offered > 0).then(|| percent(sums.fates.dropped, sums.fates.offered)),
            card: side.and_then(|side| cards?.of_host(name, side)).map(CardRecord::of),
        }
    }
}

impl Sums {
    fn new() -> Self {
        Self {
            flows: 0,
            directions: ByDirection::of(|_| None),
            rtt: FlowDelays::new(),
            fates: FlowFates::default(),
        }
    }
}
