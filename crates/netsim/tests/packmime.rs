//! PackMime's web traffic on a link: its load, its end, and that it does not grow.

use crate::common::{access_link, assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_hosts::traffic::packmime::PackmimeResult;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

fn of(record: &Record) -> PackmimeResult {
    *record.apps[0].result::<PackmimeResult>().unwrap()
}

fn web(duration: &str, more: &Value) -> Value {
    let mut traffic = json!({"kind": "packmime", "rate": 10.0});
    traffic.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut scenario = access_link(&json!([traffic]));
    (scenario["duration"], scenario["bottleneck"]["qdisc"]) = (json!(duration), json!("codel"));
    scenario
}

/// By the laws, a connection with one response brings 8.6 kB of responses, and a persistent connection 3.19 responses
/// of 3.8 kB. The tail is heavy. On 10 Mbit/s without loss a response takes at least one round trip, and the first
/// one takes two.
#[test]
fn ten_connections_a_second_load_a_link_as_the_laws_say() {
    let record = run(&web("1000s", &json!({})));
    let web = of(&record);
    assert!((8_500..11_500).contains(&web.connections), "{web:?}");
    let asked = web.count as f64 / web.connections as f64;
    assert!((1.15..1.25).contains(&asked), "0.91 + 0.09 x 3.19 = 1.197 requests a connection, {asked}");
    assert!(web.completed as f64 > 0.99 * web.count as f64, "{web:?}");
    assert!((0.45..1.4).contains(&record.flows[0].goodput_mbps), "{}", record.flows[0].goodput_mbps);
    let times = web.response_ms.unwrap();
    assert!(times.min > 50.0 && (100.0..200.0).contains(&times.p50), "{times:?}");
}

/// Counting begins at the end of the warm-up. Whatever is lost on the way, no connection stays forever.
#[test]
fn a_short_queue_loses_much_and_every_response_comes_in_the_end() {
    for direction in ["down", "up"] {
        let mut scenario = web("120s", &json!({"direction": direction, "stop": "60s", "rate": 20.0}));
        (scenario["bottleneck"]["rate"], scenario["warmup"]) = (json!("2mbit"), json!("5s"));
        scenario["bottleneck"]["qdisc"] = json!("pfifo limit 5");
        let record = run(&scenario);
        let web = of(&record);
        let queue = if direction == "down" { &record.queues.down } else { &record.queues.up };
        assert!(queue.packets.dropped > 100, "{direction}: {}", queue.packets.dropped);
        // Responses of the warm-up that continued in the measured time are in neither count.
        assert!(web.count - web.completed < 5, "{direction}: {web:?}");
    }
}

#[test]
fn a_scenario_of_it_prints_and_reads_and_is_refused_in_words() {
    assert_cut_is_the_same_and_seeds_differ(web("20s", &json!({})));
    for (rate, said) in [(json!(0), "found 0"), (json!("5/s"), "found string \"5/s\"; accepted: a number")] {
        let error = Scenario::from_json(&web("20s", &json!({"rate": rate})).to_string()).unwrap_err();
        assert!(error.to_string().contains("traffic[0].rate") && error.to_string().contains(said), "{error}");
    }
}

/// At an MTU of 500 a full segment has 448 bytes of payload and 514 bytes on Ethernet. A buffer of one BDP, 62,500
/// bytes, is 121 frames. For 8 segments an initial window of 2 takes two rounds more than one of 10.
#[test]
fn an_mtu_and_a_first_window_make_segments_frames_and_rounds() {
    let mut scenario = access_link(&json!([{"kind": "transfer", "size": "4480B"}]));
    scenario["path"]["mtu"] = json!(500);
    scenario["bottleneck"] = json!({"rate": "10mbit", "qdisc": "pfifo", "buffer": {"bdp": 1.0}});
    let record = run(&scenario);
    assert_eq!(record.queues.down.qdisc, "pfifo limit 121");
    assert_eq!(record.queues.down.packets.forwarded, 1 + 10 + 2, "SYN-ACK, 10 segments, FIN, ACK of a FIN");
    let took = |initial: Option<u64>| {
        let mut traffic = json!([{"kind": "transfer", "size": "11584B"}]); // 8 full segments of 1448
        if let Some(initial) = initial {
            traffic[0]["initial_window"] = json!(initial);
        }
        run(&access_link(&traffic)).flows[0].completion_ms.unwrap()
    };
    // Each round is a segment, an ACK and 50 ms. The last round sends 2 segments and not 8.
    let later = 2.0 * (1.2112 + 0.0528 + 50.0) - 6.0 * 1.2112;
    assert!((took(Some(2)) - took(None) - later).abs() < 1e-6, "{} {}", took(Some(2)), took(None));
    scenario["traffic"] = json!([{"kind": "cbr", "rate": "1mbit"}]);
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert_eq!(
        error,
        "traffic[0].packet_size: found 1514 bytes; accepted: at most 514, a full frame of path.mtu"
    );
}

/// A receiver that acknowledges 20 segments together sends a twentieth of the ACKs of a receiver that acknowledges
/// each. At most 20 are out at the end. The short segment that ends a write is acknowledged with the next one.
#[test]
fn a_receiver_acknowledges_as_it_is_told() {
    let acks = |every: u64| {
        let traffic = json!([{"kind": "bulk", "cc": "none cwnd 20", "ack_every": every}]);
        let record = run(&access_link(&traffic));
        (record.queues.down.packets.forwarded, record.queues.up.packets.forwarded)
    };
    let ((data, each), (fewer, together)) = (acks(1), acks(20));
    assert!(data - each < 25, "{data} {each}");
    assert!(fewer / together == 19 || fewer / together == 20, "{fewer} {together}");
}
