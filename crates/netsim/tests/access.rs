//! Links of access networks: what they do to whole runs, the same run twice, and error messages.

use crate::common::{assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_netsim::Scenario;
use serde_json::{Value, json};

/// Pings over a link of 100 Mbit/s down and 20 Mbit/s up, with the access network `words` up or in both directions.
fn scenario(words: &str, both: bool) -> Value {
    let mut asked = json!({
        "duration": "70s",
        "bottleneck": {"rate": "100mbit", "qdisc": "pfifo_head_drop limit 1000",
            "up": {"rate": "20mbit", "access": words}},
        "path": {"rtt": "20ms"},
        "traffic": [{"kind": "ping", "interval": "20ms"}],
    });
    if both {
        asked["bottleneck"]["access"] = json!(words);
    }
    asked
}

fn record(asked: &Value) -> Value {
    serde_json::to_value(run(asked)).unwrap()
}

fn ping_ms(record: &Value, name: &str) -> f64 {
    record["apps"][0]["rtt_ms"][name].as_f64().unwrap()
}

/// The published figures: a median of about 40 ms, 74 ms more at an assignment, and 0.13 % of losses.
#[test]
fn a_satellite_link_has_the_published_round_trips() {
    let record = record(&scenario("starlink", true));
    assert!((32.0..48.0).contains(&ping_ms(&record, "p50")), "{record}");
    // Four stalls of 215 ms in 70 s: the longest RTT is of a stall.
    assert!((90.0..130.0).contains(&ping_ms(&record, "max")), "{record}");
    let lost = record["apps"][0]["loss_percent"].as_f64().unwrap();
    assert!((0.05..0.8).contains(&lost), "both directions lose: {lost}");
}

#[test]
fn two_downloads_fill_a_satellite_link_and_every_packet_is_accounted_for() {
    let mut asked = scenario("starlink loss 0", true);
    asked["traffic"] = json!([{"kind": "bulk", "count": 2, "cc": "bbr"}, {"kind": "ping"}]);
    asked["duration"] = json!("30s");
    let record = record(&asked);
    let used = record["queues"]["down"]["utilisation_percent"].as_f64().unwrap();
    assert!((60.0..=100.0).contains(&used), "{used}");
}

#[test]
fn an_access_network_is_deterministic_and_its_dice_follow_the_seed() {
    for words in WORDS {
        let mut asked = scenario(words, true);
        asked["duration"] = json!("20s");
        asked["traffic"] = json!([{"kind": "bulk", "direction": "up"}, {"kind": "ping"}]);
        // As a hop, its packets go on to the bottleneck.
        asked["hop"] = json!([{"name": "far", "kind": "link", "direction": "up", "rate": "15mbit", "qdisc": "codel",
            "access": words}]);
        assert_cut_is_the_same_and_seeds_differ(asked);
    }
}

const WORDS: &[&str] = &["starlink", "docsis", "docsis map 1ms ggr 1mbit"];

/// A resolved scenario has every parameter, and reads back as itself.
#[test]
fn the_words_are_filled_in_and_read_back() {
    for words in WORDS {
        let read =
            |asked: &Value| serde_json::to_value(Scenario::from_json(&asked.to_string()).unwrap()).unwrap();
        let once = read(&scenario(words, false));
        let line = once["bottleneck"]["up"]["access"].as_str().unwrap();
        assert!(line.len() > words.len(), "{line}");
        assert!(words.split(' ').all(|word| line.split(' ').any(|other| other == word)), "{line}");
        assert!(once["bottleneck"].get("access").is_none(), "only the way up has one");
        assert_eq!(read(&once), once);
    }
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let table: &[(&str, Value, &str)] = &[
        (
            "access",
            json!(3),
            "bottleneck.access: found integer 3; accepted: docsis, starlink, with parameters",
        ),
        ("access", json!(""), "bottleneck.access: found "),
        (
            "access",
            json!("starlnk"),
            "bottleneck.access: found \"starlnk\"; did you mean \"starlink\"? accepted: ",
        ),
        ("access", json!("starlink trun 3ms"), "bottleneck.access: starlink: unknown word \"trun\""),
        ("access", json!("starlink spread 2"), "bottleneck.access: starlink spread: found \"2\"; accepted: "),
        ("bursts", json!("4ms"), "bottleneck.bursts: found one with `access`; accepted: none"),
        ("ring", json!(4), "bottleneck.ring: found one with `access`; accepted: none"),
    ];
    for (key, value, wanted) in table {
        let mut asked = scenario("starlink", true);
        asked["bottleneck"][key] = value.clone();
        let error = Scenario::from_json(&asked.to_string()).unwrap_err().to_string();
        assert!(error.starts_with(wanted) && !error.contains('\n'), "\n found {error}\nwanted {wanted}");
    }
    let mut changed = scenario("starlink", true);
    changed["change"] = json!([{"at": "5s", "rate": "50mbit"}]);
    let error = Scenario::from_json(&changed.to_string()).unwrap_err().to_string();
    assert!(error.contains("an access network"), "{error}");
}
