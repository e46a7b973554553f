//! Runs with netem as the discipline of a link, with a size table, with a policer, and with datagrams of ECT(1).

use crate::common::{access_link, assert_cut_is_the_same_and_seeds_differ, run};
use serde_json::{Value, json};

/// 1000 packets per second of 1000 bytes, for 20 s, over a link on which netem plays a path.
fn played(words: &str) -> Value {
    let cbr = json!([{"kind": "cbr", "rate": "8mbit", "packet_size": 1000}]);
    let mut scenario = access_link(&cbr);
    scenario["bottleneck"] = json!({"rate": "1gbit", "qdisc": format!("netem {words}")});
    scenario["bottleneck"]["up"] = json!({"qdisc": "pfifo"});
    scenario
}

fn goodput(scenario: &Value) -> f64 {
    serde_json::to_value(run(scenario)).unwrap()["flows"][0]["goodput_mbps"].as_f64().unwrap()
}

/// Every run asserts that offered packets, with their copies, are forwarded, dropped or queued. The share of the losses
/// is within three standard errors (20,000 packets at 10 %: 0.2 %).
#[test]
fn losses_and_copies_are_counted() {
    let queue = run(&played("limit 5000 delay 20ms 5ms loss 10% duplicate 10%")).queues.down;
    // A packet is lost if it is drawn and not duplicated, and a copy has a loss of its own.
    let copies = queue.packets.offered as f64 - 20_000.0;
    assert!((copies / 20_000.0 - 0.09).abs() < 0.0063, "{copies}");
    let lost = queue.drops_by_reason["loss"] as f64;
    assert!((lost / 20_000.0 - (0.09 + 0.009)).abs() < 0.0065, "{lost}");
}

/// A packet with a flipped bit occupies the link, and arrives only if its receiver checks that bit nowhere. These are
/// 49 bits of a datagram's frame: 8.5 % of 72 bytes, 0.4 % of 1514. The shares are within three standard errors of
/// 20,000 packets (0.6 %, 0.14 %).
#[test]
fn a_corrupted_packet_is_sent_and_lost_except_with_a_bit_that_nobody_checks() {
    let scenario = played("corrupt 30%");
    let queue = run(&scenario).queues.down;
    assert_eq!((queue.packets.forwarded, queue.packets.dropped), (queue.packets.offered, 0));
    let arrived = |words: &str, bytes: u32| {
        let of = |words| {
            let mut scenario = played(words);
            let rate = format!("{}bit", bytes * 8 * 1000);
            scenario["traffic"] = json!([{"kind": "cbr", "rate": rate, "packet_size": bytes}]);
            goodput(&scenario)
        };
        of(words) / of("")
    };
    for (words, bytes, share, error) in [
        ("corrupt 30%", 1000, 0.7 + 0.3 * 49.0 / 8000.0, 0.01),
        ("corrupt 100%", 72, 49.0 / 576.0, 0.006),
        ("corrupt 100%", 1514, 49.0 / 12_112.0, 0.0014),
    ] {
        let arrived = arrived(words, bytes);
        assert!((arrived - share).abs() < error, "{words}, {bytes} bytes: {arrived}");
    }
    let mut wifi = scenario;
    wifi["bottleneck"] = json!({"qdisc": "netem corrupt 30%", "wifi": {"standard": "802.11n", "station": [{"name": "near", "rate": "mcs7"}]}});
    let error = goodqueue_netsim::Scenario::from_json(&wifi.to_string()).unwrap_err().to_string();
    assert!(error.contains("corrupt on Wi-Fi"), "{error}");
}

