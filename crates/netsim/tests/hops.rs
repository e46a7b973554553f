//! Paths with more than a bottleneck: hops in a row, their effect on packets, and error messages.

use goodqueue_netsim::{Record, Scenario, Simulation};
use serde_json::{Value, json};

/// A download over a fast link, with the hops that a test adds.
fn scenario(hops: &Value) -> Value {
    json!({
        "duration": "20s", "warmup": "2s",
        "bottleneck": {"rate": "20mbit", "qdisc": "pfifo limit 1000"},
        "path": {"rtt": "40ms"},
        "hop": hops,
        "traffic": [{"kind": "bulk", "count": 2}, {"kind": "ping"}, {"kind": "voip", "direction": "up"}],
    })
}

fn run(scenario: &Value) -> Record {
    let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    simulation.run();
    simulation.record()
}

fn json_of(record: &Record) -> Value {
    serde_json::to_value(record).unwrap()
}

fn ping_ms(record: &Value, name: &str) -> f64 {
    let apps = record["apps"].as_array().unwrap();
    apps.iter().find(|app| app["kind"] == "ping").unwrap()["rtt_ms"][name].as_f64().unwrap()
}

/// The hidden buffer: a shaper that is slightly slower than the modem behind it keeps the queue in its own
/// discipline.
#[test]
fn a_shaper_before_a_modem_takes_its_queue_away() {
    let modem = json!([{"name": "modem", "kind": "link", "rate": "20mbit", "qdisc": "bfifo limit 625000"}]);
    let mut hidden = scenario(&modem);
    hidden["bottleneck"] = json!({"rate": "100mbit", "qdisc": "fq_codel"});
    let mut shaped = hidden.clone();
    shaped["bottleneck"]["qdisc"] = json!("cake bandwidth 19mbit");
    let [hidden, shaped] = [hidden, shaped].map(|scenario| json_of(&run(&scenario)));
    let modem_ms = |record: &Value| record["hops"][0]["delay_ms"]["p50"].as_f64().unwrap();
    // 625 kB at 20 Mbit/s take 250 ms. fq_codel above a faster link never sees this queue.
    assert!(modem_ms(&hidden) > 150.0, "{}", hidden["hops"][0]);
    assert!(hidden["queues"]["down"]["delay_ms"]["p50"].as_f64().unwrap() < 1.0);
    assert!(modem_ms(&shaped) < 2.0, "{}", shaped["hops"][0]);
    assert!(ping_ms(&hidden, "p50") > 150.0 && ping_ms(&shaped, "p50") < 50.0);
    assert_eq!(hidden["hops"][0]["name"], "modem");
}

/// The place of a hop must matter: a hop with a delay before the queue lets packets arrive later, and takes nothing
/// from the queue.
#[test]
fn wires_before_and_after_the_bottleneck_add_their_delays() {
    let wires = json!([
        {"name": "near", "kind": "wire", "before": "bottleneck", "delay": "10ms"},
        {"name": "far", "kind": "wire", "delay": "20ms"},
        {"name": "back", "kind": "wire", "direction": "up", "delay": "5ms"},
    ]);
    let mut asked = scenario(&wires);
    asked["traffic"] = json!([{"kind": "ping"}, {"kind": "voip", "direction": "up"}]);
    let record = json_of(&run(&asked));
    // 40 ms of base RTT, 35 ms of wires, and 98 bytes at 20 Mbit/s twice (0.08 ms).
    assert!((ping_ms(&record, "p50") - 75.08).abs() < 0.02, "{record:#}");
    let wire = &record["hops"][0]["packets"];
    assert_eq!(wire["lost"], 0);
    assert_eq!(
        wire["offered"].as_u64().unwrap() + wire["held_at_start"].as_u64().unwrap(),
        wire["delivered"].as_u64().unwrap() + wire["held_at_end"].as_u64().unwrap()
    );
}

