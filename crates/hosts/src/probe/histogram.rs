//! Counts of values in bounded memory. Cells have a width of one for small values, and their width doubles with each
//! doubling of the value, as in HdrHistogram. Counting takes one shift and one addition, because every packet is
//! counted.
//!
//! There are cells only from the lowest value counted to the highest. Round-trip times lie close together and far
//! from zero: a flow takes about 500 bytes, and would take 11 kB with the cells below. Without these cells, a run of
//! 1000 flows or more does about 1.2 times as many packets per CPU second, because fewer memory pages are allocated
//! and looked up.
//!
//! A trick for memory: while there are few values, the memory holds their cells' numbers instead of counts, two in the
//! room of a count. The list grows by doubling. Cells replace it when it is full and they need no more than twice its
//! memory. The response times
//! of one home lie between 10 ms and 10 s: some hundred of them take 4 kB so, and 60 kB as cells. The trick costs
//! [`Histogram::record`] nothing, because no value has a cell before the first cell has a number.

use crate::sorting::sort_numbers;
use goodqueue_units::processor::prefetch;
use std::borrow::Cow;
use std::cell::Cell;
use std::ops::AddAssign;

/// The number of cells is a multiple of this.
const GROUP: usize = 32;
/// From this number on, [`Histogram::first`] says that there are no cells yet.
const FEW: u32 = 1 << 31;
/// Room for this number of counts in the first list.
const LEAST: usize = 4;
/// A list has so many numbers in the room of a count, each of 16 bits.
const PACKED: usize = 2;
/// Up to so many cells for each value of a list, counting it takes less time than sorting it.
const CELLS_PER_VALUE: usize = 8;

/// Counts of type `C`, in `2^BITS` cells per doubling of the value, so a value is known to one part in `2^BITS`. Also
/// the sum of all values.
pub(crate) struct Histogram<C, const BITS: u32> {
    /// The cells from number `first` on, in whole groups. If `first` is [`FEW`] or more: room for a list, which holds
    /// the cells' numbers of `first - FEW` values, in the order in which they came.
    cells: Box<[C]>,
    first: u32,
    /// How often `sum` overflowed 64 bits. A full u128 is not needed, and this leaves room for `first` in a cache
    /// line.
    carries: u32,
    sum: u64,
}

impl<C: Copy + Default + AddAssign + From<u32> + Into<u64>, const BITS: u32> Histogram<C, BITS> {
    pub(crate) fn new() -> Self {
        Self { cells: Box::default(), first: FEW, carries: 0, sum: 0 }
    }

    /// Returns the base-2 logarithm of the width of the cell of `value`.
    #[inline]
    fn width_bits(value: u64) -> u32 {
        const { assert!(BITS < 32) };
        let one_wide = (2 << BITS) - 1;
        63 - BITS - (value | one_wide).leading_zeros()
    }

    /// Returns the number of the cell of `value`.
    #[inline]
    fn number(value: u64) -> u32 {
        let bits = Self::width_bits(value);
        (bits << BITS) + (value >> bits) as u32
    }

    /// Returns the index of the cell in `cells`. Beyond their length, there is no such cell yet.
    #[inline]
    fn cell(&self, value: u64) -> usize {
        Self::number(value).wrapping_sub(self.first) as usize
    }

    /// Prefetches the cell of `value`.
    #[inline]
    pub(crate) fn prefetch(&self, value: u64) {
        if let Some(cell) = self.cells.get(self.cell(value)) {
            prefetch(cell);
        }
    }

    /// Prefetches the room of the next value, if there are no cells yet.
    #[inline]
    pub(crate) fn prefetch_room(&self) {
        if let Some(room) = self.few().and_then(|values| self.cells.get(values / PACKED)) {
            prefetch(room);
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
            None => self.record_rare(Self::number(value)),
        }
    }

    /// Counts a value of the cell with this `number`, which does not exist yet.
    #[cold]
    fn record_rare(&mut self, number: u32) {
        const { assert!((65 - BITS) << BITS <= 1 << 16, "numbers have 16 bits") };
        let Some(values) = self.few() else {
            *self.grow(number) += C::from(1);
            return;
        };
        let room = self.cells.len();
        if values == PACKED * room {
            let (least, most) = Self::listed(&self.cells, values)
                .fold((number, number), |(least, most), other| (least.min(other), most.max(other)));
            if values > 0 && most - least < 2 * room as u32 {
                self.spread();
                return self.count(number, C::from(1));
            }
            let mut longer = vec![C::default(); (2 * room).max(LEAST)];
            longer[..room].copy_from_slice(&self.cells);
            self.cells = longer.into_boxed_slice();
        }
        self.cells[values / PACKED] += C::from(number << (16 * (values % PACKED)));
        self.first += 1;
    }

