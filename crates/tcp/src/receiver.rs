//! The receiving half: order, SACK blocks, when to acknowledge, and the ECN echo.
//!
//! The steady state, data in order, takes a few branches at the top of [`Receiver::on_data`]. Everything else about the
//! order of data is in `reassembly`.

mod pile;
mod reassembly;

use self::pile::Pile;
use crate::delack::{Arrived, DelayedAck};
use crate::ecn::{Echo, Owed};
use crate::receive_window::{OPTIONS, ReceiveWindow, Waits};
use crate::rtt::RttEstimator;
use crate::segment::{SynOptions, timestamp};
use crate::{Config, Flags, SackBlock, Segment, SeqNumber};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use core::mem::{self, offset_of};
use goodqueue_units::processor::{prefetch, select};
use goodqueue_units::{Duration, Ecn, Instant};

/// The least time between two answers to segments that carry nothing and lie outside the window (Linux's
/// `tcp_invalid_ratelimit`).
const ANSWER_INTERVAL: Duration = Duration::from_millis(500);
/// By how many ms a segment may be older than the last one in order (Linux's `TCP_PAWS_WINDOW`).
const REPLAY_WINDOW: i32 = 1;
/// SACK blocks that are remembered (Linux's `TCP_NUM_SACKS`). With timestamps an ACK has room for three.
const SACKS: usize = 4;
/// With up to so many ranges out of order, tests count their memory anew with each segment.
const RECOUNTED: usize = 64;

#[derive(Clone, Debug)]
#[repr(C, align(64))] // see `Connection`
pub(crate) struct Receiver {
    /// The next byte in order.
    nxt: SeqNumber,
    /// The last ACK number sent.
    last_ack: SeqNumber,
    /// The peer's clock as last heard in order (RFC 7323, section 4.3: TS.Recent).
    ts_recent: u32,
    /// The window field of the last segment sent. `None` if something came since that could change the window.
    told: Option<u16>,
    echo: Echo,
    /// Blocks in `sack`.
    sack_len: u8,
    /// The application reads nothing for now, and `unread` bytes wait for it.
    paused: bool,
    mss: u16,
    /// Bytes in order that no ACK has covered.
    unacked: u32,
    delack: DelayedAck,
    /// Bytes that arrived twice, which no ACK has reported yet (RFC 2883).
    duplicate: Option<SackBlock>,
    // The fields from here on are used only by a side that receives.
    /// Bytes in `ranges`.
    held: u32,
    delivered: u64,
    window: ReceiveWindow,
    unread: u32,
    /// The sequence number of the FIN, once it was seen.
    fin: Option<SeqNumber>,
    // The fields from here on are used only while something is missing.
    /// All out-of-order ranges, and the memory of each: ascending, disjoint, not adjacent.
    ranges: VecDeque<(SackBlock, Pile)>,
    /// The memory of what the application has not read. Nearly all of them read at once.
    unread_pile: Option<Box<Pile>>,
    /// The memory of all piles: of `ranges`, and of what is unread.
    piled: u32,
    /// The first byte of data.
    first: SeqNumber,
    /// The out-of-order ranges that changed last, as far as they are remembered, the most recent first (RFC 2018,
    /// section 4). When one that an ACK has room for is gone, the fourth is told again.
    sack: [SackBlock; SACKS],
    /// The blocks of the next ACK, if it must leave without the segment that has just come.
    before: Option<Box<(u8, [SackBlock; 3])>>,
    /// Our clock when the last segment came that was not simply the next in order.
    unusual_at: u32,
    /// The next ACK with SACK blocks has the timestamp of that time.
    is_stale: bool,
    /// From this time on, a segment that carries nothing for us is answered again.
    answers_from: Instant,
}

#[cfg(target_pointer_width = "64")] // shorter pointers make another layout, as in WebAssembly
const _: () = assert!(Receiver::HOT_BYTES_OF_SENDER == 108 && Receiver::HOT_BYTES == 192);

impl Receiver {
    /// Where the part ends that each segment touches on a side that receives.
    pub(crate) const HOT_BYTES: usize = offset_of!(Self, ranges);
    /// Where the part ends that each segment touches on a side that only sends.
    pub(crate) const HOT_BYTES_OF_SENDER: usize = offset_of!(Self, held);

