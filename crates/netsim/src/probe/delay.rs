//! Distributions of delays: exact mean, deviation and extremes; quantiles from a streaming histogram.

use super::histogram::Histogram;
use super::rounded;
use goodqueue_units::Duration;
use serde::Serialize;
use std::ops::AddAssign;

/// A distribution of delays in bounded memory; in nanoseconds.
pub(crate) struct Delays<C, const BITS: u32> {
    count: u64,
    sum: u128,
    sum_of_squares: u128,
    min: u64,
    max: u64,
    histogram: Histogram<C, BITS>,
}

/// The distribution of a queue's delays: every packet is recorded, quantiles are exact to 0.1 %.
pub(crate) type QueueDelays = Delays<u64, 10>;
/// The distribution of one flow's round-trip times: quantiles exact to 0.8 %, about 15 kB.
pub(crate) type FlowDelays = Delays<u32, 7>;

impl<C: Copy + Default + AddAssign + From<u8> + Into<u64>, const BITS: u32> Delays<C, BITS> {
    pub(crate) const fn new() -> Self {
        Self { count: 0, sum: 0, sum_of_squares: 0, min: u64::MAX, max: 0, histogram: Histogram::new() }
    }

    /// Counts one delay.
    #[inline]
    pub(crate) fn record(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        self.count += 1;
        self.sum += u128::from(nanos);
        self.sum_of_squares += u128::from(nanos) * u128::from(nanos);
        self.min = self.min.min(nanos);
        self.max = self.max.max(nanos);
        self.histogram.record(nanos);
    }

    /// How many were counted.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Forgets everything: the warm-up is over.
    pub(crate) fn reset(&mut self) {
        self.histogram.reset();
        (self.count, self.sum, self.sum_of_squares, self.min, self.max) = (0, 0, 0, u64::MAX, 0);
    }

    /// The `percent` quantile in milliseconds: the exact extremes at 0 and 100, in between the histogram's.
    pub(crate) fn percentile_ms(&self, percent: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let nanos = if percent <= 0.0 {
            self.min
        } else if percent >= 100.0 {
            self.max
        } else {
            let rank = (percent / 100.0 * self.count as f64).ceil() as u64;
            self.histogram.value_at_rank(rank)?.clamp(self.min, self.max)
        };
        Some(rounded(nanos as f64 / 1e6))
    }

    /// The summary that a record prints; `None` if nothing was measured.
    pub(crate) fn summary(&self) -> Option<Summary> {
        let n = self.count as f64;
        let mean = self.sum as f64 / n;
        let variance = (self.sum_of_squares as f64 / n - mean * mean).max(0.0);
        Some(Summary {
            mean: rounded(mean / 1e6),
            stddev: rounded(variance.sqrt() / 1e6),
            min: self.percentile_ms(0.0)?,
            p10: self.percentile_ms(10.0)?,
            p50: self.percentile_ms(50.0)?,
            p90: self.percentile_ms(90.0)?,
            p95: self.percentile_ms(95.0)?,
            p99: self.percentile_ms(99.0)?,
            max: self.percentile_ms(100.0)?,
        })
    }
}

/// A distribution of delays, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation over packets.
    pub stddev: f64,
    /// Least.
    pub min: f64,
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Greatest.
    pub max: f64,
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
}
