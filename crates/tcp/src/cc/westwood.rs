//! Westwood+ (Mascolo et al. 2001; Grieco & Mascolo 2004): Reno's growth. At a loss the window falls to what the path
//! carries: the measured rate of ACKs times the smallest RTT.
//!
//! This is Linux's version. It takes one sample of the rate per RTT, and at most one per 50 ms (the paper has no such
//! limit). It has two low-pass filters of 7/8 in series, where the paper has one by Tustin's rule. Here the samples
//! count segments delivered, including SACKed ones; Linux infers the same from duplicate ACKs. Time is in nanoseconds
//! here, not in Linux's jiffies.

use super::reno::Reno;
use super::{Ack, Cause, Congestion, CongestionControl};
use crate::{Config, CongestionState, Window};
use goodqueue_units::{Duration, Instant};

/// The shortest time that a sample of the rate takes.
const LEAST_SAMPLE: Duration = Duration::from_millis(50);
/// Linux's RTT before the first measurement. The first sample of the rate therefore waits for an RTT.
const INITIAL_RTT: Duration = Duration::from_secs(20);
/// Rates are stored in segments per second times this factor.
const SCALE: u64 = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) struct Westwood {
    reno: Reno,
    /// The rate after the first filter.
    rate_once: u64,
    /// The rate after both filters.
    rate: u64,
    /// Segments delivered since the sample began.
    delivered: u32,
    /// When the sample began.
    sample_start: Option<Instant>,
    rtt: Duration,
    rtt_min: Duration,
    /// The next RTT counts as the smallest, because the path may have changed (Linux, after a timeout).
    forget_min: bool,
    /// The window is being reduced.
    reducing: bool,
}

impl CongestionControl for Westwood {
    const NAME: &'static str = "westwood";
    const SUMMARY: &'static str =
        "Reno, but a loss sets the window to the measured rate times the smallest RTT; for wireless losses";
    const SOURCE: &'static str = "Mascolo et al. 2001; Grieco & Mascolo 2004; Linux's tcp_westwood";
    const DIFFERS: &'static str = "two filters of 7/8 in series, samples of at least 50 ms (as Linux); time is finer than Linux's jiffies";

    fn new(config: &Config) -> Self {
        Self {
            reno: Reno::new(config),
            rate_once: 0,
            rate: 0,
            delivered: 0,
            sample_start: None,
            rtt: INITIAL_RTT,
            rtt_min: INITIAL_RTT,
            forget_min: true,
            reducing: false,
        }
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        let start = *self.sample_start.get_or_insert(ack.now);
        let span = ack.now.since(start);
        if span > self.rtt.max(LEAST_SAMPLE) {
            self.end_sample(ack.now, span);
        }
        self.delivered += ack.segments;
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt;
            self.rtt_min = if self.forget_min { rtt } else { self.rtt_min.min(rtt) };
            self.forget_min = false;
        }
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        self.reno.on_ack(ack, window);
    }

    /// Returns Reno's half, which is the sender's aim during the reduction; the end of the reduction sets the measured
    /// window. At a timeout it returns the measured window at once.
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if congestion.cause == Cause::Timeout {
            let window = self.path_window();
            self.forget_min = true;
            return window;
        }
        self.reno.ssthresh(congestion)
    }

    fn on_state(&mut self, state: CongestionState, window: &mut Window) {
        if self.reducing && state == CongestionState::Open {
            window.ssthresh = self.path_window();
            window.cwnd = window.ssthresh;
        }
        self.reducing = matches!(state, CongestionState::Cwr | CongestionState::Recovery);
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("rate_segments_per_s", self.rate as f64 / SCALE as f64);
        show("rtt_min_ms", self.rtt_min.as_millis_f64());
    }
}

impl Westwood {
    fn end_sample(&mut self, now: Instant, span: Duration) {
        // A sample has fewer than 2^16 segments, or takes longer than 50 ms: the result fits.
        let sample = u64::from(self.delivered).saturating_mul(SCALE * 1_000_000_000) / span.as_nanos();
        if self.rate == 0 && self.rate_once == 0 {
            (self.rate_once, self.rate) = (sample, sample);
        } else {
            self.rate_once = (7 * self.rate_once + sample) / 8;
            self.rate = (7 * self.rate + self.rate_once) / 8;
        }
        self.delivered = 0;
        self.sample_start = Some(now);
    }

