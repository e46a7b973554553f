//! The receive window: how much is offered, as Linux tunes it.
//!
//! A Linux receiver offers little at first. Each segment that arrives adds two segments, up to half of the buffer.
//! Since 6.6 it is not half: it is the share of payload in the memory of the first full segment. The buffer grows to
//! hold the bytes of the last round trip, and more, because the sender may be in slow start (dynamic right-sizing, Fisk
//! & Feng 2001). Data that waits out of order, or for the application, takes up room in the buffer. An edge once
//! offered is never taken back (RFC 9293, 3.8.6.2.1).

use crate::era::RcvSpaceAdjust;
use crate::rtt::EIGHTH_NS;
use crate::{SeqNumber, Stack};
use goodqueue_units::{Duration, Instant, processor::select};

/// Segments that Linux expects of a sender's first window (RFC 6928).
const FIRST_SEGMENTS: u32 = 10;
/// Segments that Linux 3.14 offers first: twice as many, for new data sent during a fast recovery (RFC 6675, NextSeg(),
/// rule 2).
const FIRST_SEGMENTS_3_14: u32 = 20;
/// Bytes of the timestamp option in every segment. The peer's MSS counts them as payload (RFC 6691).
pub(crate) const OPTIONS: u32 = 12;
/// Bytes that a full segment takes of Linux's buffer besides its payload: its headers and the structures that describe
/// it.
const OVERHEAD: u32 = 320 + 576;
/// The step in bytes by which Linux raises the room of a segment until half of it holds the segment. The other half is
/// never offered.
const STEP: u32 = 128;
/// Segments in order of fewer bytes than this leave the window as it is (`tcp_event_data_recv`).
const LEAST: u16 = 128;
/// Shares of the buffer have this denominator (Linux `TCP_RMEM_TO_WIN_SCALE`).
const WHOLE: u32 = 256;
/// The share of the buffer that may be offered before a segment has come, and the share that older releases always
/// have.
const HALF: u8 = 128;
/// A round trip shorter than this makes the buffer grow less (`tcp_rcvbuf_low_rtt`).
const LOW_RTT: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct ReceiveWindow {
    stack: Stack,
    /// Bits by which the windows that we send are shifted (RFC 7323, section 2).
    shift: u8,
    /// The share of the buffer that may be offered, in 1/256.
    share: u8,
    /// The window has not grown by the last full segment, and nothing has changed since.
    is_grown: bool,
    /// Bytes offered.
    offered: u32,
    /// The most bytes that may be offered (`window_clamp`).
    allowed: u32,
    /// The first byte beyond what was offered.
    edge: SeqNumber,
    /// 8 × the smoothed round-trip time by timestamps, in µs.
    rtt_x8: u64,
    /// The timestamp that gave the last sample (RFC 7323, section 4).
    last_tsecr: u32,
    /// The most bytes that a segment brings (`advmss`). In the older stacks the timestamps count with it.
    mss: u32,
    /// When the present round trip began.
    round_start: Instant,
    /// Bytes that the application had read when the round trip began, without the upper half.
    round_taken: u32,
    /// The most bytes that the application read in one round trip.
    per_round: u32,
    /// The size of the buffer in bytes of memory (`sk_rcvbuf`).
    buffer: u32,
    /// The limit of `buffer`.
    most: u32,
}

/// What waits when the application reads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waits {
    /// Bytes in order.
    pub(crate) unread: u32,
    /// Bytes from the next in order to the last that has come.
    pub(crate) span: u32,
}

