//! Populations of web users, compared with times and rates calculated by hand.

use crate::common::{assert_cut_is_the_same_and_seeds_differ, run};
use goodqueue_hosts::traffic::web_users::WebUsersResult;
use goodqueue_netsim::{Record, Scenario};
use serde_json::{Map, Value, json};

fn users(record: &Record) -> WebUsersResult {
    record.apps.iter().find_map(|app| app.result::<WebUsersResult>().cloned()).unwrap()
}

/// Only web users, on a link of 1 Gbit/s with an RTT of 100 ms, where packets take microseconds.
fn scenario(own: &Value) -> Value {
    scenario_on("1gbit", "pfifo limit 100000", own)
}

fn scenario_on(rate: &str, qdisc: &str, own: &Value) -> Value {
    let mut traffic = Map::from_iter([
        ("kind".to_string(), json!("web_users")),
        ("users".to_string(), json!(1)),
        ("think".to_string(), json!("1s")),
        ("objects".to_string(), json!("4")),
        ("servers".to_string(), json!("1")),
        ("request".to_string(), json!("100B")),
        ("document".to_string(), json!("1000B")),
        ("object".to_string(), json!("1000B")),
        ("server_delay".to_string(), json!("0s")),
        ("gap".to_string(), json!("0s")),
    ]);
    traffic.extend(own.as_object().unwrap().clone());
    json!({
        "duration": "60s", "warmup": "5s", "path": {"rtt": "100ms"},
        "bottleneck": {"rate": rate, "qdisc": qdisc}, "traffic": [traffic],
    })
}

fn page_ms(own: &Value) -> f64 {
    users(&run(&scenario(own))).page_ms.unwrap().mean
}

/// Each step is a round trip of 100 ms: the handshake, then the document. The objects follow as the protocol allows.
#[test]
fn a_page_takes_the_round_trips_of_its_protocol() {
    for (own, round_trips) in [
        // All four objects at once on the connection of the document.
        (json!({"protocol": "http/2", "waves": 1}), 3.0),
        // Two objects at once, then the two objects that these ask for.
        (json!({"protocol": "http/2", "waves": 2}), 4.0),
        // One connection, one object after the other.
        (json!({"protocol": "http/1", "persistent": "100%", "connections": 1}), 6.0),
        // The second connection takes a handshake, so its first object arrives with the second object of the first
        // connection. Then the last object follows.
        (json!({"protocol": "http/1", "persistent": "100%", "connections": 2}), 5.0),
        // One handshake per object, two objects at a time.
        (json!({"protocol": "http/1", "persistent": "0%", "connections": 2}), 6.0),
        (json!({"protocol": "http/1", "persistent": "0%", "connections": 1}), 10.0),
        // The server's delay in addition, for the document and for each of the four objects.
        (json!({"protocol": "http/1", "persistent": "100%", "connections": 1, "server_delay": "20ms"}), 7.0),
        // A gap before each object.
        (json!({"protocol": "http/1", "persistent": "100%", "connections": 1, "gap": "25ms"}), 7.0),
    ] {
        let got = page_ms(&own);
        assert!((got / 100.0 - round_trips).abs() < 0.01, "{own}: {got} ms, not {round_trips} round trips");
    }
}

/// A closed loop: each user fetches one page per think time plus page time. Otherwise an offered load would have no
/// meaning.
#[test]
fn a_hundred_users_ask_for_as_many_pages_as_their_think_time_allows() {
    let own = json!({"users": 100, "protocol": "http/2", "waves": 1});
    let found = users(&run(&scenario(&own)));
    let wanted = 100.0 * 55.0 / 1.3;
    assert!((found.pages as f64 / wanted - 1.0).abs() < 0.02, "{} pages, not {wanted}", found.pages);
    assert_eq!(found.response_ms.unwrap().p50.round(), 100.0, "a request on a connection that is open");
    let bytes = found.response_bytes as f64 / found.completed as f64;
    assert_eq!(bytes, 1000.0);
}

/// Every connection has its own base RTT, and all steps between the ends occur. A fan that missed a pipe would show
/// here, and so would a connection whose two directions have pipes of different lengths.
#[test]
fn base_rtts_lie_evenly_between_rtt_and_rtt_max() {
    let own = json!({"users": 200, "rtt": "10ms", "rtt_max": "150ms", "objects": "0", "persistent": "0%"});
    let record = run(&scenario(&own));
    let rtt = record.flows[0].rtt_ms.unwrap();
    for (found, wanted) in
        [(rtt.min, 10.0), (rtt.p10, 24.0), (rtt.p50, 80.0), (rtt.p90, 136.0), (rtt.max, 150.0)]
    {
        assert!((found - wanted).abs() < 3.0, "{found} ms, not {wanted}: {rtt:?}");
    }
    // One handshake and one exchange.
    let response = users(&record).response_ms.unwrap();
    assert!((response.p50 - 160.0).abs() < 5.0, "{response:?}");
}

