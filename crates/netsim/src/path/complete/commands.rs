//! The key `tc` of a link: a tree of classes, as the commands that make it.
//!
//! The commands become the line of the link's discipline, which is their canonical form.

use goodqueue_hosts::keys::{Json, Key, Quantity, Result, ScenarioError, Table, describe, refuse};
use goodqueue_qdisc::registry;
use serde_json::json;

pub(crate) const TC: Key<Commands> = Key::optional(
    "tc",
    "[\"tc qdisc add dev eth0 root handle 1: drr\", \"tc class add dev eth0 parent 1: classid 1:1 drr\"]",
)
.help("instead of `qdisc`: a tree of classes, as a list of the tc commands that make it, or a file of them")
.simulator_only();
/// Returns the line of the tree, if the table of a link has commands.
pub(in crate::path) fn line(table: &Table<'_>) -> Result<Option<String>> {
    let Some(Commands(text)) = table.find(&TC)? else { return Ok(None) };
    if table.has("qdisc") {
        return refuse(&table.key("tc"), "a qdisc besides", "qdisc or tc");
    }
    match registry::parse_tree(&text) {
        Ok(args) => Ok(Some(args.to_string())),
        Err(error) => Err(ScenarioError::new(table.key("tc"), error.0)),
    }
}

/// The text of commands, one per line.
#[derive(Clone, Debug)]
pub(crate) struct Commands(String);

impl Quantity for Commands {
    const TYPE: &'static str = "list of text";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let refused = || format!("found {}; accepted: a list of tc commands in quotes", describe(found));
        let listed = found.as_array().ok_or_else(refused)?;
        let lines = listed
            .iter()
            .map(|line| line.as_str().ok_or_else(refused))
            .collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Self(lines.join("\n")))
    }
    fn write(&self) -> Json {
        json!(self.0.lines().collect::<Vec<_>>())
    }
    fn schema() -> Json {
        json!({"type": ["array", "string"], "items": {"type": "string"}})
    }
}
