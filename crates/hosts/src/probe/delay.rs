//! Distributions of delays: exact mean, deviation and extremes; quantiles from a streaming histogram.

use super::histogram::{Histogram, Ranks};
use super::rounded;
use goodqueue_units::{Duration, processor};
use std::ops::AddAssign;

/// A distribution of delays in nanoseconds, in bounded memory.
#[repr(align(64))] // one cache line beside the cell: thousands of flows count in turn
pub struct Delays<C, const BITS: u32> {
    sum_of_squares: u128,
    min: u64,
    max: u64,
    histogram: Histogram<C, BITS>,
}

const _: () = processor::fills_lines::<FlowDelays>(1);

/// The distribution of a queue's delays. Every packet is counted, and quantiles are exact to 0.1 %.
pub type QueueDelays = Delays<u64, 10>;
/// The distribution of one flow's round-trip times. Quantiles are exact to 0.8 %, and it takes about 500 bytes.
pub type FlowDelays = Delays<u32, 7>;

impl<C: Copy + Default + AddAssign + From<u32> + Into<u64>, const BITS: u32> Delays<C, BITS> {
    /// Builds an empty distribution.
    #[must_use]
    #[allow(clippy::new_without_default)] // the type of the counts must be named
    pub fn new() -> Self {
        Self { sum_of_squares: 0, min: u64::MAX, max: 0, histogram: Histogram::new() }
    }

    /// Counts one delay.
    #[inline]
    pub fn record(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        self.sum_of_squares += u128::from(nanos) * u128::from(nanos);
        // Extremes are rare: a branch costs less than a store.
        if nanos < self.min {
            self.min = nanos;
        }
        if nanos > self.max {
            self.max = nanos;
        }
        self.histogram.record(nanos);
    }

    /// Counts the delays of `other`, too.
    pub fn add(&mut self, other: &Self) {
        self.sum_of_squares += other.sum_of_squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.histogram.add(&other.histogram);
    }

    /// Prefetches what [`record`](Self::record) needs to count `delay`.
    #[inline]
    pub fn prefetch(&self, delay: Duration) {
        self.histogram.prefetch(delay.as_nanos());
    }

    /// Prefetches what the first delays need to be counted.
    #[inline]
    pub fn prefetch_room(&self) {
        self.histogram.prefetch_room();
    }

    /// Returns the number of delays counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.total()
    }

    /// Forgets all counts at the end of the warm-up.
    pub fn reset(&mut self) {
        self.histogram.reset();
        (self.sum_of_squares, self.min, self.max) = (0, u64::MAX, 0);
    }

    /// Returns the `percent` quantile of `count` delays in milliseconds: the exact extremes at 0 and 100, otherwise
    /// the histogram's quantile.
    fn percentile_ms(&self, percent: u8, count: u64, ranks: &Ranks<'_, C, BITS>) -> Option<f64> {
        let nanos = match percent {
            _ if count == 0 => return None,
            0 => self.min,
            100.. => self.max,
            _ => ranks.value(super::rank(percent, count))?.clamp(self.min, self.max),
        };
        Some(rounded(nanos as f64 / 1e6))
    }

    /// Returns the quantiles of 0, 1 … 100 percent in milliseconds, or `None` if nothing was measured.
    #[must_use]
    pub fn percentiles_ms(&self) -> Option<Vec<f64>> {
        let (count, ranks) = (self.count(), self.histogram.ranks());
        (0..=100).map(|percent| self.percentile_ms(percent, count, &ranks)).collect()
    }

    /// Returns the delay in milliseconds that 999 of 1000 do not exceed, or `None` if nothing was measured.
    #[must_use]
    pub fn p999_ms(&self) -> Option<f64> {
        let rank = (999 * self.count()).div_ceil(1000).max(1);
        let nanos = self.histogram.value_at_rank(rank)?.clamp(self.min, self.max);
        Some(rounded(nanos as f64 / 1e6))
    }

    /// Returns the summary for a record, or `None` if nothing was measured.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        let (count, ranks) = (self.count(), self.histogram.ranks());
        let n = count as f64;
        let mean = self.histogram.sum() as f64 / n;
        let variance = (self.sum_of_squares as f64 / n - mean * mean).max(0.0);
        Summary::of(mean, variance, |percent| self.percentile_ms(percent, count, &ranks))
    }
}

