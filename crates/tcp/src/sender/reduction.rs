//! How the window falls, and how a reduction that proves needless is taken back.

use super::{CongestionState, Sender};
use crate::SeqNumber;
use crate::cc::{Cause, Congestion};
use crate::scoreboard::Delivery;
use crate::undo::Prior;
use goodqueue_units::Instant;

impl Sender {
    pub(super) fn prior(&self) -> Prior {
        let reducing = self.recovery.is_reducing();
        let ssthresh = if reducing { self.window.ssthresh } else { self.window.current_ssthresh() };
        Prior { cwnd: self.window.cwnd, ssthresh }
    }

    pub(super) fn begin_undo(&mut self, prior: Option<Prior>) {
        self.recovery.begin_undo(self.board.una(), prior, self.board.resent_out());
    }

    pub(super) fn begin_reduction(&mut self, delivery: &Delivery, cause: Cause) {
        let recover_fs = if self.era().reduction.recover_fs_from_flight {
            // RFC 9937, section 6.1: the segments out and not SACKed before this ACK.
            self.board.packets_out() - self.board.sacked_out() + delivery.segments
        } else {
            self.window.cwnd
        };
        self.recovery.begin_reduction(self.board.nxt(), recover_fs, self.feedback.confirms());
        self.window.counted = 0;
        self.set_ssthresh(delivery.now(), cause);
    }

    pub(super) fn set_ssthresh(&mut self, now: Instant, cause: Cause) {
        let from_flight = self.era().reduction.ssthresh_from_flight;
        let cwnd = if from_flight { self.board.packets_out() } else { self.window.cwnd };
        self.window.ssthresh = self.cc.ssthresh(&Congestion { now, cwnd, cause });
    }

    /// Sets the window for an ACK during a reduction (PRR). `safe`: the ACK advances and shows no new loss.
    #[cold]
    pub(super) fn reduce(&mut self, delivered: u32, safe: bool) {
        if delivered > 0 {
            let bonus = safe || self.era().reduction.prr_ssrb_always;
            let in_flight = self.board.in_flight();
            let allowed = self.recovery.released(delivered, in_flight, self.window.ssthresh, bonus);
            self.window.cwnd = (in_flight + allowed).max(1);
        }
    }

    /// Sets the window to ssthresh, where the reduction should bring it. Some algorithms set the window
    /// themselves.
    pub(super) fn end_reduction(&mut self) {
        if !self.cc.sets_window() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// Returns whether echoes and DSACKs undo a reduction.
    pub(super) fn may_undo(&self) -> bool {
        self.era().reduction.undo_by_eifel_and_dsack
    }

    /// Ends the recovery. Returns whether the recovery was needless and is undone.
    pub(super) fn end_recovery(&mut self, tsecr: u32) -> bool {
        let undone = self.recovery.end_recovery(tsecr, self.may_undo());
        if undone {
            self.undo(false);
        }
        undone
    }

    /// Takes a partial ACK with an echo from before the first retransmission: the segments were late, not lost. The
    /// reduction is undone as soon as no retransmission is out. Returns whether one is out: then no more segments are
    /// taken for lost.
    pub(super) fn try_undo_partly(&mut self, tsecr: u32, una: SeqNumber) -> bool {
        if !self.recovery.is_late(tsecr, self.may_undo()) {
            return false;
        }
        let highest = self.board.sacked_until();
        if una < highest {
            self.recovery.rack.on_reordering(highest.since(una).div_ceil(self.mss.into()));
        }
        if self.board.resent_out() > 0 {
            self.recovery.new_first = true; // Linux leaves `rexmit` at REXMIT_NONE
            return true;
        }
        self.undo(true);
        self.keep_open();
        false
    }

    /// Undoes the reduction if every retransmission came twice.
    pub(super) fn try_undo_by_dsack(&mut self) {
        if self.recovery.is_disproved(self.may_undo()) {
            self.recovery.rack.on_disproved();
            self.undo(false);
            if self.state() == CongestionState::Recovery {
                self.keep_open();
            }
        }
    }

    /// Takes the reduction back. If `found`, the segments that were taken for lost are on their way.
    pub(super) fn undo(&mut self, found: bool) {
        if found {
            self.board.unmark_lost();
        }
        self.board.search_again();
        if let Some(Prior { cwnd, ssthresh }) = self.recovery.take_prior() {
            self.cc.on_undo();
            self.window.cwnd = self.cc.undo_cwnd(&self.window, cwnd);
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.recovery.cwr_due = false;
            }
            self.stats.undos += 1;
        }
    }
}

#[cfg(test)]
mod tests;