#[test]
fn a_lossy_wire_loses_what_it_says_and_flows_are_told() {
    let mut asked = scenario(&json!([{"name": "air", "kind": "wire", "loss": "1%"}]));
    asked["duration"] = json!("60s");
    let record = json_of(&run(&asked));
    let air = &record["hops"][0];
    let (offered, lost) =
        (air["packets"]["offered"].as_u64().unwrap(), air["packets"]["lost"].as_u64().unwrap());
    // Three standard deviations of a binomial.
    let sd = (0.01 * 0.99 * offered as f64).sqrt();
    assert!((lost as f64 - 0.01 * offered as f64).abs() < 3.0 * sd, "{lost} of {offered}");
    for flow in record["flows"].as_array().unwrap().iter().filter(|flow| flow["kind"] == "bulk") {
        assert!((0.3..3.0).contains(&flow["loss_percent"].as_f64().unwrap()), "{flow}");
    }
}

/// RFC 7928, 10.2: with fq_codel at both links, a flow that crosses both gets about as much as a flow that crosses
/// one.
#[test]
fn flows_cross_one_bottleneck_or_both() {
    let mut asked = scenario(&json!([
        {"name": "second", "kind": "link", "rate": "20mbit", "qdisc": "fq_codel"},
    ]));
    asked["bottleneck"]["qdisc"] = json!("fq_codel");
    asked["traffic"] = json!([
        {"kind": "bulk", "name": "both"},
        {"kind": "bulk", "name": "first", "hops": ["bottleneck"]},
        {"kind": "bulk", "name": "last", "hops": ["second"]},
    ]);
    let record = run(&asked);
    let goodput: Vec<f64> = record.flows.iter().map(|flow| flow.goodput_mbps).collect();
    assert!(goodput.iter().all(|goodput| (8.0..10.5).contains(goodput)), "{goodput:?}");
    let json = json_of(&record);
    assert!(json["hops"][0]["utilisation_percent"].as_f64().unwrap() > 95.0);
    assert!(record.queues.down.utilisation_percent > 95.0);
}

/// Packets wait below the discipline, where it cannot reach them: each millisecond in the ring is a millisecond of
/// delay.
#[test]
fn a_drivers_ring_hides_packets_from_the_discipline() {
    let record = |ring: Option<u64>| {
        let mut asked = scenario(&json!([]));
        asked["bottleneck"] = json!({"rate": "20mbit", "qdisc": "codel"});
        if let Some(ring) = ring {
            asked["bottleneck"]["ring"] = json!(ring);
        }
        json_of(&run(&asked))
    };
    let (without, with) = (record(None), record(Some(100)));
    let delay = |record: &Value| record["queues"]["down"]["delay_ms"]["p50"].as_f64().unwrap();
    // 100 full frames at 20 Mbit/s take 60.6 ms.
    let ring = with["queues"]["down"]["ring"]["delay_ms"]["p50"].as_f64().unwrap();
    assert!((55.0..61.0).contains(&ring), "{ring}");
    assert!(delay(&with) > delay(&without) + 50.0);
    assert!(without["queues"]["down"].get("ring").is_none(), "records of before stay as they were");
}

#[test]
fn a_link_that_is_served_in_bursts_is_as_fast_and_its_packets_come_together() {
    let mut asked = scenario(&json!([]));
    asked["bottleneck"] = json!({"rate": "20mbit", "qdisc": "pfifo limit 100", "bursts": "4ms"});
    let record = json_of(&run(&asked));
    let used = record["queues"]["down"]["utilisation_percent"].as_f64().unwrap();
    assert!((97.0..=100.0).contains(&used), "{used}");
    // The direction `Up` has the same scheduler: a ping waits for a grant there, 2 ms on average, and for the queue
    // down.
    asked["traffic"] = json!([{"kind": "ping"}, {"kind": "voip", "direction": "up"}]);
    let idle = ping_ms(&json_of(&run(&asked)), "mean");
    assert!((41.0..49.0).contains(&idle), "{idle}");
}

