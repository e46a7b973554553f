//! Differentiated services codepoints in a scenario: `"EF"`, `"AF41"`, `"LE"`, or a number from 0 to 63.

use super::key::{Quantity, describe};
use goodqueue_units::parse;
use serde_json::{Value as Json, json};

/// A codepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(pub u8);

/// The names of RFC 4594 (figure 3), with the classes of RFC 2597, 3246 and 5865 (VA), and of RFC 8622 (LE).
const NAMES: [(&str, u8); 23] = [
    ("CS0", 0),
    ("LE", 1),
    ("CS1", 8),
    ("AF11", 10),
    ("AF12", 12),
    ("AF13", 14),
    ("CS2", 16),
    ("AF21", 18),
    ("AF22", 20),
    ("AF23", 22),
    ("CS3", 24),
    ("AF31", 26),
    ("AF32", 28),
    ("AF33", 30),
    ("CS4", 32),
    ("AF41", 34),
    ("AF42", 36),
    ("AF43", 38),
    ("CS5", 40),
    ("VA", 44),
    ("EF", 46),
    ("CS6", 48),
    ("CS7", 56),
];

const ACCEPTED: &str = "a codepoint such as \"EF\", \"CS1\", \"AF41\" or \"LE\", or a number from 0 to 63";

impl Quantity for Dscp {
    const TYPE: &'static str = "codepoint";
    fn read(found: &Json) -> Result<Self, String> {
        if let Some(text) = found.as_str() {
            let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            let hint = || match parse::nearest(&text.to_ascii_uppercase(), NAMES.map(|(name, _)| name)) {
                Some(near) => format!("did you mean {near:?}? "),
                None => String::new(),
            };
            let found = named.map(|(_, bits)| Self(*bits));
            return found.ok_or_else(|| format!("found {text:?}; {}accepted: {ACCEPTED}", hint()));
        }
        let number = found.as_u64().filter(|number| *number < 64);
        number.map(|number| Self(number as u8)).ok_or_else(|| match found {
            Json::Number(number) => format!("found {number}; accepted: {ACCEPTED}"),
            _ => format!("found {}; accepted: {ACCEPTED}", describe(found)),
        })
    }
    /// Writes the name, if the codepoint has one.
    fn write(&self) -> Json {
        match NAMES.iter().find(|(_, bits)| *bits == self.0) {
            Some((name, _)) => json!(name),
            None => json!(self.0),
        }
    }
    fn schema() -> Json {
        let names = NAMES.map(|(name, _)| name);
        json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": 63}, {"type": "string", "examples": names}]})
    }
    fn plain(&self) -> (&'static str, Json) {
        ("", json!(self.0))
    }
}
