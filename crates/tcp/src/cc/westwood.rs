//! Westwood+ (Mascolo et al. 2001; Grieco & Mascolo 2004): Reno's growth. At a loss the window falls to what the path
//! carries: the measured rate of ACKs times the smallest RTT.
//!
//! This is Linux's version. It takes one sample of the rate per RTT, and at most one per 48 ms (the paper has no such
//! limit). It has two low-pass filters of 7/8 in series, where the paper has one by Tustin's rule. Times are whole
//! ticks, and rates are bytes per tick. An ACK that moves nothing counts as a segment, and a later ACK of more than a
//! segment counts for less by what was counted so.

use super::reno::Reno;
use super::{Ack, Cause, Congestion, CongestionControl};
use crate::{Config, CongestionState, SeqNumber, Window, wheel};
use goodqueue_units::{Duration, Instant};

/// The shortest time that a sample of the rate takes: 50 ms in whole ticks.
const LEAST_SAMPLE: Duration = Duration::from_millis(50);
/// Linux's RTT before the first measurement. The first sample of the rate therefore waits for an RTT.
const INITIAL_RTT: Duration = Duration::from_secs(20);
/// The tick of a stack that has none.
const TICK: Duration = Duration::from_millis(1);

#[derive(Clone, Debug)]
pub(crate) struct Westwood {
    reno: Reno,
    tick: Duration,
    mss: u32,
    /// The rate after the first filter, in bytes per tick.
    rate_once: u32,
    /// The rate after both filters.
    rate: u32,
    /// Bytes acknowledged since the sample began.
    bytes: u32,
    /// Bytes that ACKs which moved nothing have counted, and no later ACK has taken away.
    accounted: u32,
    /// SND.UNA after the last ACK.
    una: Option<SeqNumber>,
    /// When the sample began.
    sample_start: Instant,
    rtt: u32,
    /// In ticks, as `rtt`.
    rtt_min: u32,
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
    const DIFFERS: &'static str =
        "two filters of 7/8 in series, samples of at least 48 ms, whole ticks (as Linux)";

    fn new(config: &Config) -> Self {
        let tick = config.stack.era().timers.jiffy;
        let tick = if tick == Duration::ZERO { TICK } else { tick };
        let first = ticks(INITIAL_RTT, tick);
        Self {
            reno: Reno::new(config),
            tick,
            mss: config.mss.max(1).into(),
            rate_once: 0,
            rate: 0,
            bytes: 0,
            accounted: 0,
            una: None,
            sample_start: Instant::ZERO,
            rtt: first,
            rtt_min: first,
            forget_min: true,
            reducing: false,
        }
    }

    fn on_open(&mut self, now: Instant, _rtt: Option<Duration>, _window: &mut Window) {
        self.sample_start = wheel::floor(self.tick, now);
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.rtt = ticks(wheel::ceil(self.tick, rtt), self.tick);
        }
        let now = wheel::floor(self.tick, ack.now);
        let span = ticks(now.since(self.sample_start), self.tick);
        if span > self.rtt.max(ticks(LEAST_SAMPLE, self.tick)) {
            self.end_sample(now, span);
        }
        self.bytes = self.bytes.wrapping_add(self.count(ack.una));
        self.rtt_min = if self.forget_min { self.rtt } else { self.rtt_min.min(self.rtt) };
        self.forget_min = false;
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
        let tick_s = self.tick.as_secs_f64();
        show("rate_segments_per_s", f64::from(self.rate) / f64::from(self.mss) / tick_s);
        show("rtt_min_ms", f64::from(self.rtt_min) * 1000.0 * tick_s);
    }
}

/// Returns the whole ticks in `span`.
fn ticks(span: Duration, tick: Duration) -> u32 {
    (span.as_nanos() / tick.as_nanos()).min(u32::MAX.into()) as u32
}

impl Westwood {
    /// Returns the bytes for which an ACK counts that moves SND.UNA to `una` (`westwood_acked_count`).
    fn count(&mut self, una: SeqNumber) -> u32 {
        let moved = una.since(self.una.replace(una).unwrap_or(una));
        if moved == 0 {
            self.accounted += self.mss;
            self.mss
        } else if moved <= self.mss {
            moved
        } else if self.accounted >= moved {
            self.accounted -= moved;
            self.mss
        } else {
            moved - core::mem::take(&mut self.accounted)
        }
    }

