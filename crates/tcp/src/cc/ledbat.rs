//! LEDBAT (RFC 6817): for transfers in the background. It keeps the queueing delay at a target and yields to all other
//! traffic.
//!
//! A one-way delay is the receiver's clock minus ours, by TCP's timestamps, in milliseconds. The wait of a delayed ACK
//! therefore counts as delay; the filter over four samples takes the smallest.
//!
//! Unless the line's words say otherwise, TARGET is 100 ms, the largest value that 2.4.2 allows, and GAIN is 1. The
//! other constants are those of sections 2.5 and 3.3: INIT_CWND and MIN_CWND 2, ALLOWED_INCREASE 1, BASE_HISTORY ten
//! minutes, CURRENT_FILTER four samples. There is no slow start, as in 2.4.2.

use super::line::{GAIN, TARGET};
use super::{Ack, Cause, CcWord, Congestion, CongestionControl};
use crate::{Config, Window};
use goodqueue_units::{Duration, Instant};

const TARGET_MS: u32 = 100;
const MIN_CWND: u32 = 2;
const ALLOWED_INCREASE: u32 = 1;

/// The unit of fractions of a segment: 1/65536.
pub(super) const SEGMENT: i64 = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) struct Ledbat {
    delays: Delays<u32>,
    /// The fraction of a segment that belongs to the window, in units of 1/`SEGMENT`.
    fraction: i64,
    target_ms: u32,
    gain: u32,
}

impl CongestionControl for Ledbat {
    const NAME: &'static str = "ledbat";
    const SUMMARY: &'static str =
        "background transfers: keeps 100 ms of queue when alone, and yields to all other traffic";
    const SOURCE: &'static str = "RFC 6817";
    const DIFFERS: &'static str =
        "one-way delays come from TCP's timestamps, in milliseconds, and include the wait of a delayed ACK";
    const WORDS: &'static [CcWord] = &[TARGET, GAIN];

    fn new(config: &Config) -> Self {
        let target_ms = config.cc_options.target_ms.unwrap_or(TARGET_MS);
        Self { delays: Delays::new(0), fraction: 0, target_ms, gain: config.cc_options.gain.unwrap_or(1) }
    }

    fn on_open(&mut self, _now: Instant, _rtt: Option<Duration>, window: &mut Window) {
        window.cwnd = window.cwnd.min(MIN_CWND); // INIT_CWND
    }

    #[inline]
    fn on_delivered(&mut self, ack: &Ack, _window: &mut Window) {
        self.delays.sample(ack.now, ack.clock_ms);
    }

    /// Grows or shrinks the window by the distance of the delay to the target (section 2.4.2).
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        let Some((base, current)) = self.delays.base_and_current() else { return };
        let queueing = i64::from(current.wrapping_sub(base) as i32).max(0);
        // cwnd += GAIN · off_target · bytes_newly_acked · MSS / cwnd, off_target = (TARGET − queueing delay) / TARGET.
        let target = i64::from(self.target_ms);
        let step = i64::from(self.gain) * i64::from(ack.counted) * SEGMENT;
        let change = (target - queueing) * step / target / i64::from(window.cwnd);
        if change > 0 && !ack.is_cwnd_limited {
            return;
        }
        add(window, &mut self.fraction, change);
        let most = ack.prior_in_flight + ALLOWED_INCREASE;
        window.cwnd = window.cwnd.min(most).max(MIN_CWND);
    }

    /// Returns half of the window at a loss, once per round trip (section 2.4.2).
    fn ssthresh(&mut self, congestion: &Congestion) -> u32 {
        if congestion.cause == Cause::Timeout {
            self.fraction = 0;
        }
        (congestion.cwnd / 2).max(MIN_CWND)
    }

    fn probe(&self, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some((base, current)) = self.delays.base_and_current() {
            show("queueing_delay_ms", f64::from(current.wrapping_sub(base) as i32));
        }
    }
}

/// Adds `change`, in units of 1/`SEGMENT`, to the window. The remainder below a segment stays in `fraction`.
pub(super) fn add(window: &mut Window, fraction: &mut i64, change: i64) {
    *fraction += change;
    let whole = fraction.div_euclid(SEGMENT);
    *fraction -= whole * SEGMENT;
    window.cwnd = (i64::from(window.cwnd) + whole).clamp(1, 1 << 30) as u32;
}

/// The order of delays. The difference of two clocks wraps; an RTT does not.
pub(super) trait Delay: Copy {
    fn is_less(self, other: Self) -> bool;
}

impl Delay for u32 {
    fn is_less(self, other: Self) -> bool {
        (self.wrapping_sub(other) as i32) < 0
    }
}

impl Delay for Duration {
    fn is_less(self, other: Self) -> bool {
        self < other
    }
}

/// RFC 6817's base delay, the smallest delay of the last ten minutes, and its filter, the smallest of the last four
/// samples.
#[derive(Clone, Debug)]
pub(super) struct Delays<D> {
    /// The smallest delay of each minute. The present minute is the last.
    minutes: [D; BASE_HISTORY],
    minute_count: usize,
    minute: u64,
    /// The last samples, in a ring.
    recent: [D; CURRENT_FILTER],
    samples: usize,
}

const BASE_HISTORY: usize = 10;
const CURRENT_FILTER: usize = 4;

impl<D: Delay> Delays<D> {
    pub(super) const fn new(nothing: D) -> Self {
        Self {
            minutes: [nothing; BASE_HISTORY],
            minute_count: 0,
            minute: 0,
            recent: [nothing; CURRENT_FILTER],
            samples: 0,
        }
    }

