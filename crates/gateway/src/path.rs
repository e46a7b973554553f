//! Real packets on the path of a run, without a clock: the caller says what time it is.

use crate::capture::Capture;
use crate::flows::{Flows, rounded};
use crate::join::Joined;
use crate::offload::{self, Offload};
use crate::packet::{self, Ends, Hashing};
use crate::pool::Pool;
use goodqueue_capture::Error;
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_netsim::record::{Late, Live, LivePackets};
use goodqueue_netsim::{Arrival, Direction, OutsideRoute, Scenario, ScenarioError, Simulation, foreign};
use goodqueue_trace::Point;
use goodqueue_units::{Duration, Instant, Streams};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::path::Path as FilePath;

/// Packets that take a route of their own.
#[derive(Clone, Debug)]
pub struct PortRoute {
    /// The ports. One of the packet's two ports is among them.
    pub ports: RangeInclusive<u16>,
    /// The route of their packets.
    pub route: OutsideRoute,
}

impl PortRoute {
    fn has(&self, ends: &Ends) -> bool {
        [ends.from, ends.to].iter().any(|end| self.ports.contains(&end.port()))
    }
}

/// The path of a run, and the real packets on it.
pub struct Path {
    run: Box<Simulation>,
    /// The run's flow for the packets of the first way. The flows of the other ways follow it in order. A packet
    /// takes the first way unless one of its ports selects another.
    outside: u32,
    routes: Vec<PortRoute>,
    pool: Pool,
    flows: Flows,
    hashing: Hashing,
    arrivals: Vec<Arrival>,
    late: FlowDelays,
    odd: LivePackets,
    capture: Option<Capture>,
    failure: Option<Error>,
}

impl Path {
    /// Builds the path of the scenario in `json`. The scenario need not have traffic. Traffic that it has is
    /// simulated, and shares the path. Real packets cross the whole path, except packets of the ports in `routes`.
    ///
    /// # Errors
    /// The scenario, or a discipline that `make` builds, is refused.
    pub fn new(
        json: &str,
        routes: Vec<PortRoute>,
        make: &mut foreign::Maker<'_>,
    ) -> Result<Self, ScenarioError> {
        let outside_routes = match &routes[..] {
            [] => vec![OutsideRoute::default()],
            routes => routes.iter().map(|direction| direction.route.clone()).collect(),
        };
        let scenario = Scenario::open(json, &outside_routes)?;
        let mut key = Streams::new(scenario.seed).stream("hash of packets from outside", 0);
        let hashing = Hashing::new([key.next_u64(), key.next_u64()]);
        let run = Box::new(Simulation::with_foreign(scenario, make)?);
        let outside = run.outside_flows().next().map_or(0, |(number, _)| number);
        Ok(Self {
            run,
            outside,
            routes,
            pool: Pool::default(),
            flows: Flows::default(),
            hashing,
            arrivals: Vec::new(),
            late: FlowDelays::new(),
            odd: LivePackets::default(),
            capture: None,
            failure: None,
        })
    }

