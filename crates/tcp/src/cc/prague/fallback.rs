//! The fallback at a bottleneck with classic ECN (B. Briscoe, A. Ahmed: TCP Prague Fall-back on Detection of a Classic
//! ECN AQM, arXiv:1911.00710), as Linux's modules 0.6 and 0.7 have it with `prague_ecn_fallback=1`.
//!
//! A classic AQM lets a queue grow, so the RTT varies more and lies further above its least value than behind an L4S
//! AQM. A score follows both, once per update of alpha. From the score's upper half on, a mark takes at least 0.31 of
//! the window, as it does with classic controls.
//!
//! **Module 0.7 takes nearly every path for a classic one.** It stores alpha in 1/2^24, and module 0.6 in 1/2^20. The
//! score has alpha's unit, but the two reference queues kept the unit of 1/2^20. So the reference variation is 1.5 µs
//! instead of 750 µs, and the reference depth 1.6 µs instead of 2 ms.
//!
//! Not implemented: the least RTT is that of the whole connection, not that of Linux's last 300 s.

use super::ONE_SHIFT;
use goodqueue_units::Duration;

/// The longest averages of the RTT and of its deviation, as shifts: 2^18 and 2^19 samples.
const MOST_SRTT_SHIFT: u32 = 18;
/// 2^19.5: what is left of a logarithm before the first round, for averages of 2^19 samples.
const FIRST_REST: u64 = 741_455;
/// 2^18: what makes the rounding of a logarithm fair, for averages of 2^19 samples.
const FAIR: u64 = 1 << 18;
/// The binary logarithms of the reference variation, 750 µs, and of the reference depth, 2 ms, in 1/2^20.
const VARIATION_LG: u64 = 10_014_683;
const DEPTH_LG: u64 = 11_498_458;
/// The score up to which a path is one of L4S, as a multiple of alpha's 1.
const STICKY: u64 = 8;

/// The detection of one connection.
#[derive(Clone, Debug)]
pub(super) struct Fallback {
    /// The unit of the score, as a shift.
    unit_shift: u32,
    /// The averages run over 2^`shift` samples, and twice that for the deviation.
    shift: u32,
    /// The average of the RTT in microseconds, times 2^`shift`. 0 before the first sample.
    srtt: u64,
    /// The mean deviation in microseconds, times 2^(`shift` + 1).
    deviation: u64,
    least_rtt_us: u64,
    /// What the last round's logarithms rounded away.
    deviation_rest: u64,
    depth_rest: u64,
    /// From 0, surely L4S, to 17 times alpha's 1, surely classic.
    score: u64,
    /// The slow-start threshold after the last ACK.
    ssthresh: u32,
}

impl Fallback {
    pub(super) fn new(is_module_0_7: bool) -> Self {
        Self {
            unit_shift: if is_module_0_7 { 24 } else { 20 },
            shift: MOST_SRTT_SHIFT,
            srtt: 0,
            deviation: 1 << (MOST_SRTT_SHIFT + 1),
            least_rtt_us: u64::MAX,
            deviation_rest: FIRST_REST,
            depth_rest: FIRST_REST >> 1,
            score: 0,
            ssthresh: u32::MAX,
        }
    }

    /// Takes the RTT of the handshake.
    pub(super) fn open(&mut self, rtt: Duration) {
        let rtt_us = rtt.as_nanos() / 1000;
        (self.srtt, self.least_rtt_us) = (rtt_us << self.shift, rtt_us);
    }

    /// Takes the RTT of an ACK's last segment.
    pub(super) fn take(&mut self, rtt: Duration, ssthresh: u32) {
        let rtt_us = rtt.as_nanos() / 1000;
        self.ssthresh = ssthresh;
        self.least_rtt_us = self.least_rtt_us.min(rtt_us);
        if self.srtt == 0 {
            (self.srtt, self.deviation) = (rtt_us << self.shift, 1 << (self.shift + 1));
        } else {
            let average_us = self.srtt >> self.shift;
            self.srtt = self.srtt + rtt_us - average_us;
            self.deviation =
                self.deviation + rtt_us.abs_diff(average_us) - (self.deviation >> (self.shift + 1));
        }
        self.srtt = self.srtt.max(1);
    }

