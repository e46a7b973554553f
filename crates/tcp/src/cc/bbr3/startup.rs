//! Startup and Drain: when the pipe is full, and when the queue that Startup built is gone (5.3.1, 5.3.2).

use super::{BoundedBbr, State};
use crate::cc::Ack;
use crate::cc::bandwidth::{Bandwidth, UNIT};
use crate::cc::bbr2;
use crate::rate::{RateEstimator, RateSample};
use crate::{CongestionState, Window};

/// 5.3.2: the largest number of rounds of Drain.
const DRAIN_ROUNDS: u32 = 3;
/// 5.3.1.2.
const FULL_GROWTH: u32 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// 5.3.1.3: BBRStartupFullLossCnt, counted in ACKs that show losses.
const FULL_LOSSES: u32 = 6;

impl<const VERSION: u8> BoundedBbr<VERSION> {
    /// Restarts the search for the plateau from the baseline `bw` (5.3.1.2, ResetFullBW).
    pub(super) fn reset_full_bw(&mut self, bw: Bandwidth) {
        (self.full_bw, self.full_bw_rounds, self.full_bw_now) = (bw, 0, false);
    }

    /// Checks whether the bandwidth has reached a plateau (5.3.1.2).
    pub(super) fn check_full_pipe(&mut self, sample: &RateSample) {
        let Some(interval) = sample.interval else { return };
        if self.full_bw_now
            || !self.round_start
            || sample.is_app_limited
            || (Self::IS_2 && self.full_bw_reached)
        {
            return;
        }
        let bw = if Self::IS_2 { self.bounds.max_bw() } else { Bandwidth::of(sample.delivered, interval) };
        if bw >= self.full_bw.times(FULL_GROWTH) {
            self.reset_full_bw(bw);
            return;
        }
        self.full_bw_rounds += 1;
        self.full_bw_now = self.full_bw_rounds >= FULL_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// Checks whether Startup has lost too many (5.3.1.3).
    pub(super) fn check_startup_losses(&mut self, ack: &Ack, sample: &RateSample, window: &Window) {
        let full_losses = if Self::IS_2 { bbr2::FULL_LOSSES } else { FULL_LOSSES };
        if self.state == State::Startup
            && !self.full_bw_reached
            && self.bounds.loss_round_start
            && ack.state == CongestionState::Recovery
            && self.loss_events >= full_losses
            && self.is_inflight_too_high(sample)
        {
            self.undo_state = Some(State::Startup);
            self.queue_was_too_high(window);
        }
        if self.bounds.loss_round_start {
            self.loss_events = 0;
        }
    }

    /// Leaves Startup when the pipe is full, or after too many losses (5.3.1.1).
    pub(super) fn check_startup_done(&mut self, window: &mut Window) {
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            if Self::IS_2 {
                self.bounds.reset_signals();
            }
            self.drain_start_round = self.round;
            // The threshold says that slow start is over. From then on the sender is limited by the window only if the
            // window is full.
            self.ssthresh = self.inflight(UNIT, window).max(2);
            window.ssthresh = self.ssthresh;
        }
    }

    /// Takes note that Startup has filled the path and more.
    pub(super) fn queue_was_too_high(&mut self, window: &Window) {
        self.full_bw_reached = true;
        let bdp = self.bdp(self.bounds.max_bw(), UNIT);
        self.bounds.inflight_longterm =
            if Self::IS_2 { self.quantized(bdp, window) } else { bdp.max(self.bounds.inflight_latest) };
    }

    /// Leaves Drain when the queue is gone, or after too many rounds (5.3.2).
    pub(super) fn check_drain_done(&mut self, ack: &Ack, rate: &RateEstimator, window: &Window) {
        if self.state == State::Drain
            && (ack.in_flight <= self.inflight(UNIT, window)
                || (!Self::IS_2 && self.round > self.drain_start_round + DRAIN_ROUNDS))
        {
            self.start_down(ack.now, rate);
        }
    }
}

#[cfg(test)]
mod tests;
