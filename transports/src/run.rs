//! A run: the path of a scenario, and the connections across it, in virtual time.

use crate::connection::Connection;
use crate::peer::{Outgoing, Role, Time};
use crate::qlog::Qlogs;
use crate::queue_log::QueueLog;
use goodqueue_bottleneck::observing::SharedObserver;
use goodqueue_bottleneck::{Bottleneck, Datagram, Direction, Error, Record, Scenario, ScenarioError};
use goodqueue_hosts::probe::jain;
use goodqueue_hosts::traffic::kind::Make;
use goodqueue_netsim::record::{AppRecord, FlowRecord};
use goodqueue_units::Ecn;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// The least UDP payload that QUIC needs (RFC 9000, 14).
const LEAST_BYTES: usize = 1200;
/// How often timers may fire at one time before the stack counts as stuck.
const MOST_AT_ONCE: u32 = 100_000;

/// A run in progress.
pub(crate) struct Run {
    path: Bottleneck,
    seed: u64,
    warmup: Time,
    is_warm: bool,
    /// The scenario's flows by name, in its order.
    order: BTreeMap<String, usize>,
    connections: Vec<Connection>,
    /// The connection of each of the path's flows.
    of_flow: Vec<usize>,
    agenda: Agenda,
    qlogs: Option<Qlogs>,
    out: Vec<Outgoing>,
    /// How long an interval of the time series is, if they have the congestion control, and the end of the next one.
    interval: Option<Time>,
    interval_end: Time,
    /// How many actors acted at the same time, and that time.
    fired: u32,
    fired_at: Time,
}

/// What acts at its own time: the two ends of a connection, and its application.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Actor {
    connection: usize,
    /// 0 and 1: an end. 2: the application.
    part: usize,
}

const APP: usize = 2;

/// When each actor acts.
#[derive(Default)]
struct Agenda {
    queue: BTreeSet<(Time, Actor)>,
    times: Vec<[Option<Time>; 3]>,
}

impl Agenda {
    fn set(&mut self, actor: Actor, time: Option<Time>) {
        let known = &mut self.times[actor.connection][actor.part];
        if *known == time {
            return;
        }
        if let Some(before) = std::mem::replace(known, time) {
            self.queue.remove(&(before, actor));
        }
        if let Some(time) = time {
            self.queue.insert((time, actor));
        }
    }
}

impl Run {
    /// Builds a run. `measures_cpu` says whether the stacks' CPU time is measured. `qlog` is the folder of qlogs.
    ///
    /// # Errors
    /// The scenario is refused.
    pub(crate) fn new(scenario: &str, measures_cpu: bool, qlog: Option<PathBuf>) -> Result<Self, Error> {
        let scenario = Scenario::from_json(scenario)?.served();
        let flows = scenario.flows();
        let tables =
            scenario.traffic.iter().flat_map(|traffic| std::iter::repeat_n(traffic, traffic.count as usize));
        let described: Vec<_> = flows.into_iter().zip(tables.cloned()).collect();
        let order =
            described.iter().enumerate().map(|(place, (flow, _))| (flow.name.clone(), place)).collect();
        let seed = scenario.seed;
        let warmup = Time::from_nanos(scenario.warmup.0.as_nanos());
        let sampled = scenario.series.as_ref().filter(|series| series.cc).and_then(|series| series.interval);
        let interval = sampled.map(|interval| Time::from_nanos(interval.0.as_nanos()));
        let names: Vec<String> = described.iter().map(|(flow, _)| flow.name.clone()).collect();
        let mut path = Bottleneck::of(scenario, &mut |request| {
            let message =
                format!("found {:?}; accepted beside QUIC: a discipline of the registry", request.line);
            Err(ScenarioError::new(request.key, message))
        })?;
        if path.most_bytes() < LEAST_BYTES {
            let message = format!("found {}; accepted beside QUIC: 1228 or more", path.most_bytes() + 28);
            return Err(Error::Scenario(ScenarioError::new("path.mtu", message)));
        }
        let mut connections = Vec::new();
        let mut of_flow = BTreeMap::new();
        for (outline, traffic) in described {
            if matches!(traffic.kind.make, Make::Endpoints) {
                let flow = path.flow(&outline.name)?;
                of_flow.insert(flow, connections.len());
                let mut connection = Connection::new(flow, outline, &traffic);
                connection.cpu.iter_mut().for_each(|cpu| cpu.is_measured = measures_cpu);
                connections.push(connection);
            }
        }
        let qlogs = qlog.map(Qlogs::new);
        if let Some(qlogs) = &qlogs {
            let log = QueueLog::new(qlogs.named("queues.sqlog".into()).writer(), names);
            qlogs.check().map_err(|error| Error::Scenario(ScenarioError::new("", error)))?;
            path.observe(Arc::new(Mutex::new(log)) as SharedObserver);
        }
        let mut agenda = Agenda { times: vec![[None; 3]; connections.len()], ..Agenda::default() };
        for (number, connection) in connections.iter().enumerate() {
            agenda.set(Actor { connection: number, part: APP }, Some(connection.start));
        }
        Ok(Self {
            path,
            seed,
            warmup,
            is_warm: false,
            order,
            connections,
            of_flow: of_flow.into_values().collect(),
            agenda,
            qlogs,
            out: Vec::new(),
            interval,
            interval_end: interval.unwrap_or_default(),
            fired: 0,
            fired_at: Time::ZERO,
        })
    }