    /// Takes a delay sample: update_base_delay and update_current_delay of section 2.4.2.
    pub(super) fn sample(&mut self, now: Instant, delay: D) {
        let minute = now.as_nanos() / 60_000_000_000;
        if self.minute_count == 0 || minute != self.minute {
            self.minute = minute;
            if self.minute_count == BASE_HISTORY {
                self.minutes.copy_within(1.., 0);
                self.minute_count -= 1;
            }
            self.minutes[self.minute_count] = delay;
            self.minute_count += 1;
        } else if delay.is_less(self.minutes[self.minute_count - 1]) {
            self.minutes[self.minute_count - 1] = delay;
        }
        self.recent[self.samples % CURRENT_FILTER] = delay;
        self.samples += 1;
        if self.samples == 2 * CURRENT_FILTER {
            self.samples = CURRENT_FILTER; // the same place in the ring, which stays full
        }
    }

    /// Returns the base delay and the filtered present delay.
    pub(super) fn base_and_current(&self) -> Option<(D, D)> {
        let smallest = |all: &[D]| all.iter().copied().reduce(|a, b| if b.is_less(a) { b } else { a });
        let base = smallest(&self.minutes[..self.minute_count])?;
        let current = smallest(&self.recent[..self.samples.min(CURRENT_FILTER)])?;
        Some((base, current))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CcOptions;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    /// Gives four samples of `delay_ms` over a base of 1000, then an ACK of one segment. Returns the change of a window
    /// of 20 segments, in 1/65536 segment.
    fn change(delay_ms: u32) -> i64 {
        change_with(CcOptions::default(), delay_ms)
    }

    fn change_with(cc_options: CcOptions, delay_ms: u32) -> i64 {
        let mut l = Ledbat::new(&Config { cc_options, ..Config::default() });
        let mut w = Window { cwnd: 20, ..Window::new(&Config::default()) };
        l.delays.sample(at(0), 1000);
        for _ in 0..4 {
            l.delays.sample(at(1), 1000 + delay_ms);
        }
        l.on_ack(&Ack { prior_in_flight: 20, ..Ack::of(at(1), 1) }, &mut w);
        (i64::from(w.cwnd) - 20) * SEGMENT + l.fraction
    }

    /// 2.4.2 by hand, for one segment of twenty: without a queue 1/20 of a segment, at 50 ms half of that, at the
    /// target nothing, at 300 ms −2/20.
    #[test]
    fn the_window_follows_the_distance_to_the_target() {
        assert_eq!([change(0), change(50), change(100), change(300)], [3276, 1638, 0, -6553]);
    }

    /// RFC 7928, 5.4 asks for 5 ms and a gain of 10: at 4 ms of queue, 10 · 1/5 · 1/20 of a segment.
    #[test]
    fn the_line_may_say_target_and_gain() {
        let options = CcOptions { target_ms: Some(5), gain: Some(10), ..CcOptions::default() };
        assert_eq!([change_with(options, 4), change_with(options, 5)], [6553, 0]);
    }

    /// 2.4.2: the window is at most what was in flight plus one segment, and at least two.
    #[test]
    fn the_window_stays_near_what_is_in_flight_and_at_two_at_least() {
        let mut l = Ledbat::new(&Config::default());
        let mut w = Window { cwnd: 20, ..Window::new(&Config::default()) };
        l.delays.sample(at(0), 7);
        l.on_ack(&Ack { prior_in_flight: 11, ..Ack::of(at(0), 1) }, &mut w);
        assert_eq!(w.cwnd, 12);
        for _ in 0..4 {
            l.delays.sample(at(0), 2007);
        }
        for _ in 0..20 {
            l.on_ack(&Ack { prior_in_flight: 11, ..Ack::of(at(0), 4) }, &mut w);
        }
        assert_eq!(w.cwnd, 2);
    }

    #[test]
    fn the_base_is_of_ten_minutes_and_the_present_of_four_samples() {
        let mut d = Delays::<u32>::new(0);
        d.sample(at(0), 5);
        for minute in 1..10 {
            d.sample(at(60_000 * minute), 50);
        }
        assert_eq!(d.base_and_current(), Some((5, 50)));
        d.sample(at(600_000), 60);
        assert_eq!(d.base_and_current(), Some((50, 50)), "the eleventh minute forgets the first");
        for _ in 0..3 {
            d.sample(at(600_001), 60);
        }
        assert_eq!(d.base_and_current(), Some((50, 60)));
        // The difference to a clock behind ours wraps: −3 ms is less than 5 ms.
        let mut d = Delays::<u32>::new(0);
        d.sample(at(0), 5);
        d.sample(at(0), 0_u32.wrapping_sub(3));
        assert_eq!(d.base_and_current(), Some((u32::MAX - 2, u32::MAX - 2)));
    }

    /// 2.4.2: it begins with two segments, and learns of 50 ms of queue from the ACKs: half of 1/20 of a segment.
    #[test]
    fn it_begins_small_and_hears_of_delays_from_acks() {
        let (mut l, mut w) = (Ledbat::new(&Config::default()), Window::new(&Config::default()));
        l.on_open(at(0), None, &mut w);
        assert_eq!(w.cwnd, 2);
        w.cwnd = 20;
        for clock_ms in [1000, 1050, 1050, 1050, 1050] {
            l.on_delivered(&Ack { clock_ms, ..Ack::of(at(1), 1) }, &mut w);
        }
        l.on_ack(&Ack { prior_in_flight: 20, ..Ack::of(at(1), 1) }, &mut w);
        assert_eq!((w.cwnd, l.fraction), (20, 1638), "as at 50 ms above");
    }
}