#[test]
fn a_rate_from_a_file_is_followed() {
    let file = std::env::temp_dir().join(format!("goodqueue-rates-{}.txt", std::process::id()));
    std::fs::write(&file, "0s 20mbit\n10s 5mbit\n").unwrap();
    let mut asked = scenario(&json!([]));
    asked["bottleneck"] =
        json!({"trace": file.to_str().unwrap(), "qdisc": "codel", "up": {"rate": "20mbit"}});
    asked["warmup"] = json!("0s");
    let resolved = Scenario::from_json(&asked.to_string()).unwrap();
    let again = serde_json::to_string(&resolved).unwrap();
    assert_eq!(serde_json::to_string(&Scenario::from_json(&again).unwrap()).unwrap(), again);
    let record = run(&asked);
    // 20 Mbit/s for half of the time and 5 Mbit/s for the other half: 12.5 Mbit/s, except for the start.
    assert!(
        (11.5..12.5).contains(&record.queues.down.throughput_mbps),
        "{}",
        record.queues.down.throughput_mbps
    );
    assert!((92.0..=100.0).contains(&record.queues.down.utilisation_percent));
    std::fs::write(&file, "0s 20mbit\n5s oops\n").unwrap();
    let error = Scenario::from_json(&asked.to_string()).unwrap_err().to_string();
    assert!(error.starts_with("bottleneck.trace: ") && error.contains("line 2: found \"oops\""), "{error}");
    std::fs::remove_file(&file).unwrap();
}

/// Otherwise a reader of a record could not run it again.
#[test]
fn a_path_resolves_to_itself() {
    for hops in [
        json!([{"name": "b", "kind": "wire", "after": "a"}, {"name": "a", "kind": "wire", "delay": "1ms", "reorder": "5% 10%"}]),
        json!([
            {"name": "y", "kind": "link", "before": "x", "rate": "1gbit", "qdisc": "pfifo"},
            {"name": "x", "kind": "wire", "before": "bottleneck", "jitter": "1ms", "loss": "gemodel 1% 10%"},
            {"name": "z", "kind": "wire", "direction": "up"},
        ]),
    ] {
        let once =
            serde_json::to_string(&Scenario::from_json(&scenario(&hops).to_string()).unwrap()).unwrap();
        let twice = serde_json::to_string(&Scenario::from_json(&once).unwrap()).unwrap();
        assert_eq!(once, twice);
    }
    let dumbbell = Scenario::from_json(&scenario(&json!([])).to_string()).unwrap();
    assert!(
        serde_json::to_value(dumbbell).unwrap().get("hop").is_none(),
        "records of before stay as they were"
    );
}

#[test]
fn a_change_names_a_hop() {
    let mut asked = scenario(&json!([
        {"name": "modem", "kind": "link", "rate": "10mbit", "qdisc": "codel"},
        {"name": "air", "kind": "wire"},
    ]));
    asked["change"] = json!([{"at": "11s", "hop": "modem", "rate": "2mbit", "qdisc": "codel target 20ms"}]);
    let record = json_of(&run(&asked));
    // 9 s at 10 Mbit/s and 9 s at 2 Mbit/s.
    let rate = record["hops"][0]["throughput_mbps"].as_f64().unwrap();
    assert!((5.5..6.1).contains(&rate), "{rate}");
    asked["change"][0]["hop"] = json!("air");
    let error = Scenario::from_json(&asked.to_string()).unwrap_err().to_string();
    assert_eq!(error, "change[0].hop: found \"air\", which is no link; accepted: a hop of kind \"link\"");
}

