//! The loop's part for cards that receive: those of hosts, and those of routers, each in front of a link.

use crate::component::Component;
use crate::ids::{CardId, FlowId, HopId, LinkId, Number, PipeId};
use crate::lists::{ByDirection, List, PerFlow, PerHop};
use crate::observer::{Event, tell};
use crate::packet::Packet;
use crate::receive::{Card, Receive};
use crate::scenario::{HostName, Scenario};
use crate::sim::Simulation;
use crate::sim::places::Places;
use crate::sim::row::{Node, Routes};
use goodqueue_hosts::direction::{Direction, Side};
use goodqueue_hosts::traffic::application::SocketId;
use goodqueue_tcp::Handled;
use goodqueue_units::Instant;

/// The cards of a run.
pub(crate) struct Cards {
    list: List<CardId, Placed>,
    /// The card of the host at which packets of each flow arrive. Empty if no host of this direction has one.
    at_host: ByDirection<PerFlow<Option<CardId>>>,
    /// The pipe without delay by which packets go from the cards of hosts to the hosts.
    exits: ByDirection<Option<PipeId>>,
    before_bottleneck: ByDirection<Option<CardId>>,
    before_hop: PerHop<Option<CardId>>,
    /// What applications have not read yet, in the order in which it came.
    unread: ByDirection<Vec<Unread>>,
}

/// Segments of one connection that its application has not read.
struct Unread {
    flow: FlowId,
    hash: u32,
    /// What they brought together.
    handled: Handled,
}

/// A card at its place.
struct Placed {
    card: Card,
    component: Component,
    /// The direction of the packets that it receives.
    direction: Direction,
    behind: Behind,
    /// Applications of the host are going to read when no packet waits in the card.
    is_unread: bool,
}

/// What gets a card's packets.
enum Behind {
    Host(HostName),
    Link(Node),
}

impl Cards {
    /// Returns whether any host or link of `scenario` has a card.
    pub(in crate::sim) fn are_in(scenario: &Scenario) -> bool {
        let of_hops = scenario.hops.list.iter().filter_map(|hop| hop.link.as_ref());
        let mut links = of_hops.chain(Direction::ALL.map(|direction| scenario.link(direction)));
        links.any(|link| link.below.receive.is_some())
            || Direction::ALL.iter().any(|&direction| Self::is_at_host(scenario, direction))
    }

    /// Returns whether any host has a card for packets of `direction`.
    pub(in crate::sim) fn is_at_host(scenario: &Scenario, direction: Direction) -> bool {
        Self::of_hosts(scenario, direction.receiver()).next().is_some()
    }

    fn of_hosts(scenario: &Scenario, side: Side) -> impl Iterator<Item = (HostName, Receive)> {
        scenario.hops.hosts.iter().filter_map(move |host| {
            let (role, name) = host.owner()?;
            Some((name, host.receive?)).filter(|_| role == side)
        })
    }

    /// Builds the cards of `scenario`, whose packets take the ways of `routes`.
    pub(in crate::sim) fn of(scenario: &Scenario, routes: &Routes, places: &mut Places) -> Self {
        let mut list = List::default();
        let mut add = |receive, direction, behind| {
            let component = places.card(CardId::at(list.len()));
            list.push(Placed { card: Card::new(receive), component, direction, behind, is_unread: false })
        };
        let before_bottleneck = ByDirection::of(|direction| {
            let receive = scenario.link(direction).below.receive?;
            Some(add(receive, direction, Behind::Link(Node::Bottleneck)))
        });
        let mut before_hop = PerHop::default();
        for (id, hop) in scenario.hops.list.numbered() {
            let receive = hop.link.as_ref().and_then(|link| link.below.receive);
            before_hop.push(receive.map(|receive| add(receive, hop.direction, Behind::Link(Node::Hop(id)))));
        }
        let at_host = ByDirection::of(|direction| {
            let side = direction.receiver();
            let of_side = Self::of_hosts(scenario, side)
                .map(|(name, receive)| (name.clone(), add(receive, direction, Behind::Host(name))));
            let of_side: Vec<(HostName, CardId)> = of_side.collect();
            let traffic = scenario.traffic.iter().filter(|_| !of_side.is_empty());
            let of_traffic = traffic.flat_map(|traffic| {
                let own = of_side.iter().find(|(name, _)| traffic.host_at(side) == Some(name));
                std::iter::repeat_n(own.map(|(_, card)| *card), traffic.count as usize)
            });
            of_traffic.collect()
        });
        let unread = ByDirection::of(|_| Vec::new());
        Self { list, at_host, exits: routes.exits_of_cards, before_bottleneck, before_hop, unread }
    }

    /// Returns the card of the host at which a packet of `flow` arrives by `pipe`, if it has one.
    #[inline]
    pub(in crate::sim) fn at_host(&self, flow: FlowId, direction: Direction, pipe: PipeId) -> Option<CardId> {
        if self.is_exit(direction, pipe) { None } else { *self.at_host[direction].get(flow)? }
    }

    /// Returns whether packets come by `pipe` from a host's card.
    #[inline]
    pub(in crate::sim) fn is_exit(&self, direction: Direction, pipe: PipeId) -> bool {
        self.exits[direction] == Some(pipe)
    }

    /// Returns whether a packet of `flow` comes by `pipe` from the card of a host whose applications read after a poll.
    pub(in crate::sim) fn are_read_late(&self, flow: FlowId, direction: Direction, pipe: PipeId) -> bool {
        let card = || self.at_host[direction].get(flow).copied().flatten();
        self.is_exit(direction, pipe) && card().is_some_and(|card| self.list[card].card.reads_after_poll())
    }

