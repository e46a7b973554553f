//! Loss detection: RACK (RFC 8985, section 6.2), RFC 6675's rule, FACK, and the timeout.
//!
//! RACK costs O(1) amortised. Originals were sent in sequence order, so one pointer (`scan`) passes each of them once.
//! Retransmissions stand in a queue in the order in which they were sent.

use super::Scoreboard;
use super::record::{AMBIGUOUS, LOST, RESENT, Record, Resent, SACKED, TOUCHED, UNLISTED};
use crate::SeqNumber;
use goodqueue_units::{Duration, Instant};

/// The result of a search for losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Lost segments, retransmissions included.
    pub(crate) segments: u32,
    /// Whether retransmissions are among them.
    pub(crate) resent: bool,
    /// The time until which other segments may only be late, if there are any: the latest of these times.
    pub(crate) wait_until: Option<Instant>,
}

impl Scoreboard {
    /// Marks as lost every segment that was sent before the most recently sent delivered segment, and at least RACK.rtt
    /// plus `window` ago (RFC 8985, 6.2, step 5).
    pub(crate) fn detect_losses(&mut self, now: Instant, window: Duration) -> Found {
        let newest = self.newest_delivered;
        let span = self.rack_rtt + window;
        let mut found = Found::default();
        while self.scan < self.tail {
            let record = *self.at(self.scan);
            if record.flags & TOUCHED == 0 {
                if !newest.is_after(&record) {
                    break;
                }
                if record.sent_at + span > now {
                    found.wait_until = Some(self.last_sent_before_newest() + span);
                    break;
                }
                self.lose_by_time(self.scan);
                found.segments += 1;
            }
            self.scan += 1;
        }
        let mut waiting = 0;
        while let Some(&Resent { number, sent_at, .. }) = self.resent.get(waiting) {
            if !self.is_out_again(number, sent_at) {
                if waiting > 0 {
                    waiting += 1;
                } else {
                    self.resent.pop_front();
                }
                continue;
            }
            let record = *self.at(number);
            if !newest.is_after(&record) {
                break;
            }
            if sent_at + span > now {
                found.wait_until = found.wait_until.max(Some(sent_at + span));
                waiting += 1; // those behind it wait too
                continue;
            }
            self.lose_by_time(number);
            found.segments += 1;
            found.resent = true;
            self.resent.pop_front();
        }
        found
    }

    fn lose_by_time(&mut self, number: u64) {
        self.lose(number);
        self.at_mut(number).flags |= UNLISTED;
    }

    /// Returns whether a segment was delivered since the last call: only then losses are looked for (Linux
    /// `tcp_rack_mark_lost`).
    pub(crate) fn take_advanced(&mut self) -> bool {
        core::mem::take(&mut self.advanced)
    }

    /// Lets the next ACK look for losses, although it may deliver nothing.
    pub(crate) fn search_again(&mut self) {
        self.advanced = true;
    }

    /// Returns whether the copy of segment `number` that was sent again at `sent_at` may still arrive.
    fn is_out_again(&self, number: u64, sent_at: Instant) -> bool {
        number >= self.head && {
            let record = self.at(number);
            record.sent_at == sent_at
                && !record.has(SACKED | UNLISTED)
                && record.flags & (LOST | RESENT) != LOST
        }
    }

    /// Returns when the last original was sent that is missing and older than the most recently sent delivered segment.
    /// `scan` is at such an original.
    fn last_sent_before_newest(&self) -> Instant {
        let newest = &self.newest_delivered;
        let end = if newest.resent { self.tail } else { self.find(newest.end) };
        debug_assert!(self.scan < end, "what left after the segment at `scan` has a higher number");
        let missing = |record: &&Record| record.flags & TOUCHED == 0 && newest.is_after(record);
        let last = (self.scan..end).rev().map(|number| self.at(number)).find(missing);
        last.unwrap_or(self.at(self.scan)).sent_at
    }

