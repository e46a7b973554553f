//! A scenario's keys as data: each is declared once, as a constant that is also what its value is read by.
//!
//! From the declarations come the parser, the refusals, `goodqueue list traffic KIND`, the reference page and the JSON
//! Schema. A key's type says how its value is written ([`Quantity`]); a mistyped key does not compile.

use super::ScenarioError;
use goodqueue_units::parse;
use serde::ser::SerializeMap;
use serde_json::{Map, Value as Json};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

pub(crate) type Result<T> = std::result::Result<T, ScenarioError>;

/// What a key's value can be: how it is read, checked, written and described.
pub trait Quantity: Any + Clone + Debug + Send + Sync {
    /// What it measures, in a word or two: `time`, `rate`.
    const TYPE: &'static str;
    /// Reads a value.
    ///
    /// # Errors
    /// What was found and what is accepted, without the key's name; a part of a list has its place before it
    /// (`[0].response: `).
    fn read(found: &Json) -> std::result::Result<Self, String>;
    /// Returns the value as a scenario has it; [`Quantity::read`] reads it back.
    fn write(&self) -> Json;
    /// Returns the JSON Schema of what [`Quantity::read`] takes.
    fn schema() -> Json;
    /// Refuses what is out of `range`, of which `unit` follows the numbers.
    ///
    /// # Errors
    /// As [`Quantity::read`].
    fn check(&self, _range: &(Self, Self), _unit: &str) -> std::result::Result<(), String> {
        Ok(())
    }
    /// Returns the range for a person: `1us to 1000s`.
    fn show_range(_range: &(Self, Self), _unit: &str) -> String {
        String::new()
    }
    /// Returns the JSON Schema of what is within `range`, as far as JSON Schema can say that.
    fn schema_within(_range: &(Self, Self)) -> Json {
        Self::schema()
    }
    /// Returns the value in its base unit, and what that unit adds to the key's name (`_s`): what engines read.
    fn plain(&self) -> (&'static str, Json) {
        ("", self.write())
    }
}

/// What a key has where a scenario leaves it out.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "reference"), allow(dead_code, reason = "some words are for the reference alone"))]
enum Absent {
    /// The scenario is refused.
    Required,
    /// Nothing; the help says what that means.
    Nothing,
    /// This value, as JSON.
    Value(&'static str),
    /// What follows from other keys, in words.
    Derived(&'static str),
}

/// A key of a scenario's table, whose values are of type `T`.
#[cfg_attr(not(feature = "reference"), allow(dead_code, reason = "some fields are for the reference alone"))]
pub struct Key<T: 'static> {
    name: &'static str,
    absent: Absent,
    range: Option<(T, T)>,
    unit: &'static str,
    example: &'static str,
    source: &'static str,
    help: &'static str,
    in_kernel: bool,
}

impl<T> Key<T> {
    const fn new(name: &'static str, absent: Absent, example: &'static str) -> Self {
        let (range, unit, source, help) = (None, "", "", "");
        Self { name, absent, range, unit, example, source, help, in_kernel: true }
    }

    /// A key that must be there; `example` is a value as TOML has it.
    pub(crate) const fn required(name: &'static str, example: &'static str) -> Self {
        Self::new(name, Absent::Required, example)
    }

    /// A key that may be left out, which then has no value.
    pub(crate) const fn optional(name: &'static str, example: &'static str) -> Self {
        Self::new(name, Absent::Nothing, example)
    }

    /// A key that has the value `default` (as TOML and JSON have it) where it is left out.
    pub(crate) const fn with_default(name: &'static str, default: &'static str) -> Self {
        Self::new(name, Absent::Value(default), default)
    }

    /// A key whose value follows from others where it is left out, as `words` say.
    pub(crate) const fn derived(name: &'static str, words: &'static str, example: &'static str) -> Self {
        Self::new(name, Absent::Derived(words), example)
    }

    /// The unit of a bare number.
    pub(crate) const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Where the default or the definition comes from.
    pub(crate) const fn source(mut self, source: &'static str) -> Self {
        if cfg!(feature = "reference") {
            self.source = source;
        }
        self
    }

    /// What it means, in one sentence.
    pub(crate) const fn help(mut self, help: &'static str) -> Self {
        if cfg!(feature = "reference") {
            self.help = help;
        }
        self
    }

