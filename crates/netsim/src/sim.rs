//! The run: a dumbbell of two bottlenecks, its flows, and the loop that moves them.

mod ahead;
mod applications;
mod build;
mod onward;
pub(crate) mod ring;
pub(crate) mod row;
mod timers;
mod way;

use crate::agenda::{Agenda, Component, METRONOME, PIPE, QDISC_TIMER, WIRE};
use crate::flow::{Flow, Source};
use crate::foreign::Maker;
use crate::link::{Counts, Link, Parts};
use crate::metronome::{Beat, Metronome};
use crate::observer::{Event, SharedObserver, Watch, tell};
use crate::packet::{Body, Datagram, Packet};
use crate::pipe::Pipes;
use crate::probe::goodput::BIN;
use crate::probe::series::{FlowSeries, FlowTotals, Pick, QueueSeries};
use crate::scenario::{Direction, Scenario, ScenarioError};
use crate::sockets::{SocketId, Sockets};
use crate::tally::{FlowFates, Totals};
use build::{Build, Place};
use goodqueue_qdisc::Qdisc;
use goodqueue_tcp::{Segment, Wire};
use goodqueue_units::{Duration, Instant};
use row::{Body as HopBody, HopState, Node, Places, Row, Ways};
use std::hint::black_box;
use way::Way;

/// A run in progress.
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) now: Instant,
    /// The bottlenecks, and, where some flow meets another hop before its own, a gate per direction that hosts send into.
    pub(crate) links: Vec<Link>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) sockets: Sockets,
    pub(crate) baseline: [Baseline; 2],
    pub(crate) queue_series: [QueueSeries; 2],
    pub(crate) flow_series: Vec<FlowSeries>,
    pub(crate) interval_ends: Vec<Instant>,
    agenda: Agenda,
    metronome: Metronome,
    /// Changes of the scenario that have taken place.
    changed: usize,
    /// The hops beside the bottlenecks, and the ways through them; none in a dumbbell.
    pub(crate) row: Option<Box<Row>>,
    /// The first component of the row, and the first of the flows' timers.
    row_start: Component,
    flow_timers: Component,
    /// What every packet of a flow asks for; beside the flows, which are too large to stay in a cache.
    ways: Vec<Way>,
    observer: Option<SharedObserver>,
}

/// Where a connection puts its segments.
struct ToLink<'a> {
    now: Instant,
    flow: u32,
    hash: u32,
    dscp: u8,
    offered: &'a mut u64,
    link: &'a mut Link,
    agenda: &'a mut Agenda,
}

impl Wire for ToLink<'_> {
    #[inline(always)]
    fn prepare(&mut self) {
        self.link.settle(self.now, self.agenda);
    }
    #[inline(always)]
    fn put(&mut self, segment: Segment) {
        let body = Body::Tcp(Segment { dscp: self.dscp, ..segment });
        let packet = Packet { arrival: self.now, flow: self.flow, hash: self.hash, body };
        *self.offered += 1;
        self.link.offer(self.now, packet, self.agenda);
    }
}

/// A link's totals when measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    pub(crate) counts: Counts,
    pub(crate) busy: Duration,
    pub(crate) drops: Vec<u64>,
    pub(crate) marks: Vec<u64>,
}

impl Baseline {
    /// Measuring of `link` begins.
    pub(crate) fn of(link: &mut Link, now: Instant) -> Self {
        link.delays.reset();
        if let Some(ring) = link.ring_mut() {
            ring.delays.reset();
        }
        Self {
            counts: link.counts(),
            busy: link.busy_until(now),
            drops: link.fates.drops.to_vec(),
            marks: link.fates.marks.to_vec(),
        }
    }
}

impl Simulation {
    /// Sets a run up.
    ///
    /// # Errors
    /// If the scenario names a discipline that is not of the registry.
    pub fn new(scenario: Scenario) -> Result<Self, ScenarioError> {
        Self::with_foreign(scenario, &mut |request| {
            let message = format!("found {:?}; accepted here: a discipline of the registry", request.line);
            Err(ScenarioError::new(request.key, message))
        })
    }