    pub(crate) fn new(window: u32, config: &Config) -> Self {
        let Config { mss, stack, ack_every, first_receive_buffer, .. } = *config;
        Self {
            nxt: SeqNumber(0),
            window: ReceiveWindow::new(stack, mss, window, first_receive_buffer),
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
            sack: [SackBlock::default(); SACKS],
            before: None,
            unusual_at: 0,
            is_stale: false,
            fin: None,
            told: None,
            ranges: VecDeque::new(),
            unread_pile: None,
            piled: 0,
            first: SeqNumber(0),
        }
    }

    /// Prepares for a peer that opens the connection. [`open`](Self::open) is the next call.
    pub(crate) fn accept(&mut self) {
        self.window.accept();
    }

    /// Takes note that the handshake is over.
    pub(crate) fn established(&mut self, now: Instant) {
        self.window.established(now);
        self.delack.established(now);
    }

    /// Takes the peer's SYN: data begins at `first`.
    pub(crate) fn open(&mut self, now: Instant, first: SeqNumber, tsval: u32, echo: Echo) {
        self.window.open(now, first);
        self.told = None;
        self.nxt = first;
        self.first = first;
        self.last_ack = first;
        self.ts_recent = tsval;
        self.echo = echo;
    }

    /// Takes note that the segments of both ends have AccECN's option from now on, and so less payload.
    pub(crate) fn tell_bytes(&mut self) {
        self.echo.tell_bytes();
        self.mss = self.mss.saturating_sub(Segment::ACCECN_LEN);
    }

    /// Returns whether segments have AccECN's option.
    #[inline]
    pub(crate) fn tells_bytes(&self) -> bool {
        self.echo.tells_bytes()
    }

    /// Takes the timestamp of `segment`. The timestamp to echo is the one of the segment that the last ACK waited for
    /// (RFC 7323, section 4.3 (2)). Returns whether the timestamp is newer than the last.
    #[inline]
    pub(crate) fn on_timestamp(&mut self, segment: &Segment) -> bool {
        // No branch (branch prediction): in a burst the first segment is news, and the second one if the first was
        // answered. That is not predictable.
        let age = segment.tsval.wrapping_sub(self.ts_recent);
        let is_news = (segment.seq <= self.last_ack) & (age < 1 << 31);
        self.ts_recent = select(is_news, segment.tsval, self.ts_recent);
        is_news & (age > 0)
    }

    /// Returns whether the segment is older than the last one in order, from before the sequence numbers wrapped (RFC
    /// 7323, section 5.3: PAWS). A timestamp of 0 means that the segment has none.
    #[inline]
    pub(crate) fn is_outdated(&self, segment: &Segment) -> bool {
        self.ts_recent.wrapping_sub(segment.tsval) as i32 > REPLAY_WINDOW && segment.tsval != 0
    }

    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Builds our SYN, or our SYN-ACK if `flags` contain ACK. The window of both is not shifted.
    pub(crate) fn syn(&mut self, now: Instant, seq: SeqNumber, flags: Flags) -> Segment {
        let options = SynOptions { mss: self.mss + OPTIONS as u16, window_shift: self.window.shift() };
        let window = self.window.of_syn();
        let syn = Segment { seq, tsval: timestamp(now), window, flags, ..Segment::default() };
        let answers = flags.contains(Flags::ACK);
        let (ack, tsecr) = if answers { (self.nxt, self.ts_recent) } else { (SeqNumber(0), 0) };
        Segment { ack, tsecr, ..syn }.with_syn_options(options)
    }

