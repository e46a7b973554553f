//! The ends of each flow, as a scenario describes them.

#[path = "notes.rs"]
mod notes;

use crate::headers::{Ends, FlowHeaders};
use crate::ids::{FlowId, Number};
use crate::lists::{PerFlow, PerSide};
use crate::scenario::Scenario;
use goodqueue_hosts::direction::Side;
use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

impl FlowHeaders {
    /// Returns the headers of the flows of `scenario`. A host whose name is an IPv4 address has that address. Any other
    /// named host has the address of its first flow, as in a capture.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let mut of_host: HashMap<(Side, &str), u32> = HashMap::new();
        let mut all = PerFlow::default();
        let mut ports = super::ports(scenario);
        for traffic in &scenario.traffic {
            for _ in 0..traffic.count {
                let mut addresses = captured(FlowId::at(all.len()));
                for side in Side::ALL {
                    let Some(name) = traffic.host_at(side) else { continue };
                    addresses[side] = match name.as_str().parse::<Ipv4Addr>() {
                        Ok(address) => address.to_bits(),
                        Err(_) => *of_host.entry((side, name.as_str())).or_insert(addresses[side]),
                    };
                }
                // The side that sends the data opens connections, unless its port is stated.
                let opener = if traffic.port.is_some() { Side::User } else { traffic.direction.sender() };
                all.push(Ends {
                    addresses,
                    ports: PerSide::from(ports.next().unwrap_or_default()),
                    varied: traffic.kind.opens_connections().then_some(opener),
                    data: traffic.direction,
                    is_icmp: traffic.kind.is_icmp,
                    mark: traffic.mark,
                });
            }
        }
        Self(Arc::new(all))
    }
}

/// Returns the addresses that captures give to the two hosts of `flow`.
fn captured(flow: FlowId) -> PerSide<u32> {
    let host = (flow.number() + 1) & 0xffff;
    PerSide::from([0x0a08_0000 | host, 0x0a09_0000 | host])
}
