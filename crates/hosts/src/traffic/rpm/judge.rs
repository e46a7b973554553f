//! What the draft's client concludes from its intervals: goodput, round trips per minute, and whether they are stable
//! (draft-ietf-ippm-responsiveness-09, sections "Aggregating the Measurements" and "Final Algorithm"). [`mach`] has
//! another client's rules.
//!
//! [`mach`]: super::mach

use goodqueue_units::Duration;
use std::collections::VecDeque;
use std::fmt::Debug;

/// How many intervals a moving average has (MAD).
pub(super) const DISTANCE: usize = 4;
/// The share of the samples that counts: the longest 5 % are dropped (TMP).
const TRIMMED: f64 = 0.95;
/// A value is stable if the standard deviation of its last [`DISTANCE`] values is less than this share of it (SDT).
pub(super) const TOLERANCE: f64 = 0.05;

/// Times in ms that one kind of sample took.
pub(super) type Times = Vec<f64>;

/// What happened within an interval.
#[derive(Clone, Debug, Default)]
struct Interval {
    bytes: u64,
    /// Samples of the kinds in [`Sample`].
    times: [Times; 4],
}

/// What a probe measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sample {
    /// The handshake of TCP.
    Tcp,
    /// TLS's round trip.
    Tls,
    /// A request on a new connection.
    Http,
    /// A request on a connection that loads the path.
    Own,
}

/// The means of the shortest 95 % of the last intervals' samples in ms, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Found {
    /// In the order of [`Sample`].
    pub means: [f64; 4],
    pub foreign_rpm: f64,
    pub loaded_rpm: f64,
    pub rpm: f64,
}

/// How sure a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Confidence {
    /// There were too few intervals.
    Low,
    /// It did not become stable.
    Medium,
    /// It became stable.
    High,
}

/// A client's rules.
pub(super) trait Judge: Debug + Send + Sync {
    /// Notes that a probe, which began `since` the test did, took `time`.
    fn add(&mut self, sample: Sample, since: Duration, time: Duration);

    /// Ends the interval. Since the test began, `bytes` of load have arrived. Returns whether all is stable: the test
    /// is over.
    fn end_interval(&mut self, bytes: u64) -> bool;

    /// Returns the goodput of the last intervals in bit/s.
    fn goodput_bps(&self) -> f64;

    /// Returns the test's result so far.
    fn found(&self) -> Option<Found>;

    fn confidence(&self) -> Confidence;
}

/// The draft's rules: goodput first, responsiveness after it.
#[derive(Debug)]
pub(super) struct Draft {
    interval: Duration,
    /// Bytes of load that had arrived at the end of the last interval.
    bytes: u64,
    /// The last intervals that are over, at most [`DISTANCE`], and the present one.
    past: VecDeque<Interval>,
    present: Interval,
    goodputs: VecDeque<f64>,
    rpms: VecDeque<f64>,
    is_goodput_stable: bool,
    found: Option<Found>,
    confidence: Confidence,
}

impl Draft {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            bytes: 0,
            past: VecDeque::new(),
            present: Interval::default(),
            goodputs: VecDeque::new(),
            rpms: VecDeque::new(),
            is_goodput_stable: false,
            found: None,
            confidence: Confidence::Low,
        }
    }

    /// Returns the responsiveness of the last intervals, if there are samples of each kind.
    fn conclude(&self) -> Option<Found> {
        Found::from_times(|sample| self.past.iter().flat_map(|one| one.times[sample].iter().copied()).collect(), 1)
    }
}

impl Judge for Draft {
    fn add(&mut self, sample: Sample, _since: Duration, time: Duration) {
        self.present.times[sample as usize].push(time.as_millis_f64());
    }

    fn end_interval(&mut self, bytes: u64) -> bool {
        self.present.bytes = bytes - std::mem::replace(&mut self.bytes, bytes);
        push(&mut self.past, std::mem::take(&mut self.present));
        let goodput = self.goodput_bps();
        push(&mut self.goodputs, goodput);
        let may_look = self.is_goodput_stable;
        self.is_goodput_stable |= is_stable(&self.goodputs);
        let found = self.conclude();
        self.found = found.or(self.found);
        if may_look {
            // The draft is silent on an interval without samples.
            push(&mut self.rpms, found.map_or(0.0, |found| found.rpm));
        }
        let is_over = self.is_goodput_stable && is_stable(&self.rpms);
        self.confidence = Confidence::of(self.rpms.len(), is_over);
        is_over
    }

    fn goodput_bps(&self) -> f64 {
        let bytes: u64 = self.past.iter().map(|one| one.bytes).sum();
        let time = self.interval.as_secs_f64() * self.past.len() as f64;
        if time > 0.0 { bytes as f64 * 8.0 / time } else { 0.0 }
    }

    fn found(&self) -> Option<Found> {
        self.found
    }

    fn confidence(&self) -> Confidence {
        self.confidence
    }
}

impl Found {
    /// Returns what follows from the `times` of each [`Sample`], if there is one of each: at least `least` of them
    /// count.
    pub(super) fn from_times(times: impl Fn(usize) -> Times, least: usize) -> Option<Self> {
        let mean = |place: usize| trimmed_mean(times(place), least);
        let means = [mean(0)?, mean(1)?, mean(2)?, mean(3)?];
        let foreign_rpm = 60_000.0 / (means[..3].iter().sum::<f64>() / 3.0);
        let loaded_rpm = 60_000.0 / means[Sample::Own as usize];
        Some(Self { means, foreign_rpm, loaded_rpm, rpm: f64::midpoint(foreign_rpm, loaded_rpm) })
    }

