//! Measurements, one file per metric. Probes have bounded memory: they are streaming histograms, not logs.

pub(crate) mod delay;
pub(crate) mod goodput;
pub(crate) mod histogram;
pub(crate) mod law;
pub(crate) mod mos;
pub(crate) mod series;

/// Rounds to six decimals: people read the results, too, and nothing here is known more precisely.
pub(crate) fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

/// Returns `a / b`, or 0 if `b` is not positive.
pub(crate) fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Returns `part` as a percentage of `whole`, or 0 if `whole` is 0.
pub(crate) fn percent(part: u64, whole: u64) -> f64 {
    rounded(ratio(100.0 * part as f64, whole as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_six_decimals_and_are_0_of_nothing() {
        assert_eq!((rounded(2.000_000_4), rounded(-1.999_999_6)), (2.0, -2.0));
        assert_eq!((ratio(3.0, 4.0), ratio(3.0, 0.0)), (0.75, 0.0));
        assert_eq!((percent(2, 3), percent(0, 3), percent(1, 0)), (66.666_667, 0.0, 0.0));
    }
}
