//! Traffic of homes: calls, web pages, and Flent's loads, compared with times calculated by hand.
//!
//! Every wire here has 10 Mbit/s (0.8 µs per byte) and 25 ms of propagation in each direction.

use crate::common::{access_link, assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_hosts::traffic::page::{PageResult, PageSeries};
use goodqueue_hosts::traffic::ping::PingResult;
use goodqueue_hosts::traffic::tcp;
use goodqueue_hosts::traffic::voip::{CallSeries, VoipResult};
use goodqueue_netsim::{Direction, Record, Scenario};
use serde_json::{Value, json};

fn page(record: &Record) -> PageResult {
    record.apps.iter().find_map(|app| app.result::<PageResult>().copied()).unwrap()
}

fn voip(record: &Record) -> VoipResult {
    record.apps.iter().find_map(|app| app.result::<VoipResult>().cloned()).unwrap()
}

/// Returns the milliseconds that packets of these sizes take one after the other: each over the wire, plus 25 ms.
fn directions(bytes: &[f64]) -> f64 {
    bytes.iter().map(|bytes| 25.0 + bytes * 0.8e-3).sum()
}

/// A query of 86 bytes and an answer of 102. SYN and SYN-ACK of 74 bytes each. The ACK of 66 bytes before a
/// connection's first request, and before its first response.
const LOOKUP: [f64; 2] = [86.0, 102.0];
const HANDSHAKE: [f64; 2] = [74.0, 74.0];
const ACK_MS: f64 = 66.0 * 0.8e-3;

fn load_ms(traffic: Value) -> f64 {
    page(&run(&access_link(&json!([traffic])))).load_ms.unwrap().mean
}

/// Lookup, handshake, a request of 400 bytes (466 on the wire) and a response of 1000 bytes (1066): three round
/// trips.
#[test]
fn a_page_of_one_object_takes_three_round_trips_and_its_packets() {
    let got = load_ms(json!({"kind": "page", "repeat": 1, "objects": [{"response": "1kB"}]}));
    let wanted = directions(&LOOKUP) + directions(&HANDSHAKE) + 2.0 * ACK_MS + directions(&[466.0, 1066.0]);
    assert!((got - wanted).abs() < 1e-6, "{got} {wanted}");
}

/// The document's connection is kept, so the second object takes one more round trip. The ACK of the document precedes
/// its request, and that precedes a new connection's SYN on the wire. With one connection the third object waits for
/// the second. With two connections, a handshake takes place in the meantime.
#[test]
fn objects_follow_the_document_over_as_many_connections_as_there_may_be() {
    let objects = json!([{"response": "1kB"}, {"response": "1kB"}, {"response": "1kB"}]);
    let fetch = |connections: u64| {
        load_ms(json!({"kind": "page", "repeat": 1, "connections": connections, "objects": objects}))
    };
    let document = directions(&LOOKUP) + directions(&HANDSHAKE) + 2.0 * ACK_MS + directions(&[466.0, 1066.0]);
    let exchange = directions(&[466.0, 1066.0]);
    let one = document + ACK_MS + 2.0 * exchange;
    assert!((fetch(1) - one).abs() < 1e-6, "{} {one}", fetch(1));
    // The SYN leaves after the request that was written at the same instant, and after the ACK before that. So the
    // SYN-ACK waits for the response to this request. When the SYN arrives, the response has been on the wire only for
    // the SYN's own time.
    let in_the_way = ACK_MS + (466.0 + 1066.0 - 74.0) * 0.8e-3;
    let two = document + in_the_way + directions(&HANDSHAKE) + 2.0 * ACK_MS + exchange;
    assert!((fetch(2) - two).abs() < 1e-6, "{} {two}", fetch(2));
    assert!((fetch(6) - two).abs() < 1e-6, "two objects need no more than two");
}

/// Another host needs another lookup and another handshake, whatever connections to the first host exist.
#[test]
fn every_host_is_looked_up_and_connected_to() {
    let got = load_ms(json!({"kind": "page", "repeat": 1, "objects": [
        {"response": "1kB", "host": "www.example.org"},
        {"response": "1kB", "host": "cdn.example.org", "request": "600B"},
    ]}));
    let first = directions(&LOOKUP) + directions(&HANDSHAKE) + 2.0 * ACK_MS + directions(&[466.0, 1066.0]);
    // The ACK of the document's data is delayed, and no packet waits for it.
    let second = directions(&LOOKUP) + directions(&HANDSHAKE) + 2.0 * ACK_MS + directions(&[666.0, 1066.0]);
    assert!((got - first - second).abs() < 1e-6, "{got} {}", first + second);
}

/// Each fetch takes 151.6 ms, and begins `interval` after the end of the one before. With an interval of 0, the ACK
/// of the last response and then the FIN, 66 bytes each, precede the query.
#[test]
fn pages_follow_each_other_and_those_from_before_the_warm_up_do_not_count() {
    let one_ms = directions(&LOOKUP) + directions(&HANDSHAKE) + 2.0 * ACK_MS + directions(&[466.0, 1066.0]);
    let asked = |interval: &str| json!([{"kind": "page", "objects": [{"response": "1kB"}], "interval": interval, "stop": "5s"}]);
    for (interval, gap_ms) in [("0s", 0.0), ("1s", 1000.0)] {
        let result = page(&run(&access_link(&asked(interval))));
        let wanted = (5000.0 / (one_ms + gap_ms)).ceil() as u64;
        assert_eq!((result.count, result.completed), (wanted, wanted), "{result:?}");
        let in_the_way = if gap_ms > 0.0 { 0.0 } else { 2.0 * ACK_MS };
        assert!((result.load_ms.unwrap().max - one_ms - in_the_way).abs() < 1e-6, "{result:?} {one_ms}");
    }
    let mut late = access_link(&asked("1s"));
    late["warmup"] = json!("4s"); // the fetches begin at 0, 1.15, 2.30, 3.46 and 4.61 s
    assert_eq!(page(&run(&late)).count, 1);
}

/// Beside flows that keep two short queues full, queries, SYNs and requests are lost, and a lookup is repeated only
/// after five seconds. Every page except the last must still arrive.
#[test]
fn pages_come_whatever_is_lost() {
    let mut lossy = access_link(&json!([
        {"kind": "page"},
        {"kind": "bulk", "count": 8},
        {"kind": "bulk", "count": 8, "name": "back", "direction": "up"},
    ]));
    lossy["bottleneck"]["qdisc"] = json!("pfifo limit 12");
    lossy["duration"] = json!("300s");
    let result = page(&run(&lossy));
    assert!(result.completed > 20 && result.count - result.completed <= 1, "{result:?}");
    assert!(result.load_ms.unwrap().max > 5000.0, "no query was lost: {result:?}");
}

#[test]
fn the_far_side_may_browse_too() {
    let down = load_ms(json!({"kind": "page", "page": "google", "repeat": 1}));
    let up = load_ms(json!({"kind": "page", "page": "google", "repeat": 1, "direction": "up"}));
    assert_eq!(down, up, "the link is symmetric");
    // 3 MB take 2.4 s plus the headers.
    let huffpost = load_ms(json!({"kind": "page", "page": "huffpost", "repeat": 1}));
    assert!(huffpost > 2400.0 * 1514.0 / 1448.0 && huffpost < 5000.0, "{huffpost}");
}

/// G.711: 160 bytes of voice, RTP 12, UDP 8, IPv4 20 and Ethernet 14 are 214 bytes on the wire, 50 times per second:
/// 85.6 kbit/s. D-ITG: 134 bytes, 100 times per second. Nothing varies. The score is the E-model's for 25.2 ms,
/// calculated in `probe/mos.rs`.
#[test]
fn a_call_over_an_empty_link_takes_its_way_and_nothing_else() {
    for (codec, bytes, per_second) in [("g711", 214.0, 50), ("ditg", 134.0, 100)] {
        for direction in ["down", "up"] {
            let asked = json!([{"kind": "voip", "codec": codec, "direction": direction}]);
            let record = run(&access_link(&asked));
            let call = voip(&record);
            let delay = call.delay_ms.unwrap();
            let wanted = directions(&[bytes]);
            assert!((delay.min - wanted).abs() < 1e-6 && (delay.max - wanted).abs() < 1e-6, "{delay:?}");
            assert_eq!((call.jitter_ms, call.jitter_rfc3550_ms), (Some(0.0), Some(0.0)));
            // Packets of the last 25 ms are still on their way.
            assert_eq!(call.sent, 20 * per_second);
            assert!(call.sent - call.received <= 3 && call.loss_percent == Some(0.0), "{call:?}");
            assert!((call.mos.unwrap() - 4.39).abs() < 0.01, "{call:?}");
            let queue = if direction == "down" { &record.queues.down } else { &record.queues.up };
            let mbps = bytes * 8e-6 * f64::from(per_second as u32);
            assert!((queue.throughput_mbps - mbps).abs() < 1e-3, "{queue:?}");
        }
    }
}

/// A full queue of 30 frames takes 36 ms, and a call beside bulk flows loses packets there. With fq_codel the call
/// has its own queue.
#[test]
fn a_call_suffers_in_a_full_queue_and_not_in_one_of_its_own() {
    let call = |qdisc: &str| {
        let mut asked = access_link(
            &json!([{"kind": "voip", "direction": "up"}, {"kind": "bulk", "count": 8, "direction": "up"}]),
        );
        asked["bottleneck"]["qdisc"] = json!(qdisc);
        asked["warmup"] = json!("5s");
        voip(&run(&asked))
    };
    let (fifo, fair) = (call("pfifo limit 30"), call("fq_codel"));
    assert!(fifo.delay_ms.unwrap().p50 > 25.0 + 20.0 && fifo.loss_percent > Some(0.0), "{fifo:?}");
    assert!(fair.delay_ms.unwrap().p99 < 30.0 && fair.loss_percent == Some(0.0), "{fair:?}");
    assert!(fair.mos.unwrap() > fifo.mos.unwrap() + 0.05, "{fair:?} {fifo:?}");
    assert!(fifo.jitter_ms.unwrap() > 0.05, "{fifo:?}");
    let percentiles = fifo.delay_percentiles_ms.unwrap();
    assert_eq!((percentiles.len(), percentiles[50]), (101, fifo.delay_ms.unwrap().p50));
}

/// Flent's rrul.conf: four uploads and four downloads with BE, BK (CS1), CS5 and EF; UDP pings with EF, BK and BE;
/// one ICMP ping.
#[test]
fn rrul_is_flents_flows_with_flents_marks() {
    let resolved =
        Scenario::from_json(&access_link(&json!([{"kind": "rrul", "cc": "reno"}])).to_string()).unwrap();
    let flows: Vec<_> = resolved
        .traffic
        .iter()
        .map(|flow| {
            let mark = flow.values.find(&tcp::DSCP).map_or(0, |dscp| dscp.0);
            (flow.name.as_deref().unwrap(), flow.kind.name, flow.direction, mark)
        })
        .collect();
    use Direction::{Down, Up};
    let wanted = [
        ("TCP upload BE", "bulk", Up, 0),
        ("TCP upload BK", "bulk", Up, 8),
        ("TCP upload CS5", "bulk", Up, 40),
        ("TCP upload EF", "bulk", Up, 46),
        ("TCP download BE", "bulk", Down, 0),
        ("TCP download BK", "bulk", Down, 8),
        ("TCP download CS5", "bulk", Down, 40),
        ("TCP download EF", "bulk", Down, 46),
        ("Ping (ms) UDP EF", "ping", Down, 46),
        ("Ping (ms) UDP BK", "ping", Down, 8),
        ("Ping (ms) UDP BE", "ping", Down, 0),
        ("Ping (ms) ICMP", "ping", Down, 0),
    ];
    assert_eq!(flows, wanted);
    let written = serde_json::to_value(&resolved).unwrap();
    let sizes = written["traffic"].as_array().unwrap().iter().filter_map(|flow| flow["packet_size"].as_u64());
    assert_eq!(sizes.collect::<Vec<_>>(), [60, 60, 60, 98]);
    assert!((0..8).all(|flow| written["traffic"][flow]["cc"] == "reno"));
    // The record's scenario has these flows, so it can be run again without knowing Flent.
    let once = serde_json::to_string(&resolved).unwrap();
    let twice = serde_json::to_string(&Scenario::from_json(&once).unwrap()).unwrap();
    assert_eq!(once, twice);
}

#[test]
fn rrul_be_and_tcp_nup_and_ndown_are_flents_too() {
    let resolve = |traffic: Value| Scenario::from_json(&access_link(&traffic).to_string());
    let be = resolve(json!([{"kind": "rrul_be"}])).unwrap();
    assert!(be.traffic.iter().all(|flow| flow.values.find(&tcp::DSCP).is_none()), "all best effort");
    let names: Vec<_> = be.traffic.iter().map(|flow| flow.name.clone().unwrap()).collect();
    assert_eq!((names[3].as_str(), names[10].as_str()), ("TCP upload BE4", "Ping (ms) UDP BE3"));
    // In one run the loads share their ping. A load may begin later than the ping, and has its own RTT.
    let both = resolve(json!([
        {"kind": "tcp_nup", "count": 8, "start": "5s", "stop": "15s"},
        {"kind": "tcp_ndown", "count": 2},
        {"kind": "tcp_nup", "name": "far", "rtt": "200ms"},
    ]))
    .unwrap();
    let flows: Vec<_> =
        both.flows().into_iter().map(|flow| (flow.name, flow.start_s, flow.stop_s, flow.rtt_s)).collect();
    assert_eq!(flows[0], ("TCP upload/0".to_string(), 5.0, 15.0, 0.05));
    assert_eq!(flows[8], ("Ping (ms) ICMP/0".to_string(), 0.0, 20.0, 0.05));
    assert_eq!(flows[10], ("TCP download/1".to_string(), 0.0, 20.0, 0.05));
    assert_eq!(flows[11], ("far TCP upload/0".to_string(), 0.0, 20.0, 0.2));
    assert_eq!((flows[12].0.as_str(), flows.len()), ("far Ping (ms) ICMP/0", 13));
}

/// With one strict band per class the marks must have an effect: a wrong mark would be served in the wrong band.
#[test]
fn rruls_classes_reach_the_queue() {
    let mut asked = access_link(&json!([{"kind": "rrul"}]));
    asked["bottleneck"]["qdisc"] = json!("cake diffserv4 flowblind bandwidth 9mbit");
    asked["warmup"] = json!("5s");
    let record = run(&asked);
    let rtt = |name: &str| {
        let found = record.apps.iter().find(|app| app.name == name).unwrap();
        found.result::<PingResult>().unwrap().rtt_ms.unwrap().p50
    };
    let goodput = |name: &str| record.flows.iter().find(|flow| flow.name == name).unwrap().goodput_mbps;
    assert!(rtt("Ping (ms) UDP EF/0") < rtt("Ping (ms) UDP BK/0"), "{:?}", record.apps);
    assert!(goodput("TCP download BK/0") < 0.5 * goodput("TCP download BE/0"), "{:?}", record.flows);
}

/// On an empty wire each packet of 214 bytes takes 171.2 us and 25 ms. Lost packets are missing, as the numbers show.
#[test]
fn each_packet_of_a_call_and_each_fetch_of_a_page_is_in_the_series() {
    let mut asked = access_link(&json!([
        {"kind": "voip", "name": "call", "stop": "10s"},
        {"kind": "page", "start": "11s", "objects": [{"response": "1kB"}], "interval": "1s"},
    ]));
    asked["series"] = json!({"interval": "1s"});
    asked["warmup"] = json!("5s");
    let record = run(&asked);
    let series = record.series.as_ref().unwrap();
    let call = series.kinds.of::<CallSeries>("calls").next().unwrap();
    assert_eq!((call.name.as_str(), call.seq.len()), ("call/0", 500), "those of the warm-up too");
    assert!(call.seq.iter().zip(&call.sent_s).all(|(seq, at)| (at - 0.02 * *seq as f64).abs() < 1e-9));
    assert_eq!(call.delay_ms, vec![25.1712; 500]);
    let pages = series.kinds.of::<PageSeries>("pages").next().unwrap();
    let result = page(&record);
    assert_eq!((pages.begun_s[0], pages.load_ms.len() as u64), (11.0, result.completed));
    assert_eq!(pages.load_ms[0], result.load_ms.unwrap().min);
    assert!(
        (pages.begun_s[1] - (12.0 + pages.load_ms[0] / 1e3)).abs() < 1e-6,
        "a second after the first was there"
    );

    asked["bottleneck"]["rate"] = json!("60kbit"); // 85.6 kbit/s are sent
    asked["bottleneck"]["qdisc"] = json!("pfifo limit 5");
    let record = run(&asked);
    let calls = record.series.as_ref().unwrap().kinds.of::<CallSeries>("calls").next().unwrap();
    assert!(calls.seq.windows(2).all(|pair| pair[0] < pair[1]) && calls.seq.len() < 400, "{:?}", calls.seq);
    asked["series"] = json!({"packets": {"from": "1s", "to": "2s"}});
    let series = run(&asked).series.unwrap();
    assert!(series.kinds.is_empty(), "no intervals, no log");
}

/// A browser's six connections belong to one host. Beside one bulk flow they get half by cake's rule for hosts, and
/// six sevenths if cake is fair only between flows. Windows that ignore drops keep packets of all connections
/// waiting.
#[test]
fn connections_of_one_page_are_one_host_to_cake() {
    let mut objects = vec![json!({"response": "1kB"})];
    objects.extend(vec![json!({"response": "10MB"}); 6]);
    let mut asked = access_link(&json!([
        {"kind": "bulk", "cc": "none cwnd 100"},
        {"kind": "page", "cc": "none cwnd 100", "objects": objects},
    ]));
    asked["warmup"] = json!("5s");
    let mut share = |qdisc: &str| {
        asked["bottleneck"]["qdisc"] = json!(qdisc);
        let flows = run(&asked).flows;
        flows[0].goodput_mbps / (flows[0].goodput_mbps + flows[1].goodput_mbps)
    };
    let (hosts, flows) = (share("cake"), share("cake flows"));
    assert!((hosts - 0.5).abs() < 0.02, "{hosts}");
    assert!((flows - 1.0 / 7.0).abs() < 0.02, "{flows}");
}

/// Flows with RTTs of 10, 50, 200 and 500 ms: the shortest round trip of each flow is its own RTT and a few packets.
#[test]
fn flows_have_the_round_trips_that_they_are_given() {
    let flow = |rtt: u64| json!({"kind": "bulk", "direction": "up", "name": format!("{rtt} ms"), "rtt": format!("{rtt}ms")});
    let mut asked = access_link(&[10, 50, 200, 500].map(flow).into_iter().collect());
    (asked["bottleneck"]["rate"], asked["bottleneck"]["qdisc"]) = (json!("100mbit"), json!("fq_codel"));
    let record = run(&asked);
    for (flow, rtt) in record.flows.iter().zip([10.0, 50.0, 200.0, 500.0]) {
        let least = flow.rtt_ms.unwrap().min;
        assert!(least >= rtt && least < rtt + 2.0, "{} {least}", flow.name);
    }
}

#[test]
fn calls_pages_and_loads_mix_repeat_and_may_be_cut() {
    let mut asked = access_link(&json!([
        {"kind": "rrul", "start_spread": "1s"},
        {"kind": "voip", "direction": "up", "codec": "ditg", "dscp": "EF"},
        {"kind": "voip", "name": "heard"},
        {"kind": "page", "page": "huffpost"},
        {"kind": "page", "name": "small", "count": 2, "interval": "100ms", "ecn": true},
    ]));
    asked["bottleneck"]["qdisc"] = json!("fq_codel limit 80 flows 8");
    asked["bottleneck"]["up"] = json!({"rate": "1mbit"});
    asked["warmup"] = json!("2s");
    assert_cut_is_the_same_and_seeds_differ(asked);
}

#[test]
fn what_cannot_be_is_refused_by_its_key() {
    let table = [
        (
            json!({"kind": "voip", "codec": "g71"}),
            "traffic[0].codec: found \"g71\"; did you mean \"g711\"? accepted: g711, ditg",
        ),
        (
            json!({"kind": "voip", "rate": "1mbit"}),
            "traffic[0].rate: kind \"voip\" has no such key; accepted beside the common ones: codec, ecn, dscp",
        ),
        (
            json!({"kind": "voip", "ecn": "accecn"}),
            "traffic[0].ecn: found \"accecn\"; accepted: false, true, \"ect0\" or \"ect1\": datagrams have no feedback",
        ),
        (
            json!({"kind": "page", "page": "gogle"}),
            "traffic[0].page: found \"gogle\"; did you mean \"google\"? accepted: google, huffpost, FILE.har",
        ),
        (
            json!({"kind": "page", "page": "a.har"}),
            "traffic[0].page: found \"a.har\"; accepted: its objects beside it, which the command line reads from the file",
        ),
        (json!({"kind": "page", "objects": []}), "traffic[0].objects: found 0 objects; accepted: 1 to 10000"),
        (
            json!({"kind": "page", "objects": [{"response": "0B"}]}),
            "traffic[0].objects[0].response: found 0 bytes; accepted: 1B to 1000000GB",
        ),
        (json!({"kind": "page", "connections": 0}), "traffic[0].connections: found 0; accepted: 1 to 100"),
        (
            json!({"kind": "rrul", "direction": "up"}),
            "traffic[0].direction: found \"up\"; accepted: none, as \"rrul\" says it",
        ),
        (
            json!({"kind": "rrul", "dscp": "EF"}),
            "traffic[0].dscp: kind \"rrul\" has no such key; accepted beside the common ones: cc, stack, ecn",
        ),
        (json!({"kind": "rrul", "cc": "cubc"}), "traffic[0].cc: "),
        (json!({"kind": "tcp_nup", "count": 0}), "traffic[0].count: found 0; accepted: 1 to 100000"),
    ];
    for (traffic, wanted) in table {
        let error = Scenario::from_json(&access_link(&json!([traffic])).to_string()).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{traffic}\n{error}\n{wanted}");
    }
    let twice = access_link(&json!([{"kind": "rrul"}, {"kind": "rrul"}]));
    let error = Scenario::from_json(&twice.to_string()).unwrap_err().to_string();
    assert_eq!(
        error,
        "traffic[1].name: found \"TCP upload BE\", which traffic[0] has; accepted: a name of its own"
    );
}
