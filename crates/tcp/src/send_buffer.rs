//! The sender's buffer: the data that an application has written and the peer has not acknowledged (Linux `tcp_wmem`).
//!
//! Linux counts the memory of the packets that hold the data: their payload, and a fixed amount for each packet. The
//! application writes until this memory reaches the size of the buffer. The last packet may exceed the size. Then the
//! application waits until a third of the buffer is free (`sk_stream_is_writeable`). While it waits, the buffer grows
//! to hold two congestion windows of segments that each take memory of their own, or three for a model-based congestion
//! control (`tcp_sndbuf_expand`). The last number of `tcp_wmem` is its limit.

use crate::config::Buffer;
use crate::receive_window::OPTIONS;
use crate::{Config, SeqNumber};
use alloc::collections::VecDeque;

/// Bytes for the headers of a packet and for the structure behind them, in the memory that Linux expects of a segment.
const HEAD: u32 = 320 + 320;
/// Bytes of the structure that describes a packet.
const DESCRIPTION: u32 = 256;
/// The buffer holds at least this number of segments (`TCP_INIT_CWND`).
const LEAST_SEGMENTS: u32 = 10;

/// The data that a sender holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    /// The first byte that the peer has not acknowledged.
    pub(crate) una: SeqNumber,
    /// Bytes that are out.
    pub(crate) out: u32,
    /// Bytes written and not yet sent.
    pub(crate) unsent: u64,
    /// The most bytes of a packet that has not been sent.
    pub(crate) piece: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct SendBuffer {
    /// Its present size in bytes of memory.
    size: u64,
    /// The limit of its size.
    most: u64,
    /// Bytes of memory of a packet beside its payload.
    overhead: u32,
    /// Bytes of memory of a congestion window per segment.
    per_segment: u32,
    /// Bytes that the application has still to write.
    beyond: u64,
    /// The application closes when it has written them.
    closes: bool,
    /// The application waits until a third is free, and for more than this byte to be acknowledged.
    waits: Option<SeqNumber>,
    /// Where each packet ends that was sent and is not acknowledged.
    ends: VecDeque<SeqNumber>,
}

impl SendBuffer {
    pub(crate) fn new(Buffer { first, most }: Buffer, config: &Config) -> Self {
        let windows = if config.is_model_based() { 3 } else { 2 };
        let segment = (u32::from(config.mss) + OPTIONS + HEAD).next_power_of_two() + DESCRIPTION;
        Self {
            size: u64::from(
                first.max(windows * segment * config.initial_window.max(LEAST_SEGMENTS)).min(most),
            ),
            most: most.into(),
            overhead: config.stack.era().sending.packet_memory,
            per_segment: windows * segment,
            beyond: 0,
            closes: false,
            waits: None,
            ends: VecDeque::new(),
        }
    }

    /// Takes note that the application has `bytes` more to write.
    pub(crate) fn on_write(&mut self, bytes: u64) {
        if !self.closes {
            self.beyond = self.beyond.saturating_add(bytes);
        }
    }

    /// Returns the bytes that the application has still to write.
    pub(crate) const fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Takes note that the application closes. Without `rest` it drops what it has not written. Returns whether it has
    /// written all: otherwise it closes later.
    pub(crate) fn on_close(&mut self, rest: bool) -> bool {
        self.beyond *= u64::from(rest);
        self.closes = true;
        self.beyond == 0
    }

    /// Returns whether the application has just written its last byte, and closes.
    pub(crate) fn is_over(&self) -> bool {
        self.closes && self.beyond == 0
    }

    /// Takes note of a segment that ends at `end`. `is_first`: it begins a packet. Data that were sent again are in
    /// their packet already.
    pub(crate) fn on_sent(&mut self, end: SeqNumber, is_first: bool) {
        match self.ends.back_mut() {
            Some(last) if end <= *last => {}
            Some(last) if !is_first => *last = end,
            _ => self.ends.push_back(end),
        }
    }

    /// Returns how many bytes the application writes now. If the application waits and `window` segments have room in
    /// the congestion window, the buffer grows to hold such windows.
    pub(crate) fn admit(&mut self, held: Held, window: Option<u32>) -> u64 {
        if self.beyond == 0 || self.waits == Some(held.una) {
            return 0; // only an ACK wakes the application
        }
        while self.ends.front().is_some_and(|&end| end <= held.una) {
            self.ends.pop_front();
        }
        let packets = self.ends.len() as u64 + held.unsent.div_ceil(held.piece.into());
        let memory = u64::from(held.out) + held.unsent + packets * u64::from(self.overhead);
        if let Some(window) = window.filter(|_| self.waits.is_some()) {
            let wanted = u64::from(self.per_segment) * u64::from(window.max(LEAST_SEGMENTS));
            self.size = self.size.max(wanted.min(self.most));
        }
        let free = self.size.saturating_sub(memory);
        if free == 0 || self.waits.is_some() && free < memory / 2 {
            self.waits.get_or_insert(held.una);
            return 0;
        }
        let pieces = free.div_ceil(u64::from(held.piece + self.overhead));
        let bytes = self.beyond.min(pieces * u64::from(held.piece));
        self.beyond -= bytes;
        self.waits = (self.beyond > 0).then_some(held.una);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cc, Stack};

