//! Hosts: who shares a link with whom under each of cake's words, in both directions and at every place.

use crate::common::run;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

/// Alice has one flow and Bob has four, which together offer more than 100 Mbit/s. UDP shows the scheduler alone: each
/// queue always waits, and nothing is retransmitted. A frame is 1514 bytes, and its payload is counted with the
/// headers.
fn household(qdisc: &str, direction: &str) -> Value {
    let flows = |name: &str, count: u32, rate: &str| {
        json!({
            "name": name, "host": name, "kind": "cbr", "rate": rate, "count": count, "direction": direction,
        })
    };
    json!({
        "duration": "3s",
        "warmup": "1s",
        "bottleneck": {"rate": "1gbit", "qdisc": qdisc},
        "path": {"rtt": "20ms"},
        "traffic": [flows("alice", 1, "100mbit"), flows("bob", 4, "30mbit")],
    })
}

fn cake(words: &str) -> String {
    format!("cake bandwidth 100mbit besteffort {words}")
}

/// Returns the goodput of Alice's flow, and the mean of Bob's.
fn shares(scenario: &Value) -> (f64, f64) {
    let flows = run(scenario).flows;
    let bob = flows[1..].iter().map(|flow| flow.goodput_mbps).sum::<f64>() / 4.0;
    (flows[0].goodput_mbps, bob)
}

/// The ways of sharing: a fifth for each flow, or a half for each host.
const PER_FLOW: (f64, f64) = (20.0, 20.0);
const PER_HOST: (f64, f64) = (50.0, 12.5);

fn assert_shares(scenario: &Value, (alice, bob): (f64, f64), what: &str) {
    let found = shares(scenario);
    assert!((found.0 - alice).abs() < 0.02 * alice, "{what}: {found:?}");
    assert!((found.1 - bob).abs() < 0.02 * bob, "{what}: {found:?}");
}

/// On the way down the users' hosts are destinations, on the way up they are sources. Without `server` each flow has
/// a server of its own, so the other end is no host that flows share.
#[test]
fn each_word_shares_between_the_hosts_that_it_names() {
    for (words, down, up) in [
        ("flows", PER_FLOW, PER_FLOW),
        ("hosts", PER_FLOW, PER_FLOW), // pairs of hosts, and each flow has its own server
        ("srchost", PER_FLOW, PER_HOST),
        ("dsthost", PER_HOST, PER_FLOW),
        ("dual-srchost", PER_FLOW, PER_HOST),
        ("dual-dsthost", PER_HOST, PER_FLOW),
        ("triple-isolate", PER_HOST, PER_HOST),
        ("", PER_HOST, PER_HOST), // the default
        ("dual-dsthost nat", PER_HOST, PER_FLOW),
    ] {
        assert_shares(&household(&cake(words), "down"), down, &format!("{words} down"));
        assert_shares(&household(&cake(words), "up"), up, &format!("{words} up"));
    }
}

/// With one server for each of both, the words that look at the other end must share, too, and so must pairs.
#[test]
fn a_server_is_a_host_too() {
    for (words, direction) in
        [("dual-srchost", "down"), ("dual-dsthost", "up"), ("hosts", "down"), ("hosts", "up")]
    {
        let mut asked = household(&cake(words), direction);
        for place in 0..2 {
            let name = asked["traffic"][place]["host"].take();
            asked["traffic"][place]["server"] = name;
        }
        if words == "hosts" {
            (0..2).for_each(|place| asked["traffic"][place]["host"] = json!("home"));
        }
        assert_shares(&asked, PER_HOST, &format!("{words} {direction}"));
    }
    let mut one = household(&cake("triple-isolate"), "down");
    (0..2).for_each(|place| one["traffic"][place]["server"] = json!("cdn"));
    assert_shares(&one, PER_FLOW, "all from one server: its five flows are the busier host");
}

/// A name means the same host in every entry. A user's host and a server of the same name are two.
#[test]
fn entries_that_name_the_same_host_share_it() {
    let mut asked = household(&cake("dual-dsthost"), "down");
    asked["traffic"][0]["host"] = json!("bob");
    assert_shares(&asked, PER_FLOW, "one host");
    asked["traffic"][0]["host"] = json!("alice");
    asked["traffic"][1]["server"] = json!("alice");
    assert_shares(&asked, PER_HOST, "a server called alice");
}

