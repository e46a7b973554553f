//! Scalable TCP (Kelly 2003): the window grows by a fixed fraction, so that it recovers from a loss in the same number
//! of round trips, however large it is.
//!
//! This is Linux's version. The paper (section 3) adds 0.01 segments per ACK and takes off an eighth at congestion.
//! Below 100 segments 0.01 per ACK would be less than Reno's growth, and Linux grows as Reno does. Linux up to 5.x
//! counted ACKs, and used 50 segments instead of 100, because delayed ACKs come for every second segment. The stacks
//! that count ACKs do the same here.

use super::{Ack, Congestion, CongestionControl};
use crate::{Config, Window};

#[derive(Clone, Debug)]
pub(crate) struct Scalable {
    /// Segments, or ACKs, that add one segment: a hundredth of the window per round trip (section 3: a = 0.01).
    per: u32,
}

impl CongestionControl for Scalable {
    const NAME: &'static str = "scalable";
    const SUMMARY: &'static str = "adds a hundredth of the window per round trip, takes an eighth away at congestion; for large windows";
    const SOURCE: &'static str = "Kelly 2003; Linux's tcp_scalable";
    const DIFFERS: &'static str = "Reno below 100 segments (as Linux; below 50 if the stack counts ACKs)";

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

    /// Returns seven eighths of the window (section 3: b = 0.125).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        (congestion.cwnd - congestion.cwnd / 8).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Cause;
    use goodqueue_units::Instant;

    /// 500 segments: one window of ACKs adds 500 / 100 = 5. 50 segments: it adds one, as with Reno.
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
