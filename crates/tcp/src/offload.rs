//! Segmentation offload: how many segments leave together, which of them carry PSH, and which wait for others.
//!
//! Linux hands segments down in packets of several segments, which the hardware or the driver splits. With pacing a
//! packet is the unit that leaves at once. Since Linux 6 a packet carries PSH, so that receivers do not delay its ACK;
//! after the split only the last segment carries it. A segment that leaves alone carries PSH only if it ends what was
//! written. A receiver acknowledges a pushed segment as soon as the application has read it.
//!
//! The data that the application writes is kept in pieces of 64 KiB, an odd number of full segments. Before Linux 6.10
//! a packet never extends beyond one piece. Therefore one segment in 45 leaves alone even if pairs leave, and the pairs
//! are then shifted by one. Since then a packet that is too short is filled up from the next piece (`tcp_grow_skb`).
//!
//! A packet that could be longer waits for the next ACK, if that is expected within a millisecond (Linux from October
//! 2025 on, and its older series since then). If ACKs come close together, as on fast links or behind data in the same
//! queue, segments that leave alone form pairs again, and share an ACK.

use crate::pacing::Pace;
use crate::{Stack, Window};
use goodqueue_units::{Duration, Rate};

/// A packet has the segments that the connection sends in 1/1024 s.
const SPANS_PER_S: u64 = 1024;
/// The largest packet in bytes, less the room for headers that Linux leaves.
const MOST_BYTES: u64 = 65_536 - 1 - 320;
/// On a short path a packet is larger, because the next ACK is near and the packet need not wait: 64 KiB are added,
/// halved for each 512 µs of the shortest RTT.
const SHORT_RTT: Duration = Duration::from_micros(512);
/// A packet waits only within this time after the last one, and for an ACK that is expected within this time (or within
/// half an SRTT).
const PATIENCE: Duration = Duration::from_millis(1);
/// A packet does not wait if this share of the window, as a divisor, is free (`tcp_tso_win_divisor`).
const WINDOW_SHARE: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offload {
    /// Segments that still fit into the present packet.
    left: u16,
    /// Unsent segments of the piece in the socket that is being sent. 0 before the next piece.
    piece: u16,
    /// Segments of `left` that certainly leave now.
    pub(crate) sure: u16,
}

impl Offload {
    /// Begins a piece: the application writes, and all that it had written before was sent.
    pub(crate) fn on_first_write(&mut self) {
        self.piece = 0;
    }

    /// Takes note that a new segment was sent; `more` says whether another may leave at once. Returns whether the
    /// segment carries PSH. A new packet takes `packet()` segments, and a new piece has `piece()` segments, both at
    /// least 1.
    #[inline]
    pub(crate) fn on_sent(
        &mut self,
        more: bool,
        stack: Stack,
        packet: impl FnOnce() -> u32,
        piece: impl Fn() -> u32,
    ) -> bool {
        let of_piece = self.left_of_piece(&piece);
        self.piece = (of_piece - 1) as u16; // 64 KiB at most
        let is_first = self.left == 0;
        if is_first {
            if !more {
                return false; // alone, whatever the size of a packet
            }
            let mut packet = packet();
            if packet > of_piece {
                packet = self.beyond_piece(packet, of_piece, stack, piece);
            }
            self.left = packet as u16;
        }
        self.left -= 1;
        if more && self.left > 0 {
            return false;
        }
        self.left = 0;
        !is_first && stack.era().sending.psh_on_tso_end
    }

    /// Returns how many segments of a packet of `packet` leave in it, if only `of_piece` are left of the piece. A
    /// packet that is filled up from the next piece has both from then on as one piece.
    #[cold]
    fn beyond_piece(&mut self, packet: u32, of_piece: u32, stack: Stack, piece: impl Fn() -> u32) -> u32 {
        if !stack.era().sending.fills_packet {
            return of_piece;
        }
        let next = piece();
        let more = (packet - of_piece).min(next);
        self.piece += next as u16; // 64 KiB at most
        of_piece + more
    }

    /// Takes note that one of the `sure` segments was split off. Returns whether it is the packet's last.
    #[inline]
    pub(crate) fn on_split(&mut self) -> bool {
        self.sure -= 1;
        self.left -= 1;
        self.piece -= 1; // no packet is longer than what is left of its piece
        self.left == 0
    }