    /// Adapts the averages to the window, at a congestion: w^1.5 samples are some round trips of a classic control.
    pub(super) fn rescale(&mut self) {
        let lg = self.ssthresh.max(1).ilog2();
        let shift = (lg + lg / 2 + 1).min(MOST_SRTT_SHIFT);
        for value in [&mut self.srtt, &mut self.deviation, &mut self.depth_rest, &mut self.deviation_rest] {
            *value = if shift > self.shift {
                *value << (shift - self.shift)
            } else {
                *value >> (self.shift - shift)
            };
        }
        self.shift = shift;
    }

    /// Moves the score by half of the logarithm of the variation, and by half of the depth's above its reference.
    pub(super) fn end_round(&mut self) {
        let average_us = self.srtt >> self.shift;
        if average_us == 0 || self.least_rtt_us == u64::MAX {
            return;
        }
        let fair = FAIR >> (MOST_SRTT_SHIFT - self.shift);
        let deviation_us = self.deviation >> (self.shift + 1);
        let variation =
            lg(deviation_us, &mut self.deviation_rest, fair, self.shift + 1) << (self.unit_shift - 1);
        let mut score = (self.score + variation).saturating_sub(VARIATION_LG / 2);
        if average_us > self.least_rtt_us {
            let depth = lg(average_us - self.least_rtt_us, &mut self.depth_rest, fair / 2, self.shift);
            score += (depth << (self.unit_shift - 1)).saturating_sub(DEPTH_LG / 2);
        }
        self.score = score.min((2 * STICKY + 1) << self.unit_shift);
    }

    /// Returns the score, where 1 is alpha's 1.
    pub(super) fn classic(&self) -> f64 {
        self.score as f64 / (1_u64 << self.unit_shift) as f64
    }

    /// Returns the least alpha by which a mark reduces the window: 0 on a path of L4S, 0.625 on a classic one.
    pub(super) fn least_alpha(&self) -> u64 {
        let (sticky, one) = (STICKY << self.unit_shift, 1 << self.unit_shift);
        let over = self.score.saturating_sub(sticky).min(one);
        (over / 2 + over / 8) >> (self.unit_shift - ONE_SHIFT)
    }
}

/// Returns the whole binary logarithm of `value`, times what earlier ones rounded away. `rest` keeps what this one
/// does.
fn lg(value: u64, rest: &mut u64, fair: u64, shift: u32) -> u64 {
    let scaled = value * *rest + fair;
    let lg = scaled.checked_ilog2().unwrap_or(0).max(shift) - shift;
    *rest = scaled >> lg;
    lg.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the score after `rounds` of ten samples each, which are `queue_us` above 10 ms, half of them twice that.
    fn score_after(rounds: u32, queue_us: u64, is_module_0_7: bool) -> f64 {
        let mut fallback = Fallback::new(is_module_0_7);
        fallback.open(Duration::from_millis(10));
        fallback.ssthresh = 40;
        fallback.rescale();
        for round in 0..rounds * 10 {
            let us = 10_000 + queue_us * u64::from(1 + round % 2);
            fallback.take(Duration::from_micros(us), 40);
            if round % 10 == 9 {
                fallback.end_round();
            }
        }
        fallback.classic()
    }

    /// A queue of 100 to 200 µs varies by less than 750 µs. One of 5 to 10 ms varies by more and is deeper than 2 ms.
    #[test]
    fn a_deep_queue_that_varies_is_classic_and_a_short_one_is_not() {
        assert_eq!(score_after(400, 100, false), 0.0);
        assert_eq!(score_after(400, 5000, false), 17.0);
    }

    /// Module 0.7 compares with 1.5 µs.
    #[test]
    fn module_0_7_takes_a_short_queue_for_a_classic_one() {
        assert_eq!(score_after(400, 100, true), 17.0);
    }

    /// lg 600 is 9.229: its whole part is 9 or 10, and over many rounds 9.23 on average.
    #[test]
    fn a_logarithm_keeps_what_it_rounds_away() {
        let mut rest = FIRST_REST;
        let sum: u64 = (0..1000).map(|_| lg(600, &mut rest, FAIR, 19)).sum();
        assert!((9225..9235).contains(&sum), "{sum}");
    }

    /// At 8 times alpha's 1 nothing changes, at 8.5 alpha is at least 0.3125, and from 9 on 0.625.
    #[test]
    fn the_least_alpha_follows_the_score() {
        for is_module_0_7 in [false, true] {
            let mut fallback = Fallback::new(is_module_0_7);
            let alphas = [0, 16, 17, 18, 34].map(|halves| {
                fallback.score = halves << (fallback.unit_shift - 1);
                fallback.least_alpha()
            });
            assert_eq!(alphas, [0, 0, 327_680, 655_360, 655_360]);
        }
    }
}
