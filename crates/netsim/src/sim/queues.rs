//! The queues of a run, whatever they stand in: a link, or a cell in place of the bottlenecks.

use super::Simulation;
use super::row::HopState;
use crate::ids::LinkId;
use crate::ledger::Queue;
use crate::observer::SharedObserver;
use crate::packet::Packet;
use crate::probe::law::LawSeries;
use crate::wifi::cell::Cell;
use crate::wifi::frames::SharedAirObserver;
use crate::wifi::stations::Station;
use goodqueue_hosts::direction::Direction;
use goodqueue_qdisc::Qdisc;

impl Simulation {
    /// Returns the cell, if the bottleneck is one.
    pub(crate) fn cell(&self) -> Option<&Cell> {
        self.row.as_ref()?.cell.as_deref()
    }

    /// Returns the stations of the cell, to change them.
    pub(super) fn stations_mut(&mut self) -> impl Iterator<Item = &mut Station> {
        let cells = self.row.iter_mut().filter_map(|row| row.cell.as_mut());
        cells.flat_map(|cell| cell.stations.iter_mut())
    }

    /// Returns the hops beside the bottlenecks, to change them.
    pub(super) fn hops_mut(&mut self) -> impl Iterator<Item = &mut HopState> {
        self.row.iter_mut().flat_map(|row| row.hops.iter_mut())
    }

    /// Returns the queue at the bottleneck of `direction`.
    pub(crate) fn bottleneck(&self, direction: Direction) -> &dyn Queue {
        match self.cell() {
            Some(cell) => &cell.senders[direction],
            None => &self.links[LinkId::bottleneck(direction)],
        }
    }

    /// Returns all queues, to change them: those of the bottlenecks first, the one down before the one up.
    pub(super) fn queues_mut(&mut self) -> impl Iterator<Item = &mut dyn Queue> {
        let (cell, hops) = match self.row.as_deref_mut() {
            Some(row) => (row.cell.as_deref_mut(), Some(&mut row.hops)),
            None => (None, None),
        };
        let links = if cell.is_some() { 0 } else { Direction::ALL.len() };
        let links = self.links.iter_mut().take(links).map(|link| link as &mut dyn Queue);
        let senders =
            cell.into_iter().flat_map(|cell| cell.senders.iter_mut()).map(|one| one as &mut dyn Queue);
        let of_hops = hops.into_iter().flat_map(|hops| hops.iter_mut()).filter_map(HopState::link_mut);
        links.chain(senders).chain(of_hops.map(|link| link as &mut dyn Queue))
    }

    /// Notes in `law` the present variables of the discipline at the bottleneck of `direction`, as the end of one more
    /// interval.
    pub fn note_law(&self, direction: Direction, law: &mut LawSeries) {
        law.end_interval(self.now, |law| self.links[LinkId::bottleneck(direction)].qdisc.show(law));
    }

    /// Returns the names of the queues of the discipline at the bottleneck of `direction`, as [`Qdisc::queues`] does.
    #[must_use]
    pub fn queues(&self, direction: Direction) -> &'static [&'static str] {
        self.links[LinkId::bottleneck(direction)].qdisc.queues()
    }

    /// Returns the queue of `packet` at the bottleneck of `direction`, as [`Qdisc::queue_of`] does.
    #[must_use]
    pub fn queue_of(&self, direction: Direction, packet: &Packet) -> usize {
        self.links[LinkId::bottleneck(direction)].qdisc.queue_of(packet)
    }

    /// Tells `observer` of every packet from now on.
    pub fn observe(&mut self, observer: SharedObserver) {
        for (queue, direction) in self.queues_mut().zip(Direction::ALL) {
            queue.ledger_mut().fates.observe(direction, &observer);
        }
        self.links
            .iter_mut()
            .take(Direction::ALL.len())
            .for_each(|link| link.plan_for_observer(&mut self.agenda));
        self.observer = Some(observer);
    }

    /// Tells `observer` of every frame on the air of the Wi-Fi cell from now on, if the bottleneck is one.
    pub fn observe_air(&mut self, observer: SharedAirObserver) {
        if let Some(cell) = self.row.as_mut().and_then(|row| row.cell.as_mut()) {
            cell.observe(observer);
        }
    }
}
