//! Bandwidth and flight: the measured maximum, and the bounds that losses set (5.5.2 to 5.5.6, 5.5.10).

use super::super::bandwidth::{Bandwidth, UNIT};
use super::State;
use super::controls::LEAST_CWND;
use crate::rate::{RateEstimator, RateSample};

/// BBR.Beta 0.7: the smallest factor by which a bound falls in a round.
const BETA: u32 = UNIT * 7 / 10;
/// BBR.Headroom 0.15: the share left to other flows while cruising.
const HEADROOM: u32 = UNIT * 15 / 100;
/// No bound.
pub(super) const INFINITE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The largest delivery rate of the last cycle and of this one (5.5.6).
    max_bw: [Bandwidth; 2],
    pub(super) bw_shortterm: Bandwidth,
    pub(super) inflight_shortterm: u32,
    pub(super) inflight_longterm: u32,
    /// The largest delivery rate of this loss round.
    bw_latest: Bandwidth,
    /// The most segments delivered in a sample of this loss round.
    pub(super) inflight_latest: u32,
    loss_round_end: u64,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
    /// The bounds before the losses: bandwidth, short-term flight, long-term flight.
    undo: (Bandwidth, u32, u32),
}

/// Returns `value` times `gain`.
pub(super) fn times(value: u32, gain: u32) -> u32 {
    (u64::from(value) * u64::from(gain) / u64::from(UNIT)) as u32
}

impl Bounds {
    pub(super) fn new() -> Self {
        Self {
            max_bw: [Bandwidth::ZERO; 2],
            bw_shortterm: Bandwidth::INFINITE,
            inflight_shortterm: INFINITE,
            inflight_longterm: INFINITE,
            bw_latest: Bandwidth::ZERO,
            inflight_latest: 0,
            loss_round_end: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            undo: (Bandwidth::ZERO, 0, 0),
        }
    }

    pub(super) fn max_bw(&self) -> Bandwidth {
        self.max_bw[0].max(self.max_bw[1])
    }

    /// Returns the bounded bandwidth (5.5.10.3, BoundBWForModel).
    pub(super) fn bw(&self) -> Bandwidth {
        self.max_bw().min(self.bw_shortterm)
    }

    /// Takes a bandwidth sample for the maximum (5.5.5).
    pub(super) fn take(&mut self, bw: Bandwidth) {
        self.max_bw[1] = self.max_bw[1].max(bw);
    }

    /// Begins a new cycle of the maximum (5.5.6, AdvanceMaxBwFilter). A cycle without samples does not count.
    pub(super) fn advance(&mut self) {
        if self.max_bw[1] > Bandwidth::ZERO {
            self.max_bw = [self.max_bw[1], Bandwidth::ZERO];
        }
    }

    /// Updates the latest delivery signals, and the loss round (5.5.10.3, UpdateLatestDeliverySignals).
    pub(super) fn update_latest(&mut self, sample: &RateSample, rate: &RateEstimator) {
        self.loss_round_start = false;
        let Some(interval) = sample.interval else { return };
        self.bw_latest = self.bw_latest.max(Bandwidth::of(sample.delivered, interval));
        self.inflight_latest = self.inflight_latest.max(sample.delivered as u32);
        if sample.prior_delivered >= self.loss_round_end {
            self.loss_round_end = rate.delivered();
            self.loss_round_start = true;
        }
    }

    /// Restarts the latest delivery signals with this sample (5.5.10.3, AdvanceLatestDeliverySignals).
    pub(super) fn restart_latest(&mut self, sample: &RateSample) {
        let Some(interval) = sample.interval else { return };
        self.bw_latest = Bandwidth::of(sample.delivered, interval);
        self.inflight_latest = sample.delivered as u32;
    }

