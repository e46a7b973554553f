//! The receiving half: order, SACK blocks, when to acknowledge, and the ECN echo.
//!
//! The steady state, data in order, is a few branches at the top of [`Receiver::on_data`]; all that is rarer is in
//! functions marked cold.

use crate::delack::{Arrived, DelayedAck, QUICK_ACKS};
use crate::ecn::Echo;
use crate::receive_window::{OPTIONS, ReceiveWindow};
use crate::rtt::RttEstimator;
use crate::segment::{SynOptions, timestamp};
use crate::{Config, Flags, SackBlock, Segment, SeqNumber};
use alloc::collections::VecDeque;
use core::mem::offset_of;
use goodqueue_units::processor::{prefetch, select};
use goodqueue_units::{Duration, Ecn, Instant};

/// Segments that carry nothing and lie outside the window are answered no more often than this (Linux's
/// `tcp_invalid_ratelimit`).
const ANSWER_INTERVAL: Duration = Duration::from_millis(500);
/// So many segments out of order are one packet with the one before them, in Linux's queue (17 fragments).
const JOINED: u32 = 16;

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct Receiver {
    /// The next byte in order.
    nxt: SeqNumber,
    /// The last ACK number sent, and the peer's clock as last heard in order (RFC 7323, section 4.3: TS.Recent).
    last_ack: SeqNumber,
    ts_recent: u32,
    /// The window as the last segment told it, where nothing came since that could change it.
    told: Option<u16>,
    echo: Echo,
    sack_len: u8,
    /// The application takes nothing for the time being, and `unread` bytes wait for it.
    paused: bool,
    mss: u16,
    /// Bytes in order that no ACK has covered.
    unacked: u32,
    delack: DelayedAck,
    /// What arrived twice and no ACK has told of (RFC 2883).
    duplicate: Option<SackBlock>,
    // From here on only of a side that receives.
    /// Bytes in `ranges`.
    held: u32,
    delivered: u64,
    window: ReceiveWindow,
    unread: u32,
    /// Where FIN stands, once it was seen.
    fin: Option<SeqNumber>,
    // From here on only where something is missing.
    /// All out-of-order ranges: ascending, disjoint, not adjacent.
    ranges: VecDeque<SackBlock>,
    /// Out-of-order ranges as last changed, the most recent first (RFC 2018, section 4).
    sack: [SackBlock; 3],
    /// A segment that has nothing for us is answered from then on.
    answers_from: Instant,
}

#[cfg(target_pointer_width = "64")] // shorter pointers make another layout, as in WebAssembly
const _: () = assert!(Receiver::HOT_BYTES_OF_SENDER == 100 && Receiver::HOT_BYTES == 184);

impl Receiver {
    /// Where the part ends that each segment touches on a side that receives.
    pub(crate) const HOT_BYTES: usize = offset_of!(Self, ranges);
    /// Where the part ends that each segment touches on a side that only sends.
    pub(crate) const HOT_BYTES_OF_SENDER: usize = offset_of!(Self, held);

    pub(crate) fn new(window: u32, config: &Config) -> Self {
        let Config { mss, stack, ack_every, .. } = *config;
        Self {
            nxt: SeqNumber(0),
            window: ReceiveWindow::new(stack, mss, window),
            mss,
            ts_recent: 0,
            last_ack: SeqNumber(0),
            unacked: 0,
            delivered: 0,
            delack: DelayedAck::new(stack, ack_every),
            paused: false,
            unread: 0,
            held: 0,
            answers_from: Instant::ZERO,
            echo: Echo::OFF,
            duplicate: None,
            sack_len: 0,
            sack: [SackBlock::default(); 3],
            fin: None,
            told: None,
            ranges: VecDeque::new(),
        }
    }

    /// The peer opens; [`open`](Self::open) is next.
    pub(crate) fn accept(&mut self) {
        self.window.accept();
    }

    /// The handshake is over.
    pub(crate) fn established(&mut self, now: Instant) {
        self.window.established(now);
    }

    /// The peer's SYN was taken: data begins at `first`.
    pub(crate) fn open(&mut self, now: Instant, first: SeqNumber, tsval: u32, echo: Echo) {
        self.window.open(now, first);
        self.told = None;
        self.nxt = first;
        self.last_ack = first;
        self.ts_recent = tsval;
        self.echo = echo;
    }

    /// RFC 7323, section 4.3 (2): the timestamp to echo is that of the segment that the last ACK waited for. Whether it is newer
    /// than the last.
    #[inline]
    pub(crate) fn on_timestamp(&mut self, segment: &Segment) -> bool {
        // Of a burst the first is, and the second where the first was answered: nobody could guess.
        let age = segment.tsval.wrapping_sub(self.ts_recent);
        let is_news = (segment.seq <= self.last_ack) & (age < 1 << 31);
        self.ts_recent = select(is_news, segment.tsval, self.ts_recent);
        is_news & (age > 0)
    }

