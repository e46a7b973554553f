//! What is measured, one file a metric. Probes are bounded in memory: streaming histograms, not logs.

pub(crate) mod delay;
pub(crate) mod goodput;
mod histogram;
pub(crate) mod law;
pub(crate) mod mos;
pub(crate) mod series;

/// Rounds to six decimals: results are for people too, and nothing here is known better.
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// `a / b`, and 0 of nothing.
pub(crate) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// `part` of `whole` in percent, and 0 of nothing.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    rounded(ratio(100.0 * part as f64, whole as f64))
}
