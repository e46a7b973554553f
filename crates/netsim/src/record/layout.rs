//! The layout of a record as JSON, for the bindings: docs, types and checks of stored files are made from it.

use super::Record;
use crate::path::{HOPS, HopKind};
use crate::record::parts::{QueueRecord, WireRecord};
use goodqueue_hosts::part::{Engine, Field, Kinds, Part, Shape};
use goodqueue_hosts::traffic::KINDS;
use serde_json::{Value as Json, json};

/// The units, by the words of a key that stand for them.
const UNITS: [(&str, &str); 7] = [
    ("ms", "ms"),
    ("us", "µs"),
    ("s", "s"),
    ("mbps", "Mbit/s"),
    ("percent", "%"),
    ("packets", "packets"),
    ("bytes", "bytes"),
];

/// Returns the parts of a record, each after the part that has it. The first is the record itself.
///
/// A part has `name`, `help` and `fields`. If a kind of hop or of traffic decides which further keys it has, `kinds`
/// has pairs of a kind and the name of the part with its keys. A field has:
///
/// - `key`, `help`, `unit` (empty: none).
/// - `type`: what the simulator writes. It is a word (`count`, `number`, `text`, `flag`, `anything`, `scenario`), or a
///   table with one key: `part` (its name), or `nullable`, `list`, `table` or `directions` (the type within).
/// - `any_type`: what any engine writes.
/// - `is_optional`: whether engines that know the key leave it out if there is nothing to tell.
/// - `null_from`, `not_from`: the engines that may write null, and those that leave the key out.
#[must_use]
pub fn layout() -> Json {
    let mut parts = vec![Record::PART];
    let mut written = Vec::new();
    while let Some(&part) = parts.get(written.len()) {
        written.push(part_as_json(part, &mut parts));
    }
    Json::Array(written)
}

/// Returns `part` as JSON, and adds the parts that it has to `parts`.
fn part_as_json(part: &'static Part, parts: &mut Vec<&'static Part>) -> Json {
    let (mut fields, mut kinds) = (Vec::new(), Vec::new());
    let mut by_kind = |kind: &str, part, parts: &mut Vec<_>| kinds.push(json!([kind, name(part, parts)]));
    for field in part.fields {
        match field.shape {
            Shape::Flat(Kinds::Hops) => {
                HOPS.iter().for_each(|kind| by_kind(kind.name, hop_part(kind), parts));
            }
            Shape::Flat(Kinds::Applications) => {
                let measuring = KINDS.iter().filter_map(|kind| Some((kind.name, kind.result?)));
                measuring.for_each(|(kind, part)| by_kind(kind, part, parts));
            }
            Shape::Flat(Kinds::Series) => {
                let lists = KINDS.iter().filter_map(|kind| kind.series);
                fields.extend(lists.map(|(key, part)| {
                    let list = json!({"list": {"part": name(part, parts)}});
                    field_as_json(&Field::new(key, Shape::Anything, part.help).optional(), &list, &list)
                }));
            }
            shape => {
                let own = type_as_json(&shape, parts);
                let any = field.wider.map_or_else(|| own.clone(), |shape| type_as_json(&shape, parts));
                fields.push(field_as_json(field, &own, &any));
            }
        }
    }
    json!({"name": part.name, "help": part.help, "fields": fields, "kinds": kinds})
}

/// Returns the part with the keys of a hop of this kind.
fn hop_part(kind: &HopKind) -> &'static Part {
    if kind.has_queue() { QueueRecord::PART } else { WireRecord::PART }
}

/// Returns the name of `part`, and adds it to `parts` if it is not there.
fn name(part: &'static Part, parts: &mut Vec<&'static Part>) -> Json {
    if parts.iter().all(|known| known.name != part.name) {
        parts.push(part);
    }
    json!(part.name)
}

fn field_as_json(field: &Field, own: &Json, any: &Json) -> Json {
    let nullable = |shape: &Json| match shape.get("nullable") {
        None if !field.null_from.is_empty() => json!({"nullable": shape}),
        _ => shape.clone(),
    };
    let others = Engine::ALL.into_iter().filter(|engine| !field.only_from.contains(engine));
    let not_from: Vec<Engine> =
        if field.only_from.is_empty() { field.not_from.to_vec() } else { others.collect() };
    json!({
        "key": field.key,
        "help": field.help,
        "unit": unit(field.key),
        "type": own,
        "any_type": nullable(any),
        "is_optional": field.is_optional,
        "null_from": field.null_from,
        "not_from": not_from,
    })
}

fn type_as_json(shape: &Shape, parts: &mut Vec<&'static Part>) -> Json {
    match shape {
        Shape::Count => json!("count"),
        Shape::Number => json!("number"),
        Shape::Text => json!("text"),
        Shape::Flag => json!("flag"),
        Shape::Anything | Shape::Flat(_) => json!("anything"),
        Shape::Scenario => json!("scenario"),
        Shape::Part(part) => json!({"part": name(part, parts)}),
        Shape::Nullable(inner) => json!({"nullable": type_as_json(inner, parts)}),
        Shape::List(inner) => json!({"list": type_as_json(inner, parts)}),
        Shape::Table(inner) => json!({"table": type_as_json(inner, parts)}),
        Shape::Directions(inner) => json!({"directions": type_as_json(inner, parts)}),
    }
}

/// Returns the unit that the name `key` has in it. Empty: none.
fn unit(key: &str) -> &'static str {
    let words = key.split('_').skip(usize::from(!key.contains('_')));
    let found = words.filter_map(|word| UNITS.iter().find(|(known, _)| *known == word));
    found.last().map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It would be wrong to take the first unit of two, or the key `packets` for a number of packets.
    #[test]
    fn a_key_has_its_unit_in_its_name() {
        let units =
            ["delay_ms", "goodput_5s_mbps", "packets", "cwnd_packets", "packets_at_end", "mos"].map(unit);
        assert_eq!(units, ["ms", "Mbit/s", "", "packets", "packets", ""]);
    }
}