    /// RFC 7323, section 5.3 (PAWS): the segment is older than what came in order, of before the sequence numbers wrapped.
    /// 0 means that it has no timestamp.
    #[inline]
    fn is_outdated(&self, segment: &Segment) -> bool {
        segment.tsval.wrapping_sub(self.ts_recent) >= 1 << 31 && segment.tsval != 0
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Our SYN, or with an `ack` SYN-ACK; its window is not shifted.
    pub(crate) fn syn(&mut self, now: Instant, seq: SeqNumber, flags: Flags) -> Segment {
        let options = SynOptions { mss: self.mss + OPTIONS as u16, window_shift: self.window.shift() };
        let window = self.window.of_syn();
        let syn = Segment { seq, tsval: timestamp(now), window, flags, ..Segment::default() };
        let answers = flags.contains(Flags::ACK);
        let (ack, tsecr) = if answers { (self.nxt, self.ts_recent) } else { (SeqNumber(0), 0) };
        Segment { ack, tsecr, ..syn }.with_syn_options(options)
    }

    /// Whether all data and FIN have arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Takes a segment with payload or FIN; the bytes that came into order. `rtt` is this endpoint's own, which has ended its
    /// direction if `closed`.
    #[inline]
    pub(crate) fn on_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        rtt: &RttEstimator,
        closed: bool,
    ) -> u32 {
        self.told = None;
        if self.echo.concerns(segment) {
            self.on_ecn(segment);
        }
        let len = segment.payload_len;
        if u32::from(len) >= u32::from(self.mss) {
            self.window.on_echo(timestamp(now), segment.tsecr);
        }
        if self.is_outdated(segment) {
            return self.refuse_outdated(segment);
        }
        if segment.seq != self.nxt || self.is_unusual() || segment.flags.contains(Flags::FIN) {
            return self.on_unusual_data(now, segment, rtt, closed);
        }
        self.take(now, segment, len.into(), rtt);
        self.nxt += u32::from(len);
        self.answer(now, rtt);
        u32::from(len)
    }

    /// Whether something is held out of order.
    #[inline]
    fn has_gap(&self) -> bool {
        debug_assert_eq!(self.held > 0, !self.ranges.is_empty());
        self.held > 0
    }

    /// Asks the processor for the ranges that are held out of order.
    #[inline]
    pub(crate) fn prefetch_held(&self) {
        if self.held > 0
            && let Some(range) = self.ranges.front()
        {
            prefetch(range);
        }
    }

    /// Whether more is to be looked at than the next segment.
    #[inline]
    fn is_unusual(&self) -> bool {
        self.has_gap() || self.paused || self.fin.is_some()
    }

    /// The next `bytes` in order have come.
    #[inline]
    fn take(&mut self, now: Instant, segment: &Segment, bytes: u32, rtt: &RttEstimator) {
        self.unacked += bytes;
        self.delivered += u64::from(bytes);
        let push = segment.flags.contains(Flags::PSH);
        let window = || self.window.left(self.nxt);
        self.delack.on_data(now, segment.payload_len, push, || rtt.rto(), window);
        if self.window.grow(self.waiting()) {
            self.delack.on_growth();
        }
        if self.paused {
            self.unread += bytes;
        } else {
            self.window.on_read(now, self.delivered);
        }
    }

    /// As [`take`](Self::take), which is written out only where segments come in order.
    #[inline(never)]
    fn take_apart(&mut self, now: Instant, segment: &Segment, bytes: u32, rtt: &RttEstimator) {
        self.take(now, segment, bytes, rtt);
    }

    /// Bytes of the window that what waits takes up. Only half of what is out of order: a segment there joins its neighbours
    /// and takes little but its payload of the buffer, whose half is the window.
    #[inline]
    fn waiting(&self) -> u32 {
        self.unread + self.held / 2
    }

    #[inline]
    fn answer(&mut self, now: Instant, rtt: &RttEstimator) {
        let arrived = Arrived {
            unacked: self.unacked,
            nxt: self.nxt,
            gap: self.has_gap(),
            is_read: !self.paused,
            rtt: self.window.rtt(),
        };
        self.delack.on_taken(now, arrived, || rtt.srtt());
    }

