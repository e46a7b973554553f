//! The loop's part for packets that come from outside the run and leave it again.

use super::Simulation;
use crate::flow::{Flow, Source};
use crate::ids::{FlowId, Number};
use crate::ledger::Counts;
use crate::outside::{Arrival, Envelope, Headers, OutsideRoute};
use crate::packet::{Body, Datagram, Packet};
use crate::scenario::Scenario;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::ScenarioError;
use goodqueue_hosts::traffic::kind::Make;
use goodqueue_units::{Duration, Instant};
use serde::Serialize;

/// A bottleneck's counters since the run began, for an observer.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Glance {
    /// Packets that arrived.
    pub offered: u64,
    /// Packets that left.
    pub forwarded: u64,
    /// Bytes that left, as `tc` counts them.
    pub forwarded_bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets that wait.
    pub queued: u64,
    /// The sum of the delays of all packets that left, in seconds.
    pub delay_sum_s: f64,
}

impl Simulation {
    /// Returns the numbers and the names of the flows from outside, in the order of the scenario. The flows of
    /// [`OutsideRoute`]s have consecutive numbers.
    pub fn outside_flows(&self) -> impl Iterator<Item = (u32, &str)> {
        let outside = self.flows.numbered().filter(|(_, flow)| matches!(flow.source, Source::Outside { .. }));
        outside.map(|(id, flow)| (id.number(), &*flow.name))
    }

    /// Offers a packet to the path at the present time of the run. `flow` is the number of a flow from outside. Returns
    /// the packet's envelope, whose number no other packet under way has.
    pub fn put(&mut self, flow: u32, direction: Direction, headers: Headers) -> &'static Envelope {
        let envelope = self.envelopes.free();
        envelope.fill(headers);
        let Headers { len, ecn, dscp, flow_hash, .. } = headers;
        let flow = FlowId::at(flow as usize);
        let hash = flow_hash.unwrap_or_else(|| self.flows[flow].hash[direction]);
        let body = Body::Datagram(Datagram { number: 0, len, ecn, dscp, envelope: Some(envelope) });
        self.offer(direction, Packet { arrival: self.now, flow, hash, body });
        envelope
    }

    /// Counts payload that arrived in order at the receiver of the flow `flow`, whose endpoints are the caller's.
    pub fn count_delivered(&mut self, flow: u32, bytes: u64) {
        if let Source::Outside { delivered_bytes } = &mut self.flows[FlowId::at(flow as usize)].source {
            *delivered_bytes += bytes;
        }
    }

    /// Moves the packets that arrived since the last call to `into`, in the order of time.
    pub fn take_arrivals(&mut self, into: &mut Vec<Arrival>) {
        into.append(&mut self.arrivals);
    }

    /// Returns the time of the next event since the run began, if there is one.
    pub fn next_time(&mut self) -> Option<Duration> {
        self.agenda.next().map(|(time, _)| time.since(Instant::ZERO))
    }

    /// Returns the present time of the run.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Returns how much of the run has passed.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.now.since(Instant::ZERO)
    }

    /// Returns the counters of the bottleneck of `direction`.
    #[must_use]
    pub fn glance(&self, direction: Direction) -> Glance {
        let queue = self.bottleneck(direction);
        let Counts { offered, forwarded, forwarded_bytes, dropped, marked, queued } = queue.counts();
        let delay_sum_s = queue.ledger().forwarded.delay_sum as f64 / 1e9;
        Glance { offered, forwarded, forwarded_bytes, dropped, marked, queued, delay_sum_s }
    }

    /// Handles the arrival of a packet from outside. Returns false if `datagram` is not from outside.
    pub(super) fn leaves(&mut self, flow: FlowId, direction: Direction, datagram: &Datagram) -> bool {
        let Datagram { envelope: Some(envelope), ecn, dscp, len, .. } = *datagram else { return false };
        let Flow { source, kind, .. } = &mut self.flows[flow];
        if let Source::Outside { delivered_bytes } = source
            && !matches!(kind.make, Make::Endpoints)
        {
            *delivered_bytes += u64::from(len);
        }
        self.arrivals.push(Arrival { time: self.now, direction, envelope, ecn, dscp });
        true
    }
}

impl Scenario {
    /// Reads a scenario from `json` for packets from outside. It may have no traffic of its own. The packets of each
    /// of `routes` are one flow. Without routes, the scenario's traffic of the kind `outside` is flows of such packets,
    /// with a name, a base RTT, hops, hosts and a station as other flows have them. If it has none, there is one flow,
    /// which crosses the whole path.
    ///
    /// # Errors
    /// As [`Scenario::from_json`].
    pub fn open(json: &str, routes: &[OutsideRoute]) -> Result<Self, ScenarioError> {
        Self::read(json, Some(routes))
    }
}
