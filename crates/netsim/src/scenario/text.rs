//! Quantities in a scenario are text with a unit: `"50ms"`, `"25mbit"`.

use goodqueue_units::{Duration, Rate, parse};
use serde::de::{self, Deserialize, Deserializer, Unexpected, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub Duration);

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateText(pub Rate);

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size(pub u64);

/// Reads text through a function of [`parse`].
struct Text<T> {
    read: fn(&str) -> Result<T, String>,
    accepted: &'static str,
}

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.accepted)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, found: i64) -> Result<T, E> {
        Err(E::custom(format!("found the bare number {found}; accepted: {}", self.accepted)))
    }

    fn visit_u64<E: de::Error>(self, found: u64) -> Result<T, E> {
        Err(E::custom(format!("found the bare number {found}; accepted: {}", self.accepted)))
    }

    fn visit_f64<E: de::Error>(self, found: f64) -> Result<T, E> {
        Err(E::custom(format!("found {}; accepted: {}", Unexpected::Float(found), self.accepted)))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let accepted = r#"a time with its unit, such as "50ms" or "70s""#;
        deserializer.deserialize_any(Text { read: parse::duration_with_unit, accepted }).map(Self)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // In nanoseconds where the shorter unit would round.
        let text = self.0.to_string();
        let exact = parse::duration(&text) == Ok(self.0);
        serializer.serialize_str(&if exact { text } else { format!("{}ns", self.0.as_nanos()) })
    }
}

impl<'de> Deserialize<'de> for RateText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let accepted = r#"a rate with its unit, such as "25mbit" or "512kbit""#;
        deserializer.deserialize_any(Text { read: parse::rate, accepted }).map(Self)
    }
}

impl Serialize for RateText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let accepted = r#"a size with its unit, such as "1500B", "100kB" or "1MB""#;
        deserializer.deserialize_any(Text { read: parse::bytes_with_unit, accepted }).map(Self)
    }
}

impl Serialize for Size {
    /// In the largest decimal unit of which it is a whole number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")];
        let (unit, name) =
            units.into_iter().find(|(unit, _)| self.0.is_multiple_of(*unit)).unwrap_or((1, "B"));
        serializer.collect_str(&format_args!("{}{name}", self.0 / unit))
    }
}
