//! Builds a scenario's path: its links, hops and cell.

use super::complete::{self, Cards, OfFlows};
use super::places::Places;
use super::row::{Body, HopState, Node, Routes, Row};
use crate::component::{Component, Components};
use crate::foreign::{Discipline, Maker, Request};
use crate::headers::FlowHeaders;
use crate::hosts::Hosts;
use crate::ids::{HopId, LinkId, Number};
use crate::ledger::{Fates, Ledger, Queue};
use crate::link::{Below, Link, Parts};
use crate::lists::{List, PerHop};
use crate::observer::Watch;
use crate::path::access::Draws;
use crate::path::kind::Make;
use crate::path::transmitter::Transmitter;
use crate::pipe::Pipes;
use crate::probe::series::PacketLog;
use crate::ring::Ring;
use crate::scenario::{Line, LinkSpec, Scenario};
use crate::wifi::cell::Cell;
use crate::wifi::node::Above;
use crate::wifi::spec::WifiSpec;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::{FRAME_BYTES, MOST_RATE, ScenarioError};
use goodqueue_qdisc::sched::mac80211::{AIRTIME, Txqs};
use goodqueue_qdisc::{AnyQdisc, registry};
use goodqueue_units::{Duration, Instant, Stream, Streams};

/// Builds what `scenario` describes. `make` makes the disciplines outside the registry.
pub(super) struct Build<'a, 'b> {
    pub(super) scenario: &'a mut Scenario,
    pub(super) make: &'a mut Maker<'b>,
    /// The hosts of the flows, if the scenario names any.
    pub(super) hosts: Option<Hosts>,
    pub(super) headers: FlowHeaders,
    /// The subscriber of each flow, if there are any.
    pub(super) subscribers: Option<OfFlows>,
}

/// The place of a link in a scenario.
#[derive(Clone, Copy)]
enum Place {
    Bottleneck(Direction),
    /// The link of a hop, and its direction.
    Hop(HopId, Direction),
}

impl Place {
    /// Returns the direction of the link, and its number among all links.
    fn number(self) -> (Direction, u64) {
        match self {
            Self::Bottleneck(direction) => (direction, direction as u64),
            Self::Hop(hop, direction) => (direction, 2 + hop.index() as u64),
        }
    }
}

/// What packets cross, and the entries of its parts in the agenda.
pub(super) struct Path {
    /// The links into which hosts send: the bottlenecks, and gates if there is a row.
    pub(super) links: List<LinkId, Link>,
    pub(super) row: Option<Box<Row>>,
    pub(super) components: Components,
}

impl Build<'_, '_> {
    /// Builds the path of flows whose least and greatest base RTTs are `rtts`.
    ///
    /// # Errors
    /// The errors of a discipline or its maker.
    pub(super) fn path(&mut self, rtts: &[(Duration, Duration)]) -> Result<Path, ScenarioError> {
        let routes = Routes::new(self.scenario, rtts);
        let pipes = routes.most_pipes();
        let components = |parts| Components::new(pipes, parts, routes.flows());
        let wifi = self.scenario.bottleneck.wifi.clone();
        let mut links = List::default();
        let is_bare = self.scenario.hops.list.len() == 0 && wifi.is_none();
        if is_bare && !routes.have_own_queues() && !Cards::are_in(self.scenario) {
            for direction in Direction::ALL {
                // No packet goes onward, so nothing is planned for it.
                let parts = Parts::of_bottleneck(direction, Component::wire(direction));
                links.push(self.link(Place::Bottleneck(direction), parts, routes.pipes(direction))?);
            }
            return Ok(Path { links, row: None, components: components(0) });
        }
        let mut places = Places::new(pipes);
        for direction in Direction::ALL {
            let (parts, pipes) = (places.bottleneck(direction), routes.pipes(direction));
            links.push(match &wifi {
                None => {
                    let mut link = self.link(Place::Bottleneck(direction), parts, pipes)?;
                    link.ledger.fates.freed = routes.freed(direction, Node::Bottleneck);
                    link
                }
                // The link carries nothing beside a cell, but it leads to the hosts' pipes.
                Some(_) => Self::gate(direction, parts, pipes),
            });
        }
        for direction in Direction::ALL {
            links.push(Self::gate(direction, places.gate(direction), routes.onward(direction)));
        }
        let hops = self.hops(&routes, &mut places)?;
        let mut cell = wifi.map(|wifi| self.cell(&wifi, places.cell())).transpose()?;
        for (queue, direction) in cell.iter_mut().flat_map(|cell| cell.senders.iter_mut().zip(Direction::ALL))
        {
            queue.ledger_mut().fates.freed = routes.freed(direction, Node::Cell);
        }
        let cards = Cards::of(self.scenario, &routes, &mut places);
        let components = components(places.len());
        Ok(Path { links, row: Some(Box::new(routes.row(hops, cell, cards, places))), components })
    }

