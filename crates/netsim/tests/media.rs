//! Media flows over whole paths: RFC 8867's test cases, as far as they have numbers that can be missed.

use crate::common::{assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_hosts::traffic::media::MediaResult;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Value, json};

/// RFC 8867, 4.2: 50 ms in one direction, drop-tail queues of 300 ms. `mbps` is the rate of the link.
fn scenario(seconds: u64, mbps: f64, traffic: &Value) -> Value {
    let (rate, limit) = (format!("{}kbit", mbps * 1e3), (mbps * 1e6 * 0.3 / 8.0) as u64);
    let queue = json!({"rate": rate, "qdisc": format!("bfifo limit {limit}")});
    let mut bottleneck = queue.clone();
    bottleneck["up"] = queue;
    json!({
        "duration": format!("{seconds}s"), "warmup": "0s", "path": {"rtt": "100ms"},
        "bottleneck": bottleneck, "series": {"interval": "100ms"}, "traffic": traffic,
    })
}

fn results(record: &Record) -> Vec<&MediaResult> {
    record.apps.iter().filter_map(|app| app.result()).collect()
}

/// Returns the goodput of flow `number` between two times, in Mbit/s, headers included.
fn goodput(record: &Record, number: usize, from_s: f64, to_s: f64) -> f64 {
    let series = record.series.as_ref().unwrap();
    let goodputs = &series.flows[number].goodput_mbps;
    let within = series.time_s.iter().zip(goodputs).filter(|(end, _)| **end > from_s && **end <= to_s);
    let within: Vec<f64> = within.map(|(_, mbps)| *mbps).collect();
    within.iter().sum::<f64>() / within.len() as f64
}

/// Returns the goodput of flow `number` in each second between two times.
fn each_second(record: &Record, number: usize, from_s: u32, to_s: u32) -> Vec<f64> {
    (from_s..to_s).map(|s| goodput(record, number, f64::from(s), f64::from(s + 1))).collect()
}

#[track_caller]
fn assert_within(what: &str, found: f64, (least, most): (f64, f64)) {
    assert!((least..=most).contains(&found), "{what}: {found}, not {least} to {most}");
}

/// RFC 8868, 3.2: flows with the same RTT and priority have between a third and three times the share of another
/// flow.
#[track_caller]
fn assert_shares(record: &Record, from_s: f64, to_s: f64) {
    let all: Vec<f64> = (0..record.flows.len()).map(|number| goodput(record, number, from_s, to_s)).collect();
    let (least, most) =
        (all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(0.0, f64::max));
    assert_within("greatest by least share", most / least, (1.0, 3.0));
    assert_within("all together", all.iter().sum(), (0.9 * 3.5, 3.5));
}

fn media() -> Value {
    json!({"kind": "media"})
}

/// The link has 1 Mbit/s, and at most 1200 of 1254 bytes are media. The queue at equilibrium is 10 ms * 1.5 / 0.92 =
/// 16 ms (RFC 8698, 4.3), and two packets take 20 ms.
#[test]
fn alone_it_fills_the_link_with_a_short_queue() {
    let record = run(&scenario(60, 1.0, &json!([media()])));
    for mbps in each_second(&record, 0, 10, 60) {
        assert_within("each second from 10 s on", mbps, (0.85, 1.0125)); // one packet more may end in it
    }
    assert_within("from 10 s on", goodput(&record, 0, 10.0, 60.0), (0.94, 1.0));
    let found = results(&record)[0];
    let (delay, frame) = (found.delay_ms.unwrap(), found.frame_delay_ms.unwrap());
    assert_within("median delay", delay.p50, (50.0 + 10.0, 50.0 + 16.0 + 20.0));
    assert_within("p95 delay", delay.p95, (70.0, 120.0));
    assert!(frame.p50 > delay.p50 && frame.p95 > delay.p95, "a frame is not there before its packets");
    assert_eq!(found.loss_percent, Some(0.0));
    let rates = found.rate_percentiles_mbps.as_ref().unwrap();
    assert!(rates.is_sorted() && rates[0] >= 0.149 && rates[100] <= 1.512, "{rates:?}");
    assert_within("mean target", found.rate_mbps.unwrap(), (rates[5], rates[95]));
}

/// Case 5.1: the link's rate is 1, 2.5, 0.6 and 1 Mbit/s in turn.
#[test]
fn it_follows_the_capacity() {
    let mut asked = scenario(100, 1.0, &json!([media()]));
    asked["change"] = json!([
        {"at": "40s", "rate": "2500kbit"}, {"at": "60s", "rate": "600kbit"}, {"at": "80s", "rate": "1mbit"},
    ]);
    let record = run(&asked);
    for (from_s, to_s, least, most) in
        [(20.0, 40.0, 0.9, 1.0), (46.0, 60.0, 1.45, 1.6), (63.0, 80.0, 0.35, 0.6), (85.0, 100.0, 0.9, 1.0)]
    {
        assert_within(&format!("{from_s} to {to_s} s"), goodput(&record, 0, from_s, to_s), (least, most));
    }
    assert_within("lost", results(&record)[0].loss_percent.unwrap(), (0.0, 1.0));
}

