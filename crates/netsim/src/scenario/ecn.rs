//! Explicit congestion notification, as a scenario asks for it: `false`, `true`, or `"accecn"`.

use goodqueue_tcp::EcnMode;
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// Whether packets are ECN-capable, and for TCP with which feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnAsked(pub EcnMode);

const ACCEPTED: &str = "false, true or \"accecn\"";

struct Asked;

impl Visitor<'_> for Asked {
    type Value = EcnAsked;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ACCEPTED)
    }

    fn visit_bool<E: de::Error>(self, on: bool) -> Result<EcnAsked, E> {
        Ok(EcnAsked(if on { EcnMode::Classic } else { EcnMode::Off }))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<EcnAsked, E> {
        match text {
            "accecn" => Ok(EcnAsked(EcnMode::Accurate)),
            _ => Err(E::custom(format!("found {text:?}; accepted: {ACCEPTED}"))),
        }
    }
}

impl<'de> Deserialize<'de> for EcnAsked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Asked)
    }
}

impl Serialize for EcnAsked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            EcnMode::Off => serializer.serialize_bool(false),
            EcnMode::Classic => serializer.serialize_bool(true),
            EcnMode::Accurate => serializer.serialize_str("accecn"),
        }
    }
}

impl fmt::Display for EcnAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            EcnMode::Off => "false",
            EcnMode::Classic => "true",
            EcnMode::Accurate => "\"accecn\"",
        })
    }
}
