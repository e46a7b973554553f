//! Runs with a tree of classes at the bottleneck, from the commands that make it.

use crate::common::{access_link, run};
use goodqueue_netsim::Scenario;
use serde_json::{Value, json};

/// Two subscribers by address and one by codepoint, on a link of 100 Mbit/s. All together have 40 Mbit/s.
fn subscribers(third: &str) -> Value {
    let udp = |host: &str, dscp: u8| json!({"kind": "cbr", "rate": "60mbit", "host": host, "dscp": dscp});
    let mut scenario =
        access_link(&json!([udp("10.0.0.1", 0), udp("10.0.0.2", 0), udp("alice", 46), udp("bob", 0)]));
    scenario["bottleneck"] = json!({"rate": "100mbit", "up": {"qdisc": "pfifo"}, "tc": [
        "#!/bin/sh",
        "DEV=eth0",
        "tc qdisc del dev $DEV root 2>/dev/null || true",
        "tc qdisc add dev $DEV root handle 1: htb default 40",
        "tc class add dev $DEV parent 1: classid 1:1 htb rate 40mbit",
        "tc class add dev $DEV parent 1:1 classid 1:10 htb rate 20mbit ceil 40mbit prio 1",
        "tc class add dev $DEV parent 1:1 classid 1:20 htb rate 5mbit ceil 8mbit",
        "tc class add dev $DEV parent 1:1 classid 1:30 htb rate 4mbit",
        "tc class add dev $DEV parent 1:1 classid 1:40 htb rate 1mbit ceil 2mbit",
        "tc qdisc add dev $DEV parent 1:10 fq_codel",
        third,
        "tc filter add dev $DEV parent 1: protocol ip u32 match ip dst 10.0.0.1/32 flowid 1:10",
        "tc filter add dev $DEV parent 1: protocol ip flower dst_ip 10.0.0.2 ip_proto udp classid 1:20",
        "tc filter add dev $DEV parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:30",
    ]});
    scenario
}

/// Who asks for more than there is gets its rate, and up to its ceiling what the others leave.
#[test]
fn each_subscriber_has_a_rate_of_its_own() {
    let record = serde_json::to_value(run(&subscribers("tc qdisc add dev $DEV parent 1:20 cake"))).unwrap();
    let goodput = |flow: usize| record["flows"][flow]["goodput_mbps"].as_f64().unwrap();
    // The payload of a frame of cbr is less than the frame: compare shares of the whole.
    let whole = (0..4).map(goodput).sum::<f64>();
    let shares = [0, 1, 2, 3].map(|flow| goodput(flow) / whole * 40.0);
    for (share, wanted) in shares.into_iter().zip([26.0, 8.0, 4.0, 2.0]) {
        assert!((share - wanted).abs() < 0.3, "{shares:?}");
    }
    let throughput = record["queues"]["down"]["throughput_mbps"].as_f64().unwrap();
    assert!((throughput - 40.0).abs() < 0.2, "{throughput}");
    let line = record["queues"]["down"]["qdisc"].as_str().unwrap();
    assert!(line.starts_with("tc qdisc add dev eth0 root handle 1: htb default 0x40 r2q 10"), "{line}");
    // The record's line makes the same run.
    let mut again = subscribers("tc qdisc add dev $DEV parent 1:20 cake");
    again["bottleneck"]["tc"] = Value::Null;
    again["bottleneck"]["qdisc"] = json!(line);
    assert_eq!(serde_json::to_value(run(&again)).unwrap()["flows"], record["flows"]);
}

#[test]
fn a_wrong_command_is_refused_with_its_line() {
    let refused = |scenario: &Value| Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    let error = refused(&subscribers("tc qdisc add dev $DEV parent 1:99 cake"));
    let wanted = "bottleneck.tc: tc line 11: found parent 1:99; accepted: a class that a line above makes";
    assert!(error.starts_with(wanted), "{error}");
    let mut both = subscribers("");
    both["bottleneck"]["qdisc"] = json!("pfifo");
    assert!(refused(&both).contains("bottleneck.tc: found a qdisc besides; accepted: qdisc or tc"));
}
