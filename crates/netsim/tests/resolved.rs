//! What a scenario is once its defaults are filled in. It resolves to itself.

use crate::common::{smallest, with};
use goodqueue_netsim::{Scenario, Simulation};
use serde_json::json;

/// Otherwise a record's scenario could not be run again.
#[test]
fn a_resolved_scenario_resolves_to_itself() {
    for json in [
        smallest().to_string(),
        with("/traffic/-", json!({"kind": "cbr", "rate": "1234567bit", "stagger": "1.0000001s"})),
        with("/traffic/0/dscp", json!(34)),
        with("/traffic/0/rtt_step", json!("1.5ms")),
        with("/traffic/0/port", json!(443)),
        with("/traffic/0/mark", json!(7)),
        with("/traffic/-", json!({"kind": "transfer", "size": "1.5MB"})),
        with("/traffic/-", json!({"kind": "transfer", "size": "1KiB", "interval": "2s"})),
        with("/traffic/-", json!({"kind": "rr", "request": "1kB", "response": "3B", "think_mean": "1ms"})),
        with("/traffic/-", json!({"kind": "stream", "rate": "1mbit"})),
        with("/bottleneck/qdisc", json!("dualpi2 max_rtt 60ms")),
        with("/bottleneck/qdisc", json!("sfq limit 60 divisor 32")),
        with("/change", json!([{"at": "5s", "rate": "1mbit"}, {"at": "5s", "qdisc": "codel ecn"}])),
    ] {
        let once = serde_json::to_string(&Scenario::from_json(&json).unwrap()).unwrap();
        let twice = serde_json::to_string(&Scenario::from_json(&once).unwrap()).unwrap();
        assert_eq!(once, twice);
    }
}

/// Three flows, 2 ms apart: the first has the table's RTT, and the ping of another table has the path's.
#[test]
fn each_flow_is_so_much_farther_away_than_the_one_before() {
    let mut scenario = smallest();
    scenario["traffic"] = json!([
        {"kind": "bulk", "count": 3, "rtt": "20ms", "rtt_step": "2ms"},
        {"kind": "ping"},
    ]);
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let rtts: Vec<f64> = scenario.flows().iter().map(|flow| flow.rtt_s).collect();
    assert_eq!(rtts, [0.020, 0.022, 0.024, 0.050]);
    let mut simulation = Simulation::new(scenario).unwrap();
    simulation.run();
    for (flow, rtt_ms) in simulation.record().flows.iter().zip([20.0, 22.0, 24.0]) {
        let least = flow.rtt_ms.as_ref().unwrap().min;
        assert!((rtt_ms..rtt_ms + 2.0).contains(&least), "{}: {least} ms, not {rtt_ms}", flow.name);
    }
}

/// Otherwise a reader of the record could not see what ran after the change.
#[test]
fn a_change_s_line_is_filled_in_on_top_of_the_changes_before_it() {
    let scenario = Scenario::from_json(&with(
        "/change",
        json!([{"at": "5s", "qdisc": "codel limit 50"}, {"at": "6s", "qdisc": "codel ecn"},
               {"at": "6s", "direction": "up", "qdisc": "codel target 9ms", "rate": "3mbit"}]),
    ));
    let json = serde_json::to_value(scenario.unwrap()).unwrap();
    let line = |target, limit, ecn| {
        format!("codel limit {limit} target {target} interval 100ms {ecn} variant linux")
    };
    let wanted = json!([
        {"at": "5s", "direction": "down", "qdisc": line("5ms", 50, "noecn")},
        {"at": "6s", "direction": "down", "qdisc": line("5ms", 50, "ecn")},
        {"at": "6s", "direction": "up", "rate": "3mbit", "qdisc": line("9ms", 1000, "noecn")},
    ]);
    assert_eq!(json["change"], wanted);
    let untouched = Scenario::from_json(&smallest().to_string()).unwrap();
    assert!(
        serde_json::to_value(untouched).unwrap().get("change").is_none(),
        "records of before stay as they were"
    );
}

/// Otherwise two spellings of one scenario would be two scenarios.
#[test]
fn a_codepoint_is_named_where_it_has_a_name() {
    let table = [
        (json!("ef"), json!("EF")),
        (json!(46), json!("EF")),
        (json!("Le"), json!("LE")),
        (json!(4), json!(4)),
    ];
    for (given, resolved) in table {
        let scenario = Scenario::from_json(&with("/traffic/0/dscp", given)).unwrap();
        assert_eq!(serde_json::to_value(&scenario).unwrap()["traffic"][0]["dscp"], resolved);
    }
    let scenario = Scenario::from_json(&with("/traffic/0/dscp", json!("CS0"))).unwrap();
    assert!(serde_json::to_value(&scenario).unwrap()["traffic"][0].get("dscp").is_none());
}

/// A congestion control has the ECN mode that it needs without being told. The record has this mode, and the line
/// with its words.
#[test]
fn a_congestion_control_brings_the_ecn_that_it_needs() {
    for (cc, line, ecn) in [
        ("reno", "reno", json!(false)),
        ("cubic  abe hystart++", "cubic hystart++ abe", json!(false)),
        ("dctcp", "dctcp", json!(true)),
        ("prague", "prague", json!("accecn")),
        ("none", "none cwnd 10", json!(false)),
    ] {
        let mut asked = smallest();
        asked["traffic"] = json!([{"kind": "bulk", "cc": cc}]);
        let scenario = Scenario::from_json(&asked.to_string()).unwrap();
        let resolved = serde_json::to_value(&scenario).unwrap();
        assert_eq!((&resolved["traffic"][0]["cc"], &resolved["traffic"][0]["ecn"]), (&json!(line), &ecn));
        let again = Scenario::from_json(&resolved.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&again).unwrap(), resolved);
    }
}
