//! The congestion window, counted in segments.

use crate::{Config, Stack};
use goodqueue_units::Rate;

/// The congestion window and the slow-start threshold of one connection.
///
/// The sender owns it and lends it to the congestion control, as in Linux. Recovery, rate reduction and timeouts set it
/// in the same way for every algorithm. An algorithm only decides how it grows and how far it falls.
#[derive(Clone, Debug)]
pub struct Window {
    /// Congestion window in segments, at least 1.
    pub cwnd: u32,
    /// Slow-start threshold in segments.
    pub ssthresh: u32,
    /// Pacing rate of payload, if the congestion control sets one.
    pub pacing_rate: Option<Rate>,
    /// The fewest segments that leave as one packet, if as many are ready.
    pub min_packet: u16,
    /// The segments of a packet, if the congestion control sets it (`tso_segs` of Linux's L4S branch). 0 leaves it to
    /// the pacing rate.
    pub packet: u16,
    /// Segments counted towards the next segment of linear growth.
    pub(crate) counted: u32,
    /// The initial window, in segments.
    pub(crate) initial: u32,
    /// Whose rules of growth hold.
    pub(crate) stack: Stack,
}

impl Window {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            cwnd: config.initial_window.max(1),
            ssthresh: config.initial_ssthresh.max(2),
            pacing_rate: None,
            min_packet: 2,
            packet: 0,
            counted: 0,
            initial: config.initial_window.max(1),
            stack: config.stack,
        }
    }

    /// Returns whether the window is below the threshold.
    #[inline]
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh + self.stack.era().growth.ssthresh_overshoot
    }

    /// Returns how many segments an ACK that delivers `segments` counts for growth.
    #[inline]
    pub(crate) fn counts(&self, segments: u32) -> u32 {
        let era = self.stack.era();
        let by_segment = if self.in_slow_start() {
            era.growth.slow_start_by_acked
        } else {
            era.growth.cong_avoid_by_acked
        };
        if by_segment { segments } else { 1 }
    }

    /// Grows the window in slow start: one segment per segment counted (RFC 5681, section 3.1). Returns the count left
    /// over at the threshold.
    #[inline]
    pub fn slow_start(&mut self, counted: u32) -> u32 {
        let era = self.stack.era();
        let growth = counted.min((self.ssthresh + era.growth.ssthresh_overshoot).saturating_sub(self.cwnd));
        self.cwnd += growth;
        if era.growth.cong_avoid_by_acked { counted - growth } else { 0 }
    }

    /// Grows the window linearly: one segment per `per` counted.
    #[inline]
    pub fn increase(&mut self, per: u32, counted: u32) {
        let by_segment = self.stack.era().growth.cong_avoid_by_acked;
        // The count towards a slower growth is worth one segment at most.
        if self.counted >= per {
            self.counted = 0;
            self.cwnd += 1;
            if !by_segment {
                return;
            }
        }
        self.counted += counted;
        if self.counted >= per && by_segment {
            let growth = self.counted / per;
            self.counted -= growth * per;
            self.cwnd += growth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(stack: Stack, cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, ssthresh, ..Window::new(&Config { stack, ..Config::default() }) }
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_returns_the_rest() {
        let mut w = window(Stack::Linux6_1, 10, 12);
        assert_eq!((w.slow_start(5), w.cwnd, w.in_slow_start()), (3, 12, false));
        for stack in [Stack::Linux3_10, Stack::Linux3_14] {
            let mut w = window(stack, 12, 12);
            assert_eq!((w.slow_start(1), w.cwnd, w.in_slow_start()), (0, 13, false));
        }
        // The kernel's rule since 3.13: up to ssthresh + 1, and the rest does not count for linear growth.
        let mut w = window(Stack::Linux3_14, 10, 12);
        assert_eq!((w.slow_start(5), w.cwnd), (0, 13));
    }

    #[test]
    fn linear_growth_keeps_fractions() {
        let mut w = window(Stack::Linux6_1, 10, 2);
        for _ in 0..5 {
            w.increase(10, 5); // 25 counted
        }
        assert_eq!((w.cwnd, w.counted), (12, 5));
        w.increase(10, 25);
        assert_eq!((w.cwnd, w.counted), (15, 0));
        w.counted = 9;
        w.increase(4, 1); // 9 were counted when a segment cost 10: they buy one, not two
        assert_eq!((w.cwnd, w.counted), (16, 1));
    }

    #[test]
    fn linux_3_10_grew_after_one_ack_more_than_it_counted() {
        let mut w = window(Stack::Linux3_10, 10, 2);
        for _ in 0..10 {
            w.increase(10, 1);
        }
        assert_eq!(w.cwnd, 10);
        w.increase(10, 1);
        assert_eq!((w.cwnd, w.counted), (11, 0));
    }
}
