//! The scoreboard's record of a segment, and the result of an ACK.

use crate::{Flags, SeqNumber};
use goodqueue_units::{Duration, Instant};

pub(super) const SACKED: u8 = 1;
/// Assumed lost, and not known to be delivered since.
pub(super) const LOST: u8 = 2;
/// Lost, and a retransmission is in flight. Never without `LOST`.
pub(super) const RESENT: u8 = 4;
/// Was sent more than once: its RTT is ambiguous (Karn).
pub(super) const AMBIGUOUS: u8 = 8;
pub(super) const FIN: u8 = 16;
/// Ends the data that the application wrote.
pub(super) const PUSH: u8 = 32;
/// Begins a packet for segmentation offload: what was sent together, less what was acknowledged, and split or joined by
/// SACKs and retransmissions as in Linux's queue.
pub(super) const FIRST: u8 = 64;
/// RACK has taken it for lost, and does not look at it again until it is sent again. This holds although the mark of
/// the loss is taken back: Linux takes the segment out of `tsorted_sent_queue`.
pub(super) const UNLISTED: u8 = 128;
/// Any mark of an event. Without one, the segment was sent once, and no ACK or loss detection has marked it.
pub(super) const TOUCHED: u8 = SACKED | LOST | RESENT | AMBIGUOUS | UNLISTED;

/// One segment. It has 16 bytes, so that four fill a cache line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) sent_at: Instant,
    pub(super) end: SeqNumber,
    pub(super) len: u16,
    pub(super) flags: u8,
}

const _: () = assert!(size_of::<Record>() == 16, "four records fill a cache line");

impl Record {
    pub(super) const EMPTY: Self = Self { sent_at: Instant::ZERO, end: SeqNumber(0), len: 0, flags: 0 };

    #[inline]
    pub(super) fn start(&self) -> SeqNumber {
        self.end - (u32::from(self.len) + u32::from(self.flags & FIN != 0))
    }

    /// Returns whether it has any of `flags`.
    #[inline]
    pub(super) fn has(&self, flags: u8) -> bool {
        self.flags & flags != 0
    }

    pub(super) fn chunk(&self) -> Chunk {
        let ends = Flags::FIN.when(self.has(FIN)) | Flags::PSH.when(self.has(PUSH));
        Chunk { seq: self.start(), len: self.len, ends }
    }
}

/// A segment to put on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) seq: SeqNumber,
    pub(crate) len: u16,
    /// FIN if the segment ends the stream, PSH if it ends the data written so far.
    pub(crate) ends: Flags,
}

/// A segment that leaves again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resend {
    pub(crate) chunk: Chunk,
    /// It is the oldest of all in flight.
    pub(crate) is_first: bool,
    /// It was sent more than once before.
    pub(crate) is_again: bool,
    /// It is the last of several segments that leave again as one packet.
    pub(crate) ends_packet: bool,
}

/// The deliveries of one ACK.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(super) now: Instant,
    pub(super) min_rtt: Duration,
    /// The echo of our clock. 0 without one.
    pub(crate) tsecr: u32,
    /// Segments newly delivered, cumulatively or by SACK.
    pub(crate) segments: u32,
    /// Send times of the first and the last segment newly acknowledged. [`Instant::MAX`] without one. Segments that
    /// were sent twice do not count.
    pub(crate) acked: (Instant, Instant),
    /// Send times of the first and the last segment newly SACKed, in the same way.
    pub(crate) sacked: (Instant, Instant),
    /// A segment that was sent twice was acknowledged: `acked` is no sample (Karn).
    pub(crate) ambiguous: bool,
    /// The ACK reports a plausible duplicate (RFC 2883).
    pub(crate) dsacked: bool,
    /// The ACK SACKs a segment for the first time.
    pub(crate) sacks: bool,
    /// When the last to leave of the newly delivered segments left. `None`: no segment is newly delivered.
    pub(crate) last_sent: Option<Instant>,
    /// The largest reordering by the SACK blocks, in bytes: from the start of a segment that came late to the end of
    /// the highest SACKed one.
    pub(crate) sacked_late: u32,
    /// The same by the ACK number.
    pub(crate) acked_late: u32,
    /// The lowest segment that came late, by the SACK blocks.
    pub(super) lowest_late: Option<SeqNumber>,
    /// The start of the highest segment SACKed before this ACK. `None` if this ACK SACKs nothing.
    pub(super) highest_before: Option<SeqNumber>,
}

impl Delivery {
    #[inline]
    pub(crate) fn new(now: Instant, min_rtt: Duration) -> Self {
        let none = (Instant::MAX, Instant::MAX);
        Self {
            now,
            min_rtt,
            tsecr: 0,
            segments: 0,
            acked: none,
            sacked: none,
            ambiguous: false,
            dsacked: false,
            sacks: false,
            last_sent: None,
            sacked_late: 0,
            acked_late: 0,
            lowest_late: None,
            highest_before: None,
        }
    }

    /// Notes that the segment at `start` came after later ones.
    pub(super) fn note_late(&mut self, start: SeqNumber) {
        self.lowest_late = Some(self.lowest_late.map_or(start, |lowest| lowest.earlier(start)));
    }

    /// Notes that a segment is newly delivered that left at `sent_at`.
    #[inline]
    pub(super) fn note_sent(&mut self, sent_at: Instant) {
        self.last_sent = self.last_sent.max(Some(sent_at));
    }

    /// Returns when the earliest delivered segment was sent, of those sent once, or [`Instant::MAX`].
    pub(crate) fn original_sent_at(&self) -> Instant {
        self.acked.0.min(self.sacked.0)
    }

    #[inline]
    pub(crate) fn now(&self) -> Instant {
        self.now
    }
}

/// A retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resent {
    pub(super) number: u64,
    pub(super) sent_at: Instant,
    /// The number of the next new segment at that time.
    pub(super) next_new: u64,
}

/// The send time of a segment, in the order of RFC 8985: by time, then by sequence number.
///
/// A virtual clock often has the same time for an original and a retransmission. Their sequence numbers then say
/// nothing about the order, and neither is after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendOrder {
    pub(super) sent_at: Instant,
    pub(super) end: SeqNumber,
    pub(super) resent: bool,
}

impl SendOrder {
    #[inline]
    pub(super) fn is_after(&self, record: &Record) -> bool {
        let (time, other) = (self.sent_at.as_nanos(), record.sent_at.as_nanos());
        if other >= time && (other >= time + 1000 || self.end <= record.end) {
            return false; // without a division: so it is for nearly all
        }
        let (time, other) = (time / 1000, other / 1000);
        time > other || (time == other && self.end > record.end)
    }

    #[inline]
    pub(super) fn advance(&mut self, record: &Record) {
        if !self.is_after(record) {
            *self = Self { sent_at: record.sent_at, end: record.end, resent: record.has(AMBIGUOUS) };
        }
    }
}
