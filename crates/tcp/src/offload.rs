//! Segmentation offload: how many segments leave together, which of them carry PSH, and which wait for others.
//!
//! Linux hands segments down in packets of several segments, which the hardware or the driver splits. With pacing a
//! packet is the unit that leaves at once. Since Linux 6 a packet carries PSH, so that receivers do not delay its ACK;
//! after the split only the last segment carries it. A segment that leaves alone carries PSH only if it ends what was
//! written. A receiver acknowledges a pushed segment as soon as the application has read it.
//!
//! The data that the application writes stands in packets of up to 64 KiB, an odd number of full segments
//! (`write_queue`). Before Linux 6.10 a packet never extends beyond one of these. Therefore one segment in 45 leaves
//! alone even if pairs leave, and the pairs are then shifted by one. Since then a packet that is too short is filled up
//! from the next one (`tcp_grow_skb`).
//!
//! A packet that could be longer waits for the next ACK, if that is expected within a millisecond (Linux from October
//! 2025 on, and its older series since then). If ACKs come close together, as on fast links or behind data in the same
//! queue, segments that leave alone form pairs again, and share an ACK.

use crate::pacing::Pace;
use crate::write_queue::{App, MOST_BYTES, Unsent};
use crate::{SeqNumber, Stack, Window};
use goodqueue_units::{Duration, Rate};

/// A packet has the segments that the connection sends in 1/1024 s.
const SPANS_PER_S: u64 = 1024;
/// On a short path a packet is larger, because the next ACK is near and the packet need not wait: 64 KiB are added,
/// halved for each 512 µs of the shortest RTT.
const SHORT_RTT: Duration = Duration::from_micros(512);
/// A packet waits only within this time after the last one, and for an ACK that is expected within this time (or within
/// half an SRTT).
pub(crate) const PATIENCE: Duration = Duration::from_millis(1);
/// A packet does not wait if this share of the window, as a divisor, is free (`tcp_tso_win_divisor`).
const WINDOW_SHARE: u32 = 3;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Offload {
    /// The unsent rest of the first packet in the socket.
    pub(crate) head: Unsent,
    /// An application that waits need not be asked again before this ACK.
    pub(crate) wake: SeqNumber,
    /// Nor while this number of bytes or more waits unsent.
    pub(crate) wake_unsent: u32,
    /// The widest window that the peer has offered, in bytes.
    pub(crate) widest: u32,
    /// Segments that still fit into the present packet.
    left: u16,
    /// Segments of `left` that certainly leave now.
    pub(crate) sure: u16,
    /// The window for which the buffer has grown.
    pub(crate) grown: u16,
    /// What the application waits for.
    pub(crate) app: App,
    /// Only one packet may leave, even if it could be longer later, or it has left.
    pub(crate) once: Once,
}

/// Whether the application's writing sends one packet only (`tcp_push_one`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Once {
    No,
    Due,
    Done,
}

impl Offload {
    pub(crate) fn new(first: SeqNumber) -> Self {
        Self {
            head: Unsent::default(),
            wake: first,
            wake_unsent: u32::MAX,
            widest: 0,
            left: 0,
            sure: 0,
            grown: 0,
            app: App::Idle,
            once: Once::No,
        }
    }

    /// Begins a packet of `packet` segments, at least 1, or goes on with the present one, by a segment that leaves now.
    /// `more` says whether another may leave at once, and `ends` whether the segment ends the first packet in the
    /// socket. Returns whether the segment carries PSH, as the last one of several.
    #[inline]
    pub(crate) fn on_sent(
        &mut self,
        more: bool,
        ends: bool,
        stack: Stack,
        packet: impl FnOnce() -> u32,
    ) -> bool {
        let is_first = self.left == 0;
        let more = more & !ends;
        if is_first {
            if !more {
                return false; // alone, whatever the size of a packet
            }
            self.left = packet().min(u16::MAX.into()) as u16;
        }
        self.left -= 1;
        if more && self.left > 0 {
            return false;
        }
        self.left = 0;
        !is_first && stack.era().sending.psh_on_tso_end
    }

    /// Takes note that one of the `sure` segments, of `mss` bytes, was split off. Returns whether it is the packet's
    /// last.
    #[inline]
    pub(crate) fn on_split(&mut self, mss: u32) -> bool {
        self.sure -= 1;
        self.left -= 1;
        self.head.bytes -= mss;
        self.left == 0
    }

