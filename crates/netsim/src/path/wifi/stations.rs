//! What is counted of each station of a cell, in each direction.

use super::channel::error_rate;
use super::mode::Mode;
use crate::direction::Direction;
use crate::lists::PerWay;
use crate::packet::Packet;
use crate::probe::delay::FlowDelays;
use goodqueue_qdisc::Packet as _;
use goodqueue_units::Duration;
use std::collections::BTreeMap;

/// A station.
pub(crate) struct Station {
    pub(crate) name: String,
    /// Signal-to-noise ratio of its link in dB, both ways; where there is none, only collisions lose frames.
    snr_db: Option<f64>,
    /// The shares of frames of a mode and so many bytes that noise destroys, as far as asked for: they cost more to reckon than
    /// all else of an exchange.
    error_rates: BTreeMap<(Mode, u32), f64>,
    pub(crate) counts: PerWay<StationCounts>,
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
    /// Frames that came.
    pub(crate) delivered: u64,
    pub(crate) delivered_bytes: u64,
    /// Frames that were given up.
    pub(crate) lost: u64,
    /// On the air, with answers; and of that, without collisions.
    pub(crate) airtime: Duration,
    pub(crate) useful: Duration,
    /// The rates of the transmissions, summed, in Mbit/s.
    pub(crate) rates_mbps: f64,
    /// From a packet's arrival at the queue until it is delivered.
    pub(crate) delays: FlowDelays,
}

impl Station {
    pub(crate) fn new(name: String, snr_db: Option<f64>) -> Self {
        Self { name, snr_db, error_rates: BTreeMap::new(), counts: PerWay::of(|_| StationCounts::new()) }
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
    pub(crate) frames: usize,
    pub(crate) mode: Mode,
    pub(crate) airtime: Duration,
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
            delivered: 0,
            delivered_bytes: 0,
            lost: 0,
            airtime: Duration::ZERO,
            useful: Duration::ZERO,
            rates_mbps: 0.0,
            delays: FlowDelays::new(),
        }
    }

    /// Counts `transmission`.
    pub(crate) fn sent(&mut self, transmission: Transmission) {
        let Transmission { frames, mode, airtime, is_answered, is_collision } = transmission;
        self.transmissions += 1;
        self.frames += frames as u64;
        self.unanswered += u64::from(!is_answered);
        self.collided += u64::from(is_collision);
        self.airtime = self.airtime + airtime;
        if !is_collision {
            self.useful = self.useful + airtime;
        }
        self.rates_mbps += mode.mbps();
    }

    /// `packet` has come, so long after it arrived at the queue.
    pub(crate) fn delivered(&mut self, packet: &Packet, delay: Duration) {
        self.delivered += 1;
        self.delivered_bytes += u64::from(packet.len());
        self.delays.record(delay);
    }
}

/// The counts of the direction `way` of `station`.
pub(crate) fn counts(stations: &mut [Station], station: u32, way: Direction) -> &mut StationCounts {
    &mut stations[station as usize].counts[way]
}
