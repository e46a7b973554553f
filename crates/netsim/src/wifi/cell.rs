//! The cell itself: packets enter it, wait at the interfaces, and leave it.

use super::aggregate::Aggregate;
use super::contention::{ContenderId, Contention};
use super::frames::SharedAirObserver;
use super::node::{Node, NodeId};
use super::senders::Senders;
use super::standard::{Category, Timing};
use super::stations::Station;
use super::watch::AirWatch;
use crate::agenda::Agenda;
use crate::component::Component;
use crate::lists::{ByDirection, PerFlow};
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::{Enqueued, Packet as _};
use goodqueue_units::{Instant, Stream};
use std::collections::VecDeque;

/// An access point, its stations, and the medium that they share.
pub(crate) struct Cell {
    pub(super) timing: Timing,
    /// The frames that protect each exchange.
    pub(super) protection: Protection,
    /// The access point sends down, the stations send up.
    pub(crate) senders: ByDirection<Senders>,
    pub(crate) stations: Vec<Station>,
    /// The observers of the air, if there are any.
    pub(crate) watch: Option<Box<AirWatch>>,
    /// The station of each flow. Stations are counted from 0.
    station_of: PerFlow<u32>,
    pub(super) contention: Contention,
    /// The interface and the category of each contender.
    contenders: Vec<(NodeId, Category)>,
    /// The contenders that send, and when they end, if anybody sends.
    pub(super) sending: Vec<ContenderId>,
    pub(super) busy_until: Option<Instant>,
    /// Until when the sender may go on without a new contention.
    pub(super) txop_end: Instant,
    /// When the senders began, and from when slots count after the senders have ended.
    pub(super) began: Instant,
    pub(super) idle_from: Instant,
    pub(super) random: Stream,
    /// The packets that leave the cell now, with their directions.
    pub(super) leaving: VecDeque<(Direction, Packet)>,
    /// The cell's entry in the agenda.
    component: Component,
}

/// The frames that protect each exchange. They go before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Nothing,
    /// RTS and CTS.
    RtsCts,
    /// A CTS-to-self, at a rate of 802.11b.
    CtsToSelf,
}

impl Cell {
    /// Builds the cell of `senders` and `stations`. `station_of` has the station of each flow.
    pub(crate) fn new(
        timing: Timing,
        protection: Protection,
        senders: ByDirection<Senders>,
        stations: Vec<Station>,
        station_of: PerFlow<u32>,
        [backoffs, errors]: [Stream; 2],
        component: Component,
    ) -> Self {
        let mut cell = Self {
            timing,
            protection,
            senders,
            stations,
            watch: None,
            station_of,
            contention: Contention::new(timing.slot, backoffs),
            contenders: Vec::new(),
            sending: Vec::new(),
            busy_until: None,
            txop_end: Instant::ZERO,
            began: Instant::ZERO,
            idle_from: Instant::ZERO,
            random: errors,
            leaving: VecDeque::new(),
            component,
        };
        for direction in Direction::ALL {
            for index in 0..cell.senders[direction].nodes.len() {
                cell.open(NodeId { direction, index }, Category::BestEffort);
                cell.senders[direction].plan_timer(Instant::ZERO, index);
            }
        }
        cell
    }

    fn open(&mut self, id: NodeId, category: Category) {
        let access = match id.direction {
            Direction::Down => self.timing.access(category),
            Direction::Up => self.stations[id.index].timing.access(category),
        };
        let contender = self.contention.join(access, self.idle_from);
        self.contenders.push((id, category));
        self.senders[id.direction].nodes[id.index].open(category, contender);
    }

    /// Plans the next action of the cell.
    pub(crate) fn plan(&self, agenda: &mut Agenda) {
        let of_air = self.busy_until.or_else(|| self.contention.next_start()).unwrap_or(Instant::MAX);
        let time = self.senders.iter().map(Senders::next_timer).fold(of_air, Instant::min);
        agenda.set(self.component, time);
    }

    /// Takes `packet`, which goes in direction `direction`.
    pub(crate) fn offer(
        &mut self,
        now: Instant,
        direction: Direction,
        packet: Packet,
        agenda: &mut Agenda,
    ) -> Enqueued {
        let station = self.station_of[packet.flow];
        let (index, peer) = match direction {
            Direction::Down => (0, station),
            Direction::Up => (station as usize, 0),
        };
        let id = NodeId { direction, index };
        let category = self.stations[station as usize].timing.category(packet.dscp());
        if self.senders[direction].nodes[index].lane(category).is_none() {
            self.open(id, category);
        }
        let answer = self.senders[direction].offer(now, index, peer, category, packet);
        self.fill(id, now);
        self.plan(agenda);
        answer
    }

    /// Lets the interface `id` prepare what it can, and contend with it.
    pub(super) fn fill(&mut self, id: NodeId, now: Instant) {
        let Self { senders, station_of, stations, timing, .. } = self;
        let senders = &mut senders[id.direction];
        let to = |packet: &Packet| {
            let station = station_of[packet.flow];
            let peer = if id.direction == Direction::Down { station } else { 0 };
            (peer, stations[station as usize].timing.category(packet.dscp()))
        };
        senders.fill(now, id.index, timing, to);
        for lane in senders.nodes[id.index].lanes() {
            if lane.hardware.is_empty() {
                self.contention.rest(lane.contender);
            } else {
                self.contention.ready(lane.contender, now);
            }
        }
        senders.plan_timer(now, id.index);
    }

    /// Does what is due at `now`. Afterwards [`leave`](Self::leave) returns the packets that leave the cell.
    pub(crate) fn act(&mut self, now: Instant, agenda: &mut Agenda) {
        for direction in Direction::ALL {
            for index in 0..self.senders[direction].nodes.len() {
                if self.senders[direction].on_timer(now, index) {
                    self.fill(NodeId { direction, index }, now);
                }
            }
        }
        match self.busy_until {
            Some(ends) if ends <= now => self.finish(now),
            None if self.contention.next_start() == Some(now) => self.begin(now),
            _ => {}
        }
        self.plan(agenda);
    }

    /// Returns the next packet that leaves the cell now, with its direction.
    pub(crate) fn leave(&mut self) -> Option<(Direction, Packet)> {
        self.leaving.pop_front()
    }

    /// Tells `observer` of each frame from now on.
    pub(crate) fn observe(&mut self, observer: SharedAirObserver) {
        self.watch.get_or_insert_default().observer = Some(observer);
    }

    /// Returns the interface and the category of the contender `id`.
    pub(super) fn contender(&self, id: ContenderId) -> (NodeId, Category) {
        self.contenders[id.0 as usize]
    }

    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.senders[id.direction].nodes[id.index]
    }

    /// Returns the next transmission of the contender `id`, if there is one.
    pub(super) fn aggregate(&self, id: ContenderId) -> Option<&Aggregate> {
        let (node, category) = self.contender(id);
        self.node(node).aggregate(category)
    }
}
