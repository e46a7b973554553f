//! Reno: RFC 5681.

use super::hystart_plus_plus::HyStartPlusPlus;
use super::line::{ABC, ABE, HYSTART_PLUS_PLUS};
use super::{Ack, Cause, CcWord, Congestion, CongestionControl};
use crate::{Config, CongestionState, Window};

/// Reno. It has no state besides the window, except for its options.
#[derive(Clone, Debug)]
pub(crate) struct Reno {
    abe: bool,
    hystart: Option<HyStartPlusPlus>,
    /// With `abc`: segments acknowledged towards the next one of linear growth.
    acked: Option<u32>,
}

impl CongestionControl for Reno {
    const NAME: &'static str = "reno";
    const SUMMARY: &'static str = "adds one segment per round trip, halves the window at congestion";
    const SOURCE: &'static str = "RFC 5681, section 3.1";
    const DIFFERS: &'static str = "reduces cwnd, not the data in flight (as Linux)";

    const WORDS: &'static [CcWord] = &[HYSTART_PLUS_PLUS, ABE, ABC];

    fn new(config: &Config) -> Self {
        let options = config.cc_options;
        Self {
            abe: options.abe,
            hystart: options.hystart_plus_plus.then(HyStartPlusPlus::new),
            acked: options.abc.then_some(0),
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if !ack.is_cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        let was_slow = window.in_slow_start();
        if was_slow {
            counted = match &mut self.hystart {
                Some(hystart) => hystart.grow(ack, window),
                None => window.slow_start(counted),
            };
        }
        if let Some(acked) = &mut self.acked {
            // RFC 3465, 2.1: one segment per window acknowledged. As in Linux 3.8, segments that slow start counted do
            // not count.
            if was_slow {
                *acked = 0;
                return;
            }
            *acked += if ack.state == CongestionState::Loss { 1 } else { ack.segments };
            if *acked >= window.cwnd {
                *acked -= window.cwnd;
                window.cwnd += 1;
            }
        } else if counted > 0 {
            window.increase(window.cwnd, counted); // equation 3: cwnd += SMSS · SMSS / cwnd, by segment
        }
    }

    /// Returns half of the window (equation 4). As in Linux it is half of the window, not of the segments in flight. At
    /// marks with `abe` it is RFC 8511, section 3.1: beta_ecn = 0.8.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if let Some(hystart) = &mut self.hystart {
            hystart.stop();
        }
        self.acked = self.acked.map(|_| 0);
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
    use crate::{CcOptions, Stack};
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

    /// Linux 3.10 counts ACKs. A window whose ACKs cover two segments each therefore grows by one in two round trips;
    /// with `abc` it grows by one in each. A congestion starts the count again.
    #[test]
    fn abc_counts_segments_where_the_stack_counts_acks() {
        for (abc, after) in [(false, 10), (true, 11)] {
            let config = Config {
                cc_options: CcOptions { abc, ..CcOptions::default() },
                stack: Stack::Linux3_10,
                ..Config::default()
            };
            let mut reno = Reno::new(&config);
            let mut window = Window { cwnd: 10, ssthresh: 2, ..Window::new(&config) };
            for n in 0..9 {
                if n == 4 {
                    reno.ssthresh(&Congestion { now: Instant::ZERO, cwnd: 10, cause: Cause::Loss });
                }
                assert_eq!(window.cwnd, 10, "{n}");
                reno.on_ack(&Ack { counted: 1, ..ack(2) }, &mut window);
            }
            assert_eq!(window.cwnd, after);
        }
    }

    /// RFC 3465, 2.1: one window acknowledged adds one segment. Guards against a count that loses the rest.
    #[test]
    fn abc_keeps_what_is_more_than_a_window() {
        let config =
            Config { cc_options: CcOptions { abc: true, ..CcOptions::default() }, ..Config::default() };
        for (segments, grows_with) in [(1, [10, 21]), (3, [4, 7]), (20, [1, 2])] {
            let mut reno = Reno::new(&config);
            let mut window = Window { cwnd: 10, ssthresh: 2, ..Window::new(&config) };
            let mut grown = [0; 2];
            for number in 1..=21 {
                let before = window.cwnd;
                reno.on_ack(&ack(segments), &mut window);
                if before < 12 && window.cwnd > before {
                    grown[before as usize - 10] = number;
                }
            }
            assert_eq!(grown, grows_with, "ACKs of {segments}");
        }
    }

    /// Without the word, slow start continues at any RTT. With it, a round at 80 ms and then one at 200 ms begin CSS.
    /// In CSS an ACK of two segments no longer counts for two.
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
