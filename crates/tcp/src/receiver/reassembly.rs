//! Data that is not simply the next in order: ranges held out of order, their SACK blocks, duplicates, and refusals.

use super::{Pile, Receiver, SACKS};
use crate::delack::QUICK_ACKS;
use crate::rtt::RttEstimator;
use crate::{Flags, SackBlock, Segment, SeqNumber};
use goodqueue_units::Instant;

/// Remembered ranges that a peer is expected to hear of soon (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

impl Receiver {
    /// Takes a segment out of order, received again, above a hole, with FIN, or while the application does not read.
    #[cold]
    pub(super) fn on_unusual_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        rtt: &RttEstimator,
        closed: bool,
    ) -> u32 {
        let (start, end) = (segment.seq, segment.seq + segment.seq_len());
        if self.fin.is_some_and(|fin| end > fin + 1) {
            return 0; // nothing follows a FIN (RFC 9293, 3.10.7.4); as on Linux, no answer
        }
        let left = self.window.left(self.nxt);
        if end <= self.nxt {
            // A retransmission of data that is here: our ACKs were lost, or late.
            self.duplicate = Some(SackBlock { start, end });
            self.refuse(left);
            return 0;
        }
        if start > self.nxt + left || left == 0 {
            self.refuse(left); // beyond the window (RFC 9293, 3.10.7.4)
            return 0;
        }
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(end - 1);
        }
        if start > self.nxt {
            let before = self.memory();
            let joins = self.hold(SackBlock { start, end });
            let memory = if joins { self.memory() } else { before };
            let last = self.ranges.back().map_or(end, |(range, _)| range.end);
            let span = last.since(self.nxt);
            if self.window.grow_over_hole(memory, segment.payload_len, span) {
                self.delack.on_growth();
            }
            self.answer(now, rtt);
            return 0;
        }
        if start < self.nxt {
            self.duplicate = Some(SackBlock { start, end: self.nxt });
        }
        let (before, had_gap) = (self.nxt, self.has_gap());
        let mut pile = self.unread_pile;
        pile.join(self.pile(SackBlock { start: before, end }), self.overhead());
        let memory = self.memory() - self.unread_pile.memory() + pile.memory();
        self.nxt = end;
        while let Some((range, held)) =
            self.ranges.front().copied().filter(|(range, _)| range.start <= self.nxt)
        {
            if range.start < self.nxt {
                let end = self.nxt.earlier(range.end);
                self.duplicate = Some(SackBlock { start: range.start, end });
            }
            self.nxt = self.nxt.later(range.end);
            self.held -= range.end.since(range.start);
            pile.join(held, self.overhead());
            self.ranges.pop_front();
        }
        self.forget_blocks(|block, nxt| block.end <= nxt);
        let fin_taken = self.fin.is_some_and(|fin| fin >= before && fin < self.nxt);
        let bytes = self.nxt.since(before) - u32::from(fin_taken);
        let acks_unread = had_gap && !self.paused && self.window.acks_before_reading();
        let shrinks = acks_unread && self.fill(pile.memory());
        if self.paused {
            self.unread += bytes;
            self.unread_pile = pile;
        }
        if bytes > 0 {
            self.take(now, segment, bytes, Some(memory), rtt);
            if !self.paused {
                self.on_first_read(now, pile);
            }
        }
        if had_gap && !self.has_gap() {
            self.delack.demand(); // RFC 5681, 4.2: an ACK at once when a gap is filled
        }
        if fin_taken {
            self.unacked += 1;
            self.delack.on_fin(closed);
        }
        self.answer(now, rtt);
        if shrinks && self.has_gap() {
            self.delack.on_part_filled(self.nxt);
        }
        bytes
    }

    /// Takes note that a hole is filled. Data with `filled` bytes of memory is now in order.
    ///
    /// The ACK leaves before the application reads any of it, so it still takes up room in the window of this ACK. If
    /// reading it opens the window enough for an immediate window update, that second ACK is not sent: this ACK carries
    /// the open window. Returns whether this ACK has less room to offer than the last one did.
    fn fill(&mut self, filled: u32) -> bool {
        let memory = self.memory() + filled;
        let shrinks = self.window.shrinks(self.last_ack, memory);
        if self.window.is_tight(memory) {
            self.delack.on_tight();
        }
        let told = self.window.offer(self.nxt, memory);
        self.told = (!self.window.is_news(self.nxt, self.memory())).then_some(told);
        shrinks
    }

    #[cold]
    pub(super) fn refuse_outdated(&mut self, segment: &Segment) -> u32 {
        if segment.seq < self.nxt {
            let end = self.nxt.earlier(segment.seq + segment.seq_len());
            self.duplicate = Some(SackBlock { start: segment.seq, end });
        }
        let left = self.window.left(self.nxt);
        self.refuse(left);
        0
    }

    /// Answers at once a segment that brought nothing, and some of the segments after it.
    fn refuse(&mut self, left: u32) {
        self.delack.on_trouble(QUICK_ACKS, left);
        self.delack.demand();
    }

    /// Returns the bytes of memory that a packet takes beside its payload.
    fn overhead(&self) -> u32 {
        self.window.packet_memory()
    }

    /// Returns the memory of a packet with the bytes of `block`.
    fn pile(&self, block: SackBlock) -> Pile {
        Pile::packet(block.start.since(self.first), block.end.since(block.start), self.overhead())
    }

    /// Adds `new` to the out-of-order ranges, joins it to the ranges that it touches, and puts it first among the SACK
    /// blocks. Its packet may join the packet that ends where it starts: returns whether it does.
    fn hold(&mut self, mut new: SackBlock) -> bool {
        let arrived = new;
        let first = self.ranges.partition_point(|(range, _)| range.end < new.start);
        let mut joined = 0;
        self.held += new.end.since(new.start);
        let (packet, overhead) = (self.pile(new), self.overhead());
        let (mut pile, mut is_placed, mut joins) = (Pile::default(), false, false);
        while let Some((range, held)) =
            self.ranges.get(first + joined).copied().filter(|(range, _)| range.start <= new.end)
        {
            let twice = SackBlock { start: new.start.later(range.start), end: new.end.earlier(range.end) };
            if twice.start < twice.end {
                self.duplicate = Some(twice);
                self.held -= twice.end.since(twice.start);
                is_placed |= twice == range || twice == new; // one of both is dropped
            }
            if range.start > new.start && !is_placed {
                joins = pile.join(packet, overhead);
                is_placed = true;
            }
            pile.put_behind(held);
            new.start = new.start.earlier(range.start);
            new.end = new.end.later(range.end);
            joined += 1;
        }
        if !is_placed {
            joins = pile.join(packet, overhead);
        }
        if joined == 0 {
            self.ranges.insert(first, (new, pile));
        } else {
            self.ranges[first] = (new, pile);
            self.ranges.drain(first + 1..first + joined);
        }
        self.remember(arrived);
        joins
    }

    /// Puts `new`, which has just come, first among the remembered ranges. It joins those that it touches, but not a
    /// range that was forgotten: Linux looks at no other (`tcp_sack_new_ofo_skb`).
    ///
    /// If it changes none of the first ranges, ACKs that are held back leave before it: the sender would not hear of a
    /// range otherwise.
    fn remember(&mut self, new: SackBlock) {
        let mut len = usize::from(self.sack_len);
        let touches = |block: &SackBlock, new: &SackBlock| new.start <= block.end && block.start <= new.end;
        let place = self.sack[..len].iter().position(|block| touches(block, &new)).unwrap_or(len);
        if place >= EXPECTED && self.delack.holds() {
            self.owe_blocks();
        }
        let mut first = new;
        if place < len {
            let old = self.sack[place];
            first = SackBlock { start: new.start.earlier(old.start), end: new.end.later(old.end) };
        } else {
            len = (len + 1).min(SACKS);
        }
        self.sack.copy_within(..place.min(SACKS - 1), 1);
        self.sack[0] = first;
        let mut kept = 1;
        for walk in 1..len {
            let block = self.sack[walk];
            if touches(&block, &self.sack[0]) {
                let first = &mut self.sack[0];
                *first = SackBlock { start: first.start.earlier(block.start), end: first.end.later(block.end) };
            } else {
                self.sack[kept] = block;
                kept += 1;
            }
        }
        self.sack_len = kept as u8;
    }

    /// Sends the ACKs that are held back as one.
    fn owe_blocks(&mut self) {
        let (len, blocks) = self.blocks();
        self.owed_blocks = Some((len, blocks, self.echo.owe(self.nxt)));
        self.unacked = 0;
        self.last_ack = self.nxt;
        self.delack.on_sent_ack();
    }

    /// Removes the SACK blocks for which `gone(block, nxt)` returns true.
    fn forget_blocks(&mut self, gone: impl Fn(&SackBlock, SeqNumber) -> bool) {
        let mut kept = 0;
        for i in 0..usize::from(self.sack_len) {
            if !gone(&self.sack[i], self.nxt) {
                self.sack[kept] = self.sack[i];
                kept += 1;
            }
        }
        self.sack_len = kept as u8;
    }

    /// Returns whether the next ACK has SACK blocks.
    #[inline]
    pub(super) fn has_blocks(&self) -> bool {
        self.sack_len > 0 || self.duplicate.is_some()
    }

    /// Returns the number of SACK blocks of the next ACK, and the blocks. A duplicate is reported once, as the first
    /// block (RFC 2883, section 4).
    #[cold]
    pub(super) fn blocks(&mut self) -> (u8, [SackBlock; 3]) {
        let [first, second, third, _] = self.sack;
        let Some(duplicate) = self.duplicate.take() else { return (self.sack_len.min(3), [first, second, third]) };
        ((self.sack_len + 1).min(3), [duplicate, first, second])
    }
}