    /// Returns the card in front of `node`, if there is one.
    pub(in crate::sim) fn before(&self, node: Node, direction: Direction) -> Option<CardId> {
        match node {
            Node::Bottleneck => self.before_bottleneck[direction],
            Node::Hop(hop) => self.before_hop[hop],
            Node::Cell | Node::Host => None,
        }
    }

    /// Begins the measured time.
    pub(in crate::sim) fn begin_measuring(&mut self) {
        self.list.iter_mut().for_each(|placed| placed.card.begin_measuring());
    }

    /// Returns the card in front of the bottleneck of `direction`, to read what it counted.
    pub(crate) fn of_bottleneck(&self, direction: Direction) -> Option<&Card> {
        self.before_bottleneck[direction].map(|id| &self.list[id].card)
    }

    /// Returns the card in front of `hop`, to read what it counted.
    pub(crate) fn of_hop(&self, hop: HopId) -> Option<&Card> {
        self.before_hop[hop].map(|id| &self.list[id].card)
    }

    /// Returns the card of the host `name` on `side`, to read what it counted.
    pub(crate) fn of_host(&self, name: &HostName, side: Side) -> Option<&Card> {
        let is_own = |placed: &&Placed| match &placed.behind {
            Behind::Host(host) => host == name && placed.direction.receiver() == side,
            Behind::Link(_) => false,
        };
        self.list.iter().find(is_own).map(|placed| &placed.card)
    }
}

impl Simulation {
    /// Gives `packet`, which arrives now, to the card `id`.
    pub(in crate::sim) fn enter_card(&mut self, id: CardId, packet: Packet) {
        let Some(row) = &mut self.row else { return };
        let Placed { card, component, is_unread, .. } = &mut row.cards.list[id];
        let due = card.arrive(self.now, packet);
        if !*is_unread {
            self.agenda.set(*component, due);
        }
    }

    /// Gives the next packet from `pipe` to the card `id` of its host.
    #[cold]
    #[inline(never)]
    pub(in crate::sim) fn arrived_at_card(&mut self, id: CardId, direction: Direction, pipe: PipeId) {
        let pipes = &mut self.links[LinkId::bottleneck(direction)].pipes;
        let Some(&packet) = pipes.head(pipe) else { return };
        self.agenda.set(Component::pipe(direction, pipe), pipes.pop(pipe));
        if let Some(observer) = &self.observer {
            tell(observer, self.now, direction, Event::Arrived, &packet);
        }
        self.enter_card(id, packet);
    }

    /// Handles the interrupt of the card `id`: hands its packets to the host, or to the link behind it. If there is no
    /// interrupt now, the host's applications read.
    pub(in crate::sim) fn interrupt(&mut self, id: CardId) {
        let Some(row) = &mut self.row else { return };
        let Placed { card, component, direction, behind, is_unread } = &mut row.cards.list[id];
        let (direction, mut packets) = (*direction, Vec::new());
        if card.due() > self.now {
            *is_unread = false;
            self.agenda.set(*component, card.due());
            return self.read_all(direction);
        }
        card.interrupt(&mut packets);
        // The packets reach the host at this time too, and before this component acts again.
        *is_unread = card.reads_after_poll();
        self.agenda.set(*component, if *is_unread { self.now } else { Instant::MAX });
        if let &mut Behind::Link(node) = behind {
            for packet in packets {
                self.hand_over(node, direction, packet);
            }
            return self.tell_senders(node, direction);
        }
        let Some(exit) = row.cards.exits[direction] else { return };
        let pipes = &mut self.links[LinkId::bottleneck(direction)].pipes;
        for packet in &packets {
            if let Some(time) = pipes.push(exit, self.now, packet) {
                self.agenda.set(Component::pipe(direction, exit), time);
            }
        }
    }

    /// Tells of a segment that an end of a connection has taken, whose application reads after the poll. What it
    /// acknowledges leaves at once. `socket` is the connection of an application's flow.
    #[cold]
    pub(in crate::sim) fn heard_in_poll(
        &mut self,
        (flow, hash): (FlowId, u32),
        direction: Direction,
        socket: Option<SocketId>,
        handled: Handled,
    ) {
        if let Some(row) = &mut self.row {
            let unread = &mut row.cards.unread[direction];
            match unread.iter_mut().find(|one| (one.flow, one.hash) == (flow, hash)) {
                Some(one) => {
                    one.handled.newly_delivered_bytes += handled.newly_delivered_bytes;
                    one.handled.rtt = handled.rtt.or(one.handled.rtt);
                }
                None => unread.push(Unread { flow, hash, handled }),
            }
        }
        self.pump(flow, direction.receiver(), socket);
    }

    /// Lets the applications that receive packets of `direction` read all that waits for them.
    fn read_all(&mut self, direction: Direction) {
        let Some(row) = &mut self.row else { return };
        let end = direction.receiver();
        for Unread { flow, hash, handled } in std::mem::take(&mut row.cards.unread[direction]) {
            if self.flow_paths[flow].is_bulk {
                self.sockets.bulk[flow].ends[end].read(self.now);
                self.pump(flow, end, None);
            } else if let Some(id) = self.sockets.find(flow, direction, hash) {
                self.sockets[id].ends[end].read(self.now);
                self.heard(flow, (id, end), handled);
            }
        }
    }
}
