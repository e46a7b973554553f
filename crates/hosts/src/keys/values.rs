//! The values of the keys of a table.

use super::key::{AnyKey, Key, Quantity};
use crate::sorting::sort_by_key;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value as Json;
use std::any::Any;
use std::sync::Arc;

/// The values of a table's keys, in the order in which a resolved scenario has them.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<Held>);

#[derive(Clone, Debug)]
struct Held {
    name: &'static str,
    value: Arc<dyn Any + Send + Sync>,
    written: Json,
    /// As [`Quantity::plain`].
    plain: (&'static str, Json),
}

impl Values {
    /// Returns the value of `key`.
    ///
    /// # Panics
    /// If the table's kind does not list `key`. Also if an optional key was left out: use [`Values::find`] for
    /// optional keys.
    #[must_use]
    #[allow(clippy::panic)] // a mistake in a kind's own file, which the first run of that kind shows
    pub fn get<T: Quantity>(&self, key: &Key<T>) -> T {
        self.find(key).unwrap_or_else(|| panic!("no value for {:?}: does the kind list the key?", key.name()))
    }

    /// Returns the value of `key`, if it has one.
    #[must_use]
    pub fn find<T: Quantity>(&self, key: &Key<T>) -> Option<T> {
        self.held(key.name())?.downcast_ref::<T>().cloned()
    }

    fn held(&self, name: &str) -> Option<&(dyn Any + Send + Sync)> {
        self.0.iter().find(|held| held.name == name).map(|held| &*held.value)
    }

    /// Gives `key` a value.
    pub fn put<T: Quantity>(&mut self, key: &Key<T>, value: T) {
        let (written, plain) = (value.write(), value.plain());
        self.hold(Held { name: key.name(), value: Arc::new(value), written, plain });
    }

    fn hold(&mut self, new: Held) {
        match self.0.iter_mut().find(|held| held.name == new.name) {
            Some(place) => *place = new,
            None => self.0.push(new),
        }
    }

    /// Removes the value of `key`.
    pub fn unset<T: Quantity>(&mut self, key: &Key<T>) {
        self.0.retain(|held| held.name != key.name());
    }

    /// Sorts the values in the order of `keys`.
    pub fn sort(&mut self, keys: &[&'static dyn AnyKey]) {
        sort_by_key(&mut self.0, |held| keys.iter().position(|key| key.name() == held.name));
    }

    /// Returns each value whose key is `wanted`, in its base unit. The name has the unit as a suffix.
    pub fn plain(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, Json)> {
        let held = self.0.iter().filter(move |held| wanted(held.name));
        held.map(|held| (format!("{}{}", held.name, held.plain.0), held.plain.1.clone()))
    }

    /// Writes each value whose key is `wanted` into an open table.
    ///
    /// # Errors
    /// The errors of the writer.
    pub fn write<M: SerializeMap>(
        &self,
        table: &mut M,
        wanted: impl Fn(&str) -> bool,
    ) -> std::result::Result<(), M::Error> {
        let mut held = self.0.iter().filter(|held| wanted(held.name));
        held.try_for_each(|held| table.serialize_entry(held.name, &held.written))
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut table = serializer.serialize_map(None)?;
        self.write(&mut table, |_| true)?;
        table.end()
    }
}
