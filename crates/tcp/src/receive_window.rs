//! The receive window: how much is offered, as Linux tunes it.
//!
//! A Linux receiver offers little at first. Each segment that arrives adds two segments, up to half of the buffer. The
//! buffer grows to hold the bytes of the last round trip, and more, because the sender may be in slow start (dynamic
//! right-sizing, Fisk & Feng 2001). Data that waits out of order, or for the application, takes up room in the buffer.
//! An edge once offered is never taken back (RFC 9293, 3.8.6.2.1).

use crate::era::RcvSpaceAdjust;
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

#[derive(Clone, Debug)]
#[repr(C)] // see `Connection`
pub(crate) struct ReceiveWindow {
    stack: Stack,
    /// Bits by which the windows that we send are shifted (RFC 7323, section 2).
    shift: u8,
    /// Bytes offered.
    offered: u32,
    /// The most bytes that the buffer allows to offer.
    allowed: u32,
    /// The first byte beyond what was offered.
    edge: SeqNumber,
    /// 8 × the smoothed round-trip time by timestamps, in ns.
    rtt_x8: u64,
    /// The timestamp that gave the last sample (RFC 7323, section 4).
    last_tsecr: u32,
    /// The most bytes that a segment brings (`advmss`). In the older stacks the timestamps count with it.
    mss: u32,
    /// When the present round trip began.
    round_start: Instant,
    /// Bytes that the application had read when the round trip began.
    round_taken: u64,
    /// The most bytes that the application read in one round trip.
    per_round: u32,
    /// The limit of `allowed`, in bytes.
    most: u32,
}

