//! Reno: RFC 5681.

use super::hystart_plus_plus::HyStartPlusPlus;
use super::line::{ABE, HYSTART_PLUS_PLUS};
use super::{Ack, Cause, CcWord, Congestion, CongestionControl};
use crate::{Config, Window};

/// Reno has no state beside the window, but for its options.
#[derive(Clone, Debug)]
pub(crate) struct Reno {
    abe: bool,
    hystart: Option<HyStartPlusPlus>,
}

impl CongestionControl for Reno {
    const NAME: &'static str = "reno";
    const SUMMARY: &'static str = "one segment a round trip, half the window at congestion";
    const SOURCE: &'static str = "RFC 5681, section 3.1";
    const DIFFERS: &'static str = "falls from the window, not from what is in flight (as Linux)";

    const WORDS: &'static [CcWord] = &[HYSTART_PLUS_PLUS, ABE];

    fn new(config: &Config) -> Self {
        let options = config.cc_options;
        Self { abe: options.abe, hystart: options.hystart_plus_plus.then(HyStartPlusPlus::new) }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        if window.in_slow_start() {
            counted = match &mut self.hystart {
                Some(hystart) => hystart.grow(ack, window),
                None => window.slow_start(counted),
            };
        }
        if counted > 0 {
            window.increase(window.cwnd, counted); // equation 3: cwnd += SMSS · SMSS / cwnd, by segment
        }
    }

    /// Equation 4, of the window rather than of what is in flight, as Linux has it; at marks, RFC 8511, section 3.1:
    /// beta_ecn = 0.8.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if let Some(hystart) = &mut self.hystart {
            hystart.stop();
        }
        let cwnd = congestion.cwnd;
        let kept = if self.abe && congestion.cause == Cause::Ecn {
            (u64::from(cwnd) * 4 / 5) as u32
        } else {
            cwnd / 2
        };
        kept.max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CcOptions;
    use goodqueue_units::{Duration, Instant};

    fn reno(options: CcOptions) -> Reno {
        Reno::new(&Config { cc_options: options, ..Config::default() })
    }

    fn ack(segments: u32) -> Ack {
        Ack::of(Instant::ZERO, segments)
    }

    #[test]
    fn a_window_of_acks_doubles_in_slow_start_and_adds_one_after_it() {
        let mut window = Window::new(&Config { initial_ssthresh: 20, ..Config::default() });
        for _ in 0..5 {
            reno(CcOptions::default()).on_ack(&ack(2), &mut window);
        }
        assert_eq!(window.cwnd, 20);
        for _ in 0..10 {
            reno(CcOptions::default()).on_ack(&ack(2), &mut window);
        }
        assert_eq!(window.cwnd, 21);
    }

    #[test]
    fn an_ack_across_the_threshold_counts_on_both_sides() {
        let mut window = Window::new(&Config { initial_ssthresh: 11, ..Config::default() });
        reno(CcOptions::default()).on_ack(&ack(5), &mut window);
        assert_eq!((window.cwnd, window.counted), (11, 4));
    }

    #[test]
    fn congestion_halves_and_with_abe_marks_take_a_fifth() {
        let at = |abe, cause, cwnd| {
            let options = CcOptions { abe, ..CcOptions::default() };
            reno(options).ssthresh(&Congestion { now: Instant::ZERO, cwnd, cause })
        };
        for cause in [Cause::Loss, Cause::Ecn, Cause::Timeout] {
            assert_eq!((at(false, cause, 21), at(false, cause, 3), at(false, cause, 1)), (10, 2, 2));
        }
        assert_eq!(
            (at(true, Cause::Ecn, 100), at(true, Cause::Ecn, 21), at(true, Cause::Ecn, 2)),
            (80, 16, 2)
        );
        assert_eq!((at(true, Cause::Loss, 100), at(true, Cause::Timeout, 100)), (50, 50));
    }

    /// Without the word a slow start at any RTT goes on; with it, a round at 80 ms and one at 200 ms begin CSS, in which an
    /// ACK of two segments no longer counts for two.
    #[test]
    fn hystart_slows_slow_start_down_where_it_is_asked_for() {
        for (hystart_plus_plus, after) in [(false, 44), (true, 42)] {
            let options = CcOptions { hystart_plus_plus, ..CcOptions::default() };
            let (mut reno, mut window) = (reno(options), Window::new(&Config::default()));
            for (una, rtt) in (1..=8).map(|n| (n, 80)).chain((1001..=1009).map(|n| (n, 200))) {
                let rtt = Some(Duration::from_millis(rtt));
                let (una, nxt) =
                    (crate::SeqNumber(una), crate::SeqNumber(if una > 1000 { 2000 } else { 1000 }));
                reno.on_ack(&Ack { una, nxt, rtt, ..ack(2) }, &mut window);
            }
            assert_eq!(window.cwnd, after);
        }
    }
}
