//! A path with more than its bottlenecks: hops in a row, and the hops that each flow's packets cross.
//!
//! The bottlenecks stay in [`Simulation::links`](super::Simulation), as in a dumbbell.
//! [`Simulation::enter`](super::Simulation) hands a packet over from one hop to the next. From the last hop the
//! packet goes into a pipe of the bottleneck's direction, as if it came from the bottleneck. So hosts receive packets
//! only from these pipes.

use super::complete::Cards;
use super::places::{Part, Places};
use crate::agenda::Agenda;
use crate::component::Component;
use crate::freed::Freed;
use crate::ids::{FanId, FlowId, HopId, LinkId, Number, PartId, PipeId, RouteId};
use crate::link::Link;
use crate::lists::{ByDirection, List, PerFlow, PerHop};
use crate::packet::Packet;
use crate::path::kind::Element;
use crate::path::netem::{Accepted, WireCounts};
use crate::pipe::{Exit, Fan, Pipes};
use crate::scenario::{BOTTLENECK, Scenario};
use crate::wifi::cell::Cell;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::Values;
use goodqueue_qdisc::Enqueued;
use goodqueue_units::{Duration, Instant};
use std::collections::BTreeMap;

/// The next stop of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Node {
    /// The link that is the bottleneck of the packet's direction.
    Bottleneck,
    /// The cell that is the bottleneck of both directions.
    Cell,
    /// The host that receives the packet.
    Host,
    Hop(HopId),
}

/// A hop beside the bottlenecks.
pub(crate) struct HopState {
    pub(crate) body: Body,
    /// Packets lost in the hop. A link counts its own.
    pub(crate) lost: PerFlow<u64>,
    /// The counts of an element when measuring began.
    pub(crate) baseline: WireCounts,
    /// Its first component in the agenda.
    component: Component,
}

/// The two sorts of hops.
#[allow(clippy::large_enum_variant)] // a few in a run
pub(crate) enum Body {
    Link(Link),
    Element(Box<dyn Element>),
}

/// The hops of a run, and the ways through them.
pub(crate) struct Row {
    pub(crate) hops: PerHop<HopState>,
    /// The part that each component of the row stands for, from the row's first component on.
    parts: List<PartId, Part>,
    route_of: PerFlow<RouteId>,
    routes: List<RouteId, Route>,
    /// The pipe in which each flow's packets end.
    exits: ByDirection<PerFlow<Exit>>,
    /// The queue of each flow's sender.
    senders: ByDirection<PerFlow<OwnQueue>>,
    /// Whether senders may be told of freed packets. It is false if no sender waits for them, and while senders are
    /// being told: the loop that tells them also finds what is freed meanwhile.
    pub(super) may_tell: bool,
    /// The cell, if the bottleneck is one.
    pub(crate) cell: Option<Box<Cell>>,
    pub(crate) cards: Cards,
}

/// The queue into which the host of a flow's sender hands packets.
#[derive(Clone, Copy, Debug, Default)]
struct OwnQueue {
    /// The first hop is a queue of that host (`[[host]]`).
    exists: bool,
    /// TCP has small queues there.
    is_small: bool,
    /// TCP hands down packets of several segments as one.
    takes_whole: bool,
}

/// The exit of flows whose packets go on to another hop.
const ONWARD: Exit = Exit::Pipe(PipeId::ONWARD);

/// The nodes that packets cross.
type Route = ByDirection<Vec<Node>>;

/// The ways of all flows, before links and hops are built.
pub(super) struct Routes {
    of_flow: PerFlow<RouteId>,
    routes: List<RouteId, Route>,
    exits: ByDirection<PerFlow<Exit>>,
    senders: ByDirection<PerFlow<OwnQueue>>,
    /// Delays of the pipes.
    delays: ByDirection<List<PipeId, Duration>>,
    /// The fans of flows whose connections have their own base RTTs.
    fans: ByDirection<List<FanId, Fan>>,
    /// The pipe without delay from the cards of hosts that receive packets of each direction.
    pub(super) exits_of_cards: ByDirection<Option<PipeId>>,
}

