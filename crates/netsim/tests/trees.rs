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
    let wanted = "bottleneck.tc: tc line 11: found parent 1:99; accepted: a class that a command above makes";
    assert!(error.starts_with(wanted), "{error}");
    let mut both = subscribers("");
    both["bottleneck"]["qdisc"] = json!("pfifo");
    assert!(refused(&both).contains("bottleneck.tc: found a qdisc besides; accepted: qdisc or tc"));
}

/// Commands of `htb` with a class of 2 Mbit/s that `filter` fills, and a default one of 20 Mbit/s.
fn filtered(filter: &str) -> Vec<String> {
    let class =
        |minor: u32, rate: &str| format!("tc class add dev eth0 parent 1: classid 1:{minor} htb rate {rate}");
    vec![
        "tc qdisc add dev eth0 root handle 1: htb default 30".to_string(),
        class(10, "2mbit"),
        class(30, "20mbit"),
        format!("tc filter add dev eth0 parent 1: {filter} flowid 1:10"),
    ]
}

/// Ports and marks were 0, and pings were UDP.
#[test]
fn filters_see_the_ports_and_marks_of_flows() {
    let mut scenario = access_link(&json!([
        {"kind": "bulk", "server": "10.1.0.1", "port": 443},
        {"kind": "cbr", "rate": "10mbit", "port": 5004, "mark": 7},
    ]));
    for (filter, of_bulk, of_cbr) in [
        ("protocol ip u32 match ip sport 443 0xffff", 1.9, 9.7),
        ("protocol ip u32 match ip dport 443 0xffff", 10.0, 9.7),
        ("protocol ip flower ip_proto udp src_port 5004", 18.0, 1.9),
        ("protocol ip handle 7 fw", 18.0, 1.9),
        ("protocol ip u32 match mark 7 0xff", 18.0, 1.9),
        ("protocol ip u32 match ip src 10.1.0.1", 1.9, 9.7),
    ] {
        scenario["bottleneck"] = json!({"rate": "50mbit", "up": {"qdisc": "pfifo"}, "tc": filtered(filter)});
        let record = run(&scenario);
        let [bulk, cbr] = [0, 1].map(|flow| record.flows[flow].goodput_mbps);
        let fits = |found: f64, wanted: f64| (found / wanted - 1.0).abs() < 0.15;
        assert!(fits(bulk, of_bulk) && fits(cbr, of_cbr), "{filter}: {bulk} and {cbr}");
    }
}

/// What no packet of the scenario can match has a note.
#[test]
fn a_filter_that_no_packet_matches_has_a_note() {
    let notes =
        |scenario: &Value| Scenario::from_json(&scenario.to_string()).unwrap().notes_on_filters(false);
    let mut scenario = access_link(&json!([{"kind": "bulk", "port": 443}, {"kind": "ping"}]));
    for (filter, note) in [
        ("protocol ip u32 match ip sport 443 0xffff", ""),
        ("protocol ip u32 match ip sport 80 0xffff", "port of a [[traffic]]"),
        ("protocol ip handle 1 fw", "mark of a [[traffic]]"),
        ("protocol ip u32 match ip protocol 1 0xff match ip icmp_type 8 0xff", ""),
        ("protocol ip u32 match ip protocol 47 0xff", "u32 match ip protocol 47"),
        ("protocol ip flower ip_proto tcp src_port 20000-20010", "20000-20010"),
    ] {
        scenario["bottleneck"] = json!({"rate": "50mbit", "up": {"qdisc": "pfifo"}, "tc": filtered(filter)});
        let said = notes(&scenario);
        let is_said =
            if note.is_empty() { said.is_empty() } else { said.iter().any(|one| one.contains(note)) };
        assert!(is_said, "{filter}: {said:?}");
    }
    // A connection of an application has a port of its own.
    scenario["traffic"].as_array_mut().unwrap().push(json!({"kind": "transfer", "size": "100kB"}));
    assert_eq!(notes(&scenario), [""; 0]);
    // The tree of both directions has filters for either.
    scenario["bottleneck"] =
        json!({"rate": "50mbit", "tc": filtered("protocol ip u32 match ip dport 443 0xffff")});
    assert_eq!(notes(&scenario), [""; 0]);
}

/// One script shapes both directions, as SQM's does: the ifb is the download's device.
#[test]
fn a_script_of_two_devices_has_a_tree_for_each_direction() {
    let script = |names: [&str; 2]| {
        let [first, second] = names;
        json!([
            format!("tc qdisc add dev {first} root handle 1: htb default 1"),
            format!("tc class add dev {first} parent 1: classid 1:1 htb rate 3mbit"),
            format!("tc qdisc add dev {first} handle ffff: ingress"),
            format!("tc qdisc add dev {second} root handle 1: htb default 1"),
            format!("tc class add dev {second} parent 1: classid 1:1 htb rate 17mbit"),
            format!(
                "tc filter add dev {first} parent ffff: matchall action mirred egress redirect dev {second}"
            ),
        ])
    };
    let mut scenario = access_link(&json!([{"kind": "bulk"}]));
    for (names, down, up) in [(["eth0", "ifb4eth0"], "17", "3"), (["eth1", "eth2"], "3", "17")] {
        scenario["bottleneck"] = json!({"rate": "50mbit", "tc": script(names)});
        let resolved = serde_json::to_value(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
        let has = |place: &str, rate: &str| {
            resolved.pointer(place).unwrap().as_str().unwrap().contains(&format!(" rate {rate}mbit"))
        };
        assert!(has("/bottleneck/qdisc", down) && has("/bottleneck/up/qdisc", up), "{resolved}");
    }
    scenario["bottleneck"]["up"] = json!({"qdisc": "pfifo"});
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert_eq!(
        error,
        "bottleneck.tc: found commands of eth1 and eth2; accepted: commands of one device beside bottleneck.up"
    );
}
