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

/// Guards against a key that a resolved scenario loses, and against a default that moves digests.
#[test]
fn the_buffers_of_tcp_are_sysctls() {
    let with = |linux: Value| {
        let mut asked = scenario("pfifo", None);
        asked["linux"] = linux;
        asked
    };
    let both = json!({"tcp_rmem": "4096 131072 6291456", "tcp_wmem": "stock"});
    assert_eq!(resolved(&with(both.clone()))["linux"], both);
    assert!(resolved(&with(json!({}))).get("linux").is_none());
    let accepted = "accepted: \"stock\", or three ascending numbers from 4096 to 2147483647, such as \
                    \"4096 131072 6291456\"";
    for (found, said) in [
        (json!("4096 131072"), "\"4096 131072\""),
        (json!("4096 131072 much"), "\"4096 131072 much\""),
        (json!("4096 131072 6291456 much"), "\"4096 131072 6291456 much\""),
        (json!("4096 6291456 131072"), "\"4096 6291456 131072\""),
        (json!("4095 131072 6291456"), "\"4095 131072 6291456\""),
        (json!("4096 131072 2147483648"), "\"4096 131072 2147483648\""),
        (json!(5), "integer 5"),
    ] {
        let expected = format!("linux.tcp_rmem: found {said}; {accepted}");
        assert_eq!(refusal(&with(json!({"tcp_rmem": found}))), expected);
    }
}

/// A round trip of 100 ms, and a link that is never full. Half of 100 000 bytes of receive buffer are 4.0 Mbit/s,
/// 153/256 of them 4.8. With a send buffer of 100 000 bytes Linux 7.3 as a process has 14.5 Mbit/s: whoever may write
/// fills a packet of 64 KiB up, and the buffer may be exceeded by one. Without a limit the flow fills the link.
#[test]
fn buffers_limit_a_flow() {
    let mbps = |stack: &str, linux: Value| {
        let asked = json!({
            "duration": "12s", "warmup": "4s",
            "bottleneck": {"rate": "40mbit", "qdisc": "pfifo"},
            "path": {"rtt": "100ms"},
            "linux": linux,
            "traffic": [{"kind": "bulk", "stack": stack}],
        });
        let mut simulation = Simulation::new(Scenario::from_json(&asked.to_string()).unwrap()).unwrap();
        simulation.run();
        let record = serde_json::to_value(simulation.record()).unwrap();
        record["flows"][0]["goodput_mbps"].as_f64().unwrap()
    };
    let receive = json!({"tcp_rmem": "4096 65536 100000"});
    let [half, measured] = ["linux-6.1", "linux-7.3"].map(|stack| mbps(stack, receive.clone()));
    assert!((3.8..4.0).contains(&half) && (4.5..4.8).contains(&measured), "{half} {measured}");
    for stack in ["linux-6.1", "linux-7.3"] {
        let send = mbps(stack, json!({"tcp_wmem": "4096 16384 100000"}));
        assert!((14.0..15.0).contains(&send), "{stack} {send}");
    }
    assert!(mbps("linux-6.1", json!({"tcp_rmem": "stock", "tcp_wmem": "stock"})) > 35.0);
}

/// The share of marks that both ends of one flow agreed to: an AQM marks only what is ECT. Each pair is a row of RFC
/// 9768, table 2. Guards against a client that asks for what it accepts, and a server's setting at the client.
#[test]
fn each_end_has_its_own_tcp_ecn() {
    let agreed = |client: u64, server: u64, ecn: Option<Value>| {
        let mut traffic = json!({"kind": "bulk", "stack": "linux-7.3"});
        if let Some(ecn) = ecn {
            traffic["ecn"] = ecn;
        }
        let asked = json!({
            "duration": "4s",
            "bottleneck": {"rate": "10mbit", "qdisc": "codel ecn"},
            "path": {"rtt": "20ms"},
            // The sender opens: of a download that is the server.
            "host": [
                {"role": "server", "tcp_ecn": client, "small_queues": false},
                {"tcp_ecn": server, "small_queues": false},
            ],
            "traffic": [traffic],
        });
        let mut simulation = Simulation::new(Scenario::from_json(&asked.to_string()).unwrap()).unwrap();
        simulation.run();
        let record = serde_json::to_value(simulation.record()).unwrap();
        let packets = &record["queues"]["down"]["packets"];
        let acks = record["queues"]["up"]["throughput_mbps"].as_f64().unwrap();
        let is_marked = packets["marked"].as_u64().unwrap() > 0;
        assert_ne!(is_marked, packets["dropped"].as_u64().unwrap() > 0, "{client} {server}");
        // AccECN's option takes 12 of 78 bytes of an ACK.
        match (is_marked, acks / record["queues"]["down"]["throughput_mbps"].as_f64().unwrap() > 0.0245) {
            (false, _) => "none",
            (true, false) => "classic",
            (true, true) => "accecn",
        }
    };
    for (client, row) in [
        (0, ["none"; 6]),
        (1, ["none", "classic", "classic", "classic", "classic", "classic"]),
        (2, ["none"; 6]),
        (3, ["none", "classic", "classic", "accecn", "accecn", "accecn"]),
        (4, ["none", "classic", "classic", "classic", "classic", "classic"]),
        (5, ["none"; 6]),
    ] {
        let found = [0, 1, 2, 3, 4, 5].map(|server| agreed(client, server, None));
        assert_eq!(found, row, "a client with {client}");
    }
    assert_eq!(agreed(0, 2, Some(json!(true))), "classic", "a flow asks for more than its host");
    assert_eq!(agreed(2, 0, Some(json!(true))), "none", "a host accepts no more than it says");
}

#[test]
fn sysctls_are_those_of_the_flows_release() {
    let with = |stack: &str, linux: Value, host: Value| {
        let mut asked = scenario("pfifo", None);
        asked["linux"] = linux;
        asked["host"] = json!([host]);
        asked["traffic"] = json!([{"kind": "ping"}, {"kind": "bulk", "stack": stack}]);
        asked
    };
    let (all, own) = (json!({"tcp_ecn": 3, "tcp_ecn_option": 1}), json!({"tcp_ecn": 5, "tcp_ecn_option": 3}));
    let found = resolved(&with("linux-7.3", all.clone(), own));
    assert_eq!(found["linux"], all);
    assert_eq!((&found["host"][0]["tcp_ecn"], &found["host"][0]["tcp_ecn_option"]), (&json!(5), &json!(3)));
    for (linux, host, expected) in [
        (json!({"tcp_ecn": 3}), json!({}), "linux.tcp_ecn: found 3"),
        (json!({}), json!({"tcp_ecn": 4}), "host[0].tcp_ecn: found 4"),
        (json!({"tcp_ecn": 1, "tcp_ecn_option": 2}), json!({}), "linux.tcp_ecn_option: found 2"),
    ] {
        let accepted = if expected.contains("option") { "none" } else { "0, 1 or 2" };
        let beside = "beside traffic[1].stack \"linux-6.12\"";
        let expected = format!("{expected} {beside}; accepted: {accepted}, or the stack linux-7.3");
        assert_eq!(refusal(&with("linux-6.12", linux, host)), expected);
    }
    resolved(&with("linux-6.12", json!({"tcp_ecn": 2}), json!({"tcp_ecn": 0})));
    assert_eq!(
        refusal(&with("linux-7.3", json!({"tcp_ecn": 6}), json!({}))),
        "linux.tcp_ecn: found 6; accepted: 0 to 5"
    );
}
