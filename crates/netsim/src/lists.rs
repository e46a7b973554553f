//! Lists that are indexed by a type of their own: a [`PerFlow`] has one entry per flow, a [`ByDirection`] one entry per
//! direction, and so on.

use crate::ids::{FlowId, Half, HopId, Number};
use goodqueue_hosts::direction::{Direction, Side};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A list with one entry per number of type `K`.
#[derive(Clone, Debug)]
pub(crate) struct List<K, T> {
    entries: Vec<T>,
    number: PhantomData<K>,
}

pub(crate) type PerFlow<T> = List<FlowId, T>;
pub(crate) type PerHop<T> = List<HopId, T>;

impl<K: Number, T> List<K, T> {
    /// Returns the numbers of all entries.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = K> + use<K, T> {
        (0..self.len()).map(K::at)
    }

    pub(crate) fn numbered(&self) -> impl Iterator<Item = (K, &T)> {
        self.numbers().zip(&self.entries)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds an entry and returns its number.
    pub(crate) fn push(&mut self, entry: T) -> K {
        self.entries.push(entry);
        K::at(self.len() - 1)
    }

    pub(crate) fn extend(&mut self, entries: impl IntoIterator<Item = T>) {
        self.entries.extend(entries);
    }

    /// Makes room for `more` entries, so that adding them moves none.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.entries.reserve(more);
    }

    /// Returns the entry of `number`, if there is one.
    #[inline]
    pub(crate) fn get(&self, number: K) -> Option<&T> {
        self.entries.get(number.index())
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.entries.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.entries.iter_mut()
    }
}

impl<K, T> Default for List<K, T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<K, T> From<Vec<T>> for List<K, T> {
    fn from(entries: Vec<T>) -> Self {
        Self { entries, number: PhantomData }
    }
}

impl<K, T> FromIterator<T> for List<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        Self::from(Vec::from_iter(entries))
    }
}

impl<K, T> IntoIterator for List<K, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<K: Number, T> Index<K> for List<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, number: K) -> &T {
        &self.entries[number.index()]
    }
}

impl<K: Number, T> IndexMut<K> for List<K, T> {
    #[inline]
    fn index_mut(&mut self, number: K) -> &mut T {
        &mut self.entries[number.index()]
    }
}

/// One value for each of two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pair<K, T> {
    both: [T; 2],
    half: PhantomData<K>,
}

pub(crate) type ByDirection<T> = Pair<Direction, T>;
pub(crate) type PerSide<T> = Pair<Side, T>;

impl<K: Half, T> Pair<K, T> {
    /// Builds both values with `make`.
    pub(crate) fn of(make: impl FnMut(K) -> T) -> Self {
        Self::from(K::BOTH.map(make))
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, T> {
        self.both.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.both.iter_mut()
    }
}

impl<K, T> From<[T; 2]> for Pair<K, T> {
    fn from(both: [T; 2]) -> Self {
        Self { both, half: PhantomData }
    }
}

impl<K: Half, T> Index<K> for Pair<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, half: K) -> &T {
        &self.both[half.index()]
    }
}

impl<K: Half, T> IndexMut<K> for Pair<K, T> {
    #[inline]
    fn index_mut(&mut self, half: K) -> &mut T {
        &mut self.both[half.index()]
    }
}
