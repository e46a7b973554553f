//! How the receive window grows, as far as it shows on the wire: while it does, every segment is acknowledged at once.
//!
//! A Linux receiver offers little at first and two segments more for each that arrives, up to what its buffer may
//! hold; the buffer is made to hold what came in the last round trip, and more, because the sender may be in slow start
//! (dynamic right-sizing, Fisk & Feng 2001). So the ACKs of a flow's slow start are not delayed, which is what HyStart's
//! trains of ACKs are made of. That the window itself might be too small for the sender is not modelled.

use crate::Stack;
use goodqueue_units::{Duration, Instant};

/// Segments that Linux expects of a sender's first window (RFC 6928).
const FIRST_SEGMENTS: u32 = 10;
/// What may be offered of Linux 6's first buffer, and of Linux 3.10's: half of the middle number in `tcp_rmem`.
const LINUX6_BUFFER: u32 = 131_072 / 2;
const LINUX3_10_BUFFER: u32 = 87_380 / 2;

#[derive(Clone, Debug)]
pub(crate) struct Autotuning {
    stack: Stack,
    mss: u32,
    /// Bytes offered, and the most that the buffer allows.
    offered: u32,
    allowed: u32,
    /// `allowed` does not grow beyond.
    most: u32,
    /// The most bytes that came in a round trip.
    per_round: u32,
    /// When the present round trip began, and what had been delivered by then; the first begins with the first segment,
    /// because the handshake took a round trip before it.
    round_start: Instant,
    round_delivered: u64,
}

impl Autotuning {
    pub(crate) fn new(stack: Stack, mss: u32, most: u32) -> Self {
        let first = FIRST_SEGMENTS * mss;
        let (offered, allowed) = match stack {
            Stack::Linux3_10 | Stack::Linux3_14 => (first, LINUX3_10_BUFFER),
            Stack::Linux6 | Stack::Rfc => (LINUX6_BUFFER, LINUX6_BUFFER),
        };
        let (offered, allowed) = (offered.min(most), allowed.min(most));
        Self {
            stack,
            mss,
            offered,
            allowed,
            most,
            per_round: first,
            round_start: Instant::ZERO,
            round_delivered: 0,
        }
    }

    /// A segment arrived: whether the window grows.
    #[inline]
    pub(crate) fn grow(&mut self) -> bool {
        let grows = self.offered < self.allowed;
        if grows {
            self.offered = (self.offered + 2 * self.mss).min(self.allowed);
        }
        grows
    }

    /// The application has read all that was `delivered` so far; `rtt` is the path's.
    #[inline]
    pub(crate) fn on_read(&mut self, now: Instant, delivered: u64, rtt: Duration) {
        if now.since(self.round_start) >= rtt {
            self.end_round(now, delivered);
        }
    }

    fn end_round(&mut self, now: Instant, delivered: u64) {
        let bytes = delivered - self.round_delivered;
        self.round_start = now;
        self.round_delivered = delivered;
        if bytes <= u64::from(self.per_round) {
            return;
        }
        let mut wanted = 2 * bytes;
        if self.stack == Stack::Linux6 {
            wanted += 16 * u64::from(self.mss);
            // Twice what it grew by: a sender that doubled will double again before the ACK of this can reach it.
            wanted += 2 * wanted * (bytes - u64::from(self.per_round)) / u64::from(self.per_round);
        }
        self.allowed = self.allowed.max(wanted.min(u64::from(self.most)) as u32);
        self.per_round = bytes.min(u64::from(u32::MAX)) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(50);

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// How many segments in a row make the window grow.
    fn growths(a: &mut Autotuning) -> u32 {
        (0..).take_while(|_| a.grow()).count() as u32
    }

    /// 10 segments offered, 43 690 bytes allowed: (43 690 − 14 480) / 2896 = 10.09.
    #[test]
    fn linux_3_10_offers_ten_segments_and_grows_from_the_first_one() {
        assert_eq!(growths(&mut Autotuning::new(Stack::Linux3_10, 1448, 1 << 30)), 11);
        assert_eq!(growths(&mut Autotuning::new(Stack::Linux6, 1448, 1 << 30)), 0);
    }

    /// Slow start by hand: 12 segments in the first round trip are 2 above 10, so 2·12 + 16 = 40 segments and two
    /// fifths of it again: 81 088 bytes with fractions kept. The first offer was 65 536: (81 088 − 65 536) / 2896 = 5.4.
    /// 24 in the next one: 64 segments and twice that, 278 016 bytes: (278 016 − 81 088) / 2896 = 68.
    #[test]
    fn linux_6_makes_room_for_a_sender_that_goes_on_doubling() {
        let mut a = Autotuning::new(Stack::Linux6, 1448, 1 << 30);
        a.on_read(at(75), 1448, RTT);
        a.on_read(at(124), 13 * 1448, RTT);
        assert_eq!(growths(&mut a), 0, "before the round trip is over");
        a.on_read(at(125), 13 * 1448, RTT);
        assert_eq!(growths(&mut a), 6);
        a.on_read(at(175), 37 * 1448, RTT);
        assert_eq!(growths(&mut a), 68);
        a.on_read(at(225), 61 * 1448, RTT);
        assert_eq!(growths(&mut a), 0, "the same again is no growth");
    }

    /// 24 segments: 69 504 bytes allowed; 43 690 were: 9 more.
    #[test]
    fn linux_3_10_allows_twice_a_round_trip() {
        let mut a = Autotuning::new(Stack::Linux3_10, 1448, 1 << 30);
        growths(&mut a);
        a.on_read(at(50), 24 * 1448, RTT);
        assert_eq!(growths(&mut a), 9);
    }

    #[test]
    fn the_window_does_not_grow_beyond_the_configured_one() {
        let mut a = Autotuning::new(Stack::Linux6, 1448, 70_000);
        a.on_read(at(50), 100 * 1448, RTT);
        assert_eq!((growths(&mut a), a.offered), (2, 70_000));
        assert_eq!(growths(&mut Autotuning::new(Stack::Linux3_10, 1448, 3000)), 0);
    }
}
