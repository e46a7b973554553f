//! Whether the congestion window is what limits the sender; only then may it grow.

use crate::{SeqNumber, Window};

/// How much of the window is used: over a whole window the fullest moment counts, so that one ACK without data to send
/// does not stop the growth, and an idle application does.
#[derive(Clone, Debug)]
pub(crate) struct Usage {
    /// The window was full at its fullest.
    full: bool,
    /// The most segments out in the present window, which ends at `end`.
    most_out: u32,
    end: SeqNumber,
}

impl Usage {
    pub(crate) const fn new(first: SeqNumber) -> Self {
        Self { full: false, most_out: 0, end: first }
    }

    /// A segment was sent: now `out` are out, of the bytes `una..nxt`, and the window is `full` or not.
    #[inline]
    pub(crate) fn on_sent(&mut self, full: bool, out: u32, una: SeqNumber, nxt: SeqNumber) {
        if full || una >= self.end || (!self.full && out > self.most_out) {
            *self = Self { full, most_out: out, end: nxt };
        }
    }

    /// RFC 9438, 4.2, and RFC 7661: in slow start half a window in use is enough to double it.
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

    #[test]
    fn in_slow_start_more_than_half_a_window_is_enough() {
        let window = Window::new(&Config::default());
        for (out, limited) in [(5, false), (6, true)] {
            let mut u = Usage::new(SeqNumber(0));
            u.on_sent(false, out, SeqNumber(0), SeqNumber(out));
            assert_eq!(u.is_cwnd_limited(&window), limited);
        }
    }
}
