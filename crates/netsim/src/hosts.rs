//! The hosts at the ends of flows, for disciplines that share between hosts (`cake`).
//!
//! A scenario names hosts in `host` and `server`. A packet has no room for its hosts, but they follow from its flow and
//! its direction. So a link answers for its packets ([`Owner::host_hashes`](goodqueue_qdisc::Owner::host_hashes)). A
//! run without named hosts has no such list: there each flow has two hosts of its own.

use crate::ids::{FlowId, Number};
use crate::lists::{PerFlow, PerSide};
use crate::packet::hosts_of;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::{Streams, processor::prefetch};
use std::fmt::Display;
use std::sync::Arc;

/// The hashes of the two hosts of each flow, as a link sees them in its direction.
#[derive(Clone)]
pub(crate) struct Hosts {
    of_flow: Arc<PerFlow<PerSide<u32>>>,
    direction: Direction,
}

impl Hosts {
    /// Returns the hosts of flows as links of the direction `Down` see them, or None if no host has a name. `tables`
    /// has the names of the user's host and of the server, and the number of flows between them.
    pub(crate) fn of<N: Display>(
        seed: u64,
        tables: impl Iterator<Item = ([Option<N>; 2], u64)>,
    ) -> Option<Self> {
        let streams = Streams::new(seed);
        let hash = |role: &str, name: N| streams.stream(&format!("{role} {name}"), 0).next_u32();
        let mut is_any = false;
        let mut all = PerFlow::default();
        for ([user, remote], count) in tables {
            is_any |= user.is_some() || remote.is_some();
            let (user, remote) =
                (user.map(|name| hash("host", name)), remote.map(|name| hash("server", name)));
            for _ in 0..count {
                let own = hosts_of(FlowId::at(all.len()));
                all.push(PerSide::from([user.unwrap_or(own.0), remote.unwrap_or(own.1)]));
            }
        }
        is_any.then(|| Self { of_flow: Arc::new(all), direction: Direction::Down })
    }

    /// Returns the same hosts, as links of the direction `direction` see them.
    pub(crate) fn on(&self, direction: Direction) -> Self {
        Self { direction, ..self.clone() }
    }

    /// Prefetches the hosts of `flow`.
    pub(crate) fn prefetch(&self, flow: FlowId) {
        prefetch(&self.of_flow[flow]);
    }

    /// Returns the hashes of the source and the destination of packets of `flow`. The server is the source on the way
    /// down, the user's host on the way up.
    #[inline]
    pub(crate) fn of_packets(&self, flow: FlowId) -> (u32, u32) {
        let hosts = &self.of_flow[flow];
        (hosts[self.direction.sender()], hosts[self.direction.receiver()])
    }
}
