//! The traffic of subscribers: named mixes (`mixes.json`), or tables of one's own.

use super::Subscriber;
use super::evening::Evening;
use goodqueue_hosts::keys::{
    Json, Quantity, Result, ScenarioError, Span, Table, describe, no_such_word, refuse,
};
use goodqueue_units::{Duration, Streams};
use serde_json::{Map, json};
use std::sync::Arc;

/// The mixes as data: what each one is, where its numbers are from, and its tables, or the mix that has the same.
const MIXES: &str = include_str!("mixes.json");
/// The keys of a table that follow from the subscriber.
const OF_SUBSCRIBER: [&str; 5] = ["host", "rtt", "start", "start_spread", "stop"];
/// Subscribers who are active from the beginning start within this time, so that they do not start together.
const SPREAD: Duration = Duration::from_secs(10);

/// The traffic of a group of subscribers.
#[derive(Clone, Debug)]
pub(super) struct Mix {
    written: Json,
    tables: Vec<Map<String, Json>>,
}

impl Mix {
    /// Returns all mixes, by name.
    fn all() -> Map<String, Json> {
        serde_json::from_str(MIXES).unwrap_or_default()
    }
}

impl Quantity for Mix {
    const TYPE: &'static str = "mix of traffic";
    fn read(found: &Json) -> std::result::Result<Self, String> {
        let accepted = "a mix such as \"household\", or a list of tables as [[traffic]] has";
        let refused = || format!("found {}; accepted: {accepted}", describe(found));
        let all = Self::all();
        let list = match found {
            Json::Array(list) => Some(list),
            Json::String(name) => {
                let names: Vec<&str> = all.keys().map(String::as_str).collect();
                let mix = all.get(name).ok_or_else(|| no_such_word(name, &names))?;
                let same = mix["traffic"].as_str().and_then(|other| all.get(other));
                same.unwrap_or(mix)["traffic"].as_array()
            }
            _ => None,
        };
        let tables = list.ok_or_else(refused)?.iter();
        let tables = tables.map(|table| table.as_object().cloned().ok_or_else(refused));
        let tables = tables.collect::<std::result::Result<Vec<_>, _>>()?;
        Ok(Self { written: found.clone(), tables })
    }
    fn write(&self) -> Json {
        self.written.clone()
    }
    fn schema() -> Json {
        let names: Vec<String> = Self::all().keys().cloned().collect();
        json!({"anyOf": [{"enum": names}, {"type": "array", "items": {"type": "object"}}]})
    }
}

/// One table of `[[traffic]]` that a subscriber has.
pub(in crate::scenario) struct OfSubscriber {
    /// The place of the subscriber.
    pub(in crate::scenario) subscriber: u32,
    /// Where the table was written.
    pub(in crate::scenario) path: String,
    pub(in crate::scenario) table: Json,
}

/// Returns the tables of `[[traffic]]` of `subscribers`. `mixes` are theirs: the place of the group's table, the mix
/// and the round-trip time.
pub(super) fn traffic(
    tables: &[Table<'_>],
    mixes: &[(usize, Arc<Mix>, Option<Span>)],
    subscribers: &[Subscriber],
    evening: &Evening,
    streams: Streams,
) -> Result<Vec<OfSubscriber>> {
    let mut all = Vec::new();
    for (at, ((place, mix, rtt), one)) in mixes.iter().zip(subscribers).enumerate() {
        let mut random = streams.stream("mix of a subscriber", at as u64);
        let times = evening.times(at);
        for (nth, entry) in mix.tables.iter().enumerate() {
            let drawn = random.next_f64();
            let path = format!("{}[{nth}]", tables[*place].key("traffic"));
            if let Some(key) = OF_SUBSCRIBER.into_iter().find(|key| entry.contains_key(*key)) {
                return refuse(&format!("{path}.{key}"), "it", "none: it follows from the subscriber");
            }
            let share = match entry.get("share") {
                None => 1.0,
                Some(share) => {
                    share.as_f64().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
                        let message = format!("found {share}; accepted: a number from 0 to 1");
                        ScenarioError::new(format!("{path}.share"), message)
                    })?
                }
            };
            if drawn >= share {
                continue;
            }
            for (again, &(begun, ended)) in times.iter().enumerate() {
                let mut table = entry.clone();
                table.remove("share");
                let kind = entry.get("name").or(entry.get("kind")).and_then(Json::as_str).unwrap_or_default();
                let mut name = format!("{} {kind}", one.name);
                if again > 0 {
                    name += &format!(" again {again}");
                }
                let spread = SPREAD.min((ended.saturating_sub(begun)) / 4);
                table.insert("name".to_string(), name.into());
                table.insert("host".to_string(), one.host(nth).into());
                table.insert("start".to_string(), Span(begun).write());
                table.insert("start_spread".to_string(), Span(spread).write());
                table.insert("stop".to_string(), Span(ended).write());
                if let Some(rtt) = rtt {
                    table.insert("rtt".to_string(), rtt.write());
                }
                let (path, table) = (path.clone(), Json::Object(table));
                all.push(OfSubscriber { subscriber: at as u32, path, table });
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each mix is read, and says what it is and where its numbers are from.
    #[test]
    fn each_mix_has_its_words_and_its_source() {
        let all = Mix::all();
        assert!(all.len() >= 5);
        for (name, mix) in &all {
            assert!(Mix::read(&json!(name)).is_ok(), "{name}");
            for key in ["about", "source"] {
                assert!(mix[key].as_str().is_some_and(|text| text.len() > 20), "{name}: {key}");
            }
        }
    }
}