    /// Returns the length of the run.
    pub(crate) fn duration(&self) -> Time {
        self.path.duration()
    }

    /// Returns the time that the run has reached.
    pub(crate) fn now(&self) -> Time {
        self.path.now()
    }

    /// Runs until `until`, at most to the end.
    ///
    /// # Errors
    /// One line: a stack could not be made, or does not go on.
    pub(crate) fn advance(&mut self, until: Time) -> Result<(), String> {
        let until = until.min(self.duration());
        if !self.is_warm && self.warmup <= until {
            self.run_through(self.warmup)?;
            self.connections.iter_mut().for_each(Connection::measure);
            self.is_warm = true;
        }
        self.run_through(until)
    }

    /// Runs until `until`, and ends the intervals of the time series on the way.
    fn run_through(&mut self, until: Time) -> Result<(), String> {
        while let Some(interval) = self.interval
            && self.interval_end <= until
        {
            let end = self.interval_end;
            self.run_to(end)?;
            self.connections.iter_mut().for_each(|connection| connection.end_interval(end));
            self.interval_end += interval;
        }
        self.run_to(until)
    }

    fn run_to(&mut self, until: Time) -> Result<(), String> {
        loop {
            let next = self.agenda.queue.first().map(|(time, _)| *time).filter(|time| *time <= until);
            let limit = next.unwrap_or(until);
            if let Some(datagram) = self.path.receive(limit).map_err(|error| error.to_string())? {
                self.arrived(datagram)?;
            } else if next.is_some() {
                self.act(limit)?;
            } else {
                return Ok(());
            }
        }
    }

    /// Gives a datagram to the end at which it has arrived.
    fn arrived(&mut self, datagram: Datagram) -> Result<(), String> {
        let Datagram { time, direction, flow, ecn, bytes, .. } = datagram;
        let number = self.of_flow[flow.0 as usize];
        let connection = &mut self.connections[number];
        let end = if direction == Direction::Down { Role::Client } else { Role::Server } as usize;
        let is_sender = end == connection.sender();
        if let Some(peers) = &mut connection.peers {
            connection.cpu[end].datagrams += 1;
            connection.cpu[end].measure(|| peers[end].receive(time, ecn, bytes));
        }
        if is_sender {
            connection.sample();
        } else if ecn == Ecn::Ce {
            connection.heard_mark();
        }
        self.serve(time, number, end)
    }

    /// Lets the first actor of the agenda act at `now`.
    fn act(&mut self, now: Time) -> Result<(), String> {
        let Some(&(time, actor)) = self.agenda.queue.first() else { return Ok(()) };
        self.agenda.set(actor, None);
        let is_again = self.fired_at == time;
        (self.fired, self.fired_at) = (if is_again { self.fired + 1 } else { 1 }, time);
        let Actor { connection: number, part } = actor;
        let connection = &mut self.connections[number];
        if self.fired > MOST_AT_ONCE {
            let (name, stack) = (&connection.name, connection.stack.name());
            return Err(format!("{name}: {stack}'s timer fires again and again at {now:?}"));
        }
        if part != APP {
            if let Some(peers) = &mut connection.peers {
                connection.cpu[part].measure(|| peers[part].expire(now));
            }
            return self.serve(now, number, part);
        }
        if connection.peers.is_none() {
            connection.start(now, self.seed, self.qlogs.as_ref())?;
            self.serve(now, number, Role::Server as usize)?;
            return self.serve(now, number, Role::Client as usize);
        }
        let sender = connection.sender();
        self.serve(now, number, sender)
    }