    /// Resets the congestion signals (5.5.10.3, ResetCongestionSignals).
    pub(super) fn reset_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = Bandwidth::ZERO;
        self.inflight_latest = 0;
    }

    /// Takes note of a loss (5.5.10.2, NoteLoss). Returns whether it is the first of its round.
    pub(super) fn note_loss(&mut self, rate: &RateEstimator) -> bool {
        let is_first = !self.is_loss_in_round;
        if is_first {
            self.loss_round_end = rate.delivered();
        }
        self.is_loss_in_round = true;
        is_first
    }

    /// Lowers the short-term bounds, once per round (5.5.10.3, AdaptLowerBoundsFromCongestion). `ecn_cut` is the part
    /// of the flight that marks leave. With `marks_cut_bw` it is the part of the bandwidth, too.
    pub(super) fn adapt(&mut self, cwnd: u32, ecn_cut: Option<u32>, marks_cut_bw: bool) {
        let before = if self.inflight_shortterm == INFINITE { cwnd } else { self.inflight_shortterm };
        let bw_by_marks = ecn_cut.filter(|_| marks_cut_bw).map(|cut| self.bw_before().times(cut));
        if let Some(cut) = ecn_cut {
            self.inflight_shortterm = times(before, cut);
        }
        if self.is_loss_in_round {
            self.bw_shortterm = self.bw_latest.max(self.bw_before().times(BETA));
            let by_loss = self.inflight_latest.max(times(before, BETA));
            self.inflight_shortterm =
                by_loss.min(if ecn_cut.is_some() { self.inflight_shortterm } else { by_loss });
        }
        self.bw_shortterm = self.bw_shortterm.min(bw_by_marks.unwrap_or(Bandwidth::INFINITE));
    }

    fn bw_before(&self) -> Bandwidth {
        if self.bw_shortterm == Bandwidth::INFINITE { self.max_bw() } else { self.bw_shortterm }
    }

    /// Sets the short-term bound of the flight at a timeout, if there is none, outside of probes (version 2).
    pub(super) fn begin_shortterm(&mut self, prior_cwnd: u32, state: State) {
        if !state.is_accelerating() && self.inflight_shortterm == INFINITE {
            self.inflight_shortterm = prior_cwnd;
        }
    }

    /// Lowers the short-term bound of the flight to the long-term one, to cruise (version 2).
    pub(super) fn cruise(&mut self) {
        if self.inflight_shortterm != INFINITE {
            self.inflight_shortterm = self.inflight_shortterm.min(self.inflight_longterm);
        }
    }

    pub(super) fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (Bandwidth::INFINITE, INFINITE);
    }

    /// Lowers the long-term bound (5.5.10.2, HandleInflightTooHigh). `in_flight` was too high, and `target` is the
    /// flight aimed for.
    pub(super) fn lower_longterm(&mut self, in_flight: u32, target: u32) {
        self.inflight_longterm = in_flight.max(times(target, BETA));
    }

    /// Returns the long-term bound less the headroom (5.3.3.9, InflightWithHeadroom).
    pub(super) fn with_headroom(&self) -> u32 {
        if self.inflight_longterm == INFINITE {
            return INFINITE;
        }
        let headroom = times(self.inflight_longterm, HEADROOM).max(1);
        self.inflight_longterm.saturating_sub(headroom).max(LEAST_CWND)
    }

    /// Saves the bounds (5.5.11.1).
    pub(super) fn save(&mut self) {
        self.undo = (self.bw_shortterm, self.inflight_shortterm, self.inflight_longterm);
    }

    /// Restores the saved bounds (5.5.11.2).
    pub(super) fn undo(&mut self) {
        let (bw, shortterm, longterm) = self.undo;
        self.is_loss_in_round = false;
        self.bw_shortterm = self.bw_shortterm.max(bw);
        self.inflight_shortterm = self.inflight_shortterm.max(shortterm);
        self.inflight_longterm = self.inflight_longterm.max(longterm);
    }

    pub(super) fn probe(&self, mss: u16, show: &mut dyn FnMut(&'static str, f64)) {
        if self.bw_shortterm != Bandwidth::INFINITE {
            show("bw_lo_mbps", self.bw_shortterm.bps(mss) as f64 / 1e6);
        }
        if self.inflight_shortterm != INFINITE {
            show("inflight_lo_segments", f64::from(self.inflight_shortterm));
        }
        if self.inflight_longterm != INFINITE {
            show("inflight_hi_segments", f64::from(self.inflight_longterm));
        }
    }
}