#[test]
fn hosts_are_known_inside_shapers_and_on_hops() {
    for shaper in ["tbf rate 100mbit burst 20kb", "htb rate 100mbit"] {
        let line = format!("{shaper} child cake besteffort dual-dsthost");
        assert_shares(&household(&line, "down"), PER_HOST, &line);
    }
    for (direction, word) in [("down", "dual-dsthost"), ("up", "dual-srchost")] {
        let mut asked = household("pfifo limit 1000", direction);
        asked["hop"] = json!([
            {"name": "router", "kind": "link", "direction": direction, "rate": "1gbit", "qdisc": cake(word)}
        ]);
        assert_shares(&asked, PER_HOST, &format!("a hop {direction}"));
    }
}

/// Disciplines that do not look at hosts must not see them: the flows of the record stay the same, to the byte.
#[test]
fn names_change_nothing_for_disciplines_without_host_isolation() {
    for qdisc in ["fq_codel", "sfq", "cake bandwidth 100mbit flows", "pfifo"] {
        let named = household(qdisc, "down");
        let mut bare = named.clone();
        for one in bare["traffic"].as_array_mut().unwrap() {
            one.as_object_mut().unwrap().remove("host");
        }
        let flows = |asked: &Value| serde_json::to_string(&run(asked).flows).unwrap();
        assert_eq!(flows(&named), flows(&bare), "{qdisc}");
    }
}

/// Without names each flow has two hosts of its own. So every word must share as `flows` does, `hosts` included: the
/// exclusive or of a flow's two hosts must differ from that of another flow.
#[test]
fn without_names_every_word_shares_as_flows_does() {
    let with = |words: &str| {
        let mut asked = household(&cake(words), "down");
        for one in asked["traffic"].as_array_mut().unwrap() {
            one.as_object_mut().unwrap().remove("host");
        }
        let record = run(&asked);
        assert!(record.hosts.is_empty());
        record.flows.iter().map(|flow| flow.goodput_mbps).collect::<Vec<_>>()
    };
    // The words choose other queues, so packets of one round may leave in another order.
    let flows = with("flows");
    for words in ["hosts", "srchost", "dsthost", "dual-srchost", "dual-dsthost", "triple-isolate"] {
        let found = with(words);
        let is_equal = found.iter().zip(&flows).all(|(one, other)| (one - other).abs() < 0.01);
        assert!(is_equal, "{words}: {found:?}");
    }
}

/// An application's connections belong to its host, and so does a Flent test with its probes.
#[test]
fn every_kind_of_traffic_has_hosts() {
    let kinds = [
        json!({"kind": "bulk"}),
        json!({"kind": "transfer", "size": "1MB"}),
        json!({"kind": "rr", "request": "200B", "response": "10kB"}),
        json!({"kind": "stream", "rate": "1mbit"}),
        json!({"kind": "cbr", "rate": "1mbit"}),
        json!({"kind": "ping"}),
        json!({"kind": "voip"}),
        json!({"kind": "media"}),
        json!({"kind": "page"}),
        json!({"kind": "video"}),
        json!({"kind": "rpm"}),
        json!({"kind": "packmime", "rate": 5.0}),
        json!({"kind": "web_users", "users": 3}),
        json!({"kind": "rrul"}),
        json!({"kind": "tcp_nup", "count": 2}),
    ];
    for kind in kinds {
        let mut asked = household(&cake("dual-dsthost"), "down");
        asked["traffic"] = json!([kind]);
        asked["traffic"][0]["host"] = json!("alice");
        asked["traffic"][0]["server"] = json!("cdn");
        let record = run(&asked);
        let hosts: Vec<_> = record.hosts.iter().map(|host| (host.role, host.name.as_str())).collect();
        assert_eq!(hosts, [("host", "alice"), ("server", "cdn")], "{kind}");
        assert_eq!(record.hosts[0].flows, record.flows.len() as u64, "{kind}");
        let text = serde_json::to_string(&record.scenario).unwrap();
        let again = Scenario::from_json(&text).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), text, "{kind}: a resolved scenario reads back");
        assert!(again.traffic.iter().all(|one| one.host.as_ref().unwrap().as_str() == "alice"), "{kind}");
    }
}

/// Two Flent tests share a ping only if it is from the same hosts. Otherwise one host would lose its probe.
#[test]
fn a_probe_is_shared_between_tests_of_one_host_only() {
    let pings = |hosts: [&str; 2]| {
        let traffic = json!([
            {"kind": "tcp_nup", "host": hosts[0]},
            {"kind": "tcp_ndown", "host": hosts[1]},
        ]);
        let mut asked = household("pfifo", "down");
        asked["traffic"] = traffic;
        Scenario::from_json(&asked.to_string()).map(|read| read.traffic.len())
    };
    assert_eq!(pings(["alice", "alice"]), Ok(3));
    let refused = pings(["alice", "bob"]).unwrap_err();
    assert!(refused.message.starts_with("found \"Ping (ms) ICMP\", which traffic[0] has"), "{refused}");
}

