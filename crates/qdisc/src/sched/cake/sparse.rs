//! A table of which only the used entries take memory.
//!
//! A trick for memory and the processor's cache: a tin has 1024 flows and as many hosts, and a subscriber uses a few
//! dozen of them. Entries are made on first use, one after the other, and are never given back, because a flow's state
//! outlives its packets. Until then an entry costs the two bytes of its place.
//!
//! Gain: 1000 subscribers for 2 s take 91 MB, not 227 MB (`docs/results/benchmarks.md`, "Many subscribers").

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ops::{Index, IndexMut};
#[cfg(feature = "complete")]
use goodqueue_units::processor::prefetch;

/// What is in such a table.
pub(super) trait Entry {
    /// Makes the entry of a place.
    fn at(place: u16) -> Self;
}

/// Entries by place. The memory is allocated by [`Sparse::open`].
#[derive(Clone, Debug)]
pub(super) struct Sparse<T> {
    /// By place, the position in `used`. 0: not used yet.
    places: Box<[u16]>,
    /// The used entries, in the order of their first use. The first one stands for all that are not used.
    used: Vec<T>,
}

impl<T: Entry> Sparse<T> {
    /// Returns a table without places.
    pub(super) fn new() -> Self {
        Self { places: Box::default(), used: Vec::new() }
    }

    /// Makes `len` places.
    pub(super) fn open(&mut self, len: usize) {
        self.places = alloc::vec![0; len].into_boxed_slice();
        self.used.push(T::at(0));
    }

    pub(super) fn is_open(&self) -> bool {
        !self.places.is_empty()
    }

    /// Returns the entry of `place`, if there is such a place.
    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<&T> {
        self.used.get(usize::from(*self.places.get(place)?))
    }

    /// Prefetches what finds the entry of `place`.
    #[cfg(feature = "complete")]
    #[inline]
    pub(super) fn prefetch_place(&self, place: usize) {
        if let Some(at) = self.places.get(place) {
            prefetch(at);
        }
    }

    /// Returns the position of `place`, whose entry becomes a used one. It stays the same.
    #[inline]
    pub(super) fn position(&mut self, place: usize) -> usize {
        match self.places[place] {
            0 => self.begin(place),
            at => usize::from(at),
        }
    }

    /// Returns the entry at a [position](Self::position).
    #[inline]
    pub(super) fn at(&self, position: usize) -> Option<&T> {
        self.used.get(position)
    }

    /// Returns the entry at a [position](Self::position).
    #[inline]
    pub(super) fn at_mut(&mut self, position: usize) -> Option<&mut T> {
        self.used.get_mut(position)
    }

    /// Makes the entry of `place`, and returns its position.
    #[cold]
    fn begin(&mut self, place: usize) -> usize {
        let at = self.used.len();
        self.used.push(T::at(place as u16));
        self.places[place] = at as u16;
        at
    }

    /// Returns the used entries.
    #[cfg(test)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.used.iter().skip(1)
    }
}

impl<T: Entry> Index<usize> for Sparse<T> {
    type Output = T;
    #[inline]
    fn index(&self, place: usize) -> &T {
        &self.used[usize::from(self.places[place])]
    }
}

impl<T: Entry> IndexMut<usize> for Sparse<T> {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut T {
        let at = self.position(place);
        &mut self.used[at]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Entry for u32 {
        fn at(place: u16) -> Self {
            u32::from(place) * 2
        }
    }

    /// Reading must use no entry, and writing only its own.
    #[test]
    fn only_written_entries_take_memory() {
        let mut table = Sparse::<u32>::new();
        assert!(!table.is_open() && table.get(0).is_none() && table.at_mut(0).is_none());
        table.open(100);
        assert_eq!((table[70], table.used.len()), (0, 1), "an unused entry is that of place 0");
        table[70] += 1;
        table[3] += 1;
        assert_eq!((table[70], table[3], table[71]), (141, 7, 0));
        assert_eq!(table.iter().copied().collect::<Vec<_>>(), [141, 7]);
        assert_eq!((table.get(99), table.get(100)), (Some(&0), None));
    }
}