impl Summary {
    /// Returns the summary of delays with this mean and variance, in nanoseconds. `at_ms` returns their percentiles in
    /// milliseconds, or `None` if there is no delay.
    pub(super) fn of(mean: f64, variance: f64, at_ms: impl Fn(u8) -> Option<f64>) -> Option<Self> {
        Some(Self {
            mean: rounded(mean / 1e6),
            stddev: rounded(variance.sqrt() / 1e6),
            min: at_ms(0)?,
            p10: at_ms(10)?,
            p50: at_ms(50)?,
            p90: at_ms(90)?,
            p95: at_ms(95)?,
            p99: at_ms(99)?,
            max: at_ms(100)?,
        })
    }
}

crate::part! {
    /// A distribution of times, in milliseconds.
    #[derive(Copy)]
    pub struct Summary as "Delay" {
        /// Arithmetic mean.
        #[null_from(Irtt)]
        pub mean: f64,
        /// Standard deviation.
        #[null_from(Irtt, Iperf3)]
        pub stddev: f64,
        /// Least.
        #[null_from(Irtt)]
        pub min: f64,
        /// 10th percentile.
        #[null_from(Irtt, Iperf3)]
        pub p10: f64,
        /// Median.
        #[null_from(Irtt, Iperf3)]
        pub p50: f64,
        /// 90th percentile.
        #[null_from(Irtt, Iperf3)]
        pub p90: f64,
        /// 95th percentile.
        #[null_from(Irtt, Iperf3)]
        pub p95: f64,
        /// 99th percentile.
        #[null_from(Irtt, Iperf3)]
        pub p99: f64,
        /// Greatest.
        #[null_from(Irtt)]
        pub max: f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_1_to_100_ms_is_what_hand_arithmetic_gives() {
        let mut delays = QueueDelays::new();
        assert!(delays.summary().is_none(), "nothing measured is not zero");
        (1..=100).for_each(|ms| delays.record(Duration::from_millis(ms)));
        let summary = delays.summary().unwrap();
        // mean (1+100)/2; population variance (100^2-1)/12 = 833.25
        assert_eq!((summary.mean, summary.min, summary.max), (50.5, 1.0, 100.0));
        assert!((summary.stddev - 833.25_f64.sqrt()).abs() < 1e-5);
        for (got, want) in [(summary.p10, 10.0), (summary.p50, 50.0), (summary.p99, 99.0)] {
            assert!((got / want - 1.0_f64).abs() < 2e-3, "{got} {want}");
        }
        delays.reset();
        assert!(delays.summary().is_none());
    }

    /// Of 2000 delays, 999 of 1000 are the first 1998; of three, all.
    #[test]
    fn the_last_thousandth_is_two_of_two_thousand() {
        let mut delays = FlowDelays::new();
        assert_eq!(delays.p999_ms(), None);
        [10, 20, 30].into_iter().for_each(|us| delays.record(Duration::from_micros(us)));
        assert_eq!(delays.p999_ms(), Some(0.03));
        delays.reset();
        (1..=1998).for_each(|us| delays.record(Duration::from_micros(us)));
        (0..2).for_each(|_| delays.record(Duration::from_secs(1)));
        let found = delays.p999_ms().unwrap();
        assert!((found / 1.998 - 1.0).abs() < 0.008, "{found}");
    }
    /// 1, 2 and 4 ms: the extremes are exact, although the cells are exact only to 0.8 %. An empty distribution has
    /// no quantiles.
    #[test]
    fn percentiles_begin_and_end_at_the_extremes() {
        let mut delays = FlowDelays::new();
        assert_eq!((delays.percentiles_ms(), delays.summary().map(|all| all.p50)), (None, None));
        [1_000_001, 2_000_000, 4_000_003].into_iter().for_each(|ns| delays.record(Duration::from_nanos(ns)));
        let all = delays.percentiles_ms().unwrap();
        assert_eq!((all.len(), all[0], all[100]), (101, 1.000_001, 4.000_003));
        assert!(all.is_sorted() && (all[50] / 2.0 - 1.0).abs() < 0.008, "{all:?}");
    }

    /// Counted by hand: 7 % of 100 delays are the first 7. In floating point 0.07 times 100 is more than 7.
    #[test]
    fn seven_percent_of_a_hundred_delays_are_the_first_eight() {
        let mut delays = FlowDelays::new();
        (1..=100).for_each(|ms| delays.record(Duration::from_millis(ms)));
        let found = delays.percentiles_ms().unwrap()[7];
        assert!((found / 7.0 - 1.0).abs() < 0.008, "{found}");
    }
}