    /// Nothing is out, and a packet has 40 segments.
    const EMPTY: Held = Held { una: SeqNumber(0), out: 0, unsent: 0, piece: 57_920 };

    /// Returns a buffer whose application waits for an ACK.
    fn buffer(stack: Stack, cc: Cc, most: u32) -> SendBuffer {
        let config = Config { stack, cc, ..Config::default() };
        let mut buffer = SendBuffer::new(Buffer { first: 16_384, most }, &config);
        buffer.on_write(u64::MAX);
        buffer.waits = Some(SeqNumber(u32::MAX));
        buffer
    }

    /// 1460 + 640 bytes take 4096, and 256 beside them: 4352 per segment. Two windows of ten are 87 040 bytes, and a
    /// packet of 40 segments has 59 200: two of them. BBR has three windows, 130 560 bytes: three packets. A window of
    /// 100 segments has 870 400 bytes: 15 packets. Segments of 460 bytes take 2048 + 256.
    #[test]
    fn the_buffer_holds_two_congestion_windows() {
        let admits = |cc, cwnd| buffer(Stack::Linux6_1, cc, 4 << 20).admit(EMPTY, Some(cwnd)) / 57_920;
        assert_eq!([admits(Cc::Cubic, 1), admits(Cc::Bbr, 10), admits(Cc::Cubic, 100)], [2, 3, 15]);
        let small = Config { mss: 448, ..Config::default() };
        let new = |first, most| SendBuffer::new(Buffer { first, most }, &small);
        assert_eq!((new(0, 1).per_segment, new(0, 90_000).size), (4608, 46_080));
        assert_eq!((new(80_000, 90_000).size, new(80_000, 20_000).size), (80_000, 20_000));
    }

    /// 4 MiB hold 70.85 packets of 40 segments in Linux 6.1, and 71.31 in 7.3, whose packets have 896 bytes beside
    /// their payload.
    #[test]
    fn the_buffer_ends_at_its_limit() {
        let admits = |stack| buffer(stack, Cc::Cubic, 4 << 20).admit(EMPTY, Some(10_000)) / 57_920;
        assert_eq!([admits(Stack::Linux6_1), admits(Stack::Linux7_3)], [71, 72]);
    }

    /// Ten packets of 10 000 bytes and 1280 are 112 800 bytes, in a buffer of 160 000: 47 200 are free, less than half
    /// of the memory in use. With nine packets 58 480 are free, which is more: the application writes one packet.
    #[test]
    fn the_application_waits_until_a_third_is_free() {
        let mut buffer = buffer(Stack::Linux6_1, Cc::Cubic, 160_000);
        buffer.size = 160_000;
        let ends = |n: u32| SeqNumber(10_000 * n);
        (1..=10).for_each(|n| {
            buffer.on_sent(ends(n) - 5000, true);
            buffer.on_sent(ends(n), false);
            buffer.on_sent(ends(n) - 5000, true); // again
        });
        let held = |n: u32| Held { una: ends(n), out: 100_000 - 10_000 * n, ..EMPTY };
        let admitted = [held(0), held(1), held(1)].map(|held| buffer.admit(held, None));
        assert_eq!(admitted, [0, 57_920, 0], "one ACK wakes it once");
        assert_eq!(buffer.ends.len(), 9);
    }

    /// Guards against data lost at a close, or written after it.
    #[test]
    fn a_close_waits_for_what_is_to_be_written() {
        let config = Config::default();
        let mut buffer = SendBuffer::new(Buffer { first: 16_384, most: 4 << 20 }, &config);
        buffer.on_write(200_000);
        assert_eq!(buffer.admit(EMPTY, None), 115_840);
        assert!(!buffer.on_close(true) && !buffer.is_over());
        buffer.on_write(5);
        assert_eq!(buffer.admit(EMPTY, None), 0);
        assert_eq!(buffer.admit(Held { una: SeqNumber(9), ..EMPTY }, None), 84_160);
        assert!(buffer.is_over());
        buffer.on_write(5);
        assert_eq!(buffer.admit(EMPTY, None), 0);
        let mut endless = self::buffer(Stack::Linux6_1, Cc::Cubic, 4 << 20);
        assert!(endless.on_close(false) && endless.is_over());
    }
}
