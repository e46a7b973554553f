//! `[linux]`: the release of Linux whose laws the queues have.

use goodqueue_netsim::{Scenario, Simulation};
use serde_json::{Value, json};

fn scenario(qdisc: &str, release: Option<&str>) -> Value {
    let mut scenario = json!({
        "duration": "4s", "warmup": "1s",
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "bulk", "count": 4}],
    });
    if let Some(release) = release {
        scenario["linux"] = json!({"release": release});
    }
    scenario
}

fn resolved(scenario: &Value) -> Value {
    serde_json::to_value(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

fn refusal(scenario: &Value) -> String {
    Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
}

/// Scenarios of before, which have no such table, must stay the same: their digest is that of the resolved JSON.
#[test]
fn the_default_release_leaves_no_trace_in_a_scenario() {
    let plain = resolved(&scenario("fq", None));
    assert_eq!(plain, resolved(&scenario("fq", Some("6.1"))));
    assert!(plain.get("linux").is_none());
    let newer = resolved(&scenario("fq", Some("7.3")));
    assert_eq!(newer["linux"], json!({"release": "7.3"}));
    assert_eq!(newer, resolved(&newer), "the table reads back");
    let mut number = scenario("fq", None);
    number["linux"] = json!({"release": 7.3});
    assert_eq!(newer, resolved(&number), "for TOML 7.3 is a number");
}

#[test]
fn a_release_that_is_not_known_is_refused() {
    assert_eq!(
        refusal(&scenario("fq", Some("6.6"))),
        "linux.release: found \"6.6\"; accepted: 6.1, 6.12, 7.3"
    );
    let mut other = scenario("fq", None);
    other["linux"] = json!({"kernel": "7.3"});
    assert!(refusal(&other).starts_with("linux.kernel: "), "{}", refusal(&other));
}

/// 6.12's table of square roots moves a drop of cake by 40 us. Under a load of 15 Mbit/s that changes which packet is
/// dropped.
#[test]
fn a_run_follows_the_release() {
    let drops = |release| {
        let mut asked = scenario("cake", release);
        asked["traffic"].as_array_mut().unwrap().insert(0, json!({"kind": "cbr", "rate": "15mbit"}));
        let scenario = Scenario::from_json(&asked.to_string()).unwrap();
        let mut simulation = Simulation::new(scenario).unwrap();
        simulation.run();
        let record = serde_json::to_value(simulation.record()).unwrap();
        record["queues"]["down"].clone()
    };
    assert_eq!(drops(None), drops(Some("6.1")));
    assert_ne!(drops(None), drops(Some("6.12")));
}

/// `tc` of 6.1 has no such words. Their defaults are no difference, so a resolved line reads back.
#[test]
fn words_that_came_later_are_refused() {
    let weights = "fq weights 20000 40000 90000";
    let expected = "fq weights: found 20000 40000 90000, a word that Linux 6.1 does not have; \
                    accepted: [linux] release = \"6.12\" or later";
    assert_eq!(refusal(&scenario(weights, None)), format!("bottleneck.qdisc: {expected}"));
    assert_eq!(
        refusal(&scenario(&format!("tbf rate 9mbit burst 5kb child {weights}"), None)),
        format!("bottleneck.qdisc: {expected}")
    );
    assert!(refusal(&scenario("fq priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", None)).contains("fq priomap: "));
    let mut change = scenario("fq", None);
    change["change"] = json!([{"at": "2s", "qdisc": weights}]);
    assert_eq!(refusal(&change), format!("change[0].qdisc: {expected}"));
    for release in ["6.12", "7.3"] {
        resolved(&scenario(weights, Some(release)));
        change["linux"] = json!({"release": release});
        resolved(&change);
    }
}
