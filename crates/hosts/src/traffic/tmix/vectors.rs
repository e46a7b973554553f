//! How a scenario writes connection vectors. `python/goodqueue/files/tmix.py` converts TMIX's own files to this form.

use super::End;
use crate::keys::{Json, Quantity, describe};
use crate::sorting::sort_by_key;
use goodqueue_units::Duration;
use serde_json::json;
use std::sync::Arc;

/// The greatest number of connections per table, and of sends per connection.
const MOST: usize = 1_000_000;
/// The greatest time in microseconds, and the greatest number of bytes per send.
const MOST_US: u64 = 1_000_000_000_000;
const MOST_BYTES: u64 = 1_000_000_000_000;
const ACCEPTED: &str = "[\">\" or \"<\", bytes from 1, the wait after it in microseconds]";

/// The bytes that an end writes at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Send {
    pub(super) from: End,
    pub(super) bytes: u64,
    /// The wait before the next send. It starts when this send is written if the next is from the same end. It starts
    /// when this send has arrived if the next is from the other end.
    pub(super) wait: Duration,
}

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Vector {
    /// Time after the flow's start.
    pub(super) start: Duration,
    /// Whether each end sends at its own times.
    pub(super) is_concurrent: bool,
    /// The sends in their order; at least one.
    pub(super) sends: Vec<Send>,
}

/// All connection vectors of a table, sorted by their starts. The flows of the table share them.
#[derive(Clone, Debug)]
pub(super) struct Vectors(pub(super) Arc<[Vector]>);

impl Quantity for Vectors {
    const TYPE: &'static str = "list of connection vectors";

    fn read(found: &Json) -> Result<Self, String> {
        let refused = || {
            let accepted = "a list of connection vectors; the command line reads files of them";
            format!("found {}; accepted: {accepted}", describe(found))
        };
        let list = found.as_array().ok_or_else(refused)?;
        if !(1..=MOST).contains(&list.len()) {
            return Err(format!("found {} connection vectors; accepted: 1 to {MOST}", list.len()));
        }
        let read = |(place, one)| Vector::read(one).map_err(|why| format!("[{place}]{why}"));
        let mut vectors = list.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
        sort_by_key(&mut vectors, |vector| vector.start);
        Ok(Self(vectors.into()))
    }

    fn write(&self) -> Json {
        self.0.iter().map(Vector::write).collect()
    }

    fn schema() -> Json {
        let send = json!({"type": "array", "minItems": 3, "maxItems": 3});
        let sends = json!({"type": "array", "minItems": 1, "maxItems": MOST, "items": send});
        let properties =
            json!({"start_us": {"type": "integer"}, "concurrent": {"type": "boolean"}, "sends": sends});
        let vector = json!({
            "type": "object",
            "properties": properties,
            "required": ["start_us", "sends"],
            "additionalProperties": false,
        });
        json!({"anyOf": [
            {"type": "string"},
            {"type": "array", "minItems": 1, "maxItems": MOST, "items": vector},
        ]})
    }
}

impl Vector {
    fn read(found: &Json) -> Result<Self, String> {
        let Some(table) = found.as_object() else {
            return Err(format!(": found {}; accepted: a table with start_us and sends", describe(found)));
        };
        if let Some(name) = table.keys().find(|name| !["start_us", "concurrent", "sends"].contains(&name.as_str())) {
            return Err(format!(".{name}: unknown; accepted: start_us, concurrent, sends"));
        }
        let start = table.get("start_us").and_then(Json::as_u64).filter(|&us| us <= MOST_US);
        let start = start.ok_or(format!(".start_us: accepted: microseconds, 0 to {MOST_US}"))?;
        let is_concurrent = match table.get("concurrent") {
            None => false,
            Some(found) => found.as_bool().ok_or(".concurrent: accepted: true, false")?,
        };
        let sends = table.get("sends").and_then(Json::as_array).filter(|sends| (1..=MOST).contains(&sends.len()));
        let sends = sends.ok_or(format!(".sends: accepted: 1 to {MOST} of {ACCEPTED}"))?;
        let read = |(place, one)| {
            Send::read(one).ok_or_else(|| format!(".sends[{place}]: found {one}; accepted: {ACCEPTED}"))
        };
        let sends = sends.iter().enumerate().map(read).collect::<Result<_, _>>()?;
        Ok(Self { start: Duration::from_micros(start), is_concurrent, sends })
    }

    fn write(&self) -> Json {
        let mut table = json!({"start_us": micros(self.start)});
        if self.is_concurrent {
            table["concurrent"] = json!(true);
        }
        table["sends"] = self.sends.iter().map(Send::write).collect();
        table
    }
}

impl Send {
    fn read(found: &Json) -> Option<Self> {
        let [from, bytes, wait] = found.as_array()?.as_slice() else { return None };
        let from = match from.as_str()? {
            ">" => End::Initiator,
            "<" => End::Acceptor,
            _ => return None,
        };
        let bytes = bytes.as_u64().filter(|bytes| (1..=MOST_BYTES).contains(bytes))?;
        let wait = wait.as_u64().filter(|&us| us <= MOST_US)?;
        Some(Self { from, bytes, wait: Duration::from_micros(wait) })
    }

    fn write(&self) -> Json {
        let from = if self.from == End::Initiator { ">" } else { "<" };
        json!([from, self.bytes, micros(self.wait)])
    }
}

fn micros(time: Duration) -> u64 {
    time.as_nanos() / 1000
}