impl Routes {
    /// Plans the ways of `scenario`. `rtts` has the least and the greatest base RTT of each flow.
    pub(super) fn new(scenario: &Scenario, rtts: &[(Duration, Duration)]) -> Self {
        let (mut of_flow, mut routes) = (PerFlow::default(), List::<RouteId, Route>::default());
        let bottleneck = if scenario.bottleneck.wifi.is_some() { Node::Cell } else { Node::Bottleneck };
        let hops = &scenario.hops;
        let has_queue = |node: &Node| match *node {
            Node::Hop(hop) => hops.list[hop].link.is_some(),
            node => node != Node::Host,
        };
        let mut senders = ByDirection::of(|_| PerFlow::default());
        for traffic in &scenario.traffic {
            let route = ByDirection::of(|direction| {
                let row = hops.rows[direction].iter().map(|place| match *place {
                    None => (traffic.crosses(BOTTLENECK), bottleneck),
                    Some(hop) => (hops.list[hop].is_crossed_by(traffic), Node::Hop(hop)),
                });
                row.filter(|(crosses, _)| *crosses).map(|(_, node)| node).collect::<Vec<_>>()
            });
            for direction in Direction::ALL {
                let host = hops.host_of(traffic, direction.sender());
                let own = host.filter(|_| route[direction].first().is_some_and(has_queue));
                let own = own.map_or(OwnQueue::default(), |host| OwnQueue {
                    exists: true,
                    is_small: host.small_queues.is_some(),
                    // mac80211 cuts packets before it queues them
                    takes_whole: host.gso && route[direction].first() != Some(&Node::Cell),
                });
                senders[direction].extend(std::iter::repeat_n(own, traffic.count as usize));
            }
            let known = routes.numbered().find(|(_, known)| **known == route).map(|(id, _)| id);
            let id = known.unwrap_or_else(|| routes.push(route));
            of_flow.extend(std::iter::repeat_n(id, traffic.count as usize));
        }
        let (exits, delays) = (ByDirection::of(|_| PerFlow::default()), ByDirection::of(|_| List::default()));
        let fans = ByDirection::of(|_| List::default());
        let exits_of_cards = ByDirection::of(|_| None);
        let mut routes = Self { of_flow, routes, exits, senders, delays, fans, exits_of_cards };
        for direction in Direction::ALL {
            routes.plan_exits(direction, rtts);
            let delays = &mut routes.delays[direction];
            routes.exits_of_cards[direction] =
                Cards::is_at_host(scenario, direction).then(|| delays.push(Duration::ZERO));
        }
        routes
    }

    /// Plans one pipe per last node and base RTT, in the order of the flows. Packets of senders that wait enter it at
    /// the end of their transmission, others at the beginning, so each have their own.
    fn plan_exits(&mut self, direction: Direction, rtts: &[(Duration, Duration)]) {
        let mut numbers = BTreeMap::new();
        for ((flow, &route), &rtt) in self.of_flow.numbered().zip(rtts) {
            let last = self.routes[route][direction].last().copied().unwrap_or(Node::Host);
            let waits = self.waits_at(Node::Bottleneck, flow, route, direction);
            let delays = &mut self.delays[direction];
            let exit = *numbers.entry((last, waits, rtt)).or_insert_with(|| {
                let first = PipeId::at(delays.len());
                delays.extend(rtts_between(rtt).map(|rtt| direction.half_of(rtt)));
                match (delays.len() - first.index()) as u32 {
                    1 => Exit::Pipe(first),
                    count => Exit::Fan(self.fans[direction].push(Fan { first, count })),
                }
            });
            self.exits[direction].push(exit);
        }
    }

    /// Builds the pipes of `direction`. The bottleneck knows the pipes of flows that end behind it.
    pub(super) fn pipes(&self, direction: Direction) -> Pipes {
        let ends_at_bottleneck =
            |route: RouteId| self.routes[route][direction].last().copied() == Some(Node::Bottleneck);
        let of_flow = self.of_flow.numbered().zip(self.exits[direction].iter());
        let of_flow = of_flow.map(|((flow, &route), &exit)| {
            let waits = self.waits_at(Node::Bottleneck, flow, route, direction);
            if ends_at_bottleneck(route) && !waits { exit } else { ONWARD }
        });
        let (delays, fans) = (self.delays[direction].iter().copied(), self.fans[direction].clone());
        Pipes::new(direction, delays, of_flow.collect(), fans)
    }

