//! How often each value came, in bounded memory: cells that are one wide for small values, and twice as wide with each
//! doubling of the value, as in HdrHistogram. What counts is one shift and one addition, because every packet is
//! counted.
//!
//! There are cells only from the lowest value that came to the highest. Round trips lie close together, far from zero:
//! a flow's take about 500 bytes, and would take 11 kB with the cells below them. A run of 1000 flows and more does
//! about 1.2 times as many packets a CPU second without those, which is pages that need not be got and looked up.

use goodqueue_units::processor::prefetch;
use std::ops::AddAssign;

/// Cells come in groups of so many.
const GROUP: usize = 32;

/// Counts of `C`, in `2^BITS` cells for each doubling of the value, of which one is known to one part in as many; and
/// the sum of all values.
pub(crate) struct Histogram<C, const BITS: u32> {
    /// Cells number `first` and those after it, in whole groups; before anything was counted, none.
    cells: Box<[C]>,
    first: u32,
    /// How often `sum` went past 64 bits: so much of a u128 is enough, and leaves room for `first` in a cache line.
    carries: u32,
    sum: u64,
}

impl<C: Copy + Default + AddAssign + From<u8> + Into<u64>, const BITS: u32> Histogram<C, BITS> {
    pub(crate) fn new() -> Self {
        Self { cells: Box::default(), first: 0, carries: 0, sum: 0 }
    }

    /// By how many bits the cells of `value` are wider than one.
    #[inline]
    fn width_bits(value: u64) -> u32 {
        const { assert!(BITS < 32) };
        let one_wide = (2 << BITS) - 1;
        63 - BITS - (value | one_wide).leading_zeros()
    }

    /// The number of the cell of `value`.
    #[inline]
    fn number(value: u64) -> u32 {
        let bits = Self::width_bits(value);
        (bits << BITS) + (value >> bits) as u32
    }

    /// Where among those that there are the cell is; none of them, if it is beyond their number.
    #[inline]
    fn cell(&self, value: u64) -> usize {
        Self::number(value).wrapping_sub(self.first) as usize
    }

    /// Asks the processor for the cell of `value`.
    #[inline]
    pub(crate) fn prefetch(&self, value: u64) {
        if let Some(cell) = self.cells.get(self.cell(value)) {
            prefetch(cell);
        }
    }