impl ReceiveWindow {
    /// Builds a window that grows up to `most` bytes. `mss` does not count the timestamps. The first buffer has `first`
    /// bytes of memory, or the bytes of the stack.
    pub(crate) fn new(stack: Stack, mss: u16, most: u32, first: Option<u32>) -> Self {
        let era = stack.era();
        let with_options = u32::from(mss) + OPTIONS;
        let by_growth = is_by_growth(era.receiver.rcv_space_adjust);
        let half = first.unwrap_or(era.receiver.rcvbuf) / 2;
        let mss = if by_growth { mss.into() } else { with_options };
        let segments = if era.receiver.rcv_space_adjust == RcvSpaceAdjust::BySteps {
            FIRST_SEGMENTS_3_14
        } else {
            FIRST_SEGMENTS
        };
        let first = segments * mss;
        let offered = if by_growth { whole(u16::MAX.into(), with_options).min(half) } else { first };
        Self {
            stack,
            shift: shift_for(most),
            share: HALF,
            is_grown: false,
            mss,
            offered: offered.min(most),
            allowed: if by_growth { half } else { reserve(half, mss) }.min(most), // Linux 6 reserves later
            buffer: 2 * half.min(most),
            most: most.saturating_mul(2),
            edge: SeqNumber(0),
            per_round: first,
            round_start: Instant::ZERO,
            round_taken: 0,
            rtt_x8: 0,
            last_tsecr: 0,
        }
    }

    /// Prepares for a peer that opens: its SYN has come, and the SYN-ACK is next.
    ///
    /// Linux then knows that timestamps are agreed, and offers whole segments without them. Linux 6.1.192,
    /// 6.12 and 7.3 know that too when they set up the buffer (`tcp_rcv_state_process`, before `tcp_init_transfer`).
    pub(crate) fn accept(&mut self) {
        if is_by_growth(self.stack.era().receiver.rcv_space_adjust) {
            self.offered = whole(u16::MAX.into(), self.mss).min(self.allowed);
        }
    }

    /// Begins the first round trip in Linux 6, at the end of the handshake: one segment's room is kept back
    /// (`tcp_init_buffer_space`). Then takes the share of full segments. Linux measures it when the first full segment
    /// comes, which is the first that makes the window grow.
    ///
    /// The segment is in the memory that it has in a router's kernel, because a laboratory's hosts are namespaces of
    /// one machine. A card's driver chooses another share.
    pub(crate) fn established(&mut self, now: Instant) {
        let era = self.stack.era();
        let by = era.receiver.rcv_space_adjust;
        if !is_by_growth(by) {
            return;
        }
        let kept_back = reserve(self.allowed, self.per_round / FIRST_SEGMENTS).min(self.most / 2);
        if self.buffer < self.most {
            self.allowed = kept_back;
        }
        self.offered = self.offered.min(self.allowed);
        if by >= RcvSpaceAdjust::MeasuredShare {
            self.share = (self.mss * WHOLE / (self.mss + era.receiver.packet_memory)) as u8; // 1448 bytes at most
            self.allowed = self.space(0);
        }
        self.is_grown = false;
        self.round_start = now;
    }

    /// Returns the window shift of our SYN.
    pub(crate) fn shift(&self) -> u8 {
        self.shift
    }

    /// Opens the window. The peer's first byte is `first`.
    pub(crate) fn open(&mut self, now: Instant, first: SeqNumber) {
        self.edge = first + self.offered;
        self.round_start = now;
    }

    /// Returns the window of our SYN, which is not shifted.
    pub(crate) fn of_syn(&self) -> u16 {
        self.offered.min(u32::from(u16::MAX)) as u16
    }

    /// Returns the bytes that the peer may still send.
    #[inline]
    pub(crate) fn left(&self, nxt: SeqNumber) -> u32 {
        if nxt < self.edge { self.edge.since(nxt) } else { 0 }
    }

    /// Returns the bytes of memory that a packet takes beside its payload.
    pub(crate) fn packet_memory(&self) -> u32 {
        self.stack.era().receiver.packet_memory
    }

    /// Returns the bytes of the window for which the buffer has room beside `memory` bytes that are in it.
    #[inline]
    fn space(&self, memory: u32) -> u32 {
        (u64::from(self.buffer.saturating_sub(memory)) * u64::from(self.share) / u64::from(WHOLE)) as u32
    }