    /// Builds the cell of `wifi`, which acts at `component`.
    ///
    /// # Errors
    /// The errors of a discipline or its maker.
    fn cell(&mut self, wifi: &WifiSpec, component: Component) -> Result<Cell, ScenarioError> {
        let tables = self.scenario.traffic.iter().map(|traffic| (traffic.station.as_deref(), traffic.count));
        let station_of = wifi.stations_of(tables);
        let ledgers =
            Direction::ALL.map(|direction| self.ledger(Place::Bottleneck(direction), station_of.len()));
        let window = self.scenario.series.as_ref().and_then(|series| series.air);
        let seed = self.scenario.seed;
        let mut cell = Cell::of(wifi, seed, station_of, component, ledgers, |direction| {
            let spec = self.scenario.link(direction);
            Ok(match &spec.line {
                Line::Mac80211(args) => {
                    (Above::Txqs(Txqs::new(args, &spec.parameters())), args.get(&AIRTIME))
                }
                _ => (Above::Qdisc(self.discipline(Place::Bottleneck(direction))?, None), false),
            })
        })?;
        if let Some(window) = window {
            cell.log(Instant::ZERO + window.from.0, Instant::ZERO + window.to.0);
        }
        Ok(cell)
    }

    fn spec(&mut self, place: Place) -> Option<&mut LinkSpec> {
        match place {
            Place::Bottleneck(direction) => Some(self.scenario.link_mut(direction)),
            Place::Hop(hop, _) => self.scenario.hops.list[hop].link.as_mut(),
        }
    }

    /// Builds the link at `place`, which acts at the components `parts` and leads into `pipes`.
    ///
    /// # Errors
    /// The errors of the discipline or its maker.
    fn link(&mut self, place: Place, parts: Parts, pipes: Pipes) -> Result<Link, ScenarioError> {
        let qdisc = self.discipline(place)?;
        let ledger = self.ledger(place, pipes.flows());
        let (direction, _) = self.dice(place);
        let draws = self.draws(place);
        let is_whole = self.scenario.hops.hosts.iter().any(|host| host.gso);
        let Some(LinkSpec { below, rate, .. }) = self.spec(place) else { unreachable!("see `discipline`") };
        let refused = |why| ScenarioError::new("", why);
        let transmitter = below.transmitter(rate.0, draws).map_err(refused)?;
        let cuts = is_whole || below.receive.is_some_and(|receive| receive.merges());
        let below = Below { transmitter, ring: below.ring.map(|room| Ring::new(room, below.bql)), cuts };
        Ok(Link::new(qdisc, below, direction, parts, pipes, ledger))
    }

    /// Returns the direction of the link at `place`, and its dice.
    fn dice(&self, place: Place) -> (Direction, Stream) {
        let (direction, number) = place.number();
        (direction, Streams::new(self.scenario.seed).stream("qdisc", number))
    }

    /// Returns the random numbers of the access network at `place`.
    fn draws(&self, place: Place) -> Draws {
        Draws::new(Streams::new(self.scenario.seed), place.number().1)
    }