    /// Counts `value`.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        let (sum, carry) = self.sum.overflowing_add(value);
        (self.sum, self.carries) = (sum, self.carries + u32::from(carry));
        let cell = self.cell(value);
        match self.cells.get_mut(cell) {
            Some(cell) => *cell += C::from(1),
            None => self.grow(value),
        }
    }

    /// Counts `value`, whose cell there is not yet. By half as many as there are, at least, so that it is seldom.
    #[cold]
    fn grow(&mut self, value: u64) {
        let (number, more) = (Self::number(value) as usize, self.cells.len() / 2);
        let (mut first, mut end) = (self.first as usize, self.first as usize + self.cells.len());
        if self.cells.is_empty() {
            (first, end) = (number, number + 1);
        } else if number < first {
            first = number.min(first.saturating_sub(more));
        } else {
            end = (number + 1).max(end + more);
        }
        first -= first % GROUP;
        let mut cells = vec![C::default(); end.next_multiple_of(GROUP) - first];
        if !self.cells.is_empty() {
            cells[self.first as usize - first..][..self.cells.len()].copy_from_slice(&self.cells);
        }
        cells[number - first] += C::from(1);
        (self.cells, self.first) = (cells.into_boxed_slice(), first as u32);
    }

    /// The sum of all values.
    pub(crate) fn sum(&self) -> u128 {
        u128::from(self.carries) << 64 | u128::from(self.sum)
    }

    /// How many were counted.
    pub(crate) fn total(&self) -> u64 {
        self.cells.iter().map(|&count| count.into()).sum()
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.cells.fill(C::default());
        (self.sum, self.carries) = (0, 0);
    }

    /// The highest value of the cell that the `rank`th smallest is in, from 1; `None` where fewer were counted.
    pub(crate) fn value_at_rank(&self, rank: u64) -> Option<u64> {
        // Most cells are empty: whole groups are passed over.
        let sum = |cells: &[C]| cells.iter().map(|&count| count.into()).sum::<u64>();
        let (mut cell, mut seen) = (0, 0);
        for group in self.cells.chunks(GROUP) {
            let all = sum(group);
            if seen + all >= rank.max(1) {
                break;
            }
            (cell, seen) = (cell + group.len(), seen + all);
        }
        cell += self.cells[cell..].iter().position(|&count| {
            seen += count.into();
            seen >= rank.max(1)
        })?;
        cell += self.first as usize;
        let bits = (cell >> BITS).saturating_sub(1);
        let above = (cell - (bits << BITS)) as u64 + 1;
        Some((above << bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Three of the greatest, 3 (2^64 - 1): the sum goes on beyond 64 bits.
    #[test]
    fn a_sum_is_carried_on() {
        let mut histogram = Histogram::<u32, 7>::new();
        (0..3).for_each(|_| histogram.record(u64::MAX));
        assert_eq!((histogram.sum(), histogram.total()), (3 * u128::from(u64::MAX), 3));
    }

    proptest! {
        /// Against the crate hdrhistogram, which has the same cells: a wrong one would show in a quantile.
        #[test]
        fn ranks_are_those_of_hdrhistogram(values in prop::collection::vec((0_u64..1 << 40, 0_u32..40), 1..200)) {
            let mut ours = Histogram::<u32, 7>::new();
            let mut theirs = hdrhistogram::Histogram::<u32>::new(2).unwrap();
            let mut fine = Histogram::<u64, 10>::new();
            let mut fine_theirs = hdrhistogram::Histogram::<u64>::new(3).unwrap();
            for (value, shift) in values.iter().map(|(value, shift)| (value >> shift, shift)) {
                prop_assert!(*shift < 40);
                ours.record(value);
                fine.record(value);
                theirs.record(value).unwrap();
                fine_theirs.record(value).unwrap();
            }
            for rank in 1..=values.len() as u64 {
                let quantile = (rank as f64 - 0.5) / values.len() as f64;
                prop_assert_eq!(ours.value_at_rank(rank), Some(theirs.value_at_quantile(quantile)));
                prop_assert_eq!(fine.value_at_rank(rank), Some(fine_theirs.value_at_quantile(quantile)));
            }
            prop_assert_eq!(ours.value_at_rank(values.len() as u64 + 1), None);
            let sum = values.iter().map(|(value, shift)| u128::from(value >> shift)).sum::<u128>();
            prop_assert_eq!((ours.sum(), ours.total()), (sum, values.len() as u64));
        }
    }

    /// Else a hundred thousand flows would not fit in memory.
    #[test]
    fn round_trips_take_no_cells_below_the_shortest() {
        let mut rtt = Histogram::<u32, 7>::new();
        (100_000_000..200_000_000).step_by(100_000).for_each(|nanos| rtt.record(nanos));
        assert!(size_of_val(&*rtt.cells) <= 1024, "{} bytes", size_of_val(&*rtt.cells));
    }
    /// 2048 values in as many cells, upwards or downwards, and by half as many cells more each time: 32 * 1.5^n, in
    /// whole groups of 32, are 2048 and more after ten times. Wrong would be one group more each time, 63 times all
    /// copied.
    #[test]
    fn cells_that_are_added_are_half_as_many_as_there_are() {
        fn sizes(values: impl Iterator<Item = u64>) -> usize {
            let mut histogram = Histogram::<u32, 10>::new();
            let sizes: std::collections::BTreeSet<usize> = values
                .map(|value| {
                    histogram.record(value);
                    histogram.cells.len()
                })
                .collect();
            sizes.len()
        }
        let (up, down) = (sizes(0..2048), sizes((0..2048).rev()));
        assert!(up <= 12 && down <= 12, "{up} {down}");
    }
}