    /// Returns the window field of the next segment. `memory` bytes of the buffer are in use.
    #[inline]
    pub(crate) fn offer(&mut self, nxt: SeqNumber, memory: u32) -> u16 {
        self.offer_of(self.wanted(memory), nxt)
    }

    /// Does the same if the `wanted` bytes are known.
    #[inline]
    pub(crate) fn offer_of(&mut self, wanted: u32, nxt: SeqNumber) -> u16 {
        let window = wanted.max(self.left(nxt));
        let field = ((window + (1 << self.shift) - 1) >> self.shift).min(u32::from(u16::MAX));
        self.edge = nxt + (field << self.shift);
        field as u16
    }

    /// Returns whether the offer, with `memory` bytes of the buffer in use, would be less than in the ACK of
    /// `last_ack`.
    pub(crate) fn shrinks(&self, last_ack: SeqNumber, memory: u32) -> bool {
        self.shrinks_to(self.wanted(memory), last_ack)
    }

    /// Does the same if the `wanted` bytes are known.
    #[inline]
    pub(crate) fn shrinks_to(&self, wanted: u32, last_ack: SeqNumber) -> bool {
        let unit = 1 << self.shift;
        ((wanted + unit - 1) & !(unit - 1)) < self.left(last_ack)
    }

    /// Returns whether a segment that waits may leave less room than is offered.
    #[inline]
    pub(crate) fn is_near_limit(&self) -> bool {
        self.offered + 2 * self.mss > self.allowed && self.packet_memory() > 0
    }

    /// Returns whether `memory` bytes in use leave less than half of the window. Quick ACKs end with such an offer
    /// (`__tcp_select_window`).
    pub(crate) fn is_tight(&self, memory: u32) -> bool {
        self.space(memory) < self.allowed / 2
    }

    /// Returns the bytes to offer if the edge could move freely. A silly small window counts as 0 (RFC 9293,
    /// 3.8.6.2.2).
    #[inline]
    pub(crate) fn wanted(&self, memory: u32) -> u32 {
        if memory == 0 {
            return self.offered.min(self.allowed);
        }
        let mut free = self.space(memory);
        let whole = self.space(0);
        if free < self.allowed / 2 {
            free = free >> self.shift << self.shift;
            if free < whole / 16 || free < self.mss.min(self.allowed) {
                return 0;
            }
        }
        free.min(self.offered)
    }

    /// Returns whether the peer should hear at once that the window is open again: it is twice what the peer knows of.
    pub(crate) fn is_news(&self, nxt: SeqNumber, memory: u32) -> bool {
        let (left, wanted) = (self.left(nxt), self.wanted(memory));
        wanted > 0 && wanted >= 2 * left && 2 * left <= self.allowed
    }

    /// Grows the window by one arrival of `len` bytes in order, and returns whether it grew. `memory` is in use.
    /// `None`: only by the segment itself, which the application has not read yet (`tcp_grow_window`, after
    /// `tcp_queue_rcv`). Old stacks could hand it over at once.
    #[inline]
    pub(crate) fn grow(&mut self, memory: Option<u32>, len: u16) -> bool {
        let is_usual = memory.is_none() && u32::from(len) == self.mss;
        if (is_usual && self.is_grown) || self.offered >= self.allowed || len < LEAST {
            return false;
        }
        let receiver = &self.stack.era().receiver;
        let own = receiver.packet_memory + u32::from(len);
        let own = if is_by_growth(receiver.rcv_space_adjust) { own } else { 0 };
        let grows = self.grow_in(memory.unwrap_or(own), len);
        self.is_grown = is_usual && !grows;
        grows
    }

    /// Grows the window with `memory` bytes of the buffer in use.
    #[inline]
    fn grow_in(&mut self, memory: u32, len: u16) -> bool {
        let room = self.space(memory).min(self.allowed);
        let grows = self.offered < room && (u32::from(len) >= self.mss || self.is_worth(len));
        if grows {
            self.offered = (self.offered + 2 * self.mss.max(len.into())).min(room);
        }
        grows
    }