    /// Another example than the default.
    pub(crate) const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// The kernel engine does not know it.
    pub(crate) const fn simulator_only(mut self) -> Self {
        self.in_kernel = false;
        self
    }
}

impl<T: Copy> Key<T> {
    /// The least and the greatest value accepted.
    pub(crate) const fn range(mut self, least: T, most: T) -> Self {
        self.range = Some((least, most));
        self
    }
}

/// What is known of a key, as text.
#[cfg(feature = "reference")]
#[derive(Clone, Debug, serde::Serialize)]
pub struct KeyDoc {
    /// The key.
    pub name: &'static str,
    /// What it measures.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The unit of a bare number.
    pub unit: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// Its value where it is left out, in words where that follows from other keys; empty: none.
    pub default: String,
    /// What is accepted, beside the type; empty: all of it.
    pub range: String,
    /// A value, as TOML has it.
    pub example: &'static str,
    /// RFC and section, paper and equation, or a manual page.
    pub source: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// The engines that know it.
    pub engines: Vec<&'static str>,
    /// JSON Schema of its value.
    pub schema: Json,
}

/// A key of any type.
pub trait AnyKey: Sync {
    /// Returns its name.
    fn name(&self) -> &'static str;
    /// Returns what is known of it.
    #[cfg(feature = "reference")]
    fn doc(&self) -> KeyDoc;
    /// Reads its value from `table`: the default where the table has none.
    ///
    /// # Errors
    /// As [`Quantity::read`], and where it is missing; with the key's full path.
    fn read(&self, table: &Table<'_>, into: &mut Values) -> Result<()>;
}

impl<T: Quantity> AnyKey for Key<T> {
    fn name(&self) -> &'static str {
        self.name
    }

    #[cfg(feature = "reference")]
    fn doc(&self) -> KeyDoc {
        KeyDoc {
            name: self.name,
            kind: T::TYPE,
            unit: self.unit,
            required: matches!(self.absent, Absent::Required),
            default: match self.absent {
                Absent::Value(text) | Absent::Derived(text) => text.to_string(),
                Absent::Required | Absent::Nothing => String::new(),
            },
            range: self.range.as_ref().map_or_else(String::new, |range| T::show_range(range, self.unit)),
            example: self.example,
            source: self.source,
            help: self.help,
            engines: if self.in_kernel { vec!["sim", "kernel"] } else { vec!["sim"] },
            schema: self.range.as_ref().map_or_else(T::schema, T::schema_within),
        }
    }

    fn read(&self, table: &Table<'_>, into: &mut Values) -> Result<()> {
        if let Some(value) = table.find(self)? {
            into.put(self, value);
        }
        Ok(())
    }
}

/// A table of a scenario as it was written, with its place in the file.
#[derive(Clone)]
pub struct Table<'a> {
    path: String,
    content: &'a Map<String, Json>,
}

impl<'a> Table<'a> {
    /// The table `found` at `path`.
    pub(crate) fn new(path: impl Into<String>, found: &'a Json) -> Result<Self> {
        let path = path.into();
        match found.as_object() {
            Some(content) => Ok(Self { path, content }),
            None => refuse(&path, describe(found), "a table with keys"),
        }
    }

    /// The table at `name` in this one; none where there is none.
    pub(crate) fn table(&self, name: &str) -> Result<Option<Self>> {
        self.get(name).map(|found| Self::new(self.key(name), found)).transpose()
    }

    /// The tables of the list at `name`; none where there is none.
    pub(crate) fn tables(&self, name: &str) -> Result<Vec<Self>> {
        let Some(found) = self.get(name) else { return Ok(Vec::new()) };
        let Some(list) = found.as_array() else {
            return refuse(&self.key(name), describe(found), &format!("a list, such as [[{name}]] makes"));
        };
        let numbered = list.iter().enumerate();
        numbered.map(|(place, one)| Self::new(self.key(&format!("{name}[{place}]")), one)).collect()
    }

    /// Its place in the file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The full path of the key `name`.
    pub(crate) fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }

    /// Whether the table itself says something about `name`.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The names of all that the table says.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.content.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str())
    }

    /// What it says, to be rewritten.
    pub(crate) fn content(&self) -> &'a Map<String, Json> {
        self.content
    }

    fn get(&self, name: &str) -> Option<&'a Json> {
        self.content.get(name).filter(|value| !value.is_null())
    }

    /// The value of `key`: the one that is there, else its default, else none.
    pub(crate) fn find<T: Quantity>(&self, key: &Key<T>) -> Result<Option<T>> {
        let refused = |message: String| match message.split_once(": ") {
            Some((inner, message)) if inner.starts_with('[') => {
                ScenarioError::new(format!("{}{inner}", self.key(key.name)), message)
            }
            _ => ScenarioError::new(self.key(key.name), message),
        };
        let value = match (self.get(key.name), key.absent) {
            (Some(found), _) => T::read(found).map_err(refused)?,
            (None, Absent::Value(text)) => return Ok(Some(default(text))),
            (None, Absent::Required) => {
                return Err(refused(format!("missing; accepted: a {} such as {}", T::TYPE, key.example)));
            }
            (None, Absent::Nothing | Absent::Derived(_)) => return Ok(None),
        };
        if let Some(range) = &key.range {
            value.check(range, key.unit).map_err(refused)?;
        }
        Ok(Some(value))
    }

    /// The value of a `key` that is required or has a default.
    pub(crate) fn take<T: Quantity>(&self, key: &Key<T>) -> Result<T> {
        let found = self.find(key)?;
        found.ok_or_else(|| ScenarioError::new(self.key(key.name), "missing, and it has no default"))
    }

    /// Refuses what is none of `keys` and none of the tables and lists `inner`.
    pub(crate) fn refuse_others(&self, keys: &[&dyn AnyKey], inner: &[&'static str]) -> Result<()> {
        let known: Vec<&str> = keys.iter().map(|key| key.name()).chain(inner.iter().copied()).collect();
        match self.names().find(|name| !known.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let message = format!("unknown key; {}accepted: {}", hint(name, &known), known.join(", "));
                Err(ScenarioError::new(self.key(name), message))
            }
        }
    }
}

