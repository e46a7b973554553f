//! Scalable TCP (Kelly 2003): a window that grows by a fixed fraction, so that it recovers from a loss in the same number
//! of round trips however large it is.
//!
//! As in Linux. The paper (section 3) adds 0.01 segment an ACK and takes off an eighth; below 100 segments, where the first
//! would be less than Reno's, Linux grows as Reno. Linux up to 5.x counted ACKs, and so took 50 where delayed ACKs come for
//! every second segment; the stacks that count ACKs have that here.

use super::{Ack, Congestion, CongestionControl};
use crate::{Config, Window};

#[derive(Clone, Debug)]
pub(crate) struct Scalable {
    /// What is counted for a segment of growth: a hundredth of the window a round trip (section 3: a = 0.01).
    per: u32,
}

impl CongestionControl for Scalable {
    const NAME: &'static str = "scalable";
    const SUMMARY: &'static str =
        "a hundredth of the window more a round trip, an eighth less at congestion; for large windows";
    const SOURCE: &'static str = "Kelly 2003; Linux's tcp_scalable";
    const DIFFERS: &'static str = "Reno below 100 segments (as Linux; below 50 where ACKs are counted)";

    fn new(config: &Config) -> Self {
        Self { per: if config.stack.era().growth.cong_avoid_by_acked { 100 } else { 50 } }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        if window.in_slow_start() {
            counted = window.slow_start(counted);
        }
        if counted > 0 {
            window.increase(window.cwnd.min(self.per), counted);
        }
    }

    /// Section 3: b = 0.125.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        (congestion.cwnd - congestion.cwnd / 8).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Cause;
    use goodqueue_units::Instant;

    /// 500 segments: a window of ACKs brings 500 / 100 = 5. 50 segments: one, as with Reno.
    #[test]
    fn a_large_window_grows_by_a_hundredth_and_a_small_one_by_a_segment() {
        let mut scalable = Scalable::new(&Config::default());
        for (cwnd, after) in [(500, 505), (50, 51)] {
            let mut window = Window { cwnd, ssthresh: 2, ..Window::new(&Config::default()) };
            for _ in 0..cwnd / 2 {
                scalable.on_ack(&Ack::of(Instant::ZERO, 2), &mut window);
            }
            assert_eq!(window.cwnd, after);
        }
    }

    #[test]
    fn congestion_takes_an_eighth() {
        let mut scalable = Scalable::new(&Config::default());
        let mut at = |cwnd| scalable.ssthresh(&Congestion { now: Instant::ZERO, cwnd, cause: Cause::Loss });
        assert_eq!((at(800), at(15), at(2)), (700, 14, 2));
    }
}
