//! The congestion states: which of them an ACK or a timer makes the sender enter and leave.
//!
//! Linux: `tcp_fastretrans_alert`. `detection` finds the losses, and `reduction` moves the window. What the sender must
//! remember for it stands in [`Recovery`](super::recovery::Recovery).

use super::recovery::{LossAck, Timeout};
use super::{CongestionState, Sender};
use crate::cc::Cause;
use crate::scoreboard::{Delivery, Found};
use crate::undo::dsack;
use crate::{SackBlock, Segment, SeqNumber};
use goodqueue_units::Instant;

/// What an ACK reported, beside what it delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    /// The ACK reports marks.
    pub(super) ece: bool,
    /// The ACK acknowledges new data.
    pub(super) advances: bool,
    /// The ACK number.
    pub(super) ack: SeqNumber,
    /// SND.UNA before the ACK.
    pub(super) una: SeqNumber,
    /// The ACK reports that the tail loss probe came twice.
    pub(super) probe_twice: bool,
}

/// What must be done about a dubious ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// Segments were found lost.
    pub(super) lost: bool,
    /// The timer waits for segments that may be late.
    pub(super) waits: bool,
    /// The ACK SACKs a segment that left before the first segment was sent again, so the timer restarts: no ACK of that
    /// retransmission could be here yet.
    pub(super) rearms: bool,
}

impl Sender {
    /// Takes the SACK blocks. Returns whether they report that the tail loss probe came twice.
    #[cold]
    pub(super) fn take_sack(&mut self, segment: &Segment, delivery: &mut Delivery) -> bool {
        let of_probe = dsack(segment.ack, segment.sack_blocks())
            .is_some_and(|twice| self.take_dsack(twice, segment.ack, delivery));
        self.board.sack(segment.ack, segment.sack_blocks(), delivery);
        of_probe
    }

    /// Takes the DSACK of an ACK up to `ack`. Returns whether it is of the tail loss probe.
    fn take_dsack(&mut self, twice: SackBlock, ack: SeqNumber, delivery: &mut Delivery) -> bool {
        let bytes = twice.end.since(twice.start);
        let segments = bytes.div_ceil(self.mss.into());
        let spurious = self.stats.spurious_retransmissions + u64::from(segments);
        if spurious > self.stats.retransmitted {
            return false; // more than was sent again: the network made copies, or the receiver errs
        }
        self.stats.spurious_retransmissions = spurious;
        delivery.segments += segments;
        delivery.dsacked = true;
        let is_here = twice.end > self.board.una();
        let resent = match self.recovery.undo_marker() {
            _ if !is_here => segments,
            marker => self.board.note_twice(twice, ack, marker, delivery),
        };
        let of_probe = self.recovery.on_dsack(twice, resent, bytes <= self.mss.into());
        // A probe was not sent because of reordering. Before any reordering is seen RACK has no window to widen.
        if !of_probe && self.recovery.rack.has_seen_reordering() {
            self.board.see_dsack();
        }
        of_probe
    }

    /// Takes an ACK that is not all well: leaves, changes and enters states.
    #[cold]
    pub(super) fn on_dubious_ack(&mut self, delivery: &Delivery, signs: &Signs) -> Outcome {
        let may_be_by_sack = self.state() != CongestionState::Loss || self.recovery.is_undo_armed();
        let late = delivery.acked_late.max(if may_be_by_sack { delivery.sacked_late } else { 0 });
        if late > 0 {
            self.recovery.rack.on_reordering(late.div_ceil(self.mss.into()));
        }
        self.recovery.new_first = false;
        if self.recovery.tail.is_pending() {
            let plain = !signs.advances && !delivery.sacks;
            self.on_probe_ack(delivery.now(), signs.ack, plain, signs.probe_twice);
        }
        if signs.ece {
            self.recovery.keep_reduced();
        }
        let was_open = self.state() == CongestionState::Open;
        self.leave_finished_state(delivery.tsecr);
        if self.state() <= CongestionState::Disorder {
            self.try_undo_by_dsack();
        }
        let found = match self.state() {
            CongestionState::Recovery => {
                if signs.advances && self.try_undo_partly(delivery.tsecr, signs.una) {
                    return Outcome::default();
                }
                self.try_undo_by_dsack();
                let mut found = self.detect_losses(delivery.now());
                if !signs.advances {
                    self.lose_first(&mut found);
                }
                if self.state() != CongestionState::Recovery && self.board.lost_out() > 0 {
                    self.begin_recovery(delivery, signs.ece);
                }
                found
            }
            CongestionState::Loss => {
                self.on_ack_after_timeout(delivery, signs);
                let found = self.detect_losses(delivery.now());
                if found.resent && self.era().detection.lost_retrans_starts_recovery {
                    self.begin_recovery(delivery, signs.ece);
                } else if self.state() != CongestionState::Loss {
                    self.reconsider(delivery, signs.ece);
                }
                found
            }
            // The ACK that ends a recovery may show segments to be lost that were sent after it began.
            CongestionState::Open
                if was_open && self.board.sacked_out() == 0 && self.board.lost_out() == 0 && !signs.ece =>
            {
                Found::default()
            }
            _ => {
                let found = self.detect_losses(delivery.now());
                self.reconsider(delivery, signs.ece);
                found
            }
        };
        let rearms = self.era().timers.rearm_rto_on_sack
            && self.board.head_sent_at().is_some_and(|head| delivery.sacked.0 < head);
        Outcome { lost: found.segments > 0, waits: found.wait_until.is_some(), rearms }
    }

