//! Functions that the tests of whole runs share.

use goodqueue_netsim::{Record, Scenario, Simulation};
use goodqueue_units::Duration;
use serde_json::{Value, json};

/// `traffic` over 10 Mbit/s with 25 ms of propagation in each direction, behind a queue that loses nothing, for 20 s.
pub(crate) fn access_link(traffic: &Value) -> Value {
    json!({
        "duration": "20s",
        "bottleneck": {"rate": "10mbit", "qdisc": "pfifo limit 1000"},
        "path": {"rtt": "50ms"},
        "traffic": traffic,
    })
}

pub(crate) fn simulation(scenario: &Value) -> Simulation {
    Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

pub(crate) fn run(scenario: &Value) -> Record {
    let mut simulation = simulation(scenario);
    simulation.run();
    simulation.record()
}

/// Asserts that a run of 20 s in pieces has the same record, and that a run with another seed has a different one.
pub(crate) fn assert_cut_is_the_same_and_seeds_differ(mut asked: Value) {
    let text = |record: &Record| serde_json::to_string(record).unwrap();
    let whole = text(&run(&asked));
    let mut pieces = simulation(&asked);
    (1..40).for_each(|piece| pieces.advance(Duration::from_millis(piece * 499)));
    pieces.run();
    assert_eq!(text(&pieces.record()), whole);
    asked["seed"] = json!(2);
    assert_ne!(text(&run(&asked)), whole);
}

/// Returns a scenario with nothing in it that it could lack.
pub(crate) fn smallest() -> Value {
    json!({
        "duration": "70s",
        "warmup": "10s",
        "seed": 1,
        "bottleneck": {"rate": "25mbit", "qdisc": "codel target 5ms interval 100ms limit 1000"},
        "path": {"rtt": "50ms"},
        "traffic": [{"kind": "bulk", "count": 1, "direction": "down", "cc": "cubic", "ecn": false}],
    })
}

/// Returns the [`smallest`] scenario with the value at a JSON pointer replaced, added, or (null) removed.
pub(crate) fn with(pointer: &str, value: Value) -> String {
    let mut scenario = smallest();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match scenario.pointer_mut(parent).unwrap() {
        Value::Object(table) if value.is_null() => drop(table.remove(key)),
        Value::Object(table) => drop(table.insert(key.to_string(), value)),
        Value::Array(list) => list.push(value),
        other => panic!("{other} holds nothing"),
    }
    scenario.to_string()
}
