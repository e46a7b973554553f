//! The loop's part for Wi-Fi: a cell in place of the bottlenecks' wires.

use super::Simulation;
use super::build::{Build, Place};
use super::row::Node as Hop;
use crate::cell::counters::Counters;
use crate::cell::log::AirLog;
use crate::cell::node::{Above, Node};
use crate::cell::stations::Station;
use crate::cell::watch::AirWatch;
use crate::cell::{Cell, Protection};
use crate::direction::Direction;
use crate::ids::FlowId;
use crate::keys::ScenarioError;
use crate::link::Fates;
use crate::lists::{ByDirection, PerFlow};
use crate::path::wifi::driver::Limits;
use crate::path::wifi::minstrel::Minstrel;
use crate::path::wifi::minstrel_ht::MinstrelHt;
use crate::path::wifi::rate_control::{RateControl, Stage};
use crate::path::wifi::spec::{StationSpec, WifiSpec};
use crate::path::wifi::standard::{Standard, Timing};
use crate::scenario::{Line, Scenario};
use goodqueue_qdisc::sched::mac80211::{AIRTIME, Txqs};
use goodqueue_units::{Instant, Stream, Streams};

/// Returns the station of each flow of `scenario`, whose cell is `wifi`.
fn stations_of(scenario: &Scenario, wifi: &WifiSpec) -> PerFlow<u32> {
    let mut next = 0;
    let mut of_flow = PerFlow::default();
    for traffic in &scenario.traffic {
        let stations = wifi.numbers(traffic.station.as_deref());
        for number in 0..traffic.count as usize {
            // A table without a station continues with the station that follows the last one of the table before.
            let turn = if traffic.station.is_some() { number } else { next };
            next += usize::from(traffic.station.is_none());
            of_flow.push(stations[turn % stations.len()]);
        }
    }
    of_flow
}

impl Build<'_, '_> {
    /// Builds the cell of the scenario, if it has one.
    ///
    /// # Errors
    /// The errors of a discipline or its maker.
    pub(super) fn cell(&mut self) -> Result<Option<Box<Cell>>, ScenarioError> {
        let Some(wifi) = self.scenario.bottleneck.wifi.clone() else { return Ok(None) };
        let station_of = stations_of(self.scenario, &wifi);
        let timing = Timing::new(wifi.standard, wifi.band, wifi.protection);
        let stations: Vec<(String, StationSpec)> =
            wifi.each().map(|(name, station)| (name, station.clone())).collect();
        let ampdu = wifi.ampdu.map(|size| size.0 as u32);
        let seed = self.scenario.seed;
        let control = |station: &StationSpec, limits: Limits, direction: Direction, number: u64| {
            let mut random = Streams::new(seed).stream(&format!("rate control {}", direction.name()), number);
            rate_control(&wifi, station, limits, &timing, &mut random)
        };
        let limits = wifi.driver.limits(ampdu);
        let all = stations.iter().zip(0..);
        let rates = all.map(|((_, one), number)| control(one, limits, Direction::Down, number)).collect();
        let mut nodes = vec![self.node(Direction::Down, limits, rates)?];
        for ((_, station), number) in stations.iter().zip(0..) {
            let limits = station.driver.limits(ampdu);
            let rates = vec![control(station, limits, Direction::Up, number)];
            nodes.push(self.node(Direction::Up, limits, rates)?);
        }
        let flows = station_of.len();
        let streams = Streams::new(self.scenario.seed);
        let counters = ByDirection::of(|direction| {
            let random = streams.stream("qdisc", direction as u64);
            let mut fates = Fates::new(random, flows, self.watch(direction), self.hosts(direction));
            fates.freed = self.routes.freed(direction, Hop::Bottleneck);
            Counters::new(fates, flows)
        });
        let protection = match (wifi.rts, wifi.protection) {
            (true, _) => Protection::RtsCts,
            (_, true) => Protection::CtsToSelf,
            _ => Protection::Nothing,
        };
        let stations = stations.into_iter().map(|(name, station)| Station::new(name, station.snr)).collect();
        let dice = ["backoff", "air"].map(|name| streams.stream(name, 0));
        let mut cell = Box::new(Cell::new(timing, protection, nodes, counters, stations, station_of, dice));
        if let Some(window) = self.scenario.series.as_ref().and_then(|series| series.air) {
            let log = AirLog::new(Instant::ZERO + window.from.0, Instant::ZERO + window.to.0);
            cell.watch = Some(Box::new(AirWatch { log: Some(log), ..AirWatch::default() }));
        }
        Ok(Some(cell))
    }

