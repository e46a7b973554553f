//! Data that is not simply the next in order: ranges held out of order, their SACK blocks, duplicates, and refusals.

use super::{Pile, Receiver};
use crate::delack::QUICK_ACKS;
use crate::rtt::RttEstimator;
use crate::segment::timestamp;
use crate::{Flags, SackBlock, Segment};
use alloc::boxed::Box;
use goodqueue_units::Instant;

/// SACK blocks that each ACK has room for beside a DSACK (Linux's `TCP_SACK_BLOCKS_EXPECTED`).
const SURE_BLOCKS: usize = 2;

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
        self.unusual_at = timestamp(now);
        self.duplicate = None; // Linux (`tcp_data_queue`) tells of the last segment that came twice, or of none
        if self.fin.is_some_and(|fin| end > fin + 1) {
            return 0; // nothing follows a FIN (RFC 9293, 3.10.7.4); as on Linux, no answer
        }
        let left = self.window.left(self.nxt);
        if end <= self.nxt {
            // A retransmission of data that is here: our ACKs were lost, or late.
            self.duplicate = Some(SackBlock { start, end });
            self.hurry();
            return 0;
        }
        if start > self.nxt + left || left == 0 {
            self.hurry(); // beyond the window (RFC 9293, 3.10.7.4)
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
            let grows = self.window.grow_over_hole(memory, segment.payload_len, span);
            if self.before.is_some() {
                self.delack.release(grows); // this segment has no ACK of its own
                return 0;
            }
            if grows {
                self.delack.on_growth();
            }
            self.answer(now, self.unacked_at_once(), rtt);
            return 0;
        }
        if start < self.nxt {
            self.duplicate = Some(SackBlock { start, end: self.nxt });
        }
        let (before, had_gap) = (self.nxt, self.has_gap());
        let mut pile = self.unread_pile.as_deref().cloned().unwrap_or_default();
        pile.join(&self.pile(SackBlock { start: before, end }), self.overhead());
        let memory = self.memory() - self.unread_memory() + pile.memory();
        self.nxt = end;
        while self.ranges.front().is_some_and(|(range, _)| range.start <= self.nxt) {
            let Some((range, held)) = self.ranges.pop_front() else { break };
            if range.start < self.nxt {
                let end = self.nxt.earlier(range.end);
                self.duplicate = Some(SackBlock { start: range.start, end });
            }
            self.nxt = self.nxt.later(range.end);
            self.held -= range.end.since(range.start);
            self.piled -= held.memory();
            pile.join(&held, self.overhead());
        }
        self.forget_blocks();
        let fin_taken = self.fin.is_some_and(|fin| fin >= before && fin < self.nxt);
        let bytes = self.nxt.since(before) - u32::from(fin_taken);
        let acks_unread = had_gap && !self.paused && self.window.acks_before_reading();
        if bytes > 0 {
            self.take(now, segment, bytes, Some(memory), rtt);
        }
        let shrinks = acks_unread && self.fill(pile.memory());
        if self.paused {
            self.unread += bytes;
            self.piled = self.piled + pile.memory() - self.unread_memory();
            self.unread_pile = Some(Box::new(pile));
        } else if bytes > 0 {
            self.on_first_read(now, &pile);
        }
        if had_gap && !self.has_gap() {
            self.delack.demand(); // RFC 5681, 4.2: an ACK at once when a gap is filled
        }
        if fin_taken {
            self.unacked += 1;
            self.delack.on_fin(closed);
        }
        self.answer(now, self.unacked_at_once(), rtt);
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
    pub(super) fn refuse_data(&mut self, segment: &Segment) {
        if segment.seq < self.nxt {
            let end = self.nxt.earlier(segment.seq + segment.seq_len());
            self.duplicate = Some(SackBlock { start: segment.seq, end });
            self.hurry();
            if self.unacked == 0 && !self.delack.holds_acks() {
                self.delack.spare_quick_ack();
            }
        }
        self.delack.demand();
    }

    /// Answers at once a segment that brought nothing, and some of the segments after it.
    fn hurry(&mut self) {
        self.delack.on_trouble(QUICK_ACKS, self.window.left(self.last_ack));
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

    /// Adds `segment` to the out-of-order ranges, joins it to the ranges that it touches, and puts it among the SACK
    /// blocks. Its packet may join the packet that ends where it starts: returns whether it does.
    fn hold(&mut self, segment: SackBlock) -> bool {
        self.held += segment.end.since(segment.start);
        let (new, joins) = match self.lengthen_last(segment) {
            Some(added) => added,
            None => self.put_among(segment),
        };
        self.list(if self.delack.sack_blocks_forget() { segment } else { new });
        joins
    }

    /// Adds `segment` if it begins where the last range ends: what comes above a hole is nearly always the next data
    /// there. Returns the range, and whether its packet joins the one before it.
    fn lengthen_last(&mut self, segment: SackBlock) -> Option<(SackBlock, bool)> {
        let (packet, overhead) = (self.pile(segment), self.overhead());
        let (range, pile) = self.ranges.back_mut().filter(|(range, _)| range.end == segment.start)?;
        self.piled -= pile.memory();
        let joins = pile.join(&packet, overhead);
        self.piled += pile.memory();
        range.end = segment.end;
        Some((*range, joins))
    }

    /// Adds `segment` among the ranges. Returns its range, and whether its packet joins the one before it.
    fn put_among(&mut self, segment: SackBlock) -> (SackBlock, bool) {
        let mut new = segment;
        let (packet, overhead) = (self.pile(new), self.overhead());
        let first = self.ranges.partition_point(|(range, _)| range.end < new.start);
        let mut joined = 0;
        let (mut pile, mut is_placed, mut joins) = (Pile::default(), false, false);
        while let Some((range, held)) =
            self.ranges.get_mut(first + joined).filter(|(range, _)| range.start <= new.end)
        {
            let (range, held) = (*range, core::mem::take(held));
            self.piled -= held.memory();
            let twice = SackBlock { start: new.start.later(range.start), end: new.end.earlier(range.end) };
            if twice.start < twice.end {
                self.duplicate = Some(twice);
                self.held -= twice.end.since(twice.start);
                is_placed |= twice == range || twice == new; // one of both is dropped
            }
            if range.start > new.start && !is_placed {
                joins = pile.join(&packet, overhead);
                is_placed = true;
            }
            if pile.is_empty() {
                pile = held;
            } else {
                pile.put_behind(&held);
            }
            new = new.join(range);
            joined += 1;
        }
        if !is_placed {
            joins = pile.join(&packet, overhead);
        }
        self.piled += pile.memory();
        if joined == 0 {
            self.ranges.insert(first, (new, pile));
        } else {
            self.ranges[first] = (new, pile);
            self.ranges.drain(first + 1..first + joined);
        }
        (new, joins)
    }

    /// Puts the SACK block that touches `new` first, and joins both. Without one, `new` itself is first, and the last
    /// of four blocks is forgotten (Linux `tcp_sack_new_ofo_skb`).
    ///
    /// If neither of the first two blocks touches it, and ACKs are held back, one ACK leaves with the blocks in the old
    /// order, and without `new` if that touches none. Otherwise the sender might not hear of some blocks. Linux then
    /// takes `new` for acknowledged, too.
    fn list(&mut self, new: SackBlock) {
        let len = usize::from(self.sack_len);
        let place = self.sack[..len].iter().position(|block| block.touches(new)).unwrap_or(len);
        let mut first = new;
        if place < len {
            first = new.join(self.sack[place]);
            self.sack[place] = first;
        }
        if place >= SURE_BLOCKS && self.delack.holds_acks() {
            self.before = Some(Box::new(self.blocks()));
        }
        let listed = (len + usize::from(place == len)).min(self.sack.len());
        for number in (1..=place.min(listed - 1)).rev() {
            self.sack[number] = self.sack[number - 1];
        }
        self.sack[0] = first;
        let mut kept = 1;
        for number in 1..listed {
            let block = self.sack[number];
            if block.touches(self.sack[0]) {
                self.sack[0] = self.sack[0].join(block);
            } else {
                self.sack[kept] = block;
                kept += 1;
            }
        }
        self.sack_len = kept as u8;
    }

    /// Removes the SACK blocks that are in order now.
    fn forget_blocks(&mut self) {
        let mut kept = 0;
        for i in 0..usize::from(self.sack_len) {
            if self.sack[i].end > self.nxt {
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
        if let Some(before) = self.before.take() {
            return *before;
        }
        let [first, second, third, _] = self.sack;
        match self.duplicate.take() {
            Some(duplicate) => ((self.sack_len + 1).min(3), [duplicate, first, second]),
            None => (self.sack_len.min(3), [first, second, third]),
        }
    }
}