    /// Builds the pipes of a hop of `direction`. All of them lead on to another hop.
    pub(super) fn onward(&self, direction: Direction) -> Pipes {
        let of_flow = vec![ONWARD; self.of_flow.len()].into();
        Pipes::new(direction, std::iter::empty(), of_flow, List::default())
    }

    /// Returns whether the sender of `flow` has small queues and `node` is its first queue. The end of each
    /// transmission there then is an event.
    fn waits_at(&self, node: Node, flow: FlowId, route: RouteId, direction: Direction) -> bool {
        self.senders[direction][flow].is_small && self.routes[route][direction].first() == Some(&node)
    }

    /// Returns whether the first hop of any sender is a queue of its own host.
    pub(super) fn have_own_queues(&self) -> bool {
        self.senders.iter().any(|of_flow| of_flow.iter().any(|own| own.exists))
    }

    /// Returns what tells senders that packets have left `node`, if it is the first queue of a sender that waits.
    pub(super) fn freed(&self, direction: Direction, node: Node) -> Option<Box<Freed>> {
        let all = self.of_flow.numbered();
        let begins: PerFlow<bool> =
            all.map(|(flow, &route)| self.waits_at(node, flow, route, direction)).collect();
        begins.iter().any(|begins| *begins).then(|| Freed::new(begins))
    }

    /// Returns the number of flows.
    pub(super) fn flows(&self) -> usize {
        self.of_flow.len()
    }

    /// Returns the number of pipes of the direction that has more.
    pub(super) fn most_pipes(&self) -> usize {
        self.delays.iter().map(List::len).max().unwrap_or(0)
    }

    /// Builds the row of these ways through `hops`, which act at the components that `places` planned.
    pub(super) fn row(self, hops: PerHop<HopState>, cell: Option<Cell>, cards: Cards, places: Places) -> Row {
        let Self { of_flow: route_of, routes, exits, senders, .. } = self;
        let (parts, cell) = (places.into_parts(), cell.map(Box::new));
        let may_tell = senders.iter().any(|of_flow| of_flow.iter().any(|own| own.is_small));
        Row { hops, parts, route_of, routes, exits, senders, may_tell, cell, cards }
    }
}

/// Returns the base RTTs from the first to the second, one millisecond apart, or the one RTT if both are equal.
fn rtts_between((least, most): (Duration, Duration)) -> impl Iterator<Item = Duration> {
    let steps = most.saturating_sub(least).as_nanos() / 1_000_000;
    (0..=steps).map(move |step| least + Duration::from_millis(step))
}

impl Row {
    /// Returns the first node of packets of `flow`.
    pub(super) fn entry(&self, flow: FlowId, direction: Direction) -> Node {
        let route = &self.routes[self.route_of[flow]][direction];
        route.first().copied().unwrap_or(Node::Host)
    }

    /// Returns the link into which a host sends packets of `flow`: the bottleneck, or a gate that leads to the flow's
    /// first hop. One before a card has a gate in any case.
    pub(super) fn first_link(&self, flow: FlowId, direction: Direction) -> LinkId {
        match self.entry(flow, direction) {
            node @ Node::Bottleneck if self.cards.before(node, direction).is_none() => {
                LinkId::bottleneck(direction)
            }
            _ => LinkId::gate(direction),
        }
    }

    /// Returns whether the first hop of any sender is a queue of its own host.
    pub(super) fn have_own_queues(&self) -> bool {
        self.senders.iter().any(|of_flow| of_flow.iter().any(|own| own.exists))
    }

    /// Returns whether the first hop of packets of `flow` is a queue of their sender's host.
    pub(super) fn has_own_queue(&self, flow: FlowId, direction: Direction) -> bool {
        self.senders[direction][flow].exists
    }

    /// Returns whether the queue of the sender's host takes packets of several segments of `flow` as one.
    pub(super) fn takes_whole(&self, flow: FlowId, direction: Direction) -> bool {
        self.senders[direction][flow].takes_whole
    }

    /// Returns the node of packets of `flow` after `node`.
    pub(super) fn next(&self, flow: FlowId, direction: Direction, node: Node) -> Node {
        let route = &self.routes[self.route_of[flow]][direction];
        let place = route.iter().position(|one| *one == node);
        place.and_then(|place| route.get(place + 1)).copied().unwrap_or(Node::Host)
    }

