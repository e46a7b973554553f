//! How a scenario's values are written: times, rates and sizes are text with a unit (`"50ms"`, `"25mbit"`).

use super::key::{Quantity, describe};
use goodqueue_units::{Duration, Rate, Release, parse};
use serde::{Serialize, Serializer};
use serde_json::{Value as Json, json};

type Read<T> = Result<T, String>;

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateText(pub Rate);

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

/// Reads text with `read`. A bare number needs a unit.
fn text<T>(found: &Json, accepted: &str, read: fn(&str) -> Read<T>) -> Read<T> {
    match found {
        Json::String(text) => read(text),
        Json::Number(number) if number.is_f64() => {
            Err(format!("found {}; accepted: {accepted}", describe(found)))
        }
        Json::Number(number) => Err(format!("found the bare number {number}; accepted: {accepted}")),
        _ => Err(format!("found {}; accepted: {accepted}", describe(found))),
    }
}

/// Refuses a value outside a range of numbers of `unit`.
fn within<T: PartialOrd + std::fmt::Display>(value: T, (least, most): (T, T), unit: &str) -> Read<()> {
    if value >= least && value <= most {
        return Ok(());
    }
    Err(format!("found {value}; accepted: {}", bounds(&least, &most, unit)))
}

fn bounds(least: &impl std::fmt::Display, most: &impl std::fmt::Display, unit: &str) -> String {
    let gap = if unit.is_empty() { "" } else { " " };
    format!("{least} to {most}{gap}{unit}")
}

impl Quantity for Span {
    const TYPE: &'static str = "time";
    fn read(found: &Json) -> Read<Self> {
        let accepted = r#"a time with its unit, such as "50ms" or "70s""#;
        text(found, accepted, parse::duration_with_unit).map(Self)
    }
    /// Writes nanoseconds if the text in a longer unit would be rounded.
    fn write(&self) -> Json {
        let text = self.0.to_string();
        let exact = parse::duration(&text) == Ok(self.0);
        json!(if exact { text } else { format!("{}ns", self.0.as_nanos()) })
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": r"^[0-9.]+(ns|nsecs?|us|usecs?|ms|msecs?|s|secs?|min)$|^0$"})
    }
    fn check(&self, range: &(Self, Self), unit: &str) -> Read<()> {
        within(self.0, (range.0.0, range.1.0), unit)
    }
    fn show_range(range: &(Self, Self), unit: &str) -> String {
        bounds(&range.0.0, &range.1.0, unit)
    }
    fn plain(&self) -> (&'static str, Json) {
        ("_s", json!(self.0.as_secs_f64()))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write().serialize(serializer)
    }
}

