//! What SACK blocks do to the scoreboard: they mark segments as delivered.

use super::Scoreboard;
use super::record::{AMBIGUOUS, Delivery, LOST, RESENT, SACKED, UNLISTED};
use crate::{SackBlock, SeqNumber};

impl Scoreboard {
    /// Takes note of a DSACK that the next delivery takes up.
    pub(crate) fn see_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Takes up a DSACK. Returns whether there is one.
    pub(crate) fn take_dsack_seen(&mut self) -> bool {
        core::mem::take(&mut self.dsack_seen)
    }

    /// Takes note that the receiver got `twice` twice, a part of which is not acknowledged yet; `ack` is the ACK number
    /// and `marker` where the episode began that may be undone. Returns how many of these segments were sent again. One
    /// that was SACKED before came out of order: its original is here, too (Linux `tcp_sacktag_one`).
    #[cold]
    pub(crate) fn note_twice(
        &mut self,
        twice: SackBlock,
        ack: SeqNumber,
        marker: Option<SeqNumber>,
        delivery: &mut Delivery,
    ) -> u32 {
        let una = ack.later(self.una);
        let is_valid =
            twice.start > una || (twice.end <= una && marker.is_some_and(|marker| twice.end > marker));
        if !is_valid || twice.end > self.nxt {
            return 0; // Linux `tcp_is_sackblock_valid`
        }
        let mut resent = 0;
        let mut number = self.find(twice.start.later(self.una));
        while number < self.tail && self.at(number).end <= twice.end {
            let record = *self.at(number);
            if record.has(AMBIGUOUS) {
                resent += 1;
                if record.has(SACKED) {
                    delivery.note_late(record.start());
                }
            }
            number += 1;
        }
        resent
    }

    /// Marks the segments that `blocks` of an ACK up to `ack` cover as delivered. A block that does not begin above
    /// `ack` is out of date or a duplicate (Linux `tcp_is_sackblock_valid`).
    #[cold]
    pub(crate) fn sack(&mut self, ack: SeqNumber, blocks: &[SackBlock], delivery: &mut Delivery) {
        let una = ack.later(self.una);
        if self.sacked_out == 0 {
            self.known = [SackBlock::default(); 3]; // an old block may look new after 2³¹ bytes
            self.highest_sacked = self.una;
            self.resent.retain(|resent| resent.number >= self.head);
        }
        let highest = self.highest_sacked;
        delivery.highest_before = Some(highest);
        // The newest block comes first (RFC 2018), but segments are handled in the order of their numbers.
        let sorted;
        let lowest_first: &[SackBlock] = match *blocks {
            [a, b] if b.start < a.start => {
                sorted = [b, a, a];
                &sorted[..2]
            }
            [a, b, c] => {
                sorted = ascending(a, b, c);
                &sorted
            }
            _ => blocks,
        };
        for block in lowest_first.iter().filter(|block| block.start > una) {
            let inside = |known: &&SackBlock| {
                known.start != known.end && known.start >= block.start && known.end <= block.end
            };
            match self.known.iter().find(inside).copied() {
                Some(known) => {
                    self.sack_range(block.start, known.start, highest, delivery);
                    self.sack_range(known.end, block.end, highest, delivery);
                }
                None => self.sack_range(block.start, block.end, highest, delivery),
            }
        }
        let mut news = blocks.iter().copied();
        self.known = core::array::from_fn(|_| news.next().unwrap_or_default());
        if let Some(late) = delivery.lowest_late {
            let highest = self.sacked_until();
            delivery.sacked_late = if late < highest { highest.since(late) } else { 0 };
        }
    }

    /// Marks the segments from `start` to `end`. `highest` is the highest SACKed segment before this ACK.
    fn sack_range(&mut self, start: SeqNumber, end: SeqNumber, highest: SeqNumber, delivery: &mut Delivery) {
        let start = start.later(self.una);
        if start >= end || end > self.nxt {
            return;
        }
        let mut number = self.find(start);
        while number < self.tail && self.at(number).end <= end {
            self.sack_one(number, highest, delivery);
            number += 1;
        }
    }

    /// Returns the number of the first segment that starts at `seq` or after it.
    pub(super) fn find(&self, seq: SeqNumber) -> u64 {
        // No segment is larger than the MSS, so the guess is never too high. For full segments it is exact.
        let guess = self.head + u64::from(seq.since(self.una) / self.mss);
        let (mut low, mut high) = (guess.min(self.tail), self.tail);
        while low < high {
            // The first probe is the guess itself; after that, halves.
            let middle = if low == guess { low } else { low + (high - low) / 2 };
            if self.at(middle).start() < seq {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Makes segment `number`, which is SACKed now, one packet with a SACKed segment before it, and then with one after
    /// it. A segment that is SACKed only behind it stays apart. Splits it off from the others (Linux
    /// `tcp_shift_skb_data`).
    fn join_neighbours(&mut self, number: u64) {
        let joins = self.join_sacked(number);
        if !joins {
            self.begin_packet(number);
        }
        if joins && number + 1 < self.tail && self.at(number + 1).has(SACKED) {
            self.join_packet(number + 1);
        } else {
            self.begin_packet(number + 1);
        }
    }

    /// Makes segment `number` one packet with the segment before it, if that is SACKed. Returns whether it is.
    fn join_sacked(&mut self, number: u64) -> bool {
        let joins = number > self.head && self.at(number - 1).has(SACKED);
        if joins {
            self.join_packet(number);
        }
        joins
    }

    pub(super) fn sack_one(&mut self, number: u64, highest: SeqNumber, delivery: &mut Delivery) {
        if self.at(number).has(SACKED) {
            self.join_sacked(number);
            return;
        }
        let record = self.at_mut(number);
        let before = *record;
        record.flags = (record.flags | SACKED) & !(LOST | RESENT | UNLISTED);
        self.sacked_out += 1;
        self.join_neighbours(number);
        delivery.segments += 1;
        delivery.sacks = true;
        delivery.note_sent(before.sent_at);
        self.highest_sacked = self.highest_sacked.later(before.start());
        if let Some(rate) = &mut self.rate {
            rate.on_delivered(number, before.sent_at, before.end);
        }
        self.forget_loss(before.flags);
        if before.has(AMBIGUOUS) {
            self.delivered_again(&before, delivery);
        } else {
            delivery.sacked.0 = delivery.sacked.0.min(before.sent_at);
            delivery.sacked.1 = before.sent_at;
            if before.start() < highest {
                delivery.note_late(before.start());
            }
            self.deliver(&before, delivery.now);
        }
    }
}

/// Sorts three blocks, the lowest first.
fn ascending(mut a: SackBlock, mut b: SackBlock, mut c: SackBlock) -> [SackBlock; 3] {
    if b.start < a.start {
        (a, b) = (b, a);
    }
    if c.start < b.start {
        (b, c) = (c, b);
        if b.start < a.start {
            (a, b) = (b, a);
        }
    }
    [a, b, c]
}

#[cfg(test)]
mod tests;