    /// Returns whether the window grows by a segment of `len` bytes, less than a full one: they must be a good part of
    /// its memory, or the window small (`__tcp_grow_window`).
    #[cold]
    fn is_worth(&self, len: u16) -> bool {
        let in_window = |memory: u32| (u64::from(memory) * u64::from(self.share) / u64::from(WHOLE)) as u32;
        let (mut memory, mut window) =
            (in_window(self.packet_memory() + u32::from(len)), in_window(self.most) / 2);
        if memory <= len.into() {
            return true;
        }
        memory /= 2;
        while self.offered <= window {
            if memory <= len.into() {
                return true;
            }
            (memory, window) = (memory / 2, window / 2);
        }
        false
    }

    /// Returns whether an ACK leaves before the application reads what has come.
    pub(crate) fn acks_before_reading(&self) -> bool {
        self.stack.era().receiver.ack_before_read
    }

    /// Grows the window as [`grow`](Self::grow) does, by a segment out of order, if the stack does so. `memory` counts
    /// the segment itself only if it joined another: otherwise Linux charges it later (`tcp_data_queue_ofo`). `span` is
    /// from the next byte in order to the last that has come. Linux since 6.19 then makes room for it.
    pub(crate) fn grow_over_hole(&mut self, memory: u32, len: u16, span: u32) -> bool {
        let receiver = &self.stack.era().receiver;
        let grows = receiver.grow_window_ofo && self.grow_in(memory, len);
        if receiver.rcv_space_adjust == RcvSpaceAdjust::WithHoles {
            let more = self.without_growth(u64::from(self.per_round));
            self.allow(more + u64::from(span));
        }
        grows
    }

    /// Returns the window in Linux since 6.19 after a round trip of `bytes`, as many as in the round trip before.
    fn without_growth(&self, bytes: u64) -> u64 {
        let rtt = self.rtt().as_nanos();
        let low = if rtt < LOW_RTT.as_nanos() { 2 * bytes * rtt / LOW_RTT.as_nanos() } else { 0 };
        2 * bytes + low
    }

    /// Makes the buffer hold a window of `wanted` bytes, up to the limit. A window that is allowed stays allowed
    /// (`tcp_rcvbuf_grow`).
    fn allow(&mut self, wanted: u64) {
        let buffer = wanted * u64::from(WHOLE) / u64::from(self.share);
        let buffer = buffer.min(u64::from(self.most)) as u32;
        if buffer > self.buffer {
            self.buffer = buffer;
            self.allowed = self.space(0);
            self.is_grown = false;
        }
    }

    /// Takes the timestamp echo `tsecr` of a full segment. The first segment with this `tsecr` gives an RTT sample.
    /// `now` is our clock.
    #[cfg_attr(not(target_family = "wasm"), inline(always))] // as `Receiver::on_next`
    pub(crate) fn on_echo(&mut self, now: u32, tsecr: u32) {
        // No branch (branch prediction): a burst echoes one or two timestamps, and where the second begins is not
        // predictable.
        let is_new = (tsecr != self.last_tsecr) & (tsecr != 0);
        let sample = u64::from(now.wrapping_sub(tsecr).clamp(1, 1 << 20)) * 1000;
        let falls_at_once = self.stack.era().receiver.rcv_rtt_latches_low & (8 * sample < self.rtt_x8);
        let smoothed = self.rtt_x8 - self.rtt_x8 / 8 + sample;
        let rtt_x8 = select((self.rtt_x8 == 0) | falls_at_once, 8 * sample, smoothed);
        self.rtt_x8 = select(is_new, rtt_x8, self.rtt_x8);
        self.last_tsecr = select(is_new, tsecr, self.last_tsecr);
    }

    /// Returns the smoothed round-trip time by timestamps, or zero before the first sample.
    pub(crate) fn rtt(&self) -> Duration {
        Duration::from_nanos(self.rtt_x8 * EIGHTH_NS)
    }

