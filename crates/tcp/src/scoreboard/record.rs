//! What the scoreboard keeps of a segment, and what an ACK tells.

use crate::{Flags, SeqNumber};
use goodqueue_units::{Duration, Instant};

pub(super) const SACKED: u8 = 1;
/// Taken for lost, and not known to be delivered since.
pub(super) const LOST: u8 = 2;
/// Lost, and a retransmission is out; never without `LOST`.
pub(super) const RESENT: u8 = 4;
/// Was ever sent twice: its RTT is ambiguous (Karn).
pub(super) const AMBIGUOUS: u8 = 8;
pub(super) const FIN: u8 = 16;
/// Ends what the application wrote.
pub(super) const PUSH: u8 = 32;
/// None of these: the segment was sent once and nothing was heard of it.
pub(super) const TOUCHED: u8 = SACKED | LOST | RESENT | AMBIGUOUS;

/// One segment.
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

    /// Whether it has any of `flags`.
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
    /// FIN, or PSH, where it ends the stream, or what the application wrote so far.
    pub(crate) ends: Flags,
}

/// What one ACK delivered.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(super) now: Instant,
    pub(super) min_rtt: Duration,
    /// The echo of our clock, 0 for none.
    pub(crate) tsecr: u32,
    /// Segments newly delivered, cumulatively or by SACK.
    pub(crate) segments: u32,
    /// Send times of the first and the last segment newly acknowledged, [`Instant::MAX`] without one. Segments that
    /// were sent twice are left out.
    pub(crate) acked: (Instant, Instant),
    /// The same of segments newly SACKed.
    pub(crate) sacked: (Instant, Instant),
    /// A segment that was sent twice was acknowledged: `acked` is no sample (Karn).
    pub(crate) ambiguous: bool,
    /// It tells that something came twice (RFC 2883), which is likely.
    pub(crate) dsacked: bool,
    /// By how many bytes, at most, a segment that was sent once came after later ones.
    pub(crate) late: u32,
    /// Where the highest segment starts that was SACKed before this ACK; none if this one SACKs nothing.
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
            late: 0,
            highest_before: None,
        }
    }

    /// The segment at `start` came now, after one at `highest`.
    pub(super) fn note_late(&mut self, start: Option<SeqNumber>, highest: SeqNumber) {
        if let Some(start) = start {
            self.late = self.late.max(highest.since(start));
        }
    }

    /// When the earliest of the delivered segments was sent that were sent once, or [`Instant::MAX`].
    pub(crate) fn original_sent_at(&self) -> Instant {
        self.acked.0.min(self.sacked.0)
    }

    #[inline]
    pub(crate) fn now(&self) -> Instant {
        self.now
    }
}

/// A segment that was sent again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resent {
    pub(super) number: u64,
    pub(super) sent_at: Instant,
    /// The number of the next new segment, then.
    pub(super) next_new: u64,
}

/// When a segment was sent, as RFC 8985 orders segments: by time, then by sequence number.
///
/// A virtual clock often stands still between an original and a retransmission, and of these two the sequence numbers
/// say nothing: neither is then after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendOrder {
    pub(super) sent_at: Instant,
    pub(super) end: SeqNumber,
    pub(super) resent: bool,
}

impl SendOrder {
    #[inline]
    pub(super) fn is_after(&self, record: &Record) -> bool {
        self.sent_at > record.sent_at
            || (self.sent_at == record.sent_at
                && self.end > record.end
                && self.resent == record.has(AMBIGUOUS))
    }

    #[inline]
    pub(super) fn advance(&mut self, record: &Record) {
        if !self.is_after(record) {
            *self = Self { sent_at: record.sent_at, end: record.end, resent: record.has(AMBIGUOUS) };
        }
    }
}
