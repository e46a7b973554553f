//! What an ACK means when not all is well: losses, reordering, ECN, and reductions that prove needless.

use super::{CongestionState, Sender};
use crate::cc::{Cause, Congestion};
use crate::era::LossDetection;
use crate::prr::Prr;
use crate::rack::DUP_THRESH;
use crate::scoreboard::{Delivery, Found};
use crate::tlp::Verdict;
use crate::undo::{Prior, dsack};
use crate::{Segment, SeqNumber};
use goodqueue_units::Instant;

/// What an ACK told, beside what it delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signs {
    pub(super) ece: bool,
    /// It acknowledges new data.
    pub(super) advances: bool,
    /// SND.UNA before it.
    pub(super) una: SeqNumber,
    /// It tells that the tail loss probe came twice.
    pub(super) probe_twice: bool,
}

/// What is to be done about it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    /// Segments were found lost.
    pub(super) lost: bool,
    /// The timer waits for segments that may be late.
    pub(super) waits: bool,
    /// It SACKs what was sent before the first segment was sent again: the timer has no news of that one yet.
    pub(super) rearms: bool,
}

impl Sender {
    /// Takes the SACK blocks; whether the tail loss probe is said to have come twice.
    #[cold]
    pub(super) fn take_sack(&mut self, segment: &Segment, delivery: &mut Delivery) -> bool {
        self.board.sack(segment.sack_blocks(), delivery);
        let Some(twice) = dsack(segment.ack, segment.sack_blocks()) else { return false };
        let bytes = twice.end.since(twice.start);
        let segments = bytes.div_ceil(self.mss.into());
        let spurious = self.stats.spurious_retransmissions + u64::from(segments);
        if spurious > self.stats.retransmitted {
            return false; // more than was sent again: the network made copies, or the receiver errs
        }
        self.stats.spurious_retransmissions = spurious;
        delivery.segments += segments;
        delivery.dsacked = true;
        self.undo.on_dsack(twice.end, segments);
        let of_probe = bytes <= self.mss.into() && self.tail.is_end(twice.end);
        if !of_probe {
            self.rack.on_dsack(self.board.una(), self.board.nxt());
        }
        of_probe
    }

