//! Which segments an ACK or a timer shows to be lost: by RACK, FACK or RFC 6675, and by early retransmit.

use super::{CongestionState, Sender};
use crate::era::LossDetection;
use crate::rack::DUP_THRESH;
use crate::scoreboard::{Delivery, Found};
use goodqueue_units::Instant;

impl Sender {
    pub(super) fn detect_losses(&mut self, now: Instant) -> Found {
        let found = match self.era().detection.losses_by {
            LossDetection::Rack if self.board.take_advanced() => self.detect_by_time(now),
            LossDetection::Rack => Found::default(),
            LossDetection::Fack => self.detect_by_forward_ack(now),
            LossDetection::Rfc6675 => self.board.detect_by_sacks(DUP_THRESH),
        };
        self.stats.lost += u64::from(found.segments);
        if let Some(until) = found.wait_until {
            self.wait_for_late(now, until);
        }
        found
    }

    fn detect_by_time(&mut self, now: Instant) -> Found {
        let recovering = self.state() >= CongestionState::Recovery;
        let window = self.recovery.rack.window(recovering, self.board.sacked_out(), &self.rtt);
        self.board.detect_losses(now, window)
    }

    fn detect_by_forward_ack(&mut self, now: Instant) -> Found {
        if self.state() == CongestionState::Loss {
            return Found::default(); // all segments are marked as lost already
        }
        let in_order = self.recovery.rack.is_in_order();
        let again = if in_order { self.board.detect_lost_retransmissions() } else { Found::default() };
        let mut found = self.board.detect_by_forward_ack(self.recovery.rack.degree(), in_order);
        found.segments += again.segments;
        found.resent = again.resent;
        let is_early = self.state() < CongestionState::Recovery && self.may_retransmit_early();
        found.wait_until = is_early.then(|| now + self.early_delay());
        found
    }

    /// Takes a duplicate ACK in recovery: the first segment is lost, however little is SACKed above it (Linux until
    /// 4.14).
    pub(super) fn lose_first(&mut self, found: &mut Found) {
        let is_forward = self.era().detection.losses_by == LossDetection::Fack;
        if is_forward && self.state() == CongestionState::Recovery && self.board.lose_first() {
            found.segments += 1;
            self.stats.lost += 1;
        }
    }

    /// Returns whether so little is out that DupThresh cannot be reached, and nothing new may be sent (RFC 5827,
    /// section 3.2). Linux asks for one SACKed segment, where the RFC asks for all except one. After reordering there
    /// is no early retransmit.
    fn may_retransmit_early(&self) -> bool {
        let (out, sacked) = (self.board.packets_out(), self.board.sacked_out());
        let may_send = self.board.in_flight() < self.window.cwnd && self.has_new();
        sacked > 0 && sacked < out && out < 4 && !may_send && !self.recovery.rack.has_seen_reordering()
    }

    /// Ends the wait of early retransmit: the missing segment did not come. The window falls with the next ACK.
    pub(super) fn retransmit_early(&mut self, now: Instant) {
        if self.may_retransmit_early() && self.board.lose_first() {
            debug_assert!(
                self.state() < CongestionState::Recovery,
                "with so little out, only this wait begins one"
            );
            self.stats.lost += 1;
            self.forget_losses_of_acks();
            self.begin_recovery(&Delivery::new(now, self.rtt.min()), false);
        }
    }

    /// Ends the wait of RACK: the missing segments did not come (RFC 8985, 6.3). For those that must still be waited
    /// for there is no further wait, as on Linux (`tcp_rack_reo_timeout`).
    pub(super) fn lose_late(&mut self, now: Instant) {
        let found = self.detect_by_time(now);
        self.stats.lost += u64::from(found.segments);
        self.on_late_losses(now, found);
    }

    fn on_late_losses(&mut self, now: Instant, found: Found) {
        self.forget_losses_of_acks();
        if found.segments > 0 && self.state() != CongestionState::Recovery {
            self.begin_recovery(&Delivery::new(now, self.rtt.min()), false);
            if !self.cc.sets_window() {
                self.reduce(1, false);
            }
        }
    }

    /// Tells the estimator of the delivery rate that a timer found the losses, and not an ACK.
    pub(super) fn forget_losses_of_acks(&mut self) {
        if let Some(rate) = self.board.rate_mut() {
            rate.on_timer();
        }
    }
}

#[cfg(test)]
mod tests;
