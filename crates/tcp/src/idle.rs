//! A window that was not used says nothing about the path any more: restart after idling, and window validation.

use crate::Window;
use goodqueue_units::Duration;

impl Window {
    /// Returns ssthresh, at least three quarters of the window: a window that was reached without a reduction is
    /// remembered.
    pub(crate) fn current_ssthresh(&self) -> u32 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }

    /// Restarts after `idle`, a time longer than `rto` without sending (RFC 5681, section 4.1; Linux's
    /// `tcp_slow_start_after_idle`).
    pub(crate) fn restart(&mut self, idle: Duration, rto: Duration) {
        let least = self.initial.min(self.cwnd);
        if !self.stack.era().validation.cwnd_restart_halves {
            self.cwnd = least;
            return;
        }
        self.ssthresh = self.current_ssthresh();
        // RFC 2861: the window halves for each RTO. The kernel counts an RTO that has begun.
        let periods = idle.as_nanos().saturating_sub(1) / rto.as_nanos().max(1);
        self.cwnd = (self.cwnd >> periods.min(31)).max(least);
    }

    /// Shrinks the window half way to `used`, the most segments in flight during an RTO (RFC 2861; RFC 7661 replaces
    /// it, but not in Linux).
    #[cold]
    pub(crate) fn shrink_to_use(&mut self, used: u32) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            self.ssthresh = self.current_ssthresh();
            self.cwnd = u32::midpoint(self.cwnd, used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, Stack};

    fn window(stack: Stack, cwnd: u32) -> Window {
        Window { cwnd, ssthresh: 50, ..Window::new(&Config { stack, ..Config::default() }) }
    }

    fn restarted(stack: Stack, cwnd: u32, idle_ms: u64) -> (u32, u32) {
        let mut w = window(stack, cwnd);
        w.restart(Duration::from_millis(idle_ms), Duration::from_millis(200));
        (w.cwnd, w.ssthresh)
    }

    /// RTO 200 ms: one halving for one RTO beyond the first that has begun, two for two.
    #[test]
    fn an_idle_window_halves_for_each_rto_and_ssthresh_remembers_three_quarters() {
        assert_eq!(restarted(Stack::Linux6_1, 100, 201), (50, 75));
        assert_eq!(restarted(Stack::Linux6_1, 100, 400), (50, 75));
        assert_eq!(restarted(Stack::Linux6_1, 100, 401), (25, 75));
        assert_eq!(restarted(Stack::Linux6_1, 100, 700), (12, 75));
        assert_eq!(restarted(Stack::Linux6_1, 100, 60_000), (10, 75), "the initial window");
        assert_eq!(restarted(Stack::Linux6_1, 4, 60_000), (4, 50), "no larger than it was");
        assert_eq!(restarted(Stack::Rfc, 100, 300), (10, 50), "RFC 5681: RW = min(IW, cwnd)");
    }

    /// Guards against a change of a window in full use, or of its threshold.
    #[test]
    fn a_window_in_use_stays_and_so_does_its_threshold() {
        let mut w = window(Stack::Linux6_1, 100);
        w.shrink_to_use(100);
        assert_eq!((w.cwnd, w.ssthresh), (100, 50));
    }

    #[test]
    fn an_unused_window_falls_half_way() {
        let mut w = window(Stack::Linux6_1, 100);
        w.shrink_to_use(40);
        assert_eq!((w.cwnd, w.ssthresh), (70, 75));
        w.shrink_to_use(1);
        assert_eq!(w.cwnd, 40, "half way to the initial window of 10");
        w.shrink_to_use(40);
        assert_eq!(w.cwnd, 40);
    }
}
