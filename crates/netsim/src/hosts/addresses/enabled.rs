//! The addresses of the two hosts of each flow, for filters of trees.

use super::Hosts;
use crate::ids::{FlowId, Number};
use crate::lists::{PerFlow, PerSide};
use goodqueue_hosts::direction::{Direction, Side};
use std::collections::HashMap;
use std::fmt::Display;
use std::net::Ipv4Addr;
use std::sync::Arc;

/// The addresses of all flows.
#[derive(Clone)]
pub(super) struct Addresses(Arc<PerFlow<PerSide<u32>>>);

/// The addresses that flows got so far. A host whose name is an IPv4 address has that address. Any other named host has
/// the address of its first flow, as in a capture.
#[derive(Default)]
pub(super) struct Given {
    of_flow: PerFlow<PerSide<u32>>,
    /// The address of each named host, by side and name.
    of_host: HashMap<(Side, String), u32>,
}

impl Given {
    /// Gives addresses to `count` flows between the user's host and the server of these names.
    pub(super) fn add<N: Display>(&mut self, names: [&Option<N>; 2], count: u64) {
        let names = names.map(|name| name.as_ref().map(N::to_string));
        for _ in 0..count {
            let mut own = captured(FlowId::at(self.of_flow.len()));
            for (side, name) in Side::ALL.into_iter().zip(&names) {
                let Some(name) = name else { continue };
                own[side] = match name.parse::<Ipv4Addr>() {
                    Ok(address) => address.to_bits(),
                    Err(_) => *self.of_host.entry((side, name.clone())).or_insert(own[side]),
                };
            }
            self.of_flow.push(own);
        }
    }

    /// Returns the addresses of all flows.
    pub(super) fn finish(self) -> Addresses {
        Addresses(Arc::new(self.of_flow))
    }
}

/// The direction in which packets go.
pub(crate) type Heading = Direction;

pub(crate) fn heading(direction: Direction) -> Heading {
    direction
}

/// Returns the addresses of the source and the destination of packets of `flow` that go `heading`, for filters of
/// trees. `hosts` are those of the flows, if the scenario names any.
#[allow(clippy::unnecessary_wraps)] // as in builds without the feature
pub(crate) fn addresses(hosts: Option<&Hosts>, flow: FlowId, heading: Heading) -> Option<(u32, u32)> {
    let ends = hosts.map_or_else(|| captured(flow), |hosts| hosts.addresses.0[flow]);
    Some((ends[heading.sender()], ends[heading.receiver()]))
}

/// Returns the addresses that captures give to the two hosts of `flow`.
fn captured(flow: FlowId) -> PerSide<u32> {
    let host = (flow.number() + 1) & 0xffff;
    PerSide::from([0x0a08_0000 | host, 0x0a09_0000 | host])
}
