//! The loop's part for packets that come from outside the run and leave it again.

use super::Simulation;
use crate::direction::Direction;
use crate::flow::Source;
use crate::ids::LinkId;
use crate::ids::{FlowId, Number};
use crate::link::Counts;
use crate::outside::{Arrival, Envelope, Headers, OutsideWay};
use crate::packet::{Body, Datagram, Packet};
use crate::scenario::{Scenario, ScenarioError};
use goodqueue_units::{Duration, Instant};
use serde::Serialize;

/// A bottleneck's counters since the run began, for somebody who looks on.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Glance {
    /// Packets that arrived.
    pub offered: u64,
    /// Those that left, and their bytes.
    pub forwarded: u64,
    /// As `tc` counts them.
    pub forwarded_bytes: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets that wait.
    pub queued: u64,
    /// The sum of the delays of all that left, in seconds.
    pub delay_sum_s: f64,
}

impl Simulation {
    /// The number of the first flow from outside; those of [`Scenario::open`] follow each other.
    #[must_use]
    pub fn first_outside(&self) -> Option<u32> {
        let found = self.flows.numbered().find(|(_, flow)| matches!(flow.source, Source::Outside { .. }));
        found.map(|(id, _)| id.number())
    }

    /// Offers a packet to the path, now: the run must have come to the time at which it sets out. `flow` is the number
    /// of a flow from outside, `envelope` one that is free.
    pub fn put(&mut self, flow: u32, way: Direction, envelope: &'static Envelope, headers: Headers) {
        envelope.fill(headers);
        let Headers { len, ecn, dscp, flow_hash, .. } = headers;
        let body = Body::Datagram(Datagram { number: 0, len, ecn, dscp, envelope: Some(envelope) });
        self.offer(way, Packet { arrival: self.now, flow: FlowId::at(flow as usize), hash: flow_hash, body });
    }

    /// What has arrived since the call before, in the order of time.
    pub fn take_arrivals(&mut self, into: &mut Vec<Arrival>) {
        into.append(&mut self.arrivals);
    }

    /// How much of the run will have passed when something happens next, if anything will.
    pub fn next_time(&mut self) -> Option<Duration> {
        self.agenda.next().map(|(time, _)| time.since(Instant::ZERO))
    }

    /// What time it is in the run.
    #[must_use]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// How much of the run has passed.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.now.since(Instant::ZERO)
    }

    /// The counters of the bottleneck of `way`.
    #[must_use]
    pub fn glance(&self, way: Direction) -> Glance {
        let (counts, delay_sum) = match self.cell() {
            Some(cell) => (cell.counts(way), cell.books[way].delay_sum),
            None => {
                let link = &self.links[LinkId::bottleneck(way)];
                (link.counts(), link.delay_totals().1)
            }
        };
        let Counts { offered, forwarded, forwarded_bytes, dropped, marked, queued } = counts;
        let delay_sum_s = delay_sum as f64 / 1e9;
        Glance { offered, forwarded, forwarded_bytes, dropped, marked, queued, delay_sum_s }
    }

    /// A packet from outside has come to its end. Returns false where `datagram` is none.
    pub(super) fn leaves(&mut self, flow: FlowId, way: Direction, datagram: &Datagram) -> bool {
        let Datagram { envelope: Some(envelope), ecn, dscp, len, .. } = *datagram else { return false };
        if let Source::Outside { delivered_bytes } = &mut self.flows[flow].source {
            *delivered_bytes += u64::from(len);
        }
        self.arrivals.push(Arrival { time: self.now, way, envelope, ecn, dscp });
        true
    }
}

impl Scenario {
    /// As read from `json`, which may have no traffic of its own, for packets from outside: those of each way are a
    /// flow of their own.
    ///
    /// # Errors
    /// As [`Scenario::from_json`].
    pub fn open(json: &str, ways: &[OutsideWay]) -> Result<Self, ScenarioError> {
        Self::read(json, Some(ways))
    }
}