    /// Builds an interface of the cell that sends in `direction`.
    fn node(
        &mut self,
        direction: Direction,
        limits: Limits,
        rates: Vec<RateControl>,
    ) -> Result<Node, ScenarioError> {
        let spec = self.scenario.link(direction);
        let (above, by_airtime) = match &spec.line {
            Line::Mac80211(args) => (Above::Txqs(Txqs::new(args, &spec.parameters())), args.get(&AIRTIME)),
            _ => (Above::Qdisc(self.discipline(Place::Bottleneck(direction))?, None), false),
        };
        Ok(Node::new(above, limits, rates, by_airtime))
    }
}

/// Returns the rate control of a sender with `limits` that sends to or from `station` of `wifi`.
fn rate_control(
    wifi: &WifiSpec,
    station: &StationSpec,
    limits: Limits,
    timing: &Timing,
    random: &mut Stream,
) -> RateControl {
    let stage = |mode| Stage { mode, tries: limits.tries, has_rts: false };
    match station.modes.as_slice() {
        [] if wifi.standard == Standard::N => {
            let (streams, wide) = (station.streams as u8, wifi.width == 40);
            let found = MinstrelHt::new(streams, wide, wifi.short_guard, timing, Instant::ZERO, random);
            RateControl::MinstrelHt(Box::new(found))
        }
        [] => {
            let found = Minstrel::new(&wifi.modes(station), timing, Instant::ZERO, random);
            RateControl::Minstrel(Box::new(found))
        }
        [(_, mode)] => RateControl::Fixed(stage(*mode)),
        modes => RateControl::Steps(modes.iter().map(|(time, mode)| (*time, stage(*mode))).collect()),
    }
}

impl Simulation {
    /// Returns the cell, if the bottleneck is one.
    pub(crate) fn cell(&self) -> Option<&Cell> {
        self.row.as_ref()?.cell.as_deref()
    }

    /// Returns the cell, to change it.
    pub(super) fn cell_mut(&mut self) -> Option<&mut Cell> {
        self.row.as_mut()?.cell.as_deref_mut()
    }

    /// Lets the cell act.
    pub(super) fn cell_acts(&mut self) {
        let now = self.now;
        let Some(row) = &mut self.row else { return };
        let Some(cell) = &mut row.cell else { return };
        let mut out = std::mem::take(&mut row.delivered);
        cell.act(now, &mut out);
        self.agenda.set(row.cell_component, cell.next_time());
        for (direction, packet) in &out {
            cell.counters[*direction].fates.free(packet);
        }
        for (direction, packet) in out.drain(..) {
            let next =
                self.row.as_ref().map_or(Hop::Host, |row| row.next(packet.flow, direction, Hop::Bottleneck));
            self.enter(next, direction, packet);
        }
        if let Some(row) = &mut self.row {
            row.delivered = out;
        }
        for direction in Direction::ALL {
            self.tell_senders(Hop::Bottleneck, direction);
        }
    }

    /// Returns the packets of `flow` that the cell dropped or lost in `direction`.
    pub(super) fn dropped_on_air(&self, flow: FlowId, direction: Direction) -> u64 {
        let counters = self.cell().map(|cell| &cell.counters[direction]);
        counters.map_or(0, |counters| counters.fates.dropped[flow] + counters.lost[flow])
    }
}