    /// Returns the pipe in which packets of `flow` end.
    pub(super) fn exit(&self, flow: FlowId, direction: Direction) -> Exit {
        self.exits[direction][flow]
    }

    /// Returns the part `id` of the row.
    pub(super) fn part(&self, id: PartId) -> Part {
        self.parts[id]
    }

    /// Plans the first actions of the row's parts.
    pub(super) fn plan(&self, agenda: &mut Agenda) {
        self.links().for_each(|link| link.plan_timer(Instant::ZERO, agenda));
        self.cell.iter().for_each(|cell| cell.plan(agenda));
    }

    /// Returns the links among the hops.
    pub(super) fn links(&self) -> impl Iterator<Item = &Link> {
        self.hops.iter().filter_map(HopState::link)
    }

    /// Returns the links among the hops, to change them.
    pub(super) fn links_mut(&mut self) -> impl Iterator<Item = &mut Link> {
        self.hops.iter_mut().filter_map(HopState::link_mut)
    }

    /// Returns the packets of `flow` that were dropped or lost in the hops of `direction`.
    pub(super) fn dropped(&self, flow: FlowId, direction: Direction, scenario: &Scenario) -> u64 {
        let of_direction =
            scenario.hops.list.iter().zip(self.hops.iter()).filter(|(hop, _)| hop.direction == direction);
        of_direction.map(|(_, state)| state.dropped(flow)).sum()
    }
}

impl HopState {
    pub(super) fn new(body: Body, flows: usize, component: Component) -> Self {
        let lost = if matches!(body, Body::Element(_)) { vec![0; flows] } else { Vec::new() }.into();
        Self { body, lost, baseline: WireCounts::default(), component }
    }

    fn dropped(&self, flow: FlowId) -> u64 {
        match &self.body {
            Body::Link(link) => link.ledger.fates.dropped[flow],
            Body::Element(_) => self.lost[flow],
        }
    }

    /// Takes `packet`, which arrives now. Returns the answer of the discipline, if there is one.
    pub(super) fn enter(&mut self, now: Instant, packet: Packet, agenda: &mut Agenda) -> Enqueued {
        match &mut self.body {
            Body::Link(link) => {
                link.settle(now, agenda);
                link.offer_merged(now, Packet { arrival: now, ..packet }, agenda)
            }
            Body::Element(element) => {
                let Accepted { lost, duplicated } = element.accept(now, packet);
                if let Some(envelope) = packet.envelope().filter(|_| duplicated) {
                    envelope.doubled();
                }
                if lost {
                    self.lost[packet.flow] += 1;
                    if let Some(envelope) = packet.envelope() {
                        envelope.over();
                    }
                }
                agenda.set(self.component, element.next_time().unwrap_or(Instant::MAX));
                Enqueued::Success
            }
        }
    }

    /// Lets `part` of the hop act. Returns the packet that comes out now, if there is one.
    pub(super) fn act(&mut self, part: Part, now: Instant, agenda: &mut Agenda) -> Option<Packet> {
        match (&mut self.body, part) {
            (Body::Link(link), Part::Timer(_)) => link.on_timer(now, agenda),
            (Body::Link(link), Part::Wire(_)) => link.settle(now, agenda),
            (Body::Link(link), _) => return link.take_onward(now, agenda),
            (Body::Element(element), _) => {
                let packet = element.release(now);
                agenda.set(self.component, element.next_time().unwrap_or(Instant::MAX));
                return packet;
            }
        }
        None
    }

    /// Changes a hop without a queue to `values`.
    pub(super) fn change(&mut self, values: &Values) {
        if let Body::Element(element) = &mut self.body {
            element.change(values);
        }
    }

    /// Begins the measured time of a hop without a queue.
    pub(super) fn begin_measuring(&mut self) {
        if let Body::Element(element) = &self.body {
            self.baseline = element.counts();
        }
    }

    /// Returns its link, if it is one.
    pub(crate) fn link(&self) -> Option<&Link> {
        match &self.body {
            Body::Link(link) => Some(link),
            Body::Element(_) => None,
        }
    }

    /// Returns the link, to change it.
    pub(crate) fn link_mut(&mut self) -> Option<&mut Link> {
        match &mut self.body {
            Body::Link(link) => Some(link),
            Body::Element(_) => None,
        }
    }
}
