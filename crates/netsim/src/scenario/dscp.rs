//! Codepoints of differentiated services, as a scenario names them: `"EF"`, `"AF41"`, `"LE"`, or a number from 0 to 63.

use goodqueue_units::parse;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// A codepoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dscp(pub u8);

/// RFC 4594 (figure 3) with the classes of RFC 2597, 3246 and 5865 (VA), and RFC 8622 (LE).
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

struct Codepoint;

impl Visitor<'_> for Codepoint {
    type Value = Dscp;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ACCEPTED)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Dscp, E> {
        let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
        let hint = || match parse::nearest(&text.to_ascii_uppercase(), NAMES.map(|(name, _)| name)) {
            Some(near) => format!("did you mean {near:?}? "),
            None => String::new(),
        };
        match named {
            Some((_, bits)) => Ok(Dscp(*bits)),
            None => Err(E::custom(format!("found {text:?}; {}accepted: {ACCEPTED}", hint()))),
        }
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Dscp, E> {
        match number {
            0..=63 => Ok(Dscp(number as u8)),
            _ => Err(E::custom(format!("found {number}; accepted: {ACCEPTED}"))),
        }
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Dscp, E> {
        Err(E::custom(format!("found {number}; accepted: {ACCEPTED}")))
    }
}

impl<'de> Deserialize<'de> for Dscp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Codepoint)
    }
}

impl Serialize for Dscp {
    /// By its name where it has one.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match NAMES.iter().find(|(_, bits)| *bits == self.0) {
            Some((name, _)) => serializer.serialize_str(name),
            None => serializer.serialize_u8(self.0),
        }
    }
}
