//! A path that is more than its bottlenecks: hops in a row, and which of them each flow's packets take.
//!
//! The bottlenecks stay in [`Simulation::links`](super::Simulation), where a dumbbell has all that it has. A packet that goes
//! on from one hop to another is handed over by [`Simulation::forward`](super::Simulation); from the last hop it goes into a pipe
//! of the bottleneck's direction, as if it came from there, so that hosts hear from nowhere else.

use crate::agenda::{Agenda, Component};
use crate::link::{Link, Parts};
use crate::packet::Packet;
use crate::path::kind::Element;
use crate::path::netem::WireCounts;
use crate::pipe::{FAN, Fan, ONWARD, Pipes};
use crate::probe::series::QueueSeries;
use crate::scenario::{BOTTLENECK, Direction, Scenario};
use crate::sim::Baseline;
use goodqueue_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The place of the first gate among the links.
pub(super) const GATES: usize = 2;

/// Where a packet goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Node {
    /// The bottleneck of its direction.
    Bottleneck,
    /// The hop at this place of the scenario's list.
    Hop(usize),
    /// Its host.
    Host,
}

/// A hop beside the bottlenecks.
pub(crate) struct HopState {
    pub(crate) body: Body,
    /// Packets lost in it, by flow; a link's are in its own books.
    pub(crate) lost: Vec<u64>,
    pub(crate) baseline: HopBaseline,
    pub(crate) series: QueueSeries,
    /// Its first place in the agenda.
    component: Component,
}

/// Its totals when measuring began.
#[derive(Default)]
pub(crate) struct HopBaseline {
    pub(crate) link: Baseline,
    pub(crate) element: WireCounts,
}

/// What a hop is.
#[allow(clippy::large_enum_variant)] // a few in a run
pub(crate) enum Body {
    Link(Link),
    Element(Box<dyn Element>),
}

/// What acts at a component of a row.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// Packets go on from a bottleneck.
    BottleneckOnward(usize),
    /// The wire of a gate; its discipline has no timer.
    GateWire(usize),
    /// Packets go on from a gate to their first hop.
    GateOnward(usize),
    /// The timer of a hop's discipline.
    Timer(usize),
    /// A hop's wire.
    Wire(usize),
    /// Packets go on from a hop that is a link.
    Onward(usize),
    /// Packets come out of a hop that is no link.
    Release(usize),
}

/// The hops of a run, and the ways through them.
pub(crate) struct Row {
    pub(crate) hops: Vec<HopState>,
    /// What acts at each component from the row's first on.
    parts: Vec<Part>,
    /// For each flow, the number of its way.
    way_of_flow: Vec<u32>,
    /// The nodes of each way, a direction each.
    ways: Vec<[Vec<Node>; 2]>,
    /// For each flow and direction the pipe that it ends in.
    exits: [Vec<u32>; 2],
}

/// The ways of all flows, before anything is built.
pub(super) struct Ways {
    of_flow: Vec<u32>,
    nodes: Vec<[Vec<Node>; 2]>,
    exits: [Vec<u32>; 2],
    /// Delays of the pipes of each direction.
    delays: [Vec<Duration>; 2],
    /// Of flows whose connections have base RTTs of their own, a direction each.
    fans: [Vec<Fan>; 2],
}

impl Ways {
    /// Plans the ways of `scenario`, whose flows have the base RTTs `rtts`, one each or from the first to the second.
    pub(super) fn new(scenario: &Scenario, rtts: &[(Duration, Duration)]) -> Self {
        let mut of_flow = Vec::with_capacity(rtts.len());
        let mut nodes: Vec<[Vec<Node>; 2]> = Vec::new();
        for traffic in &scenario.traffic {
            let way = Direction::ALL.map(|direction| {
                let row = scenario.hops.rows[direction.index()].iter().map(|place| match *place {
                    None => (BOTTLENECK, Node::Bottleneck),
                    Some(hop) => (scenario.hops.list[hop].name.as_str(), Node::Hop(hop)),
                });
                row.filter(|(name, _)| traffic.crosses(name)).map(|(_, node)| node).collect::<Vec<_>>()
            });
            let number = nodes.iter().position(|known| *known == way).unwrap_or_else(|| {
                nodes.push(way);
                nodes.len() - 1
            });
            of_flow.extend(std::iter::repeat_n(number as u32, traffic.count as usize));
        }
        let mut ways = Self {
            of_flow,
            nodes,
            exits: Default::default(),
            delays: Default::default(),
            fans: Default::default(),
        };
        for direction in Direction::ALL {
            ways.plan_exits(direction, rtts);
        }
        ways
    }