    /// Returns the number of values in the list, if there are no cells yet.
    fn few(&self) -> Option<usize> {
        self.first.checked_sub(FEW).map(|values| values as usize)
    }

    /// Returns the numbers in a list of so many `values`.
    fn listed(list: &[C], values: usize) -> impl Iterator<Item = u32> {
        let number = |at: usize| list[at / PACKED].into() >> (16 * (at % PACKED)) & 0xffff;
        (0..values).map(move |at| number(at) as u32)
    }

    /// Makes cells of the list.
    fn spread(&mut self) {
        let Some(values) = self.few() else { return };
        let list = std::mem::take(&mut self.cells);
        self.first = 0;
        Self::listed(&list, values).for_each(|number| self.count(number, C::from(1)));
    }

    /// Adds `count` to the cell with this `number`. There are cells.
    fn count(&mut self, number: u32, count: C) {
        match self.cells.get_mut(number.wrapping_sub(self.first) as usize) {
            Some(cell) => *cell += count,
            None => *self.grow(number) += count,
        }
    }

    /// Counts the values of `other`, too.
    pub(crate) fn add(&mut self, other: &Self) {
        let (sum, carry) = self.sum.overflowing_add(other.sum);
        (self.sum, self.carries) = (sum, self.carries + other.carries + u32::from(carry));
        self.spread();
        if let Some(values) = other.few() {
            Self::listed(&other.cells, values).for_each(|number| self.count(number, C::from(1)));
            return;
        }
        let counts = (other.first..).zip(&other.cells);
        for (number, &count) in counts.filter(|&(_, &count)| count.into() > 0) {
            self.count(number, count);
        }
    }

    /// Returns the cell with this `number`, which does not exist yet. Adds at least half as many cells as there are,
    /// so that this is rare.
    #[cold]
    fn grow(&mut self, number: u32) -> &mut C {
        let (number, more) = (number as usize, self.cells.len() / 2);
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
        (self.cells, self.first) = (cells.into_boxed_slice(), first as u32);
        &mut self.cells[number - first]
    }

    /// Returns the sum of all values.
    pub(crate) fn sum(&self) -> u128 {
        u128::from(self.carries) << 64 | u128::from(self.sum)
    }

    /// Returns the number of values counted.
    pub(crate) fn total(&self) -> u64 {
        self.few().map_or_else(|| self.cells.iter().map(|&count| count.into()).sum(), |values| values as u64)
    }

    /// Forgets all counts.
    pub(crate) fn reset(&mut self) {
        self.cells.fill(C::default());
        (self.first, self.sum, self.carries) = (self.first.min(FEW), 0, 0);
    }

    /// Returns what answers questions about ranks.
    pub(crate) fn ranks(&self) -> Ranks<'_, C, BITS> {
        let first = self.first;
        let Some(values) = self.few() else {
            let cells = Cow::Borrowed(&*self.cells);
            return Ranks { cells, is_list: false, first, found: Cell::default() };
        };
        let numbers = || Self::listed(&self.cells, values);
        let (least, most) = numbers().fold((u32::MAX, 0), |(least, most), n| (least.min(n), most.max(n)));
        if !cfg!(target_family = "wasm") // whose module is smaller without it
            && let Some(span) = most.checked_sub(least)
            && span as usize <= CELLS_PER_VALUE * values
        {
            let mut cells = vec![C::default(); span as usize + 1];
            numbers().for_each(|number| cells[(number - least) as usize] += C::from(1));
            return Ranks { cells: Cow::Owned(cells), is_list: false, first: least, found: Cell::default() };
        }
        let mut list: Vec<C> = numbers().map(C::from).collect();
        sort_numbers(&mut list);
        Ranks { cells: Cow::Owned(list), is_list: true, first, found: Cell::default() }
    }

    /// Returns the highest value of the cell with the `rank`th smallest value, from 1, or `None` if fewer were
    /// counted. For several ranks of one histogram, [`ranks`](Self::ranks) does less.
    pub(crate) fn value_at_rank(&self, rank: u64) -> Option<u64> {
        self.ranks().value(rank)
    }

    /// Returns the highest value of the cell with this number.
    fn highest(number: usize) -> u64 {
        let bits = (number >> BITS).saturating_sub(1);
        let above = (number - (bits << BITS)) as u64 + 1;
        (above << bits).wrapping_sub(1) // the last cell ends at 2^64
    }
}

/// The counts of a histogram, as questions about ranks need them.
pub(crate) struct Ranks<'a, C: Clone, const BITS: u32> {
    /// The cells, or the sorted list.
    cells: Cow<'a, [C]>,
    is_list: bool,
    first: u32,
    /// The group of cells with the last answer, and the number of values before it. Most questions ascend.
    found: Cell<(usize, u64)>,
}

