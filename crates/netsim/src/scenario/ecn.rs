//! Explicit congestion notification, as a scenario asks for it: `false`, `true`, or `"accecn"`.

use goodqueue_tcp::{Cc, EcnMode, EcnUse};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};
use std::fmt;

/// Whether packets are ECN-capable, and for TCP with which feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnAsked(pub EcnMode);

impl EcnAsked {
    /// What a congestion control has where nothing is said.
    pub(super) fn default_of(cc: Cc) -> Self {
        Self(match cc.ecn_use() {
            EcnUse::Classic => EcnMode::Off,
            EcnUse::Dctcp => EcnMode::Classic,
            EcnUse::L4s => EcnMode::Accurate,
        })
    }

    /// Whether `cc` is itself with it: one that lives by marks is another without them.
    pub(super) fn check(self, cc: Cc) -> Result<(), String> {
        let accepted: &[EcnMode] = match cc.ecn_use() {
            EcnUse::Classic => return Ok(()),
            EcnUse::Dctcp => &[EcnMode::Classic, EcnMode::Accurate],
            EcnUse::L4s => &[EcnMode::Accurate],
        };
        if accepted.contains(&self.0) {
            return Ok(());
        }
        let accepted: Vec<String> = accepted.iter().map(|mode| Self(*mode).to_string()).collect();
        Err(format!("found {self}; accepted with cc {:?}: {}", cc.name(), accepted.join(" or ")))
    }
}

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
