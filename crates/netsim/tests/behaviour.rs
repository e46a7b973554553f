//! The behaviour of every discipline under three loads, as a table under version control. A change of behaviour shows
//! as a changed row in review. The digests check the promise that every build gives the same bytes: this test runs
//! without optimisation, and `tests/house/test_determinism.py` compares the optimised build with the same table.
//!
//! After an intended change: `GOODQUEUE_BLESS=1 cargo test -p goodqueue-netsim --test all behaviour`.

use goodqueue_netsim::{Scenario, Simulation};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

fn row(scenario: &Value, qdisc: &str, load: &str, traffic: &Value) -> String {
    let mut scenario = scenario.clone();
    scenario["bottleneck"]["qdisc"] = json!(qdisc);
    scenario["traffic"] = traffic.clone();
    let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    simulation.run();
    let record = simulation.record();
    let bytes = serde_json::to_string(&record).unwrap();
    let down = &record.queues.down;
    let delay = down.delay_ms.unwrap();
    let goodput: f64 = record.flows.iter().map(|flow| flow.goodput_mbps).sum();
    format!(
        "{qdisc:36} {load:6} {:8.2} {:8.2} {:6.1} {goodput:7.2} {:6} {:6}  {:016x}",
        delay.p50,
        delay.p99,
        down.utilisation_percent,
        down.packets.dropped,
        down.packets.marked,
        fnv1a(bytes.as_bytes()),
    )
}

/// FNV-1a: a digest small enough for a table.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn behaviour_is_as_the_table_says() {
    let mut table = String::from(
        "qdisc                                load     p50 ms   p99 ms  util%  Mbit/s  drops  marks  record (FNV-1a)\n",
    );
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let runs = std::fs::read_to_string(data.join("behaviour.json")).unwrap();
    let runs: Value = serde_json::from_str(&runs).unwrap();
    for qdisc in runs["qdiscs"].as_array().unwrap() {
        for (load, traffic) in runs["loads"].as_object().unwrap() {
            writeln!(table, "{}", row(&runs["scenario"], qdisc.as_str().unwrap(), load, traffic)).unwrap();
        }
    }
    let path = data.join("behaviour.txt");
    if std::env::var_os("GOODQUEUE_BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (now, before) in table.lines().zip(kept.lines().chain(std::iter::repeat("(no such row)"))) {
        assert_eq!(now, before, "behaviour has changed; if that is intended, see the head of this file");
    }
    assert_eq!(table.lines().count(), kept.lines().count(), "rows are gone");
}