    /// Marks as lost every segment that has above it `dup_thresh` runs of SACKed segments, or more than `dup_thresh` −
    /// 1 full segments SACKed (RFC 6675, section 4, IsLost()). It ignores retransmissions.
    pub(crate) fn detect_by_sacks(&mut self, dup_thresh: u32) -> Found {
        if self.sacked_out == 0 {
            return Found::default();
        }
        let (mut runs, mut bytes, mut in_run) = (0, 0, false);
        let mut end = (self.find(self.highest_sacked) + 1).min(self.tail);
        while end > self.scan && runs < dup_thresh && bytes <= (dup_thresh - 1) * self.mss {
            end -= 1;
            let record = *self.at(end);
            let is_sacked = record.has(SACKED);
            if is_sacked {
                runs += u32::from(!in_run);
                bytes += u32::from(record.len);
            }
            in_run = is_sacked;
        }
        if runs < dup_thresh && bytes <= (dup_thresh - 1) * self.mss {
            return Found::default();
        }
        self.lose_below(end, TOUCHED)
    }

    /// Marks as lost every segment below `end` that was not checked before, except those with any of the flags
    /// `spared`.
    fn lose_below(&mut self, end: u64, spared: u8) -> Found {
        let mut found = Found::default();
        for number in self.scan..end {
            if !self.at(number).has(spared) {
                self.lose(number);
                found.segments += 1;
            }
        }
        self.scan = self.scan.max(end);
        found
    }

    /// Marks as lost every segment that is at least `dup_thresh` segments below the highest SACKed one (FACK; Mathis &
    /// Mahdavi 1996, section 3). If not `in_order`, at least `dup_thresh` segments above it must be SACKed.
    pub(crate) fn detect_by_forward_ack(&mut self, dup_thresh: u32, in_order: bool) -> Found {
        if self.sacked_out == 0 {
            return Found::default();
        }
        let mut end = (self.find(self.highest_sacked) + 1).min(self.tail);
        let mut above = 0;
        while end > self.scan && above < dup_thresh {
            end -= 1;
            above += u32::from(in_order || self.at(end).has(SACKED));
        }
        if above < dup_thresh {
            return Found::default();
        }
        self.lose_below(end, SACKED | LOST)
    }

    /// Marks a retransmission as lost if a new segment left after it, and a segment behind that new one is SACKed (the
    /// same paper, section 3.2, counts from SND.NXT at the retransmission).
    pub(crate) fn detect_lost_retransmissions(&mut self) -> Found {
        let mut found = Found::default();
        if self.sacked_out == 0 || self.resent_out == 0 {
            return found;
        }
        let highest = self.find(self.highest_sacked);
        while let Some(&Resent { number, sent_at, next_new }) = self.resent.front() {
            if self.is_out_again(number, sent_at) && self.at(number).has(RESENT) {
                if highest <= next_new {
                    break;
                }
                self.lose(number);
                found.segments += 1;
                found.resent = true;
            }
            self.resent.pop_front();
        }
        found
    }

    /// Marks the first segment in flight as lost, whatever is SACKed. Returns whether it was not marked before.
    pub(crate) fn lose_first(&mut self) -> bool {
        let is_out = self.head != self.tail && !self.at(self.head).has(SACKED | LOST);
        if is_out {
            self.lose(self.head);
        }
        is_out
    }

    /// Marks as lost the first segment missing below the highest SACKed one. Returns whether there is one.
    pub(crate) fn lose_first_hole(&mut self) -> bool {
        if self.sacked_out == 0 {
            return false;
        }
        let highest = self.find(self.highest_sacked).min(self.tail);
        let hole = (self.head..highest).find(|&number| !self.at(number).has(SACKED | LOST));
        if let Some(number) = hole {
            self.lose(number);
        }
        hole.is_some()
    }

    /// Marks segment `number`, or its retransmission, as lost. The segment waits for its next retransmission.
    fn lose(&mut self, number: u64) {
        // If no segment waits, this one is the next retransmission, wherever the last one was.
        self.next_lost = if self.has_lost() { self.next_lost.min(number) } else { number };
        let record = self.at_mut(number);
        let before = record.flags;
        record.flags = before & !RESENT | LOST;
        self.resent_out -= u32::from(before & RESENT != 0);
        self.lost_out += u32::from(before & LOST == 0);
        if let Some(rate) = &mut self.rate {
            rate.on_lost(number);
        }
    }

