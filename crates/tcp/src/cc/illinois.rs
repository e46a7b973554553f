//! Illinois (Liu, Başar & Srikant 2006): Reno's rules, with an increase and a decrease that follow the mean queueing
//! delay of the last round trip. The window grows by up to ten segments while the queue is empty, and falls by an
//! eighth to a half at a loss.
//!
//! This is Linux's version, with its constants: fixed point of 1/128 for alpha and of 1/64 for beta. The smallest alpha
//! is 38/128; the paper has 0.3. Below 15 segments it behaves as Reno. A delay as low as d1 counts only after five
//! round trips of it (theta).

use super::{Ack, Congestion, CongestionControl};
use crate::{Config, CongestionState, SeqNumber, Window};
use goodqueue_units::Duration;

/// Section 3: alpha_min 0.3, alpha_max 10, in 1/128.
const ALPHA_ONE: u64 = 128;
const ALPHA_MIN: u64 = 3 * ALPHA_ONE / 10;
const ALPHA_MAX: u64 = 10 * ALPHA_ONE;
/// Section 3: beta_min 1/8, beta_max 1/2, in 1/64.
const BETA_ONE: u64 = 64;
const BETA_MIN: u64 = BETA_ONE / 8;
const BETA_MAX: u64 = BETA_ONE / 2;
/// Section 3: W_thresh, the window in segments below which it behaves as Reno.
const WINDOW_THRESHOLD: u32 = 15;
/// Round trips of low delay after which alpha is the largest again.
const THETA: u32 = 5;

#[derive(Clone, Debug)]
pub(crate) struct Illinois {
    alpha: u64,
    beta: u64,
    /// The delay was above d1.
    was_above: bool,
    /// Round trips with a delay below d1 since then.
    low_rounds: u32,
    round_end: SeqNumber,
    /// The sum of the RTT samples of this round trip.
    sum: Duration,
    samples: u64,
    base_rtt: Duration,
    max_rtt: Duration,
    /// SND.UNA after the last ACK.
    una: SeqNumber,
    mss: u32,
    /// Segments that the last ACK acknowledged, those included that SACKs had delivered before.
    acked: u32,
    /// A timeout came: a round trip begins.
    restarts: bool,
}

impl CongestionControl for Illinois {
    const NAME: &'static str = "illinois";
    const SUMMARY: &'static str =
        "adds up to ten segments per round trip while the queue is short; for large windows";
    const SOURCE: &'static str = "Liu, Başar & Srikant 2006; Linux's tcp_illinois";
    const DIFFERS: &'static str = "integer arithmetic in 1/128 and 1/64; Reno below 15 segments (as Linux)";

    fn new(config: &Config) -> Self {
        Self {
            alpha: ALPHA_MAX,
            beta: BETA_MAX,
            was_above: false,
            low_rounds: 0,
            round_end: config.initial_sequence,
            sum: Duration::ZERO,
            samples: 0,
            base_rtt: Duration::MAX,
            max_rtt: Duration::ZERO,
            una: config.initial_sequence + 1,
            mss: config.mss.max(1).into(),
            acked: 0,
            restarts: false,
        }
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        self.acked = ack.una.since(self.una).div_ceil(self.mss);
        self.una = ack.una;
        if core::mem::take(&mut self.restarts) {
            self.begin_round(ack.nxt);
        }
        let Some(rtt) = ack.rtt else { return };
        self.base_rtt = self.base_rtt.min(rtt);
        self.max_rtt = self.max_rtt.max(rtt);
        self.sum = self.sum + rtt;
        self.samples += 1;
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if ack.una > self.round_end {
            self.end_round(window.cwnd);
            self.begin_round(ack.nxt);
        }
        if !ack.is_cwnd_limited {
            return;
        }
        if window.in_slow_start() {
            window.slow_start(ack.counted);
            return;
        }
        // Equation 1: alpha segments per round trip. The ACK that ends a recovery counts with all that it acknowledges.
        window.counted += self.acked;
        let growth = u64::from(window.counted) * self.alpha / ALPHA_ONE;
        if growth >= u64::from(window.cwnd) {
            window.cwnd += (growth / u64::from(window.cwnd)) as u32;
            window.counted = 0;
        }
    }

    /// Returns W (1 − beta) (equation 1).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        let fall = u64::from(congestion.cwnd) * self.beta / BETA_ONE;
        (congestion.cwnd - fall as u32).max(2)
    }

    fn on_state(&mut self, state: CongestionState, _window: &mut Window) {
        if state == CongestionState::Loss {
            (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
            (self.was_above, self.low_rounds) = (false, 0);
            self.restarts = true;
        }
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("alpha_segments", self.alpha as f64 / ALPHA_ONE as f64);
        show("beta", self.beta as f64 / BETA_ONE as f64);
    }
}

impl Illinois {
    fn begin_round(&mut self, nxt: SeqNumber) {
        self.round_end = nxt;
        (self.sum, self.samples) = (Duration::ZERO, 0);
    }

    fn end_round(&mut self, cwnd: u32) {
        if cwnd < WINDOW_THRESHOLD {
            (self.alpha, self.beta) = (ALPHA_ONE, BETA_MAX);
        } else if let Some(mean) = self.sum.as_nanos().checked_div(1000 * self.samples) {
            // In microseconds, as in Linux: the steps below are coarse enough for the difference to show.
            let us = |span: Duration| span.as_nanos() / 1000;
            let most = us(self.max_rtt) - us(self.base_rtt);
            let mean = mean.saturating_sub(us(self.base_rtt));
            self.alpha = self.alpha_at(mean, most);
            self.beta = beta_at(mean, most);
        }
    }