    /// Takes note that the last segment was not sent after all. The packet ends before it.
    pub(crate) fn on_taken_back(&mut self) {
        self.left = 0;
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
}

/// The packet that is next, and what there is room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    /// Bytes of the packet in the socket.
    pub(crate) bytes: u32,
    /// Nothing stands behind it, so that it may grow.
    pub(crate) is_last: bool,
    /// FIN stands on it, so that it does not grow.
    pub(crate) has_fin: bool,
    /// Segments that the congestion window has room for.
    pub(crate) room: u32,
    /// Bytes that the peer's window has room for.
    pub(crate) peer_room: u32,
    /// The whole peer's window in bytes.
    pub(crate) peer_window: u32,
    pub(crate) mss: u32,
}

/// Why a packet waits for the next ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deferred {
    /// The congestion window has too little room.
    ByWindow,
    /// The peer's window has too little room, or too little was written.
    Else,
}

impl Next {
    /// Returns whether the packet waits for the next ACK, and why (`tcp_tso_should_defer`). The oldest segment in
    /// flight was sent `since_oldest` ago: its ACK is due when that is an SRTT. `exceeds(segments)` says whether a
    /// packet may have more segments.
    pub(crate) fn defers(
        &self,
        since_oldest: Duration,
        window: &Window,
        srtt: Option<Duration>,
        exceeds: impl FnOnce(u32) -> bool,
    ) -> Option<Deferred> {
        let room = self.room.saturating_mul(self.mss);
        let limit = room.min(self.peer_room);
        let share = self.peer_window.min(window.cwnd.saturating_mul(self.mss)) / WINDOW_SHARE;
        let is_near = srtt.is_some_and(|srtt| since_oldest + PATIENCE.min(srtt / 2) >= srtt);
        let segments = || if room <= self.peer_room { self.room } else { self.peer_room / self.mss };
        // A packet that will not grow leaves as soon as there is room for it.
        if (!self.is_last && limit >= self.bytes) || limit >= share || !is_near || !exceeds(segments()) {
            return None;
        }
        if room < self.peer_room {
            if room <= self.bytes {
                return Some(Deferred::ByWindow);
            }
        } else if self.peer_room <= self.bytes {
            return Some(Deferred::Else);
        }
        (!self.has_fin).then_some(Deferred::Else)
    }
}

/// Returns how many segments a packet has at `pace`, or the fewest if the pace is unknown. A packet has at most half a
/// window, so that two packets are under way.
#[inline]
pub(crate) fn packet(pace: Option<Pace>, window: &Window, mss: u16, min_rtt: Duration) -> u32 {
    resent_packet(pace, window, mss, min_rtt).min((window.cwnd / 2).max(1))
}

/// Returns the same for a packet that is sent again: it may have as many segments as the window has room for.
#[inline]
pub(crate) fn resent_packet(pace: Option<Pace>, window: &Window, mss: u16, min_rtt: Duration) -> u32 {
    let near = near_bytes(window, min_rtt);
    let fewest = u32::from(window.min_packet);
    match window.packet {
        0 if sends(fewest + 1, pace, near, mss) => long_packet(pace, near, mss),
        0 => fewest,
        own => own.into(),
    }
}

/// Returns whether a packet has more segments than `room`. The result is that of [`packet`] without its divisions,
/// because nearly every ACK asks for it.
#[inline]
pub(crate) fn exceeds(
    room: u32,
    pace: impl FnOnce() -> Option<Pace>,
    window: &Window,
    mss: u16,
    min_rtt: Duration,
) -> bool {
    room < (window.cwnd / 2).max(1)
        && match window.packet {
            0 => room < window.min_packet.into() || sends(room + 1, pace(), near_bytes(window, min_rtt), mss),
            own => room < own.into(),
        }
}