    /// Chooses the state of a sender that is neither in Recovery nor in Loss.
    fn reconsider(&mut self, delivery: &Delivery, ece: bool) {
        if self.board.lost_out() > 0 {
            self.begin_recovery(delivery, ece);
        } else if ece && self.state() != CongestionState::Cwr {
            self.recovery.end_undo();
            self.begin_reduction(delivery, Cause::Ecn);
            self.enter(CongestionState::Cwr);
            self.stats.ecn_reductions += 1;
        } else if self.state() != CongestionState::Cwr {
            self.keep_open();
            if self.era().reduction.moderate_cwnd && self.state() == CongestionState::Disorder {
                let most = self.board.in_flight() + self.recovery.rack.degree();
                self.window.cwnd = self.window.cwnd.min(most);
            }
        }
    }

    /// Enters Open, or Disorder if a segment is SACKed, is lost or was sent again (Linux `tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self) {
        let doubt = self.board.sacked_out() + self.board.lost_out() > 0 || self.board.is_any_resent();
        let state = if doubt { CongestionState::Disorder } else { CongestionState::Open };
        if self.enter(state) {
            self.recovery.set_end(self.board.nxt());
        }
        self.end_episode();
    }

    fn end_episode(&mut self) {
        self.recovery.end_episode(self.board.is_any_resent());
    }

    /// Enters Open if the reduction or recovery is over.
    fn leave_finished_state(&mut self, tsecr: u32) {
        if !self.recovery.is_finished(self.board.una()) {
            return;
        }
        if self.state() == CongestionState::Cwr || !self.end_recovery(tsecr) {
            self.end_reduction();
        }
        self.end_episode();
        self.enter(CongestionState::Open);
    }

    /// Takes an ACK in state Loss: undoes the timeout if it was needless, and leaves the state if the recovery is over.
    fn on_ack_after_timeout(&mut self, delivery: &Delivery, signs: &Signs) {
        let ack = LossAck {
            una: self.board.una(),
            nxt: self.board.nxt(),
            advances: signs.advances,
            sacks: delivery.sacks,
            dsacked: delivery.dsacked,
            original_sent_at: delivery.original_sent_at(),
            tsecr: delivery.tsecr,
            has_new: self.has_new(),
        };
        match self.recovery.judge_timeout(&ack, self.may_undo()) {
            Timeout::Open => {}
            Timeout::Needless => {
                self.undo(true);
                self.recovery.undo_timeout();
                self.enter(CongestionState::Open);
            }
            Timeout::Over => {
                self.end_recovery(delivery.tsecr);
                self.end_episode();
                self.enter(CongestionState::Open);
            }
        }
    }

    /// Enters `state`. Returns whether that is another state than before.
    pub(super) fn enter(&mut self, state: CongestionState) -> bool {
        let is_new = self.recovery.enter(state);
        if is_new {
            self.cc.on_state(state, &mut self.window);
        }
        is_new
    }

    /// Enters fast recovery. If a reduction is under way already, the window does not fall again: one reduction per
    /// window of data.
    pub(super) fn begin_recovery(&mut self, delivery: &Delivery, ece: bool) {
        let reducing = self.recovery.is_reducing();
        self.end_episode();
        let prior = (!reducing && !ece).then(|| self.prior());
        self.begin_undo(prior);
        if !reducing {
            self.begin_reduction(delivery, Cause::Loss);
        }
        self.enter(CongestionState::Recovery);
        self.stats.fast_recoveries += 1;
    }

    /// Takes an ACK up to `ack` while a tail loss probe is out.
    #[cold]
    pub(super) fn on_probe_ack(&mut self, now: Instant, ack: SeqNumber, plain: bool, twice: bool) {
        if self.recovery.probe_repaired(ack, plain, twice) {
            // RFC 8985, 7.4.2: a segment was lost, and nothing is left to recover. The window falls once.
            self.recovery.end_undo();
            self.begin_reduction(&Delivery::new(now, self.rtt.min()), Cause::Loss);
            self.enter(CongestionState::Cwr);
            self.end_reduction();
            self.keep_open();
        }
    }

    /// Takes a retransmission timeout (RFC 5681, 3.1, and RFC 6298, 5.4 to 5.7).
    pub(super) fn on_rto(&mut self, now: Instant) {
        let calm = self.state() <= CongestionState::Disorder;
        let first_of_window = self.recovery.is_first_timeout(self.board.una());
        let prior = self.prior();
        if calm {
            self.end_episode();
        }
        let spares_recent = self.era().detection.timeout_spares_recent;
        self.stats.lost += u64::from(self.board.lose_all(now, spares_recent));
        self.forget_losses_of_acks();
        if first_of_window {
            self.set_ssthresh(now, Cause::Timeout);
            self.begin_undo(Some(prior));
        }
        if calm {
            self.recovery.rack.on_timeout(self.board.sacked_out());
        }
        self.cc.on_rto();
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.counted = 0;
        self.recovery.on_timeout(now, self.board.nxt(), self.feedback.confirms());
        self.enter(CongestionState::Loss);
        self.stats.timeouts += 1;
        self.rtt.back_off();
    }
}

#[cfg(test)]
mod tests;
