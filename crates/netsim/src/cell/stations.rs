//! What is counted of each station of a cell, in each direction, and over time.

use crate::direction::Direction;
use crate::lists::PerWay;
use crate::packet::Packet;
use crate::path::wifi::channel::error_rate;
use crate::path::wifi::mode::Mode;
use crate::path::wifi::standard::Category;
use crate::probe::delay::FlowDelays;
use crate::probe::{ratio, rounded};
use goodqueue_qdisc::Packet as _;
use goodqueue_units::{Duration, Instant};
use serde::Serialize;
use std::collections::BTreeMap;

/// A station.
pub(crate) struct Station {
    pub(crate) name: String,
    /// Signal-to-noise ratio of its link in dB, both ways; where there is none, only collisions lose frames.
    snr_db: Option<f64>,
    /// The shares of frames of a mode and so many bytes that noise destroys, as far as asked for: they cost more to
    /// reckon than all else of an exchange.
    error_rates: BTreeMap<(Mode, u32), f64>,
    pub(crate) counts: PerWay<StationCounts>,
    /// What it did since the last interval of the series ended, and the intervals before.
    since: PerWay<Since>,
    series: PerWay<AirtimeSeries>,
}

/// What a station did within an interval: airtime, transmissions with packets in them, and the sum of their rates in
/// Mbit/s.
#[derive(Clone, Copy, Debug, Default)]
struct Since {
    airtime: Duration,
    transmissions: u64,
    rates_mbps: f64,
}

/// A station over time.
#[derive(Clone, Debug, Serialize)]
pub struct StationSeries {
    /// Its name.
    pub name: String,
    /// From the access point.
    pub down: AirtimeSeries,
    /// To the access point.
    pub up: AirtimeSeries,
}

/// One direction of a station over time. What was on the air counts where it ended.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AirtimeSeries {
    /// Share of the interval in which its frames, with their answers, were on the air.
    pub airtime_percent: Vec<f64>,
    /// The rate of its transmissions on average, those without packets left out; null where there were none.
    pub rate_mbps: Vec<Option<f64>>,
}

/// What a station and the access point did in one direction.
pub(crate) struct StationCounts {
    /// Transmissions, of which each is a frame or an aggregate.
    pub(crate) transmissions: u64,
    /// Frames in them.
    pub(crate) frames: u64,
    /// Those of them that nobody answered, and those among these that collided.
    pub(crate) unanswered: u64,
    pub(crate) collided: u64,
    /// Of packets that came.
    pub(crate) delivered_bytes: u64,
    /// Frames that were given up.
    pub(crate) lost: u64,
    /// On the air, with answers; and of that, without collisions.
    pub(crate) airtime: Duration,
    pub(crate) useful: Duration,
    /// Transmissions that are no questions, and their rates, summed, in Mbit/s.
    pub(crate) with_frames: u64,
    pub(crate) rates_mbps: f64,
    /// From a packet's arrival at the queue until it is delivered.
    pub(crate) delays: FlowDelays,
}

impl Station {
    pub(crate) fn new(name: String, snr_db: Option<f64>) -> Self {
        let (counts, since) = (PerWay::of(|_| StationCounts::new()), PerWay::of(|_| Since::default()));
        let series = PerWay::of(|_| AirtimeSeries::default());
        Self { name, snr_db, error_rates: BTreeMap::new(), counts, since, series }
    }

    /// Counts `transmission`.
    pub(crate) fn sent(&mut self, transmission: &Transmission) {
        let way = transmission.way;
        self.counts[way].sent(transmission);
        let since = &mut self.since[way];
        since.airtime = since.airtime + transmission.airtime;
        // A question is asked in the mode of answers, which says nothing of the link.
        if transmission.frames > 0 {
            since.transmissions += 1;
            since.rates_mbps += transmission.mode.mbps();
        }
    }

    /// An interval of the series ends.
    pub(crate) fn end_interval(&mut self, interval: Duration) {
        for way in Direction::ALL {
            let Since { airtime, transmissions, rates_mbps } = std::mem::take(&mut self.since[way]);
            let series = &mut self.series[way];
            let share = ratio(airtime.as_secs_f64(), interval.as_secs_f64());
            series.airtime_percent.push(rounded(100.0 * share));
            let mean = || rounded(rates_mbps / transmissions as f64);
            series.rate_mbps.push((transmissions > 0).then(mean));
        }
    }

    /// It over time.
    pub(crate) fn over_time(&self) -> StationSeries {
        let [down, up] = Direction::ALL.map(|way| self.series[way].clone());
        StationSeries { name: self.name.clone(), down, up }
    }

    /// The share of frames of `bytes` in `mode` that noise destroys.
    pub(crate) fn error_rate(&mut self, mode: Mode, bytes: u32) -> f64 {
        let Some(snr_db) = self.snr_db else { return 0.0 };
        *self.error_rates.entry((mode, bytes)).or_insert_with(|| error_rate(mode, snr_db, bytes))
    }

    /// Measuring begins.
    pub(crate) fn reset(&mut self) {
        self.counts = PerWay::of(|_| StationCounts::new());
    }
}

/// A transmission, when it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) began: Instant,
    /// On the air, with answers.
    pub(crate) airtime: Duration,
    pub(crate) station: u32,
    pub(crate) way: Direction,
    pub(crate) category: Category,
    pub(crate) mode: Mode,
    /// Frames with packets in it, none of a question, and those that came.
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
        // A question says nothing of the link, as above.
        if frames > 0 {
            self.with_frames += 1;
            self.rates_mbps += mode.mbps();
        }
    }

    /// `packet` has come, so long after it arrived at the queue.
    pub(crate) fn delivered(&mut self, packet: &Packet, delay: Duration) {
        self.delivered_bytes += u64::from(packet.len());
        self.delays.record(delay);
    }
}
