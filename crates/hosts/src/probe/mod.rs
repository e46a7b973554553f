//! Measurements, one file per metric. Probes have bounded memory: they are streaming histograms, not logs.

pub mod delay;
pub(crate) mod histogram;
pub mod jitter;
pub mod mos;
pub mod samples;

/// Rounds to six decimals, halves away from zero: people read the results, too, and nothing here is known more
/// precisely.
#[must_use]
pub fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6 + 0.0 // -0.0 becomes 0.0
}

/// Returns `a / b`, or 0 if `b` is not positive.
#[must_use]
pub fn ratio(a: f64, b: f64) -> f64 {
    if b > 0.0 { a / b } else { 0.0 }
}

/// Returns `part` as a percentage of `whole`, or 0 if `whole` is 0.
#[must_use]
pub fn percent(part: impl Into<i128>, whole: impl Into<i128>) -> f64 {
    rounded(ratio(100.0 * part.into() as f64, whole.into() as f64))
}

/// Returns the rank, from 1, of the `percent` quantile of `count` values: the nearest rank. At least `percent` of the
/// values are at most that large (Hyndman & Fan 1996, definition 1).
fn rank(percent: u8, count: u64) -> u64 {
    (u64::from(percent) * count).div_ceil(100).max(1)
}

/// Returns the `percent` quantile of `ascending` values by the nearest rank, or `None` if there is no value.
#[must_use]
pub fn nearest<T: Copy>(ascending: &[T], percent: u8) -> Option<T> {
    ascending.get(rank(percent, ascending.len() as u64) as usize - 1).copied()
}

/// Returns Jain's fairness index, `(Σx)² / (n Σx²)`, or `None` if all shares are 0, or if there are fewer than two: one
/// share alone is 1 of any size (Jain, Chiu, Hawe 1984).
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (shares.len() > 1 && squares > 0.0).then(|| rounded(sum * sum / (shares.len() as f64 * squares)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_six_decimals_and_are_0_of_nothing() {
        assert_eq!((rounded(2.000_000_4), rounded(-1.999_999_6)), (2.0, -2.0));
        assert!(rounded(-1e-9).is_sign_positive(), "nobody wants to read -0.0");
        assert_eq!((ratio(3.0, 4.0), ratio(3.0, 0.0)), (0.75, 0.0));
        assert_eq!((percent(2, 3), percent(0, 3), percent(1, 0)), (66.666_667, 0.0, 0.0));
    }

    /// 7 % of 100 values are 7 values, although 0.07 * 100 is more than 7 in floating point. Guards against the next
    /// rank.
    #[test]
    fn the_nearest_rank_is_exact() {
        let ascending: Vec<u8> = (1..=100).collect();
        assert!((1..=100).all(|percent| nearest(&ascending, percent) == Some(percent)));
        assert_eq!(
            (nearest(&[1, 2], 0), nearest(&[1, 2], 50), nearest(&[1, 2], 51)),
            (Some(1), Some(1), Some(2))
        );
        assert_eq!(nearest::<u8>(&[], 50), None);
    }

    #[test]
    fn jains_index_is_one_for_equals_and_one_nth_for_a_monopoly() {
        assert_eq!(jain(&[2.0, 2.0, 2.0]), Some(1.0));
        assert_eq!(jain(&[6.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain(&[1.0, 3.0]), Some(0.8)); // 16 / (2 * 10)
        assert_eq!((jain(&[]), jain(&[7.0])), (None, None), "one flow shares with nobody");
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
