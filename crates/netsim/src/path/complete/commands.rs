//! The key `tc` of a link: a tree of classes, as the commands that make it.
//!
//! The line of the link's discipline is then their canonical form.

use goodqueue_hosts::direction::Direction;
use goodqueue_hosts::keys::{Json, Key, Quantity, Result, ScenarioError, Table, describe, refuse};
use goodqueue_qdisc::{Args, registry, tree};
use goodqueue_units::Release;
use serde_json::json;

pub(crate) const TC: Key<Commands> = Key::optional(
    "tc",
    "[\"tc qdisc add dev eth0 root handle 1: drr\", \"tc class add dev eth0 parent 1: classid 1:1 drr\"]",
)
.help(
    "instead of `qdisc`: a tree of classes, as a list of the tc commands that make it, or a file of them. Commands of \
     two devices in [bottleneck] are the trees of both directions: an ifb is the download's, or else the first device",
)
.simulator_only();

/// Returns the tree, if the table of a link has commands. The bottleneck's commands may be of two devices,
/// one for each `direction`.
pub(in crate::path) fn tree(
    table: &Table<'_>,
    direction: Option<Direction>,
    release: Release,
) -> Result<Option<Args>> {
    let Some(Commands(text)) = table.find(&TC)? else { return Ok(None) };
    if table.has("qdisc") {
        return refuse(&table.key("tc"), "a qdisc besides", "qdisc or tc");
    }
    let read = match (&tree::devices(&text)[..], direction) {
        ([first, second], Some(direction)) => {
            if table.content().get("up").is_some_and(|up| up.get("tc").or(up.get("qdisc")).is_some()) {
                let accepted = "commands of one device beside bottleneck.up";
                return refuse(&table.key("tc"), format!("commands of {first} and {second}"), accepted);
            }
            let [down, up] = by_direction(first, second);
            let device = if direction == Direction::Down { down } else { up };
            registry::parse_tree_of(&text, Some(device), release)
        }
        _ => registry::parse_tree_of(&text, None, release),
    };
    read.map(Some).map_err(|error| ScenarioError::new(table.key("tc"), error.0))
}

/// Returns the devices of the download and of the upload. What arrives at a device is shaped on an ifb, so that an ifb
/// is the download's (SQM). Without one, the download's comes first (LibreQoS).
fn by_direction<'a>(first: &'a str, second: &'a str) -> [&'a str; 2] {
    let is_ifb = |device: &str| device.starts_with("ifb");
    if is_ifb(second) && !is_ifb(first) { [second, first] } else { [first, second] }
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