/// Disciplines are compared with the same users: the requests do not depend on how long users wait for responses.
#[test]
fn what_a_user_asks_for_is_the_same_under_another_discipline() {
    let sample = |qdisc: &str| {
        let own = json!({
            "model": "packmime", "think": "2s", "objects": "pareto(1, 2.43)", "request": "lognormal(6, 1)",
            "document": "lognormal(9, 1)", "object": "lognormal(8, 1)", "connections": 1,
        });
        let mut scenario = scenario_on("1mbit", qdisc, &own);
        scenario["series"] = json!({"interval": "1s"});
        scenario["warmup"] = json!("0s");
        let record = serde_json::to_value(run(&scenario)).unwrap();
        let bytes = record["series"]["web_users"][0]["bytes"].as_array().unwrap().clone();
        (bytes, record["queues"]["down"]["packets"]["dropped"].as_u64().unwrap())
    };
    let (few, drops) = sample("pfifo limit 4");
    let (many, none) = sample("pfifo limit 1000");
    assert!(drops > 0 && none == 0, "the two queues differ: {drops} and {none} drops");
    let both = few.len().min(many.len());
    assert!(both > 20, "{both}");
    assert_eq!(few[..both], many[..both]);
}

/// Losses show as responses with a timeout. A lost SYN costs one timeout and is counted.
#[test]
fn timeouts_and_lost_syns_are_counted() {
    let own = json!({"users": 50, "objects": "0", "persistent": "0%", "document": "20kB"});
    let lossless = users(&run(&scenario(&own)));
    assert_eq!((lossless.timeout_percent, lossless.lost_syn_percent), (Some(0.0), Some(0.0)));
    let mut lossy = scenario(&own);
    lossy["hop"] = json!([{"name": "air", "kind": "wire", "loss": "10%", "direction": "up"}]);
    let lossy = users(&run(&lossy));
    let (timeouts, syns) = (lossy.timeout_percent.unwrap(), lossy.lost_syn_percent.unwrap());
    // One SYN in ten is lost, and one request in ten, each by itself: the share is off by three standard deviations at
    // most. Other losses in this direction are ACKs, and later ACKs replace these.
    let deviation = (10.0 * 90.0 / lossy.pages as f64).sqrt();
    assert!((syns - 10.0).abs() < 3.0 * deviation, "{syns} {deviation}");
    assert!(timeouts > syns, "{timeouts} {syns}");
}

/// A full queue of a few packets drops trains of them, so most windows that lose anything lose more. A wire that drops
/// one packet in a thousand hardly ever takes two of one window. Without a loss there is no share.
#[test]
fn windows_that_lose_several_segments_are_counted() {
    let share = |qdisc: &str, hop: Value| {
        let mut scenario =
            scenario_on("10mbit", qdisc, &json!({"users": 40, "document": "60kB", "objects": "0"}));
        scenario["hop"] = hop;
        users(&run(&scenario)).multi_loss_window_percent
    };
    let wire = json!([{"name": "air", "kind": "wire", "loss": "0.1%", "direction": "down"}]);
    assert_eq!(share("pfifo limit 10000", json!([])), None);
    let (trains, single) =
        (share("pfifo limit 10", json!([])).unwrap(), share("pfifo limit 10000", wire).unwrap());
    assert!(trains > 50.0 && single < 15.0, "{trains} {single}");
}

#[test]
fn a_run_can_be_cut_anywhere() {
    let own = json!({"users": 20, "model": "packmime", "rtt": "10ms", "rtt_max": "60ms"});
    let mut whole = scenario_on("1mbit", "fq_codel", &own);
    whole["duration"] = json!("20s");
    assert_cut_is_the_same_and_seeds_differ(whole);
}

/// The sample is taken from all responses, however many there are.
#[test]
fn the_sample_is_bounded() {
    let own = json!({"users": 400, "protocol": "http/2", "waves": 1});
    let mut scenario = scenario(&own);
    scenario["series"] = json!({"interval": "1s"});
    let record = run(&scenario);
    let found = users(&record);
    assert!(found.completed > 50_000, "{}", found.completed);
    let record = serde_json::to_value(&record).unwrap();
    let sample = record["series"]["web_users"][0].clone();
    let bytes = sample["bytes"].as_array().unwrap().len();
    let times = sample["response_ms"].as_array().unwrap().len();
    assert_eq!((bytes, times), (5000, 5000));
}

#[test]
fn nonsense_is_refused_with_a_line() {
    for (own, wanted) in [
        (json!({"users": 0}), "traffic[0].users: found 0; accepted: 1 to 1000000"),
        (json!({"load": "98%"}), "traffic[0].load: found users, too; accepted: one of them"),
        (json!({"users": null, "load": "98%"}), "traffic[0].load: found 98%; accepted: users here"),
        (json!({"users": null, "load": "much"}), "traffic[0].load: found \"much\"; accepted: 1% to 500%"),
        (
            json!({"model": "le2003"}),
            "traffic[0].model: found \"le2003\"; accepted: packmime, surge, web2025",
        ),
        (json!({"rtt_max": "20ms"}), "traffic[0].rtt_max: found 20ms; accepted: from rtt, 100ms, to 1s more"),
        (json!({"rtt_max": "2s"}), "traffic[0].rtt_max: found 2s; accepted: from rtt, 100ms, to 1s more"),
        (
            json!({"object": [[0, 100], [0.5, 50]]}),
            "traffic[0].object[1]: found [0.5, 50] after [0, 100]; accepted",
        ),
        (json!({"object": "-5B"}), "traffic[0].object: "),
        (json!({"persistent": "101%"}), "traffic[0].persistent: found \"101%\"; accepted: 0% to 100%"),
    ] {
        let error = Scenario::from_json(&scenario(&own).to_string()).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{own}: {error}");
    }
}