#[test]
fn what_makes_no_path_is_refused_in_one_line() {
    let wire = |more: Value| {
        let mut wire = json!({"name": "w", "kind": "wire"});
        wire.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        wire
    };
    let table = [
        (json!([wire(json!({"loss": "101%"}))]), "hop[0].loss: found \"101%\"; accepted: 0% to 100%"),
        (
            json!([wire(json!({"after": "nobody"}))]),
            "hop[0].after: found \"nobody\"; accepted: \"bottleneck\", or the name",
        ),
        (
            json!([{"name": "a", "kind": "wire", "after": "b"}, {"name": "b", "kind": "wire", "before": "a"}]),
            "hop[0].after: found \"b\", in a cycle of a, b; accepted: a row that begins at \"bottleneck\"",
        ),
        (
            json!([wire(json!({"after": "bottleneck", "before": "bottleneck"}))]),
            "hop[0].before: found \"bottleneck\" and an",
        ),
        (
            json!([{"name": "a", "kind": "wire", "after": "bottleneck"}, {"name": "b", "kind": "wire", "after": "bottleneck"}]),
            "hop[1].after: found \"bottleneck\", where \"a\" is already; accepted: \"a\", or another hop",
        ),
        (
            json!([wire(json!({"name": "bottleneck"}))]),
            "hop[0].name: found \"bottleneck\", which another hop has",
        ),
        (
            json!([wire(json!({"kind": "wier"}))]),
            "hop[0].kind: found \"wier\"; did you mean \"wire\"? accepted: link, wire",
        ),
        (
            json!([wire(json!({"dealy": "1ms"}))]),
            "hop[0].dealy: unknown key; did you mean \"delay\"? accepted: name, kind,",
        ),
        (
            json!([wire(json!({"rate": "1mbit"}))]),
            "hop[0].rate: unknown key; did you mean \"name\"? accepted: name, kind,",
        ),
        (json!([wire(json!({"reorder": "5%"}))]), "hop[0].delay: found none, where `reorder` needs one"),
        (
            json!([{"name": "l", "kind": "link", "qdisc": "codel"}]),
            "hop[0].rate: missing; accepted: a rate such as \"25mbit\"",
        ),
        (
            json!([{"name": "l", "kind": "link", "rate": "1mbit", "qdisc": "codel", "peak": "2mbit"}]),
            "hop[0].peak: found no bursts; accepted: a peak rate with bursts",
        ),
        (
            json!([{"name": "l", "kind": "link", "trace": "/nowhere/at.all", "qdisc": "codel"}]),
            "hop[0].trace: found no file \"/nowhere/at.all\"; accepted: a trace of rates",
        ),
    ];
    for (hops, wanted) in table {
        let error = Scenario::from_json(&scenario(&hops).to_string()).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "\n found {error}\nwanted {wanted}");
        assert!(!error.contains('\n'), "one line: {error}");
    }
    let mut uncrossed = scenario(&json!([wire(json!({}))]));
    for flow in uncrossed["traffic"].as_array_mut().unwrap() {
        flow["hops"] = json!(["bottleneck"]);
    }
    let error = Scenario::from_json(&uncrossed.to_string()).unwrap_err().to_string();
    assert_eq!(
        error,
        "hop: found \"w\", which no flow crosses; accepted: a hop that some [[traffic]] names in `hops`"
    );
    uncrossed["traffic"][0]["hops"] = json!(["modem"]);
    let error = Scenario::from_json(&uncrossed.to_string()).unwrap_err().to_string();
    assert_eq!(error, "traffic[0].hops: found \"modem\"; accepted: bottleneck, w");
}

/// A run in pieces is the same; a run with another seed is not.
#[test]
fn a_path_is_deterministic_and_its_dice_follow_the_seed() {
    let mut asked = scenario(&json!([
        {"name": "air", "kind": "wire", "delay": "5ms", "jitter": "2ms", "distribution": "normal", "loss": "gemodel 1% 20%",
         "duplicate": "1%", "reorder": "1%"},
        {"name": "modem", "kind": "link", "rate": "10mbit", "qdisc": "pie", "bursts": "2ms", "peak": "40mbit", "ring": 8},
    ]));
    asked["duration"] = json!("6s");
    let whole = json_of(&run(&asked));
    let mut pieces = Simulation::new(Scenario::from_json(&asked.to_string()).unwrap()).unwrap();
    for tenth in 1..=60_u64 {
        pieces.advance(goodqueue_units::Duration::from_millis(100 * tenth));
    }
    assert_eq!(json_of(&pieces.record()), whole);
    asked["seed"] = json!(2);
    assert_ne!(json_of(&run(&asked))["hops"], whole["hops"]);
}
