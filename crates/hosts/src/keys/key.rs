//! The keys of scenarios as data. Each key is declared once, as a constant, and its value is read with this constant.
//!
//! The parser, the error messages, `goodqueue list traffic KIND`, the reference page and the JSON Schema come from
//! these declarations. The type of a key says how its value is written ([`Quantity`]). A mistyped key does not
//! compile.

use super::{ScenarioError, Values};
use goodqueue_units::parse;
use serde_json::{Map, Value as Json};
use std::any::Any;
use std::borrow::Cow;
use std::fmt::{Debug, Display};

/// What is read, or why it is refused.
pub type Result<T> = std::result::Result<T, ScenarioError>;

/// The type of a key's value: how the value is read, checked, written and described.
pub trait Quantity: Any + Clone + Debug + Send + Sync {
    /// The quantity in one or two words: `time`, `rate`.
    const TYPE: &'static str;
    /// Reads a value.
    ///
    /// # Errors
    /// What was found and what is accepted, without the key's name. An error in a part of a list begins with the
    /// part's place (`[0].response: `).
    fn read(found: &Json) -> std::result::Result<Self, String>;
    /// Returns the value as a scenario has it. [`Quantity::read`] reads it back.
    fn write(&self) -> Json;
    /// Returns the JSON Schema of the values that [`Quantity::read`] takes.
    fn schema() -> Json;
    /// Refuses a value outside `range`. `unit` follows the numbers in the message.
    ///
    /// # Errors
    /// As [`Quantity::read`].
    fn check(&self, _range: &(Self, Self), _unit: &str) -> std::result::Result<(), String> {
        Ok(())
    }
    /// Returns the range as text: `1us to 1000s`.
    fn show_range(_range: &(Self, Self), _unit: &str) -> String {
        String::new()
    }
    /// Returns the JSON Schema of the values within `range`, as far as JSON Schema can express this.
    fn schema_within(_range: &(Self, Self)) -> Json {
        Self::schema()
    }
    /// Returns the value in its base unit for engines, and the suffix that this unit adds to the key's name (`_s`).
    fn plain(&self) -> (&'static str, Json) {
        ("", self.write())
    }
}

/// The value of a key that a scenario leaves out.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "reference"), allow(dead_code, reason = "some words are for the reference alone"))]
enum Absent {
    /// The scenario is refused.
    Required,
    /// No value. The help says what that means.
    Nothing,
    /// This value, as JSON.
    Value(&'static str),
    /// A value that follows from other keys, in words.
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

    /// Builds a key that must be present. `example` is a value as TOML has it.
    #[must_use]
    pub const fn required(name: &'static str, example: &'static str) -> Self {
        Self::new(name, Absent::Required, example)
    }

    /// Builds a key that may be left out, and then has no value.
    #[must_use]
    pub const fn optional(name: &'static str, example: &'static str) -> Self {
        Self::new(name, Absent::Nothing, example)
    }

    /// Builds a key that has the value `default` (as TOML and JSON have it) if it is left out.
    #[must_use]
    pub const fn with_default(name: &'static str, default: &'static str) -> Self {
        Self::new(name, Absent::Value(default), default)
    }

    /// Builds a key whose value follows from other keys if it is left out, as `words` describe.
    #[must_use]
    pub const fn derived(name: &'static str, words: &'static str, example: &'static str) -> Self {
        Self::new(name, Absent::Derived(words), example)
    }

    /// Sets the unit of the number.
    #[must_use]
    pub const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// Sets the source of the default or of the definition.
    #[must_use]
    pub const fn source(mut self, source: &'static str) -> Self {
        if cfg!(feature = "reference") {
            self.source = source;
        }
        self
    }

    /// Sets the meaning of the key, in one sentence.
    #[must_use]
    pub const fn help(mut self, help: &'static str) -> Self {
        if cfg!(feature = "reference") {
            self.help = help;
        }
        self
    }

    /// Sets an example that differs from the default.
    #[must_use]
    pub const fn example(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// Marks a key that the kernel engine does not know.
    #[must_use]
    pub const fn simulator_only(mut self) -> Self {
        self.in_kernel = false;
        self
    }
}

impl<T: Copy> Key<T> {
    /// Sets the least and the greatest value accepted.
    #[must_use]
    pub const fn range(mut self, least: T, most: T) -> Self {
        self.range = Some((least, most));
        self
    }
}

/// The description of a key, as text.
#[cfg(feature = "reference")]
#[derive(Clone, Debug, serde::Serialize)]
pub struct KeyDoc {
    /// The key.
    pub name: &'static str,
    /// The type of its value.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The unit of the number.
    pub unit: &'static str,
    /// Whether it must be present.
    pub required: bool,
    /// Its value if it is left out, in words if the value follows from other keys. Empty: none.
    pub default: String,
    /// The accepted values. Empty: all values of the type.
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
    /// Returns its description.
    #[cfg(feature = "reference")]
    fn doc(&self) -> KeyDoc;
    /// Reads its value from `table`, or takes the default if the table has none.
    ///
    /// # Errors
    /// As [`Quantity::read`], and if a required key is missing. The error has the key's full path.
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

/// A table of a scenario as it was written, with its path in the file.
#[derive(Clone)]
pub struct Table<'a> {
    path: String,
    content: &'a Map<String, Json>,
}

impl<'a> Table<'a> {
    /// Takes `found` as the table at `path`.
    pub fn new(path: impl Into<String>, found: &'a Json) -> Result<Self> {
        let path = path.into();
        match found.as_object() {
            Some(content) => Ok(Self { path, content }),
            None => refuse(&path, describe(found), "a table with keys"),
        }
    }

    /// Returns the table at `name` in this one, if there is one.
    pub fn table(&self, name: &str) -> Result<Option<Self>> {
        self.get(name).map(|found| Self::new(self.key(name), found)).transpose()
    }

    /// Returns the tables of the list at `name`. Without a list at `name` there are none.
    pub fn tables(&self, name: &str) -> Result<Vec<Self>> {
        let Some(found) = self.get(name) else { return Ok(Vec::new()) };
        let Some(list) = found.as_array() else {
            return refuse(&self.key(name), describe(found), &format!("a list, such as [[{name}]] makes"));
        };
        let numbered = list.iter().enumerate();
        numbered.map(|(place, one)| Self::new(self.key(&format!("{name}[{place}]")), one)).collect()
    }

    /// Returns the path of the table in the file.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns the full path of the key `name`.
    #[must_use]
    pub fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_string() } else { format!("{}.{name}", self.path) }
    }

