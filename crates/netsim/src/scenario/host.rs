//! The name of a host in a scenario.

use goodqueue_hosts::keys::{Quantity, describe};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::fmt;
use std::sync::Arc;

/// The greatest length of a name in characters: that of a label in the domain name system (RFC 1035, 2.3.4).
const MOST_CHARACTERS: usize = 63;

/// The name of a user's host or of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostName(Arc<str>);

impl HostName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Quantity for HostName {
    const TYPE: &'static str = "name of a host";
    fn read(found: &Json) -> Result<Self, String> {
        let accepted = format!("a name of 1 to {MOST_CHARACTERS} characters, such as \"alice\"");
        let Some(text) = found.as_str() else {
            return Err(format!("found {}; accepted: {accepted}", describe(found)));
        };
        let characters = text.chars().count();
        if characters > MOST_CHARACTERS {
            return Err(format!("found a name of {characters} characters; accepted: {accepted}"));
        }
        if text.trim() != text || text.is_empty() || text.chars().any(char::is_control) {
            return Err(format!(
                "found {text:?}; accepted: {accepted}, without control characters and without spaces at its ends"
            ));
        }
        Ok(Self(text.into()))
    }
    fn write(&self) -> Json {
        json!(&*self.0)
    }
    fn schema() -> Json {
        json!({"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS})
    }
}

impl Serialize for HostName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
