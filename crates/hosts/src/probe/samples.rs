//! Numbers of single samples, for the engines that keep each of them. A run of the simulator keeps no samples: see
//! `delay` and `goodput`.

use super::delay::Summary;
use super::{nearest, rounded};

/// Delays in nanoseconds, in ascending order. A delay between two clocks may be negative.
pub struct Samples(Vec<i64>);

impl Samples {
    /// Sorts `delays`, in nanoseconds.
    #[must_use]
    pub fn new(mut delays: Vec<i64>) -> Self {
        delays.sort_unstable();
        Self(delays)
    }

    fn percentile_ms(&self, percent: u8) -> Option<f64> {
        nearest(&self.0, percent).map(|nanos| rounded(nanos as f64 / 1e6))
    }

    /// Returns the percentiles of 0, 1 … 100 percent in milliseconds, or `None` if there is no delay.
    #[must_use]
    pub fn percentiles_ms(&self) -> Option<Vec<f64>> {
        (0..=100).map(|percent| self.percentile_ms(percent)).collect()
    }

    /// Returns the summary for a record, or `None` if there is no delay.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        let n = self.0.len() as f64;
        let mean = self.0.iter().map(|&nanos| i128::from(nanos)).sum::<i128>() as f64 / n;
        let variance = self.0.iter().map(|&nanos| (nanos as f64 - mean).powi(2)).sum::<f64>() / n;
        Summary::of(mean, variance, |percent| self.percentile_ms(percent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 to 10 ms, not in order. By the nearest rank, 10 % is the first and 95 % the tenth. Deviation: √(99/12) ms.
    #[test]
    fn a_summary_is_exact() {
        let samples = Samples::new([9, 1, 3, 2, 10, 5, 4, 8, 7, 6].map(|ms| ms * 1_000_000).to_vec());
        let found = samples.summary().unwrap();
        assert_eq!((found.mean, found.stddev, found.min, found.max), (5.5, 2.872_281, 1.0, 10.0));
        assert_eq!((found.p10, found.p50, found.p90, found.p95, found.p99), (1.0, 5.0, 9.0, 10.0, 10.0));
        let percentiles = samples.percentiles_ms().unwrap();
        assert_eq!((percentiles.len(), percentiles[11], percentiles[100]), (101, 2.0, 10.0));
    }

    /// Guards against a zero where nothing was measured.
    #[test]
    fn no_samples_have_no_summary() {
        let samples = Samples::new(Vec::new());
        assert!(samples.summary().is_none() && samples.percentiles_ms().is_none());
    }
}