    /// A segment without data: answered where it is one that we should not have been sent, as probes of a closed window
    /// are (RFC 9293, 3.10.7.4).
    #[inline]
    pub(crate) fn on_bare(&mut self, now: Instant, segment: &Segment) {
        if segment.ecn == Ecn::Ce && self.echo.on_marked_ack().now {
            self.delack.demand();
        }
        if segment.seq < self.last_ack && now >= self.answers_from {
            self.answers_from = now + ANSWER_INTERVAL;
            self.delack.demand();
        }
    }

    /// The application takes nothing until [`resume`](Self::resume).
    pub(crate) fn pause(&mut self) {
        self.paused = true;
        self.told = None;
    }

    /// The application takes all that waits, and goes on doing so.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.paused = false;
        self.unread = 0;
        self.told = None;
        self.window.on_read(now, self.delivered);
        if self.window.is_news(self.nxt, self.waiting()) {
            self.delack.demand();
        }
    }

    #[cold]
    fn on_ecn(&mut self, segment: &Segment) {
        let waits = self.unacked > 0 && !self.delack.is_due();
        let urgency = self.echo.on_data(segment, self.nxt, waits);
        if urgency.now {
            self.delack.demand();
        }
        if urgency.quick {
            self.delack.on_trouble(2, self.window.left(self.nxt));
        }
    }

    /// Whether [`owed_ack`](Self::owed_ack) has an ACK that is to go out before anything else.
    #[inline]
    pub(crate) fn owes_ack(&self) -> bool {
        self.echo.owes()
    }

    /// That ACK: `bare` with the number and the echo of before the last arrival, which is to be acknowledged after it.
    #[cold]
    pub(crate) fn owed_ack(&mut self, bare: Segment) -> Segment {
        self.delack.demand();
        match self.echo.take_owed() {
            Some((ack, echo)) => Segment { ack, flags: Flags::ACK | echo, ..bare },
            None => bare,
        }
    }

    /// Out of order, again, over a hole, the last, or while the application takes nothing.
    #[cold]
    fn on_unusual_data(&mut self, now: Instant, segment: &Segment, rtt: &RttEstimator, closed: bool) -> u32 {
        let (start, end) = (segment.seq, segment.seq + segment.seq_len());
        if self.fin.is_some_and(|fin| end > fin + 1) {
            return 0; // nothing follows a FIN (RFC 9293, 3.10.7.4); like Linux, do not answer
        }
        let left = self.window.left(self.nxt);
        if end <= self.nxt {
            // A retransmission of what is here: our ACKs were lost, or late.
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
            self.hold(SackBlock { start, end });
            if self.window.grow_over_hole(self.waiting()) {
                self.delack.on_growth();
            }
            self.answer(now, rtt);
            return 0;
        }
        if start < self.nxt {
            self.duplicate = Some(SackBlock { start, end: self.nxt });
        }
        let (before, had_gap) = (self.nxt, self.has_gap());
        self.nxt = end;
        while let Some(range) = self.ranges.front().copied().filter(|range| range.start <= self.nxt) {
            if range.start < self.nxt {
                let end = self.nxt.earlier(range.end);
                self.duplicate = Some(SackBlock { start: range.start, end });
            }
            self.nxt = self.nxt.later(range.end);
            self.held -= range.end.since(range.start);
            self.ranges.pop_front();
        }
        self.forget_blocks(|block, nxt| block.end <= nxt);
        let fin_taken = self.fin.is_some_and(|fin| fin >= before && fin < self.nxt);
        let bytes = self.nxt.since(before) - u32::from(fin_taken);
        let acks_unread = had_gap && !self.paused && self.window.acks_before_reading();
        let shrinks = acks_unread && self.fill(now, segment.payload_len.into(), bytes);
        if bytes > 0 {
            self.take_apart(now, segment, bytes, rtt);
        }
        if had_gap && !self.has_gap() {
            self.delack.demand(); // RFC 5681, 4.2: the filling of a gap is told at once
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

    /// A hole is filled: `bytes` are in order, of which `first` have just come. The ACK leaves before the application takes
    /// any, so they take up room; where it has taken them and that is news, another ACK would follow at once, and this one says
    /// so. It takes packet by packet, and a round trip ends with the first of them. Whether there is less room than the last ACK
    /// told.
    fn fill(&mut self, now: Instant, first: u32, bytes: u32) -> bool {
        let waiting = self.waiting() + bytes / 2;
        let shrinks = self.window.shrinks(self.last_ack, waiting);
        let told = self.window.offer(self.nxt, waiting);
        self.told = (!self.window.is_news(self.nxt, self.waiting())).then_some(told);
        if bytes > first + JOINED * u32::from(self.mss) {
            self.window.on_read(now, self.delivered + u64::from(first));
        }
        shrinks
    }

    #[cold]
    fn refuse_outdated(&mut self, segment: &Segment) -> u32 {
        if segment.seq < self.nxt {
            let end = self.nxt.earlier(segment.seq + segment.seq_len());
            self.duplicate = Some(SackBlock { start: segment.seq, end });
        }
        let left = self.window.left(self.nxt);
        self.refuse(left);
        0
    }

    /// A segment brought nothing: it is answered at once, and some of those after it.
    fn refuse(&mut self, left: u32) {
        self.delack.on_trouble(QUICK_ACKS, left);
        self.delack.demand();
    }

    /// Puts `new` among the out-of-order ranges, joined to those it touches, and in front of the SACK blocks.
    fn hold(&mut self, mut new: SackBlock) {
        let first = self.ranges.partition_point(|range| range.end < new.start);
        let mut joined = 0;
        self.held += new.end.since(new.start);
        while let Some(range) =
            self.ranges.get(first + joined).copied().filter(|range| range.start <= new.end)
        {
            let twice = SackBlock { start: new.start.later(range.start), end: new.end.earlier(range.end) };
            if twice.start < twice.end {
                self.duplicate = Some(twice);
                self.held -= twice.end.since(twice.start);
            }
            new.start = new.start.earlier(range.start);
            new.end = new.end.later(range.end);
            joined += 1;
        }
        if joined == 0 {
            self.ranges.insert(first, new);
            if usize::from(self.sack_len) == self.sack.len() {
                self.delack.on_crowded();
            }
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
        self.delack.is_due()
    }

    /// Asks for an ACK.
    pub(crate) fn demand_ack(&mut self) {
        self.delack.demand();
    }

    /// When the delayed ACK is due, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.delack.deadline()
    }

    /// `rto` is this endpoint's own.
    pub(crate) fn on_timeout(&mut self, now: Instant, rto: Duration) {
        self.delack.on_timeout(now, rto);
    }

    /// A segment of `len` bytes that carries the acknowledgement; without bytes or FIN, the SACK blocks too.
    ///
    /// A data segment carries no SACK blocks, since a full one has no room for them; so where there are blocks, it
    /// does not count as the ACK that is due, and a bare one follows.
    #[inline(always)] // a segment that comes back in memory, written in pieces, has to wait for the pieces
    pub(crate) fn carry(
        &mut self,
        now: Instant,
        seq: SeqNumber,
        payload_len: u16,
        flags: Flags,
        ecn: Ecn,
    ) -> Segment {
        let bare = payload_len == 0 && !flags.contains(Flags::FIN);
        let blocks = self.has_blocks();
        if bare || !blocks {
            self.unacked = 0;
            self.delack.on_sent_ack();
            self.echo.on_told();
        }
        if payload_len > 0 {
            self.delack.on_sent_data(now);
        }
        let flags = flags | Flags::ACK | self.echo.flags();
        self.last_ack = self.nxt;
        let (ack, tsval, tsecr) = (self.nxt, timestamp(now), self.ts_recent);
        let window = match self.told {
            Some(window) => window,
            None => self.tell_window(),
        };
        // One expression: a segment that is built in pieces is copied, and the copy waits for the pieces.
        let (sack_len, sack) = if bare && blocks { self.blocks() } else { (0, [SackBlock::default(); 3]) };
        let dscp = 0;
        Segment { seq, ack, tsval, tsecr, window, payload_len, flags, sack_len, ecn, dscp, sack }
    }

    /// Another segment of data is sent that carries what the last one did: its flags.
    #[inline]
    pub(crate) fn on_split(&mut self, now: Instant) -> Flags {
        if !self.has_blocks() {
            self.delack.on_sent_ack();
        }
        self.delack.on_sent_data(now);
        Flags::ACK | self.echo.flags()
    }

    /// Whether the next ACK has SACK blocks.
    #[inline]
    fn has_blocks(&self) -> bool {
        self.sack_len > 0 || self.duplicate.is_some()
    }

    /// The window to tell, until more arrives.
    #[inline]
    fn tell_window(&mut self) -> u16 {
        let window = self.window.offer(self.nxt, self.waiting());
        self.told = Some(window);
        window
    }

    /// The blocks of the next ACK. What arrived twice is told once, and first (RFC 2883, section 4).
    #[cold]
    fn blocks(&mut self) -> (u8, [SackBlock; 3]) {
        let Some(duplicate) = self.duplicate.take() else { return (self.sack_len, self.sack) };
        let mut blocks = self.sack;
        blocks.copy_within(..2, 1);
        blocks[0] = duplicate;
        ((self.sack_len + 1).min(3), blocks)
    }
}

#[cfg(test)]
mod tests;