/// Returns whether a packet would have at least `segments` segments at `pace`. It is false if the pace is unknown.
#[inline]
fn sends(segments: u32, pace: Option<Pace>, near_bytes: u64, mss: u16) -> bool {
    let bytes = u64::from(mss) * u64::from(segments);
    let by_pace = (bytes.saturating_sub(near_bytes) * 8 * SPANS_PER_S).max(1);
    bytes <= MOST_BYTES.into() && pace.is_some_and(|pace| !pace.is_below(by_pace))
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

fn whole_segments(rate: Rate, near_bytes: u64, mss: u16) -> u32 {
    ((rate.as_bps() / 8 / SPANS_PER_S + near_bytes).min(MOST_BYTES.into()) / u64::from(mss)) as u32
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
        let mut offload = Offload::new(SeqNumber(1));
        let rtt = Duration::from_millis(100);
        let packet = || packet(Pace::of(&window, cwnd, Some(8 * 100_000), 1448), &window, 1448, rtt);
        (1..=segments).filter(|&n| offload.on_sent(n < segments, n % 45 == 0, stack, packet)).collect()
    }

    /// Returns why the next packet waits, which has `bytes` in the socket. A segment has 1448 bytes, the window is of
    /// 10 and has room for `room`, and the next ACK is due now, if the oldest segment left `oldest` ms ago.
    fn waits(bytes: u32, is_last: bool, room: u32, peer_room: u32, oldest: u64) -> Option<Deferred> {
        let window = Window { cwnd: 10, ssthresh: 2, ..Window::new(&Config::default()) };
        let peer_room = peer_room * 1448;
        let next = Next { bytes, is_last, has_fin: false, room, peer_room, peer_window: 1 << 20, mss: 1448 };
        let ms = Duration::from_millis;
        next.defers(ms(oldest), &window, Some(ms(100)), |segments| segments < 2)
    }

    /// Guards against PSH on a segment that leaves alone: its ACK would not be delayed.
    #[test]
    fn slow_connections_send_pairs_and_the_second_segment_says_push() {
        assert_eq!(pushed(Stack::Linux6_1, 10, 5, 5), [2, 4]);
        assert_eq!(pushed(Stack::Linux6_1, 10, 5, 1), []);
        assert_eq!(pushed(Stack::Linux3_10, 10, 5, 5), []);
    }

    /// A segment that the window has room for waits, if the packet may have two and the next ACK is at most 1 ms away.
    /// A third of the window, rounded up, does not wait. What the peer's window holds back waits too.
    #[test]
    fn a_segment_too_few_for_a_packet_waits_for_the_next_ack() {
        let by_window = Some(Deferred::ByWindow);
        assert_eq!(waits(9000, true, 1, 500, 100), by_window);
        assert_eq!(waits(9000, true, 1, 500, 99), by_window);
        assert_eq!(waits(9000, true, 1, 500, 98), None, "the next ACK is 2 ms away");
        assert_eq!(waits(9000, true, 2, 500, 100), None, "a pair is full");
        assert_eq!(waits(9000, true, 500, 1, 100), Some(Deferred::Else));
        assert_eq!(waits(9000, true, 4, 500, 100), None);
    }

    /// Two segments are left in the socket, and the window has room for one: it waits, also behind other data. If there
    /// is room for all that is left of a packet, it leaves, unless more may still be written into it.
    #[test]
    fn the_rest_of_a_packet_waits_only_if_it_may_grow() {
        let window = Window { cwnd: 100, ssthresh: 2, ..Window::new(&Config::default()) };
        let waits = |is_last, has_fin, room: u32| {
            let next = Next {
                bytes: 2 * 1448,
                is_last,
                has_fin,
                room,
                peer_room: 1 << 20,
                peer_window: 1 << 20,
                mss: 1448,
            };
            next.defers(Duration::from_millis(100), &window, Some(Duration::from_millis(100)), |_| true)
        };
        assert_eq!(waits(false, false, 1), Some(Deferred::ByWindow));
        assert_eq!(waits(false, false, 2), None);
        assert_eq!(waits(true, false, 3), Some(Deferred::Else), "the application writes too little");
        assert_eq!(waits(true, true, 3), None, "FIN stands on it");
    }

    /// Packets of 45 segments in the socket are 22 pairs and one segment that leaves alone.
    #[test]
    fn a_packet_ends_where_the_packet_in_the_socket_does() {
        let pushed = pushed(Stack::Linux6_1, 10, 5, 48);
        assert_eq!(pushed[21..], [44, 47]);
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
            let srtt_x8 = (srtt_us > 0).then_some(8 * srtt_us);
            let (pace, min_rtt) = (Pace::of(&window, out, srtt_x8, mss), Duration::from_micros(min_rtt_us));
            let packet = packet(pace, &window, mss, min_rtt);
            for room in [room, packet - 1, packet] {
                prop_assert_eq!(exceeds(room, || pace, &window, mss, min_rtt), room < packet, "{} of {}", room, packet);
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
}