    /// A pipe for each last node and each base RTT, in the order of the flows.
    fn plan_exits(&mut self, direction: Direction, rtts: &[(Duration, Duration)]) {
        let end = direction.index();
        let mut numbers = BTreeMap::new();
        for (&way, &rtt) in self.of_flow.iter().zip(rtts) {
            let last = self.nodes[way as usize][end].last().copied().unwrap_or(Node::Host);
            let number = *numbers.entry((key(last), rtt)).or_insert_with(|| {
                let first = self.delays[end].len() as u32;
                let each = rtts_between(rtt);
                self.delays[end].extend(
                    each.map(|rtt| if direction == Direction::Down { rtt / 2 } else { rtt - rtt / 2 }),
                );
                let count = self.delays[end].len() as u32 - first;
                if count == 1 {
                    return first;
                }
                self.fans[end].push(Fan { first, count });
                FAN + self.fans[end].len() as u32 - 1
            });
            self.exits[end].push(number);
        }
    }

    /// The pipes of `direction`; the bottleneck knows those of the flows that end behind it.
    pub(super) fn pipes(&self, direction: Direction) -> Pipes {
        let end = direction.index();
        let ends_at_bottleneck =
            |way: u32| self.nodes[way as usize][end].last().copied() == Some(Node::Bottleneck);
        let of_flow = self.of_flow.iter().zip(&self.exits[end]);
        let of_flow = of_flow.map(|(&way, &exit)| if ends_at_bottleneck(way) { exit } else { ONWARD });
        Pipes::new(direction, self.delays[end].iter().copied(), of_flow.collect(), self.fans[end].clone())
    }

    /// Pipes of a hop of `direction`, which all lead on.
    pub(super) fn onward(&self, direction: Direction) -> Pipes {
        Pipes::new(direction, std::iter::empty(), vec![ONWARD; self.of_flow.len()], Vec::new())
    }

    /// How many flows there are.
    pub(super) fn flows(&self) -> usize {
        self.of_flow.len()
    }

    /// The row of these ways through `hops`, which act at the components that `places` planned.
    pub(super) fn row(self, hops: Vec<HopState>, places: &Places) -> Row {
        let Self { of_flow, nodes, exits, .. } = self;
        Row { hops, parts: places.parts.clone(), way_of_flow: of_flow, ways: nodes, exits }
    }
}

/// The base RTTs from the first to the second, a millisecond apart; where they are one, that one.
fn rtts_between((least, most): (Duration, Duration)) -> impl Iterator<Item = Duration> {
    let steps = most.saturating_sub(least).as_nanos() / 1_000_000;
    (0..=steps).map(move |step| least + Duration::from_millis(step))
}

/// A number for a node, so that a map can be ordered by it.
fn key(node: Node) -> usize {
    match node {
        Node::Bottleneck => 0,
        Node::Host => 1,
        Node::Hop(hop) => 2 + hop,
    }
}

/// The components of a row, in their order in the agenda.
pub(super) struct Places {
    pub(super) first: Component,
    parts: Vec<Part>,
}

impl Places {
    /// Components from `first` on, for the two bottlenecks' ways onward; none where there is no row.
    pub(super) fn new(first: Component, has_row: bool) -> Self {
        let bottlenecks = if has_row { 2 } else { 0 };
        Self { first, parts: (0..bottlenecks).map(Part::BottleneckOnward).collect() }
    }

    fn next(&self) -> Component {
        self.first + self.parts.len() as Component
    }

    /// The places of the gate of `direction`.
    pub(super) fn gate(&mut self, direction: Direction) -> Parts {
        let (wire, end) = (self.next(), direction.index());
        self.parts.extend([Part::GateWire(end), Part::GateOnward(end)]);
        Parts { timer: wire, wire, onward: wire + 1 }
    }