    /// Captures the packets that pass `points` from now on. The run began `epoch_ns` after the beginning of 1970.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn capture(
        &mut self,
        path: &FilePath,
        points: &[Point],
        snap_bytes: u32,
        epoch_ns: u64,
    ) -> Result<(), Error> {
        self.capture = Some(Capture::begin(&mut self.run, path, points, snap_bytes, epoch_ns)?);
        Ok(())
    }

    /// Returns the longest time that the run may take.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.run.duration()
    }

    /// Offers a packet in direction `direction` at the run's time `now`. A large segment is offered as single packets.
    pub fn offer(&mut self, now: Duration, direction: Direction, bytes: &[u8], offload: Offload) {
        self.advance(now);
        if !offload.is_large() {
            self.put(direction, bytes, offload);
        } else if !offload::cut(bytes, offload, &mut |one, own| self.put(direction, one, own)) {
            self.odd.not_cut += 1;
        }
    }

    fn put(&mut self, direction: Direction, bytes: &[u8], offload: Offload) {
        let Some(seen) = packet::read(bytes, self.hashing) else {
            self.odd.not_ip += 1;
            return;
        };
        let flow = self.flows.offered(self.run.now(), direction, &seen);
        let own = self.routes.iter().position(|direction| direction.has(&seen.ends)).unwrap_or(0) as u32;
        let envelope = self.run.put(self.outside + own, direction, seen.headers);
        self.pool.put(envelope, bytes, offload, seen, direction, flow);
        self.note();
    }

    /// Advances the run to the time `now`.
    pub fn advance(&mut self, now: Duration) {
        self.run.advance(now);
        self.note();
    }

    /// Writes the latest events to the capture, before a slot is reused.
    fn note(&mut self) {
        if let Some(capture) = &mut self.capture
            && let Err(error) = capture.write(&self.pool)
        {
            (self.failure, self.capture) = (Some(error), None);
        }
    }

    /// Passes every packet that has reached its end to `send`. Consecutive packets of one connection are passed
    /// together. The arguments of `send` are the direction, the bytes in parts, and the work that is left to a
    /// network card. It returns the run's time at which it sent them, or `None` if it could not.
    pub fn deliver(&mut self, mut send: impl FnMut(Direction, &[&[u8]], Offload) -> Option<Duration>) {
        self.run.take_arrivals(&mut self.arrivals);
        for Arrival { envelope, ecn, dscp, .. } in &self.arrivals {
            packet::set_traffic_class(&mut self.pool.of_mut(envelope).bytes, *ecn, *dscp);
        }
        let mut rest = &self.arrivals[..];
        while let [first, others @ ..] = rest {
            let slot = self.pool.of(first.envelope);
            let mut joined = Joined::begin(&slot.bytes, slot.seen.payload, slot.offload);
            let follows = |next: &&Arrival| {
                let other = self.pool.of(next.envelope);
                next.direction == first.direction
                    && other.flow == slot.flow
                    && joined
                        .as_mut()
                        .is_some_and(|joined| joined.take(&slot.bytes, &other.bytes, other.offload))
            };
            let count = 1 + others.iter().take_while(follows).count();
            let (group, left) = rest.split_at(count);
            rest = left;
            let sent = match &joined {
                Some(joined) if count > 1 => {
                    let last = &self.pool.of(group[count - 1].envelope).bytes;
                    let mut head = slot.bytes.clone();
                    let offload = joined.head(&mut head, last);
                    let payload = |one: &Arrival| &self.pool.of(one.envelope).bytes[joined.head_len()..];
                    let parts: Vec<&[u8]> =
                        std::iter::once(&head[..]).chain(group.iter().map(payload)).collect();
                    send(first.direction, &parts, offload)
                }
                _ => send(first.direction, &[&slot.bytes], slot.offload),
            };
            for &Arrival { time, direction, envelope, .. } in group {
                match sent {
                    Some(sent) => {
                        self.late.record(sent.saturating_sub(time.since(Instant::ZERO)));
                        let slot = self.pool.of(envelope);
                        self.flows.arrived(time, direction, slot.flow, &slot.seen);
                    }
                    None => self.odd.refused += 1,
                }
                envelope.over();
            }
        }
        self.arrivals.clear();
    }

    /// Returns the run's time of the next event.
    pub fn next_time(&mut self) -> Option<Duration> {
        self.run.next_time()
    }

    /// Returns the error of the capture, if there was one.
    pub fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// The file cannot be written, or the capture had failed before.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)?;
        self.capture.take().map_or(Ok(()), Capture::finish)
    }

    /// Returns a summary for an observer. It must be cheap, because packets wait meanwhile.
    #[must_use]
    pub fn glance(&self) -> Value {
        let mut late_us = json!(self.late.summary().map(Late::from));
        if let Some(p999_ms) = self.late.p999_ms() {
            late_us["p999"] = json!(rounded(p999_ms * 1e3));
        }
        json!({
            "elapsed_s": rounded(self.run.elapsed().as_secs_f64()),
            "queues": {"down": self.run.glance(Direction::Down), "up": self.run.glance(Direction::Up)},
            "late_us": late_us,
            "flows": self.flows.len(),
        })
    }

    /// Returns the record of the run, with the flows that were seen.
    ///
    /// # Errors
    /// A number cannot be written as JSON, which never happens.
    pub fn record(&self) -> Result<Value, serde_json::Error> {
        let mut record = serde_json::to_value(self.run.record())?;
        let mut under_way = std::collections::HashMap::new();
        for slot in self.pool.under_way() {
            *under_way.entry((slot.flow, slot.direction as u8)).or_insert(0) += 1;
        }
        let seen = self
            .flows
            .records(|flow, direction| under_way.get(&(flow, direction as u8)).copied().unwrap_or(0));
        let seen = serde_json::to_value(seen)?;
        record["engine"] = json!("live");
        record["live"] = serde_json::to_value(Live {
            elapsed_s: rounded(self.run.elapsed().as_secs_f64()),
            late_us: self.late.summary().map(Late::from),
            packets: self.odd,
            hosts: self.flows.hosts(),
            slots: self.pool.len() as u64,
            slots_in_use: self.pool.under_way().count() as u64,
            bufferbloat: None,
        })?;
        if let (Some(flows), Value::Array(seen)) = (record["flows"].as_array_mut(), seen) {
            flows.extend(seen);
        }
        Ok(record)
    }
}
