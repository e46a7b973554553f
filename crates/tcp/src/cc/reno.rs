//! Reno: RFC 5681.

use super::{Ack, Congestion, CongestionControl};
use crate::{Config, Window};

/// Reno has no state beside the window.
#[derive(Clone, Debug)]
pub(crate) struct Reno;

impl CongestionControl for Reno {
    const NAME: &'static str = "reno";
    const SUMMARY: &'static str = "one segment a round trip, half the window at congestion";
    const SOURCE: &'static str = "RFC 5681, section 3.1";

    fn new(_config: &Config) -> Self {
        Self
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
            window.increase(window.cwnd, counted); // equation 3: cwnd += SMSS · SMSS / cwnd, by segment
        }
    }

    /// Equation 4, of the window rather than of what is in flight, as Linux has it.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        (congestion.cwnd / 2).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use goodqueue_units::Instant;

    fn ack(segments: u32) -> Ack {
        Ack::of(Instant::ZERO, segments)
    }

    #[test]
    fn a_window_of_acks_doubles_in_slow_start_and_adds_one_after_it() {
        let mut window = Window::new(&Config { initial_ssthresh: 20, ..Config::default() });
        for _ in 0..5 {
            Reno.on_ack(&ack(2), &mut window);
        }
        assert_eq!(window.cwnd, 20);
        for _ in 0..10 {
            Reno.on_ack(&ack(2), &mut window);
        }
        assert_eq!(window.cwnd, 21);
    }

    #[test]
    fn an_ack_across_the_threshold_counts_on_both_sides() {
        let mut window = Window::new(&Config { initial_ssthresh: 11, ..Config::default() });
        Reno.on_ack(&ack(5), &mut window);
        assert_eq!((window.cwnd, window.counted), (11, 4));
    }

    #[test]
    fn congestion_halves() {
        let at = |cwnd| Reno.ssthresh(&Congestion { now: Instant::ZERO, cwnd });
        assert_eq!((at(21), at(3), at(1)), (10, 2, 2));
    }
}
