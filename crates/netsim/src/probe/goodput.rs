//! Goodput per five seconds, as quantiles over a run's bins. Khademi et al. 2013 draw box plots of it.

use goodqueue_hosts::probe::{nearest, rounded};
use goodqueue_units::Duration;

/// Length of a bin.
pub(crate) const BIN: Duration = Duration::from_secs(5);

/// Goodput of one flow in consecutive bins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bins {
    /// Bytes delivered when the last bin ended.
    before: u64,
    bytes: Vec<u64>,
}

goodqueue_hosts::part! {
    /// Quantiles of a flow's goodput over whole bins of five seconds.
    #[derive(Copy)]
    pub struct Quantiles {
        /// 10th percentile.
        pub p10: f64,
        /// Median.
        pub p50: f64,
        /// 90th percentile.
        pub p90: f64,
    }
}

impl Quantiles {
    /// Returns quantiles of `mbps`, the goodput of whole bins, by the nearest rank. `None` if there is no bin.
    #[must_use]
    pub fn of(mut mbps: Vec<f64>) -> Option<Self> {
        mbps.sort_unstable_by(f64::total_cmp);
        let at = |percent| nearest(&mbps, percent).map(rounded);
        Some(Self { p10: at(10)?, p50: at(50)?, p90: at(90)? })
    }
}

impl Bins {
    /// Starts the first bin at `delivered` bytes.
    pub(crate) fn start(&mut self, delivered: u64) {
        self.before = delivered;
        self.bytes.clear();
    }

    /// Ends a bin at `delivered` bytes. The bin counts only if the flow was active during all of it.
    pub(crate) fn end_bin(&mut self, delivered: u64, whole: bool) {
        if whole {
            self.bytes.push(delivered - self.before);
        }
        self.before = delivered;
    }

    /// Returns quantiles of the bins, or `None` if no bin was whole.
    pub(crate) fn quantiles(&self) -> Option<Quantiles> {
        Quantiles::of(self.bytes.iter().map(|bytes| *bytes as f64 * 8e-6 / BIN.as_secs_f64()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_ranks_of_whole_bins() {
        let mut bins = Bins::default();
        bins.start(1000);
        assert!(bins.quantiles().is_none());
        // 1 to 10 Mbit/s: 625,000 bytes per bin and Mbit/s
        let mut delivered = 1000;
        bins.end_bin(delivered, false);
        for mbps in 1..=10 {
            delivered += mbps * 625_000;
            bins.end_bin(delivered, true);
        }
        let quantiles = bins.quantiles().unwrap();
        assert_eq!((quantiles.p10, quantiles.p50, quantiles.p90), (1.0, 5.0, 9.0));
    }
    /// 625,000 bytes in 5 s are 1 Mbit/s. It would be wrong to count bytes from before the start in the first bin, or
    /// to keep bins from before the start.
    #[test]
    fn a_start_forgets_what_came_before() {
        let mut bins = Bins::default();
        bins.end_bin(6_250_000, true);
        bins.start(7_000_000);
        bins.end_bin(7_625_000, true);
        let quantiles = bins.quantiles().unwrap();
        assert_eq!((quantiles.p10, quantiles.p90), (1.0, 1.0));
    }
}
