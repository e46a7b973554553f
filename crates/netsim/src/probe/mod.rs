//! What is measured, one file a metric. Probes are bounded in memory: streaming histograms, not logs.

pub(crate) mod delay;
pub(crate) mod goodput;
pub(crate) mod series;

/// Rounds to six decimals: results are for people too, and nothing here is known better.
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}
