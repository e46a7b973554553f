//! Explicit congestion notification in a scenario: of TCP `false`, `true` or `"accecn"`, of datagrams a codepoint.

use super::key::{Quantity, describe};
use goodqueue_tcp::{Cc, EcnMode, EcnUse};
use goodqueue_units::Ecn;
use serde_json::{Value as Json, json};
use std::fmt;

/// Whether packets are ECN-capable, and which feedback TCP uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnAsked(pub EcnMode);

impl EcnAsked {
    /// Returns the default of a congestion control.
    pub(crate) fn default_of(cc: Cc) -> Self {
        Self(match cc.ecn_use() {
            EcnUse::Classic => EcnMode::Off,
            EcnUse::Dctcp => EcnMode::Classic,
            EcnUse::L4s => EcnMode::Accurate,
        })
    }

    /// Refuses a mode with which the congestion control `name`, which uses ECN as `needs` says, would not work as
    /// intended: without marks, a congestion control that relies on them behaves differently.
    ///
    /// # Errors
    /// What was found and what is accepted.
    pub fn check(self, needs: EcnUse, name: &str) -> Result<(), String> {
        let accepted: &[EcnMode] = match needs {
            EcnUse::Classic => return Ok(()),
            EcnUse::Dctcp => &[EcnMode::Classic, EcnMode::Accurate],
            EcnUse::L4s => &[EcnMode::Accurate],
        };
        if accepted.contains(&self.0) {
            return Ok(());
        }
        let accepted: Vec<String> = accepted.iter().map(|mode| Self(*mode).to_string()).collect();
        Err(format!("found {self}; accepted with cc {name:?}: {}", accepted.join(" or ")))
    }
}

const ACCEPTED: &str = "false, true or \"accecn\"";

impl Quantity for EcnAsked {
    const TYPE: &'static str = "ECN";
    fn read(found: &Json) -> Result<Self, String> {
        match found {
            Json::Bool(on) => Ok(Self(if *on { EcnMode::Classic } else { EcnMode::Off })),
            Json::String(text) if text == "accecn" => Ok(Self(EcnMode::Accurate)),
            Json::String(text) => Err(format!("found {text:?}; accepted: {ACCEPTED}")),
            _ => Err(format!("found {}; accepted: {ACCEPTED}", describe(found))),
        }
    }
    fn write(&self) -> Json {
        match self.0 {
            EcnMode::Off => json!(false),
            EcnMode::Classic => json!(true),
            EcnMode::Accurate => json!("accecn"),
        }
    }
    fn schema() -> Json {
        json!({"enum": [false, true, "accecn"]})
    }
    fn plain(&self) -> (&'static str, Json) {
        ("", json!(self.0 != EcnMode::Off))
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

/// The ECN codepoint of datagrams: `false`, `true` (ECT(0), as in TCP), `"ect0"` or `"ect1"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codepoint(pub Ecn);

impl Quantity for Codepoint {
    const TYPE: &'static str = "ECN";
    fn read(found: &Json) -> Result<Self, String> {
        const ACCEPTED: &str = "false, true, \"ect0\" or \"ect1\": datagrams have no feedback";
        match found {
            Json::Bool(false) => Ok(Self(Ecn::NotEct)),
            Json::Bool(true) => Ok(Self(Ecn::Ect0)),
            Json::String(text) if text == "ect0" => Ok(Self(Ecn::Ect0)),
            Json::String(text) if text == "ect1" => Ok(Self(Ecn::Ect1)),
            Json::String(text) => Err(format!("found {text:?}; accepted: {ACCEPTED}")),
            _ => Err(format!("found {}; accepted: {ACCEPTED}", describe(found))),
        }
    }
    /// Writes ECT(0) as `true`, which scenarios have had from the beginning.
    fn write(&self) -> Json {
        match self.0 {
            Ecn::Ect1 => json!("ect1"),
            ecn => json!(ecn != Ecn::NotEct),
        }
    }
    fn schema() -> Json {
        json!({"enum": [false, true, "ect0", "ect1"]})
    }
    /// Returns the two bits of the IP header.
    fn plain(&self) -> (&'static str, Json) {
        ("_bits", json!(self.0.bits()))
    }
}
