//! The run: a dumbbell of two bottlenecks, its flows, and the loop that moves them.

mod applications;

use crate::agenda::{Agenda, Component};
use crate::flow::{Flow, Source};
use crate::foreign::{Discipline, Maker, Request};
use crate::link::{Counts, Link};
use crate::metronome::{Beat, Metronome};
use crate::observer::{Event, SharedObserver, Watch, tell};
use crate::packet::{Body, Datagram, Packet};
use crate::pipe::Pipe;
use crate::probe::goodput::BIN;
use crate::probe::series::{FlowSeries, FlowTotals, PacketLog, Pick, QueueSeries};
use crate::scenario::{Direction, Line, Scenario, ScenarioError};
use crate::sockets::{SocketId, Sockets};
use crate::traffic::Kind;
use crate::traffic::bulk::{RECEIVER, SENDER};
use goodqueue_qdisc::{AnyQdisc, Qdisc};
use goodqueue_units::{Duration, Instant, Streams};

// Components in the order in which they act at equal times: as in the golden traces, timers come before ends of
// transmission, and those before arrivals.
const METRONOME: Component = 0;
const QDISC_TIMER: Component = 1;
const WIRE: Component = 3;
const PIPE: Component = 5;

/// A run in progress.
pub struct Simulation {
    pub(crate) scenario: Scenario,
    pub(crate) now: Instant,
    pub(crate) links: [Link; 2],
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
    pipes: Vec<Pipe>,
    /// What every packet of a flow asks for; beside the flows, whose state is too large to stay in a cache.
    ways: Vec<Way>,
    observer: Option<SharedObserver>,
}

/// A flow's way through the dumbbell.
struct Way {
    /// Which pipe its packets take, a direction each.
    pipes: [u32; 2],
    /// As [`Flow::hash`].
    hash: [u32; 2],
    /// As [`Flow::dscp`].
    dscp: u8,
    /// As [`Flow::stop`].
    stop: Instant,
    /// As [`Flow::direction`].
    direction: Direction,
}

/// A link's totals when measuring began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Baseline {
    pub(crate) counts: Counts,
    pub(crate) busy: Duration,
    pub(crate) drops: Vec<u64>,
    pub(crate) marks: Vec<u64>,
}

