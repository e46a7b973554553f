//! The hosts at the ends of flows, for disciplines that share between hosts (`cake`).
//!
//! A scenario names hosts in `host` and `server`. A packet has no room for its hosts, but they follow from its flow and
//! its direction. So a link answers for its packets ([`Owner::host_hashes`](goodqueue_qdisc::Owner::host_hashes)). A
//! run without named hosts has no such list: there each flow has two hosts of its own.

use crate::ids::{FlowId, Number};
use crate::lists::{PerFlow, PerSide};
use crate::packet::hosts_of;
use goodqueue_hosts::direction::Direction;
use goodqueue_units::Streams;
#[cfg(feature = "complete")]
use std::collections::HashMap;
use std::fmt::Display;
#[cfg(feature = "complete")]
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The hashes of the two hosts of each flow, as a link sees them in its direction.
#[derive(Clone)]
pub(crate) struct Hosts {
    of_flow: Arc<PerFlow<PerSide<u32>>>,
    /// Their addresses, for filters.
    #[cfg(feature = "complete")]
    addresses: Arc<PerFlow<PerSide<u32>>>,
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
        #[cfg(feature = "complete")]
        let (mut addresses, mut first) = (PerFlow::default(), HashMap::new());
        for ([user, remote], count) in tables {
            #[cfg(feature = "complete")]
            {
                let names = [&user, &remote].map(|name| name.as_ref().map(N::to_string));
                add_addresses(&mut addresses, &mut first, &names, count);
            }
            is_any |= user.is_some() || remote.is_some();
            let (user, remote) =
                (user.map(|name| hash("host", name)), remote.map(|name| hash("server", name)));
            for _ in 0..count {
                let own = hosts_of(FlowId::at(all.len()));
                all.push(PerSide::from([user.unwrap_or(own.0), remote.unwrap_or(own.1)]));
            }
        }
        is_any.then(|| Self {
            of_flow: Arc::new(all),
            #[cfg(feature = "complete")]
            addresses: Arc::new(addresses),
            direction: Direction::Down,
        })
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

    /// Returns the addresses of the source and the destination of packets of `flow`.
    #[cfg(feature = "complete")]
    pub(crate) fn addresses_of_packets(&self, flow: FlowId) -> (u32, u32) {
        let own = &self.addresses[flow];
        (own[self.direction.sender()], own[self.direction.receiver()])
    }
}

/// Adds the addresses of `count` flows between two hosts. A host whose name is an IPv4 address has that address. Any
/// other named host has the address of its first flow, as in a capture.
#[cfg(feature = "complete")]
fn add_addresses(
    all: &mut PerFlow<PerSide<u32>>,
    first: &mut HashMap<(usize, String), u32>,
    names: &[Option<String>; 2],
    count: u64,
) {
    for _ in 0..count {
        let own = addresses_of(FlowId::at(all.len()));
        let mut of = [own.0, own.1];
        for (side, name) in names.iter().enumerate() {
            let Some(name) = name else { continue };
            of[side] = match name.parse::<Ipv4Addr>() {
                Ok(address) => address.to_bits(),
                Err(_) => *first.entry((side, name.clone())).or_insert(of[side]),
            };
        }
        all.push(PerSide::from(of));
    }
}

/// Returns the addresses of the user's host and of the server that belong to `flow` alone: those of captures.
#[cfg(feature = "complete")]
pub(crate) fn addresses_of(flow: FlowId) -> (u32, u32) {
    let host = (flow.number() + 1) & 0xffff;
    (0x0a08_0000 | host, 0x0a09_0000 | host)
}
