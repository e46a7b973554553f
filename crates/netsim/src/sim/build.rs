//! Builds a scenario's links and hops.

use super::Simulation;
use super::row::{Body, HopState, Node, Places, Routes};
use crate::direction::Direction;
use crate::foreign::{Discipline, Maker, Request};
use crate::hosts::Hosts;
use crate::ids::{HopId, Number};
use crate::keys::{FRAME_BYTES, MOST_RATE, ScenarioError};
use crate::link::{Below, Fates, Link, Parts};
use crate::lists::PerHop;
use crate::observer::Watch;
use crate::path::kind::Make;
use crate::path::transmitter::Transmitter;
use crate::pipe::Pipes;
use crate::probe::series::PacketLog;
use crate::ring::Ring;
use crate::scenario::{Line, LinkSpec, Scenario};
use goodqueue_qdisc::{AnyQdisc, registry};
use goodqueue_units::{Instant, Stream, Streams};

/// Builds what `scenario` describes. `make` makes the disciplines outside the registry.
pub(super) struct Build<'a, 'b> {
    pub(super) scenario: &'a mut Scenario,
    pub(super) make: &'a mut Maker<'b>,
    /// The hosts of the flows, if the scenario names any.
    pub(super) hosts: Option<Hosts>,
    pub(super) routes: &'a Routes,
}

/// The place of a link in a scenario.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Bottleneck(Direction),
    /// The link of a hop, and its direction.
    Hop(HopId, Direction),
}

impl Place {
    fn node(self) -> Node {
        match self {
            Self::Bottleneck(_) => Node::Bottleneck,
            Self::Hop(hop, _) => Node::Hop(hop),
        }
    }
}

impl Build<'_, '_> {
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
    pub(super) fn link(&mut self, place: Place, parts: Parts, pipes: Pipes) -> Result<Link, ScenarioError> {
        let qdisc = self.discipline(place)?;
        let (direction, random) = self.dice(place);
        let Some(LinkSpec { below, rate, .. }) = self.spec(place) else { unreachable!("see `discipline`") };
        let refused = |why| ScenarioError::new("", why);
        let transmitter = below.transmitter(rate.0).map_err(refused)?;
        let below = Below { transmitter, ring: below.ring.map(|room| Ring::new(room, below.bql)) };
        let watch = if matches!(place, Place::Bottleneck(_)) { self.watch(direction) } else { None };
        let mut fates = Fates::new(random, pipes.flows(), watch, self.hosts(direction));
        fates.freed = self.routes.freed(direction, place.node());
        Ok(Link::new(qdisc, below, direction, parts, pipes, fates))
    }

    /// Returns the direction of the link at `place`, and its dice.
    fn dice(&self, place: Place) -> (Direction, Stream) {
        let (direction, number) = match place {
            Place::Bottleneck(direction) => (direction, direction as u64),
            Place::Hop(hop, direction) => (direction, 2 + hop.index() as u64),
        };
        (direction, Streams::new(self.scenario.seed).stream("qdisc", number))
    }

    /// Returns the observer of the bottleneck of `direction` that the scenario asks for.
    pub(super) fn watch(&self, direction: Direction) -> Option<Box<Watch>> {
        let window = self.scenario.series.as_ref().and_then(|series| series.packets)?;
        let log = PacketLog::new(Instant::ZERO + window.from.0, Instant::ZERO + window.to.0, window.flows);
        Some(Box::new(Watch::new(direction, Some(log))))
    }

    /// Returns the hosts of the flows as links of `direction` see them, if the scenario names any.
    pub(super) fn hosts(&self, direction: Direction) -> Option<Hosts> {
        self.hosts.as_ref().map(|hosts| hosts.on(direction))
    }

    /// Builds the discipline of the link at `place`.
    ///
    /// # Errors
    /// The errors of the discipline or its maker.
    pub(super) fn discipline(&mut self, place: Place) -> Result<Discipline, ScenarioError> {
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
    pub(super) fn gate(direction: Direction, parts: Parts, pipes: Pipes) -> Link {
        let link = goodqueue_qdisc::Link { rate: MOST_RATE.1.0, mtu: FRAME_BYTES };
        let line = registry::parse_line("pfifo limit 1000000000").expect("a line of the registry's");
        let qdisc = Discipline::Registry(AnyQdisc::build(&line, &link).expect("pfifo takes any link"));
        let below = Below { transmitter: Transmitter::Gate, ring: None };
        let fates = Fates::new(Streams::new(0).stream("gate", 0), pipes.flows(), None, None);
        Link::new(qdisc, below, direction, parts, pipes, fates)
    }

    /// Builds the hops beside the bottlenecks, each with its own components of `places`.
    ///
    /// # Errors
    /// As [`Build::link`].
    pub(super) fn hops(&mut self, places: &mut Places) -> Result<PerHop<HopState>, ScenarioError> {
        let routes = self.routes;
        let law = self.scenario.series.as_ref().is_some_and(|series| series.law);
        let mut hops = PerHop::default();
        for id in self.scenario.hops.list.numbers() {
            let hop = &self.scenario.hops.list[id];
            let (direction, seed) = (hop.direction, self.scenario.seed);
            let (body, component) = match hop.kind.make {
                Make::Link => {
                    let parts = places.link(id);
                    let link = self.link(Place::Hop(id, direction), parts, routes.onward(direction))?;
                    (Body::Link(link), parts.timer)
                }
                Make::Element(make) => {
                    let random = Streams::new(seed).stream(&format!("hop {}", hop.name), 0);
                    (Body::Element(make(&hop.values, random)), places.element(id))
                }
            };
            hops.push(HopState::new(body, routes.flows(), component, law));
        }
        Ok(hops)
    }
}

impl Simulation {
    /// Returns the hops beside the bottlenecks.
    pub(super) fn hops(&mut self) -> impl Iterator<Item = &mut HopState> {
        self.row.iter_mut().flat_map(|row| row.hops.iter_mut())
    }
}
