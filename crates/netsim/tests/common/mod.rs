//! What the tests of whole runs share.
#![allow(dead_code)] // each test binary compiles its own copy, and uses what it needs

use goodqueue_netsim::{Record, Scenario, Simulation};
use serde_json::{Value, json};

/// `traffic` over 10 Mbit/s and 25 ms of propagation each way, behind a queue that loses nothing, for 20 s.
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
