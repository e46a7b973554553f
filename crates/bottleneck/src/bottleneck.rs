//! The path of a scenario, for endpoints that are not ours.

use crate::datagram::{Datagram, FRAME_HEADER_BYTES, Flow, HEADER_BYTES};
use crate::error::Error;
use crate::guard::{self, Failure, Guard};
use crate::results::{FlowResult, Half};
use goodqueue_netsim::foreign::Maker;
use goodqueue_netsim::{
    Arrival, Direction, Envelope, Headers, Instant, Record, Scenario, ScenarioError, SharedObserver,
    Simulation,
};
use goodqueue_units::Ecn;
use std::collections::{BTreeSet, VecDeque};
use std::time::Duration as Time;

/// The path of a scenario in virtual time. The scenario's own traffic is simulated beside the caller's datagrams.
pub struct Bottleneck {
    run: Box<Simulation>,
    flows: Vec<Own>,
    /// The datagrams, by the numbers of their envelopes.
    slots: Vec<Slot>,
    arrivals: Vec<Arrival>,
    /// Datagrams that arrived and were not received yet.
    arrived: VecDeque<Datagram>,
    most_bytes: usize,
    failure: Failure,
}

/// A flow of the caller's.
struct Own {
    /// The flow's number in the run.
    number: u32,
    name: String,
    /// By direction.
    halves: [Half; 2],
}

/// A datagram that was put into the run.
struct Slot {
    envelope: &'static Envelope,
    bytes: Vec<u8>,
    flow: Flow,
    direction: Direction,
    sent: Instant,
    ecn: Ecn,
    /// Whether it counts: it was sent after the warm-up.
    is_measured: bool,
    has_arrived: bool,
}

