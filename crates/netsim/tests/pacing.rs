//! Pacing, and the congestion controls that depend on it.

use goodqueue_hosts::traffic::tcp;
use goodqueue_netsim::{Record, Scenario, Simulation};
use serde_json::{Value, json};

fn scenario(seconds: f64, warmup: f64, rate: &str, qdisc: &str, traffic: &Value) -> String {
    json!({
        "duration": format!("{seconds}s"),
        "warmup": format!("{warmup}s"),
        "bottleneck": {"rate": rate, "qdisc": qdisc},
        "path": {"rtt": "50ms"},
        "traffic": [traffic],
    })
    .to_string()
}

fn run(scenario: &str) -> Record {
    let mut simulation = Simulation::new(Scenario::from_json(scenario).unwrap()).unwrap();
    simulation.run();
    simulation.record()
}

/// The measured BBR of Linux 6.1 in this scenario: 98.41 % used, 7.74 ms of queue on average, 18.1 ms at p95, no
/// losses. The phase of its cycle is drawn anew in each run, so the mean varies by some tenths of a millisecond.
#[test]
fn bbr_keeps_the_queue_that_linux_keeps() {
    for seed in 1..=3 {
        let mut scenario: Value = serde_json::from_str(&scenario(
            20.0,
            5.0,
            "10mbit",
            "pfifo limit 100",
            &json!({"kind": "bulk", "cc": "bbr"}),
        ))
        .unwrap();
        scenario["seed"] = json!(seed);
        let record = run(&scenario.to_string());
        let (queue, delay) = (&record.queues.down, record.queues.down.delay_ms.unwrap());
        assert!((queue.utilisation_percent - 98.41).abs() < 0.3, "{}", queue.utilisation_percent);
        assert!((delay.mean - 7.74).abs() < 0.8 && (delay.p95 - 18.1).abs() < 1.5, "{delay:?}");
        assert_eq!(queue.packets.dropped, 0);
    }
}

/// BBRv3 cruises without a queue (draft-ietf-ccwg-bbr-06, 5.3.3). It would be wrong to keep BBR's standing few
/// milliseconds, or to let the link idle until the next probe.
#[test]
fn bbr3_leaves_no_queue_at_the_median() {
    let traffic = json!({"kind": "bulk", "cc": "bbr3"});
    let record = run(&scenario(40.0, 5.0, "10mbit", "pfifo limit 100", &traffic));
    let (queue, delay) = (&record.queues.down, record.queues.down.delay_ms.unwrap());
    assert!(queue.utilisation_percent > 96.0 && delay.p50 < 1.3, "{} {delay:?}", queue.utilisation_percent);
    assert_eq!(queue.packets.dropped, 0);
}

/// In slow start each ACK for two segments releases four segments at once, ahead of those that the next ACKs release.
/// With pacing they are spread over the round trip. It would be wrong if the key changed nothing.
#[test]
fn a_paced_slow_start_queues_less() {
    let mean = |pacing: bool| {
        let traffic = json!({"kind": "bulk", "cc": "reno", "pacing": pacing});
        run(&scenario(0.4, 0.0, "100mbit", "pfifo limit 1000", &traffic)).queues.down.delay_ms.unwrap().mean
    };
    let (paced, unpaced) = (mean(true), mean(false));
    assert!(paced < unpaced, "{paced} and {unpaced} ms");
}

/// Draft-briscoe-iccrg-prague-congestion-control-04 requires pacing. Before the first mark, everything else is as
/// with DCTCP.
#[test]
fn prague_paces_unasked() {
    let mean = |cc: &str| {
        let traffic = json!({"kind": "bulk", "cc": cc});
        run(&scenario(0.4, 0.0, "100mbit", "pfifo limit 1000", &traffic)).queues.down.delay_ms.unwrap().mean
    };
    let (prague, dctcp) = (mean("prague"), mean("dctcp"));
    assert!(prague < dctcp, "{prague} and {dctcp} ms");
}

#[test]
fn pacing_is_for_tcp_and_bbr_cannot_do_without() {
    let refused = |traffic: Value| {
        Scenario::from_json(&scenario(1.0, 0.0, "10mbit", "pfifo", &traffic)).unwrap_err().to_string()
    };
    assert_eq!(
        refused(json!({"kind": "bulk", "cc": "bbr", "pacing": false})),
        "traffic[0].pacing: found false; accepted: true, or none, as bbr always paces"
    );
    let datagrams = refused(json!({"kind": "cbr", "rate": "1mbit", "pacing": true}));
    assert!(datagrams.starts_with("traffic[0].pacing: kind \"cbr\" has no such key"), "{datagrams}");
    let traffic = json!({"kind": "bulk", "pacing": true});
    let resolved = Scenario::from_json(&scenario(1.0, 0.0, "10mbit", "pfifo", &traffic)).unwrap();
    assert_eq!(resolved.traffic[0].values.find(&tcp::PACING), Some(true));
}
