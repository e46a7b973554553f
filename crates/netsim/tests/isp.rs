//! The subscribers of an Internet provider: their tree, their traffic, and what each of them got.

use crate::common::run;
use goodqueue_netsim::{Scenario, Simulation};
use goodqueue_units::Duration;
use serde_json::{Value, json};

/// A heavy subscriber and a light one below a node of 20 Mbit/s, and one beside it, on a link of 100 Mbit/s.
pub(crate) fn street() -> Value {
    let bulk = |count: u64| json!([{"kind": "bulk", "count": count}]);
    json!({
        "duration": "12s", "warmup": "4s",
        "bottleneck": {"rate": "100mbit", "qdisc": "fq_codel"},
        "path": {"rtt": "20ms"},
        "node": [{"name": "tower", "down": "20mbit", "up": "10mbit"}],
        "subscriber": [
            {"name": "heavy", "plan": "radio", "down": "50mbit", "up": "5mbit", "parent": "tower", "traffic": bulk(8)},
            {"name": "light", "plan": "radio", "down": "50mbit", "up": "5mbit", "parent": "tower", "traffic": bulk(1)},
            {"name": "fibre", "down": "30mbit", "up": "30mbit", "traffic": bulk(2)},
        ],
        "series": {"interval": "1s"},
    })
}

fn record(scenario: &Value) -> Value {
    serde_json::to_value(run(scenario)).unwrap()
}

/// The node limits the two below it, who share its rate evenly although one has eight connections. The third has the
/// rate that it bought, which limits it. The link limits nobody.
#[test]
fn who_limits_whom() {
    let record = record(&street());
    let isp = &record["isp"];
    let got = |at: usize| isp["subscribers"][at]["down"]["throughput_mbps"].as_f64().unwrap();
    for (at, wanted) in [10.0, 10.0, 30.0].into_iter().enumerate() {
        assert!((got(at) - wanted).abs() < 0.05 * wanted, "{at}: {}", got(at));
    }
    let limits = |value: &Value| value["down"]["limiting_percent"].as_f64().unwrap();
    let [link, tower] = [0, 1].map(|at| limits(&isp["nodes"][at]));
    let [heavy, light, fibre] = [0, 1, 2].map(|at| limits(&isp["subscribers"][at]));
    assert!(tower > 90.0 && fibre > 90.0, "tower {tower}, fibre {fibre}");
    assert!(link < 5.0 && heavy < 5.0 && light < 5.0, "link {link}, heavy {heavy}, light {light}");
    let index = isp["plans"][0]["down"]["jain_throughput"].as_f64().unwrap();
    assert!(index > 0.99, "{index}");
    assert_eq!(isp["nodes"][0]["subscribers"], json!(3));
    let delay = isp["subscribers"][1]["down"]["delay_ms"]["p95"].as_f64().unwrap();
    assert!((1.0..60.0).contains(&delay), "{delay}");
    let series = record["series"]["nodes"][1]["limiting_percent"]["down"].as_array().unwrap();
    assert_eq!(series.len(), 12);
    assert!(series[6].as_f64().unwrap() > 90.0, "{series:?}");
}

/// On a link of 25 Mbit/s the wire limits all, and the record says so.
#[test]
fn the_link_limits_too() {
    let mut scenario = street();
    scenario["bottleneck"]["rate"] = json!("25mbit");
    let record = record(&scenario);
    let link = record["isp"]["nodes"][0]["down"]["limiting_percent"].as_f64().unwrap();
    assert!(link > 90.0, "{link}");
}

/// A record's scenario runs again and gives the same record; so does a run in pieces.
#[test]
fn the_resolved_scenario_is_the_same_run() {
    let mut scenario = street();
    scenario["subscriber"][1]["traffic"] = json!("household");
    scenario["subscriber"][1]["count"] = json!(3);
    scenario["evening"] = json!(true);
    scenario["duration"] = json!("8s");
    let first = record(&scenario);
    let resolved = &first["scenario"];
    assert_eq!(resolved["traffic"], json!([]), "what follows from subscribers is not written");
    assert_eq!(record(resolved), first);
    let mut pieces = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    (1..16).for_each(|piece| pieces.advance(Duration::from_millis(piece * 499)));
    pieces.run();
    assert_eq!(serde_json::to_value(pieces.record()).unwrap(), first);
}

/// In six of ten homes of `household` a player chooses the rate of each segment. `streaming` is another name of it.
#[test]
fn a_mix_has_players() {
    let videos = |mix: &str, kind: &str| -> Vec<Value> {
        let mut scenario = street();
        scenario["subscriber"][1]["traffic"] = json!(mix);
        scenario["subscriber"][1]["count"] = json!(5);
        scenario["duration"] = json!("6s");
        let apps = record(&scenario)["apps"].as_array().unwrap().clone();
        apps.into_iter().filter(|app| app["kind"] == kind).map(|app| app["name"].clone()).collect()
    };
    let players = videos("household", "video");
    assert!(!players.is_empty());
    assert_eq!((players, videos("household", "stream")), (videos("streaming", "video"), Vec::new()));
}

