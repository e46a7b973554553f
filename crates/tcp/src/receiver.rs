//! The receiving half: order, SACK blocks, when to acknowledge, and the ECN echo.
//!
//! The steady state, data in order, is a few branches at the top of [`Receiver::on_data`]; all that is rarer is in
//! functions marked cold.

use crate::autotuning::Autotuning;
use crate::ecn::{Echo, Urgency};
use crate::rtt::RttEstimator;
use crate::segment::{SynOptions, timestamp};
use crate::{Flags, SackBlock, Segment, SeqNumber, Stack};
use alloc::collections::VecDeque;
use goodqueue_units::{Duration, Ecn, Instant};

/// How long an ACK waits for a second segment (Linux's 40 ms; RFC 9293, 3.8.6.3, allows half a second).
const DELAYED_ACK: Duration = Duration::from_millis(40);
/// Linux acknowledges this many segments at once when a connection starts, or starts again, so as not to hold up the
/// sender's slow start.
const QUICK_ACKS: u8 = 16;

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// The next byte in order.
    nxt: SeqNumber,
    window: u32,
    /// By how many bits the windows that we send are shifted.
    window_shift: u8,
    mss: u32,
    /// The peer's clock as last heard in order (RFC 7323, section 4.3: TS.Recent), and the last ACK number sent.
    ts_recent: u32,
    last_ack: SeqNumber,
    /// Bytes in order that no ACK has covered.
    unacked: u32,
    delivered: u64,
    /// When the delayed ACK is due, or [`Instant::MAX`].
    deadline: Instant,
    ack_now: bool,
    /// ACKs still to be sent without delay.
    quick: u8,
    last_data: Instant,
    autotuning: Autotuning,
    echo: Echo,
    sack_len: u8,
    /// Out-of-order ranges as last changed, the most recent first (RFC 2018, section 4).
    sack: [SackBlock; 3],
    /// Where FIN stands, once it was seen.
    fin: Option<SeqNumber>,
    /// All out-of-order ranges: ascending, disjoint, not adjacent.
    ranges: VecDeque<SackBlock>,
}

impl Receiver {
    pub(crate) fn new(window: u32, mss: u16, stack: Stack) -> Self {
        Self {
            nxt: SeqNumber(0),
            window,
            window_shift: shift_for(window),
            mss: u32::from(mss),
            ts_recent: 0,
            last_ack: SeqNumber(0),
            unacked: 0,
            delivered: 0,
            deadline: Instant::MAX,
            ack_now: false,
            quick: 0,
            last_data: Instant::ZERO,
            autotuning: Autotuning::new(stack, u32::from(mss), window),
            echo: Echo::OFF,
            sack_len: 0,
            sack: [SackBlock::default(); 3],
            fin: None,
            ranges: VecDeque::new(),
        }
    }

    /// The peer's SYN was taken: data begins at `first`.
    pub(crate) fn open(&mut self, first: SeqNumber, tsval: u32, echo: Echo) {
        self.nxt = first;
        self.last_ack = first;
        self.ts_recent = tsval;
        self.echo = echo;
    }

