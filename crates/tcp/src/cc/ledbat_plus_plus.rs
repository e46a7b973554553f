//! LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-06): Windows' LEDBAT, by RTTs, with cures for what failed in practice.
//!
//! Sections and constants are those of draft -01. Of draft -06 (January 2026) only the abstract was read. It names the
//! same four cures.
//!
//! - 4.1: slow start is scaled by the gain, and ends at 3/4 of the target.
//! - 4.2: the gain makes it slower than Reno on short paths.
//! - 4.3: multiplicative decrease above the target.
//! - 4.4: slowdowns to two segments let the queue drain, so that the base RTT is seen.
//! - 4.5: the target is 60 ms.
//!
//! Base and filter are LEDBAT's, with RTTs instead of one-way delays.

use super::ledbat::{Delays, SEGMENT, add};
use super::{Ack, Congestion, CongestionControl};
use crate::{Config, Window};
use goodqueue_units::{Duration, Instant};

/// The target of the queueing delay (4.5).
const TARGET: Duration = Duration::from_millis(60);
/// The largest value of 1 / GAIN (4.2).
const MOST_SLOWER: u64 = 16;
/// "Constant" of 4.3.
const DECREASE: i64 = 1;
const MIN_CWND: u32 = 2;
/// RTTs from the end of slow start to the first slowdown, and RTTs for which the window stays at two (4.4).
const SLOWDOWN_RTTS: u64 = 2;
/// The time to the next slowdown, as a multiple of the length of the last one (4.4): a slowdown costs at most a tenth
/// of the capacity.
const SLOWDOWN_SHARE: u64 = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    SlowStart,
    /// Congestion avoidance, until the next slowdown.
    Steady {
        until: Instant,
    },
    /// The window is two segments. Afterwards it grows back to `to`.
    Frozen {
        since: Instant,
        to: u32,
    },
    Regrowing {
        since: Instant,
    },
}

#[derive(Clone, Debug)]
pub(crate) struct LedbatPlusPlus {
    delays: Delays<Duration>,
    fraction: i64,
    phase: Phase,
}

impl CongestionControl for LedbatPlusPlus {
    const NAME: &'static str = "ledbat++";
    const SUMMARY: &'static str = "background transfers as in Windows: keeps 60 ms of queue, and slows down now and then to measure the empty path";
    const SOURCE: &'static str = "draft-irtf-iccrg-ledbat-plus-plus-06";
    const DIFFERS: &'static str =
        "constants as in draft -01; the current RTT is the smallest of four samples";

    fn new(_config: &Config) -> Self {
        Self { delays: Delays::new(Duration::ZERO), fraction: 0, phase: Phase::SlowStart }
    }

    /// Begins with two segments (4.1).
    fn on_open(&mut self, _now: Instant, _rtt: Option<Duration>, window: &mut Window) {
        window.cwnd = window.cwnd.min(MIN_CWND);
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.delays.sample(ack.now, rtt);
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let (base, rtt) = self.delays.base_and_current().unwrap_or((TARGET * 2, TARGET * 2));
        let queueing = Duration::from_nanos(rtt.as_nanos() - base.as_nanos());
        match self.phase {
            Phase::SlowStart if queueing > TARGET * 3 / 4 => {
                window.ssthresh = window.cwnd.max(MIN_CWND); // after a timeout the window is one segment
                self.phase = Phase::Steady { until: ack.now + rtt * SLOWDOWN_RTTS };
            }
            Phase::SlowStart if window.in_slow_start() => self.slow_start(base, ack, window),
            Phase::SlowStart => self.phase = Phase::Steady { until: ack.now + rtt * SLOWDOWN_RTTS }, // after a loss
            Phase::Steady { until } if ack.now >= until => {
                self.phase = Phase::Frozen { since: ack.now, to: window.cwnd.max(MIN_CWND) };
                (window.cwnd, self.fraction) = (MIN_CWND, 0);
            }
            Phase::Steady { .. } => self.steady(base, queueing, ack, window),
            Phase::Frozen { since, .. } if ack.now.since(since) < rtt * SLOWDOWN_RTTS => {
                window.cwnd = MIN_CWND
            }
            Phase::Frozen { since, to } => {
                window.ssthresh = to;
                self.phase = Phase::Regrowing { since };
            }
            Phase::Regrowing { .. } if window.in_slow_start() => self.slow_start(base, ack, window),
            Phase::Regrowing { since } => {
                let took = ack.now.since(since);
                self.phase = Phase::Steady { until: ack.now + took * SLOWDOWN_SHARE };
            }
        }
    }

    /// Returns half of the window, as standard TCP does (4.3, last paragraph).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        (congestion.cwnd / 2).max(MIN_CWND)
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some((base, rtt)) = self.delays.base_and_current() {
            show("base_rtt_ms", base.as_millis_f64());
            show("queueing_delay_ms", rtt.as_millis_f64() - base.as_millis_f64());
        }
    }
}

/// Returns 1 / GAIN = min(16, ceil(2 TARGET / base)) (4.2).
fn slower(base: Duration) -> i64 {
    let ratio = (2 * TARGET.as_nanos()).div_ceil(base.as_nanos().max(1));
    ratio.clamp(1, MOST_SLOWER) as i64
}

impl LedbatPlusPlus {
    /// Adds GAIN segments per segment acknowledged (4.1).
    fn slow_start(&mut self, base: Duration, ack: &Ack, window: &mut Window) {
        if ack.is_cwnd_limited {
            add(window, &mut self.fraction, i64::from(ack.counted) * SEGMENT / slower(base));
            window.cwnd = window.cwnd.min(window.ssthresh);
        }
    }

