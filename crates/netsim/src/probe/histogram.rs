//! How often each value came, in bounded memory: cells that are one wide for small values, and twice as wide with each
//! doubling of the value, as in HdrHistogram. What counts is one shift and one addition, because every packet is counted.

use goodqueue_units::prefetch;
use std::ops::AddAssign;

/// Counts of `C`, in `2^BITS` cells for each doubling of the value: a value is known to one part in as many.
pub(crate) struct Histogram<C, const BITS: u32> {
    /// Up to the highest value that came; before any, empty.
    cells: Box<[C]>,
}

impl<C: Copy + Default + AddAssign + From<u8> + Into<u64>, const BITS: u32> Histogram<C, BITS> {
    pub(crate) fn new() -> Self {
        Self { cells: Box::default() }
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
    fn cell(value: u64) -> usize {
        let bits = Self::width_bits(value);
        ((bits as usize) << BITS) + (value >> bits) as usize
    }

    /// Asks the processor for the cell of `value`.
    #[inline]
    pub(crate) fn prefetch(&self, value: u64) {
        if let Some(cell) = self.cells.get(Self::cell(value)) {
            prefetch(cell);
        }
    }

    /// Counts `value`.
    #[inline]
    pub(crate) fn record(&mut self, value: u64) {
        let cell = Self::cell(value);
        if cell >= self.cells.len() {
            self.grow(Self::width_bits(value));
        }
        self.cells[cell] += C::from(1);
    }

    /// Makes room for every value whose cells are `bits` wide.
    #[cold]
    fn grow(&mut self, bits: u32) {
        let mut cells = std::mem::take(&mut self.cells).into_vec();
        cells.resize((bits as usize + 2) << BITS, C::default());
        self.cells = cells.into_boxed_slice();
    }

    /// How many were counted.
    pub(crate) fn total(&self) -> u64 {
        self.cells.iter().map(|&count| count.into()).sum()
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.cells.fill(C::default());
    }

    /// The highest value of the cell that the `rank`th smallest is in, from 1; `None` where fewer were counted.
    pub(crate) fn value_at_rank(&self, rank: u64) -> Option<u64> {
        // Most cells are empty: whole groups are passed over.
        const GROUP: usize = 32;
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
        let bits = (cell >> BITS).saturating_sub(1);
        let above = (cell - (bits << BITS)) as u64 + 1;
        Some((above << bits) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        }
    }
}
