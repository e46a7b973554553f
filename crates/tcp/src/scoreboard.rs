//! The sender's record of the segments in flight: one entry per segment, marked by SACK and by loss detection.
//!
//! `acknowledged` removes what an ACK covers, `sacked` marks what SACK blocks cover, and [`loss`] decides which
//! segments are lost.

mod acknowledged;
mod loss;
mod record;
mod sacked;

use crate::rate::RateEstimator;
use crate::{Flags, SackBlock, SeqNumber};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::mem::offset_of;
use goodqueue_units::{Duration, Instant, processor::prefetch};
pub(crate) use loss::Found;
use record::{
    AMBIGUOUS, FIN, FIRST, LOST, PUSH, RESENT, Record, Resent, SACKED, SendOrder, TOUCHED, UNLISTED,
};
pub(crate) use record::{Chunk, Delivery, Resend};

/// Room for the segments of a request.
const FIRST_CAPACITY: usize = 4;

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
    /// Packets for segmentation offload that hold these segments.
    packets: u32,
    mss: u32,
    /// A segment was delivered since RACK last looked for losses (Linux `rack.advanced`).
    advanced: bool,
    /// A DSACK came, and no segment was delivered since (Linux `rack.dsack_seen`).
    dsack_seen: bool,
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
            packets: 0,
            mss: u32::from(mss),
            advanced: false,
            dsack_seen: false,
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

    /// Makes full segments shorter by `bytes` from now on.
    #[cold]
    pub(crate) fn shorten(&mut self, bytes: u16) {
        self.mss = self.mss.saturating_sub(bytes.into()).max(1);
    }

    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        (self.tail - self.head) as u32
    }

    /// Returns how many packets for segmentation offload hold the segments in flight.
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }

    /// Begins a packet at segment `number`, if it is in flight and is amid one.
    fn begin_packet(&mut self, number: u64) {
        if number < self.tail && !self.at(number).has(FIRST) {
            self.at_mut(number).flags |= FIRST;
            self.packets += 1;
        }
    }

    /// Joins the packet that begins at segment `number`, if one does, to the one before it.
    fn join_packet(&mut self, number: u64) {
        if self.at(number).has(FIRST) {
            self.at_mut(number).flags &= !FIRST;
            self.packets -= 1;
        }
    }

    #[inline]
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }

    #[inline]
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }

    /// Returns whether nothing is SACKed or lost, no DSACK is to be taken up, and the delivery rate is not estimated.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.sacked_out | self.lost_out | self.resent_out == 0 && !self.dsack_seen && self.rate.is_none()
    }

    /// Returns the end of the highest SACKed segment, or SND.UNA if none is SACKed (Linux `tcp_highest_sack_seq`).
    pub(crate) fn sacked_until(&self) -> SeqNumber {
        let highest = if self.sacked_out > 0 { self.find(self.highest_sacked) } else { self.tail };
        if highest < self.tail { self.at(highest).end } else { self.una }
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

    /// Records a segment of `len` new bytes that leaves now, with FIN or PSH if `ends` has them. `is_first`: it begins
    /// a packet.
    #[inline]
    pub(crate) fn send(&mut self, now: Instant, len: u16, ends: Flags, is_first: bool) -> Chunk {
        if self.packets_out() as usize == self.ring.len() {
            self.grow();
        }
        let seq = self.nxt;
        self.nxt += u32::from(len);
        let flags = if ends == Flags::NONE { 0 } else { self.note_end(ends) };
        let flags = flags | if is_first { FIRST } else { 0 };
        self.packets += u32::from(is_first);
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

    /// Records that the first lost segment leaves again now. Returns `None` if no segment is lost. It leaves the rest
    /// of its packet behind, unless that is lost too, the packet has fewer than `most` segments, and `together` says
    /// that more may leave now.
    pub(crate) fn resend(&mut self, now: Instant, together: bool, most: u32) -> Option<Resend> {
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
        let is_again = record.has(AMBIGUOUS);
        record.flags = record.flags & !UNLISTED | RESENT | AMBIGUOUS;
        record.sent_at = now;
        let chunk = record.chunk();
        self.resent_out += 1;
        if !self.is_with_last_resent(number, now) {
            self.begin_packet(number);
        }
        let together = together && self.place_in_packet(number) + 1 < u64::from(most);
        if !together || number + 1 == self.tail || self.at(number + 1).flags & (LOST | RESENT) != LOST {
            self.begin_packet(number + 1);
        }
        self.resent.push_back(Resent { number, sent_at: now, next_new: self.tail });
        self.next_lost = number + 1;
        self.rate_resent(now, number);
        let is_last = number + 1 == self.tail || self.at(number + 1).has(FIRST);
        let ends_packet = is_last && !self.at(number).has(FIRST);
        Some(Resend { chunk, is_first: number == self.head, is_again, ends_packet })
    }

    /// Returns how many segments of its packet are before segment `number`.
    fn place_in_packet(&self, number: u64) -> u64 {
        let first = (self.head..=number).rev().find(|&number| self.at(number).has(FIRST));
        number - first.unwrap_or(self.head)
    }

    /// Returns whether the segment before `number` left again at the same time.
    /// Returns whether the next lost segment goes into one packet with the one that was sent again at `now`.
    pub(crate) fn goes_on_resent(&self, now: Instant) -> bool {
        let number = self.next_lost;
        number < self.tail
            && self.is_with_last_resent(number, now)
            && self.at(number).flags & (LOST | RESENT | FIRST) == LOST
    }

    fn is_with_last_resent(&self, number: u64, now: Instant) -> bool {
        number > self.head && self.at(number - 1).has(RESENT) && self.at(number - 1).sent_at == now
    }

    #[cold]
    fn rate_resent(&mut self, now: Instant, number: u64) {
        let in_flight = self.in_flight();
        if let Some(rate) = &mut self.rate {
            rate.on_sent(now, number, false, in_flight);
        }
    }

    /// Takes back the last segment, which starts at `seq`, if it was never sent before. Returns whether it was that.
    pub(crate) fn unsend(&mut self, seq: SeqNumber) -> bool {
        let is_last = self.head < self.tail && {
            let record = self.at(self.tail - 1);
            record.start() == seq && !record.has(TOUCHED)
        };
        if is_last {
            self.join_packet(self.tail - 1);
            (self.tail, self.nxt) = (self.tail - 1, seq);
            self.scan = self.scan.min(self.tail);
        }
        is_last
    }

    /// Takes back the last retransmission, or probe, if it was of the segment at `seq`. Returns whether it was.
    pub(crate) fn unresend(&mut self, seq: SeqNumber) -> bool {
        let Some(&Resent { number, .. }) = self.resent.back() else { return false };
        if number < self.head || self.at(number).start() != seq {
            return false;
        }
        self.resent.pop_back();
        if self.at(number).has(RESENT) {
            self.next_lost = if self.has_lost() { self.next_lost.min(number) } else { number };
            self.at_mut(number).flags &= !RESENT;
            self.resent_out -= 1;
        }
        true
    }

    /// Returns whether the counters equal a recount of the records. It is for tests.
    pub(crate) fn is_consistent(&self) -> bool {
        let count = |flag| (self.head..self.tail).filter(|&n| self.at(n).has(flag)).count() as u32;
        let contiguous = (self.head + 1..self.tail).all(|n| self.at(n - 1).end == self.at(n).start());
        let waiting_below = (self.head..self.next_lost.clamp(self.head, self.tail))
            .any(|n| self.at(n).flags & (LOST | RESENT) == LOST);
        (count(SACKED), count(LOST), count(RESENT), count(FIRST))
            == (self.sacked_out, self.lost_out, self.resent_out, self.packets)
            && contiguous
            && !waiting_below
    }
}

#[cfg(test)]
mod tests;