fn host<'a>(record: &'a Record, name: &str) -> &'a goodqueue_netsim::record::HostRecord {
    record.hosts.iter().find(|host| host.name.as_str() == name).unwrap()
}

/// A host's goodput is that of its flows together, by direction. Jain's index is of hosts, where it is 1 although the
/// flows' is not: (50 + 4 × 12.5)² / (5 × (50² + 4 × 12.5²)) = 0.64.
#[test]
fn the_record_sums_the_flows_of_each_host() {
    let mut asked = household(&cake("dual-dsthost"), "down");
    (0..2).for_each(|place| asked["traffic"][place]["kind"] = json!("bulk"));
    (0..2).for_each(|place| drop(asked["traffic"][place].as_object_mut().unwrap().remove("rate")));
    asked["path"]["rtt"] = json!("5ms");
    asked["traffic"].as_array_mut().unwrap().push(json!({"kind": "ping", "host": "carol"}));
    let record = run(&asked);
    let (alice, bob, carol) = (host(&record, "alice"), host(&record, "bob"), host(&record, "carol"));
    assert_eq!((alice.flows, bob.flows, carol.flows), (1, 4, 0));
    assert_eq!(alice.goodput_mbps.down, Some(record.flows[0].goodput_mbps));
    let sum: f64 = record.flows[1..].iter().map(|flow| flow.goodput_mbps).sum();
    assert!((bob.goodput_mbps.down.unwrap() - sum).abs() < 1e-4, "{bob:?} {sum}");
    assert_eq!((bob.goodput_mbps.up, carol.goodput_mbps.down), (None, None), "no flows, and not zero");
    assert_eq!(alice.rtt_ms.unwrap().p50, record.flows[0].rtt_ms.unwrap().p50);
    let least = record.flows[1..].iter().map(|flow| flow.rtt_ms.unwrap().min).fold(f64::MAX, f64::min);
    assert_eq!((bob.rtt_ms.unwrap().min, carol.rtt_ms.is_none()), (least, true));
    let (flows, hosts) = (record.fairness.jain_goodput.unwrap(), record.fairness.jain_hosts.unwrap());
    assert!((flows - 0.64).abs() < 0.02, "{flows}");
    assert!(hosts > 0.999, "{hosts}");
}

/// Real TCP, the field case: 19.1 Mbit/s each under `flows`; a half of 95.6 for each host under the word that applies.
/// With this RTT TCP keeps its queue from running empty, so that each host takes its whole half.
#[test]
fn one_download_beside_four_gets_a_half() {
    for (words, direction, alice, bob) in [
        ("flows", "down", 19.1, 19.1),
        ("dual-dsthost", "down", 47.8, 12.0),
        ("triple-isolate", "down", 47.8, 12.0),
        ("flows", "up", 19.1, 19.1),
        ("dual-srchost", "up", 47.8, 12.0),
        ("triple-isolate", "up", 47.8, 12.0),
    ] {
        let mut asked = household(&cake(words), direction);
        for one in asked["traffic"].as_array_mut().unwrap() {
            one["kind"] = json!("bulk");
            one.as_object_mut().unwrap().remove("rate");
        }
        (asked["duration"], asked["path"]["rtt"]) = (json!("8s"), json!("5ms"));
        let found = shares(&asked);
        assert!((found.0 - alice).abs() < 0.2, "{words} {direction}: {found:?}");
        assert!((found.1 - bob).abs() < 0.1, "{words} {direction}: {found:?}");
    }
}

#[test]
fn a_name_that_is_none_is_refused_with_what_is_accepted() {
    let accepted = "accepted: a name of 1 to 63 characters, such as \"alice\"";
    for (name, found) in [
        (json!(""), "found \"\"; "),
        (json!(" alice"), "found \" alice\"; "),
        (json!("a\nb"), "found \"a\\nb\"; "),
        (json!("x".repeat(64)), "found a name of 64 characters; "),
        (json!(7), "found integer 7; "),
        (json!(["alice"]), "found a list; "),
        (json!({"name": "alice"}), "found a table; "),
        (json!(true), "found boolean true; "),
    ] {
        for key in ["host", "server"] {
            let mut asked = household("pfifo", "down");
            asked["traffic"][1][key] = name.clone();
            let refused = Scenario::from_json(&asked.to_string()).unwrap_err();
            assert_eq!(refused.key, format!("traffic[1].{key}"));
            assert!(refused.message.starts_with(&format!("{found}{accepted}")), "{refused}");
        }
    }
    let mut asked = household("pfifo", "down");
    asked["traffic"][1]["host"] = json!("é".repeat(63));
    assert!(Scenario::from_json(&asked.to_string()).is_ok(), "characters count, not bytes");
}