    /// Returns the draft's word for the round trips per minute.
    pub(super) fn in_words(&self) -> &'static str {
        match self.rpm {
            6000.0.. => "excellent",
            1000.0.. => "good",
            300.0.. => "fair",
            _ => "poor",
        }
    }
}

impl Confidence {
    /// Returns how sure a test is after `intervals` that count.
    pub(super) const fn of(intervals: usize, is_over: bool) -> Self {
        match intervals {
            _ if is_over => Self::High,
            DISTANCE.. => Self::Medium,
            _ => Self::Low,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Adds `value` as the last of at most [`DISTANCE`].
fn push<T>(values: &mut VecDeque<T>, value: T) {
    if values.len() == DISTANCE {
        values.pop_front();
    }
    values.push_back(value);
}

/// Returns the mean of the shortest 95 %, of `least` values at least; none for no values.
fn trimmed_mean(mut times: Times, least: usize) -> Option<f64> {
    times.sort_by(f64::total_cmp);
    let kept = ((times.len() as f64 * TRIMMED) as usize).max(least).min(times.len());
    (kept > 0).then(|| times[..kept].iter().sum::<f64>() / kept as f64)
}

/// Returns the standard deviation of `values`, of which there is one at least.
pub(super) fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / count).sqrt()
}

/// Returns whether there are [`DISTANCE`] values, and their standard deviation is small beside the last one.
fn is_stable(values: &VecDeque<f64>) -> bool {
    values.len() == DISTANCE && deviation(values.iter().copied()) < TOLERANCE * values[DISTANCE - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge() -> Draft {
        Draft::new(Duration::from_secs(1))
    }

    fn add(judge: &mut Draft, times_ms: [u64; 4]) {
        for (sample, ms) in [Sample::Tcp, Sample::Tls, Sample::Http, Sample::Own].into_iter().zip(times_ms) {
            judge.add(sample, Duration::ZERO, Duration::from_millis(ms));
        }
    }

    /// 40, 50 and 60 ms are 50 ms, 1200 per minute; 120 ms are 500. The mean is 850.
    #[test]
    fn the_formula() {
        let mut judge = judge();
        add(&mut judge, [40, 50, 60, 120]);
        judge.end_interval(1_250_000);
        let found = judge.found().unwrap();
        assert_eq!((found.foreign_rpm, found.loaded_rpm, found.rpm), (1200.0, 500.0, 850.0));
        let word = |rpm| Found { rpm, ..found }.in_words();
        assert_eq!(
            [299.0, 300.0, 1000.0, 5999.0, 6000.0].map(word),
            ["poor", "fair", "good", "good", "excellent"]
        );
        assert_eq!(judge.goodput_bps(), 1e7);
    }

    /// Of 20 samples the longest is dropped, of 19 too: floor(19 * 0.95) is 18.
    #[test]
    fn the_longest_5_percent_are_dropped() {
        let with = |short: usize| {
            let mut times = vec![10.0; short];
            times.push(1000.0);
            trimmed_mean(times, 1)
        };
        assert_eq!((with(19), with(18)), (Some(10.0), Some(10.0)));
        assert_eq!((with(0), trimmed_mean(Vec::new(), 1)), (Some(1000.0), None));
    }

    /// Goodputs of 10 Mbit/s: their averages are equal from the first interval on, and stable with the fourth. Four
    /// values of the responsiveness follow.
    #[test]
    fn goodput_comes_first_and_responsiveness_after_it() {
        let mut judge = judge();
        let mut ends = Vec::new();
        for interval in 1..=8 {
            add(&mut judge, [40, 50, 60, 120]);
            ends.push((judge.end_interval(interval * 1_250_000), judge.confidence().name()));
        }
        let (low, high) = ((false, "low"), (true, "high"));
        assert_eq!(ends, [low, low, low, low, low, low, low, high]);
    }

    /// Two values that take turns, 1200 and 600: each is 50 % or 33 % from their mean.
    #[test]
    fn what_swings_is_not_stable() {
        let mut judge = judge();
        for turn in 0..20 {
            let ms = if turn % 8 < 4 { 50 } else { 100 };
            add(&mut judge, [ms; 4]);
            assert!(!judge.end_interval((turn + 1) * 1_250_000), "{turn}");
        }
        assert_eq!(judge.confidence(), Confidence::Medium);
    }

    /// An interval without samples does not forget what was found.
    #[test]
    fn only_the_last_four_intervals_count() {
        let mut judge = judge();
        add(&mut judge, [10; 4]);
        judge.end_interval(0);
        add(&mut judge, [30; 4]);
        for _ in 0..4 {
            judge.end_interval(0);
        }
        assert_eq!(judge.found().unwrap().rpm, 2000.0);
        judge.end_interval(0);
        assert_eq!(judge.found().unwrap().rpm, 2000.0, "the last one found");
        add(&mut judge, [60; 4]);
        judge.end_interval(0);
        assert_eq!(judge.found().unwrap().rpm, 1000.0);
    }
}