impl ReceiveWindow {
    /// Builds a window that grows up to `most` bytes. `mss` does not count the timestamps.
    pub(crate) fn new(stack: Stack, mss: u16, most: u32) -> Self {
        let era = stack.era();
        let with_options = u32::from(mss) + OPTIONS;
        let by_growth = era.receiver.rcv_space_adjust == RcvSpaceAdjust::ByGrowth;
        let mss = if by_growth { mss.into() } else { with_options };
        let segments = if era.receiver.rcv_space_adjust == RcvSpaceAdjust::BySteps {
            FIRST_SEGMENTS_3_14
        } else {
            FIRST_SEGMENTS
        };
        let first = segments * mss;
        let offered = if by_growth { whole(u32::from(u16::MAX), with_options) } else { first };
        Self {
            stack,
            shift: shift_for(most),
            mss,
            offered: offered.min(most),
            allowed: allowed_at_first(stack, mss, most),
            most,
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
    /// Linux then knows that timestamps are agreed, and offers whole segments without them. Yet it subtracts the
    /// timestamps from what a segment brings only after it has set up its buffer (Linux 6.1: `tcp_openreq_init_rwin`;
    /// `tcp_rcv_state_process`, after `tcp_init_transfer`).
    pub(crate) fn accept(&mut self) {
        if self.stack.era().receiver.rcv_space_adjust == RcvSpaceAdjust::ByGrowth {
            let with_options = self.mss + OPTIONS;
            self.offered = whole(u32::from(u16::MAX), self.mss).min(self.most);
            self.allowed = allowed_at_first(self.stack, with_options, self.most);
            self.per_round = FIRST_SEGMENTS * with_options;
        }
    }

    /// Begins the first round trip in Linux 6, at the end of the handshake.
    pub(crate) fn established(&mut self, now: Instant) {
        if self.stack.era().receiver.rcv_space_adjust == RcvSpaceAdjust::ByGrowth {
            self.round_start = now;
        }
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

    /// Returns the window field of the next segment. `held` bytes are in the buffer beyond what the application has
    /// read.
    #[inline]
    pub(crate) fn offer(&mut self, nxt: SeqNumber, held: u32) -> u16 {
        let window = self.wanted(held).max(self.left(nxt));
        let field = ((window + (1 << self.shift) - 1) >> self.shift).min(u32::from(u16::MAX));
        self.edge = nxt + (field << self.shift);
        field as u16
    }

    /// Returns whether the offer, with `held` bytes in the buffer, would be less than in the ACK of `last_ack`.
    pub(crate) fn shrinks(&self, last_ack: SeqNumber, held: u32) -> bool {
        self.wanted(held).next_multiple_of(1 << self.shift) < self.left(last_ack)
    }

    /// Returns the bytes to offer if the edge could move freely. A silly small window counts as 0 (RFC 9293,
    /// 3.8.6.2.2).
    #[inline]
    fn wanted(&self, held: u32) -> u32 {
        let free = self.allowed.saturating_sub(held);
        if free < self.allowed / 16 || free < self.mss.min(self.allowed) { 0 } else { free.min(self.offered) }
    }

    /// Returns whether the peer should hear at once that the window is open again: it is twice what the peer knows of.
    pub(crate) fn is_news(&self, nxt: SeqNumber, held: u32) -> bool {
        let (left, wanted) = (self.left(nxt), self.wanted(held));
        wanted > 0 && wanted >= 2 * left && 2 * left <= self.allowed
    }

    /// Grows the window by one arrival, and returns whether it grew. `held` bytes are in the buffer.
    #[inline]
    pub(crate) fn grow(&mut self, held: u32) -> bool {
        let room = self.allowed.saturating_sub(held);
        let grows = self.offered < room;
        if grows {
            self.offered = (self.offered + 2 * self.mss).min(room);
        }
        grows
    }

    /// Returns whether an ACK leaves before the application reads what has come.
    pub(crate) fn acks_before_reading(&self) -> bool {
        self.stack.era().receiver.ack_before_read
    }

    /// Grows the window as [`grow`](Self::grow) does, by a segment out of order, if the stack does so.
    pub(crate) fn grow_over_hole(&mut self, held: u32) -> bool {
        self.stack.era().receiver.grow_window_ofo && self.grow(held)
    }

    /// Takes the timestamp echo `tsecr` of a full segment. The first segment with this `tsecr` gives an RTT sample.
    /// `now` is our clock.
    #[inline]
    pub(crate) fn on_echo(&mut self, now: u32, tsecr: u32) {
        // No branch (branch prediction): a burst echoes one or two timestamps, and where the second begins is not
        // predictable.
        let is_new = (tsecr != self.last_tsecr) & (tsecr != 0);
        let sample = u64::from(now.wrapping_sub(tsecr).clamp(1, 1 << 20)) * 1_000_000;
        let falls_at_once = self.stack.era().receiver.rcv_rtt_latches_low & (8 * sample < self.rtt_x8);
        let smoothed = self.rtt_x8 - self.rtt_x8 / 8 + sample;
        let rtt_x8 = select((self.rtt_x8 == 0) | falls_at_once, 8 * sample, smoothed);
        self.rtt_x8 = select(is_new, rtt_x8, self.rtt_x8);
        self.last_tsecr = select(is_new, tsecr, self.last_tsecr);
    }

    /// Returns the smoothed round-trip time by timestamps, or zero before the first sample.
    pub(crate) fn rtt(&self) -> Duration {
        Duration::from_nanos(self.rtt_x8 / 8)
    }

    /// Takes note that the application has read `taken` bytes in total.
    #[inline]
    pub(crate) fn on_read(&mut self, now: Instant, taken: u64) {
        if self.rtt_x8 > 0 && now.since(self.round_start).as_nanos() >= self.rtt_x8 / 8 {
            self.end_round(now, taken);
        }
    }

    fn end_round(&mut self, now: Instant, taken: u64) {
        let bytes = taken - self.round_taken;
        self.round_start = now;
        self.round_taken = taken;
        if bytes <= u64::from(self.per_round) {
            return;
        }
        let mut wanted = 2 * bytes;
        let before = u64::from(self.per_round);
        match self.stack.era().receiver.rcv_space_adjust {
            RcvSpaceAdjust::Doubles => {}
            RcvSpaceAdjust::BySteps => {
                wanted += 16 * u64::from(self.mss);
                if bytes >= before + before / 2 {
                    wanted *= 2;
                } else if bytes >= before + before / 4 {
                    wanted += wanted / 2;
                }
            }
            RcvSpaceAdjust::ByGrowth => {
                wanted += 16 * u64::from(self.mss);
                // Linux adds twice the growth: a sender that doubled will double again before the ACK of this segment
                // reaches it.
                wanted += 2 * wanted * (bytes - before) / before;
                wanted = wanted / u64::from(self.mss) * u64::from(room_of(self.mss));
            }
        }
        self.offered = self.offered.min(self.allowed); // the SYN offered a little more
        self.allowed = self.allowed.max(wanted.min(u64::from(self.most)) as u32);
        self.per_round = bytes.min(u64::from(u32::MAX)) as u32;
    }
}

/// Returns what the first buffer allows, less the room of one segment. That room is kept back so that nothing grows
/// before the first round trip is measured.
fn allowed_at_first(stack: Stack, segment: u32, most: u32) -> u32 {
    (stack.era().receiver.rcvbuf / 2).saturating_sub(segment).max(2 * segment).min(most)
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
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Returns how many segments in a row make the window grow.
    fn growths(w: &mut ReceiveWindow) -> u32 {
        (0..).take_while(|_| w.grow(0)).count() as u32
    }

    /// Builds a window that has measured an RTT of 50 ms.
    fn measured(stack: Stack, most: u32) -> ReceiveWindow {
        let mut w = ReceiveWindow::new(stack, 1448, most);
        w.on_echo(51, 1);
        w
    }

    /// The MSS in the SYN is 1460. 44 segments are 64 240 bytes, the window of every Linux SYN. 65 536 − 1448 bytes are
    /// allowed: the window does not grow, since growth would mean quick ACKs. Linux 3.10 offers 10 segments, and allows
    /// 43 690 − 1460 bytes: (42 230 − 14 600) / 2920 = 9.5.
    #[test]
    fn the_first_window_is_the_one_in_linuxs_syns() {
        let mut w = ReceiveWindow::new(Stack::Linux6, 1448, 3 << 20);
        assert_eq!((w.of_syn(), w.shift(), growths(&mut w)), (64_240, 7, 0));
        let mut w = ReceiveWindow::new(Stack::Linux3_10, 1448, 3 << 20);
        assert_eq!((w.of_syn(), growths(&mut w)), (14_600, 10));
    }

    /// Linux 3.14 offers 20 segments, 29 200 bytes, and allows 187 200 − 1460. 24 segments in a round trip are less
    /// than a quarter more than 20: 2·24 + 16 = 64 segments, which are allowed already. 36 are half as much again as
    /// 24: 2·(2·36 + 16) = 176 segments or 256 960 bytes, and (256 960 − 185 740) / 2920 = 24.4 growths more. 46 are
    /// more than a quarter above 36, but less than half: 1.5·(2·46 + 16) = 162 segments, less than is allowed.
    #[test]
    fn linux_3_14_makes_room_in_steps() {
        let mut w = measured(Stack::Linux3_14, 1 << 30);
        assert_eq!((w.of_syn(), growths(&mut w)), (29_200, 54));
        w.open(at(0), SeqNumber(1));
        w.on_read(at(50), 24 * 1460);
        assert_eq!(growths(&mut w), 0);
        w.on_read(at(100), 60 * 1460);
        assert_eq!(growths(&mut w), 25);
        w.on_read(at(150), 106 * 1460);
        assert_eq!(growths(&mut w), 0);
    }

    /// 35 segments after 24 are more by at least a quarter, but less than half: 1.5·(2·35 + 16) = 129 segments, 188 340
    /// bytes. 43 are less than a quarter more: 2·43 + 16 = 102 segments are less than allowed. 54 after 43 are a
    /// quarter more, to the segment: 186 segments or 271 560 bytes.
    #[test]
    fn linux_3_14_takes_a_quarter_more_half_as_far() {
        let mut w = measured(Stack::Linux3_14, 1 << 30);
        w.open(at(0), SeqNumber(1));
        let mut taken = 0;
        let mut allowed = |ms, segments: u64| {
            taken += segments * 1460;
            w.on_read(at(ms), taken);
            w.allowed
        };
        assert_eq!(allowed(50, 24), 185_740);
        assert_eq!(allowed(100, 35), 188_340);
        assert_eq!(allowed(150, 43), 188_340);
        assert_eq!(allowed(200, 54), 271_560);
    }

    /// Slow start computed by hand: 12 segments in the first round trip are a fifth more than 10. 2·12 + 16 = 40
    /// segments, plus two fifths of 40, are 56. Each is worth 1492 bytes: 1448 + 896 are 2344, and steps of 128 reach
    /// at least twice 1448 at 2984. 65 536 − 1448 bytes were allowed: (83 552 − 64 088) / 2896 = 6.7 growths. 24
    /// segments in the next round trip: 64 segments, plus twice 64, are 192: (286 464 − 83 552) / 2896 = 70.1 growths.
    #[test]
    fn linux_6_makes_room_for_a_sender_that_goes_on_doubling() {
        let mut w = measured(Stack::Linux6, 1 << 30);
        growths(&mut w);
        w.open(at(0), SeqNumber(1));
        w.on_read(at(49), 12 * 1448);
        assert_eq!(growths(&mut w), 0, "before the round trip is over");
        w.on_read(at(50), 12 * 1448);
        assert_eq!(growths(&mut w), 7);
        w.on_read(at(100), 36 * 1448);
        assert_eq!(growths(&mut w), 71);
        w.on_read(at(150), 60 * 1448);
        assert_eq!(growths(&mut w), 0, "the same again is no growth");
    }

    /// Seen on Linux 6.1: 11 segments in a round trip are a tenth more than 10. 2·11 + 16 = 38, plus a fifth of 38, are
    /// 45.6. 45 · 1492 = 67 140.
    #[test]
    fn the_buffer_holds_whole_segments() {
        let mut w = measured(Stack::Linux6, 1 << 30);
        w.on_read(at(50), 11 * 1448);
        growths(&mut w);
        assert_eq!(w.offered, 67_140);
    }

    /// Seen on Linux 6.1, on the passive side: 65 535 bytes are 45 whole segments of 1448, not 44 of 1460. A segment of
    /// 1460 is kept back: 65 536 − 1460 = 64 076. 11 segments in the round trip after the handshake, 15 928 bytes, are
    /// 1328 more than 10 of 1460. 2 · 15 928 + 16 · 1448 = 55 024, plus twice 1328 / 14 600 of it, are 65 034, or 44
    /// segments; 44 · 1492 = 65 648. With segments of 1448 throughout the result would be 67 140. With a round trip
    /// that began with the SYN it would be no growth: only one segment comes in the rest of that round trip.
    #[test]
    fn a_server_counts_the_timestamps_at_first() {
        let mut w = ReceiveWindow::new(Stack::Linux6, 1448, 3 << 20);
        w.accept();
        w.open(at(0), SeqNumber(1));
        assert_eq!(w.of_syn(), 65_160);
        w.established(at(50));
        w.on_echo(51, 1);
        w.on_read(at(51), 1448);
        assert_eq!((growths(&mut w), w.allowed), (0, 64_076));
        w.on_read(at(101), 11 * 1448);
        growths(&mut w);
        assert_eq!(w.offered, 65_648);
    }

    /// 24 segments allow 70 080 bytes; 42 230 were allowed: 9.5 growths of 2920.
    #[test]
    fn linux_3_10_allows_twice_a_round_trip() {
        let mut w = measured(Stack::Linux3_10, 1 << 30);
        growths(&mut w);
        w.on_read(at(50), 24 * 1460);
        assert_eq!(growths(&mut w), 10);
    }

    /// Linux does so since 3.13. Guards against a window that does not grow during a long recovery.
    #[test]
    fn segments_out_of_order_make_the_window_grow() {
        for (stack, grows) in [(Stack::Linux3_10, false), (Stack::Linux3_14, true), (Stack::Linux6, true)] {
            let mut w = measured(stack, 1 << 30);
            growths(&mut w);
            w.on_read(at(50), 100 * 1460);
            assert_eq!(w.grow_over_hole(0), grows, "{stack:?}");
        }
    }

    #[test]
    fn the_window_does_not_grow_beyond_the_configured_one() {
        let mut w = measured(Stack::Linux6, 70_000);
        w.on_read(at(50), 100 * 1460);
        growths(&mut w);
        assert_eq!(w.offered, 70_000);
        assert_eq!(growths(&mut ReceiveWindow::new(Stack::Linux3_10, 1448, 3000)), 0);
    }

    /// RFC 9293, 3.8.6.2. Guards against an edge that moves back, and an offer of less than a segment.
    #[test]
    fn what_waits_takes_room_and_the_edge_never_moves_back() {
        let mut w = ReceiveWindow::new(Stack::Linux6, 1448, 20_000);
        w.open(at(0), SeqNumber(1));
        assert_eq!(w.offer(SeqNumber(1), 0), 20_000);
        // 5000 bytes arrived, and wait: the edge stays.
        assert_eq!(w.offer(SeqNumber(5001), 5000), 15_000);
        // 3000 of these bytes were read: 2000 wait.
        assert_eq!(w.offer(SeqNumber(5001), 2000), 18_000);
        // Full, and all bytes wait: nothing is left. Room for less than a segment also counts as nothing.
        assert_eq!(w.offer(SeqNumber(23_001), 20_000), 0);
        assert_eq!(w.offer(SeqNumber(23_001), 18_600), 0);
        assert!(!w.is_news(SeqNumber(23_001), 18_600) && w.is_news(SeqNumber(23_001), 10_000));
        assert_eq!(w.offer(SeqNumber(23_001), 10_000), 10_000);
        assert!(!w.is_news(SeqNumber(23_001), 5000), "15 000 are no news to who knows of 10 000");
    }

    /// 100 ms, then 180 ms: 800 − 100 + 180 = 880 eighths. Then 100 ms: Linux 6 takes it at once, the older stacks
    /// smooth it: 880 − 110 + 100 = 870.
    #[test]
    fn round_trips_are_measured_once_a_timestamp_and_smoothed_upwards() {
        for (stack, after_low) in [(Stack::Linux6, 100_000), (Stack::Linux3_10, 108_750)] {
            let mut w = ReceiveWindow::new(stack, 1448, 1 << 20);
            w.on_echo(101, 1);
            w.on_echo(150, 1);
            assert_eq!(w.rtt(), Duration::from_millis(100));
            w.on_echo(200, 20);
            assert_eq!(w.rtt(), Duration::from_millis(110));
            w.on_echo(300, 200);
            assert_eq!(w.rtt(), Duration::from_micros(after_low));
        }
    }

    /// A window is rounded up to what the header can say (Linux), so that rounding never takes an edge back.
    #[test]
    fn scaled_windows_are_rounded_up() {
        let mut w = ReceiveWindow::new(Stack::Linux6, 1448, 1 << 30);
        w.open(at(0), SeqNumber(1));
        assert_eq!((w.shift(), w.offer(SeqNumber(1), 0)), (14, 4), "64 240 / 16 384 = 3.9");
        assert_eq!(w.left(SeqNumber(1)), 65_536);
    }

    /// RFC 9293, 3.8.6.2.2: a sixteenth of the buffer, or a segment, is worth an offer. One byte less is not.
    #[test]
    fn a_window_is_silly_below_a_sixteenth_of_the_buffer_and_below_a_segment() {
        for (allowed, least) in [(64_000, 4000), (16_000, 1448), (1000, 1000)] {
            let w = ReceiveWindow { allowed, offered: allowed, ..measured(Stack::Linux6, 1 << 30) };
            assert_eq!((w.wanted(allowed - least), w.wanted(allowed - least + 1)), (least, 0));
        }
    }

    /// Guards against a window that grows with the first read: without a known RTT no time is a round trip.
    #[test]
    fn nothing_grows_before_a_round_trip_is_measured() {
        let mut w = ReceiveWindow::new(Stack::Linux6, 1448, 1 << 30);
        w.open(at(0), SeqNumber(1));
        let before = w.allowed;
        w.on_read(at(50), 60 * 1448);
        w.on_read(at(100), 200 * 1448);
        assert_eq!(w.allowed, before);
    }

    /// Segments of 60 kB. Guards against a window of less than two segments: each would wait for the ACK of the one
    /// before.
    #[test]
    fn the_first_window_holds_two_segments() {
        assert_eq!(allowed_at_first(Stack::Linux6, 60_000, 1 << 30), 120_000);
        assert_eq!(allowed_at_first(Stack::Linux6, 60_000, 70_000), 70_000, "but no more than there may be");
    }
}