    /// Takes note that the last segment was not sent after all. The packet ends before it.
    pub(crate) fn on_taken_back(&mut self) {
        (self.left, self.piece) = (0, self.piece + 1);
    }

    /// Returns how many segments still fit into the present packet.
    #[inline]
    pub(crate) fn left(&self) -> u32 {
        self.left.into()
    }

    /// Returns whether the next segment leaves in one packet with the last.
    #[inline]
    pub(crate) fn is_amid_packet(&self) -> bool {
        self.left > 0
    }

    /// Returns how many segments are left of the piece in the socket that is sent next. A new piece has `piece()`.
    #[inline]
    pub(crate) fn left_of_piece(&self, piece: impl FnOnce() -> u32) -> u32 {
        if self.piece == 0 { piece() } else { self.piece.into() }
    }

    /// Returns whether a new packet, for which the window has `room`, waits for the next ACK. The last segment was sent
    /// `since_last` ago, the oldest in flight `since_oldest` ago: its ACK is due when that is an SRTT. `exceeds(room)`
    /// says whether a packet may have more segments. The rest of a piece does not wait, because it would not grow.
    #[inline]
    pub(crate) fn defers(
        &self,
        room: u32,
        since_last: Duration,
        since_oldest: Duration,
        window: &Window,
        srtt: Option<Duration>,
        exceeds: impl FnOnce(u32) -> bool,
    ) -> bool {
        since_last <= PATIENCE
            && window.stack.era().sending.tso_defer
            && room < window.cwnd.div_ceil(WINDOW_SHARE)
            && srtt.is_some_and(|srtt| since_oldest + PATIENCE.min(srtt / 2) >= srtt)
            && (self.piece == 0 || room < self.piece.into())
            && exceeds(room)
    }
}

/// Returns how many segments a packet has at `pace`, or the fewest if the pace is unknown. A packet has at most half a
/// window, so that two packets are under way.
#[inline]
pub(crate) fn packet(pace: Option<Pace>, window: &Window, mss: u16, min_rtt: Duration) -> u32 {
    let near = near_bytes(window, min_rtt);
    let fewest = u32::from(window.min_packet);
    let segments = match window.packet {
        0 if sends(fewest + 1, pace, near, mss) => long_packet(pace, near, mss),
        0 => fewest,
        own => own.into(),
    };
    segments.min((window.cwnd / 2).max(1))
}

/// Returns whether a packet has more segments than `room`. The result is that of [`packet`] without its divisions,
/// because nearly every ACK asks for it.
#[inline]
pub(crate) fn exceeds(room: u32, pace: Option<Pace>, window: &Window, mss: u16, min_rtt: Duration) -> bool {
    room < (window.cwnd / 2).max(1)
        && match window.packet {
            0 => room < window.min_packet.into() || sends(room + 1, pace, near_bytes(window, min_rtt), mss),
            own => room < own.into(),
        }
}

/// Returns whether a packet would have at least `segments` segments at `pace`. It is false if the pace is unknown.
#[inline]
fn sends(segments: u32, pace: Option<Pace>, near_bytes: u64, mss: u16) -> bool {
    let bytes = u64::from(mss) * u64::from(segments);
    let by_pace = (bytes.saturating_sub(near_bytes) * 8 * SPANS_PER_S).max(1);
    bytes <= MOST_BYTES && pace.is_some_and(|pace| !pace.is_below(by_pace))
}

/// Returns the bytes that a packet has in addition because the path is short.
#[inline]
fn near_bytes(window: &Window, min_rtt: Duration) -> u64 {
    let halvings = min_rtt.as_nanos() / SHORT_RTT.as_nanos();
    if halvings < 32 && window.stack.era().sending.tso_rtt { 65_536 >> halvings } else { 0 }
}

fn long_packet(pace: Option<Pace>, near_bytes: u64, mss: u16) -> u32 {
    pace.and_then(Pace::rate).map_or(0, |rate| whole_segments(rate, near_bytes, mss))
}

/// Returns how many segments a packet would have at `rate` on a long path, at least `least`.
pub(crate) fn packet_of_rate(rate: Option<Rate>, mss: u16, least: u32) -> u32 {
    rate.map_or(0, |rate| whole_segments(rate, 0, mss)).max(least)
}

