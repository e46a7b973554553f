//! Responsiveness tests over whole paths.

use crate::common::run;
use goodqueue_hosts::traffic::rpm::RpmResult;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

/// A test over 10 Mbit/s and 20 ms beside nothing. `more` are keys of the test.
fn scenario(qdisc: &str, seconds: u64, more: &Value) -> Value {
    let mut test = json!({"kind": "rpm", "interval": "1s"});
    test.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    json!({
        "duration": format!("{seconds}s"), "warmup": "0s", "path": {"rtt": "20ms"},
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc},
        "traffic": [test],
    })
}

fn found(record: &Record) -> RpmResult {
    *record.apps[0].result::<RpmResult>().unwrap()
}

/// A full queue of 100 packets of 1514 bytes takes 121 ms, so a round trip of a foreign probe takes 141 ms at most. A
/// third of that queue stands, or more: one CUBIC flow that fills it leaves 0.7 * 117 - 17 packets in it after a loss,
/// and each second a further flow starts, which loses much. Whatever the connection of a self probe has not sent comes
/// before the answer. With the first seed a probe loses a segment and waits for a timeout, so this is the second.
#[test]
fn a_full_queue_is_what_the_probes_see() {
    let mut of_two_kb = scenario("pfifo limit 100", 60, &json!({"unsent": "2kB"}));
    of_two_kb["seed"] = json!(2);
    let full = found(&run(&of_two_kb));
    for ms in [full.tcp_ms, full.tls_ms, full.http_ms] {
        assert!((60.0..=142.0).contains(&ms.unwrap()), "{full:?}");
    }
    let mean = (full.tcp_ms.unwrap() + full.tls_ms.unwrap() + full.http_ms.unwrap()) / 3.0;
    assert!((full.foreign_rpm.unwrap() - 60_000.0 / mean).abs() < 0.1, "{full:?}");
    assert!((9.0..=9.7).contains(&full.load_mbps), "{full:?}");
    let more = found(&run(&scenario("pfifo limit 100", 60, &json!({"unsent": "128kB"}))));
    assert!(more.own_ms.unwrap() > full.own_ms.unwrap() + 100.0, "{more:?}");
}

/// In `fq_codel` the first packets of a new connection pass the load: a round trip is 20 ms and the time of a packet or
/// two. TLS's answer of three packets is more than a quantum, so its second and third packet wait for a packet of each
/// of eight connections: 20 + 2 * 8 * 1.2 ms. A self probe waits in its connection's queue.
#[test]
fn a_foreign_probe_passes_the_load_in_fq_codel() {
    let fair = found(&run(&scenario("fq_codel", 60, &json!({}))));
    assert!((20.0..=26.0).contains(&fair.tcp_ms.unwrap()), "{fair:?}");
    assert!((20.0..=24.0).contains(&fair.http_ms.unwrap()), "{fair:?}");
    assert!((30.0..=42.0).contains(&fair.tls_ms.unwrap()), "{fair:?}");
    assert!(fair.loaded_rpm < fair.foreign_rpm, "{fair:?}");
}

/// Probes take 5 % of the goodput: 10 Mbit/s carry 9.6 Mbit/s, so 20 probes of 3000 bytes per second, from the second
/// interval on.
#[test]
fn probes_take_5_percent() {
    let test = found(&run(&scenario("fq_codel", 11, &json!({}))));
    let probes = (test.foreign_probes + test.self_probes) as f64 / (test.test_s - 1.0);
    assert!((17.0..=20.5).contains(&probes), "{test:?}");
    assert!(test.foreign_probes.abs_diff(test.self_probes) < 20, "in turn: {test:?}");
}

/// A stable path ends the test with high confidence, before the run. `cf-mach` ends after 20 s at the latest.
#[test]
fn a_test_ends() {
    let stable = found(&run(&scenario("pfifo limit 20", 100, &json!({}))));
    assert_eq!((stable.confidence, stable.test_s < 100.0), ("high", true), "{stable:?}");
    assert_eq!(stable.connections as f64, stable.test_s.min(16.0), "one per second: {stable:?}");
    let limited = found(&run(&scenario("pfifo limit 1000", 60, &json!({"client": "cf-mach"}))));
    assert!(limited.test_s <= 20.0 && limited.connections <= 11, "{limited:?}");
    let short = found(&run(&scenario("fq_codel", 3, &json!({}))));
    assert_eq!((short.confidence, short.test_s), ("low", 3.0), "{short:?}");
}

/// An upload's self probes wait behind what the user has not sent. Foreign probes go by the empty way down.
#[test]
fn an_upload_loads_the_way_up() {
    let mut up = scenario("pfifo limit 100", 40, &json!({"direction": "up", "unsent": "128kB"}));
    up["bottleneck"]["up"] = json!({"rate": "2mbit", "qdisc": "fq_codel"});
    let test = found(&run(&up));
    assert!((1.5..=2.0).contains(&test.load_mbps), "{test:?}");
    assert!(test.own_ms.unwrap() > 100.0 && test.tcp_ms.unwrap() < 60.0, "{test:?}");
}

#[test]
fn a_mistake_is_one_line() {
    let said =
        |more: Value| Scenario::from_json(&scenario("pfifo", 60, &more).to_string()).unwrap_err().to_string();
    let wrong = [
        (json!({"client": "mach"}), "traffic[0].client: found \"mach\"; "),
        (json!({"interval": "1ms"}), "traffic[0].interval: found 1ms; accepted: 100ms to 1000s"),
        (json!({"unsent": "1kB"}), "traffic[0].unsent: found 1000 bytes; accepted: 2kB to "),
    ];
    for (more, line) in wrong {
        assert!(said(more.clone()).starts_with(line), "{more}: {}", said(more.clone()));
    }
}
