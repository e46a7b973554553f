//! CoDel as RFC 8289 has it: the variant `rfc8289`.
//!
//! Source: RFC 8289, 5.6. Its rules are those of [`Law`] itself: the exact root, and the first drop from
//! `now >= first_above_time` on. The difference to Linux is small until a round trip is longer than the interval: then
//! it decides whether one drop or two hit the window that TCP is about to reduce (see studies/schwardmann2014).

use super::law::Law;

/// The RFC's CoDel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rfc8289;

impl Law for Rfc8289 {}

#[cfg(test)]
mod tests {
    use super::super::tests::params;
    use super::super::ticks::Ticks;
    use super::super::vars::Vars;
    use super::*;

    /// RFC 8289, 5.6: with an interval of 100 ms the gaps after one to four drops are 100, 70.7, 57.7 and 50 ms.
    #[test]
    fn the_gaps_follow_the_exact_root() {
        let interval = params::<Rfc8289>().interval;
        for (count, gap_ms) in [(1, 100.0), (2, 70.711), (3, 57.735), (4, 50.0)] {
            let Ticks(gap) = Rfc8289::interval_next(&Vars { count, ..Vars::default() }, interval);
            assert!((f64::from(gap) * 1.024e-3 - gap_ms).abs() < 0.01, "count {count}: {gap} ticks");
        }
    }
}
