//! What cf-mach 0.4.0 concludes from its intervals, by its source (nq_rpm, nq_stats).
//!
//! It differs from the draft's client:
//!
//! - An interval is concluded when the next one is over. A probe belongs to the time at which it began.
//! - Goodput is the bytes of four intervals by four intervals' time, from the first interval on.
//! - Five values must agree, the present one among them, or as many as there are. An interval without a probe of each
//!   kind counts as 0 round trips per minute. Of a single probe none is left without the longest 5 %.
//! - Goodput and responsiveness need not be stable at the same time. The result is the last responsiveness that was
//!   stable, or the last one.

use super::judge::{Confidence, DISTANCE, Found, Judge, Sample, TOLERANCE, deviation};
use goodqueue_units::Duration;

#[derive(Debug)]
pub(super) struct Mach {
    interval: Duration,
    /// Bytes of load that had arrived when the test began, and at the end of each interval.
    bytes: Vec<u64>,
    /// By [`Sample`]: when its probe began, since the test did, and how many ms it took.
    samples: [Vec<(Duration, f64)>; 4],
    goodputs_bps: Vec<f64>,
    rpms: Vec<f64>,
    is_goodput_stable: bool,
    stable: Option<Found>,
    last: Option<Found>,
}

impl Mach {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            bytes: vec![0],
            samples: Default::default(),
            goodputs_bps: Vec::new(),
            rpms: Vec::new(),
            is_goodput_stable: false,
            stable: None,
            last: None,
        }
    }

    /// Returns whether goodput and responsiveness were both stable once.
    fn is_sure(&self) -> bool {
        self.is_goodput_stable && self.stable.is_some()
    }

    /// Returns the responsiveness of the probes that began in the four intervals until the end of interval `number`.
    fn conclude(&self, number: u64) -> Option<Found> {
        let end = |number: u64| Duration::from_nanos(number * self.interval.as_nanos());
        let within = end(number.saturating_sub(DISTANCE as u64))..=end(number);
        let times = |sample: usize| {
            let own = self.samples[sample].iter().filter(|(since, _)| within.contains(since));
            own.map(|(_, ms)| *ms).collect()
        };
        Found::from_times(times, 0)
    }
}

/// Returns whether the last value is stable.
fn is_stable(values: &[f64]) -> bool {
    let last = &values[values.len().saturating_sub(DISTANCE + 1)..];
    last.last().is_some_and(|now| deviation(last.iter().copied()) < TOLERANCE * now)
}

impl Judge for Mach {
    fn add(&mut self, sample: Sample, since: Duration, time: Duration) {
        self.samples[sample as usize].push((since, time.as_millis_f64()));
    }

    fn end_interval(&mut self, bytes: u64) -> bool {
        let number = self.goodputs_bps.len();
        let fresh = self.bytes[number] - self.bytes[number.saturating_sub(DISTANCE)];
        self.bytes.push(bytes);
        self.goodputs_bps.push(fresh as f64 * 8.0 / (DISTANCE as f64 * self.interval.as_secs_f64()));
        self.is_goodput_stable |= is_stable(&self.goodputs_bps);
        let found = self.conclude(number as u64);
        self.last = found.or(self.last);
        self.rpms.push(found.map_or(0.0, |found| found.rpm));
        if is_stable(&self.rpms) {
            self.stable = found;
        }
        self.is_sure()
    }

    fn goodput_bps(&self) -> f64 {
        self.goodputs_bps.last().copied().unwrap_or_default()
    }

    fn found(&self) -> Option<Found> {
        self.stable.or(self.last)
    }

    fn confidence(&self) -> Confidence {
        Confidence::of(self.rpms.len(), self.is_sure())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Sample; 4] = [Sample::Tcp, Sample::Tls, Sample::Http, Sample::Own];

    /// Adds `count` probes of each kind, which begin in the interval `number` and take `ms`.
    fn add(judge: &mut Mach, number: u64, count: u64, ms: u64) {
        for place in 0..count {
            let since = Duration::from_millis(1000 * number + 10 * place);
            KINDS.into_iter().for_each(|sample| judge.add(sample, since, Duration::from_millis(ms)));
        }
    }

    /// Goodput from nothing to 10 Mbit/s: 0, 2.5, 5, 7.5, 10, 10, … of which the last five are equal in interval 8,
    /// which is concluded when the ninth one is over. Interval 0 has its four intervals before the test, and the one
    /// probe that began with it.
    #[test]
    fn a_test_takes_nine_intervals_at_least() {
        let mut judge = Mach::new(Duration::from_secs(1));
        let mut goodputs = Vec::new();
        for number in 0..9 {
            add(&mut judge, number, 4, 50);
            let is_over = judge.end_interval((number + 1) * 1_250_000);
            assert_eq!(is_over, number == 8, "{number}: {judge:?}");
            goodputs.push(judge.goodput_bps() / 1e6);
        }
        assert_eq!(goodputs, [0.0, 2.5, 5.0, 7.5, 10.0, 10.0, 10.0, 10.0, 10.0]);
        assert_eq!((judge.rpms[0], judge.rpms[1], judge.confidence().name()), (0.0, 1200.0, "high"));
    }

    /// A probe counts by its beginning, and one alone not at all: of two probes that begin after 1 s and 1.01 s, the
    /// interval up to 1 s has one, and the next one both. After 5.01 s they no longer count.
    #[test]
    fn a_probe_counts_by_its_beginning() {
        let mut judge = Mach::new(Duration::from_secs(1));
        add(&mut judge, 1, 2, 50);
        (0..7).for_each(|_| _ = judge.end_interval(0));
        assert_eq!(judge.rpms, [0.0, 0.0, 1200.0, 1200.0, 1200.0, 1200.0, 0.0]);
    }

    /// What was stable once is the result, though the next values differ.
    #[test]
    fn the_last_stable_value_is_the_result() {
        let mut judge = Mach::new(Duration::from_secs(1));
        for number in 0..6 {
            add(&mut judge, number, 4, 50);
            judge.end_interval(0);
        }
        for number in 6..12 {
            add(&mut judge, number, 4, 10 * (number + 5) * (number + 5));
            assert!(!judge.end_interval(0), "goodput is not stable");
        }
        assert_eq!(judge.found().unwrap().rpm, 1200.0);
        assert_ne!(judge.last.unwrap().rpm, 1200.0);
    }
}