fn instant(time: Time) -> Instant {
    Instant::from_nanos(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

fn since_start(instant: Instant) -> Time {
    Time::from_nanos(instant.as_nanos())
}

impl Bottleneck {
    /// Builds the path of the scenario in JSON. Traffic of the kind `outside` is the caller's flows, each with the keys
    /// `name`, `count`, `rtt`, `hops`, `station` and so on of any traffic. Without such traffic there is one flow.
    ///
    /// # Errors
    /// The scenario is refused.
    pub fn open(scenario: &str) -> Result<Self, Error> {
        let made = Self::of(Scenario::open(scenario, &[])?, &mut |request| {
            let message = format!("found {:?}; accepted here: a discipline of the registry", request.line);
            Err(ScenarioError::new(request.key, message))
        });
        Ok(made?)
    }

    /// Builds the path of a scenario of [`Scenario::open`]. `make` makes the disciplines that are not in the registry.
    ///
    /// # Errors
    /// `make` refuses a discipline.
    pub fn of(scenario: Scenario, make: &mut Maker<'_>) -> Result<Self, ScenarioError> {
        let failure = Failure::default();
        let most_bytes = scenario.path.mtu.unwrap_or(1500) as usize - HEADER_BYTES;
        let run = Simulation::with_foreign(scenario, &mut |request| {
            Ok(Box::new(Guard::new(make(request)?, Failure::clone(&failure))))
        })?;
        let flows = run.outside_flows().map(|(number, name)| {
            let halves = [Half::new(), Half::new()];
            Own { number, name: name.to_string(), halves }
        });
        Ok(Self {
            flows: flows.collect(),
            run: Box::new(run),
            slots: Vec::new(),
            arrivals: Vec::new(),
            arrived: VecDeque::new(),
            most_bytes,
            failure,
        })
    }

    /// Returns the flow `name`. The name of traffic with a count above 1 needs the number: `mine/1`.
    ///
    /// # Errors
    /// The scenario has no such flow.
    pub fn flow(&self, name: &str) -> Result<Flow, Error> {
        let place = |name: &str| self.flows.iter().position(|own| own.name == name);
        let is_alone = place(&format!("{name}/1")).is_none();
        let alone = || place(&format!("{name}/0")).filter(|_| is_alone);
        let place = place(name).or_else(alone).ok_or_else(|| Error::Flow {
            found: format!("{name:?}"),
            accepted: self.flows.iter().map(|own| &*own.name).collect::<Vec<_>>().join(", "),
        })?;
        Ok(Flow(place as u32))
    }

    /// Counts payload that arrived in order at the receiver, for the goodput of a flow of the kind `quic`.
    pub fn count_delivered(&mut self, flow: Flow, bytes: u64) {
        if let Some(own) = self.flows.get(flow.0 as usize) {
            self.run.count_delivered(own.number, bytes);
        }
    }

    /// Tells `observer` of every packet at the bottleneck's queues from now on, the caller's and the scenario's.
    pub fn observe(&mut self, observer: SharedObserver) {
        self.run.observe(observer);
    }

    /// Returns the time that the path has reached.
    #[must_use]
    pub fn now(&self) -> Time {
        since_start(self.run.now())
    }

    /// Returns the length of the run. Time does not go beyond it.
    #[must_use]
    pub fn duration(&self) -> Time {
        Time::from_nanos(self.run.duration().as_nanos())
    }

    /// Returns the greatest number of bytes that a datagram can have.
    #[must_use]
    pub fn most_bytes(&self) -> usize {
        self.most_bytes
    }

    /// Returns the time of the next event on the path, if there is one. No datagram arrives before it. Most events are
    /// not arrivals, and [`receive`](Self::receive) passes over the others.
    pub fn next_time(&mut self) -> Option<Time> {
        if !self.arrived.is_empty() {
            return Some(self.now());
        }
        let next = self.run.next_time().map(|at| Time::from_nanos(at.as_nanos()));
        next.filter(|at| *at <= self.duration()) // later ones never happen, and whoever waits for them waits for ever
    }

    /// Puts a datagram into the path at the datagram's time.
    ///
    /// # Errors
    /// The time is in the path's past or after the end; the size, the codepoint or the flow is impossible. Then nothing
    /// has happened. Or a discipline of the caller's own panicked before.
    pub fn send(&mut self, datagram: Datagram) -> Result<(), Error> {
        let Datagram { time, direction, flow, ecn, dscp, bytes } = datagram;
        let at = instant(time);
        if at < self.run.now() {
            return Err(Error::Past { found: time, now: self.now() });
        }
        if time > self.duration() {
            return Err(Error::Over { found: time, end: self.duration() });
        }
        if bytes.is_empty() || bytes.len() > self.most_bytes {
            return Err(Error::Size { found: bytes.len(), most: self.most_bytes });
        }
        if dscp > 63 {
            return Err(Error::Dscp { found: dscp });
        }
        let Some(own) = self.flows.get(flow.0 as usize) else {
            let accepted = format!("0 to {}", self.flows.len().saturating_sub(1));
            return Err(Error::Flow { found: format!("the number {}", flow.0), accepted });
        };
        let number = own.number;
        let elapsed = at.since(Instant::ZERO);
        while self.run.step(elapsed) {
            self.take_arrivals();
        }
        let is_measured = elapsed >= self.run.scenario().warmup.0;
        if is_measured {
            let half = &mut self.flows[flow.0 as usize].halves[direction as usize];
            half.sent += 1;
            half.sent_bytes += bytes.len() as u64;
            half.first.get_or_insert(at);
        }
        let len = (bytes.len() + FRAME_HEADER_BYTES) as u16;
        let headers = Headers { len, ecn, dscp, ..Headers::default() };
        let envelope = self.run.put(number, direction, headers);
        let slot = Slot { envelope, bytes, flow, direction, sent: at, ecn, is_measured, has_arrived: false };
        match self.slots.get_mut(envelope.number() as usize) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        guard::take(&self.failure).map_or(Ok(()), Err)
    }

    /// Runs until the next datagram arrives, at the latest until the time `until` or the end of the run. Returns the
    /// datagram, and its time is then the path's time. A time in the past means now. Datagrams come in the order of
    /// their arrival.
    ///
    /// # Errors
    /// A discipline of the caller's own panicked. The next call goes on.
    pub fn receive(&mut self, until: Time) -> Result<Option<Datagram>, Error> {
        let until = instant(until).since(Instant::ZERO);
        loop {
            if let Some(datagram) = self.arrived.pop_front() {
                return Ok(Some(datagram));
            }
            let acted = self.run.step(until);
            self.take_arrivals();
            guard::take(&self.failure).map_or(Ok(()), Err)?;
            if !acted && self.arrived.is_empty() {
                return Ok(None);
            }
        }
    }

    /// Moves what has arrived out of the run.
    fn take_arrivals(&mut self) {
        self.run.take_arrivals(&mut self.arrivals);
        for Arrival { time: at, direction, envelope, ecn, dscp } in self.arrivals.drain(..) {
            envelope.over();
            let slot = &mut self.slots[envelope.number() as usize];
            // A copy that a wire made may still be under way.
            let bytes = if envelope.is_free() { std::mem::take(&mut slot.bytes) } else { slot.bytes.clone() };
            let is_first = !std::mem::replace(&mut slot.has_arrived, true);
            if slot.is_measured && is_first {
                let half = &mut self.flows[slot.flow.0 as usize].halves[direction as usize];
                half.delivered += 1;
                half.delivered_bytes += bytes.len() as u64;
                half.marked += u64::from(ecn == Ecn::Ce && slot.ecn != Ecn::Ce);
                half.delays.record(at.since(slot.sent));
            }
            self.arrived.push_back(Datagram {
                time: since_start(at),
                direction,
                flow: slot.flow,
                ecn,
                dscp,
                bytes,
            });
        }
    }

    /// Returns what the path did to each of the caller's flows, in the order of their numbers.
    #[must_use]
    pub fn results(&self) -> Vec<FlowResult> {
        let mut under_way = vec![[0; 2]; self.flows.len()];
        for slot in self.slots.iter().filter(|slot| !slot.envelope.is_free()) {
            let counts = slot.is_measured && !slot.has_arrived;
            under_way[slot.flow.0 as usize][slot.direction as usize] += u64::from(counts);
        }
        let measured = self.run.elapsed().saturating_sub(self.run.scenario().warmup.0);
        let result = |(own, [down, up]): (&Own, [u64; 2])| FlowResult {
            name: own.name.clone(),
            down: own.halves[0].way(down, measured),
            up: own.halves[1].way(up, measured),
        };
        self.flows.iter().zip(under_way).map(result).collect()
    }

    /// Returns the record of the run up to now, as every engine writes it. The caller's flows of the kind `outside`
    /// stand behind those of the scenario, each as its main direction. The record's scenario leaves them out.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut record = self.run.record();
        let first = |own: &Own| [0, 1].map(|direction| own.halves[direction].first);
        let listed: BTreeSet<String> = record.flows.iter().map(|flow| flow.name.clone()).collect();
        let own = self.results().into_iter().zip(&self.flows);
        let unlisted = own.filter(|(_, own)| !listed.contains(&own.name));
        record.flows.extend(unlisted.map(|(result, own)| result.record(first(own))));
        record
    }
}

const _: () = assert!(Direction::Down as usize == 0 && Direction::Up as usize == 1);
const _: fn() = || {
    fn sends<T: Send>() {}
    sends::<Bottleneck>(); // so that tests can share the work between threads
};
