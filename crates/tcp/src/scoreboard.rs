//! The sender's record of the segments in flight: one entry per segment, marked by SACK and by loss detection.
//!
//! [`loss`] decides which segments are lost.

mod loss;
mod record;

use crate::rate::RateEstimator;
use crate::segment::timestamp;
use crate::{Flags, SackBlock, SeqNumber};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::offset_of;
use goodqueue_units::{Duration, Instant, processor::prefetch};
pub(crate) use loss::Found;
use record::{AMBIGUOUS, FIN, LOST, PUSH, RESENT, Record, Resent, SACKED, SendOrder, TOUCHED};
pub(crate) use record::{Chunk, Delivery};

const FIRST_CAPACITY: usize = 16;

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct Scoreboard {
    una: SeqNumber,
    nxt: SeqNumber,
    head: u64,
    tail: u64,
    sacked_out: u32,
    lost_out: u32,
    resent_out: u32,
    mss: u32,
    /// The delivery-rate estimator, if the configuration or the congestion control asks for it.
    rate: Option<Box<RateEstimator>>,
    /// Records of segments `head..tail`, each at its number modulo the length, a power of two.
    ring: Vec<Record>,
    /// Loss detection has checked the originals below this number.
    scan: u64,
    /// The most recently sent segment of those delivered.
    newest_delivered: SendOrder,
    /// RACK.rtt: the round-trip time of the last segment that the last ACK delivered.
    rack_rtt: Duration,
    // The fields from here on are used only while something is lost or SACKed.
    /// No lost segment below this number waits for its retransmission.
    next_lost: u64,
    /// The start of the highest SACKed segment, if any is SACKed.
    highest_sacked: SeqNumber,
    /// The SACK blocks of the last ACK: the segments that they cover are marked already.
    known: [SackBlock; 3],
    /// Retransmissions, including tail loss probes, in the order sent. Outdated entries are skipped when they come to
    /// the front.
    resent: VecDeque<Resent>,
}

impl Scoreboard {
    /// Where the part ends that each segment touches.
    pub(crate) const HOT_BYTES: usize = offset_of!(Self, next_lost);

    /// Builds an empty scoreboard. Its first byte will be `una`.
    pub(crate) fn new(una: SeqNumber, mss: u16) -> Self {
        Self {
            ring: Vec::new(),
            head: 0,
            tail: 0,
            una,
            nxt: una,
            sacked_out: 0,
            lost_out: 0,
            resent_out: 0,
            mss: u32::from(mss),
            scan: 0,
            next_lost: 0,
            newest_delivered: SendOrder { sent_at: Instant::ZERO, end: una, resent: false },
            rack_rtt: Duration::ZERO,
            highest_sacked: una,
            resent: VecDeque::new(),
            known: [SackBlock::default(); 3],
            rate: None,
        }
    }

    /// Switches the estimate of the delivery rate on. To be called before anything is sent.
    pub(crate) fn estimate_rate(&mut self) {
        self.rate = Some(Box::default());
    }

    #[inline]
    pub(crate) fn rate(&self) -> Option<&RateEstimator> {
        self.rate.as_deref()
    }

    #[inline]
    pub(crate) fn rate_mut(&mut self) -> Option<&mut RateEstimator> {
        self.rate.as_deref_mut()
    }

    /// Returns the first byte not acknowledged.
    #[inline]
    pub(crate) fn una(&self) -> SeqNumber {
        self.una
    }

    /// Returns the first byte not sent.
    #[inline]
    pub(crate) fn nxt(&self) -> SeqNumber {
        self.nxt
    }

    /// Prefetches the record of the oldest segment (cache line).
    #[inline]
    pub(crate) fn prefetch_oldest(&self) {
        if let Some(record) = self.ring.get(self.head as usize & self.ring.len().wrapping_sub(1)) {
            prefetch(record);
        }
    }