    /// Sets a run up in which `make` makes the disciplines that are not of the registry.
    ///
    /// # Errors
    /// As [`Simulation::new`], and what `make` refuses.
    pub fn with_foreign(mut scenario: Scenario, make: &mut Maker<'_>) -> Result<Self, ScenarioError> {
        let mut sockets = Sockets::default();
        let mut flows = Flow::all(&scenario, &mut sockets);
        let rtts: Vec<_> = flows.iter().map(|flow| (flow.rtt, flow.most_rtt)).collect();
        let ways_through = Ways::new(&scenario, &rtts);
        let pipes = Direction::ALL.map(|direction| ways_through.pipes(direction));
        // Pipes of the two directions take turns, as many of each.
        let row_start =
            PIPE + 2 * pipes.each_ref().map(Pipes::len).into_iter().max().unwrap_or(0) as Component;
        let mut places = Places::new(row_start, !scenario.hops.list.is_empty());
        let mut build = Build { scenario: &mut scenario, make };
        let [down, up] = pipes;
        let parts = |way: Direction| Parts::of_bottleneck(way, row_start + way as Component);
        let mut links = vec![
            build.link(Place::Bottleneck(Direction::Down), parts(Direction::Down), down)?,
            build.link(Place::Bottleneck(Direction::Up), parts(Direction::Up), up)?,
        ];
        if !build.scenario.hops.list.is_empty() {
            let gates =
                Direction::ALL.map(|way| Build::gate(way, places.gate(way), ways_through.onward(way)));
            links.extend(gates);
        }
        let hops = build.hops(&ways_through, &mut places)?;
        let flow_timers = row_start + places.len() as Component;
        let row = (!hops.is_empty()).then(|| Box::new(ways_through.row(hops, &places)));
        let entries = |flow: usize| match &row {
            None => [0, 1],
            Some(row) => Direction::ALL.map(|way| row.first_link(flow, way)),
        };
        let ways = flows.iter().enumerate().map(|(index, flow)| Way::of(flow, entries(index))).collect();
        let interval = scenario.series.as_ref().and_then(|series| series.interval).map(|span| span.0);
        let changes = scenario.change.iter().map(|change| change.at.0);
        let metronome = Metronome::new(scenario.warmup.0, interval, changes);
        let mut agenda = Agenda::new(flow_timers as usize + 2 * flows.len());
        agenda.set(METRONOME, metronome.next_time());
        let of_hops = row.iter().flat_map(|row| row.hops.iter().filter_map(HopState::link));
        for link in links.iter().chain(of_hops) {
            link.plan_timer(&mut agenda);
        }
        for (index, flow) in flows.iter().enumerate() {
            agenda.set(flow_timers + 2 * index as Component, flow.start);
        }
        if interval.is_some() {
            flows.iter_mut().for_each(Flow::log);
        }
        let named = if interval.is_some() { flows.as_slice() } else { &[] };
        let [tcp, law] = scenario.series.as_ref().map_or([false; 2], |series| [series.tcp, series.law]);
        let flow_series = named
            .iter()
            .map(|flow| FlowSeries::new(flow.name.clone(), tcp && flow.kind.is_tcp(), flow.is_echoed()))
            .collect();
        Ok(Self {
            now: Instant::ZERO,
            links,
            flow_series,
            flows,
            sockets,
            baseline: Default::default(),
            queue_series: [QueueSeries::new(law), QueueSeries::new(law)],
            interval_ends: Vec::new(),
            agenda,
            metronome,
            changed: 0,
            row,
            row_start,
            flow_timers,
            ways,
            observer: None,
            scenario,
        })
    }

