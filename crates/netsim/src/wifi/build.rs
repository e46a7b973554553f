//! Builds a cell of what a scenario says.

use super::cell::{Cell, Protection};
use super::driver::{Driver, Limits};
use super::log::AirLog;
use super::minstrel::Minstrel;
use super::minstrel_ht::MinstrelHt;
use super::node::{Above, Node};
use super::rate_control::{RateControl, Stage};
use super::senders::Senders;
use super::spec::{StationSpec, WifiSpec};
use super::standard::{Standard, Timing};
use super::stations::Station;
use crate::component::Component;
use crate::ledger::Ledger;
use crate::lists::PerFlow;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::Result;
use goodqueue_units::{Instant, Stream, Streams};

impl WifiSpec {
    /// Returns the station of each flow of traffic `tables`: of each, its station if it names one, and its number of
    /// flows.
    pub(crate) fn stations_of<'a>(
        &self,
        tables: impl Iterator<Item = (Option<&'a str>, u64)>,
    ) -> PerFlow<u32> {
        let mut next = 0;
        let mut of_flow = PerFlow::default();
        for (name, count) in tables {
            let stations = self.numbers(name);
            for number in 0..count as usize {
                // A table without a station continues with the station that follows the last one of the table before.
                let turn = if name.is_some() { number } else { next };
                next += usize::from(name.is_none());
                of_flow.push(stations[turn % stations.len()]);
            }
        }
        of_flow
    }

    /// Returns the rate control of a sender with `limits` that sends to or from `station`.
    fn rate_control(
        &self,
        station: &StationSpec,
        limits: Limits,
        timing: &Timing,
        random: &mut Stream,
    ) -> RateControl {
        let stage = |mode| Stage { mode, tries: limits.tries, has_rts: false };
        match station.modes.as_slice() {
            [] if self.standard_of(station) == Standard::N => {
                let (streams, wide) = (station.streams as u8, self.width == 40);
                let found = MinstrelHt::new(streams, wide, self.short_guard, timing, Instant::ZERO, random);
                RateControl::MinstrelHt(Box::new(found))
            }
            [] => {
                let found = Minstrel::new(&self.modes(station), timing, Instant::ZERO, random);
                RateControl::Minstrel(Box::new(found))
            }
            [(_, mode)] => RateControl::Fixed(stage(*mode)),
            modes => RateControl::Steps(modes.iter().map(|(time, mode)| (*time, stage(*mode))).collect()),
        }
    }
}

impl Cell {
    /// Builds the cell of `wifi`, which acts at `component` and counts in the `ledgers` of down and up. `station_of`
    /// has the station of each flow. `above` makes the queues above the driver of an interface that sends in a
    /// direction, and says whether its stations take turns by airtime.
    ///
    /// # Errors
    /// The errors of `above`.
    pub(crate) fn of(
        wifi: &WifiSpec,
        seed: u64,
        station_of: PerFlow<u32>,
        component: Component,
        ledgers: [Ledger; 2],
        mut above: impl FnMut(Direction) -> Result<(Above, bool)>,
    ) -> Result<Self> {
        let timing = Timing::new(wifi.standard, wifi.band, wifi.is_protected());
        let limits_of = |driver: Driver| {
            driver.limits(wifi.ampdu.map(|size| size.0 as u32), wifi.lifetime.map(|lifetime| lifetime.0))
        };
        let streams = Streams::new(seed);
        let control = |station: &StationSpec, limits: Limits, direction: Direction, number: u64| {
            let mut random = streams.stream(&format!("rate control {}", direction.name()), number);
            wifi.rate_control(station, limits, &timing, &mut random)
        };
        let mut node = |direction, limits, rates| {
            let (above, by_airtime) = above(direction)?;
            Ok(Node::new(above, limits, rates, by_airtime))
        };
        let limits = limits_of(wifi.driver);
        let to_each = wifi.each().zip(0..);
        let rates = to_each.map(|((_, one), number)| control(one, limits, Direction::Down, number)).collect();
        let access_point = node(Direction::Down, limits, rates)?;
        let of_stations = wifi.each().zip(0..).map(|((_, station), number)| {
            let limits = limits_of(station.driver);
            let most_subframes = station
                .aggregate
                .map_or(limits.most_subframes, |most| limits.most_subframes.min(most as usize));
            let limits = Limits { most_subframes, ..limits };
            node(Direction::Up, limits, vec![control(station, limits, Direction::Up, number)])
        });
        let of_stations = of_stations.collect::<Result<_>>()?;
        let [down, up] = ledgers;
        let senders = [Senders::new(vec![access_point], down), Senders::new(of_stations, up)].into();
        let protection = match (wifi.rts, wifi.is_protected()) {
            (true, _) => Protection::RtsCts,
            (_, true) => Protection::CtsToSelf,
            _ => Protection::Nothing,
        };
        let of_station = |(name, station): (String, &StationSpec)| {
            let timing = Timing::new(wifi.standard_of(station), wifi.band, wifi.is_protected());
            Station::new(name, timing, station.snr)
        };
        let stations = wifi.each().map(of_station).collect();
        let dice = ["backoff", "air"].map(|name| streams.stream(name, 0));
        Ok(Self::new(timing, protection, senders, stations, station_of, dice, component))
    }

    /// Keeps each transmission that begins from `from` to `to`.
    pub(crate) fn log(&mut self, from: Instant, to: Instant) {
        self.watch.get_or_insert_default().log = Some(AirLog::new(from, to));
    }
}
