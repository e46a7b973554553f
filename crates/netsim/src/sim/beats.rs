//! What the metronome sets off: the beginning of measuring, the ends of bins and intervals, and the scenario's changes.

use super::Simulation;
use super::row::HopState;
use crate::component::Component;
use crate::flow::Source;
use crate::ids::{FlowId, LinkId};
use crate::metronome::Beat;
use crate::probe::goodput::BIN;
use crate::probe::series::FlowTotals;
use crate::tally::{FlowFates, Totals};
use crate::wifi::stations::Station;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::traffic::application::Application;

impl Simulation {
    #[cold]
    pub(super) fn beat(&mut self) {
        let (now, agenda) = (self.now, &mut self.agenda);
        let of_hops = self.row.iter_mut().flat_map(|row| row.links_mut());
        self.links.iter_mut().chain(of_hops).for_each(|link| link.settle_before(now, agenda));
        match self.metronome.strike() {
            Beat::WarmedUp => self.warmed_up(),
            Beat::Bin => {
                for id in self.flows.numbers() {
                    let delivered = self.totals(id).delivered_bytes;
                    let flow = &mut self.flows[id];
                    let whole = flow.start + BIN <= self.now && self.now <= flow.stop;
                    flow.bins.end_bin(delivered, whole);
                }
            }
            Beat::Interval => self.end_interval(),
            Beat::Change => self.change(),
        }
        self.agenda.set(Component::METRONOME, self.metronome.next_time());
    }

    /// Applies the scenario's next change.
    fn change(&mut self) {
        let Some(change) = self.scenario.change.get(self.changed) else { return };
        self.changed += 1;
        if let Some(rtt) = change.rtt {
            for direction in Direction::ALL {
                let keeps = |pipe| self.row.as_ref().is_some_and(|row| row.cards.is_exit(direction, pipe));
                let (from, to) = (direction.half_of(change.rtt_before), direction.half_of(rtt.0));
                self.links[LinkId::bottleneck(direction)].change_delays(from, to, keeps, &mut self.agenda);
            }
        }
        if let (Some(values), Some(place), Some(row)) = (&change.values, change.place, &mut self.row) {
            row.hops[place].change(values);
        }
        if !change.is_of_link() {
            return;
        }
        let link = match (change.place, &mut self.row) {
            (Some(place), Some(row)) => row.hops[place].link_mut(),
            _ => Some(&mut self.links[LinkId::bottleneck(change.direction)]),
        };
        let Some(link) = link else { return };
        let rate = change.rate.map(|rate| rate.0);
        if let Err(error) = link.change(self.now, rate, change.qdisc.as_deref(), &mut self.agenda) {
            unreachable!("reading the scenario has tried it: {error}");
        }
        if let Some(paced) = self.row.as_ref().and_then(|row| row.paced(&self.flows, &self.links)) {
            self.sockets.leave_pacing_to_queues(paced, |flow| self.flows[flow].opens <= self.now);
        }
    }

    /// Returns the totals of flow `id` so far.
    pub(crate) fn totals(&self, id: FlowId) -> Totals {
        let flow = &self.flows[id];
        let offered = self.flow_paths[id].offered[flow.direction];
        let mut dropped = self.bottleneck(flow.direction).ledger().fates.dropped[id];
        if let Some(row) = &self.row {
            dropped += row.dropped(id, flow.direction, &self.scenario);
        }
        flow.totals(id, FlowFates { offered, dropped }, &self.sockets)
    }

    /// Begins measuring.
    fn warmed_up(&mut self) {
        let now = self.now;
        self.queues_mut().for_each(|queue| queue.begin_measuring(now));
        self.hops_mut().for_each(HopState::begin_measuring);
        self.row.iter_mut().for_each(|row| row.cards.begin_measuring());
        self.stations_mut().for_each(Station::begin_measuring);
        for id in self.flows.numbers() {
            let totals = self.totals(id);
            let flow = &mut self.flows[id];
            flow.baseline = totals;
            flow.bins.start(totals.delivered_bytes);
            match &mut flow.source {
                Source::Isochronous(source) => source.measure_from(self.now),
                Source::App(app) => app.measure_from(self.now),
                Source::Bulk(_) | Source::Outside { .. } => {}
            }
        }
        self.sockets.bulk.iter_mut().for_each(|bulk| bulk.rtt.reset());
    }

    fn end_interval(&mut self) {
        let Some(interval) = self.scenario.series.as_ref().and_then(|series| series.interval) else { return };
        self.interval_ends.push(self.now);
        let now = self.now;
        self.queues_mut().for_each(|queue| queue.end_interval(now));
        self.stations_mut().for_each(|station| station.end_interval(interval.0));
        for id in self.flows.numbers() {
            let totals = self.totals(id);
            let echoes = match &self.flows[id].source {
                Source::Isochronous(source) => source.echoes,
                Source::Bulk(_) | Source::App(_) | Source::Outside { .. } => Default::default(),
            };
            let totals =
                FlowTotals { delivered_bytes: totals.delivered_bytes, dropped: totals.fates.dropped, echoes };
            let sender = self.flows[id].sender(id, &self.sockets);
            self.flow_series[id].end_interval(now, totals, sender, interval.0);
        }
    }
}