impl Simulation {
    /// Sets a run up.
    ///
    /// # Errors
    /// If the scenario was not made by [`Scenario::from_json`] and holds what that would refuse.
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
        scenario.resolve_changes()?;
        let flows = Flow::all(&scenario)?;
        let links = [
            Self::link(&mut scenario, Direction::Down, flows.len(), make)?,
            Self::link(&mut scenario, Direction::Up, flows.len(), make)?,
        ];
        let (pipes, ways) = pipes(&flows);
        let interval = scenario.series.as_ref().and_then(|series| series.interval).map(|span| span.0);
        let changes = scenario.change.iter().map(|change| change.at.0);
        let metronome = Metronome::new(scenario.warmup.0, interval, changes);
        let mut agenda = Agenda::new(PIPE as usize + pipes.len() + 2 * flows.len());
        agenda.set(METRONOME, metronome.next_time());
        for direction in Direction::BOTH {
            let link: &Link = &links[direction.index()];
            agenda.set(QDISC_TIMER + direction as u32, link.qdisc.next_timer().unwrap_or(Instant::MAX));
        }
        for (index, flow) in flows.iter().enumerate() {
            agenda.set(PIPE + (pipes.len() + 2 * index) as u32, flow.start);
        }
        let named = if interval.is_some() { flows.as_slice() } else { &[] };
        let tcp = scenario.series.as_ref().is_some_and(|series| series.tcp);
        let flow_series = named
            .iter()
            .map(|flow| FlowSeries::new(flow.name.clone(), tcp && flow.is_tcp(), flow.kind == Kind::Ping))
            .collect();
        Ok(Self {
            now: Instant::ZERO,
            links,
            flow_series,
            flows,
            sockets: Sockets::default(),
            baseline: Default::default(),
            queue_series: Default::default(),
            interval_ends: Vec::new(),
            agenda,
            metronome,
            changed: 0,
            pipes,
            ways,
            observer: None,
            scenario,
        })
    }

    fn link(
        scenario: &mut Scenario,
        direction: Direction,
        flows: usize,
        make: &mut Maker<'_>,
    ) -> Result<Link, ScenarioError> {
        let (key, line, parameters) = scenario.qdisc(direction)?;
        let random = Streams::new(scenario.seed).stream("qdisc", direction as u64);
        let qdisc = match line {
            Line::Registry(args) => Discipline::Registry(
                AnyQdisc::build(&args, &parameters).map_err(|error| ScenarioError::new(key, error.0))?,
            ),
            Line::Foreign(line) => {
                let random = random.clone();
                let made = make(Request { key, line: &line, direction, link: parameters, random })?;
                scenario.set_qdisc(direction, made.line());
                Discipline::Foreign(Box::new(made))
            }
        };
        let mut link = Link::new(qdisc, parameters.rate, flows, random);
        let window = scenario.series.as_ref().and_then(|series| series.packets);
        link.fates.watch = window.map(|window| {
            let log = PacketLog::new(Instant::ZERO + window.from.0, Instant::ZERO + window.to.0);
            Box::new(Watch::new(direction, Some(log)))
        });
        Ok(link)
    }

    /// From now on `observer` is told of every packet.
    pub fn observe(&mut self, observer: SharedObserver) {
        for (link, direction) in self.links.iter_mut().zip(Direction::BOTH) {
            let watch = link.fates.watch.get_or_insert_with(|| Box::new(Watch::new(direction, None)));
            watch.observer = Some(SharedObserver::clone(&observer));
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
    }

    fn act(&mut self, component: Component) {
        let flow_timers = PIPE + self.pipes.len() as u32;
        match component {
            METRONOME => self.beat(),
            QDISC_TIMER..WIRE => self.qdisc_timer(Direction::BOTH[(component - QDISC_TIMER) as usize]),
            WIRE..PIPE => self.transmitted(Direction::BOTH[(component - WIRE) as usize]),
            _ if component < flow_timers => self.arrived((component - PIPE) as usize),
            _ => {
                let timer = (component - flow_timers) as usize;
                match timer.checked_sub(2 * self.flows.len()) {
                    None => self.flow_timer(timer / 2, timer % 2),
                    Some(timer) => self.socket_timer((timer / 2) as SocketId, timer % 2),
                }
            }
        }
    }

    fn qdisc_timer(&mut self, direction: Direction) {
        let link = &mut self.links[direction.index()];
        if let Some(free) = link.on_timer(self.now) {
            self.agenda.set(WIRE + direction as u32, free);
        }
        self.agenda.set(QDISC_TIMER + direction as u32, link.qdisc.next_timer().unwrap_or(Instant::MAX));
    }

    /// The wire of `direction` has sent its packet.
    fn transmitted(&mut self, direction: Direction) {
        let link = &mut self.links[direction.index()];
        let (sent, next) = link.transmitted(self.now);
        self.agenda.set(WIRE + direction as u32, next.unwrap_or(Instant::MAX));
        if let Some(time) = link.held_back_until() {
            self.agenda.set(QDISC_TIMER + direction as u32, time);
        }
        if let Some(packet) = sent {
            let route = self.ways[packet.flow as usize].pipes[direction.index()];
            let pipe = &mut self.pipes[route as usize];
            let was_empty = pipe.head_time() == Instant::MAX;
            pipe.push(self.now, packet);
            if was_empty {
                self.agenda.set(PIPE + route, pipe.head_time());
            }
        }
    }

    /// A packet comes out of `pipe`; even pipes lead down.
    fn arrived(&mut self, pipe: usize) {
        if let Some(observer) = &self.observer
            && let Some(packet) = self.pipes[pipe].head()
        {
            tell(observer, self.now, Direction::BOTH[pipe % 2], Event::Arrived, packet);
        }
        let packet = self.pipes[pipe].pop();
        self.agenda.set(PIPE + pipe as u32, self.pipes[pipe].head_time());
        let Some(packet) = packet else { return };
        let direction = Direction::BOTH[pipe % 2];
        let index = packet.flow as usize;
        let arrived_at = if direction == self.ways[index].direction { RECEIVER } else { SENDER };
        match packet.body {
            Body::Tcp(segment) => {
                // One call for all connections: where there are two, the compiler inlines neither.
                let connection = match &mut self.flows[index].source {
                    Source::Bulk(bulk) => &mut bulk.ends[arrived_at],
                    Source::App(app) => match app.socket(direction, packet.hash, &self.sockets) {
                        Some(id) => &mut self.sockets[id].ends[direction.index()],
                        None => return, // its connection is over, and nobody listens
                    },
                    Source::Isochronous(_) => unreachable!("a flow's packets are its own"),
                };
                let handled = connection.handle_segment(self.now, &segment);
                let Source::Bulk(bulk) = &mut self.flows[index].source else {
                    return self.heard(index, direction, packet.hash, handled);
                };
                if let (Some(rtt), SENDER) = (handled.rtt, arrived_at) {
                    bulk.rtt.record(rtt);
                }
                self.pump(index, arrived_at, None);
            }
            Body::Datagram(datagram) => {
                let source = match &mut self.flows[index].source {
                    Source::Isochronous(source) => source,
                    Source::App(app) => {
                        app.handle_datagram(self.now, direction.index(), datagram.number, &mut self.sockets);
                        return self.serve(index);
                    }
                    Source::Bulk(_) => unreachable!("a flow's packets are its own"),
                };
                if arrived_at == SENDER {
                    source.returned(self.now, datagram.number);
                } else if source.arrived(self.now, datagram.number) {
                    self.send_datagram(index, direction.reverse(), datagram.number, datagram.dscp);
                }
            }
        }
    }

    /// The timer of end `end` of flow `index`.
    fn flow_timer(&mut self, index: usize, end: usize) {
        let now = self.now;
        let stopping = end == SENDER && now >= self.flows[index].stop;
        if stopping && self.flows[index].delivered_at_stop.is_none() {
            self.flows[index].delivered_at_stop = Some(self.totals(index).delivered_bytes);
        }
        let flow = &mut self.flows[index];
        let (direction, stop, dscp) = (flow.direction, flow.stop, flow.dscp);
        match &mut flow.source {
            Source::Bulk(bulk) => {
                if stopping && !bulk.closed {
                    bulk.closed = true;
                    if stop < Instant::ZERO + self.scenario.duration.0 {
                        bulk.ends[SENDER].close(); // at the end of the run everybody stops, and nobody closes
                    }
                }
                // Timers are lazy: the deadline may have moved on since this one was set.
                if bulk.ends[end].poll_timeout().is_some_and(|deadline| deadline <= now) {
                    bulk.ends[end].handle_timeout(now);
                }
                self.agenda.set(self.timer(index, end), Instant::MAX);
                self.pump(index, end, None);
            }
            Source::Isochronous(source) => {
                let number = (!stopping).then(|| source.send());
                let next = if stopping { Instant::MAX } else { source.next_time().min(stop) };
                self.agenda.set(self.timer(index, end), next);
                if let Some(number) = number {
                    self.send_datagram(index, direction, number, dscp);
                }
            }
            Source::App(app) => {
                app.handle_timeout(now, stop, &mut self.sockets);
                self.serve(index);
            }
        }
    }

    fn timer(&self, index: usize, end: usize) -> Component {
        PIPE + (self.pipes.len() + 2 * index + end) as u32
    }

    /// Lets end `end` of TCP flow `index` send what it may, and sets its timer. An application's flow says of which
    /// connection.
    fn pump(&mut self, index: usize, end: usize, socket: Option<SocketId>) {
        let way = &self.ways[index];
        let (connection, direction, hash, timer, stop) = match (&mut self.flows[index].source, socket) {
            (Source::Bulk(bulk), _) => {
                let direction = if end == SENDER { way.direction } else { way.direction.reverse() };
                let stop = if end == SENDER && !bulk.closed { way.stop } else { Instant::MAX };
                let timer = PIPE + (self.pipes.len() + 2 * index + end) as u32;
                (&mut bulk.ends[end], direction, way.hash, timer, stop)
            }
            (Source::App(_), Some(id)) => {
                let timer = PIPE + (self.pipes.len() + 2 * (self.ways.len() + id as usize) + end) as u32;
                let socket = &mut self.sockets[id];
                (&mut socket.ends[end], Direction::BOTH[end].reverse(), socket.hash, timer, Instant::MAX)
            }
            _ => return,
        };
        let link = &mut self.links[direction.index()];
        let (flow, hash) = (index as u32, hash[direction.index()]);
        while let Some(mut segment) = connection.poll_transmit(self.now) {
            segment.dscp = way.dscp;
            let packet = Packet { arrival: self.now, flow, hash, body: Body::Tcp(segment) };
            offer(link, &mut self.agenda, self.now, direction, packet);
        }
        let deadline = connection.poll_timeout().unwrap_or(Instant::MAX).min(stop);
        // Only ever earlier here: a deadline that has moved on is found out when the timer fires.
        if deadline < self.agenda.time(timer) {
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
        offer(&mut self.links[direction.index()], &mut self.agenda, self.now, direction, packet);
    }

    fn beat(&mut self) {
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
        let link = &mut self.links[change.direction.index()];
        let rate = change.rate.map(|rate| rate.0);
        match link.change(self.now, rate, change.qdisc.as_deref()) {
            Ok(Some(free)) => self.agenda.set(WIRE + change.direction as u32, free),
            Ok(None) => {}
            Err(error) => unreachable!("resolve_changes has tried it: {error}"),
        }
        let timer = link.qdisc.next_timer().unwrap_or(Instant::MAX);
        self.agenda.set(QDISC_TIMER + change.direction as u32, timer);
    }

    /// What flow `index` has done so far.
    pub(crate) fn totals(&self, index: usize) -> crate::flow::Totals {
        let flow = &self.flows[index];
        flow.totals(self.links[flow.direction.index()].fates.flows[index], &self.sockets)
    }

    /// Measuring begins.
    fn warmed_up(&mut self) {
        for (link, baseline) in self.links.iter_mut().zip(&mut self.baseline) {
            link.delays.reset();
            *baseline = Baseline {
                counts: link.counts(),
                busy: link.busy_until(self.now),
                drops: link.fates.drops.to_vec(),
                marks: link.fates.marks.to_vec(),
            };
        }
        for index in 0..self.flows.len() {
            let totals = self.totals(index);
            let flow = &mut self.flows[index];
            flow.baseline = totals;
            flow.bins.start(totals.delivered_bytes);
            match &mut flow.source {
                Source::Bulk(bulk) => bulk.rtt.reset(),
                Source::Isochronous(source) => source.measure_from_now(),
                Source::App(app) => app.measure_from(self.now),
            }
        }
    }

    fn end_interval(&mut self) {
        let Some(interval) = self.scenario.series.as_ref().and_then(|series| series.interval) else { return };
        self.interval_ends.push(self.now);
        for (link, series) in self.links.iter().zip(&mut self.queue_series) {
            let mut pick = Pick { name: "drop_probability", value: None };
            link.qdisc.probe(&mut pick);
            series.end_interval(link.delay_totals(), link.qdisc.backlog().packets, pick.value);
        }
        for index in 0..self.flows.len() {
            let totals = self.totals(index);
            let echoes = match &self.flows[index].source {
                Source::Isochronous(source) => source.echoes,
                Source::Bulk(_) | Source::App(_) => Default::default(),
            };
            let totals =
                FlowTotals { delivered_bytes: totals.delivered_bytes, dropped: totals.fates.dropped, echoes };
            let sender = self.flows[index].sender(&self.sockets);
            self.flow_series[index].end_interval(totals, sender, interval.0);
        }
    }
}

/// Offers `packet` to the link of `direction`, and plans what follows from it.
#[inline]
fn offer(link: &mut Link, agenda: &mut Agenda, now: Instant, direction: Direction, packet: Packet) {
    if let Some(free) = link.offer(now, packet) {
        agenda.set(WIRE + direction as u32, free);
    } else if let Some(time) = link.held_back_until() {
        agenda.set(QDISC_TIMER + direction as u32, time);
    }
}

/// A pipe each way for every distinct base RTT (even ones lead down), and which of them each flow takes.
fn pipes(flows: &[Flow]) -> (Vec<Pipe>, Vec<Way>) {
    let mut index_of = std::collections::BTreeMap::new();
    let mut pipes = Vec::new();
    let mut ways = Vec::new();
    for flow in flows {
        let first = *index_of.entry(flow.rtt).or_insert_with(|| {
            let down = flow.rtt / 2;
            pipes.extend([Pipe::new(down), Pipe::new(flow.rtt - down)]);
            pipes.len() as u32 - 2
        });
        let &Flow { hash, dscp, stop, direction, .. } = flow;
        ways.push(Way { pipes: [first, first + 1], hash, dscp, stop, direction });
    }
    (pipes, ways)
}