/// Returns how many segments are one piece in the socket: as many as a packet may have at most, within half of the
/// peer's window.
pub(crate) fn piece(peer_window: u32, mss: u16) -> u32 {
    ((u64::from(peer_window) / 2).min(MOST_BYTES) as u32 / u32::from(mss)).max(1)
}

fn whole_segments(rate: Rate, near_bytes: u64, mss: u16) -> u32 {
    ((rate.as_bps() / 8 / SPANS_PER_S + near_bytes).min(MOST_BYTES) / u64::from(mss)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Returns which of `segments` sent at once carry PSH. SRTT is 100 ms.
    fn pushed(stack: Stack, cwnd: u32, ssthresh: u32, segments: u32) -> Vec<u32> {
        let window = Window { cwnd, ssthresh, ..Window::new(&Config { stack, ..Config::default() }) };
        let mut offload = Offload::default();
        let rtt = Duration::from_millis(100);
        let packet = || packet(Pace::of(&window, cwnd, Some(rtt), 1448), &window, 1448, rtt);
        (1..=segments).filter(|&n| offload.on_sent(n < segments, stack, packet, || 45)).collect()
    }

    /// Guards against PSH on a segment that leaves alone: its ACK would not be delayed.
    #[test]
    fn slow_connections_send_pairs_and_the_second_segment_says_push() {
        assert_eq!(pushed(Stack::Linux6_1, 10, 5, 5), [2, 4]);
        assert_eq!(pushed(Stack::Linux6_1, 10, 5, 1), []);
        assert_eq!(pushed(Stack::Linux3_10, 10, 5, 5), []);
    }

    /// A single segment waits behind a pair. It does not wait after a pause, or if the next ACK is expected in more
    /// than a millisecond: it would only be late. It does not wait in a window of 3, of which it is a third.
    #[test]
    fn a_segment_too_few_for_a_packet_waits_for_the_next_ack() {
        let ms = Duration::from_millis;
        let defers = |room, last, oldest, cwnd, stack| {
            let window = Window { cwnd, ssthresh: 2, ..Window::new(&Config { stack, ..Config::default() }) };
            let pace = Pace::of(&window, cwnd, Some(ms(100)), 1448);
            let exceeds = |room| exceeds(room, pace, &window, 1448, ms(100));
            Offload::default().defers(room, ms(last), ms(oldest), &window, Some(ms(100)), exceeds)
        };
        assert!(defers(1, 0, 100, 10, Stack::Linux6_1));
        assert!(defers(1, 1, 99, 10, Stack::Linux6_1));
        assert!(!defers(2, 0, 100, 10, Stack::Linux6_1), "a pair is full");
        assert!(!defers(1, 2, 100, 10, Stack::Linux6_1), "after a pause");
        assert!(!defers(1, 0, 98, 10, Stack::Linux6_1), "the next ACK is 2 ms away");
        assert!(!defers(1, 0, 100, 3, Stack::Linux6_1), "a third of the window");
        assert!(!defers(1, 0, 100, 10, Stack::Linux3_10));
        assert!(defers(8, 0, 100, 800, Stack::Linux6_1), "1.2 · 800 segments in 100 ms: a packet has 9");
    }

    /// Pieces of 5 are two pairs and one segment that leaves alone. Guards against a packet of two pieces.
    #[test]
    fn a_packet_ends_where_what_was_written_does() {
        let mut offload = Offload::default();
        let pushed = |n: &u32| offload.on_sent(*n < 12, Stack::Linux6_1, || 2, || 5);
        assert_eq!((1..=12).filter(pushed).collect::<Vec<_>>(), [2, 4, 7, 9, 12]);
        let mut offload = Offload::default();
        offload.on_sent(false, Stack::Linux6_1, || 2, || 5);
        offload.on_first_write();
        assert_eq!(offload.piece, 0, "what is written after a pause is a piece of its own");
    }

    /// 65 535 bytes less 320 for headers are 45.03 segments of 1448. Half of a window of 65 160 bytes is 22.5 segments.
    /// With one byte more there would be 64 segments of 1019.
    #[test]
    fn a_piece_is_64_kib_or_half_the_peers_window() {
        assert_eq!(piece(1 << 20, 1019), 63);
        assert_eq!((piece(1 << 20, 1448), piece(65_160, 1448), piece(1000, 1448)), (45, 22, 1));
    }

    /// One segment is left of a piece, and the window has room for it. It would be wrong to wait for another.
    #[test]
    fn the_rest_of_a_piece_does_not_wait() {
        let ms = Duration::from_millis;
        let window = Window { cwnd: 10, ssthresh: 2, ..Window::new(&Config::default()) };
        let defers = |piece| {
            Offload { left: 0, piece, sure: 0 }
                .defers(1, ms(0), ms(100), &window, Some(ms(100)), |room| room < 2)
        };
        assert_eq!((defers(1), defers(2), defers(0)), (false, true, true));
    }

    proptest! {
        /// Guards against a segment that waits although the packet has no room for more, or that does not wait although
        /// it has.
        #[test]
        fn exceeding_is_a_comparison_with_the_packet(
            cwnd in 1_u32..4000, ssthresh in 2_u32..4000, out in 0_u32..4000, room in 0_u32..70,
            srtt_us in prop_oneof![Just(0_u64), 1_u64..2_000_000], min_rtt_us in 0_u64..20_000,
            mss in prop_oneof![Just(1448_u16), 1_u16..9000], min_packet in 1_u16..3,
            bps in proptest::option::of(1_u64..100_000_000_000), old in any::<bool>(),
        ) {
            let stack = if old { Stack::Linux3_14 } else { Stack::Linux6_1 };
            let pacing_rate = bps.and_then(Rate::from_bps);
            let window =
                Window { cwnd, ssthresh, min_packet, pacing_rate, ..Window::new(&Config { stack, ..Config::default() }) };
            let srtt = (srtt_us > 0).then(|| Duration::from_micros(srtt_us));
            let (pace, min_rtt) = (Pace::of(&window, out, srtt, mss), Duration::from_micros(min_rtt_us));
            let packet = packet(pace, &window, mss, min_rtt);
            for room in [room, packet - 1, packet] {
                prop_assert_eq!(exceeds(room, pace, &window, mss, min_rtt), room < packet, "{} of {}", room, packet);
            }
        }
    }

    /// 800 segments in 100 ms, doubled for slow start, are 15.6 segments in 1/1024 s. Near the end of slow start, at
    /// 1.2 times the rate, they are 9.4.
    #[test]
    fn at_high_rates_as_many_segments_leave_together_as_are_sent_in_a_millisecond() {
        assert_eq!(pushed(Stack::Linux6_1, 800, 10_000, 50), [15, 30, 45, 50]);
        assert_eq!(pushed(Stack::Linux6_1, 800, 1600, 20), [9, 18, 20]);
        assert_eq!(pushed(Stack::Linux6_1, 100_000, 5, 100), [45, 90, 100]);
    }

    /// 10 Mbit/s are 1220 bytes in 1/1024 s. At an RTT of 2 ms, 3 whole times 512 µs, 65 536 / 8 bytes are added: 6.5
    /// segments of 1448. At 20 ms nothing is added.
    #[test]
    fn near_receivers_are_sent_larger_packets() {
        let window = Window { cwnd: 100, ..Window::new(&Config::default()) };
        let rate = Rate::from_bps(10_000_000);
        let pace = Pace::of(&Window { pacing_rate: rate, ..window }, 0, None, 1448);
        assert_eq!(packet(pace, &window, 1448, Duration::from_millis(2)), 6);
        assert_eq!(packet(pace, &window, 1448, Duration::from_millis(20)), 2);
        assert_eq!(packet(pace, &window, 1448, Duration::from_micros(100)), 45);
        assert_eq!(packet(None, &window, 1448, Duration::MAX), 2);
        let narrow = Window { cwnd: 10, ..window };
        assert_eq!(packet(pace, &narrow, 1448, Duration::from_micros(100)), 5);
        assert_eq!(packet_of_rate(rate, 1448, 1), 1);
    }

    /// A third of a window of 10, rounded up, is 4 segments. On a path of 1 ms the ACK counts as near when half of that
    /// has passed. Guards against a wait of most of a round trip.
    #[test]
    fn a_packet_waits_where_it_is_short_and_the_ack_is_near() {
        let window = Window { cwnd: 10, ssthresh: 2, ..Window::new(&Config::default()) };
        let us = Duration::from_micros;
        let defers = |room, oldest| {
            Offload::default().defers(room, us(0), us(oldest), &window, Some(us(1000)), |_| true)
        };
        assert_eq!([defers(3, 500), defers(4, 500)], [true, false]);
        assert_eq!([defers(1, 499), defers(1, 500)], [false, true]);
    }
}
