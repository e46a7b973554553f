//! RACK's reordering window (RFC 8985, section 6.2): how much later than its successors a segment may arrive.

use crate::rtt::RttEstimator;
use goodqueue_units::{Duration, Instant};

/// RACK.reo_wnd_persist, in recoveries (RFC 8985, section 5.2).
const PERSIST: u8 = 16;
/// DupThresh until reordering is seen (RFC 6675, section 2).
pub(crate) const DUP_THRESH: u32 = 3;
/// The largest DupThresh (Linux's `tcp_max_reordering`).
const MAX_REORDERING: u32 = 300;

/// The reordering seen so far, and the window that follows from it.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// RACK.reo_wnd_mult.
    steps: u8,
    /// Recoveries until the window falls back to one step.
    persist: u8,
    /// When the window last grew: DSACKs do not count until a segment arrives that left after this (RACK.dsack_round).
    widened_at: Instant,
    /// RACK.reordering_seen.
    seen: bool,
    /// The longest lateness seen, in segments. At least [`DUP_THRESH`].
    degree: u32,
    /// No segment was ever later than [`DUP_THRESH`].
    in_order: bool,
}

impl Rack {
    pub(crate) const fn new() -> Self {
        Self {
            steps: 1,
            persist: 0,
            widened_at: Instant::ZERO,
            seen: false,
            degree: DUP_THRESH,
            in_order: true,
        }
    }

    /// Returns DupThresh: how many segments must be SACKed before a segment below them counts as lost.
    #[inline]
    pub(crate) fn degree(&self) -> u32 {
        self.degree
    }

    /// Takes note that a segment that was sent once arrived after `segments` later ones (step 3).
    #[cold]
    pub(crate) fn on_reordering(&mut self, segments: u32) {
        self.seen = true;
        self.in_order &= segments <= self.degree;
        self.degree = self.degree.max(segments.min(MAX_REORDERING));
    }

    /// Returns whether reordering was seen.
    pub(crate) fn has_seen_reordering(&self) -> bool {
        self.seen
    }

    /// Returns whether no segment was ever later than DupThresh allows. If so, each segment that is missing below a
    /// SACKed one is lost.
    pub(crate) fn is_in_order(&self) -> bool {
        self.in_order
    }

    /// Resets DupThresh to 3 if at least 3 segments were SACKed when the timer fired: there was loss, not reordering.
    pub(crate) fn on_timeout(&mut self, sacked_out: u32) {
        if sacked_out >= DUP_THRESH {
            self.degree = DUP_THRESH;
        }
    }

    /// Takes note that a retransmission was needless, as a DSACK told, and that since then segments were delivered, of
    /// which the last one to leave left at `sent_at`. Widens the window by one step per round trip (step 4; Linux
    /// `tcp_rack_update_reo_wnd`).
    pub(crate) fn on_needless(&mut self, now: Instant, sent_at: Instant) {
        if sent_at >= self.widened_at {
            self.widened_at = now;
            self.steps = self.steps.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Takes note that a recovery is over, and that there is no reduction to undo.
    pub(crate) fn on_recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Takes note that all retransmissions of a recovery came twice.
    pub(crate) fn on_disproved(&mut self) {
        self.persist = PERSIST.min(self.persist + 1);
    }

    /// Returns the reordering window (step 4, RACK_update_reo_wnd) of a sender that is `recovering` or has `sacked_out`
    /// segments SACKed.
    pub(crate) fn window(&self, recovering: bool, sacked_out: u32, rtt: &RttEstimator) -> Duration {
        if !self.seen && (recovering || sacked_out >= self.degree) {
            return Duration::ZERO;
        }
        match rtt.srtt() {
            Some(srtt) => (rtt.min() / 4 * u64::from(self.steps)).min(srtt),
            None => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeqNumber;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Returns an estimator with min_RTT 40 ms and SRTT 60 ms: (7·40 + 200)/8.
    fn rtt() -> RttEstimator {
        let mut rtt = RttEstimator::new(Duration::ZERO, Duration::ZERO);
        rtt.sample(ms(40), ms(40), SeqNumber(1), SeqNumber(2));
        rtt.sample(ms(200), ms(200), SeqNumber(1), SeqNumber(2));
        assert_eq!(rtt.srtt(), Some(ms(60)));
        rtt
    }

    /// Guards against a wait before the fast retransmit on a path that never reordered, or no wait with two segments
    /// SACKed.
    #[test]
    fn without_reordering_dupthresh_or_recovery_close_the_window() {
        let rack = Rack::new();
        assert_eq!(rack.window(false, 2, &rtt()), ms(10));
        assert_eq!(rack.window(false, 3, &rtt()), ms(0));
        assert_eq!(rack.window(true, 0, &rtt()), ms(0));
        assert_eq!(rack.window(false, 1, &RttEstimator::new(Duration::ZERO, Duration::ZERO)), ms(0));
    }

    /// RFC 8985, 6.2, step 4: a quarter of min_RTT more per round with a DSACK, at most SRTT, for 16 recoveries. A
    /// round is over when a segment arrives that left after the window last grew.
    #[test]
    fn dsacks_widen_the_window_once_a_round_for_sixteen_recoveries() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut rack = Rack::new();
        rack.on_reordering(2);
        rack.on_needless(at(150), at(100));
        assert_eq!(rack.window(true, 9, &rtt()), ms(20));
        rack.on_needless(at(190), at(149));
        assert_eq!(rack.window(true, 9, &rtt()), ms(20), "the same round");
        for round in 2..9 {
            rack.on_needless(at(round * 200), at(round * 200 - 50));
        }
        assert_eq!(rack.window(true, 9, &rtt()), ms(60), "SRTT");
        for _ in 0..15 {
            rack.on_recovered();
        }
        rack.on_disproved();
        rack.on_recovered(); // a needless recovery lets one more pass
        assert_eq!(rack.window(true, 9, &rtt()), ms(60));
        rack.on_recovered();
        assert_eq!(rack.window(true, 9, &rtt()), ms(10), "the sixteenth; reordering is remembered");
    }

    #[test]
    fn dupthresh_follows_the_reordering_seen_up_to_300_and_a_timeout_takes_it_back() {
        let mut rack = Rack::new();
        rack.on_reordering(2);
        assert_eq!(rack.degree(), 3);
        rack.on_reordering(12);
        rack.on_reordering(5);
        assert_eq!(rack.degree(), 12);
        rack.on_reordering(4000);
        assert_eq!(rack.degree(), 300);
        rack.on_timeout(2);
        assert_eq!(rack.degree(), 300, "too little was SACKed to tell");
        rack.on_timeout(3);
        assert_eq!(rack.degree(), 3);
    }
}