/// Promises of 3 times 1 Mbit/s below a node of 0.3 Mbit/s become a tenth each: htb would let them exceed it.
#[test]
fn a_node_is_not_exceeded_by_promises() {
    let mut scenario = street();
    scenario["node"][0]["down"] = json!("300kbit");
    scenario["subscriber"][0]["down_min"] = json!("20mbit");
    let record = record(&scenario);
    let node = record["isp"]["nodes"][1]["down"]["throughput_mbps"].as_f64().unwrap();
    assert!((0.25..0.33).contains(&node), "{node}");
}

#[test]
fn mistakes_are_refused_with_their_key() {
    let table = [
        (
            "/subscriber/0/parent",
            json!("towr"),
            "subscriber[0].parent: found \"towr\"; did you mean \"tower\"?",
        ),
        (
            "/subscriber/1/name",
            json!("heavy"),
            "subscriber[1].name: found \"heavy\", which subscriber[0] has;",
        ),
        ("/subscriber/0/down", json!("fast"), "subscriber[0].down: found \"fast\""),
        (
            "/subscriber/0/down_min",
            json!("60mbit"),
            "subscriber[0].down_min: found 60mbit; accepted: at most 50mbit",
        ),
        ("/subscriber/0/qdisc", json!("cak"), "subscriber[0].qdisc: "),
        (
            "/subscriber/0/traffic",
            json!("houshold"),
            "subscriber[0].traffic: found \"houshold\"; did you mean",
        ),
        (
            "/subscriber/0/traffic",
            json!([{"kind": "bulk", "share": 2}]),
            "subscriber[0].traffic[0].share: found 2;",
        ),
        (
            "/subscriber/0/traffic",
            json!([{"kind": "bulk", "sise": 2}]),
            "subscriber[0].traffic[0].sise: unknown key",
        ),
        (
            "/subscriber/0/traffic",
            json!([{"kind": "bulk", "host": "a"}]),
            "subscriber[0].traffic[0].host: found it;",
        ),
        (
            "/subscriber/0/addresses",
            json!(["100.64.0.300"]),
            "subscriber[0].addresses: found \"100.64.0.300\";",
        ),
        ("/subscriber/0/up_qdisc", json!("cak"), "subscriber[0].up_qdisc: "),
        ("/node/0/parent", json!("tower"), "node[0].parent: found \"tower\", which is below it"),
        ("/node/0/name", json!(""), "node[0].name: found \"\"; accepted: a name"),
        ("/bottleneck/tc", json!(["x"]), "bottleneck.tc: found it beside subscribers"),
        ("/evening", json!({"from": 20, "to": 19}), "evening.to: found 19;"),
        ("/evening", json!({"share": [[1, 0.5], [1, 0.6]]}), "evening.share: found [1,0.6];"),
        ("/isp", json!({"devices": "a.csv"}), "isp: found files"),
    ];
    for (pointer, value, wanted) in table {
        let mut scenario = street();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        scenario.pointer_mut(parent).unwrap()[key] = value;
        let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{pointer}: {error}");
    }
}

/// Otherwise one of them has the other's plan, without a word.
#[test]
fn networks_of_two_subscribers_may_not_overlap() {
    let mut scenario = street();
    scenario["subscriber"] = json!([
        {"name": "a", "down": "9mbit", "up": "9mbit", "addresses": ["100.64.0.0/30", "100.64.0.1"]},
        {"name": "b", "down": "9mbit", "up": "9mbit"},
        {"name": "c", "down": "9mbit", "up": "9mbit", "addresses": ["100.64.0.6"]},
    ]);
    let expanded = Scenario::from_json(&scenario.to_string()).unwrap().expanded();
    let traffic = serde_json::to_value(expanded).unwrap()["traffic"].clone();
    let hosts: Vec<_> =
        traffic.as_array().unwrap().iter().filter_map(|table| table["host"].as_str()).collect();
    assert!(hosts.contains(&"100.64.0.4") && !hosts.contains(&"100.64.0.2"), "{hosts:?}"); // that of b
    scenario["subscriber"][2]["addresses"] = json!(["100.64.0.3"]);
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    let wanted = "subscriber[2].addresses: found 100.64.0.3/32, which lies in 100.64.0.0/30 of subscriber[0]; accepted: \
                  addresses of its own";
    assert_eq!(error, wanted);
    scenario["subscriber"][2]["addresses"] = json!(["100.64.0.0/10"]);
    scenario["subscriber"][0]["addresses"] = json!(["10.0.0.1"]);
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert!(error.starts_with("subscriber[1].addresses: found networks that leave no address"), "{error}");
}