    /// Handles the retransmission timeout: marks as lost everything that is not SACKed, retransmissions included.
    /// Returns how many segments are newly lost. With `spare_recent`, segments sent less than a round trip ago stay
    /// (RFC 8985, 6.3).
    pub(crate) fn lose_all(&mut self, now: Instant, spare_recent: bool) -> u32 {
        let span = self.rack_rtt;
        // A receiver that does not acknowledge what it SACKed has discarded it (RFC 2018, section 8).
        let reneged = self.head != self.tail && self.at(self.head).has(SACKED);
        let mut lost = 0;
        self.scan = self.tail;
        (self.lost_out, self.resent_out) = (0, 0);
        for number in self.head..self.tail {
            let is_head = number == self.head;
            let record = self.at_mut(number);
            if reneged {
                record.flags &= !SACKED;
            } else if record.has(SACKED) {
                continue;
            }
            let (sent_at, before) = (record.sent_at, record.flags);
            if spare_recent && !is_head && sent_at + span > now && before & (LOST | RESENT) != LOST {
                self.lost_out += u32::from(before & LOST != 0);
                self.resent_out += u32::from(before & RESENT != 0);
                self.scan = self.scan.min(number);
                continue;
            }
            record.flags = before & !RESENT | LOST;
            let is_news = before & (LOST | RESENT) != LOST;
            lost += u32::from(is_news);
            self.lost_out += 1;
            if let Some(rate) = self.rate.as_mut().filter(|_| is_news) {
                rate.on_lost(number);
            }
        }
        if reneged {
            self.sacked_out = 0;
        }
        self.next_lost = self.head;
        while self.resent.front().is_some_and(|resent| !self.is_out_again(resent.number, resent.sent_at)) {
            self.resent.pop_front();
        }
        lost
    }

    /// Removes all loss marks: nothing was lost after all.
    pub(crate) fn unmark_lost(&mut self) {
        for number in self.head..self.tail {
            self.at_mut(number).flags &= !(LOST | RESENT);
        }
        (self.lost_out, self.resent_out) = (0, 0);
        self.scan = self.head;
    }

    /// Records that the last segment leaves again now as a tail loss probe, whatever its state.
    pub(crate) fn probe(&mut self, now: Instant) -> Option<super::Chunk> {
        if self.head == self.tail {
            return None;
        }
        let number = self.tail - 1;
        let record = self.at_mut(number);
        record.flags = record.flags & !UNLISTED | AMBIGUOUS;
        record.sent_at = now;
        let (chunk, is_missing) = (record.chunk(), !record.has(SACKED));
        if is_missing {
            self.resent.push_back(Resent { number, sent_at: now, next_new: self.tail });
        }
        self.rate_resent(now, number);
        Some(chunk)
    }

    /// Returns when the first segment in flight was last sent, if there is one.
    #[inline]
    pub(crate) fn head_sent_at(&self) -> Option<Instant> {
        (self.head != self.tail).then(|| self.at(self.head).sent_at)
    }

    /// Returns whether a retransmission is in flight, or the first segment was sent again.
    pub(crate) fn is_any_resent(&self) -> bool {
        self.resent_out > 0 || (self.head != self.tail && self.at(self.head).has(AMBIGUOUS))
    }

    #[inline]
    pub(crate) fn resent_out(&self) -> u32 {
        self.resent_out
    }

    /// Returns the lowest segment before `ack` that was sent once and arrives only now, although later segments, up to
    /// `highest`, were SACKed by an earlier ACK (RFC 8985, 6.2, step 3).
    #[cold]
    pub(super) fn lowest_late(&self, ack: SeqNumber, highest: SeqNumber) -> Option<SeqNumber> {
        let is_late = |record: &Record| !record.has(SACKED | AMBIGUOUS) && record.start() < highest;
        let records = (self.head..self.tail).map(|number| self.at(number));
        records.take_while(|record| record.end <= ack).find(|record| is_late(record)).map(Record::start)
    }
}

#[cfg(test)]
mod tests;
