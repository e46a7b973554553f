//! The results of a cell's run: who had the air, and where packets waited.

use super::cell::Cell;
use super::log::AirSeries;
use super::stations::{Station, StationCounts, StationSeries};
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::part::Value;
use goodqueue_hosts::probe::delay::Summary;
use goodqueue_hosts::probe::{ratio, rounded};

goodqueue_hosts::part! {
    /// A Wi-Fi cell within the measured time.
    pub struct WifiRecord as "Air" {
        /// Share of the time in which frames of either direction, with their answers, were on the air.
        pub busy_percent: f64,
        /// Share of the transmissions that collided.
        pub collision_percent: f64,
        /// The stations, in the scenario's order.
        pub stations: Vec<StationRecord>,
    }
}

goodqueue_hosts::part! {
    /// A station of a Wi-Fi cell.
    pub struct StationRecord as "Station" {
        /// Its name in the scenario.
        pub name: String,
        /// The station's share of all airtime, both ways. The shares of all stations add up to 100.
        pub airtime_percent: f64,
        /// From the access point.
        pub down: AirRecord,
        /// To the access point.
        pub up: AirRecord,
    }
}

goodqueue_hosts::part! {
    /// What a station and the access point did in one direction.
    #[derive(Copy)]
    pub struct AirRecord as "AirOfStation" {
        /// Share of the time in which its frames, with their answers, were on the air.
        pub airtime_percent: f64,
        /// Throughput of the delivered packets, headers included.
        pub throughput_mbps: f64,
        /// Mean number of frames per transmission, without questions (BlockAckReq): the size of aggregates.
        pub aggregate_frames: Option<f64>,
        /// Mean rate of the transmissions, without questions.
        pub rate_mbps: Option<f64>,
        /// Number of transmissions. Each is a frame, an aggregate or a question.
        pub transmissions: u64,
        /// Share of the transmissions that nobody answered.
        pub retry_percent: f64,
        /// Frames that were given up after all tries, or because they were too old.
        pub lost: u64,
        /// Those of them that were older than the cell's `lifetime`. `drops_by_reason` has the frames that were too
        /// old before they were sent at all. Only if there are any.
        #[serde(skip_serializing_if = "Value::is_nothing")]
        pub expired: u64,
        /// Time from a packet's arrival at the sender's queue to its delivery.
        pub delay_ms: Option<Summary>,
    }
}

impl Cell {
    /// Returns the record of what was counted in so many `seconds`.
    pub(crate) fn record(&self, seconds: f64) -> WifiRecord {
        let both = |station: &Station| {
            Direction::ALL.map(|direction| station.counts[direction].airtime.as_secs_f64())
        };
        let total: f64 = self.stations.iter().flat_map(both).sum();
        let counts = || self.stations.iter().flat_map(|station| station.counts.iter());
        let [transmissions, collided] = [
            counts().map(|counts| counts.transmissions).sum::<u64>(),
            counts().map(|counts| counts.collided).sum::<u64>(),
        ];
        let on_air: f64 = counts().map(|counts| counts.useful.as_secs_f64()).sum();
        let station = |station: &Station| StationRecord {
            name: station.name.clone(),
            airtime_percent: rounded(100.0 * ratio(both(station).iter().sum(), total)),
            down: air(&station.counts[Direction::Down], seconds),
            up: air(&station.counts[Direction::Up], seconds),
        };
        WifiRecord {
            busy_percent: rounded(100.0 * ratio(on_air, seconds)),
            collision_percent: goodqueue_hosts::probe::percent(collided, transmissions),
            stations: self.stations.iter().map(station).collect(),
        }
    }

    /// Returns the series of each station over time.
    pub(crate) fn station_series(&self) -> Vec<StationSeries> {
        self.stations.iter().map(Station::over_time).collect()
    }

    /// Returns the log of the air, if there is one.
    pub(crate) fn air_series(&self) -> Option<AirSeries> {
        let log = self.watch.as_ref()?.log.as_ref()?;
        Some(log.series(|station| &self.stations[station as usize].name))
    }
}

/// Returns the record of one direction from its `counts` in so many `seconds`.
fn air(counts: &StationCounts, seconds: f64) -> AirRecord {
    let sent = counts.transmissions;
    let mean = |sum: f64| (counts.with_frames > 0).then(|| rounded(sum / counts.with_frames as f64));
    AirRecord {
        airtime_percent: rounded(100.0 * ratio(counts.airtime.as_secs_f64(), seconds)),
        throughput_mbps: rounded(ratio(counts.delivered_bytes as f64 * 8e-6, seconds)),
        aggregate_frames: mean(counts.frames as f64),
        rate_mbps: mean(counts.rates_mbps),
        transmissions: sent,
        retry_percent: goodqueue_hosts::probe::percent(counts.unanswered, sent),
        lost: counts.lost,
        expired: counts.expired,
        delay_ms: counts.delays.summary(),
    }
}
