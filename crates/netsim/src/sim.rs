//! The run: a dumbbell of two bottlenecks, its flows, and the loop that moves them.

mod ahead;
mod applications;
mod beats;
mod build;
#[cfg_attr(feature = "complete", path = "sim/complete/enabled.rs")]
#[cfg_attr(not(feature = "complete"), path = "sim/complete/disabled.rs")]
mod complete;
#[cfg(feature = "threads")]
mod crew;
#[cfg(feature = "threads")]
mod cut;
mod flow_path;
mod hearing;
mod onward;
pub(crate) mod outside;
mod own_queue;
#[cfg(feature = "threads")]
mod part;
mod places;
mod queues;
pub(crate) mod row;
#[cfg(feature = "threads")]
mod shards;
mod shelf;
#[cfg(feature = "threads")]
pub(crate) mod threads;
mod timers;
#[cfg(feature = "threads")]
pub(crate) mod trial;
mod windows;

use crate::agenda::Agenda;
use crate::component::{Actor, Component, Components};
use crate::flow::{Flow, Source};
use crate::foreign::{Maker, Request};
use crate::headers::FlowHeaders;
use crate::hosts::Hosts;
use crate::ids::{FlowId, LinkId, PipeId, Timer};
use crate::link::Link;
use crate::lists::{ByDirection, List, PerFlow};
use crate::metronome::Metronome;
use crate::observer::{Event, SharedObserver, tell};
use crate::outside::{Arrival, Envelopes};
use crate::packet::{Body, Datagram, Packet};
use crate::probe::series::FlowSeries;
use crate::scenario::Scenario;
use crate::sockets::Sockets;
use build::{Build, Path};
use flow_path::FlowPath;
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::keys::ScenarioError;
use goodqueue_hosts::traffic::application::SocketId;
use goodqueue_tcp::{Segment, Wire};
use goodqueue_units::{Duration, Instant, processor};
use row::{Node, Row};
use shelf::Shelf;

/// A run in progress.
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) now: Instant,
    /// The bottlenecks. If some flow meets another hop before its bottleneck, also one gate per direction, into which
    /// hosts send.
    pub(crate) links: List<LinkId, Link>,
    pub(crate) flows: PerFlow<Flow>,
    pub(crate) sockets: Sockets,
    pub(crate) flow_series: PerFlow<FlowSeries>,
    pub(crate) interval_ends: Vec<Instant>,
    agenda: Agenda,
    metronome: Metronome,
    /// The number of the scenario's changes that have taken place.
    changed: usize,
    /// The hops beside the bottlenecks, and the ways through them. None in a dumbbell.
    pub(crate) row: Option<Box<Row>>,
    components: Components,
    /// The data that every packet of a flow needs. They stand apart from the flows, which are too large to stay in a
    /// cache.
    flow_paths: PerFlow<FlowPath>,
    observer: Option<SharedObserver>,
    /// The program that sets the shapers' rates, if there is one.
    autorate: Option<Box<complete::Controller>>,
    /// Packets from outside that have arrived, for their owner to take.
    arrivals: Vec<Arrival>,
    envelopes: Envelopes,
    /// Where the hosts' packets wait, if the links act later or on another thread.
    shelf: Option<Box<Shelf>>,
}

/// The link into which a connection sends its segments.
struct ToLink<'a> {
    now: Instant,
    flow: FlowId,
    hash: u32,
    dscp: u8,
    offered: &'a mut u64,
    link: &'a mut Link,
    agenda: &'a mut Agenda,
    /// The place for packets on the shelf, if there is one.
    place: Option<shelf::Place<'a>>,
}

impl Wire for ToLink<'_> {
    #[inline(always)]
    fn prepare(&mut self) {
        if self.place.is_none() {
            self.link.settle(self.now, self.agenda);
        }
    }
    #[inline(always)]
    fn put(&mut self, segment: Segment) {
        let body = Body::Tcp(Segment { dscp: self.dscp, ..segment });
        let packet = Packet { arrival: self.now, flow: self.flow, hash: self.hash, body };
        *self.offered += 1;
        if let Some(place) = &mut self.place {
            return place.put(packet);
        }
        self.link.offer(self.now, packet, self.agenda);
    }
}