    /// Returns whether all data and the FIN have arrived.
    pub(crate) fn is_finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.nxt > fin)
    }

    /// Returns whether the application has read all data and the end of the stream.
    #[inline]
    pub(crate) fn is_read_to_end(&self) -> bool {
        self.is_finished() && self.unread == 0
    }

    /// Takes a segment with payload or FIN. Returns the bytes that came into order. `rtt` belongs to this endpoint's
    /// own sending; `closed` says that this endpoint has ended its own direction.
    #[inline]
    pub(crate) fn on_data(
        &mut self,
        now: Instant,
        segment: &Segment,
        rtt: &RttEstimator,
        closed: bool,
    ) -> u32 {
        if self.echo.concerns(segment) {
            self.on_ecn(segment);
        }
        if self.is_next(segment) {
            return self.on_next_apart(now, segment, rtt);
        }
        self.hear(now, segment);
        self.on_unusual_data(now, segment, rtt, closed)
    }

    /// Returns whether `segment` has the next data in order, and nothing is unusual.
    #[inline]
    fn is_next(&self, segment: &Segment) -> bool {
        segment.seq == self.nxt
            && !self.is_unusual()
            && !segment.flags.contains(Flags::FIN)
            && !self.is_outdated(segment)
    }

    /// Returns whether `segment` [is next](Self::is_next), and says nothing of ECN.
    #[inline]
    pub(crate) fn is_usual(&self, segment: &Segment) -> bool {
        self.is_next(segment) && !self.echo.concerns(segment) && !self.echo.owes() && !self.echo.tells_bytes()
    }

    /// Takes a segment that [is next](Self::is_next). Returns its bytes.
    // A call would save and load more registers than most of its parts need.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
    pub(crate) fn on_next(&mut self, now: Instant, segment: &Segment, rtt: &RttEstimator) -> u32 {
        self.hear(now, segment);
        let len = u32::from(segment.payload_len);
        self.take(now, segment, len, None, rtt);
        self.nxt += len;
        self.answer_before_reading(now, segment.payload_len, rtt);
        self.window.on_read(now, self.delivered, Waits::default());
        len
    }

    /// Does the same out of the way, for segments that are usual in nothing else.
    #[inline(never)]
    fn on_next_apart(&mut self, now: Instant, segment: &Segment, rtt: &RttEstimator) -> u32 {
        self.on_next(now, segment, rtt)
    }

    /// Takes note of what any data says of the window and of the round trip.
    #[inline]
    fn hear(&mut self, now: Instant, segment: &Segment) {
        self.told = None;
        if u32::from(segment.payload_len) >= u32::from(self.mss) {
            self.window.on_echo(timestamp(now), segment.tsecr);
        }
    }

    /// Returns whether something is held out of order.
    #[inline]
    fn has_gap(&self) -> bool {
        debug_assert_eq!(self.held > 0, !self.ranges.is_empty());
        self.held > 0
    }

    /// Prefetches the ranges that are held out of order (cache line).
    #[inline]
    pub(crate) fn prefetch_held(&self) {
        if self.held > 0
            && let Some((range, _)) = self.ranges.front()
        {
            prefetch(range);
        }
    }

    /// Returns whether an arrival needs more checks than those of the segment itself.
    #[inline]
    fn is_unusual(&self) -> bool {
        self.has_gap() || self.paused || self.fin.is_some()
    }

    /// Takes the next `bytes` in order. `memory` is what is in the buffer when the window may grow: the segment too,
    /// and what it has just put in order (`tcp_queue_rcv`). `None`: nothing but the segment.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `on_next`
    fn take(&mut self, now: Instant, segment: &Segment, bytes: u32, memory: Option<u32>, rtt: &RttEstimator) {
        self.unacked += bytes;
        self.delivered += u64::from(bytes);
        let push = segment.flags.contains(Flags::PSH);
        let window = || self.window.left(self.last_ack);
        self.delack.on_data(now, segment.part_len(), push, || rtt.rto(), window);
        if self.window.grow(memory, segment.payload_len) {
            self.delack.on_growth();
        }
    }

    /// Returns the memory of data that waits, out of order or for the application.
    #[inline]
    fn memory(&self) -> u32 {
        debug_assert!(self.ranges.len() > RECOUNTED || self.piled == self.recounted());
        if self.unread + self.held == 0 { 0 } else { self.piled }
    }

    /// Returns the memory of all piles, counted anew.
    fn recounted(&self) -> u32 {
        self.unread_memory() + self.ranges.iter().map(|(_, pile)| pile.memory()).sum::<u32>()
    }

    fn unread_memory(&self) -> u32 {
        self.unread_pile.as_deref().map_or(0, Pile::memory)
    }

    /// Decides the answer to a segment. An ACK of `unacked` bytes may leave before the application reads them. Returns
    /// whether it does.
    fn answer(&mut self, now: Instant, unacked: u32, rtt: &RttEstimator) -> bool {
        let arrived = Arrived {
            unacked,
            nxt: self.nxt,
            gap: self.has_gap(),
            is_read: !self.paused,
            rtt: self.window.rtt(),
        };
        self.delack.on_taken(now, arrived, || rtt.srtt_in_eighths())
    }

    /// Does the same for the next segment, of `len` bytes. It still takes up room, and where that makes the window
    /// smaller, the ACK of more than a segment leaves when the application has read (`__tcp_ack_snd_check`,
    /// `tcp_cleanup_rbuf`).
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `on_next`
    fn answer_before_reading(&mut self, now: Instant, len: u16, rtt: &RttEstimator) {
        if self.window.is_near_limit() {
            self.answer_near_limit(now, len, rtt);
        } else {
            self.answer_next(now, self.unacked, rtt);
        }
    }

    /// Does the same if the segment may make the window smaller. A window that has grown to its limit stays near it, so
    /// most segments come here.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `on_next`
    fn answer_near_limit(&mut self, now: Instant, len: u16, rtt: &RttEstimator) {
        let memory = self.window.packet_memory() + u32::from(len);
        let wanted = self.delack.asks_for_room(self.unacked).then(|| self.window.wanted(memory));
        let shrinks = wanted.is_some_and(|wanted| self.window.shrinks_to(wanted, self.last_ack));
        let unacked = if shrinks { 0 } else { self.unacked };
        if self.answer_next(now, unacked, rtt) {
            let wanted = wanted.unwrap_or_else(|| self.window.wanted(memory));
            self.told = Some(self.window.offer_of(wanted, self.nxt));
        } else if shrinks {
            self.delack.on_read(self.unacked, false);
        }
    }

    /// Decides the answer to the next segment, of which an ACK of `unacked` bytes may leave before the application
    /// reads. Returns whether it does.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `on_next`
    fn answer_next(&mut self, now: Instant, unacked: u32, rtt: &RttEstimator) -> bool {
        // What the next segment is known to be is written out, so that the compiler leaves out the rest.
        let arrived = Arrived { unacked, nxt: self.nxt, gap: false, is_read: true, rtt: Duration::ZERO };
        self.delack.on_taken(now, arrived, || rtt.srtt_in_eighths())
    }

    /// Returns the bytes of which an ACK may leave at once: while the application does not read and the window shrinks,
    /// none, because its reading acknowledges them then.
    #[cold]
    fn unacked_at_once(&self) -> u32 {
        if self.paused && self.window.shrinks(self.last_ack, self.memory()) { 0 } else { self.unacked }
    }

    /// Takes a segment without data.
    #[inline]
    pub(crate) fn on_bare(&mut self, segment: &Segment) {
        if segment.ecn == Ecn::Ce && self.echo.on_marked_ack().now {
            self.delack.demand();
        }
    }

    /// Answers a segment that carries nothing and should not have come, such as a probe of a closed window (RFC 9293,
    /// 3.10.7.4), but not too often.
    #[cold]
    fn answer_bare(&mut self, now: Instant) {
        if now >= self.answers_from {
            self.answers_from = self.delack.tick_of(now) + ANSWER_INTERVAL;
            self.delack.demand();
        }
    }

    /// Returns whether a bare ACK has the sequence number of the next data, and is less than `span` older than the last
    /// segment in order.
    pub(crate) fn is_nearly_next(&self, segment: &Segment, span: Duration) -> bool {
        let ms = self.ts_recent.wrapping_sub(segment.tsval);
        segment.seq_len() == 0 && segment.seq == self.nxt && Duration::from_millis(ms.into()) <= span
    }

    /// Returns whether `segment` ends before the last ACK number sent: it brings nothing, and neither its timestamp nor
    /// its ACK counts (RFC 9293, 3.10.7.4: it is not acceptable; Linux `tcp_sequence`).
    #[inline]
    pub(crate) fn is_of_old_data(&self, segment: &Segment) -> bool {
        segment.seq + segment.seq_len() < self.last_ack
    }

    /// Refuses a segment that is not acceptable: nothing of it is taken, and it is answered (Linux `tcp_send_dupack`).
    #[cold]
    pub(crate) fn refuse(&mut self, now: Instant, segment: &Segment) {
        if segment.seq_len() > 0 {
            self.refuse_data(segment);
        } else {
            self.answer_bare(now);
        }
    }

    /// Takes note that the application reads nothing until [`resume`](Self::resume).
    pub(crate) fn pause(&mut self) {
        self.paused = true;
        self.told = None;
    }

    /// Takes note that the application reads all that waits, and continues to read.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.read(now);
        self.paused = false;
    }

    /// Takes note that the application reads all that waits. What it reads is acknowledged (`tcp_cleanup_rbuf`).
    pub(crate) fn read(&mut self, now: Instant) {
        self.piled -= self.unread_memory();
        let unread = self.unread_pile.take().unwrap_or_default();
        self.on_first_read(now, &unread);
        self.unread = 0;
        self.told = None;
        self.delack.on_read(self.unacked, self.has_gap());
        if self.window.is_news(self.nxt, self.memory()) {
            self.delack.demand();
        }
    }

    /// Takes note that the application reads the first packet of `pile`, the last data in order. It reads packet by
    /// packet, and a round trip of the window's tuning ends with the first one.
    fn on_first_read(&mut self, now: Instant, pile: &Pile) {
        let unread = pile.behind_first();
        let span = self.ranges.back().map_or(0, |(last, _)| last.end.since(self.nxt));
        self.window.on_read(now, self.delivered - u64::from(unread), Waits { unread, span });
    }

    #[cold]
    fn on_ecn(&mut self, segment: &Segment) {
        let waits = self.unacked > 0 && !self.delack.is_due();
        let urgency = self.echo.on_data(segment, self.nxt, waits);
        if urgency.now {
            self.delack.demand();
        }
        if urgency.quick {
            self.delack.on_trouble(2, self.window.left(self.last_ack));
        }
    }

    /// Returns whether [`owed_ack`](Self::owed_ack) has an ACK that must leave before anything else.
    #[inline]
    pub(crate) fn owes_ack(&self) -> bool {
        self.echo.owes()
    }

    /// Takes note that the application is about to send something. An ACK that is due leaves before it, because Linux
    /// sent it when the segment came, or when the application read it.
    #[cold]
    pub(crate) fn before_application(&mut self) {
        if self.delack.is_due() {
            self.echo.owe_all();
        }
    }

    /// Builds the owed ACK of `bare`. One of what came before the last segment has the ACK number and the echo of then,
    /// and the last segment is acknowledged after it.
    #[cold]
    pub(crate) fn owed_ack(&mut self, bare: Segment) -> Segment {
        let Owed::Before(ack, echo) = self.echo.take_owed() else { return bare };
        self.delack.demand();
        Segment { ack, flags: Flags::ACK | echo, ..bare }
    }

    /// Returns whether an ACK is due now.
    #[inline]
    pub(crate) fn is_ack_due(&self) -> bool {
        self.delack.is_due()
    }

    /// Returns when the delayed ACK is due, or [`Instant::MAX`].
    #[inline]
    pub(crate) fn deadline(&self) -> Instant {
        self.delack.deadline()
    }

    /// Handles the delayed-ACK timer. `rto` is this endpoint's own.
    pub(crate) fn on_timeout(&mut self, now: Instant, rto: Duration) {
        self.is_stale |= self.delack.on_timeout(now, rto);
    }

    /// Builds a segment of `payload_len` bytes that carries the acknowledgement. Without payload or FIN it carries the
    /// SACK blocks too.
    ///
    /// A data segment carries no SACK blocks, because a full one has no room for them. While there are blocks, a data
    /// segment therefore does not count as the ACK that is due, and a bare ACK follows.
    // Store forwarding: a segment returned through memory is read before its parts are written.
    #[cfg_attr(not(target_family = "wasm"), inline(always))]
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
        let (ack, tsecr) = (self.nxt, self.ts_recent);
        let window = match self.told {
            Some(window) => window,
            None => self.tell_window(),
        };
        // One expression (store forwarding): a segment built in parts is copied, and the copy waits until the parts are
        // written.
        let tsval = timestamp(now);
        let (tsval, (sack_len, sack)) = if bare && blocks {
            // While ACKs are held, no segment is the next in order.
            (if mem::take(&mut self.is_stale) { self.unusual_at } else { tsval }, self.blocks())
        } else {
            (tsval, (0, [SackBlock::default(); 3]))
        };
        let dscp = 0;
        Segment { seq, ack, tsval, tsecr, window, payload_len, flags, sack_len, ecn, dscp, sack }
    }

    /// Takes note that another data segment with the same acknowledgement leaves. Returns its flags.
    #[inline]
    pub(crate) fn on_split(&mut self, now: Instant) -> Flags {
        // The segment before has said everything else.
        if self.delack.has_quick_acks() {
            self.on_quick_split(now);
        }
        Flags::ACK | self.echo.flags()
    }

    /// Takes note of the same while each ACK that leaves is a quick one.
    #[cold]
    fn on_quick_split(&mut self, now: Instant) {
        if !self.has_blocks() {
            self.delack.on_sent_ack();
        }
        self.delack.on_sent_data(now);
    }

    /// Returns the window field to send, and keeps it until more arrives.
    #[inline]
    fn tell_window(&mut self) -> u16 {
        let memory = self.memory();
        let window = self.window.offer(self.nxt, memory);
        self.told = Some(window);
        if memory > 0 && self.window.is_tight(memory) {
            self.delack.on_tight();
        }
        window
    }
}

#[cfg(test)]
mod tests;