    /// Leaves, changes and enters states.
    #[cold]
    pub(super) fn on_dubious_ack(&mut self, delivery: &Delivery, signs: &Signs) -> Outcome {
        if delivery.late > 0 && (self.state != CongestionState::Loss || self.undo.is_armed()) {
            // FACK counts the late one with those that it is behind.
            let counted = u32::from(self.era().detection.losses_by == LossDetection::Fack);
            self.rack.on_reordering(delivery.late.div_ceil(self.mss.into()) + counted);
        }
        if self.tail.is_pending() {
            let plain = !signs.advances && delivery.sacked.0 == Instant::MAX;
            self.on_probe_ack(delivery.now(), plain, signs.probe_twice);
        }
        if signs.ece {
            self.undo.keep_reduced();
        }
        self.leave_finished_state(delivery.tsecr);
        if self.state <= CongestionState::Disorder {
            self.try_undo_by_dsack();
        }
        let found = match self.state {
            CongestionState::Recovery => {
                if signs.advances && self.try_undo_partly(delivery.tsecr, signs.una) {
                    return Outcome::default();
                }
                self.try_undo_by_dsack();
                let mut found = self.detect_losses(delivery.now());
                if !signs.advances {
                    self.lose_first(&mut found);
                }
                if self.state != CongestionState::Recovery && self.board.lost_out() > 0 {
                    self.begin_recovery(delivery, signs.ece);
                }
                found
            }
            CongestionState::Loss => {
                self.on_ack_after_timeout(delivery, signs);
                let found = self.detect_losses(delivery.now());
                if found.resent && self.era().detection.lost_retrans_starts_recovery {
                    self.begin_recovery(delivery, signs.ece);
                } else if self.state != CongestionState::Loss {
                    self.reconsider(delivery, signs.ece);
                }
                found
            }
            CongestionState::Open
                if self.board.sacked_out() == 0 && self.board.lost_out() == 0 && !signs.ece =>
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

    /// The state of a sender that is in none of the severe ones.
    fn reconsider(&mut self, delivery: &Delivery, ece: bool) {
        if self.board.lost_out() > 0 {
            self.begin_recovery(delivery, ece);
        } else if ece && self.state != CongestionState::Cwr {
            self.undo.end();
            self.begin_reduction(delivery, Cause::Ecn);
            self.enter(CongestionState::Cwr);
            self.stats.ecn_reductions += 1;
        } else if self.state != CongestionState::Cwr {
            self.keep_open();
            if self.era().reduction.moderate_cwnd && self.state == CongestionState::Disorder {
                let most = self.board.in_flight() + self.rack.degree();
                self.window.cwnd = self.window.cwnd.min(most);
            }
        }
    }

    /// Open, or Disorder where something is SACKed, lost or was sent again.
    pub(super) fn keep_open(&mut self) {
        let doubt = self.board.sacked_out() + self.board.lost_out() > 0 || self.board.is_any_resent();
        let state = if doubt { CongestionState::Disorder } else { CongestionState::Open };
        if self.state != state {
            self.enter(state);
            self.high_seq = self.board.nxt();
        }
        self.end_episode();
    }

    /// What is sent again from now on is another episode's; not while a retransmission of the last one is out, because its
    /// ACK may be the one that ends this one (Linux's `tcp_any_retrans_done`).
    fn end_episode(&mut self) {
        if !self.board.is_any_resent() {
            self.undo.forget_stamp();
        }
    }

    /// A state ends when all that was sent before it began is acknowledged; CWR only with something sent after, so
    /// that the echo of the old marks has stopped. Loss ends in `on_ack_after_timeout`.
    fn leave_finished_state(&mut self, tsecr: u32) {
        let una = self.board.una();
        match self.state {
            CongestionState::Cwr if una > self.high_seq => self.end_reduction(),
            CongestionState::Recovery if una >= self.high_seq => {
                if !self.end_recovery(tsecr) {
                    self.end_reduction();
                }
            }
            _ => return,
        }
        self.end_episode();
        self.enter(CongestionState::Open);
    }

    /// The window is where the reduction was to bring it; one that follows a model is where the model says.
    fn end_reduction(&mut self) {
        if !self.cc.is_model_based() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// Whether the recovery that ends was needless, and is undone.
    fn end_recovery(&mut self, tsecr: u32) -> bool {
        let needless = self.undo.is_disproved() || self.is_late(tsecr);
        self.rack.on_recovered(needless);
        if needless && self.echoes_count() {
            self.undo(false);
        }
        needless && self.echoes_count()
    }

    fn echoes_count(&self) -> bool {
        self.era().reduction.undo_by_eifel_and_dsack
    }

    fn is_late(&self, tsecr: u32) -> bool {
        self.echoes_count() && self.undo.is_late(tsecr)
    }

    /// A partial ACK whose echo is older than the first retransmission: the hole was filled by what was late. The
    /// reduction is undone as soon as no retransmission is out; until then no more is taken for lost.
    fn try_undo_partly(&mut self, tsecr: u32, una: SeqNumber) -> bool {
        if !self.is_late(tsecr) {
            return false;
        }
        let late = self.board.una().since(una).div_ceil(self.mss.into());
        self.rack.on_reordering(late);
        if self.board.resent_out() > 0 {
            return true;
        }
        self.undo(true);
        self.keep_open();
        false
    }

    /// Every retransmission came twice.
    fn try_undo_by_dsack(&mut self) {
        if self.undo.is_disproved() && self.echoes_count() {
            self.rack.on_recovered(true);
            self.undo(false);
            if self.state == CongestionState::Recovery {
                self.keep_open();
            }
        }
    }

    /// Takes the reduction back; `found`: what was taken for lost is on its way.
    fn undo(&mut self, found: bool) {
        if found {
            self.board.unmark_lost();
        }
        if let Some(Prior { cwnd, ssthresh }) = self.undo.take() {
            self.cc.on_undo();
            self.window.cwnd = self.cc.undo_cwnd(&self.window, cwnd);
            if ssthresh > self.window.ssthresh {
                self.window.ssthresh = ssthresh;
                self.cwr_due = false;
            }
            self.stats.undos += 1;
        }
    }

    /// An ACK in state Loss: whether the timeout was needless, by the echo or by F-RTO (RFC 5682, section 3.1, with SACK),
    /// or what it began is over.
    fn on_ack_after_timeout(&mut self, delivery: &Delivery, signs: &Signs) {
        self.new_first = false;
        let recovered = self.board.una() >= self.high_seq;
        if signs.advances
            && (self.is_late(delivery.tsecr) || (self.undo.is_disproved() && self.echoes_count()))
        {
            return self.undo_timeout();
        }
        let timed_out_at = self.frto;
        if timed_out_at != Instant::MAX {
            // Step 3b: what was sent before the timeout and never again arrives.
            if delivery.original_sent_at() < timed_out_at {
                return self.undo_timeout();
            }
            if self.board.nxt() > self.high_seq {
                // Step 3a: new data overtook what is missing, so that is lost. A DSACK is no duplicate ACK: it tells of what was
                // sent again, not of new data.
                let is_duplicate = !signs.advances && !delivery.dsacked;
                if delivery.sacked.0 != Instant::MAX || is_duplicate {
                    self.frto = Instant::MAX;
                }
            } else if signs.advances && !recovered {
                // Step 2b: new data, if there is any, before more is sent again.
                if self.has_new() {
                    self.new_first = true;
                } else {
                    self.frto = Instant::MAX;
                }
            }
        }
        if recovered {
            self.end_recovery(delivery.tsecr);
            self.end_episode();
            self.enter(CongestionState::Open);
        }
    }

    fn undo_timeout(&mut self) {
        self.undo(true);
        self.timed_out = false;
        self.frto = Instant::MAX;
        self.enter(CongestionState::Open);
    }

    fn detect_losses(&mut self, now: Instant) -> Found {
        let era = self.era();
        let recovering = self.state >= CongestionState::Recovery;
        let sacked = self.board.sacked_out();
        let found = match era.detection.losses_by {
            LossDetection::Rack => {
                let window = self.rack.window(recovering, sacked, &self.rtt);
                self.board.detect_losses(now, window)
            }
            LossDetection::Fack => self.detect_by_forward_ack(now),
            LossDetection::Rfc6675 => self.board.detect_by_sacks(DUP_THRESH),
        };
        self.stats.lost += u64::from(found.segments);
        if let Some(until) = found.wait_until {
            self.wait_for_late(now, until);
        }
        found
    }

    fn detect_by_forward_ack(&mut self, now: Instant) -> Found {
        if self.state == CongestionState::Loss {
            return Found::default(); // all is lost already
        }
        let in_order = self.rack.is_in_order();
        let again = if in_order && self.state == CongestionState::Recovery {
            self.board.detect_lost_retransmissions()
        } else {
            Found::default()
        };
        let mut found = self.board.detect_by_forward_ack(self.rack.degree(), in_order);
        found.segments += again.segments;
        found.resent = again.resent;
        let is_early = self.board.lost_out() == 0
            && self.era().detection.early_retransmit
            && self.may_retransmit_early();
        found.wait_until = is_early.then(|| now + self.early_delay());
        found
    }

    /// A duplicate ACK in recovery: what it still asks for is lost, however little is SACKed above it (Linux until 4.14).
    fn lose_first(&mut self, found: &mut Found) {
        let is_forward = self.era().detection.losses_by == LossDetection::Fack;
        if is_forward && self.state == CongestionState::Recovery && self.board.lose_first() {
            found.segments += 1;
            self.stats.lost += 1;
        }
    }

    /// RFC 5827, section 3.2: so little is out that DupThresh cannot be reached. Linux asks for one SACKed segment, where the
    /// RFC asks for all but one. Not where reordering was seen.
    fn may_retransmit_early(&self) -> bool {
        let (out, sacked) = (self.board.packets_out(), self.board.sacked_out());
        let may_send = self.board.in_flight() < self.window.cwnd && self.has_new();
        sacked > 0 && sacked < out && out < 4 && !may_send && !self.rack.has_seen_reordering()
    }

    /// All that early retransmit waited for did not come. The window falls with the next ACK.
    pub(super) fn retransmit_early(&mut self, now: Instant) {
        let may = self.state <= CongestionState::Disorder && self.may_retransmit_early();
        if may && self.board.lose_first() {
            self.stats.lost += 1;
            self.forget_losses_of_acks();
            self.begin_recovery(&Delivery::new(now, self.rtt.min()), false);
        }
    }

    /// What RACK waited for did not come (RFC 8985, 6.3).
    pub(super) fn lose_late(&mut self, now: Instant) {
        let found = self.detect_losses(now);
        self.on_late_losses(now, found);
    }

    fn on_late_losses(&mut self, now: Instant, found: Found) {
        self.forget_losses_of_acks();
        if found.segments > 0 && self.state != CongestionState::Recovery {
            self.begin_recovery(&Delivery::new(now, self.rtt.min()), false);
            if !self.cc.is_model_based() {
                self.reduce(1, false);
            }
        }
    }

    /// A timer found losses: they are no ACK's.
    fn forget_losses_of_acks(&mut self) {
        if let Some(rate) = self.board.rate_mut() {
            rate.on_timer();
        }
    }

    pub(super) fn enter(&mut self, state: CongestionState) {
        if self.state != state {
            self.state = state;
            self.cc.on_state(state, &mut self.window);
        }
    }

    fn prior(&self) -> Prior {
        let reducing = matches!(self.state, CongestionState::Cwr | CongestionState::Recovery);
        let ssthresh = if reducing { self.window.ssthresh } else { self.window.current_ssthresh() };
        Prior { cwnd: self.window.cwnd, ssthresh }
    }

    /// Fast recovery. Where a reduction is under way already, no second one: it is one a window of data.
    fn begin_recovery(&mut self, delivery: &Delivery, ece: bool) {
        let reducing = matches!(self.state, CongestionState::Cwr | CongestionState::Recovery);
        self.end_episode();
        let prior = (!reducing && !ece).then(|| self.prior());
        self.begin_undo(prior);
        if !reducing {
            self.begin_reduction(delivery, Cause::Loss);
        }
        self.enter(CongestionState::Recovery);
        self.stats.fast_recoveries += 1;
    }

    fn begin_undo(&mut self, prior: Option<Prior>) {
        let resent = self.board.resent_out() + u32::from(self.tail.is_resent());
        self.undo.begin(self.board.una(), prior, resent);
    }

    fn begin_reduction(&mut self, delivery: &Delivery, cause: Cause) {
        self.high_seq = self.board.nxt();
        self.tail.end();
        let prr_from_flight = self.era().reduction.recover_fs_from_flight;
        // RFC 9937, section 6.1: what was out and not SACKed, before this ACK.
        let flight = self.board.packets_out() - self.board.sacked_out() + delivery.segments;
        self.prr = Prr::new(if prr_from_flight { flight } else { self.window.cwnd });
        self.window.counted = 0;
        self.set_ssthresh(delivery.now(), cause);
        self.cwr_due = self.feedback.confirms();
    }

    fn set_ssthresh(&mut self, now: Instant, cause: Cause) {
        let from_flight = self.era().reduction.ssthresh_from_flight;
        let cwnd = if from_flight { self.board.packets_out() } else { self.window.cwnd };
        self.window.ssthresh = self.cc.ssthresh(&Congestion { now, cwnd, cause });
    }

    #[cold]
    pub(super) fn reduce(&mut self, delivered: u32, safe: bool) {
        if delivered > 0 {
            let bonus = safe || self.era().reduction.prr_ssrb_always;
            let in_flight = self.board.in_flight();
            let allowed = self.prr.on_ack(delivered, in_flight, self.window.ssthresh, bonus);
            self.window.cwnd = (in_flight + allowed).max(1);
        }
    }

    /// An ACK while a tail loss probe is out.
    #[cold]
    pub(super) fn on_probe_ack(&mut self, now: Instant, plain: bool, twice: bool) {
        if self.tail.on_ack(self.board.una(), plain, twice) == Verdict::Repaired
            && self.state <= CongestionState::Cwr
        {
            // Section 7.4.2: it was a loss, and there is nothing left to recover: one reduction.
            self.undo.end();
            self.begin_reduction(&Delivery::new(now, self.rtt.min()), Cause::Loss);
            self.enter(CongestionState::Cwr);
            self.end_reduction();
            self.keep_open();
        }
    }

    /// The retransmission timer fired: RFC 5681, 3.1, and RFC 6298, 5.4 to 5.7.
    pub(super) fn on_rto(&mut self, now: Instant) {
        let era = self.era();
        let (una, sacked) = (self.board.una(), self.board.sacked_out());
        let calm = self.state <= CongestionState::Disorder;
        let first_of_window = match self.state {
            CongestionState::Open | CongestionState::Disorder => true,
            CongestionState::Cwr | CongestionState::Recovery => una >= self.high_seq,
            CongestionState::Loss => !self.timed_out, // there was progress since the last one
        };
        // RFC 5682, 3.1, step 1: not within a recovery.
        let may_be_needless = self.state < CongestionState::Recovery || self.timed_out;
        let prior = self.prior();
        if calm {
            self.end_episode();
        }
        self.stats.lost += u64::from(self.board.lose_all(now, era.detection.timeout_spares_recent));
        self.forget_losses_of_acks();
        if first_of_window {
            self.set_ssthresh(now, Cause::Timeout);
            self.begin_undo(Some(prior));
        }
        if calm {
            self.rack.on_timeout(sacked);
        }
        self.cc.on_rto();
        self.window.cwnd = self.board.in_flight() + 1;
        self.window.counted = 0;
        self.cwr_due = self.feedback.confirms();
        self.high_seq = self.board.nxt();
        self.tail.end();
        self.frto = if may_be_needless { now } else { Instant::MAX };
        self.new_first = false;
        self.enter(CongestionState::Loss);
        self.timed_out = true;
        self.stats.timeouts += 1;
        self.rtt.back_off();
    }
}

#[cfg(test)]
mod tests;