    /// Returns alpha (section 3, f1): alpha_max up to d1 = d_max / 100, then kappa1 / (kappa2 + d), which is alpha_min
    /// at d_max.
    fn alpha_at(&mut self, mean: u64, most: u64) -> u64 {
        let low = most / 100;
        if mean <= low {
            if !self.was_above {
                return ALPHA_MAX;
            }
            self.low_rounds += 1;
            if self.low_rounds < THETA {
                return self.alpha; // wait for theta quiet round trips
            }
            (self.was_above, self.low_rounds) = (false, 0);
            return ALPHA_MAX;
        }
        self.was_above = true;
        let (span, above) = (most - low, mean - low);
        span * ALPHA_MAX / (span + above * (ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN)
    }
}

/// Returns beta (section 3, f2): beta_min up to d2 = d_max / 10, beta_max from d3 = 0.8 d_max on, and a straight line
/// between them.
fn beta_at(mean: u64, most: u64) -> u64 {
    let (low, high) = (most / 10, 8 * most / 10);
    if mean <= low {
        BETA_MIN
    } else if mean >= high || high <= low {
        BETA_MAX
    } else {
        (BETA_MIN * high - BETA_MAX * low + (BETA_MAX - BETA_MIN) * mean) / (high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Cause;
    use goodqueue_units::Instant;

    fn illinois() -> Illinois {
        Illinois::new(&Config::default())
    }

    /// Section 3 with d_max 100 ms: f1 is 10 up to 1 ms and 0.3 at 100 ms. Half way, at 50.5 ms, kappa1 and kappa2 give
    /// 10 / (1 + 0.5 · 9.7 / 0.3) = 0.58. Linux's 38/128 instead of 0.3 gives 0.5766.
    #[test]
    fn alpha_falls_from_ten_to_three_tenths() {
        let at = |mean| illinois().alpha_at(mean, 100_000) as f64 / 128.0;
        assert_eq!((at(0), at(1000)), (10.0, 10.0));
        assert!((at(50_500) - 0.5766).abs() < 0.01, "{}", at(50_500));
        assert!((at(100_000) - 38.0 / 128.0).abs() < 0.01, "{}", at(100_000));
    }

    /// Section 3 with d_max 100 ms: 1/8 up to 10 ms, 1/2 from 80 ms on, and 5/16 at 45 ms, half way between.
    #[test]
    fn beta_rises_from_an_eighth_to_a_half() {
        let at = |mean| beta_at(mean, 100_000);
        assert_eq!([at(0), at(10_000), at(45_000), at(80_000), at(100_000)], [8, 8, 20, 32, 32]);
    }

    #[test]
    fn after_delay_alpha_is_the_largest_again_only_after_five_quiet_round_trips() {
        let mut i = illinois();
        i.alpha = i.alpha_at(50_500, 100_000);
        let delayed = i.alpha;
        for _ in 0..4 {
            i.alpha = i.alpha_at(0, 100_000);
            assert_eq!(i.alpha, delayed);
        }
        assert_eq!(i.alpha_at(0, 100_000), ALPHA_MAX);
    }

    /// A window of 100 ACKs with an empty queue adds ten segments, and the fall is an eighth. Below 15 segments it is
    /// as Reno.
    #[test]
    fn the_window_follows_alpha_and_beta() {
        let mut i = illinois();
        (i.base_rtt, i.max_rtt) = (Duration::from_millis(100), Duration::from_millis(200));
        let ack = |una, rtt: u64| {
            let (una, nxt) = (SeqNumber(una), SeqNumber(1_000_000));
            Ack { una, nxt, rtt: Some(Duration::from_millis(rtt)), ..Ack::of(Instant::ZERO, 1) }
        };
        let mut w = Window { cwnd: 100, ssthresh: 2, ..Window::new(&Config::default()) };
        let mut take = |i: &mut Illinois, una| {
            i.on_delivered(&ack(una, 100), &mut w);
            i.on_ack(&ack(una, 100), &mut w);
            w.cwnd
        };
        take(&mut i, 1);
        let cwnd = (1..=100).map(|nth| take(&mut i, 1 + 1448 * nth)).last();
        // Each tenth ACK adds one segment. As the window grows, one ACK more is needed: 10, 21, 32, 43, 54, 65, 76, 87,
        // 98.
        assert_eq!(cwnd, Some(109));
        // Two ACKs counted since then. One that ends a recovery acknowledges 20 segments, which are two of growth.
        assert_eq!(take(&mut i, 1 + 1448 * 120), 111);
        let at =
            |i: &mut Illinois, cwnd| i.ssthresh(&Congestion { now: Instant::ZERO, cwnd, cause: Cause::Loss });
        assert_eq!(at(&mut i, 80), 70);
        i.end_round(14);
        assert_eq!((i.alpha, at(&mut i, 14)), (ALPHA_ONE, 7));
    }

    /// In Linux a timeout forgets the delays; a recovery does not.
    #[test]
    fn a_timeout_forgets_the_delays() {
        for (state, known) in
            [(CongestionState::Recovery, (ALPHA_MAX, 8)), (CongestionState::Loss, (ALPHA_ONE, BETA_MAX))]
        {
            let mut i = illinois();
            (i.alpha, i.beta) = (ALPHA_MAX, 8);
            i.on_state(state, &mut Window::new(&Config::default()));
            assert_eq!((i.alpha, i.beta), known, "{state:?}");
        }
    }
}
