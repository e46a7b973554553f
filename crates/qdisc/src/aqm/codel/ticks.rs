//! The clock of CoDel in Linux: 32 bits of 1024 ns, wrapping.

use crate::qdisc::{Measure, Moment};
use goodqueue_units::{Duration, Instant};

/// Time as Linux's CoDel counts it: 32 bits of 1024 ns, wrapping after 73 minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticks(pub(super) u32);

impl Ticks {
    pub(super) fn at(now: Instant) -> Self {
        Self((now.as_nanos() >> 10) as u32)
    }
    pub(super) fn of(span: Duration) -> Self {
        Self((span.as_nanos() >> 10) as u32)
    }
    pub(super) fn plus(self, span: Self) -> Self {
        Self(self.0.wrapping_add(span.0))
    }
    pub(super) fn minus(self, earlier: Self) -> Self {
        Self(self.0.wrapping_sub(earlier.0))
    }
    /// Returns this number of ticks as a length of time that a probe can show.
    pub(super) fn span(self) -> Measure {
        Measure::Time(Some(f64::from(self.0) * 1024e-9))
    }
    /// Returns this tick as a point of time that a probe can show, if `is_set`.
    pub(super) fn moment(self, is_set: bool) -> Measure {
        Measure::Moment(is_set.then_some(Moment::wrapping(u64::from(self.0) << 10, u32::BITS + 10)))
    }
    /// Returns whether `self` is later than `other`, on a clock that wraps.
    pub(super) fn is_after(self, other: Self) -> bool {
        (other.0.wrapping_sub(self.0) as i32) < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_compares_across_its_wrap() {
        let before = Ticks(u32::MAX - 10);
        let after = before.plus(Ticks(20));
        assert!(after.is_after(before) && !before.is_after(after) && !before.is_after(before));
        assert_eq!(after.minus(before), Ticks(20));
    }
}