    /// Lets the end `end` of a connection write, read and send, and sets its timer.
    fn serve(&mut self, now: Time, number: usize, end: usize) -> Result<(), String> {
        let connection = &mut self.connections[number];
        let is_sender = end == connection.sender();
        if is_sender {
            if let Some(peers) = &mut connection.peers {
                let (app, peer) = (&mut connection.app, &mut peers[end]);
                connection.cpu[end].measure(|| app.write(now, &mut **peer));
            }
            let next = connection.app.next_time().map(|next| next.max(now));
            self.agenda.set(Actor { connection: number, part: APP }, next.filter(|next| *next > now));
        }
        connection.notice(now);
        let bytes = if is_sender { 0 } else { connection.read(now) };
        if bytes > 0 {
            self.path.count_delivered(connection.flow, bytes);
        }
        let Some(peers) = &mut connection.peers else { return Ok(()) };
        let (out, peer, cpu) = (&mut self.out, &mut peers[end], &mut connection.cpu[end]);
        cpu.measure(|| peer.transmit(now, out));
        cpu.datagrams += out.len() as u64;
        let timer = cpu.measure(|| peer.timeout());
        self.agenda.set(Actor { connection: number, part: end }, timer.map(|timer| timer.max(now)));
        let direction = if end == Role::Client as usize { Direction::Up } else { Direction::Down };
        let (flow, dscp, is_ecn) = (connection.flow, connection.dscp, connection.is_ecn);
        for Outgoing { ecn, bytes } in self.out.drain(..) {
            let ecn = if is_ecn { ecn } else { Ecn::NotEct };
            match self.path.send(Datagram { time: now, direction, flow, ecn, dscp, bytes }) {
                // A probe of the path's MTU that is too large is lost.
                Ok(()) | Err(Error::Size { .. }) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(())
    }

    /// Ends the files of qlog, and the connections before: a stack may write its last words when it goes.
    ///
    /// # Errors
    /// One line: a file could not be written. Then none of them stays.
    pub(crate) fn finish_qlog(&mut self) -> Result<(), String> {
        self.connections.iter_mut().for_each(|connection| connection.peers = None);
        self.qlogs.as_ref().map_or(Ok(()), Qlogs::finish)
    }

    /// Removes the files of qlog, unless they have been ended.
    pub(crate) fn discard_qlog(&self) {
        if let Some(qlogs) = &self.qlogs {
            qlogs.discard();
        }
    }

    /// Returns the record of the run so far.
    pub(crate) fn record(&mut self) -> Record {
        let mut record = self.path.record();
        for connection in &mut self.connections {
            let result = connection.result();
            if let Some(flow) = record.flows.iter_mut().find(|flow| flow.name == connection.name) {
                flow.cc = Some(format!("{} {}", connection.stack.name(), connection.cc));
                flow.rtt_ms = result.rtt_ms;
                flow.retransmitted = Some(result.packets_lost);
                flow.timeouts = None;
                flow.completion_ms = result.completion_ms;
            }
            let series = record.series.as_mut().filter(|_| self.interval.is_some());
            let flow = series.and_then(|all| all.flows.iter_mut().find(|flow| flow.name == connection.name));
            if let Some(flow) = flow {
                let (cc, windows) = connection.series();
                flow.cc = Some(cc.clone());
                flow.cwnd_packets = windows.clone();
            }
            let kind = record.scenario.traffic.iter().map(|traffic| traffic.kind);
            if let Some(kind) = kind.into_iter().find(|kind| matches!(kind.make, Make::Endpoints)) {
                let undone = result.undone(connection.size.is_some());
                record.apps.push(AppRecord::new(connection.name.clone(), kind, undone, Arc::new(result)));
            }
        }
        record.apps.sort_by_key(|app| self.order.get(&app.name).copied());
        self.share(&mut record);
        record
    }

    /// Sets Jain's index of `record`: connections count as bulk flows do. A bulk flow that sent nothing, and
    /// waited for nothing, does not count: it was not there.
    fn share(&self, record: &mut Record) {
        let is_quic = |name: &str| self.connections.iter().any(|connection| connection.name == name);
        let all = record.flows.iter().filter(|flow| is_quic(&flow.name) || flow.kind == "bulk");
        let first = all.clone().next().map(|flow| flow.direction);
        let was_there = |flow: &FlowRecord| flow.bytes_sent != Some(0) || flow.timeouts > Some(0);
        let flows = all.filter(|flow| Some(flow.direction) == first && was_there(flow));
        let (goodputs, losses): (Vec<f64>, Vec<f64>) =
            flows.map(|flow| (flow.goodput_mbps, flow.loss_percent.unwrap_or_default())).unzip();
        record.fairness.jain_goodput = jain(&goodputs);
        record.fairness.jain_drops = jain(&losses);
    }

    /// Returns, per connection, its name, its stack, and for sender and receiver the CPU time and the datagrams.
    pub(crate) fn cpu(&self) -> Vec<crate::cpu::OfConnection> {
        let each = self.connections.iter().map(|connection| {
            let sender = connection.sender();
            let ends = [sender, 1 - sender].map(|end| {
                let cpu = &connection.cpu[end];
                (cpu.spent.as_secs_f64(), cpu.datagrams)
            });
            (connection.name.clone(), connection.stack.name(), ends)
        });
        each.collect()
    }

    /// Returns the connections that ended by an error, each with the reason.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.connections.iter().filter_map(Connection::failure).collect()
    }
}
