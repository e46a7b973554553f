//! How losses and marks count: a flight that was too high, and losses that were needless (5.5.10.2, 5.5.11).

use super::ecn::THRESHOLD;
use super::{BoundedBbr, State};
use crate::Window;
use crate::cc::Ack;
use crate::cc::bandwidth::UNIT;
use crate::cc::bbr2;
use crate::rate::{LostSegment, RateEstimator, RateSample};

/// BBR.LossThresh: 2 %, as a divisor.
const LOSS_DIVISOR: u64 = 50;

impl<const VERSION: u8> BoundedBbr<VERSION> {
    /// Handles the lost segments of an ACK (5.5.10.2, HandleLostPacket), and before that an undo (5.5.11.2).
    pub(super) fn on_losses(&mut self, ack: &Ack, rate: &RateEstimator, window: &Window) {
        if core::mem::take(&mut self.is_undone) {
            self.return_from_needless_recovery(rate);
        }
        for &LostSegment { tx_in_flight, lost, is_app_limited } in rate.lost_segments() {
            if self.bounds.note_loss(rate) && !Self::IS_2 {
                self.save_cwnd(window.cwnd);
                self.bounds.save();
                self.undo_state = None;
            }
            if self.probing.is_sample && Self::are_losses_too_many(lost, tx_in_flight) {
                let too_high = if Self::IS_2 {
                    bbr2::inflight_at_loss(tx_in_flight, lost)
                } else {
                    inflight_at_loss(tx_in_flight, lost)
                };
                self.on_inflight_too_high(ack, too_high, is_app_limited, rate, window);
            }
        }
    }

    pub(super) fn return_from_needless_recovery(&mut self, rate: &RateEstimator) {
        match self.undo_state.take().filter(|_| !Self::IS_2) {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => self.start_refill(rate),
            _ => {}
        }
    }

    /// Returns whether the flight was too high by its losses (5.5.10.2, IsInflightTooHigh), or by its marks on a short
    /// path.
    pub(super) fn is_inflight_too_high(&self, sample: &RateSample) -> bool {
        Self::are_losses_too_many(sample.lost, sample.tx_in_flight)
            || (self.ecn.is_eligible()
                && sample.delivered_ce > 0
                && sample.delivered_ce * u64::from(UNIT) > sample.delivered * THRESHOLD)
    }

    fn are_losses_too_many(lost: u64, tx_in_flight: u32) -> bool {
        if Self::IS_2 {
            bbr2::are_losses_too_many(lost, tx_in_flight)
        } else {
            lost * LOSS_DIVISOR > u64::from(tx_in_flight)
        }
    }

    /// Handles a flight that was too high (5.5.10.2, HandleInflightTooHigh).
    pub(super) fn on_inflight_too_high(
        &mut self,
        ack: &Ack,
        too_high: u32,
        is_app_limited: bool,
        rate: &RateEstimator,
        window: &Window,
    ) {
        self.probing.was_too_high = true;
        self.probing.is_sample = false; // once per probe
        if !is_app_limited {
            self.bounds.lower_longterm(too_high, self.target_inflight(window));
            if Self::IS_2 {
                self.lower_bw_longterm();
            }
        }
        if self.state == State::Up {
            self.undo_state = Some(State::Up);
            self.start_down(ack.now, rate);
        }
    }
}

/// Returns the flight at which losses passed the threshold (5.5.10.2, InflightAtLoss, for one segment).
fn inflight_at_loss(tx_in_flight: u32, lost: u64) -> u32 {
    let before = u64::from(tx_in_flight.saturating_sub(1));
    let lost_before = lost.saturating_sub(1);
    // (before / 50 − lost_before) / (1 − 1 / 50), at least 0, and in whole segments.
    let prefix = before.saturating_sub(LOSS_DIVISOR * lost_before) / (LOSS_DIVISOR - 1);
    (before + prefix) as u32
}

#[cfg(test)]
mod tests;