/// Case 5.4: later flows find the standing queue of earlier flows, and take it for the delay of the path (RFC 8698,
/// 6.1).
#[test]
fn three_flows_share() {
    let record = run(&scenario(120, 3.5, &json!([{"kind": "media", "count": 3, "stagger": "20s"}])));
    assert_shares(&record, 90.0, 119.0);
}

/// Case 5.8.
#[test]
fn a_pause_leaves_the_link_to_others_and_ends() {
    let paused = json!({"kind": "media", "pause": ["40s", "60s"]});
    let record = run(&scenario(120, 3.5, &json!([media(), paused, media()])));
    assert_within("before", goodput(&record, 1, 20.0, 40.0), (0.5, 1.6));
    assert_eq!(goodput(&record, 1, 41.0, 60.0), 0.0, "no packet but those under way when the pause began");
    assert_within("first seconds, from the start rate on", goodput(&record, 1, 60.2, 62.0), (0.05, 0.4));
    for other in [0, 2] {
        assert_within("others meanwhile", goodput(&record, other, 50.0, 60.0), (1.4, 1.6));
    }
    assert_shares(&record, 90.0, 119.0);
}

/// Case 5.3: the reports of each flow cross the same queue as the media of the other.
#[test]
fn congestion_on_the_way_of_the_reports_starves_nobody() {
    let up = json!({"kind": "media", "direction": "up"});
    let mut asked = scenario(100, 2.0, &json!([media(), up]));
    asked["change"] = json!([
        {"at": "20s", "rate": "1mbit"}, {"at": "35s", "rate": "800kbit", "direction": "up"},
        {"at": "40s", "rate": "500kbit"}, {"at": "60s", "rate": "2mbit"},
        {"at": "70s", "rate": "2mbit", "direction": "up"},
    ]);
    let record = run(&asked);
    assert_within("down at 0.5 Mbit/s", goodput(&record, 0, 45.0, 60.0), (0.4, 0.5));
    assert_within("up at 0.8 Mbit/s", goodput(&record, 1, 50.0, 70.0), (0.6, 0.8));
    for flow in [0, 1] {
        assert_within("at 2 Mbit/s", goodput(&record, flow, 75.0, 99.0), (1.4, 1.6));
    }
    // An upload keeps the queue of the reports full (300 ms), and some reports are lost.
    let upload = json!({"kind": "bulk", "direction": "up"});
    let record = run(&scenario(60, 1.0, &json!([media(), upload])));
    assert_within("beside an upload", goodput(&record, 0, 20.0, 60.0), (0.85, 1.0));
}

/// Case 5.6: a long transfer fills 300 ms of queue. A flow that saw only the delay would leave the queue to the
/// transfer, so the delay is warped after losses (RFC 8698, 4.2).
#[test]
fn beside_tcp_it_is_not_starved() {
    let record = run(&scenario(120, 2.0, &json!([media(), {"kind": "bulk"}])));
    assert_within("media", goodput(&record, 0, 20.0, 119.0), (0.5, 1.5));
    assert_within("TCP", goodput(&record, 1, 20.0, 119.0), (0.5, 1.5));
}

/// With ECN, a queue that marks packets after 2 ms or more holds the flow back. Without ECN, the same queue marks
/// nothing.
#[test]
fn it_answers_marks() {
    let [plain, marked] = [false, true].map(|ecn| {
        let mut asked = scenario(60, 1.0, &json!([{"kind": "media", "ecn": ecn}]));
        asked["bottleneck"]["qdisc"] = json!("fq_codel limit 1000 ce_threshold 2ms");
        run(&asked)
    });
    assert_eq!(plain.queues.down.packets.marked, 0);
    assert!(marked.queues.down.packets.marked > 100 && marked.queues.down.packets.dropped == 0);
    let rate = |record: &Record| goodput(record, 0, 10.0, 60.0);
    assert_within("by that without marks", rate(&marked) / rate(&plain), (0.3, 0.8));
}

/// At one congestion signal the rates are proportional to the priorities (RFC 8698, 4.3): 2 to 1.
#[test]
fn a_priority_is_a_share() {
    let record = run(&scenario(100, 1.0, &json!([media(), {"kind": "media", "priority": 2.0}])));
    assert_within("2 to 1", goodput(&record, 1, 30.0, 100.0) / goodput(&record, 0, 30.0, 100.0), (1.5, 2.5));
}

