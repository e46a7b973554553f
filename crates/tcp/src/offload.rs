//! Segmentation offload, as far as it shows on the wire: which segments say PSH, and which wait for others.
//!
//! Linux 6 hands segments down in packets of several, for the hardware or the driver to split. Such a packet says PSH, so
//! that receivers put no wait behind it, and the split leaves that to its last segment; a segment that goes alone says
//! nothing. A receiver acknowledges a pushed segment at once as soon as the application has taken it.
//!
//! A packet that would be shorter than it might be waits for the next ACK, where that is expected within a millisecond
//! (Linux from October 2025 on, and its older series since). So where ACKs come close together, on fast links or behind
//! data in the same queue, segments that leave alone find each other again, and share an ACK.

use crate::Window;
use goodqueue_units::Duration;

/// A packet has the segments that the connection sends in 1/1024 s, within these bounds.
const SPAN_NS: u64 = 1_000_000_000 / 1024;
const LEAST: u64 = 2;
const MOST: u64 = 45;
/// A packet waits only so soon after the last one, and for an ACK that is expected so soon (or in half an SRTT).
const PATIENCE: Duration = Duration::from_millis(1);
/// It does not wait with so much of the window free (`tcp_tso_win_divisor`).
const WINDOW_SHARE: u32 = 3;

#[derive(Clone, Debug, Default)]
pub(crate) struct Offload {
    /// Segments sent of the present packet.
    segments: u32,
}

impl Offload {
    /// A new segment was sent, and `more` may be sent at once: whether it says PSH.
    #[inline]
    pub(crate) fn on_sent(&mut self, more: bool, window: &Window, srtt: Option<Duration>) -> bool {
        self.segments += 1;
        if more && (self.segments == 1 || is_short(self.segments, window, srtt)) {
            return false;
        }
        let several = self.segments > 1 && window.stack.era().pushes;
        self.segments = 0;
        several
    }

    /// Whether a new packet, for which the window has `room`, waits for the next ACK. The last segment was sent
    /// `since_last` ago, the oldest that is out `since_oldest`: its ACK is due when that is an SRTT.
    #[inline]
    pub(crate) fn defers(
        &self,
        room: u32,
        since_last: Duration,
        since_oldest: Duration,
        window: &Window,
        srtt: Option<Duration>,
    ) -> bool {
        self.segments == 0
            && since_last <= PATIENCE
            && window.stack.era().gathers
            && is_short(room, window, srtt)
            && room < window.cwnd.div_ceil(WINDOW_SHARE)
            && srtt.is_some_and(|srtt| since_oldest + PATIENCE.min(srtt / 2) >= srtt)
    }
}

/// Whether a packet may have more than `segments`. The connection's rate is Linux's pacing rate: 2 cwnd / SRTT while slow
/// start is far from its end, else 1.2 cwnd / SRTT; before the first sample it is taken for low.
#[inline]
fn is_short(segments: u32, window: &Window, srtt: Option<Duration>) -> bool {
    let segments = u64::from(segments);
    if segments < LEAST || segments >= MOST {
        return segments < LEAST;
    }
    let tenths = if window.cwnd < window.ssthresh / 2 { 20 } else { 12 };
    // cwnd · tenths / 10 · SPAN / SRTT > segments, in whole segments and without a division, as this is asked often.
    srtt.is_some_and(|srtt| {
        u64::from(window.cwnd) * tenths * SPAN_NS >= 10 * (segments + 1) * srtt.as_nanos().max(1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Stack};
    use std::vec::Vec;

    /// Which of `segments` sent at once say PSH; SRTT is 100 ms.
    fn pushed(stack: Stack, cwnd: u32, ssthresh: u32, segments: u32) -> Vec<u32> {
        let window = Window { cwnd, ssthresh, ..Window::new(&Config { stack, ..Config::default() }) };
        let mut offload = Offload::default();
        let srtt = Some(Duration::from_millis(100));
        (1..=segments).filter(|&n| offload.on_sent(n < segments, &window, srtt)).collect()
    }

    /// Wrong would be PSH on a segment that leaves alone: its ACK would not be delayed.
    #[test]
    fn slow_connections_send_pairs_and_the_second_segment_says_push() {
        assert_eq!(pushed(Stack::Linux6, 10, 5, 5), [2, 4]);
        assert_eq!(pushed(Stack::Linux6, 10, 5, 1), []);
        assert_eq!(pushed(Stack::Linux3_10, 10, 5, 5), []);
    }

    /// One segment alone waits behind a pair. Not after a pause; not where the next ACK is expected in more than a
    /// millisecond, for it would only be late; not in a window of 3, of which it is a third.
    #[test]
    fn a_segment_too_few_for_a_packet_waits_for_the_next_ack() {
        let ms = Duration::from_millis;
        let defers = |room, last, oldest, cwnd, stack| {
            let window = Window { cwnd, ssthresh: 2, ..Window::new(&Config { stack, ..Config::default() }) };
            Offload::default().defers(room, ms(last), ms(oldest), &window, Some(ms(100)))
        };
        assert!(defers(1, 0, 100, 10, Stack::Linux6));
        assert!(defers(1, 1, 99, 10, Stack::Linux6));
        assert!(!defers(2, 0, 100, 10, Stack::Linux6), "a pair is full");
        assert!(!defers(1, 2, 100, 10, Stack::Linux6), "after a pause");
        assert!(!defers(1, 0, 98, 10, Stack::Linux6), "the next ACK is 2 ms away");
        assert!(!defers(1, 0, 100, 3, Stack::Linux6), "a third of the window");
        assert!(!defers(1, 0, 100, 10, Stack::Linux3_10));
        assert!(defers(8, 0, 100, 800, Stack::Linux6), "1.2 · 800 segments in 100 ms: a packet has 9");
    }

    /// 800 segments in 100 ms, doubled for slow start, are 15.6 in 1/1024 s; 1.2 of it, near its end, 9.4.
    #[test]
    fn at_high_rates_as_many_segments_leave_together_as_are_sent_in_a_millisecond() {
        assert_eq!(pushed(Stack::Linux6, 800, 10_000, 50), [15, 30, 45, 50]);
        assert_eq!(pushed(Stack::Linux6, 800, 1600, 20), [9, 18, 20]);
        assert_eq!(pushed(Stack::Linux6, 100_000, 5, 100), [45, 90, 100]);
    }
}
