//! The ports of the two ends of each flow. They are those of the kernel engine's laboratory (`lab/addresses.py`), so
//! that captures of both look alike.
//!
//! A listening port has the highest bit, then four bits for the RTT's number, and eleven for the flow's.

#[cfg_attr(feature = "complete", path = "ends/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "ends/disabled.rs")]
mod of_scenario;

use crate::scenario::Scenario;
use goodqueue_hosts::direction::Side;

/// With more flows or RTTs than these, the other 15 bits of a listening port are the flow's number.
const MOST_FLOWS: usize = 2000;
const MOST_RTTS: usize = 16;
const LISTENING: usize = 0x8000;
const SENDING: usize = 0x800;

/// Returns the ports of the user's end and of the server's end of each flow of `scenario`, in its order. The end that
/// sends the data opens the connection, and the other end listens. A port that the scenario says is the server's.
pub(crate) fn ports(scenario: &Scenario) -> impl Iterator<Item = [u16; 2]> + use<> {
    let flows = scenario.traffic.iter().flat_map(|traffic| {
        (0..traffic.count).map(move |nth| (traffic.rtt_of(nth), traffic.direction, traffic.port))
    });
    let flows: Vec<_> = flows.collect();
    let mut rtts: Vec<_> = flows.iter().map(|(rtt, ..)| *rtt).collect();
    rtts.sort();
    rtts.dedup();
    let by_rtt = rtts.len() <= MOST_RTTS && flows.len() <= MOST_FLOWS;
    flows.into_iter().enumerate().map(move |(place, (rtt, direction, port))| {
        // Flows between the same two hosts need different pairs of ports, even if there are more than ports.
        let [sending, listening] = if by_rtt {
            [SENDING + place, LISTENING | rtts.partition_point(|other| *other < rtt) << 11 | place]
        } else {
            [SENDING + place / LISTENING, LISTENING | (place % LISTENING)]
        };
        let own = if direction.sender() == Side::User { [sending, listening] } else { [listening, sending] };
        let [user, server] = own.map(|port| port as u16);
        [user, port.unwrap_or(server)]
    })
}