    /// Returns whether the table itself has the key `name`.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the names of all keys in the table.
    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.content.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name.as_str())
    }

    /// Returns the content, to be rewritten.
    #[must_use]
    pub fn content(&self) -> &'a Map<String, Json> {
        self.content
    }

    fn get(&self, name: &str) -> Option<&'a Json> {
        self.content.get(name).filter(|value| !value.is_null())
    }

    /// Returns the value of `key`, or its default, or none if it has no default.
    ///
    /// # Errors
    /// As [`Quantity::read`], and if a required key is missing. The error has the key's full path.
    pub fn find<T: Quantity>(&self, key: &Key<T>) -> Result<Option<T>> {
        let Some(found) = self.given(key.name, key.absent, T::TYPE, key.example)? else { return Ok(None) };
        let checked = T::read(&found).and_then(|value| match &key.range {
            Some(range) => value.check(range, key.unit).map(|()| value),
            None => Ok(value),
        });
        checked.map(Some).map_err(|message| self.refused(key.name, &message))
    }

    // What does not depend on the type of a value stands apart, because the page's module has the rest once per type.

    /// Returns what the table has at `name`, or the default.
    #[allow(clippy::expect_used)] // a constant of ours: `every_default_is_accepted` reads each
    fn given(&self, name: &str, absent: Absent, kind: &str, example: &str) -> Result<Option<Cow<'a, Json>>> {
        match (self.get(name), absent) {
            (Some(found), _) => Ok(Some(Cow::Borrowed(found))),
            (None, Absent::Value(text)) => Ok(Some(Cow::Owned(serde_json::from_str(text).expect(text)))),
            (None, Absent::Required) => {
                Err(self.refused(name, &format!("missing; accepted: a {kind} such as {example}")))
            }
            (None, Absent::Nothing | Absent::Derived(_)) => Ok(None),
        }
    }

    fn refused(&self, name: &str, message: &str) -> ScenarioError {
        match message.split_once(": ") {
            Some((inner, message)) if inner.starts_with('[') => {
                ScenarioError::new(format!("{}{inner}", self.key(name)), message)
            }
            _ => ScenarioError::new(self.key(name), message),
        }
    }

    /// Returns the value of a `key` that is required or has a default.
    ///
    /// # Errors
    /// As [`Table::find`].
    pub fn take<T: Quantity>(&self, key: &Key<T>) -> Result<T> {
        self.find(key)?.ok_or_else(|| self.refused(key.name, "missing, and it has no default"))
    }

    /// Refuses names that are not in `keys` and not in `inner`, the tables and lists within this one.
    pub fn refuse_others(&self, keys: &[&dyn AnyKey], inner: &[&'static str]) -> Result<()> {
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

/// Refuses what was `found` at `key`.
///
/// # Errors
/// Always.
pub fn refuse<T>(key: &str, found: impl Display, accepted: &str) -> Result<T> {
    Err(refusal(key, &found, accepted))
}

fn refusal(key: &str, found: &dyn Display, accepted: &str) -> ScenarioError {
    ScenarioError::new(key, format!("found {found}; accepted: {accepted}"))
}

/// Returns the message that `found` is not one of the words `known`.
#[must_use]
pub fn no_such_word(found: &str, known: &[&str]) -> String {
    format!("found {found:?}; {}accepted: {}", hint(found, known), known.join(", "))
}

fn hint(found: &str, known: &[&str]) -> String {
    parse::nearest(found, known.iter().copied())
        .map_or_else(String::new, |near| format!("did you mean {near:?}? "))
}

/// Describes a value of the wrong type: `boolean true`.
#[must_use]
pub fn describe(found: &Json) -> String {
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
