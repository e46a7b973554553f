//! Replayed connection vectors, compared with times calculated by hand.

use crate::common::{assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_hosts::traffic::tmix::TmixResult;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

fn replayed(record: &Record) -> TmixResult {
    record.apps.iter().find_map(|app| app.result::<TmixResult>().copied()).unwrap()
}

/// One connection alone on a link of 1 Gbit/s with an RTT of 100 ms, where packets take microseconds.
fn scenario(vectors: &Value) -> Value {
    json!({
        "duration": "10s", "warmup": "0s", "path": {"rtt": "100ms"},
        "bottleneck": {"rate": "1gbit", "qdisc": "pfifo limit 1000"},
        "traffic": [{"kind": "tmix", "vectors": vectors}],
    })
}

#[track_caller]
fn assert_times(vectors: &Value, times_ms: &[f64]) {
    let found = replayed(&run(&scenario(vectors)));
    let response = found.response_ms.unwrap();
    let mean = times_ms.iter().sum::<f64>() / times_ms.len() as f64;
    assert!((response.mean - mean).abs() < 1.0, "{vectors}: {response:?}, not {times_ms:?}");
    assert_eq!(found.count, times_ms.len() as u64);
    assert_eq!((found.connections, found.completed), (1, 1));
}

/// A handshake and an exchange take 200 ms. On an open connection an exchange takes 100 ms. The acceptor's waiting
/// time is added, the initiator's waiting time between exchanges is not.
#[test]
fn an_exchange_takes_its_round_trips_and_the_acceptors_wait() {
    assert_times(&json!([{"start_us": 0, "sends": [[">", 300, 0], ["<", 1000, 0]]}]), &[200.0]);
    assert_times(&json!([{"start_us": 5000, "sends": [[">", 300, 20_000], ["<", 1000, 0]]}]), &[220.0]);
    let two = json!([[">", 300, 20_000], ["<", 1000, 700_000], [">", 300, 0], ["<", 1000, 5000]]);
    assert_times(&json!([{"start_us": 0, "sends": two}]), &[220.0, 100.0]);
    // Two requests, 30 ms apart, before the response: this is one exchange, which began with the first request.
    let pair = json!([[">", 300, 30_000], [">", 300, 0], ["<", 1000, 40_000], ["<", 1000, 0]]);
    assert_times(&json!([{"start_us": 0, "sends": pair}]), &[270.0]);
}

/// A server that speaks first, as mail servers do. The initiator's answer then counts as a request like any other.
#[test]
fn an_acceptor_may_speak_first() {
    assert_times(
        &json!([{"start_us": 0, "sends": [["<", 100, 10_000], [">", 300, 0], ["<", 50, 0]]}]),
        &[100.0],
    );
}

/// Each end sends at its own times, whatever the other end does. All data arrive, and no exchange is counted.
#[test]
fn ends_of_a_concurrent_connection_do_not_wait_for_each_other() {
    let sends = json!([
        [">", 500, 100_000],
        ["<", 20_000, 2_000_000],
        [">", 500, 0],
        ["<", 30_000, 0],
        [">", 700, 300_000],
    ]);
    let record = run(&scenario(&json!([{"start_us": 0, "concurrent": true, "sends": sends}])));
    let found = replayed(&record);
    assert_eq!((found.connections, found.completed, found.count), (1, 1, 0));
    assert!(found.response_ms.is_none());
    let delivered = record.flows[0].goodput_mbps * 1e6 / 8.0 * 10.0;
    assert!((delivered - 50_000.0).abs() < 1.0, "{delivered} bytes down");
}

/// Connections begin at their own times, in any order in the file. Connections after the end of the run do not begin.
#[test]
fn connections_begin_when_they_did() {
    let one = |start: u64| json!({"start_us": start, "sends": [[">", 300, 0], ["<", 1000, 0]]});
    let found =
        replayed(&run(&scenario(&json!([one(9_000_000), one(1000), one(20_000_000), one(2_000_000)]))));
    assert_eq!((found.connections, found.completed), (3, 3));
    let mut measured = scenario(&json!([one(9_000_000), one(1000), one(2_000_000)]));
    measured["warmup"] = json!("1s");
    let found = replayed(&run(&measured));
    assert_eq!((found.connections, found.completed), (2, 2), "what began in the warm-up does not count");
}

#[test]
fn a_run_can_be_cut_anywhere() {
    let vectors: Vec<Value> = (0..300)
        .map(|n| {
            let sends = json!([
                [">", 300 + n, 1000 * n],
                ["<", 40_000 + 100 * n, 90_000],
                [">", 500, 0],
                ["<", 2000, 0]
            ]);
            json!({"start_us": 20_000 * n, "concurrent": n % 5 == 0, "sends": sends})
        })
        .collect();
    let mut whole = scenario(&json!(vectors));
    whole["bottleneck"] = json!({"rate": "10mbit", "qdisc": "fq_codel"});
    whole["traffic"][0]["rtt_max"] = json!("300ms"); // only the RTT of each connection is drawn
    assert_cut_is_the_same_and_seeds_differ(whole);
}

#[test]
fn nonsense_is_refused_with_a_line() {
    let send = json!([[">", 300, 0]]);
    for (vectors, wanted) in [
        (
            json!("unc.tmix"),
            "traffic[0].vectors: found string \"unc.tmix\"; accepted: a list of connection vectors",
        ),
        (json!([]), "traffic[0].vectors: found 0 connection vectors; accepted: 1 to 1000000"),
        (json!([{"start_us": 0, "sends": []}]), "traffic[0].vectors[0].sends: accepted: 1 to"),
        (json!([{"start_us": -1, "sends": send}]), "traffic[0].vectors[0].start_us: accepted: microseconds"),
        (
            json!([{"start_us": 0, "sends": send, "rtt": 1}]),
            "traffic[0].vectors[0].rtt: unknown; accepted: start_us",
        ),
        (
            json!([{"start_us": 0, "sends": [[">", 300, 0], ["!", 1, 0]]}]),
            "traffic[0].vectors[0].sends[1]: found [\"!\",1,0]; accepted: [\">\" or \"<\", bytes",
        ),
        (json!([{"start_us": 0, "sends": [[">", 0, 0]]}]), "traffic[0].vectors[0].sends[0]: found"),
    ] {
        let error = Scenario::from_json(&scenario(&vectors).to_string()).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{vectors}: {error}");
    }
}
