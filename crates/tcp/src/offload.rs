//! Segmentation offload, as far as it shows on the wire: which segments say PSH.
//!
//! Linux 6 hands segments down in packets of several, for the hardware or the driver to split. Such a packet says PSH, so
//! that receivers put no wait behind it, and the split leaves that to its last segment; a segment that goes alone says
//! nothing. A receiver acknowledges a pushed segment at once as soon as the application has taken it.

use crate::Window;
use goodqueue_units::Duration;

/// A packet has the segments that the connection sends in 1/1024 s, within these bounds.
const SPAN_NS: u64 = 1_000_000_000 / 1024;
const LEAST: u64 = 2;
const MOST: u64 = 45;

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
        if more && (self.segments == 1 || self.segments < packet(window, srtt)) {
            return false;
        }
        let several = self.segments > 1 && window.stack.era().pushes;
        self.segments = 0;
        several
    }
}

/// How many segments a packet has. The connection's rate is Linux's pacing rate: 2 cwnd / SRTT while slow start is far from
/// its end, else 1.2 cwnd / SRTT.
fn packet(window: &Window, srtt: Option<Duration>) -> u32 {
    let tenths = if window.cwnd < window.ssthresh / 2 { 20 } else { 12 };
    let srtt_ns = srtt.map_or(u64::MAX, Duration::as_nanos).max(1);
    (u64::from(window.cwnd) * tenths * SPAN_NS / 10 / srtt_ns).clamp(LEAST, MOST) as u32
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

    /// 800 segments in 100 ms, doubled for slow start, are 15.6 in 1/1024 s; 1.2 of it, near its end, 9.4.
    #[test]
    fn at_high_rates_as_many_segments_leave_together_as_are_sent_in_a_millisecond() {
        assert_eq!(pushed(Stack::Linux6, 800, 10_000, 50), [15, 30, 45, 50]);
        assert_eq!(pushed(Stack::Linux6, 800, 1600, 20), [9, 18, 20]);
        assert_eq!(pushed(Stack::Linux6, 100_000, 5, 100), [45, 90, 100]);
    }
}
