//! The counts of each station of a cell, per direction and over time.

use super::channel::error_rate;
use super::mode::Mode;
use super::standard::{Category, Timing};
use crate::lists::ByDirection;
use crate::packet::Packet;
use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::probe::delay::FlowDelays;
use goodqueue_hosts::probe::{ratio, rounded};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Duration, Instant};
use std::collections::BTreeMap;

/// A station.
pub(crate) struct Station {
    pub(crate) name: String,
    /// The timing of its standard: how its own frames contend, and in which category packets from and to it are.
    pub(crate) timing: Timing,
    /// Signal-to-noise ratio of the station's link in dB, both ways. Without it, only collisions lose frames.
    snr_db: Option<f64>,
    /// The share of frames that noise destroys, by mode and bytes. A cache, because to compute a share costs more
    /// than all the rest of an exchange.
    error_rates: BTreeMap<(Mode, u32), f64>,
    pub(crate) counts: ByDirection<StationCounts>,
    /// The counts since the last interval of the series ended, and the series of the intervals before.
    since: ByDirection<Since>,
    series: ByDirection<AirtimeSeries>,
}

/// The counts of a station within an interval: airtime, transmissions with packets in them, and the sum of these
/// transmissions' rates in Mbit/s.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    airtime: Duration,
    transmissions: u64,
    rates_mbps: f64,
}

goodqueue_hosts::part! {
    /// A station of a Wi-Fi cell over time.
    pub struct StationSeries {
        /// Its name in the scenario.
        pub name: String,
        /// From the access point.
        pub down: AirtimeSeries,
        /// To the access point.
        pub up: AirtimeSeries,
    }
}

goodqueue_hosts::part! {
    /// One direction of a station over time. A transmission counts in the interval in which it ended.
    #[derive(Default)]
    pub struct AirtimeSeries {
        /// Share of the interval in which its frames, with their answers, were on the air.
        pub airtime_percent: Vec<f64>,
        /// Mean rate of the transmissions with packets in them; null if there were none.
        pub rate_mbps: Vec<Option<f64>>,
    }
}

/// What a station and the access point did in one direction.
pub(crate) struct StationCounts {
    /// Transmissions. Each is a frame, an aggregate or a question (BlockAckReq).
    pub(crate) transmissions: u64,
    /// Frames in the transmissions.
    pub(crate) frames: u64,
    /// Transmissions that nobody answered, and those among them that collided.
    pub(crate) unanswered: u64,
    pub(crate) collided: u64,
    /// Bytes of the packets that arrived.
    pub(crate) delivered_bytes: u64,
    /// Frames that were given up, and those among them that were too old.
    pub(crate) lost: u64,
    pub(crate) expired: u64,
    /// Airtime with answers, and the part of it without collisions.
    pub(crate) airtime: Duration,
    pub(crate) useful: Duration,
    /// The number of transmissions that are not questions, and the sum of their rates in Mbit/s.
    pub(crate) with_frames: u64,
    pub(crate) rates_mbps: f64,
    /// The time from a packet's arrival at the queue to its delivery.
    pub(crate) delays: FlowDelays,
}

impl Station {
    pub(crate) fn new(name: String, timing: Timing, snr_db: Option<f64>) -> Self {
        let (counts, since) =
            (ByDirection::of(|_| StationCounts::new()), ByDirection::of(|_| Since::default()));
        let series = ByDirection::of(|_| AirtimeSeries::default());
        Self { name, timing, snr_db, error_rates: BTreeMap::new(), counts, since, series }
    }

    /// Counts `transmission`.
    pub(crate) fn sent(&mut self, transmission: &Transmission) {
        let direction = transmission.direction;
        self.counts[direction].sent(transmission);
        let since = &mut self.since[direction];
        since.airtime = since.airtime + transmission.airtime;
        // A question is sent in the mode of answers, which says nothing about the link.
        if transmission.frames > 0 {
            since.transmissions += 1;
            since.rates_mbps += transmission.mode.mbps();
        }
    }

    /// Ends an interval of the series.
    pub(crate) fn end_interval(&mut self, interval: Duration) {
        for direction in Direction::ALL {
            let Since { airtime, transmissions, rates_mbps } = std::mem::take(&mut self.since[direction]);
            let series = &mut self.series[direction];
            let share = ratio(airtime.as_secs_f64(), interval.as_secs_f64());
            series.airtime_percent.push(rounded(100.0 * share));
            let mean = || rounded(rates_mbps / transmissions as f64);
            series.rate_mbps.push((transmissions > 0).then(mean));
        }
    }

    /// Returns the station's series over time.
    pub(crate) fn over_time(&self) -> StationSeries {
        let [down, up] = Direction::ALL.map(|direction| self.series[direction].clone());
        StationSeries { name: self.name.clone(), down, up }
    }

    /// Returns the share of frames of `bytes` in `mode` that noise destroys.
    pub(crate) fn error_rate(&mut self, mode: Mode, bytes: u32) -> f64 {
        let Some(snr_db) = self.snr_db else { return 0.0 };
        *self.error_rates.entry((mode, bytes)).or_insert_with(|| error_rate(mode, snr_db, bytes))
    }

    /// Begins the measured time: all counts are zero again.
    pub(crate) fn begin_measuring(&mut self) {
        self.counts = ByDirection::of(|_| StationCounts::new());
    }
}

/// A transmission that is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) began: Instant,
    /// Airtime, with the answer.
    pub(crate) airtime: Duration,
    pub(crate) station: u32,
    pub(crate) direction: Direction,
    pub(crate) category: Category,
    pub(crate) mode: Mode,
    /// Frames with packets in it, and those of them that arrived. A question has none.
    pub(crate) frames: usize,
    pub(crate) came: usize,
    pub(crate) is_answered: bool,
    pub(crate) is_collision: bool,
}

impl StationCounts {
    fn new() -> Self {
        Self {
            transmissions: 0,
            frames: 0,
            unanswered: 0,
            collided: 0,
            delivered_bytes: 0,
            lost: 0,
            expired: 0,
            airtime: Duration::ZERO,
            useful: Duration::ZERO,
            with_frames: 0,
            rates_mbps: 0.0,
            delays: FlowDelays::new(),
        }
    }

    /// Counts `transmission`.
    fn sent(&mut self, transmission: &Transmission) {
        let &Transmission { frames, mode, airtime, is_answered, is_collision, .. } = transmission;
        self.transmissions += 1;
        self.frames += frames as u64;
        self.unanswered += u64::from(!is_answered);
        self.collided += u64::from(is_collision);
        self.airtime = self.airtime + airtime;
        if !is_collision {
            self.useful = self.useful + airtime;
        }
        // A question says nothing about the link, as above.
        if frames > 0 {
            self.with_frames += 1;
            self.rates_mbps += mode.mbps();
        }
    }

    /// Counts `packet`, which was delivered `delay` after it arrived at the queue.
    pub(crate) fn delivered(&mut self, packet: &Packet, delay: Duration) {
        self.delivered_bytes += u64::from(packet.len());
        self.delays.record(delay);
    }
}
