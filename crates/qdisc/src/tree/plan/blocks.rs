//! All filters of a qdisc and of its classes, with what finds one among many.

use super::{Filter, Group, Id};
use crate::tree::chain::Target;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::Deref;

/// The class that has filters (0: the qdisc itself), and their preference.
pub(super) type At = (u16, u32);

/// The filters. All changes go through this, so that the indices are right.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Blocks {
    groups: BTreeMap<At, Group>,
    /// The groups of `u32`, by their hash tables.
    tables: BTreeMap<u32, At>,
    /// The handles of the filters that sort to a class, by that class.
    sorting: BTreeSet<(Id, At, u32)>,
}

impl Deref for Blocks {
    type Target = BTreeMap<At, Group>;
    fn deref(&self) -> &Self::Target {
        &self.groups
    }
}

impl Blocks {
    /// Adds a group without filters.
    pub(super) fn insert(&mut self, at: At, group: Group) {
        if group.kind == "u32" {
            self.tables.insert(group.common, at);
        }
        self.groups.insert(at, group);
    }

    /// Takes a group away, with its filters.
    pub(super) fn remove(&mut self, at: At) {
        let Some(group) = self.groups.remove(&at) else { return };
        if group.kind == "u32" {
            self.tables.remove(&group.common);
        }
        for (handle, filter) in &group.filters {
            self.forget(at, *handle, filter);
        }
    }

    /// Takes all groups of the class `of` away (0: of the qdisc itself).
    pub(super) fn remove_of(&mut self, of: u16) {
        let all: Vec<At> = self.groups.range((of, 0)..=(of, u32::MAX)).map(|(at, _)| *at).collect();
        all.into_iter().for_each(|at| self.remove(at));
    }

    /// Takes one filter away.
    pub(super) fn remove_filter(&mut self, at: At, handle: u32) {
        let gone = self.groups.get_mut(&at).and_then(|group| group.remove(handle));
        gone.into_iter().for_each(|filter| self.forget(at, handle, &filter));
    }

    /// Lets `change` add or replace one filter of the group at `at`. It returns the filter's handle.
    pub(super) fn change<E>(
        &mut self,
        at: At,
        replaced: Option<u32>,
        change: impl FnOnce(&mut Group) -> Result<u32, E>,
    ) -> Result<(), E> {
        let Some(group) = self.groups.get_mut(&at) else { return Ok(()) };
        let before = replaced.and_then(|handle| Some((group.filters.get(&handle)?.class()?, at, handle)));
        let handle = change(group)?;
        let after = group.filters.get(&handle).and_then(Filter::class);
        if let Some(before) = before {
            self.sorting.remove(&before);
        }
        self.sorting.extend(after.map(|id| (id, at, handle)));
        Ok(())
    }

    fn forget(&mut self, at: At, handle: u32, filter: &Filter) {
        if let Some(id) = filter.class() {
            self.sorting.remove(&(id, at, handle));
        }
    }

    /// Returns how many hash tables of `u32` there are.
    pub(super) fn tables(&self) -> usize {
        self.tables.len()
    }

    /// Returns the place of the group of `u32` that has this hash table.
    pub(super) fn of_table(&self, table: u32) -> Option<At> {
        self.tables.get(&table).copied()
    }

    /// Returns the places and handles of the filters that sort to the class `id`, of those of classes from `first` on.
    pub(super) fn to(&self, id: Id, first: u16) -> impl Iterator<Item = (At, u32)> {
        let all = self.sorting.range((id, (first, 0), 0)..=(id, (u16::MAX, u32::MAX), u32::MAX));
        all.map(|(_, at, handle)| (*at, *handle))
    }

    /// Returns one filter.
    pub(super) fn filter_mut(&mut self, at: At, handle: u32) -> Option<&mut Filter> {
        self.groups.get_mut(&at)?.filters.get_mut(&handle)
    }
}

impl Filter {
    /// Returns the class to which it sorts, if that does not depend on the packet.
    fn class(&self) -> Option<Id> {
        match self.rule.target {
            Target::Class(id) => Some(id),
            Target::Computed(_) => None,
        }
    }
}
