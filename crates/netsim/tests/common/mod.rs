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