    /// Returns the bytes of a full segment, whatever the peer's window.
    #[inline]
    pub(crate) fn mss(&self) -> u32 {
        self.mss
    }

    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        (self.tail - self.head) as u32
    }

    #[inline]
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    #[inline]
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Returns whether nothing is SACKed or lost, and the delivery rate is not estimated.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.sacked_out | self.lost_out | self.resent_out == 0 && self.rate.is_none()
    }

    /// Returns RFC 6675's pipe, in segments.
    #[inline]
    pub(crate) fn in_flight(&self) -> u32 {
        self.packets_out() - self.sacked_out - self.lost_out + self.resent_out
    }

    #[inline]
    fn slot(&self, number: u64) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    #[inline]
    fn at(&self, number: u64) -> &Record {
        &self.ring[self.slot(number)]
    }

    #[inline]
    fn at_mut(&mut self, number: u64) -> &mut Record {
        let slot = self.slot(number);
        &mut self.ring[slot]
    }

    /// Records a segment of `len` new bytes that leaves now, with FIN or PSH if `ends` has them.
    #[inline]
    pub(crate) fn send(&mut self, now: Instant, len: u16, ends: Flags) -> Chunk {
        if self.packets_out() as usize == self.ring.len() {
            self.grow();
        }
        let seq = self.nxt;
        self.nxt += u32::from(len);
        let flags = if ends == Flags::NONE { 0 } else { self.note_end(ends) };
        let record = Record { sent_at: now, end: self.nxt, len, flags };
        *self.at_mut(self.tail) = record;
        self.tail += 1;
        if self.rate.is_some() {
            self.rate_sent(now, self.tail - 1);
        }
        Chunk { seq, len, ends }
    }

    /// Returns the record's flags of a segment that `ends` the stream, or the data written so far.
    #[cold]
    fn note_end(&mut self, ends: Flags) -> u8 {
        let is_fin = ends.contains(Flags::FIN);
        self.nxt += u32::from(is_fin);
        (if is_fin { FIN } else { 0 }) | (if ends.contains(Flags::PSH) { PUSH } else { 0 })
    }

    #[cold]
    fn rate_sent(&mut self, now: Instant, number: u64) {
        let (is_first_out, in_flight) = (self.packets_out() == 1, self.in_flight());
        if let Some(rate) = &mut self.rate {
            rate.on_sent(now, number, is_first_out, in_flight);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (2 * self.ring.len()).max(FIRST_CAPACITY);
        let mut ring = alloc::vec![Record::EMPTY; capacity];
        for number in self.head..self.tail {
            ring[number as usize & (capacity - 1)] = *self.at(number);
        }
        self.ring = ring;
        if let Some(rate) = &mut self.rate {
            rate.grow(self.head..self.tail, capacity);
        }
    }

    /// Returns whether a lost segment waits for its retransmission.
    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.lost_out != self.resent_out
    }

    /// Records that the first lost segment leaves again now. Returns the segment, and whether it is the oldest of all
    /// in flight. Returns `None` if no segment is lost.
    pub(crate) fn resend(&mut self, now: Instant) -> Option<(Chunk, bool)> {
        if !self.has_lost() {
            return None;
        }
        let mut number = self.next_lost.max(self.head);
        while number < self.tail && self.at(number).flags & (LOST | RESENT) != LOST {
            number += 1;
        }
        if number == self.tail {
            debug_assert!(false, "{} lost, {} resent, none found", self.lost_out, self.resent_out);
            return None;
        }
        let record = self.at_mut(number);
        record.flags |= RESENT | AMBIGUOUS;
        record.sent_at = now;
        let chunk = record.chunk();
        self.resent_out += 1;
        self.resent.push_back(Resent { number, sent_at: now, next_new: self.tail });
        self.next_lost = number + 1;
        self.rate_resent(now, number);
        Some((chunk, number == self.head))
    }

    #[cold]
    fn rate_resent(&mut self, now: Instant, number: u64) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.on_sent(now, number, false, in_flight);
        }
    }

    /// Removes everything before `ack` if that is whole segments without any mark. Returns how many, and when the first
    /// and the last were sent. Returns `None`, without a change, otherwise.
    #[inline]
    pub(crate) fn acknowledge_plain(
        &mut self,
        now: Instant,
        ack: SeqNumber,
    ) -> Option<(u32, Instant, Instant)> {
        let mut number = self.head;
        let first = self.at(number).sent_at;
        let last = loop {
            let record = self.at(number);
            number += 1;
            if record.has(TOUCHED) {
                return None;
            }
            if record.end == ack {
                break record.sent_at;
            }
            if number == self.tail {
                return None;
            }
        };
        let segments = (number - self.head) as u32;
        (self.head, self.una) = (number, ack);
        self.scan = self.scan.max(number);
        self.deliver(&Record { sent_at: last, end: ack, len: 0, flags: 0 }, now);
        Some((segments, first, last))
    }

    /// Removes everything before `ack`. `ack` is not beyond [`nxt`](Self::nxt).
    pub(crate) fn acknowledge(&mut self, ack: SeqNumber, delivery: &mut Delivery) {
        if self.sacked_out > 0 {
            let before = delivery.highest_before.unwrap_or(self.highest_sacked);
            delivery.note_late(self.lowest_late(ack, before), self.highest_sacked);
        }
        if self.rate.is_some() {
            self.rate_acknowledged(ack);
        }
        let mut plain = None; // the last unmarked segment, until it is noted
        while self.head != self.tail {
            // Field by field (store forwarding): a copy of the whole record would be stored and loaded again.
            let record = self.at(self.head);
            let (sent_at, end, flags) = (record.sent_at, record.end, record.flags);
            if end > ack {
                self.trim(ack);
                break;
            }
            if flags & TOUCHED == 0 {
                if delivery.acked.0 == Instant::MAX {
                    delivery.acked.0 = sent_at;
                }
                delivery.segments += 1;
                plain = Some((sent_at, end));
            } else {
                self.note_plain(plain.take(), delivery);
                self.acknowledge_touched(delivery);
            }
            self.head += 1;
        }
        self.una = ack;
        self.scan = self.scan.max(self.head);
        self.note_plain(plain, delivery);
    }

    /// Notes the delivery of a run of unmarked segments by its last segment, which was sent last.
    #[inline]
    fn note_plain(&mut self, last: Option<(Instant, SeqNumber)>, delivery: &mut Delivery) {
        if let Some((sent_at, end)) = last {
            delivery.acked.1 = sent_at;
            self.deliver(&Record { sent_at, end, len: 0, flags: 0 }, delivery.now);
        }
    }

    #[cold]
    fn rate_acknowledged(&mut self, ack: SeqNumber) {
        for number in self.head..self.tail {
            let record = *self.at(number);
            if record.end > ack {
                break;
            }
            if let Some(rate) = self.rate.as_mut().filter(|_| !record.has(SACKED)) {
                rate.on_delivered(number, record.sent_at, record.end);
            }
        }
    }

    /// Shortens the first segment: the receiver took a part of it. Our receiver never does, but any ACK may arrive.
    #[inline]
    fn trim(&mut self, ack: SeqNumber) {
        let record = self.at(self.head);
        if record.start() < ack {
            let len = record.end.since(ack) - u32::from(record.has(FIN));
            self.at_mut(self.head).len = len as u16;
        }
    }

    #[cold]
    fn acknowledge_touched(&mut self, delivery: &mut Delivery) {
        let record = *self.at(self.head);
        if record.has(SACKED) {
            self.sacked_out -= 1;
            return; // delivered before
        }
        delivery.segments += 1;
        self.forget_loss(record.flags);
        if record.has(AMBIGUOUS) {
            delivery.ambiguous = true;
            // RFC 8985, section 6.2, step 2: the original was delivered if the echo is older than the retransmission.
            // The echo of a SACK does not belong to the segment that it SACKs.
            let age = timestamp(record.sent_at).wrapping_sub(delivery.tsecr);
            if delivery.tsecr == 0 || age == 0 || age > 1 << 31 {
                self.delivered_again(&record, delivery);
            }
        } else {
            delivery.acked.0 = delivery.acked.0.min(record.sent_at);
            delivery.acked.1 = record.sent_at;
            self.deliver(&record, delivery.now);
        }
    }

    /// Handles the delivery of a segment that was sent twice. The retransmission was not the one delivered if it would
    /// have been faster than the path ever was (RFC 8985, section 6.2, step 2).
    fn delivered_again(&mut self, record: &Record, delivery: &Delivery) {
        if delivery.now.since(record.sent_at) >= delivery.min_rtt {
            self.deliver(record, delivery.now);
        }
    }

    /// Updates RACK's state with a delivered segment (RFC 8985, section 6.2, step 2). Segments come in the order of
    /// their numbers. RACK.rtt is the RTT of the last segment, RACK.xmit_ts the send time of the most recently sent one
    /// (Linux: `tcp_rack_advance`).
    #[inline]
    fn deliver(&mut self, record: &Record, now: Instant) {
        self.rack_rtt = now.since(record.sent_at);
        self.newest_delivered.advance(record);
    }

    fn forget_loss(&mut self, flags: u8) {
        if flags & LOST != 0 {
            self.lost_out -= 1;
        }
        if flags & RESENT != 0 {
            self.resent_out -= 1;
        }
    }

    /// Marks the segments that `blocks` cover as delivered.
    #[cold]
    pub(crate) fn sack(&mut self, blocks: &[SackBlock], delivery: &mut Delivery) {
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
        for block in lowest_first {
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
        self.known = [SackBlock::default(); 3];
        self.known[..blocks.len()].copy_from_slice(blocks);
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
    fn find(&self, seq: SeqNumber) -> u64 {
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

    fn sack_one(&mut self, number: u64, highest: SeqNumber, delivery: &mut Delivery) {
        let record = self.at_mut(number);
        if record.has(SACKED) {
            return;
        }
        let before = *record;
        record.flags = (record.flags | SACKED) & !(LOST | RESENT);
        self.sacked_out += 1;
        delivery.segments += 1;
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
                delivery.note_late(Some(before.start()), highest);
            }
            self.deliver(&before, delivery.now);
        }
    }

    /// Returns whether the counters equal a recount of the records. It is for tests.
    pub(crate) fn is_consistent(&self) -> bool {
        let count = |flag| (self.head..self.tail).filter(|&n| self.at(n).has(flag)).count() as u32;
        let contiguous = (self.head + 1..self.tail).all(|n| self.at(n - 1).end == self.at(n).start());
        let waiting_below = (self.head..self.next_lost.clamp(self.head, self.tail))
            .any(|n| self.at(n).flags & (LOST | RESENT) == LOST);
        (count(SACKED), count(LOST), count(RESENT)) == (self.sacked_out, self.lost_out, self.resent_out)
            && contiguous
            && !waiting_below
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