    /// Builds the counters of the queue at `place`, for this number of `flows`.
    fn ledger(&self, place: Place, flows: usize) -> Ledger {
        let (direction, random) = self.dice(place);
        let watch = if matches!(place, Place::Bottleneck(_)) { self.watch(direction) } else { None };
        let hosts = self.hosts.as_ref().map(|hosts| hosts.on(direction));
        let law = self.scenario.series.as_ref().is_some_and(|series| series.law);
        Ledger::new(Fates::new(random, flows, watch, hosts, (self.headers.clone(), direction)), law)
    }

    /// Returns the observer of the bottleneck of `direction` that the scenario asks for.
    fn watch(&self, direction: Direction) -> Option<Box<Watch>> {
        let window = self.scenario.series.as_ref().and_then(|series| series.packets);
        let log = window.map(|window| {
            PacketLog::new(Instant::ZERO + window.from.0, Instant::ZERO + window.to.0, window.flows)
        });
        complete::watch(self.scenario, self.subscribers.as_ref(), direction, log)
    }

    /// Builds the discipline of the link at `place`.
    ///
    /// # Errors
    /// The errors of the discipline or its maker.
    fn discipline(&mut self, place: Place) -> Result<Discipline, ScenarioError> {
        let Some(spec) = self.spec(place).cloned() else { unreachable!("a hop of kind link has a link") };
        let (direction, random) = self.dice(place);
        let parameters = spec.parameters();
        let LinkSpec { line, key, .. } = spec;
        Ok(match line {
            Line::Mac80211(_) => unreachable!("those queues are a cell's, and no discipline"),
            Line::Registry(args) => Discipline::Registry(
                AnyQdisc::build(&args, &parameters).map_err(|error| ScenarioError::new(key, error.0))?,
            ),
            Line::Foreign(line) => {
                let made =
                    (self.make)(Request { key: &key, line: &line, direction, link: parameters, random })?;
                if let Some(spec) = self.spec(place) {
                    spec.line = Line::Foreign(made.line());
                }
                Discipline::Foreign(Box::new(made))
            }
        })
    }

    /// Builds the link into which hosts send if their packets of `direction` meet another hop first. It takes no time
    /// and drops nothing.
    #[allow(clippy::expect_used)] // the line is ours
    fn gate(direction: Direction, parts: Parts, pipes: Pipes) -> Link {
        let link = goodqueue_qdisc::Link { rate: MOST_RATE.1.0, mtu: FRAME_BYTES };
        let line = registry::parse_line("pfifo limit 1000000000").expect("a line of the registry's");
        let qdisc = Discipline::Registry(AnyQdisc::build(&line, &link).expect("pfifo takes any link"));
        let below = Below { transmitter: Transmitter::Gate, ring: None, cuts: false };
        let fates = Fates::new(
            Streams::new(0).stream("gate", 0),
            pipes.flows(),
            None,
            None,
            (FlowHeaders::default(), direction),
        );
        Link::new(qdisc, below, direction, parts, pipes, Ledger::new(fates, false))
    }

    /// Builds the hops beside the bottlenecks, each with its own components of `places`.
    ///
    /// # Errors
    /// As [`Build::link`].
    fn hops(&mut self, routes: &Routes, places: &mut Places) -> Result<PerHop<HopState>, ScenarioError> {
        let mut hops = PerHop::default();
        for id in self.scenario.hops.list.numbers() {
            let hop = &self.scenario.hops.list[id];
            let (direction, seed) = (hop.direction, self.scenario.seed);
            let (body, component) = match hop.kind.make {
                Make::Link => {
                    let parts = places.link(id);
                    let mut link = self.link(Place::Hop(id, direction), parts, routes.onward(direction))?;
                    link.ledger.fates.freed = routes.freed(direction, Node::Hop(id));
                    (Body::Link(link), parts.timer)
                }
                Make::Element(make) => {
                    let random = Streams::new(seed).stream(&format!("hop {}", hop.name), 0);
                    (Body::Element(make(&hop.values, random)), places.element(id))
                }
            };
            hops.push(HopState::new(body, routes.flows(), component));
        }
        Ok(hops)
    }
}