/// After `tc qdisc change … netem delay 1ms` the rate stays, and the losses and the limit begin anew. The record has
/// the line as it was written: one with all words would begin the rate anew, too.
#[test]
fn a_change_keeps_the_rate_and_ends_the_losses() {
    let mut scenario = played("limit 100000 loss 100% rate 4mbit");
    scenario["change"] = json!([{"at": "10s", "qdisc": "netem delay 1ms"}]);
    let record = run(&scenario);
    let queue = &record.queues.down;
    let (lost, full) = (queue.drops_by_reason["loss"] as f64, queue.drops_by_reason["overlimit"]);
    // 1000 packets per second for 10 s, then 500 of 1000 per second leave, and 1000 wait.
    assert!((lost - 10_000.0).abs() < 20.0, "{lost}");
    assert!((full as f64 - 4000.0).abs() < 20.0, "{full}");
    let record = serde_json::to_value(&record).unwrap();
    assert_eq!(record["scenario"]["change"][0]["qdisc"], json!("netem delay 1ms"));
}

#[test]
fn a_run_repeats_and_another_seed_loses_others() {
    assert_cut_is_the_same_and_seeds_differ(played("limit 5000 delay 20ms 10ms loss 1% 25% reorder 25% 50%"));
}

/// A frame of 1514 bytes counts 1696 bytes in cells. So a shaper at 8.4 Mbit/s sends 1514/1696 of it.
#[test]
fn a_shaper_with_a_table_pays_for_cells() {
    let mut scenario = access_link(&json!([{"kind": "cbr", "rate": "20mbit"}]));
    let line = "stab overhead -4 linklayer atm tbf rate 8400kbit latency 300ms burst 16960";
    scenario["bottleneck"] = json!({"rate": "100mbit", "qdisc": line, "up": {"qdisc": "pfifo"}});
    let queue = run(&scenario).queues.down;
    assert!((queue.throughput_mbps - 8.4 * 1514.0 / 1696.0).abs() < 0.01, "{}", queue.throughput_mbps);
}

/// 20 Mbit/s through a policer of 8 Mbit/s: what passes is the rate and the burst, and nothing waits.
#[test]
fn a_policer_lets_its_rate_pass() {
    let mut scenario = access_link(&json!([{"kind": "cbr", "rate": "20mbit"}]));
    scenario["bottleneck"]["rate"] = json!("100mbit");
    scenario["hop"] = json!([{"name": "edge", "kind": "police", "rate": "8mbit", "burst": "15kB"}]);
    let record = serde_json::to_value(run(&scenario)).unwrap();
    let packets = &record["hops"][0]["packets"];
    let delivered = packets["delivered"].as_f64().unwrap();
    let duration = record["queues"]["down"]["packets"]["forwarded"].as_f64().unwrap() * 1514.0 * 8.0 / 20e6;
    assert!((delivered * 1514.0 * 8.0 / duration / 8e6 - 1.0).abs() < 0.01, "{packets}");
    assert_eq!(packets["exceeded"], packets["lost"]);
    scenario["hop"][0]["exceed"] = json!("continue");
    let record = serde_json::to_value(run(&scenario)).unwrap();
    let packets = &record["hops"][0]["packets"];
    assert_eq!(packets["lost"], json!(0));
    assert!(packets["exceeded"].as_u64().unwrap() > 1000, "{packets}");
}

/// DualPI2 sorts by the codepoint. Datagrams of ECT(1) go to the queue for L4S, whose delay is a fraction of the other
/// queue's.
#[test]
fn datagrams_may_be_of_ect1() {
    let delay = |ecn: Value| {
        let mut scenario = access_link(&json!([
            {"kind": "bulk"},
            {"kind": "cbr", "rate": "1mbit", "ecn": ecn},
            {"kind": "ping", "ecn": ecn},
        ]));
        scenario["bottleneck"]["qdisc"] = json!("dualpi2");
        let record = serde_json::to_value(run(&scenario)).unwrap();
        assert_eq!(record["scenario"]["traffic"][1]["ecn"], ecn);
        record["apps"][0]["rtt_ms"]["p50"].as_f64().unwrap()
    };
    let (classic, scalable) = (delay(json!(true)), delay(json!("ect1")));
    assert!(classic > 60.0 && scalable < 55.0, "{classic} {scalable}");
}