    fn end_sample(&mut self, now: Instant, span: u32) {
        let sample = self.bytes / span;
        if self.rate == 0 && self.rate_once == 0 {
            (self.rate_once, self.rate) = (sample, sample);
        } else {
            self.rate_once = ((7 * u64::from(self.rate_once) + u64::from(sample)) >> 3) as u32;
            self.rate = ((7 * u64::from(self.rate) + u64::from(self.rate_once)) >> 3) as u32;
        }
        self.bytes = 0;
        self.sample_start = now;
    }

    /// Returns BWE · RTT_min in segments, at least two (section 3.2 of the paper).
    fn path_window(&self) -> u32 {
        let bytes = u64::from(self.rate) * u64::from(self.rtt_min);
        ((bytes / u64::from(self.mss)).min(1 << 30) as u32).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes an ACK at `ms` that acknowledges `bytes` in all.
    fn take(w: &mut Westwood, ms: u64, bytes: u32, rtt_ms: u64) {
        let (now, rtt) = (Instant::ZERO + Duration::from_millis(ms), Some(Duration::from_millis(rtt_ms)));
        let mut window = Window::new(&Config::default());
        w.on_delivered(&Ack { rtt, una: SeqNumber(1 + bytes), ..Ack::of(now, 1) }, &mut window);
    }

    /// Returns a connection of segments of 1000 bytes, whose first ACK came.
    fn westwood() -> Westwood {
        let mut w = Westwood::new(&Config { mss: 1000, ..Config::default() });
        take(&mut w, 0, 0, 60);
        (w.bytes, w.accounted) = (0, 0);
        w
    }

    /// 20 segments each 20 ms are 4000 bytes per tick of 4 ms, of which the filters lose 14 in whole numbers. In the
    /// smallest RTT, 40 ms, that is 39 segments.
    #[test]
    fn a_reduction_ends_at_the_rate_times_the_smallest_rtt() {
        let (mut w, mut window) = (westwood(), Window::new(&Config::default()));
        for n in 1..400_u32 {
            take(&mut w, u64::from(20 * n), 20_000 * n, if n == 50 { 40 } else { 60 });
        }
        let congestion = Congestion { now: Instant::ZERO, cwnd: 60, cause: Cause::Loss };
        assert_eq!(w.ssthresh(&congestion), 30);
        w.on_state(CongestionState::Recovery, &mut window);
        w.on_state(CongestionState::Open, &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (39, 39));
        // A state without a reduction changes nothing.
        window.cwnd = 50;
        w.on_state(CongestionState::Disorder, &mut window);
        w.on_state(CongestionState::Open, &mut window);
        assert_eq!(window.cwnd, 50);
        assert_eq!(w.ssthresh(&Congestion { cause: Cause::Timeout, ..congestion }), 39);
        take(&mut w, 8000, 8_000_000, 80);
        assert_eq!(w.rtt_min, 20, "after a timeout the path may be another");
    }

    /// Even at an RTT of 10 ms a sample lasts more than 12 ticks. 60 segments in 52 ms are 4615 bytes per tick.
    #[test]
    fn a_sample_takes_more_than_12_ticks() {
        let mut w = westwood();
        w.rtt = 3;
        for n in 1..=5_u32 {
            take(&mut w, u64::from(10 * n), 12_000 * n, 10);
            assert_eq!(w.rate, 0, "no sample has ended after {n} ACKs");
        }
        take(&mut w, 52, 60_000, 10);
        assert_eq!(w.rate, 60_000 / 13);
    }

    /// The first sample is taken as it is. The next one passes two filters of 7/8: (7 · 1000 + 2000) / 8 = 1125, then
    /// (7 · 1000 + 1125) / 8 = 1015. Guards against a rate that jumps to one sample: 1000 give 125 after the first
    /// filter, which silence emptied, and (7 · 80 + 125) / 8 = 85 after the second.
    #[test]
    fn the_rate_passes_two_filters() {
        let mut w = westwood();
        for (bytes, rates) in [(10_000, (1000, 1000)), (20_000, (1125, 1015))] {
            w.bytes = bytes;
            w.end_sample(Instant::ZERO, 10);
            assert_eq!((w.rate_once, w.rate), rates);
        }
        (w.rate, w.rate_once, w.bytes) = (80, 0, 10_000);
        w.end_sample(Instant::ZERO, 10);
        assert_eq!((w.rate_once, w.rate), (125, 85));
    }

    /// Three ACKs that move nothing count as three segments. The ACK of five segments counts as the other two, and the
    /// next one of two as both.
    #[test]
    fn what_ended_a_recovery_is_not_counted_twice() {
        let mut w = westwood();
        let counts = [0, 0, 0, 5000, 7000].map(|bytes| w.count(SeqNumber(1 + bytes)));
        assert_eq!(counts, [1000, 1000, 1000, 2000, 2000]);
    }
}
