//! A table of which only the used entries take memory.
//!
//! A trick for memory and the processor's cache: a tin has 1024 flows and as many hosts, and a subscriber uses a few
//! dozen of them. Entries are made on first use, one after the other, and are never given back, because a flow's state
//! outlives its packets. An entry is known by its *position* among those that are used. Only a packet that arrives asks
//! for an entry by its *place*: what leaves knows the position.
//!
//! Gain: 1000 subscribers for 2 s take 91 MB, not 227 MB (`docs/results/benchmarks.md`, "Many subscribers").

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
#[cfg(feature = "complete")]
use goodqueue_units::processor::prefetch;

/// What is in such a table.
pub(super) trait Entry {
    /// Makes the entry of a place, which gets this position.
    fn at(place: u16, position: u16) -> Self;
}

/// Entries by place. The memory is allocated by [`Sparse::open`].
#[derive(Clone, Debug)]
pub(super) struct Sparse<T> {
    known: Known,
    /// The used entries, in the order of their first use. The first one stands for all that are not used.
    used: Vec<T>,
}

/// The place (in the upper half) and the position of each used entry, at the place's home or behind it. 0: free. The
/// number of these is a power of two, and at most half of them are taken.
#[derive(Clone, Debug, Default)]
struct Known(Box<[u32]>);

impl Known {
    /// Returns where a place is known, or where it would be.
    #[inline]
    fn home(&self, place: u16) -> usize {
        let last = self.0.len() - 1;
        let mut at = usize::from(place) & last;
        while self.0[at] != 0 && self.0[at] >> 16 != u32::from(place) {
            at = (at + 1) & last;
        }
        at
    }

    /// Adds a place, whose position follows that of the place added before.
    #[cold]
    fn add(&mut self, place: u16, position: u16) {
        if 2 * usize::from(position) > self.0.len() {
            let more = alloc::vec![0; 2 * self.0.len()].into_boxed_slice();
            for entry in core::mem::replace(&mut self.0, more) {
                if entry != 0 {
                    self.0[self.home((entry >> 16) as u16)] = entry;
                }
            }
        }
        self.0[self.home(place)] = u32::from(place) << 16 | u32::from(position);
    }
}

impl<T: Entry> Sparse<T> {
    /// Returns a table without places.
    pub(super) fn new() -> Self {
        Self { known: Known::default(), used: Vec::new() }
    }

    /// Makes the table.
    pub(super) fn open(&mut self) {
        self.known.0 = Box::from([0; 8]);
        self.used.push(T::at(0, 0));
    }

    pub(super) fn is_open(&self) -> bool {
        !self.used.is_empty()
    }

    /// Returns the position of `place`, if the table is open. 0: the entry is not used.
    #[inline]
    pub(super) fn find(&self, place: u16) -> u16 {
        self.known.0[self.known.home(place)] as u16
    }

    /// Returns the entry of `place`, if the table is open.
    pub(super) fn get(&self, place: u16) -> Option<&T> {
        if self.is_open() { self.used.get(usize::from(self.find(place))) } else { None }
    }

    /// Prefetches what finds the position of `place`.
    #[cfg(feature = "complete")]
    #[inline]
    pub(super) fn prefetch_place(&self, place: u16) {
        if let Some(known) = self.known.0.get(usize::from(place) & self.known.0.len().wrapping_sub(1)) {
            prefetch(known);
        }
    }

    /// Returns the position of `place`, whose entry becomes a used one. It stays the same.
    #[inline]
    pub(super) fn position(&mut self, place: u16) -> u16 {
        match self.find(place) {
            0 => self.begin(place),
            position => position,
        }
    }

    /// Returns the entry at a [position](Self::position).
    #[inline]
    pub(super) fn at(&self, position: u16) -> Option<&T> {
        self.used.get(usize::from(position))
    }

    /// Makes the entry of `place`, and returns its position.
    #[cold]
    fn begin(&mut self, place: u16) -> u16 {
        let position = self.used.len() as u16;
        self.known.add(place, position);
        self.used.push(T::at(place, position));
        position
    }

    /// Returns the used entries.
    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.used.iter().skip(1)
    }
}

impl<T> Index<u16> for Sparse<T> {
    type Output = T;
    #[inline]
    fn index(&self, position: u16) -> &T {
        &self.used[usize::from(position)]
    }
}

impl<T> IndexMut<u16> for Sparse<T> {
    #[inline]
    fn index_mut(&mut self, position: u16) -> &mut T {
        debug_assert!(position != 0, "nothing changes the entry that stands for all");
        &mut self.used[usize::from(position)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Entry for (u16, u16) {
        fn at(place: u16, position: u16) -> Self {
            (place, position)
        }
    }

    /// Reading must use no entry, and asking for a position only its own.
    #[test]
    fn only_used_entries_take_memory() {
        let mut table = Sparse::<(u16, u16)>::new();
        assert!(!table.is_open() && table.get(0).is_none() && table.at(0).is_none());
        table.open();
        assert_eq!((table.find(70), table.get(70), table.used.len()), (0, Some(&(0, 0)), 1), "none is used");
        assert_eq!([70, 3, 70].map(|place| table.position(place)), [1, 2, 1]);
        assert_eq!((table[1], table[2], table.get(71)), ((70, 1), (3, 2), Some(&(0, 0))));
        assert_eq!(table.iter().copied().collect::<Vec<_>>(), [(70, 1), (3, 2)]);
    }

    /// Places that share a home are told apart, and all stay known while the table grows.
    #[test]
    fn each_place_keeps_its_position() {
        let mut table = Sparse::<(u16, u16)>::new();
        table.open();
        let places = (0..1024_u32).map(|number| (number * 389 % 1024 / 64 * 64 + number % 64) as u16);
        let mut found = alloc::collections::BTreeMap::new();
        for place in places.clone().chain(places) {
            let position = table.position(place);
            assert_eq!(*found.entry(place).or_insert(position), position);
            assert_eq!((table[position], table.find(place)), ((place, position), position));
        }
        assert_eq!(table.iter().count(), found.len());
    }
}