    /// From now on `observer` is told of every packet.
    pub fn observe(&mut self, observer: SharedObserver) {
        for (link, direction) in self.links.iter_mut().zip(Direction::ALL) {
            let mut watch = link.fates.watch.take().unwrap_or_else(|| Box::new(Watch::new(direction, None)));
            watch.observer = Some(SharedObserver::clone(&observer));
            link.watch(watch, &mut self.agenda);
        }
        self.observer = Some(observer);
    }

    /// What is run.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// How long the run is.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.scenario.duration.0
    }

    /// Runs to the end.
    pub fn run(&mut self) {
        self.advance(self.duration());
    }

    /// Runs until `elapsed` of the run has passed, its end at the latest. Cutting a run into pieces changes nothing.
    pub fn advance(&mut self, elapsed: Duration) {
        let until = Instant::ZERO + elapsed.min(self.duration());
        while let Some((time, component)) = self.agenda.next()
            && time <= until
        {
            debug_assert!(time >= self.now, "component {component} acts in the past");
            self.now = time;
            self.act(component);
        }
        self.now = until.max(self.now);
        let (now, agenda) = (self.now, &mut self.agenda);
        let of_hops = self.row.iter_mut().flat_map(|row| row.hops.iter_mut().filter_map(HopState::link_mut));
        self.links.iter_mut().chain(of_hops).for_each(|link| link.settle(now, agenda));
    }

    // In the loop's own function, so that a wire costs no second call; what is rarer or larger stands apart.
    #[inline]
    fn act(&mut self, component: Component) {
        let (now, agenda) = (self.now, &mut self.agenda);
        match component {
            METRONOME => self.beat(),
            QDISC_TIMER..WIRE => self.links[(component - QDISC_TIMER) as usize].on_timer(now, agenda),
            WIRE..PIPE => self.links[(component - WIRE) as usize].settle(now, agenda),
            _ if component < self.row_start => self.arrived((component - PIPE) as usize),
            _ if component < self.flow_timers => self.hop_acts((component - self.row_start) as usize),
            _ => {
                let timer = (component - self.flow_timers) as usize;
                match timer.checked_sub(2 * self.flows.len()) {
                    None => self.flow_timer(timer / 2, timer % 2),
                    Some(timer) => self.socket_timer((timer / 2) as SocketId, timer % 2),
                }
            }
        }
    }

    /// A packet comes out of `pipe`; even pipes lead down.
    #[inline(never)]
    fn arrived(&mut self, pipe: usize) {
        if pipe % 2 == 1 {
            // That ACKs come this way, or data, which nobody could foretell, the processor thus learns at once, and guesses what
            // depends on it; else it would guess again where the answer has to be waited for.
            black_box(());
        }
        if self.is_crowded() {
            self.look_ahead(pipe);
        }
        let end = pipe % 2;
        let direction = Direction::ALL[end];
        let link = &mut self.links[end];
        link.settle_stream(self.now, &mut self.agenda);
        let pipes = &mut link.pipes;
        // It stays where it is while it is looked at: to copy it costs more than to read it.
        let Some(packet) = pipes.head(pipe / 2) else { return };
        if let Some(observer) = &self.observer {
            tell(observer, self.now, direction, Event::Arrived, packet);
        }
        let (index, hash) = (packet.flow as usize, packet.hash);
        match &packet.body {
            Body::Tcp(segment) => {
                // One call for all connections: where there are two, the compiler inlines neither.
                let Way { is_bulk, direction: of_data, .. } = self.ways[index];
                let mut socket = None;
                let connection = if is_bulk {
                    Some(&mut self.sockets.bulk[index].ends[end])
                } else {
                    let Source::App(app) = &self.flows[index].source else {
                        unreachable!("a flow's packets are its own")
                    };
                    socket = app.socket(direction, hash);
                    socket.map(|id| &mut self.sockets[id].ends[end])
                };
                let handled = connection.map(|connection| connection.handle_segment(self.now, segment));
                self.agenda.set(PIPE + pipe as u32, pipes.pop(pipe / 2));
                let Some(handled) = handled else { return }; // its connection is over, and nobody listens
                if let Some(id) = socket {
                    return self.heard(index, (id, end), handled);
                }
                if self.is_crowded() {
                    self.ask_for_cell(index, handled.rtt);
                }
                self.pump(index, end, None);
                if let Some(rtt) = handled.rtt
                    && direction != of_data
                {
                    self.sockets.bulk[index].rtt.record(rtt);
                }
            }
            &Body::Datagram(datagram) => {
                self.agenda.set(PIPE + pipe as u32, pipes.pop(pipe / 2));
                self.datagram_arrived(index, direction, datagram);
            }
        }
    }

    /// A datagram of flow `index` has come.
    #[inline(never)] // out of the way of segments
    fn datagram_arrived(&mut self, index: usize, direction: Direction, datagram: Datagram) {
        let Source::Isochronous(source) = &mut self.flows[index].source else {
            return self.heard_datagram(index, direction, datagram.number);
        };
        if direction != self.ways[index].direction {
            source.returned(self.now, datagram.number);
        } else if source.arrived(self.now, datagram.number) {
            self.send_datagram(index, direction.reverse(), datagram.number, datagram.dscp);
        }
    }

    /// Lets end `end` of TCP flow `index`, the one that hears that direction, send what it may, and sets its timer. An
    /// application's flow says of which connection.
    fn pump(&mut self, index: usize, end: usize, socket: Option<SocketId>) {
        let direction = Direction::ALL[end].reverse();
        let way = &mut self.ways[index];
        let (connection, fires, hash) = if let Some(id) = socket {
            let socket = &mut self.sockets[id];
            (&mut socket.ends[end], &mut socket.timers[end], socket.hash)
        } else {
            let bulk = &mut self.sockets.bulk[index];
            (&mut bulk.ends[end], &mut way.timers[end], way.hash)
        };
        let link = &mut self.links[way.first_link[direction.index()] as usize];
        let (flow, hash) = (index as u32, hash[direction.index()]);
        let (dscp, offered) = (way.dscp, &mut way.offered[direction.index()]);
        let mut wire = ToLink { now: self.now, flow, hash, dscp, offered, link, agenda: &mut self.agenda };
        connection.transmit(self.now, &mut wire);
        let deadline = connection.poll_timeout().unwrap_or(Instant::MAX);
        // Only ever earlier here: a deadline that has moved on is found out when the timer fires.
        if deadline < *fires {
            *fires = deadline;
            let timer = match socket {
                Some(id) => self.socket_timer_of(id, end),
                None => self.timer(index, self.ways[index].end_of(end)),
            };
            self.agenda.set(timer, deadline);
        }
    }

    fn send_datagram(&mut self, index: usize, direction: Direction, number: u32, dscp: u8) {
        let flow = &self.flows[index];
        let Source::Isochronous(source) = &flow.source else { return };
        let packet = Packet {
            arrival: self.now,
            flow: index as u32,
            hash: flow.hash[direction.index()],
            body: Body::Datagram(Datagram { number, len: source.len, ecn: source.ecn, dscp }),
        };
        self.offer(direction, packet);
    }

    /// Offers a packet of no connection to the link of `direction`.
    fn offer(&mut self, direction: Direction, packet: Packet) {
        self.ways[packet.flow as usize].offered[direction.index()] += 1;
        let entry =
            self.row.as_ref().map_or(Node::Bottleneck, |row| row.entry(packet.flow as usize, direction));
        self.enter(entry, direction, packet);
    }

    #[cold]
    fn beat(&mut self) {
        let (now, agenda) = (self.now, &mut self.agenda);
        let of_hops = self.row.iter_mut().flat_map(|row| row.hops.iter_mut().filter_map(HopState::link_mut));
        self.links.iter_mut().chain(of_hops).for_each(|link| link.settle_before(now, agenda));
        match self.metronome.strike() {
            Beat::WarmedUp => self.warmed_up(),
            Beat::Bin => {
                for index in 0..self.flows.len() {
                    let delivered = self.totals(index).delivered_bytes;
                    let flow = &mut self.flows[index];
                    let whole = flow.start + BIN <= self.now && self.now <= flow.stop;
                    flow.bins.end_bin(delivered, whole);
                }
            }
            Beat::Interval => self.end_interval(),
            Beat::Change => self.change(),
        }
        self.agenda.set(METRONOME, self.metronome.next_time());
    }

    /// The scenario's next change takes place.
    fn change(&mut self) {
        let Some(change) = self.scenario.change.get(self.changed) else { return };
        self.changed += 1;
        let link = match (change.place, &mut self.row) {
            (Some(place), Some(row)) => row.hops[place].link_mut(),
            _ => Some(&mut self.links[change.direction.index()]),
        };
        let Some(link) = link else { return };
        let rate = change.rate.map(|rate| rate.0);
        if let Err(error) = link.change(self.now, rate, change.qdisc.as_deref(), &mut self.agenda) {
            unreachable!("reading the scenario has tried it: {error}");
        }
    }

    /// What flow `index` has done so far.
    pub(crate) fn totals(&self, index: usize) -> Totals {
        let flow = &self.flows[index];
        let offered = self.ways[index].offered[flow.direction.index()];
        let mut dropped = self.links[flow.direction.index()].fates.dropped[index];
        if let Some(row) = &self.row {
            dropped += row.dropped(index, flow.direction, &self.scenario);
        }
        flow.totals(index, FlowFates { offered, dropped }, &self.sockets)
    }

    /// Measuring begins.
    fn warmed_up(&mut self) {
        let now = self.now;
        for (link, baseline) in self.links.iter_mut().zip(&mut self.baseline) {
            *baseline = Baseline::of(link, self.now);
        }
        self.hops().for_each(|hop| hop.warmed_up(now));
        for index in 0..self.flows.len() {
            let totals = self.totals(index);
            let flow = &mut self.flows[index];
            flow.baseline = totals;
            flow.bins.start(totals.delivered_bytes);
            match &mut flow.source {
                Source::Bulk(_) => self.sockets.bulk[index].rtt.reset(),
                Source::Isochronous(source) => source.measure_from_now(),
                Source::App(app) => app.measure_from(self.now),
            }
        }
    }

    fn end_interval(&mut self) {
        let Some(interval) = self.scenario.series.as_ref().and_then(|series| series.interval) else { return };
        self.interval_ends.push(self.now);
        let of_hops = self.row.iter_mut().flat_map(|row| &mut row.hops);
        let of_hops = of_hops.filter_map(|hop| match &hop.body {
            HopBody::Link(link) => Some((link, &mut hop.series)),
            HopBody::Element(_) => None,
        });
        for (link, series) in self.links.iter().zip(&mut self.queue_series).chain(of_hops) {
            let mut pick = Pick { name: "drop_probability", value: None };
            link.qdisc.probe(&mut pick);
            series.end_interval(link.delay_totals(), link.qdisc.backlog().packets, pick.value);
            if let Some(law) = &mut series.law {
                law.end_interval(self.now, |law| link.qdisc.show(law));
            }
        }
        for index in 0..self.flows.len() {
            let totals = self.totals(index);
            let echoes = match &self.flows[index].source {
                Source::Isochronous(source) => source.echoes,
                Source::Bulk(_) | Source::App(_) => Default::default(),
            };
            let totals =
                FlowTotals { delivered_bytes: totals.delivered_bytes, dropped: totals.fates.dropped, echoes };
            let sender = self.flows[index].sender(index, &self.sockets);
            self.flow_series[index].end_interval(totals, sender, interval.0);
        }
    }
}