impl<C: Copy + Default + AddAssign + From<u32> + Into<u64>, const BITS: u32> Ranks<'_, C, BITS> {
    /// Returns the highest value of the cell with the `rank`th smallest value, from 1, or `None` if fewer were
    /// counted.
    pub(crate) fn value(&self, rank: u64) -> Option<u64> {
        if self.is_list {
            let number = self.cells.get(rank.max(1) as usize - 1)?;
            return Some(Histogram::<C, BITS>::highest((*number).into() as usize));
        }
        // Most cells are empty, so whole groups are skipped.
        let sum = |cells: &[C]| cells.iter().map(|&count| count.into()).sum::<u64>();
        let (mut cell, mut seen) = self.found.get();
        if seen >= rank.max(1) {
            (cell, seen) = (0, 0);
        }
        for group in self.cells[cell..].chunks(GROUP) {
            let all = sum(group);
            if seen + all >= rank.max(1) {
                break;
            }
            (cell, seen) = (cell + group.len(), seen + all);
        }
        self.found.set((cell, seen));
        cell += self.cells[cell..].iter().position(|&count| {
            seen += count.into();
            seen >= rank.max(1)
        })?;
        Some(Histogram::<C, BITS>::highest(cell + self.first as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Two histograms that are added must have the ranks and the sum of one that counted all values, whether or not
    /// their cells overlap.
    #[test]
    fn histograms_add_up() {
        let count = |values: &[u64]| {
            let mut histogram = Histogram::<u32, 7>::new();
            values.iter().for_each(|&value| histogram.record(value));
            histogram
        };
        let parts: [&[u64]; 4] = [&[50_000, 60_000, 60_001], &[7, 7, 9], &[], &[1 << 40, u64::MAX, u64::MAX]];
        let (mut sum, all) = (Histogram::new(), count(&parts.concat()));
        parts.iter().for_each(|part| sum.add(&count(part)));
        assert_eq!((sum.sum(), sum.total()), (all.sum(), 9));
        for rank in 1..=9 {
            assert_eq!(sum.value_at_rank(rank), all.value_at_rank(rank), "rank {rank}");
        }
    }

    /// A ping that nothing answers has a list without values.
    #[test]
    fn no_values_have_no_ranks() {
        assert_eq!(Histogram::<u32, 7>::new().value_at_rank(1), None);
    }

    /// The sum of three greatest values, 3 (2^64 - 1), continues beyond 64 bits.
    #[test]
    fn a_sum_is_carried_on() {
        let mut histogram = Histogram::<u32, 7>::new();
        (0..3).for_each(|_| histogram.record(u64::MAX));
        assert_eq!((histogram.sum(), histogram.total()), (3 * u128::from(u64::MAX), 3));
    }

    proptest! {
        /// Compares with the crate hdrhistogram, which has the same cells: a wrong cell would show in a quantile.
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
            // Whatever was asked before.
            let (ranks, all) = (ours.ranks(), 1..=values.len() as u64 + 1);
            for rank in all.clone().chain(all.rev()) {
                prop_assert_eq!(ranks.value(rank), ours.value_at_rank(rank));
            }
            let sum = values.iter().map(|(value, shift)| u128::from(value >> shift)).sum::<u128>();
            prop_assert_eq!((ours.sum(), ours.total()), (sum, values.len() as u64));
        }
    }

    /// A subscriber's response times must take the memory of their number, not of their range.
    #[test]
    fn few_values_far_apart_take_a_list() {
        let mut times = Histogram::<u64, 10>::new();
        (0..400).for_each(|n| times.record(10_000_000 + n * n * 50_000));
        assert!(size_of_val(&*times.cells) <= 4096, "{} bytes", size_of_val(&*times.cells));
        assert_eq!((times.total(), times.value_at_rank(401)), (400, None));
        times.reset();
        assert_eq!((times.total(), times.value_at_rank(1)), (0, None));
    }

    /// With such cells, 100,000 flows would not fit in memory.
    #[test]
    fn round_trips_take_no_cells_below_the_shortest() {
        let mut rtt = Histogram::<u32, 7>::new();
        (100_000_000..200_000_000).step_by(100_000).for_each(|nanos| rtt.record(nanos));
        assert!(size_of_val(&*rtt.cells) <= 1024, "{} bytes", size_of_val(&*rtt.cells));
    }
    /// 2048 values in as many cells, upwards or downwards, with half as many cells added each time: 32 * 1.5^n, in
    /// whole groups of 32, exceeds 2048 after about ten times. It would be wrong to add one group each time and copy
    /// everything 63 times.
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
