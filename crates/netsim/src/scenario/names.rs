//! The names of the hops that flows cross.

use goodqueue_hosts::keys::{Json, Quantity, describe};
use serde_json::json;

/// Names of hops.
#[derive(Clone, Debug)]
pub(super) struct Names(pub(super) Vec<String>);

impl Quantity for Names {
    const TYPE: &'static str = "list of names";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let names = found.as_array().filter(|list| !list.is_empty());
        let names = names.and_then(|list| list.iter().map(|name| name.as_str().map(String::from)).collect());
        let accepted = "a list of hops such as [\"bottleneck\", \"modem\"]";
        names.map(Self).ok_or_else(|| format!("found {}; accepted: {accepted}", describe(found)))
    }
    fn write(&self) -> Json {
        json!(self.0)
    }
    fn schema() -> Json {
        json!({"type": "array", "minItems": 1, "items": {"type": "string"}})
    }
}
