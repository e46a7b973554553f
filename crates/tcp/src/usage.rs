//! Whether the congestion window limits the sender. Only then may it grow.

use crate::{SeqNumber, Window};
use goodqueue_units::{Duration, Instant};

/// Segments that a full window may lack (Linux before 3.16).
const SPARE: u32 = 3;

/// How much of the window is used. The fullest moment of a whole window counts: one ACK without data to send does not
/// stop the growth, but an idle application does.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// The window was full at its fullest moment.
    full: bool,
    /// Nothing was sent since the last call of [`on_starved`](Self::on_starved).
    is_known: bool,
    /// The most segments in flight in the present window, which ends at `end`.
    most_out: u32,
    end: SeqNumber,
    /// The most segments in flight since `stamp`. The window was never full in that time.
    used: u32,
    /// When the window was last full, grew or was validated.
    stamp: Instant,
}

impl Usage {
    pub(crate) const fn new(first: SeqNumber) -> Self {
        Self { full: false, is_known: false, most_out: 0, end: first, used: 0, stamp: Instant::ZERO }
    }

    /// Takes note that a segment was sent. Now `out` segments are in flight, of the bytes `una..nxt`, and `full` says
    /// whether the window is full.
    #[inline]
    pub(crate) fn on_sent(&mut self, full: bool, out: u32, una: SeqNumber, nxt: SeqNumber) {
        self.is_known = false;
        if full || una >= self.end || (!self.full && out > self.most_out) {
            (self.full, self.most_out, self.end) = (full, out, nxt);
        }
    }

    /// Takes note that the window grows or restarts. The earlier use does not matter any more.
    #[inline]
    pub(crate) fn on_window(&mut self, now: Instant) {
        self.stamp = now;
    }

    /// Takes note that all data was sent; `out` segments are in flight. Returns the most segments that were used of the
    /// window, if the window was not full for an `rto` (Linux's `tcp_cwnd_validate`). Counts once for all segments sent
    /// together.
    #[cold]
    pub(crate) fn on_starved(
        &mut self,
        now: Instant,
        out: u32,
        window: &Window,
        rto: Duration,
    ) -> Option<u32> {
        if core::mem::replace(&mut self.is_known, true) {
            return None;
        }
        if self.is_cwnd_limited(window) {
            (self.used, self.stamp) = (0, now);
            return None;
        }
        self.used = self.used.max(out);
        (now.since(self.stamp) >= rto).then(|| {
            self.stamp = now;
            core::mem::take(&mut self.used)
        })
    }

    /// Returns whether the window may grow by an ACK before which `in_flight` segments were in flight.
    #[inline]
    pub(crate) fn limits_growth(&self, window: &Window, in_flight: u32) -> bool {
        let Some(most) = window.stack.era().growth.cwnd_limited_slack else {
            return self.is_cwnd_limited(window);
        };
        let left = window.cwnd.saturating_sub(in_flight);
        left <= SPARE || (left < most && 3 * left < window.cwnd)
    }

    /// Returns whether the window limits the sender (RFC 9438, 4.2, and RFC 7661). In slow start more than half of the
    /// window in use is enough to double it.
    #[inline]
    pub(crate) fn is_cwnd_limited(&self, window: &Window) -> bool {
        self.full || (window.in_slow_start() && window.cwnd < 2 * self.most_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn the_fullest_moment_of_a_window_counts_until_the_next_one() {
        let mut u = Usage::new(SeqNumber(0));
        let congestion_avoidance = Window { ssthresh: 2, ..Window::new(&Config::default()) };
        u.on_sent(true, 10, SeqNumber(0), SeqNumber(10));
        u.on_sent(false, 9, SeqNumber(5), SeqNumber(11));
        assert!(u.is_cwnd_limited(&congestion_avoidance));
        u.on_sent(false, 3, SeqNumber(10), SeqNumber(12));
        assert!(!u.is_cwnd_limited(&congestion_avoidance));
    }

    /// Linux's `tcp_cwnd_validate`: an RTO in which the window was never full, counted from when the window last was
    /// full or grew.
    #[test]
    fn an_rto_of_less_than_the_window_tells_the_most_that_was_used() {
        let ms = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let rto = Duration::from_millis(200);
        let window = Window { cwnd: 100, ssthresh: 2, ..Window::new(&Config::default()) };
        let mut u = Usage::new(SeqNumber(0));
        let mut starved = |at, out| {
            u.on_sent(out == window.cwnd, out, SeqNumber(0), SeqNumber(100));
            [u.on_starved(ms(at), out, &window, rto), u.on_starved(ms(at), out, &window, rto)]
        };
        assert_eq!(starved(100, 20), [None; 2]);
        assert_eq!(starved(199, 7), [None; 2]);
        assert_eq!(starved(200, 9), [Some(20), None]);
        assert_eq!(starved(399, 5), [None; 2], "it begins anew");
        assert_eq!(starved(400, 4), [Some(5), None], "the 9 of 200 ms were told of, and count once");
        assert_eq!(starved(700, 100), [None; 2], "it was full");
    }

    /// Linux 3.10's `tcp_is_cwnd_limited`: the window may lack three segments, whatever its size, or less than a third
    /// of it, if that is less than the 45 segments of 64 KiB. Guards against a window that grows although nobody fills
    /// it.
    #[test]
    fn linux_3_10_lets_a_window_grow_that_lacks_a_third_or_three() {
        let limits = |cwnd, in_flight| {
            let window = Window::new(&Config { stack: crate::Stack::Linux3_10, ..Config::default() });
            Usage::new(SeqNumber(0)).limits_growth(&Window { cwnd, ..window }, in_flight)
        };
        assert!(limits(4, 1) && !limits(4, 0), "three are missing, four are");
        assert!(limits(60, 41) && !limits(60, 40), "19 are less than a third of 60, 20 are not");
        assert!(limits(200, 156) && !limits(200, 155), "44 and 45 are less than a third of 200");
    }

    #[test]
    fn in_slow_start_more_than_half_a_window_is_enough() {
        let window = Window::new(&Config::default());
        for (out, limited) in [(5, false), (6, true)] {
            let mut u = Usage::new(SeqNumber(0));
            u.on_sent(false, out, SeqNumber(0), SeqNumber(out));
            assert_eq!(u.is_cwnd_limited(&window), limited);
        }
    }

    /// As many segments in flight as before is no fuller moment. Guards against a window that never ends, because each
    /// segment begins it again.
    #[test]
    fn a_round_goes_on_while_as_many_are_out() {
        let mut u = Usage::new(SeqNumber(0));
        u.on_sent(false, 5, SeqNumber(0), SeqNumber(10));
        u.on_sent(false, 5, SeqNumber(1), SeqNumber(11));
        assert_eq!(u.end, SeqNumber(10));
        u.on_sent(false, 6, SeqNumber(1), SeqNumber(12));
        assert_eq!(u.end, SeqNumber(12));
    }
}