    /// RFC 7323, section 4.3 (2): the timestamp to echo is that of the segment that the last ACK waited for.
    #[inline]
    pub(crate) fn on_timestamp(&mut self, segment: &Segment) {
        if segment.seq <= self.last_ack && segment.tsval.wrapping_sub(self.ts_recent) < 1 << 31 {
            self.ts_recent = segment.tsval;
        }
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Our SYN, or with an `ack` SYN-ACK; its window is not shifted.
    pub(crate) fn syn(&mut self, now: Instant, seq: SeqNumber, flags: Flags) -> Segment {
        let options = SynOptions { mss: self.mss as u16, window_shift: self.window_shift };
        let window = self.window.min(u32::from(u16::MAX)) as u16;
        let syn = Segment { seq, tsval: timestamp(now), window, flags, ..Segment::default() };
        let answers = flags.contains(Flags::ACK);
        let (ack, tsecr) = if answers { (self.nxt, self.ts_recent) } else { (SeqNumber(0), 0) };
        Segment { ack, tsecr, ..syn }.with_syn_options(options)
    }

    /// Whether all data and FIN have arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Takes a segment with payload or FIN; the bytes that came into order. `rtt` is this endpoint's own.
    #[inline]
    pub(crate) fn on_data(&mut self, now: Instant, segment: &Segment, rtt: &RttEstimator) -> u32 {
        if self.delivered == 0 || now.since(self.last_data) > rtt.rto() {
            self.quick = QUICK_ACKS; // the sender begins, or was silent for long, and so is in slow start
        }
        if self.autotuning.grow() {
            self.quick |= 1; // as Linux does: an even number of them lasts until the window has grown
        }
        self.last_data = now;
        if self.echo.concerns(segment) {
            self.on_ecn(segment);
        }
        if segment.seq != self.nxt || !self.ranges.is_empty() || segment.flags.contains(Flags::FIN) {
            let len = self.on_unusual_data(segment);
            self.autotuning.on_read(now, self.delivered, rtt.min());
            return len;
        }
        let len = u32::from(segment.payload_len);
        self.nxt += len;
        self.unacked += len;
        self.delivered += u64::from(len);
        if self.unacked > self.mss || self.quick > 0 || segment.flags.contains(Flags::PSH) {
            self.ack_now = true;
        } else if self.deadline == Instant::MAX {
            self.deadline = now + DELAYED_ACK;
        }
        self.autotuning.on_read(now, self.delivered, rtt.min());
        len
    }

    #[cold]
    fn on_ecn(&mut self, segment: &Segment) {
        match self.echo.on_data(segment, self.nxt, self.unacked > 0 && !self.ack_now) {
            Urgency::None => {}
            Urgency::Quick => self.quick = self.quick.max(2),
            Urgency::Now => self.ack_now = true,
        }
    }

    /// Takes the mark of a segment without data.
    #[cold]
    pub(crate) fn on_marked_ack(&mut self) {
        self.ack_now |= self.echo.on_marked_ack() == Urgency::Now;
    }

    /// Whether [`owed_ack`](Self::owed_ack) has an ACK that is to go out before anything else.
    #[inline]
    pub(crate) fn owes_ack(&self) -> bool {
        self.echo.owes()
    }

    /// That ACK: `bare` with the number and the echo of before the last arrival.
    #[cold]
    pub(crate) fn owed_ack(&mut self, bare: Segment) -> Segment {
        match self.echo.take_owed() {
            Some((ack, echo)) => Segment { ack, flags: Flags::ACK | echo, ..bare },
            None => bare,
        }
    }

    /// Out of order, again, over a hole, or the last.
    #[cold]
    fn on_unusual_data(&mut self, segment: &Segment) -> u32 {
        self.ack_now = true; // RFC 5681, 4.2: gaps and their filling are told at once
        let (start, end) = (segment.seq, segment.seq + segment.seq_len());
        if end <= self.nxt {
            self.quick = QUICK_ACKS; // a retransmission of what is here: our ACKs were lost
            return 0;
        }
        if start > self.nxt + self.window {
            return 0; // beyond the window (RFC 9293, 3.10.7.4)
        }
        if segment.flags.contains(Flags::FIN) {
            self.fin = Some(end - 1);
        }
        if start > self.nxt {
            self.hold(SackBlock { start, end });
            return 0;
        }
        let before = self.nxt;
        self.nxt = end;
        while let Some(range) = self.ranges.front().filter(|range| range.start <= self.nxt) {
            self.nxt = self.nxt.later(range.end);
            self.ranges.pop_front();
        }
        self.forget_blocks(|block, nxt| block.end <= nxt);
        let fin_taken = self.fin.is_some_and(|fin| fin >= before && fin < self.nxt);
        let bytes = self.nxt.since(before) - u32::from(fin_taken);
        self.unacked += bytes;
        self.delivered += u64::from(bytes);
        bytes
    }

    /// Puts `new` among the out-of-order ranges, joined to those it touches, and in front of the SACK blocks.
    fn hold(&mut self, mut new: SackBlock) {
        let first = self.ranges.partition_point(|range| range.end < new.start);
        let mut joined = 0;
        while let Some(range) = self.ranges.get(first + joined).filter(|range| range.start <= new.end) {
            new.start = new.start.earlier(range.start);
            new.end = new.end.later(range.end);
            joined += 1;
        }
        if joined == 0 {
            self.ranges.insert(first, new);
        } else {
            self.ranges[first] = new;
            self.ranges.drain(first + 1..first + joined);
        }
        self.forget_blocks(|block, _| block.start >= new.start && block.end <= new.end);
        self.sack.copy_within(..2, 1);
        self.sack[0] = new;
        self.sack_len = (self.sack_len + 1).min(3);
    }

    /// Takes out of the SACK blocks those of which `gone(block, nxt)` holds.
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

    /// An ACK is due now.
    #[inline]
    pub(crate) fn is_ack_due(&self) -> bool {
        self.ack_now
    }

    /// Asks for an ACK.
    pub(crate) fn demand_ack(&mut self) {
        self.ack_now = true;
    }

    /// When the delayed ACK is due, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.deadline
    }

    pub(crate) fn on_timeout(&mut self, now: Instant) {
        if now >= self.deadline {
            self.deadline = Instant::MAX;
            self.ack_now = true;
        }
    }

    /// A segment of `len` bytes that carries the acknowledgement; without bytes or FIN, the SACK blocks too.
    ///
    /// A data segment carries no SACK blocks, since a full one has no room for them; so where there are blocks, it
    /// does not count as the ACK that is due, and a bare one follows.
    #[inline]
    pub(crate) fn carry(
        &mut self,
        now: Instant,
        seq: SeqNumber,
        payload_len: u16,
        flags: Flags,
        ecn: Ecn,
    ) -> Segment {
        let bare = payload_len == 0 && !flags.contains(Flags::FIN);
        if bare || self.sack_len == 0 {
            self.unacked = 0;
            self.deadline = Instant::MAX;
            self.ack_now = false;
            self.quick = self.quick.saturating_sub(1);
            self.echo.on_told();
        }
        let flags = flags | Flags::ACK | self.echo.flags();
        self.last_ack = self.nxt;
        let (ack, tsval, tsecr) = (self.nxt, timestamp(now), self.ts_recent);
        let window = (self.window >> self.window_shift).min(u32::from(u16::MAX)) as u16;
        // One expression: a segment that is built in pieces is copied, and the copy waits for the pieces.
        let (sack_len, sack) = if bare && self.sack_len > 0 {
            (self.sack_len, self.sack)
        } else {
            (0, [SackBlock::default(); 3])
        };
        let dscp = 0;
        Segment { seq, ack, tsval, tsecr, window, payload_len, flags, sack_len, ecn, dscp, sack }
    }
}

/// The shift with which a header's 16 bits can say `window` bytes (RFC 7323, section 2.3), at most 14.
fn shift_for(window: u32) -> u8 {
    (u32::BITS - window.leading_zeros()).saturating_sub(u16::BITS).min(14) as u8
}

#[cfg(test)]
mod tests;
