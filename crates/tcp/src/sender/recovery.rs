//! Where a sender stands in loss recovery: its congestion state, where the present episode ends, and how it is undone.
//!
//! This part knows neither the scoreboard nor the window nor the congestion control. `alert` hands in what an ACK said,
//! and does what follows for those three.

use super::CongestionState;
use crate::prr::Prr;
use crate::rack::Rack;
use crate::tlp::{Tail, Verdict};
use crate::undo::{Prior, Undo};
use crate::{SackBlock, SeqNumber};
use core::mem::offset_of;
use goodqueue_units::Instant;

/// What an ACK says while the sender is in state Loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossAck {
    pub(super) una: SeqNumber,
    pub(super) nxt: SeqNumber,
    /// The ACK acknowledges new data.
    pub(super) advances: bool,
    /// The ACK SACKs something for the first time.
    pub(super) sacks: bool,
    /// The ACK reports a segment that came twice.
    pub(super) dsacked: bool,
    /// When the earliest delivered segment left that was sent once, or [`Instant::MAX`].
    pub(super) original_sent_at: Instant,
    pub(super) tsecr: u32,
    /// There is new data that may be sent.
    pub(super) has_new: bool,
}

/// What an ACK in state Loss shows of the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timeout {
    /// The timeout may have been needless or not.
    Open,
    /// The timeout was needless: the segments were only late.
    Needless,
    /// Everything sent before the timeout has arrived.
    Over,
}

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`; the rare fields come first, beside the rare fields of the scoreboard
pub(super) struct Recovery {
    /// When the retransmission timer fired, while F-RTO examines whether it fired needlessly (RFC 5682). Otherwise
    /// [`Instant::MAX`].
    frto: Instant,
    prr: Prr,
    undo: Undo,
    pub(super) rack: Rack,
    // From here on for each segment of a side that sends.
    pub(super) tail: Tail,
    /// SND.NXT when the present reduction or recovery began: it ends there.
    high_seq: SeqNumber,
    pub(super) state: CongestionState,
    /// The timer fired, and nothing was acknowledged since.
    pub(super) timed_out: bool,
    /// F-RTO, or an ACK that shows a recovery to be needless, wants new data before more is sent again.
    pub(super) new_first: bool,
    /// The next new segment says CWR (RFC 3168, 6.1.2).
    pub(super) cwr_due: bool,
}

impl Recovery {
    /// Where the fields begin that each segment of a side that sends touches.
    pub(super) const HOT_FROM: usize = offset_of!(Self, tail);

    pub(super) fn new(first: SeqNumber) -> Self {
        Self {
            frto: Instant::MAX,
            prr: Prr::default(),
            undo: Undo::default(),
            rack: Rack::new(),
            tail: Tail::default(),
            high_seq: first,
            state: CongestionState::Open,
            timed_out: false,
            new_first: false,
            cwr_due: false,
        }
    }

    /// Returns whether PRR sets the window, because of a loss or of ECN.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.state, CongestionState::Cwr | CongestionState::Recovery)
    }

    /// Enters `state`. Returns whether that is another state than before.
    #[inline]
    pub(super) fn enter(&mut self, state: CongestionState) -> bool {
        let is_new = self.state != state;
        self.state = state;
        is_new
    }

    /// Returns whether the reduction or recovery is over, with everything below `una` acknowledged. State Loss ends in
    /// [`judge_timeout`](Self::judge_timeout).
    ///
    /// A recovery is over when everything that was sent before it is acknowledged. CWR needs one segment more: then the
    /// echo of the old marks has stopped.
    pub(super) fn is_finished(&self, una: SeqNumber) -> bool {
        match self.state {
            CongestionState::Cwr => una > self.high_seq,
            CongestionState::Recovery => una >= self.high_seq,
            _ => false,
        }
    }

    /// Begins a state that ends at `nxt`.
    pub(super) fn set_end(&mut self, nxt: SeqNumber) {
        self.high_seq = nxt;
    }

    /// Begins a reduction of the window, from `recover_fs` segments. The next new segment says CWR if the ECN feedback
    /// `confirms`.
    pub(super) fn begin_reduction(&mut self, nxt: SeqNumber, recover_fs: u32, confirms: bool) {
        self.high_seq = nxt;
        self.tail.end();
        self.prr = Prr::new(recover_fs);
        self.cwr_due = confirms;
    }

    /// Returns how many segments an ACK releases during a reduction; see [`Prr::on_ack`].
    pub(super) fn released(&mut self, delivered: u32, in_flight: u32, ssthresh: u32, bonus: bool) -> u32 {
        self.prr.on_ack(delivered, in_flight, ssthresh, bonus)
    }

    /// Notes that a segment was sent, new or again.
    #[inline]
    pub(super) fn on_sent(&mut self) {
        if self.is_reducing() {
            self.prr.on_sent();
        }
    }

    /// Notes that the last segment was not sent after all, nor was a probe.
    pub(super) fn on_taken_back(&mut self) {
        self.tail.end();
        self.prr.on_taken_back();
    }

    /// Begins an episode that can be undone. `prior` is the window to return to, and `resent_out` retransmissions are
    /// out.
    pub(super) fn begin_undo(&mut self, una: SeqNumber, prior: Option<Prior>, resent_out: u32) {
        let resent = resent_out + u32::from(self.tail.is_resent());
        self.undo.begin(una, prior, resent);
    }

    /// Ends the episode. The next retransmission belongs to another one, unless a retransmission of this one is out:
    /// its ACK may be the ACK that ends the next episode (Linux `tcp_any_retrans_done`).
    pub(super) fn end_episode(&mut self, is_any_resent: bool) {
        if !is_any_resent {
            self.undo.forget_stamp();
        }
    }

    /// Notes that ECN asks for the reduction, too: the window stays reduced.
    pub(super) fn keep_reduced(&mut self) {
        self.undo.keep_reduced();
    }

    /// Notes that there is nothing to undo any more.
    pub(super) fn end_undo(&mut self) {
        self.undo.end();
    }

    pub(super) fn is_undo_armed(&self) -> bool {
        self.undo.is_armed()
    }

    /// Returns SND.UNA when the reduction began that may be undone.
    pub(super) fn undo_marker(&self) -> Option<SeqNumber> {
        self.undo.marker()
    }

    /// Ends the episode and returns the window to return to.
    pub(super) fn take_prior(&mut self) -> Option<Prior> {
        self.undo.take()
    }

    /// Returns whether the echo `tsecr` proves that an original was late, if the stack believes that proof.
    pub(super) fn is_late(&self, tsecr: u32, may_undo: bool) -> bool {
        may_undo && self.undo.is_late(tsecr)
    }

    /// Returns whether every retransmission came twice, if the stack believes that proof.
    pub(super) fn is_disproved(&self, may_undo: bool) -> bool {
        may_undo && self.undo.is_disproved()
    }

    /// Ends a recovery with an ACK that echoes `tsecr`. Returns whether the recovery was needless and must be undone.
    ///
    /// RACK learns of a needless recovery even if the stack does not undo it.
    pub(super) fn end_recovery(&mut self, tsecr: u32, may_undo: bool) -> bool {
        let needless = self.undo.is_disproved() || self.is_late(tsecr, may_undo);
        if !needless {
            self.rack.on_recovered();
        }
        needless && may_undo
    }

    /// Takes a DSACK of which `segments` were sent again. Returns whether it is of the tail loss probe: `is_short` says
    /// that the DSACK covers no more than one segment.
    pub(super) fn on_dsack(&mut self, dsack: SackBlock, segments: u32, is_short: bool) -> bool {
        self.undo.on_dsack(dsack.end, segments);
        is_short && self.tail.is_end(dsack.end)
    }

    /// Takes an ACK while a tail loss probe is out; see [`Tail::on_ack`]. Returns whether the window must fall, because
    /// the probe repaired a loss and no other reduction is under way.
    pub(super) fn probe_repaired(&mut self, ack: SeqNumber, plain: bool, twice: bool) -> bool {
        self.tail.on_ack(ack, plain, twice) == Verdict::Repaired && self.state <= CongestionState::Cwr
    }

    /// Returns whether a timeout now is the first of its window of data, so that ssthresh falls.
    pub(super) fn is_first_timeout(&self, una: SeqNumber) -> bool {
        match self.state {
            CongestionState::Open | CongestionState::Disorder => true,
            CongestionState::Cwr | CongestionState::Recovery => una >= self.high_seq,
            CongestionState::Loss => !self.timed_out,
        }
    }

    /// Takes a timeout, except for the state, which the caller enters. F-RTO examines the timeout unless it comes
    /// within a recovery (RFC 5682, 3.1, step 1).
    pub(super) fn on_timeout(&mut self, now: Instant, nxt: SeqNumber, confirms: bool) {
        let may_be_needless = self.state < CongestionState::Recovery || self.timed_out;
        self.frto = if may_be_needless { now } else { Instant::MAX };
        self.new_first = false;
        self.timed_out = true;
        self.high_seq = nxt;
        self.tail.end();
        self.cwr_due = confirms;
    }

    /// Takes an ACK in state Loss. Returns whether the timeout was needless, by the echo, by DSACK or by F-RTO (RFC
    /// 5682, section 3.1, with SACK), or whether the recovery from it is over.
    pub(super) fn judge_timeout(&mut self, ack: &LossAck, may_undo: bool) -> Timeout {
        self.new_first = false;
        let recovered = ack.una >= self.high_seq;
        if ack.advances && (self.is_late(ack.tsecr, may_undo) || self.is_disproved(may_undo)) {
            return Timeout::Needless;
        }
        if self.is_in_frto() {
            // Step 3b: a segment arrives that was sent before the timeout and never again.
            if ack.original_sent_at < self.frto {
                return Timeout::Needless;
            }
            if ack.nxt > self.high_seq {
                // Step 3a: new data overtook the missing segments, so they are lost. A DSACK is no duplicate ACK: it
                // reports a retransmission, not new data.
                let is_duplicate = !ack.advances && !ack.dsacked;
                if ack.sacks || is_duplicate {
                    self.end_frto();
                }
            } else if ack.advances && !recovered {
                // Step 2b: new data, if there is any, before more is sent again.
                self.new_first = ack.has_new;
                if !ack.has_new {
                    self.end_frto();
                }
            }
        }
        if recovered { Timeout::Over } else { Timeout::Open }
    }

    /// Takes back a timeout that was needless.
    pub(super) fn undo_timeout(&mut self) {
        self.timed_out = false;
        self.end_frto();
    }

    pub(super) fn is_in_frto(&self) -> bool {
        self.frto != Instant::MAX
    }

    fn end_frto(&mut self) {
        self.frto = Instant::MAX;
    }

    /// Notes that a segment is about to be sent again. If F-RTO asked for new data and none was sent, F-RTO ends (RFC
    /// 5682, 3.1, step 2b).
    pub(super) fn before_resend(&mut self, nxt: SeqNumber) {
        if self.is_in_frto() && !self.timed_out && nxt == self.high_seq {
            self.end_frto();
        }
    }

    /// Notes that a segment was sent again, at the clock's `timestamp`.
    pub(super) fn on_resent(&mut self, timestamp: u32) {
        self.undo.on_resent(timestamp);
    }
}

#[cfg(test)]
mod tests;