    /// Adds GAIN segments per round trip up to the target, and above it max(GAIN − Constant · W · (delay / TARGET − 1),
    /// −W / 2) (4.3).
    fn steady(&mut self, base: Duration, queueing: Duration, ack: &Ack, window: &mut Window) {
        let cwnd = i64::from(window.cwnd);
        let gain = SEGMENT / slower(base);
        let (delay, target) = (queueing.as_nanos() as i64 / 1000, TARGET.as_nanos() as i64 / 1000);
        // From about 1.5 times the target on, the bound −W / 2 holds. The clamp only keeps the numbers small.
        let over = DECREASE * cwnd * SEGMENT * (delay - target).clamp(0, target) / target;
        let round_trip = (gain - over).max(-cwnd * SEGMENT / 2);
        if round_trip > 0 && !ack.is_cwnd_limited {
            return;
        }
        add(window, &mut self.fraction, round_trip * i64::from(ack.counted).min(cwnd) / cwnd);
        window.cwnd = window.cwnd.max(MIN_CWND);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn window(cwnd: u32, ssthresh: u32) -> Window {
        Window { cwnd, ssthresh, ..Window::new(&Config::default()) }
    }

    /// 4.2 by hand: 120 ms gives Reno's speed, 119 ms a half of it, 20 ms a sixth, 1 ms a sixteenth.
    #[test]
    fn the_gain_is_smaller_on_shorter_paths() {
        assert_eq!([500, 120, 119, 20, 1].map(|base| slower(ms(base))), [1, 1, 2, 6, 16]);
    }

    /// 4.3 by hand for a window of 40 and a base of 120 ms (GAIN 1): +1 at 60 ms of queue, 1 − 40/20 = −1 at 63 ms. At
    /// 120 ms 1 − 40 is limited to −20.
    #[test]
    fn above_the_target_the_window_falls_by_as_much_as_the_delay_is_over_it() {
        for (queueing, change) in [(0, 1), (60, 1), (63, -1), (120, -20)] {
            let mut l = LedbatPlusPlus::new(&Config::default());
            let mut w = window(40, 2);
            l.steady(ms(120), ms(queueing), &Ack::of(at(0), 40), &mut w);
            let found = (i64::from(w.cwnd) - 40) * SEGMENT + l.fraction;
            assert!((found - change * SEGMENT).abs() <= 64, "{queueing} ms: {found}");
        }
    }

    fn run(l: &mut LedbatPlusPlus, w: &mut Window, now_ms: u64, rtt_ms: u64, segments: u32) {
        let ack = Ack { rtt: Some(ms(rtt_ms)), ..Ack::of(at(now_ms), segments) };
        l.on_delivered(&ack, w);
        l.on_ack(&ack, w);
    }

    /// The window is 1, as after a timeout, when the queue is found to be long. Guards against a threshold of less than
    /// two segments (RFC 5681, equation 4).
    #[test]
    fn slow_start_never_ends_below_two_segments() {
        let (mut l, mut w) = (LedbatPlusPlus::new(&Config::default()), window(1, 10));
        l.on_delivered(&Ack { rtt: Some(ms(120)), ..Ack::of(at(0), 1) }, &mut w);
        for _ in 0..4 {
            l.on_delivered(&Ack { rtt: Some(ms(170)), ..Ack::of(at(200), 1) }, &mut w);
        }
        l.on_ack(&Ack { rtt: Some(ms(170)), ..Ack::of(at(200), 1) }, &mut w);
        assert_eq!((w.ssthresh, l.phase), (2, Phase::Steady { until: at(540) }));
    }

    /// 4.1 and 4.4 with a base of 120 ms: slow start ends above 45 ms of queue. Two RTTs later the window is two
    /// segments for two RTTs, and then grows back. The next slowdown comes after nine times the length of this one.
    #[test]
    fn slowdowns_follow_slow_start_and_then_take_a_tenth_of_the_time() {
        let (mut l, mut w) = (LedbatPlusPlus::new(&Config::default()), window(10, crate::INFINITE_SSTHRESH));
        run(&mut l, &mut w, 0, 120, 10);
        assert_eq!(w.cwnd, 20);
        for _ in 0..4 {
            run(&mut l, &mut w, 100, 165, 1); // 45 ms is 3/4 of the target, not more
        }
        assert_eq!((w.cwnd, l.phase), (24, Phase::SlowStart));
        for _ in 0..4 {
            run(&mut l, &mut w, 200, 170, 1);
        }
        assert_eq!(l.phase, Phase::Steady { until: at(540) });
        run(&mut l, &mut w, 539, 170, 1);
        let before = w.cwnd;
        run(&mut l, &mut w, 540, 170, 1);
        assert_eq!((w.cwnd, l.phase), (2, Phase::Frozen { since: at(540), to: before }));
        for _ in 0..4 {
            run(&mut l, &mut w, 700, 120, 1);
        }
        assert_eq!(w.cwnd, 2);
        run(&mut l, &mut w, 781, 120, 1);
        assert_eq!((l.phase, w.ssthresh), (Phase::Regrowing { since: at(540) }, before));
        run(&mut l, &mut w, 900, 120, 100);
        assert_eq!(w.cwnd, before, "no further than it was");
        run(&mut l, &mut w, 940, 120, 1);
        assert_eq!(l.phase, Phase::Steady { until: at(940 + 9 * 400) });
    }

    /// The initial window of 4.1.
    #[test]
    fn it_begins_with_two_segments() {
        let mut w = window(10, 100);
        LedbatPlusPlus::new(&Config::default()).on_open(at(0), Some(ms(50)), &mut w);
        assert_eq!(w.cwnd, 2);
    }
}