impl Quantity for RateText {
    const TYPE: &'static str = "rate";
    fn read(found: &Json) -> Read<Self> {
        text(found, r#"a rate with its unit, such as "25mbit" or "512kbit""#, parse::rate).map(Self)
    }
    fn write(&self) -> Json {
        json!(self.0.to_string())
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": r"(?i)^[0-9.]+([kmgt]?bit|[kmg]ibit|[kmg]?bps)$"})
    }
    fn check(&self, range: &(Self, Self), _unit: &str) -> Read<()> {
        if self.0.as_bps() <= range.1.0.as_bps() && self.0.as_bps() >= range.0.0.as_bps() {
            return Ok(());
        }
        Err(format!("found {}; accepted: a rate {}", self.0, Self::show_range(range, "")))
    }
    fn show_range(range: &(Self, Self), _unit: &str) -> String {
        format!("up to {}", range.1.0)
    }
    fn plain(&self) -> (&'static str, Json) {
        ("_bps", json!(self.0.as_bps()))
    }
}

impl Serialize for RateText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl std::fmt::Display for Size {
    /// Writes the largest decimal unit in which the size is a whole number.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")];
        let (unit, name) =
            units.into_iter().find(|(unit, _)| self.0.is_multiple_of(*unit)).unwrap_or((1, "B"));
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl Quantity for Size {
    const TYPE: &'static str = "size";
    fn read(found: &Json) -> Read<Self> {
        let accepted = r#"a size with its unit, such as "1500B", "100kB" or "1MB""#;
        text(found, accepted, parse::bytes_with_unit).map(Self)
    }
    fn write(&self) -> Json {
        json!(self.to_string())
    }
    fn schema() -> Json {
        json!({"type": "string", "pattern": r"(?i)^[0-9.]+([kmg]i?)?b$"})
    }
    fn check(&self, range: &(Self, Self), _unit: &str) -> Read<()> {
        if (range.0.0..=range.1.0).contains(&self.0) {
            return Ok(());
        }
        Err(format!("found {} bytes; accepted: {}", self.0, Self::show_range(range, "")))
    }
    fn show_range(range: &(Self, Self), unit: &str) -> String {
        bounds(&range.0, &range.1, unit)
    }
    fn plain(&self) -> (&'static str, Json) {
        ("_bytes", json!(self.0))
    }
}

impl Quantity for u64 {
    const TYPE: &'static str = "whole number";
    fn read(found: &Json) -> Read<Self> {
        found
            .as_u64()
            .ok_or_else(|| format!("found {}; accepted: a whole number, 0 or more", describe(found)))
    }
    fn write(&self) -> Json {
        json!(self)
    }
    fn schema() -> Json {
        json!({"type": "integer", "minimum": 0})
    }
    fn schema_within((least, most): &(Self, Self)) -> Json {
        json!({"type": "integer", "minimum": least, "maximum": most})
    }
    fn check(&self, range: &(Self, Self), unit: &str) -> Read<()> {
        within(*self, *range, unit)
    }
    fn show_range(range: &(Self, Self), unit: &str) -> String {
        bounds(&range.0, &range.1, unit)
    }
}

impl Quantity for f64 {
    const TYPE: &'static str = "number";
    fn read(found: &Json) -> Read<Self> {
        found.as_f64().ok_or_else(|| format!("found {}; accepted: a number", describe(found)))
    }
    fn write(&self) -> Json {
        json!(self)
    }
    fn schema() -> Json {
        json!({"type": "number"})
    }
    fn schema_within((least, most): &(Self, Self)) -> Json {
        json!({"type": "number", "minimum": least, "maximum": most})
    }
    fn check(&self, range: &(Self, Self), unit: &str) -> Read<()> {
        within(*self, *range, unit)
    }
    fn show_range(range: &(Self, Self), unit: &str) -> String {
        bounds(&range.0, &range.1, unit)
    }
}

impl Quantity for bool {
    const TYPE: &'static str = "flag";
    fn read(found: &Json) -> Read<Self> {
        found.as_bool().ok_or_else(|| format!("found {}; accepted: true or false", describe(found)))
    }
    fn write(&self) -> Json {
        json!(self)
    }
    fn schema() -> Json {
        json!({"type": "boolean"})
    }
}

impl Quantity for String {
    const TYPE: &'static str = "text";
    fn read(found: &Json) -> Read<Self> {
        let text = found.as_str().map(Self::from);
        text.ok_or_else(|| format!("found {}; accepted: text in quotes", describe(found)))
    }
    fn write(&self) -> Json {
        json!(self)
    }
    fn schema() -> Json {
        json!({"type": "string"})
    }
}

impl Quantity for Release {
    const TYPE: &'static str = "word";
    /// Reads a release, which may be written as a number: `--set linux.release=7.3` is one for TOML.
    fn read(found: &Json) -> Read<Self> {
        let text = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
        Self::named(&text)
            .ok_or_else(|| format!("found {text:?}; accepted: {}", Self::ALL.map(Self::name).join(", ")))
    }
    fn write(&self) -> Json {
        json!(self.name())
    }
    fn schema() -> Json {
        json!({"type": "string", "enum": Self::ALL.map(Self::name)})
    }
}

/// Implements [`Quantity`] for an enum whose values have names: `Type::ALL`, and `name()` of each.
#[macro_export]
macro_rules! word {
    ($type:ty) => {
        impl $crate::keys::Quantity for $type {
            const TYPE: &'static str = "word";
            fn read(found: &$crate::keys::Json) -> std::result::Result<Self, String> {
                let names: Vec<&str> = Self::ALL.iter().map(|one| one.name()).collect();
                let Some(text) = found.as_str() else {
                    let found = $crate::keys::describe(found);
                    return Err(format!("found {found}; accepted: {}", names.join(", ")));
                };
                let known = Self::ALL.iter().copied().find(|one| one.name() == text);
                known.ok_or_else(|| $crate::keys::no_such_word(text, &names))
            }
            fn write(&self) -> $crate::keys::Json {
                self.name().into()
            }
            fn schema() -> $crate::keys::Json {
                let names: Vec<&str> = Self::ALL.iter().map(|one| one.name()).collect();
                serde_json::json!({"type": "string", "enum": names})
            }
        }
    };
}
