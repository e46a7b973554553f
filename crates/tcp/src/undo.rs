//! Undoing a window reduction that proves needless: no segment was lost, some only came late.
//!
//! There are two proofs, both as in Linux:
//! - An ACK echoes a timestamp older than the first retransmission (the Eifel detection of RFC 3522).
//! - A DSACK came for every retransmission (RFC 2883; RFC 3708).
//!
//! A third proof, F-RTO (RFC 5682), is in the sender, because it needs the segments that were sent after the timeout.

use crate::{SackBlock, SeqNumber};

/// The window and the threshold before a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Prior {
    pub(crate) cwnd: u32,
    pub(crate) ssthresh: u32,
}

/// The reduction that may be undone, and the evidence so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Undo {
    /// SND.UNA when the reduction began. Segments below were retransmitted for another reason. `None` if there is
    /// nothing to undo.
    marker: Option<SeqNumber>,
    /// `None` if ECN asked for the reduction too, so that the window stays reduced.
    prior: Option<Prior>,
    /// The timestamp of the first retransmission. `None` before it.
    stamp: Option<u32>,
    /// Retransmissions that no DSACK has reported. `None` before the first retransmission.
    unproven: Option<u32>,
}

impl Undo {
    /// Begins a reduction with `resent` retransmissions in flight, including the tail loss probe.
    pub(crate) fn begin(&mut self, una: SeqNumber, prior: Option<Prior>, resent: u32) {
        self.marker = Some(una);
        self.prior = prior;
        self.unproven = (resent > 0).then_some(resent);
    }

    /// Forgets when the first retransmission left, because a new episode begins.
    pub(crate) fn forget_stamp(&mut self) {
        self.stamp = None;
    }

    /// Keeps the window reduced, because ECN asks for the reduction too.
    pub(crate) fn keep_reduced(&mut self) {
        self.prior = None;
    }

    /// Ends the episode without an undo.
    pub(crate) fn end(&mut self) {
        self.marker = None;
    }

    /// Returns whether there is a reduction to undo.
    pub(crate) fn is_armed(&self) -> bool {
        self.marker.is_some()
    }

    pub(crate) fn marker(&self) -> Option<SeqNumber> {
        self.marker
    }

    /// Takes note that a segment was retransmitted at `timestamp`.
    pub(crate) fn on_resent(&mut self, timestamp: u32) {
        self.stamp.get_or_insert(timestamp);
        self.unproven = Some(self.unproven.unwrap_or(0) + 1);
    }

    /// Takes a DSACK up to `end` that reports `segments` duplicates.
    pub(crate) fn on_dsack(&mut self, end: SeqNumber, segments: u32) {
        if self.marker.is_some_and(|marker| end > marker) {
            self.unproven = self.unproven.map(|unproven| unproven.saturating_sub(segments));
        }
    }

    /// Returns whether DSACKs have reported every retransmission as needless.
    pub(crate) fn is_disproved(&self) -> bool {
        self.marker.is_some() && self.unproven == Some(0)
    }

    /// Returns whether an original caused the ACK with the echo `tsecr` (RFC 3522, section 3.2, step 4). This is so,
    /// too, if nothing was retransmitted.
    pub(crate) fn is_late(&self, tsecr: u32) -> bool {
        let is_before = |stamp: u32| tsecr != 0 && tsecr.wrapping_sub(stamp) > 1 << 31;
        self.marker.is_some() && self.stamp.is_none_or(is_before)
    }

    /// Ends the episode, and returns the window to restore.
    pub(crate) fn take(&mut self) -> Option<Prior> {
        self.marker = None;
        self.prior.take()
    }
}

/// Returns the DSACK among `blocks`: the first block, if it lies below `ack` or within the second (RFC 2883, section
/// 4).
pub(crate) fn dsack(ack: SeqNumber, blocks: &[SackBlock]) -> Option<SackBlock> {
    let (first, second) = (blocks.first()?, blocks.get(1));
    let is_within = second.is_some_and(|second| first.start >= second.start && first.end <= second.end);
    (first.start < first.end && (first.start < ack || is_within)).then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRIOR: Prior = Prior { cwnd: 20, ssthresh: 15 };

    fn block(start: u32, end: u32) -> SackBlock {
        SackBlock { start: SeqNumber(start), end: SeqNumber(end) }
    }

    /// The examples of RFC 2883, section 4: below the cumulative ACK, and within the block that follows.
    #[test]
    fn the_first_block_is_a_dsack_below_the_ack_or_within_the_second() {
        assert_eq!(dsack(SeqNumber(4000), &[block(3000, 3500)]), Some(block(3000, 3500)));
        let within = [block(5000, 5500), block(4500, 6000)];
        assert_eq!(dsack(SeqNumber(4000), &within), Some(block(5000, 5500)));
        assert_eq!(dsack(SeqNumber(4000), &[block(4500, 5000), block(5500, 6000)]), None);
        assert_eq!(dsack(SeqNumber(4000), &[block(4500, 5000)]), None);
        assert_eq!(dsack(SeqNumber(4000), &[block(3000, 3000)]), None);
        assert_eq!(dsack(SeqNumber(4000), &[block(4000, 4500)]), None, "it begins where the ACK ends");
        assert_eq!(dsack(SeqNumber(4000), &[]), None);
    }

    #[test]
    fn an_episode_is_disproved_when_all_its_retransmissions_are() {
        let mut undo = Undo::default();
        undo.begin(SeqNumber(100), Some(PRIOR), 0);
        assert!(!undo.is_disproved(), "nothing was sent again, so nothing can come twice");
        assert!(undo.is_armed());
        undo.on_resent(7);
        undo.on_resent(8);
        undo.on_dsack(SeqNumber(100), 1);
        undo.on_dsack(SeqNumber(200), 1);
        assert!(!undo.is_disproved(), "one is of an older episode");
        undo.on_dsack(SeqNumber(300), 1);
        assert!(undo.is_disproved());
        assert_eq!((undo.take(), undo.is_armed()), (Some(PRIOR), false));
    }

    /// RFC 3522, 3.2: the echo is compared with the timestamp of the first retransmission. An equal one is not older.
    #[test]
    fn an_echo_older_than_the_first_retransmission_is_of_an_original() {
        let mut undo = Undo::default();
        undo.begin(SeqNumber(100), Some(PRIOR), 0);
        undo.on_resent(500);
        undo.on_resent(600);
        assert_eq!([499, 500, 550, 0].map(|echo| undo.is_late(echo)), [true, false, false, false]);
        undo.forget_stamp();
        undo.on_resent(3);
        assert!(undo.is_late(u32::MAX), "the clock wraps");
        undo.end();
        assert!(!undo.is_late(2));
    }

    #[test]
    fn ecn_keeps_the_window_reduced() {
        let mut undo = Undo::default();
        undo.begin(SeqNumber(100), Some(PRIOR), 1);
        undo.keep_reduced();
        assert_eq!(undo.take(), None);
    }
}