/// A codec with one rate: this rate arrives, plus 54 bytes per packet. Reports have their length, too. The codec
/// sends the same packets, whatever the queue does.
#[test]
fn lengths_are_those_of_tc_and_the_queue_moves_no_draw() {
    let fixed = json!({"kind": "media", "min_rate": "1200kbit", "max_rate": "1200kbit"});
    let record = run(&scenario(600, 10.0, &json!([fixed])));
    let found = results(&record)[0];
    assert_eq!(
        (found.rate_mbps, found.loss_percent, found.ramp_up_percent),
        (Some(1.2), Some(0.0), Some(100.0))
    );
    let headers = found.sent as f64 * 54.0 * 8.0 / 600e6;
    assert_within("media by its target", (record.flows[0].goodput_mbps - headers) / 1.2, (0.99, 1.01));
    // Ten reports per second, of 62 bytes plus 2 for each packet since the last report, in whole words (RFC 8888,
    // 3.1).
    let up = &record.queues.up;
    let (reports, rate) = (up.packets.offered as f64, up.utilisation_percent / 100.0 * 10e6);
    assert_within("reports a second", reports / 600.0, (9.9, 10.0));
    let beyond = rate / 8.0 * 600.0 / reports - (62.0 + 2.0 * found.sent as f64 / reports);
    assert_within("half a word", beyond, (0.5, 1.5));
    let sent = ["pfifo limit 20", "fq_codel", "pie"].map(|qdisc| {
        let mut asked = scenario(600, 1.0, &json!([fixed]));
        asked["bottleneck"]["qdisc"] = json!(qdisc);
        let record = run(&asked);
        assert!(results(&record)[0].loss_percent > Some(1.0), "the link is too slow");
        results(&record)[0].sent
    });
    assert_eq!(sent, [found.sent; 3]);
}

/// A wire loses 2 % and duplicates 2 %. A duplicate counts once, and a loss is reported.
#[test]
fn losses_and_duplicates_of_a_wire_are_counted_once() {
    let mut asked = scenario(100, 10.0, &json!([media()]));
    asked["hop"] = json!([{"name": "noise", "kind": "wire", "loss": "2%", "duplicate": "2%"}]);
    let record = run(&asked);
    let found = results(&record)[0];
    assert!(found.received < found.sent);
    assert_within("lost", found.loss_percent.unwrap(), (1.5, 2.5));
    assert_within("goodput", record.flows[0].goodput_mbps, (0.15, 1.6));
}

#[test]
fn a_run_can_be_cut_and_depends_on_its_seed() {
    let mut asked =
        scenario(20, 2.0, &json!([{"kind": "media", "count": 2, "pause": ["5s", "7s"]}, {"kind": "bulk"}]));
    asked["warmup"] = json!("3s");
    assert_cut_is_the_same_and_seeds_differ(asked);
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let table = [
        (
            json!({"start_rate": "2mbit"}),
            "start_rate: found 2mbit; accepted: from min_rate, 150kbit, to max_rate, 1500kbit",
        ),
        (
            json!({"start_rate": "100kbit"}),
            "start_rate: found 100kbit; accepted: from min_rate, 150kbit, to max_rate, 1500kbit",
        ),
        (json!({"max_rate": "100kbit"}), "min_rate: found 150kbit; accepted: at most max_rate, 100kbit"),
        (json!({"min_rate": "239bit"}), "min_rate: found 239bit; accepted: 240bit or more, a byte a frame"),
        (json!({"pause": ["60s", "40s"]}), "pause: found 60s to 40s; accepted: an end after the beginning"),
        (
            json!({"pause": "60s"}),
            "pause: found string \"60s\"; accepted: two times, as in [\"40s\", \"60s\"]",
        ),
        (
            json!({"pause": ["40s", 60]}),
            "pause: found the bare number 60; accepted: a time with its unit, such as \"50ms\" or \"70s\"",
        ),
        (json!({"cc": "cubic"}), "cc: found \"cubic\"; accepted: nada"),
        (
            json!({"ecn": "accecn"}),
            "ecn: found \"accecn\"; accepted: false, true, \"ect0\" or \"ect1\": datagrams have no feedback",
        ),
        (json!({"fps": 0}), "fps: found 0; accepted: 1 to 240 frames/s"),
        (json!({"packet_size": 1500}), "packet_size: found 1500; accepted: 100 to 1460 bytes"),
        (json!({"priority": 0.0}), "priority: found 0; accepted: 0.01 to 100"),
    ];
    for (keys, wanted) in table {
        let mut traffic = media();
        traffic.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let found = Scenario::from_json(&scenario(60, 1.0, &json!([traffic])).to_string()).unwrap_err();
        assert_eq!(found.to_string(), format!("traffic[0].{wanted}"), "{keys}");
    }
}
