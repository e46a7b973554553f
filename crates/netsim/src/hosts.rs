//! The hosts at the ends of flows, for disciplines that share between hosts (`cake`).
//!
//! A scenario names hosts in `host` and `server`. A packet has no room for its hosts, but they follow from its flow and
//! its direction. So a link answers for its packets ([`Owner::host_hashes`](goodqueue_qdisc::Owner::host_hashes)). A
//! run without named hosts has no such list: there each flow has two hosts of its own.

use crate::direction::Direction;
use crate::ids::{FlowId, Number};
use crate::lists::{PerFlow, PerSide};
use crate::packet::hosts_of;
use crate::scenario::{HostName, Scenario, Traffic};
use goodqueue_units::Streams;
use std::sync::Arc;

/// The hashes of the two hosts of each flow, as a link sees them in its direction.
#[derive(Clone)]
pub(crate) struct Hosts {
    of_flow: Arc<PerFlow<PerSide<u32>>>,
    direction: Direction,
}

impl Hosts {
    /// Returns the hosts of the flows of `scenario` as links of the direction `Down` see them, if it names any.
    pub(crate) fn of(scenario: &Scenario) -> Option<Self> {
        if !scenario.traffic.iter().any(Traffic::names_hosts) {
            return None;
        }
        let streams = Streams::new(scenario.seed);
        let hash = |role: &str, name: &Option<HostName>| {
            name.as_ref().map(|name| streams.stream(&format!("{role} {name}"), 0).next_u32())
        };
        let mut all = PerFlow::default();
        for traffic in &scenario.traffic {
            let (user, remote) = (hash("host", &traffic.host), hash("server", &traffic.server));
            for _ in 0..traffic.count {
                let own = hosts_of(FlowId::at(all.len()));
                all.push(PerSide::from([user.unwrap_or(own.0), remote.unwrap_or(own.1)]));
            }
        }
        Some(Self { of_flow: Arc::new(all), direction: Direction::Down })
    }

    /// Returns the same hosts, as links of the direction `direction` see them.
    pub(crate) fn on(&self, direction: Direction) -> Self {
        Self { direction, ..self.clone() }
    }

    /// Returns the hashes of the source and the destination of packets of `flow`. The server is the source on the way
    /// down, the user's host on the way up.
    #[inline]
    pub(crate) fn of_packets(&self, flow: FlowId) -> (u32, u32) {
        let hosts = &self.of_flow[flow];
        (hosts[self.direction.sender()], hosts[self.direction.receiver()])
    }
}