/// Reads a default, which a test holds against its type.
#[allow(clippy::expect_used)] // a constant of ours: `every_default_is_accepted` reads each
fn default<T: Quantity>(text: &str) -> T {
    serde_json::from_str(text).map_err(|error| error.to_string()).and_then(|json| T::read(&json)).expect(text)
}

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
    /// The value of `key`.
    ///
    /// # Panics
    /// If the table's kind does not list `key`, or it may be left out and was: then [`Values::find`] is to be asked.
    #[must_use]
    #[allow(clippy::panic)] // a mistake in a kind's own file, which the first run of that kind shows
    pub fn get<T: Quantity>(&self, key: &Key<T>) -> T {
        self.find(key).unwrap_or_else(|| panic!("no value for {:?}: does the kind list the key?", key.name))
    }

    /// The value of `key`, if it has one.
    #[must_use]
    pub fn find<T: Quantity>(&self, key: &Key<T>) -> Option<T> {
        let held = self.0.iter().find(|held| held.name == key.name)?;
        held.value.downcast_ref::<T>().cloned()
    }

    /// Gives `key` a value.
    pub(crate) fn put<T: Quantity>(&mut self, key: &Key<T>, value: T) {
        let (written, plain) = (value.write(), value.plain());
        let held = Held { name: key.name, value: Arc::new(value), written, plain };
        match self.0.iter_mut().find(|held| held.name == key.name) {
            Some(place) => *place = held,
            None => self.0.push(held),
        }
    }

    /// Takes the value of `key` away.
    pub(crate) fn unset<T>(&mut self, key: &Key<T>) {
        self.0.retain(|held| held.name != key.name);
    }

    /// Brings the values into the order of `keys`.
    pub(crate) fn sort(&mut self, keys: &[&'static dyn AnyKey]) {
        self.0.sort_by_key(|held| keys.iter().position(|key| key.name() == held.name));
    }

    /// Each value whose key is `wanted` in its base unit, under a name with that unit.
    pub(crate) fn plain(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (String, Json)> {
        let held = self.0.iter().filter(move |held| wanted(held.name));
        held.map(|held| (format!("{}{}", held.name, held.plain.0), held.plain.1.clone()))
    }

    /// Writes each value whose key is `wanted` into a table under way.
    ///
    /// # Errors
    /// The writer's.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        table: &mut M,
        wanted: impl Fn(&str) -> bool,
    ) -> std::result::Result<(), M::Error> {
        let mut held = self.0.iter().filter(|held| wanted(held.name));
        held.try_for_each(|held| table.serialize_entry(held.name, &held.written))
    }
}

pub(crate) fn refuse<T>(key: &str, found: impl std::fmt::Display, accepted: &str) -> Result<T> {
    Err(ScenarioError::new(key, format!("found {found}; accepted: {accepted}")))
}

/// Says that `found` is none of the words `known`.
pub(crate) fn no_such_word(found: &str, known: &[&str]) -> String {
    format!("found {found:?}; {}accepted: {}", hint(found, known), known.join(", "))
}

fn hint(found: &str, known: &[&str]) -> String {
    parse::nearest(found, known.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean {near:?}? "))
}

/// Names a value of the wrong type: `boolean true`.
pub(crate) fn describe(found: &Json) -> String {
    match found {
        Json::Null => "null".to_string(),
        Json::Bool(on) => format!("boolean {on}"),
        Json::Number(number) if number.is_f64() => format!("floating point {number}"),
        Json::Number(number) => format!("integer {number}"),
        Json::String(text) => format!("string {text:?}"),
        Json::Array(_) => "a list".to_string(),
        Json::Object(_) => "a table".to_string(),
    }
}