impl Simulation {
    /// Builds a run.
    ///
    /// # Errors
    /// If the scenario names a discipline that is not in the registry.
    pub fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        Self::with_sockets(scenario, Sockets::default())
    }

    /// Builds a run of disciplines of the registry with `sockets`, which are empty.
    fn with_sockets(scenario: Scenario, sockets: Sockets) -> Result<Self, ScenarioError> {
        let refuse = &mut |request: Request<'_>| {
            let message = format!("found {:?}; accepted here: a discipline of the registry", request.line);
            Err(ScenarioError::new(request.key, message))
        };
        Self::of(scenario, refuse, sockets)
    }

    /// Builds a run. `make` makes the disciplines that are not in the registry. [`Scenario::make_ccs`] makes the
    /// congestion controls that are not in TCP's table, before.
    ///
    /// # Errors
    /// The errors of [`Simulation::new`] and of `make`.
    pub fn with_foreign(scenario: Scenario, make: &mut Maker<'_>) -> Result<Self, ScenarioError> {
        Self::of(scenario, make, Sockets::default())
    }

    /// Builds a run with `sockets`, which are empty.
    fn of(mut scenario: Scenario, make: &mut Maker<'_>, mut sockets: Sockets) -> Result<Self, ScenarioError> {
        scenario.make_ccs(&mut |request| {
            let message =
                format!("found {:?}; accepted here: a congestion control of the list", request.line);
            Err(ScenarioError::new(request.key, message))
        })?;
        if crate::complete::COMPLETE {
            scenario.check_served()?;
        }
        let mut flows = Flow::all(&scenario, &mut sockets);
        let rtts: Vec<_> = flows.iter().map(|flow| (flow.rtt, flow.most_rtt)).collect();
        let tables = scenario.traffic.iter();
        let tables =
            tables.map(|traffic| ([&traffic.host, &traffic.server].map(Option::as_ref), traffic.count));
        let hosts = Hosts::of(scenario.seed, tables);
        let mut build = Build {
            make,
            hosts,
            headers: FlowHeaders::of(&scenario),
            subscribers: complete::subscribers_of_flows(&scenario),
            scenario: &mut scenario,
        };
        let Path { links, row, components } = build.path(&rtts)?;
        if let Some(paced) = row.as_ref().and_then(|row| row.paced(&flows, &links)) {
            sockets.leave_pacing_to_queues(paced, |_| false);
        }
        let entries = |flow: FlowId| match &row {
            None => ByDirection::of(LinkId::bottleneck),
            Some(row) => ByDirection::of(|direction| row.first_link(flow, direction)),
        };
        let flow_paths = flows.numbered().map(|(id, flow)| FlowPath::of(flow, entries(id))).collect();
        let interval = scenario.series.as_ref().and_then(|series| series.interval).map(|span| span.0);
        let changes = scenario.change.iter().map(|change| change.at.0);
        let metronome = Metronome::new(scenario.warmup.0, interval, changes);
        let mut agenda = Agenda::new(components.count(0), components.pipes(), components.parts());
        agenda.set(Component::METRONOME, metronome.next_time());
        links.iter().for_each(|link| link.plan_timer(Instant::ZERO, &mut agenda));
        row.iter().for_each(|row| row.plan(&mut agenda));
        for (id, flow) in flows.numbered() {
            agenda.set(components.flow(id, Timer::Sender), flow.opens);
        }
        if interval.is_some() {
            flows.iter_mut().for_each(Flow::log);
        }
        let (tcp, cc) = scenario.series.as_ref().map_or((false, false), |series| (series.tcp, series.cc));
        let named = interval.is_some().then(|| flows.iter()).into_iter().flatten();
        let autorate = complete::Controller::of(&scenario, &flows);
        let flow_series = named
            .map(|flow| {
                let is_tcp = flow.kind.is_tcp();
                FlowSeries::new(flow.name.clone(), tcp && is_tcp, cc && is_tcp, flow.is_echoed())
            })
            .collect();
        Ok(Self {
            now: Instant::ZERO,
            links,
            flow_series,
            flows,
            sockets,
            interval_ends: Vec::new(),
            agenda,
            metronome,
            changed: 0,
            row,
            components,
            flow_paths,
            observer: None,
            autorate,
            arrivals: Vec::new(),
            envelopes: Envelopes::default(),
            shelf: None,
            scenario,
        })
    }

    /// Returns the scenario.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Returns the length of the run.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.scenario.duration.0
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        self.advance(self.duration());
    }

    /// Runs until `elapsed` of the run has passed, but not beyond its end. Several calls give the same run as one.
    pub fn advance(&mut self, elapsed: Duration) {
        self.advance_by(elapsed, u64::MAX);
    }

    /// Runs like [`advance`](Self::advance), but begins no event before the time `elapsed` after `most` events, so that
    /// the call returns soon however much happens until then. The time that is reached is [`elapsed`](Self::elapsed).
    pub fn advance_by(&mut self, elapsed: Duration, most: u64) {
        let until = self.at_most(elapsed);
        let mut left = self.advance_in_windows(until, most);
        // All events at `until` belong to this call: its caller sees only that the time is reached.
        while left > 0 || self.now >= until {
            if !self.act_next(until) {
                self.settle(until);
                return;
            }
            left = left.saturating_sub(1);
        }
    }

    /// Handles the next event and returns true. If there is no event up to the time `elapsed` of the run, returns
    /// false, in the state in which [`advance`](Self::advance) ends. An observer thus sees what each step changes.
    pub fn step(&mut self, elapsed: Duration) -> bool {
        let until = self.at_most(elapsed);
        let acted = self.act_next(until);
        if !acted {
            self.settle(until);
        }
        acted
    }

    /// Returns the time at which `elapsed` has passed or the run ends.
    fn at_most(&self, elapsed: Duration) -> Instant {
        Instant::ZERO + elapsed.min(self.duration())
    }

    /// Handles the next event, unless it is later than `until`.
    #[inline]
    fn act_next(&mut self, until: Instant) -> bool {
        let Some((time, component)) = self.agenda.next() else { return false };
        if time > until {
            return false;
        }
        debug_assert!(time >= self.now, "component {component} acts in the past");
        self.now = time;
        self.act(component);
        true
    }

    /// Sets the time to `until` and lets all links catch up, when no event is left before `until`.
    fn settle(&mut self, until: Instant) {
        self.now = until.max(self.now);
        let (now, agenda) = (self.now, &mut self.agenda);
        let of_hops = self.row.iter_mut().flat_map(|row| row.links_mut());
        self.links.iter_mut().chain(of_hops).for_each(|link| link.settle(now, agenda));
    }

    // Inlined, because most hops are wires. Rare or large cases are in functions of their own.
    #[inline]
    fn act(&mut self, component: Component) {
        let (now, agenda) = (self.now, &mut self.agenda);
        match self.components.actor(component) {
            Actor::Metronome => self.beat(),
            Actor::QdiscTimer(direction) => {
                self.links[LinkId::bottleneck(direction)].on_timer(now, agenda);
                if self.row.is_some() {
                    self.tell_senders(Node::Bottleneck, direction); // of drops
                }
            }
            Actor::Wire(direction) => self.links[LinkId::bottleneck(direction)].settle(now, agenda),
            Actor::Pipe(direction, pipe) => self.arrived(direction, pipe),
            Actor::Row(part) => self.hop_acts(part),
            Actor::Flow(flow, timer) => self.flow_timer(flow, timer),
            Actor::Socket(socket, end) => self.socket_timer(socket, end),
        }
    }

    /// Handles a packet in `direction` that comes out of `pipe`.
    #[inline(never)]
    fn arrived(&mut self, direction: Direction, pipe: PipeId) {
        if direction == Direction::Up {
            processor::branch_here(); // ACKs go one way, data the other: much of what follows depends on it
        }
        if self.is_crowded() {
            self.look_ahead(direction, pipe);
        } else if self.has_many_sockets() {
            self.look_ahead_of_sockets(direction, pipe);
        }
        let end = direction.receiver();
        let link = &mut self.links[LinkId::bottleneck(direction)];
        if self.shelf.is_none() {
            link.settle_stream(self.now, &mut self.agenda);
        }
        let pipes = &mut link.pipes;
        // The packet stays in the pipe while it is read: copying it costs more than reading it.
        let Some(packet) = pipes.head(pipe) else { return };
        let cards = self.row.as_ref().map(|row| &row.cards);
        if let Some(card) = cards.and_then(|cards| cards.at_host(packet.flow, direction, pipe)) {
            return self.arrived_at_card(card, direction, pipe);
        }
        if let Some(observer) = &self.observer
            && !cards.is_some_and(|cards| cards.is_exit(direction, pipe))
        {
            tell(observer, self.now, direction, Event::Arrived, packet);
        }
        let (flow, hash) = (packet.flow, packet.hash);
        match &packet.body {
            Body::Tcp(segment) => {
                let is_read_late = cards.is_some_and(|cards| cards.are_read_late(flow, direction, pipe))
                    && segment.seq_len() > 0;
                // One call for all connections: with two calls the compiler inlines neither.
                let FlowPath { is_bulk, direction: of_data, .. } = self.flow_paths[flow];
                let mut socket = None;
                let connection = if is_bulk {
                    Some(&mut self.sockets.bulk[flow].ends[end])
                } else {
                    socket = self.sockets.find(flow, direction, hash);
                    socket.map(|id| &mut self.sockets[id].ends[end])
                };
                let handled = connection.map(|connection| connection.handle_segment(self.now, segment));
                self.agenda.set(Component::pipe(direction, pipe), pipes.pop(pipe));
                let Some(handled) = handled else { return }; // the connection has ended, and nobody listens
                if is_read_late {
                    return self.heard_in_poll((flow, hash), direction, socket, handled);
                }
                if let Some(id) = socket {
                    return self.heard(flow, (id, end), handled);
                }
                if self.is_crowded() {
                    self.ask_for_cell(flow, handled.rtt);
                }
                self.pump(flow, end, None);
                if let Some(rtt) = handled.rtt
                    && direction != of_data
                {
                    self.sockets.bulk[flow].rtt.record(rtt);
                }
            }
            &Body::Datagram(datagram) => {
                self.agenda.set(Component::pipe(direction, pipe), pipes.pop(pipe));
                self.datagram_arrived(flow, direction, datagram);
            }
        }
    }

    /// Handles a datagram of `flow` that has arrived.
    #[inline(never)] // out of the way of segments
    fn datagram_arrived(&mut self, flow: FlowId, direction: Direction, datagram: Datagram) {
        if self.leaves(flow, direction, &datagram) {
            return;
        }
        let Source::Isochronous(source) = &mut self.flows[flow].source else {
            return self.heard_datagram(flow, direction, datagram);
        };
        if direction != self.flow_paths[flow].direction {
            if let Some(rtt) = source.returned(self.now, datagram.number)
                && self.autorate.is_some()
            {
                self.autorate(flow, rtt);
            }
        } else if source.arrived(self.now, datagram.number) {
            self.send_datagram(flow, direction.reverse(), datagram.number, datagram.dscp);
        }
    }

    /// Lets the end `end` of TCP flow `flow` send what it may, and sets its timer. For an application's flow,
    /// `socket` is the connection.
    fn pump(&mut self, flow: FlowId, end: Side, socket: Option<SocketId>) {
        let direction = end.sends();
        if let Some(row) = &self.row
            && row.has_own_queue(flow, direction)
        {
            return self.hand_down(flow, end, socket);
        }
        let path = &mut self.flow_paths[flow];
        let (connection, fires, hash) = if let Some(id) = socket {
            let socket = &mut self.sockets[id];
            (&mut socket.ends[end], &mut socket.timers[end], socket.hash)
        } else {
            let bulk = &mut self.sockets.bulk[flow];
            (&mut bulk.ends[end], &mut path.timers[end], path.hash)
        };
        let link = &mut self.links[path.first_link[direction]];
        let (hash, dscp, offered) = (hash[direction], path.dscp, &mut path.offered[direction]);
        let place = shelf::place(&mut self.shelf, direction);
        let mut wire =
            ToLink { now: self.now, flow, hash, dscp, offered, link, agenda: &mut self.agenda, place };
        connection.transmit(self.now, &mut wire);
        let deadline = connection.poll_timeout().unwrap_or(Instant::MAX);
        // Here the timer is only moved to an earlier time. If the deadline is later, the timer finds this out when it
        // fires.
        if deadline < *fires {
            *fires = deadline;
            self.agenda.set(self.timer_of(flow, end, socket), deadline);
        }
    }

    /// Returns the timer of a connection, as [`pump`](Self::pump) knows it.
    fn timer_of(&self, flow: FlowId, end: Side, socket: Option<SocketId>) -> Component {
        match socket {
            Some(id) => self.components.socket(id, end),
            None => self.components.flow(flow, self.flow_paths[flow].timer_of(end)),
        }
    }

    fn send_datagram(&mut self, flow: FlowId, direction: Direction, number: u32, dscp: u8) {
        let Flow { source, hash, .. } = &self.flows[flow];
        let Source::Isochronous(source) = source else { return };
        let packet = Packet {
            arrival: self.now,
            flow,
            hash: hash[direction],
            body: Body::Datagram(Datagram { number, len: source.len, ecn: source.ecn, dscp, envelope: None }),
        };
        self.offer(direction, packet);
    }

    /// Offers a packet without a connection to the link of `direction`.
    fn offer(&mut self, direction: Direction, packet: Packet) {
        self.flow_paths[packet.flow].offered[direction] += 1;
        if self.shelve(direction, packet) {
            return;
        }
        let entry = self.row.as_ref().map_or(Node::Bottleneck, |row| row.entry(packet.flow, direction));
        self.enter(entry, direction, packet);
    }
}