    /// Takes note that the application has read `taken` bytes in total, and what waits then.
    #[inline]
    pub(crate) fn on_read(&mut self, now: Instant, taken: u64, waits: Waits) {
        let micros = |at: Instant| at.as_nanos() / 1000;
        // Without a division, as it is for nearly all segments: less than the round trip, by more than the rounding.
        if now.since(self.round_start).as_nanos() + 2 * 1000 <= self.rtt_x8 * EIGHTH_NS {
            return;
        }
        if self.rtt_x8 > 0 && micros(now) - micros(self.round_start) >= self.rtt_x8 / 8 {
            self.end_round(now, taken, waits);
        }
    }

    fn end_round(&mut self, now: Instant, taken: u64, waits: Waits) {
        let by = self.stack.era().receiver.rcv_space_adjust;
        let behind = if by >= RcvSpaceAdjust::MeasuredShare { waits.unread } else { 0 };
        let bytes = u64::from((taken as u32).wrapping_sub(self.round_taken).saturating_sub(behind));
        self.round_start = now;
        self.round_taken = taken as u32;
        if bytes <= u64::from(self.per_round) {
            return;
        }
        let mut wanted = 2 * bytes;
        let before = u64::from(self.per_round);
        match by {
            RcvSpaceAdjust::Doubles => {}
            RcvSpaceAdjust::BySteps => {
                wanted += 16 * u64::from(self.mss);
                if bytes >= before + before / 2 {
                    wanted *= 2;
                } else if bytes >= before + before / 4 {
                    wanted += wanted / 2;
                }
            }
            RcvSpaceAdjust::WithHoles => {
                wanted = self.without_growth(bytes);
                if self.rtt() >= LOW_RTT {
                    wanted += 2 * wanted * (bytes - before) / before;
                }
                wanted += u64::from(waits.span);
            }
            RcvSpaceAdjust::ByGrowth | RcvSpaceAdjust::MeasuredShare => {
                wanted += 16 * u64::from(self.mss);
                // Linux adds twice the growth: a sender that doubled will double again before the ACK of this segment
                // reaches it. The quotient is in whole bytes.
                wanted += 2 * (wanted * (bytes - before) / before);
                if by == RcvSpaceAdjust::ByGrowth {
                    wanted = wanted / u64::from(self.mss) * u64::from(room_of(self.mss));
                }
            }
        }
        self.offered = self.offered.min(self.allowed); // the SYN offered a little more
        self.is_grown = false;
        self.allow(wanted);
        self.per_round = bytes.min(u64::from(u32::MAX)) as u32;
    }
}

/// Returns whether a stack offers 64 KiB at first, and then grows its buffer as Linux has since 4.
fn is_by_growth(by: RcvSpaceAdjust) -> bool {
    by >= RcvSpaceAdjust::ByGrowth
}

/// Returns what the first buffer, of which `half` bytes may be offered, allows: less the room of one `segment`. That
/// room is kept back so that nothing grows before the first round trip is measured.
fn reserve(half: u32, segment: u32) -> u32 {
    half.saturating_sub(segment).max(2 * segment)
}

/// Returns the bytes of the window that correspond to a full segment's room in the buffer: half of the room, and at
/// least the segment.
fn room_of(mss: u32) -> u32 {
    let least = (2 * mss).saturating_sub(mss + OVERHEAD);
    (mss + OVERHEAD + least.next_multiple_of(STEP)) / 2
}

/// Returns the shift with which 16 bits can say twice `window` bytes, Linux's whole buffer, or nearly that (RFC 7323,
/// section 2.3). It is 14 at most.
fn shift_for(window: u32) -> u8 {
    (u32::BITS - window.leading_zeros()).saturating_sub(15).min(14) as u8
}

/// Returns the bytes of the whole segments that fit into `bytes`.
fn whole(bytes: u32, mss: u32) -> u32 {
    if bytes > mss { bytes / mss * mss } else { bytes }
}

#[cfg(test)]
mod tests;