    /// The places of the hop `number`, if it is a link.
    pub(super) fn link(&mut self, number: usize) -> Parts {
        let timer = self.next();
        self.parts.extend([Part::Timer(number), Part::Wire(number), Part::Onward(number)]);
        Parts { timer, wire: timer + 1, onward: timer + 2 }
    }

    /// The place of the hop `number`, if it is none.
    pub(super) fn element(&mut self, number: usize) -> Component {
        let release = self.next();
        self.parts.push(Part::Release(number));
        release
    }

    /// How many components there are.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }
}

impl Row {
    /// Where packets of `flow` go first.
    pub(super) fn entry(&self, flow: usize, direction: Direction) -> Node {
        let way = &self.ways[self.way_of_flow[flow] as usize][direction.index()];
        way.first().copied().unwrap_or(Node::Host)
    }

    /// The link that a host sends packets of `flow` into: the bottleneck, or a gate, which leads to the flow's first hop.
    pub(super) fn first_link(&self, flow: usize, direction: Direction) -> u8 {
        let gate = if self.entry(flow, direction) == Node::Bottleneck { 0 } else { GATES };
        (gate + direction.index()) as u8
    }

    /// Where packets of `flow` go after `node`.
    pub(super) fn next(&self, flow: usize, direction: Direction, node: Node) -> Node {
        let way = &self.ways[self.way_of_flow[flow] as usize][direction.index()];
        let place = way.iter().position(|one| *one == node);
        place.and_then(|place| way.get(place + 1)).copied().unwrap_or(Node::Host)
    }

    /// The pipe that packets of `flow` end in.
    pub(super) fn exit(&self, flow: usize, direction: Direction) -> u32 {
        self.exits[direction.index()][flow]
    }

    /// What acts at the `place`-th component of the row.
    pub(super) fn part(&self, place: usize) -> Part {
        self.parts[place]
    }

    /// Packets of `flow` that were dropped or lost in the hops of `direction`.
    pub(super) fn dropped(&self, flow: usize, direction: Direction, scenario: &Scenario) -> u64 {
        let of_way = scenario.hops.list.iter().zip(&self.hops).filter(|(hop, _)| hop.direction == direction);
        of_way.map(|(_, state)| state.dropped(flow)).sum()
    }
}

impl HopState {
    pub(super) fn new(body: Body, flows: usize, component: Component, law: bool) -> Self {
        let lost = if matches!(body, Body::Element(_)) { vec![0; flows] } else { Vec::new() };
        let series = QueueSeries::new(law);
        Self { body, lost, baseline: HopBaseline::default(), series, component }
    }

    fn dropped(&self, flow: usize) -> u64 {
        match &self.body {
            Body::Link(link) => link.fates.dropped[flow],
            Body::Element(_) => self.lost[flow],
        }
    }

    /// Takes `packet`, which arrives now.
    pub(super) fn enter(&mut self, now: Instant, packet: Packet, agenda: &mut Agenda) {
        match &mut self.body {
            Body::Link(link) => {
                link.settle(now, agenda);
                link.offer(now, Packet { arrival: now, ..packet }, agenda);
            }
            Body::Element(element) => {
                if element.accept(now, packet).lost {
                    self.lost[packet.flow as usize] += 1;
                }
                agenda.set(self.component, element.next_time().unwrap_or(Instant::MAX));
            }
        }
    }

    /// The packet that comes out now, if it is no link.
    pub(super) fn release(&mut self, now: Instant, agenda: &mut Agenda) -> Option<Packet> {
        let Body::Element(element) = &mut self.body else { return None };
        let packet = element.release(now);
        agenda.set(self.component, element.next_time().unwrap_or(Instant::MAX));
        packet
    }

    /// Measuring begins.
    pub(super) fn warmed_up(&mut self, now: Instant) {
        match &mut self.body {
            Body::Link(link) => self.baseline.link = Baseline::of(link, now),
            Body::Element(element) => self.baseline.element = element.counts(),
        }
    }

    /// Its link, if it is one.
    pub(crate) fn link(&self) -> Option<&Link> {
        match &self.body {
            Body::Link(link) => Some(link),
            Body::Element(_) => None,
        }
    }

    /// As [`link`](Self::link).
    pub(crate) fn link_mut(&mut self) -> Option<&mut Link> {
        match &mut self.body {
            Body::Link(link) => Some(link),
            Body::Element(_) => None,
        }
    }
}
