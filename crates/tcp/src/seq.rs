//! Sequence numbers: 32 bits that wrap (RFC 9293, section 3.4).

use core::cmp::Ordering;
use core::ops::{Add, AddAssign, Sub};

/// A point in the sequence space of one direction.
///
/// Comparison is modulo 2³². It is meaningful between numbers less than 2³¹ apart, as all numbers of one window are.
/// The order is not transitive around the circle, so there is no `Ord`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SeqNumber(pub u32);

impl SeqNumber {
    /// Returns the bytes from `earlier` to `self`, modulo 2³².
    #[inline]
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Returns the later of the two.
    #[inline]
    #[must_use]
    pub fn later(self, other: Self) -> Self {
        if self < other { other } else { self }
    }

    /// Returns the earlier of the two.
    #[inline]
    #[must_use]
    pub fn earlier(self, other: Self) -> Self {
        if other < self { other } else { self }
    }
}

impl Add<u32> for SeqNumber {
    type Output = Self;
    #[inline]
    fn add(self, bytes: u32) -> Self {
        Self(self.0.wrapping_add(bytes))
    }
}

impl AddAssign<u32> for SeqNumber {
    #[inline]
    fn add_assign(&mut self, bytes: u32) {
        *self = *self + bytes;
    }
}

impl Sub<u32> for SeqNumber {
    type Output = Self;
    #[inline]
    fn sub(self, bytes: u32) -> Self {
        Self(self.0.wrapping_sub(bytes))
    }
}

impl PartialOrd for SeqNumber {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some((self.since(*other) as i32).cmp(&0))
    }
    // Written out (instructions): the default goes through `Ordering`, which costs time on the hot path in builds
    // without LTO.
    #[inline]
    fn lt(&self, other: &Self) -> bool {
        (self.since(*other) as i32) < 0
    }
    #[inline]
    fn le(&self, other: &Self) -> bool {
        (self.since(*other) as i32) <= 0
    }
    #[inline]
    fn gt(&self, other: &Self) -> bool {
        (self.since(*other) as i32) > 0
    }
    #[inline]
    fn ge(&self, other: &Self) -> bool {
        (self.since(*other) as i32) >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_across_the_wrap() {
        let before = SeqNumber(u32::MAX - 1);
        let after = before + 10;
        assert_eq!(after, SeqNumber(8));
        assert_eq!(before.partial_cmp(&after), Some(Ordering::Less));
        let [lt, le, gt, ge] = [before < after, before <= after, before > after, before >= after];
        assert_eq!([lt, le, gt, ge], [true, true, false, false]);
        assert_eq!(after.since(before), 10);
        assert_eq!(after - 10, before);
        assert_eq!((before.later(after), before.earlier(after)), (after, before));
    }
}