    /// Returns BWE · RTT_min in segments, at least two (section 3.2 of the paper).
    fn path_window(&self) -> u32 {
        let segments =
            u128::from(self.rate) * u128::from(self.rtt_min.as_nanos()) / u128::from(SCALE * 1_000_000_000);
        (segments.min(1 << 30) as u32).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ms: u64, segments: u32, rtt_ms: u64) -> Ack {
        let rtt = Some(Duration::from_millis(rtt_ms));
        Ack { rtt, ..Ack::of(Instant::ZERO + Duration::from_millis(ms), segments) }
    }

    fn westwood() -> (Westwood, Window) {
        (Westwood::new(&Config::default()), Window::new(&Config::default()))
    }

    /// 10 segments each 10 ms are 1000 per second. The smallest RTT is 40 ms: 40 segments.
    #[test]
    fn a_reduction_ends_at_the_rate_times_the_smallest_rtt() {
        let (mut w, mut window) = westwood();
        for n in 0..100 {
            w.on_delivered(&ack(10 * n, 10, if n == 50 { 40 } else { 60 }), &mut window);
        }
        let congestion = Congestion { now: Instant::ZERO, cwnd: 60, cause: Cause::Loss };
        assert_eq!(w.ssthresh(&congestion), 30);
        w.on_state(CongestionState::Recovery, &mut window);
        w.on_state(CongestionState::Open, &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (40, 40));
        // A state without a reduction changes nothing.
        window.cwnd = 50;
        w.on_state(CongestionState::Disorder, &mut window);
        w.on_state(CongestionState::Open, &mut window);
        assert_eq!(window.cwnd, 50);
        assert_eq!(w.ssthresh(&Congestion { cause: Cause::Timeout, ..congestion }), 40);
        w.on_delivered(&ack(1000, 10, 80), &mut window);
        assert_eq!(w.rtt_min, Duration::from_millis(80), "after a timeout the path may be another");
    }

    /// Even at an RTT of 10 ms a sample lasts more than 50 ms. Six ACKs of 10 segments come within 50 ms. At 51 ms
    /// these 60 segments make 60 / 0.051 = 1176 per second.
    #[test]
    fn a_sample_takes_more_than_50_ms() {
        let (mut w, mut window) = westwood();
        for ms in [0, 10, 20, 30, 40, 50] {
            w.on_delivered(&ack(ms, 10, 10), &mut window);
            assert_eq!(w.rate, 0, "no sample has ended after {ms} ms");
        }
        w.on_delivered(&ack(51, 10, 10), &mut window);
        assert_eq!(w.rate / SCALE, 1176);
    }

    /// The first sample, 1000 segments per second, is taken as it is. The next one, 2000, passes two filters of 7/8:
    /// (7000 + 2000)/8 = 1125, then (7000 + 1125)/8 = 1015.6.
    #[test]
    fn the_rate_passes_two_filters() {
        let (mut w, mut window) = westwood();
        w.on_delivered(&ack(0, 51, 50), &mut window);
        w.on_delivered(&ack(51, 102, 50), &mut window);
        assert_eq!(w.rate / SCALE, 1000);
        w.on_delivered(&ack(102, 0, 50), &mut window);
        assert_eq!((w.rate_once / SCALE, w.rate / SCALE), (1125, 1015));
    }

    /// After a long silence the first filter reaches zero before the second. Guards against a rate that jumps to one
    /// sample: 1000 per second give 125 after the first filter, and (7 · 80 + 125) / 8 = 85.6 after the second.
    #[test]
    fn one_sample_is_taken_as_it_is_only_if_nothing_is_known() {
        let (mut w, _) = westwood();
        (w.rate, w.rate_once, w.delivered) = (80 * SCALE, 0, 51);
        w.end_sample(Instant::ZERO, Duration::from_millis(51));
        assert_eq!((w.rate_once / SCALE, w.rate / SCALE), (125, 85));
    }
}
