//! HyStart++ (RFC 9406): leave slow start when RTTs rise, but first check in a slower slow start (CSS) whether the RTTs
//! stay high. Names are those of section 4.2; L is for a sender without pacing.

use super::Ack;
use crate::{SeqNumber, Window};
use goodqueue_units::Duration;

/// Section 4.3.
const MIN_RTT_THRESH: Duration = Duration::from_millis(4);
const MAX_RTT_THRESH: Duration = Duration::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;
const L: u32 = 8;

#[derive(Clone, Debug)]
pub(super) struct HyStartPlusPlus {
    window_end: SeqNumber,
    current_round_min: Duration,
    last_round_min: Duration,
    samples: u32,
    /// In CSS: cssBaselineMinRtt, and the number of rounds begun.
    css: Option<(Duration, u32)>,
    /// The first slow start is over. Later ones end at ssthresh (section 4.3, last paragraph).
    over: bool,
}

impl HyStartPlusPlus {
    pub(super) const fn new() -> Self {
        Self {
            window_end: SeqNumber(0),
            current_round_min: Duration::MAX,
            last_round_min: Duration::MAX,
            samples: 0,
            css: None,
            over: false,
        }
    }

    /// Stops HyStart++ for good: congestion has ended the first slow start.
    pub(super) fn stop(&mut self) {
        self.over = true;
    }

    /// Grows the window by an ACK in slow start. Returns the part of its count that is left for congestion avoidance.
    pub(super) fn grow(&mut self, ack: &Ack, window: &mut Window) -> u32 {
        if self.over {
            return window.slow_start(ack.counted);
        }
        if ack.una > self.window_end {
            self.begin_round(ack, window);
        }
        let counted = ack.counted.min(L);
        let rest = if self.css.is_some() {
            window.increase(CSS_GROWTH_DIVISOR, counted);
            0
        } else {
            window.slow_start(counted)
        };
        if let Some(rtt) = ack.rtt {
            self.current_round_min = self.current_round_min.min(rtt);
            self.samples += 1;
            if self.samples >= N_RTT_SAMPLE {
                self.judge();
            }
        }
        rest
    }

    fn begin_round(&mut self, ack: &Ack, window: &mut Window) {
        self.window_end = ack.nxt;
        self.last_round_min = self.current_round_min;
        self.current_round_min = Duration::MAX;
        self.samples = 0;
        if let Some((_, rounds)) = &mut self.css {
            *rounds += 1;
            if *rounds > CSS_ROUNDS {
                window.ssthresh = window.cwnd.max(2); // RFC 5681, (4): a timeout may have left one segment
                self.over = true;
            }
        }
    }

    fn judge(&mut self) {
        match self.css {
            None if self.last_round_min != Duration::MAX => {
                let step = (self.last_round_min / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH);
                if self.current_round_min >= self.last_round_min + step {
                    self.css = Some((self.current_round_min, 1)); // the round under way is the first
                }
            }
            // The rise was spurious: back to slow start.
            Some((baseline, _)) if self.current_round_min < baseline => self.css = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;
    use goodqueue_units::Instant;

    /// A timeout that turns out to be needless leaves the first slow start under way, with one segment.
    #[test]
    fn the_threshold_is_two_segments_at_least() {
        let mut h =
            HyStartPlusPlus { css: Some((Duration::from_millis(50), CSS_ROUNDS)), ..HyStartPlusPlus::new() };
        let mut window = Window { cwnd: 1, ..Window::new(&Config::default()) };
        h.begin_round(&Ack::of(Instant::ZERO, 1), &mut window);
        assert_eq!((window.ssthresh, h.over), (2, true));
    }

    /// Plays rounds of `acks` ACKs of two segments, each round with one RTT. Returns the window after each round.
    fn run(h: &mut HyStartPlusPlus, window: &mut Window, rounds: &[(u32, u64)]) -> std::vec::Vec<u32> {
        let mut una = h.window_end.0;
        let mut after = std::vec::Vec::new();
        for &(acks, rtt) in rounds {
            let nxt = una + 1000;
            for n in 0..acks {
                let ack = Ack {
                    una: SeqNumber(una + 1 + n),
                    nxt: SeqNumber(nxt),
                    rtt: Some(Duration::from_millis(rtt)),
                    ..Ack::of(Instant::ZERO, 2)
                };
                h.grow(&ack, window);
            }
            una = nxt;
            after.push(window.cwnd);
        }
        after
    }

    /// RTT 80 ms: the step is 10 ms. At 89 ms slow start continues. At 90 ms the eighth sample begins CSS, in which
    /// eight segments add two. The fifth CSS round is the last: the next round sets the threshold.
    #[test]
    fn a_rise_by_an_eighth_leads_through_five_rounds_of_css_to_congestion_avoidance() {
        let (mut h, mut window) = (HyStartPlusPlus::new(), Window::new(&Config::default()));
        assert_eq!(run(&mut h, &mut window, &[(8, 80), (8, 89)]), [26, 42]);
        // This round's step is 89/8 = 11.1 ms above 89: 101 ms. The eighth ACK still counts in full.
        assert_eq!(run(&mut h, &mut window, &[(8, 101)]), [58]);
        assert!(h.css.is_some() && window.in_slow_start());
        // Four more rounds of CSS at a quarter: 16 segments add four.
        assert_eq!(run(&mut h, &mut window, &[(8, 101); 4]), [62, 66, 70, 74]);
        assert!(window.in_slow_start());
        run(&mut h, &mut window, &[(1, 101)]);
        assert_eq!((window.ssthresh, window.in_slow_start()), (74, false));
    }

    /// Section 4.2: an RTT below the baseline says that the rise was spurious.
    #[test]
    fn an_rtt_that_falls_again_resumes_slow_start() {
        let (mut h, mut window) = (HyStartPlusPlus::new(), Window::new(&Config::default()));
        run(&mut h, &mut window, &[(8, 80), (8, 95)]);
        assert_eq!(h.css, Some((Duration::from_millis(95), 1)));
        run(&mut h, &mut window, &[(8, 94)]);
        assert_eq!(h.css, None);
        let before = window.cwnd;
        // Now the last round's minimum is 94 ms; with its step the limit is 105.75 ms.
        assert_eq!(run(&mut h, &mut window, &[(8, 95)]), [before + 16]);
    }

    /// Seven samples are too few. One ACK of many segments counts for eight (L).
    #[test]
    fn few_samples_do_not_judge_and_a_stretched_ack_counts_for_eight() {
        let (mut h, mut window) = (HyStartPlusPlus::new(), Window::new(&Config::default()));
        run(&mut h, &mut window, &[(8, 80), (7, 200)]);
        assert_eq!(h.css, None);
        let before = window.cwnd;
        h.grow(&Ack::of(Instant::ZERO, 40), &mut window);
        assert_eq!(window.cwnd, before + 8);
    }

    /// The loss has shown what the path carries. Guards against a later slow start that a rise of the RTT from 80 to
    /// 120 ms slows down.
    #[test]
    fn after_a_congestion_slow_start_is_plain() {
        let (mut h, mut window) = (HyStartPlusPlus::new(), Window::new(&Config::default()));
        h.stop();
        assert_eq!(run(&mut h, &mut window, &[(8, 80), (8, 120), (8, 120)]), [26, 42, 58]);
    }
}
