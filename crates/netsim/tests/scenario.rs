//! A bad scenario is refused with the key, what was found and what is accepted. A good scenario resolves to itself.

use goodqueue_netsim::scenario::without_buffer;
use goodqueue_netsim::{Scenario, Simulation};
use serde_json::{Value, json};

fn smallest() -> Value {
    json!({
        "duration": "70s",
        "warmup": "10s",
        "seed": 1,
        "bottleneck": {"rate": "25mbit", "qdisc": "codel target 5ms interval 100ms limit 1000"},
        "path": {"rtt": "50ms"},
        "traffic": [{"kind": "bulk", "count": 1, "direction": "down", "cc": "cubic", "ecn": false}],
    })
}

/// Returns the smallest scenario with the value at a JSON pointer replaced, added, or (null) removed.
fn with(pointer: &str, value: Value) -> String {
    let mut scenario = smallest();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match scenario.pointer_mut(parent).unwrap() {
        Value::Object(table) if value.is_null() => drop(table.remove(key)),
        Value::Object(table) => drop(table.insert(key.to_string(), value)),
        Value::Array(list) => list.push(value),
        other => panic!("{other} holds nothing"),
    }
    scenario.to_string()
}

/// Without this check 2000 flows took 6.4 GiB with `series.tcp`, and 60 s of single packets at 10 Gbit/s took 4.2
/// GiB.
#[test]
fn time_series_that_would_fill_the_memory_are_refused() {
    let series = |count: u64, rate: &str, series: Value| {
        let mut scenario = smallest();
        scenario["traffic"][0]["count"] = json!(count);
        scenario["bottleneck"]["rate"] = json!(rate);
        scenario["series"] = series;
        Scenario::from_json(&scenario.to_string()).map(drop).map_err(|error| error.to_string())
    };
    let window = |to: &str| json!({"packets": {"from": "0s", "to": to}});
    let table = [
        (
            2000,
            "25mbit",
            json!({"interval": "10ms", "tcp": true}),
            "series.tcp: found true, which takes 14000000 samples",
        ),
        (
            2000,
            "25mbit",
            json!({"interval": "10ms", "cc": true}),
            "series.cc: found true, which takes 14000000 samples",
        ),
        (
            1,
            "10gbit",
            window("60s"),
            "series.packets: found 60s, in which 99075296 packets may leave; accepted: a window",
        ),
    ];
    for (count, rate, asked, wanted) in table {
        let refused = series(count, rate, asked).unwrap_err();
        assert!(refused.starts_with(wanted), "{refused}");
    }
    assert_eq!(series(2000, "25mbit", json!({"interval": "100ms", "tcp": true})), Ok(()));
    assert_eq!(series(1, "1gbit", window("60s")), Ok(()));
}

#[test]
fn each_refusal_names_key_value_and_what_is_accepted() {
    let table = [
        (
            "/bottleneck/rat",
            json!("1mbit"),
            "bottleneck.rat: unknown key; did you mean \"rate\"? accepted: rate, qdisc, trace, bursts, peak, ring, bql, rx_usecs, rx_frames, gro, buffer, up",
        ),
        ("/bottleneck/rate", json!(null), "bottleneck.rate: missing; accepted: a rate such as \"25mbit\""),
        (
            "/bottleneck/rate",
            json!("-5mbit"),
            "bottleneck.rate: found \"-5mbit\"; accepted: a rate above zero such as 10mbit, 512kbit or 1gbit",
        ),
        (
            "/bottleneck/rate",
            json!(25),
            "bottleneck.rate: found the bare number 25; accepted: a rate with its unit, such as \"25mbit\" or \"512kbit\"",
        ),
        (
            "/bottleneck/qdisc",
            json!("codel target 5parsec"),
            "bottleneck.qdisc: codel target: found \"5parsec\"; accepted: a time such as 5ms, 100us or 1.5s",
        ),
        (
            "/bottleneck/qdisc",
            json!("codel target 2h"),
            "bottleneck.qdisc: codel target: found \"2h\"; accepted: a time such as 5ms, 100us or 1.5s",
        ),
        (
            "/bottleneck/qdisc",
            json!("codel target 3000s"),
            "bottleneck.qdisc: codel target: found \"3000s\"; accepted: 1us to 2199023.254ms",
        ),
        (
            "/bottleneck/buffer",
            json!({"bdp": 2.0}),
            "bottleneck.buffer: codel has a limit in its line already; accepted: one of them",
        ),
        (
            "/path/rtt",
            json!("50"),
            "path.rtt: found \"50\", which has no unit; accepted: a time such as 5ms, 100us, 1.5s or 2min",
        ),
        ("/warmup", json!("70s"), "warmup: found 70s; accepted: less than the duration, 70s"),
        (
            "/duration",
            json!(true),
            "duration: found boolean true; accepted: a time with its unit, such as \"50ms\" or \"70s\"",
        ),
        ("/seed", json!(-1), "seed: found integer -1; accepted: a whole number, 0 or more"),
        ("/traffic", json!([]), "traffic: found none; accepted: at least one [[traffic]]"),
        (
            "/traffic/0/kind",
            json!("bluk"),
            "traffic[0].kind: found \"bluk\"; did you mean \"bulk\"? accepted: bulk, transfer, rr, stream, cbr, ping",
        ),
        (
            "/traffic/0/cc",
            json!("cubik"),
            "traffic[0].cc: found \"cubik\"; did you mean \"cubic\"? accepted: ",
        ),
        (
            "/traffic/0/cc",
            json!("cubic hystart+"),
            "traffic[0].cc: found \"hystart+\" after \"cubic\"; did you mean \"hystart++\"? accepted: hystart++, abe, nohystart",
        ),
        (
            "/traffic/0/ecn",
            json!("l4s"),
            "traffic[0].ecn: found \"l4s\"; accepted: false, true or \"accecn\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "bulk", "cc": "prague", "ecn": true}),
            "traffic[1].ecn: found true; accepted with cc \"prague\": \"accecn\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "bulk", "cc": "dctcp", "ecn": false}),
            "traffic[1].ecn: found false; accepted with cc \"dctcp\": true or \"accecn\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "ping", "ecn": "accecn"}),
            "traffic[1].ecn: found \"accecn\"; accepted: false, true, \"ect0\" or \"ect1\": datagrams have no feedback",
        ),
        (
            "/traffic/0/dscp",
            json!("AF44"),
            "traffic[0].dscp: found \"AF44\"; did you mean \"AF41\"? accepted: a codepoint such as \"EF\",",
        ),
        ("/traffic/0/dscp", json!(64), "traffic[0].dscp: found 64; accepted: a codepoint such as"),
        (
            "/bottleneck",
            json!({"rate": "1mbit", "qdisc": "tbf latency 5ms", "buffer": {"bdp": 2.0}}),
            "bottleneck.buffer: tbf has a latency in its line already; accepted: one of them",
        ),
        ("/traffic/0/count", json!(0), "traffic[0].count: found 0; accepted: 1 to 100000"),
        (
            "/traffic/0/rate",
            json!("1mbit"),
            "traffic[0].rate: kind \"bulk\" has no such key; accepted beside the common ones: cc, stack, pacing, ecn, dscp",
        ),
        (
            "/traffic/0/start",
            json!("70s"),
            "traffic[0].start: found a last start at up to 70s; accepted: before the end, 70s",
        ),
        (
            "/traffic/-",
            json!({"kind": "cbr"}),
            "traffic[1].rate: missing; accepted: a rate such as \"10mbit\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "transfer"}),
            "traffic[1].size: missing; accepted: a size such as \"100kB\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "transfer", "size": "0B"}),
            "traffic[1].size: found 0 bytes; accepted: 1B to 1000000GB",
        ),
        (
            "/traffic/-",
            json!({"kind": "transfer", "size": "1mbit"}),
            "traffic[1].size: found \"1mbit\"; accepted: a size with its unit, such as 1500B, 100kB, 1MB or 1MiB",
        ),
        (
            "/traffic/-",
            json!({"kind": "transfer", "size": 1000}),
            "traffic[1].size: found the bare number 1000; accepted: a size with its unit, such as \"1500B\",",
        ),
        (
            "/traffic/-",
            json!({"kind": "transfer", "size": "1MB", "repeat": 0}),
            "traffic[1].repeat: found 0; accepted: 1 to 1000000000",
        ),
        (
            "/traffic/-",
            json!({"kind": "rr", "response": "1kB"}),
            "traffic[1].request: missing; accepted: a size such as \"100kB\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "rr", "request": "1kB", "response": "1kB", "think": "1s", "think_mean": "1s"}),
            "traffic[1].think_mean: found a think time besides; accepted: think (fixed) or think_mean (exponential)",
        ),
        (
            "/traffic/-",
            json!({"kind": "rr", "request": "1kB", "response": "1kB", "size": "1kB"}),
            "traffic[1].size: kind \"rr\" has no such key; accepted beside the common ones: repeat, request, response, think,",
        ),
        (
            "/traffic/-",
            json!({"kind": "stream"}),
            "traffic[1].rate: missing; accepted: a rate such as \"10mbit\"",
        ),
        (
            "/traffic/-",
            json!({"kind": "stream", "rate": "1kbit", "interval": "7ms"}),
            "traffic[1].interval: found 7ms, in which 1kbit makes no byte; accepted: a time for a chunk of one byte",
        ),
        (
            "/series",
            json!({"tcp": true}),
            "series.interval: missing, and series.tcp samples at its ends; accepted: a time such as \"100ms\"",
        ),
        (
            "/series",
            json!({"packets": {"from": "60s", "to": "80s"}}),
            "series.packets: found 60s to 80s; accepted: a window within the run, 0s to 70s",
        ),
        (
            "/bottleneck/rate",
            json!("2tbit"),
            "bottleneck.rate: found 2000gbit; accepted: a rate up to 1000gbit",
        ),
        ("/change", json!([{"at": "5s"}]), "change[0].rate: missing; accepted: a rate, a qdisc or both"),
        (
            "/change",
            json!([{"at": "70s", "rate": "1mbit"}]),
            "change[0].at: found 70s; accepted: before the end, 70s",
        ),
        (
            "/change",
            json!([{"at": "5s", "rate": "1mbit"}, {"at": "4s", "direction": "up", "rate": "1mbit"}]),
            "change[1].at: found 4s; accepted: 5s, the time before it, or later",
        ),
        (
            "/change",
            json!([{"at": "5s", "rate": "2tbit"}]),
            "change[0].rate: found 2000gbit; accepted: a rate up to 1000gbit",
        ),
        (
            "/change",
            json!([{"at": "5s", "qdisc": "codel ecn"}, {"at": "6s", "qdisc": "pie"}]),
            "change[1].qdisc: found \"pie\"; accepted: codel, which cannot become another qdisc",
        ),
        (
            "/change",
            json!([{"at": "5s", "rates": "1mbit"}]),
            "change[0].rates: unknown key; did you mean \"rate\"? accepted: at, direction, hop, rate, qdisc",
        ),
        ("/series", json!({"interval": "1ns"}), "series.interval: found 1ns; accepted: 70us to 70s"),
    ];
    for (pointer, value, wanted) in table {
        let error = Scenario::from_json(&with(pointer, value)).unwrap_err().to_string();
        assert!(error.starts_with(wanted), "{pointer}\n found {error}\nwanted {wanted}");
        assert!(!error.contains('\n'), "one line: {error}");
    }
}

#[test]
fn two_sources_of_one_name_contradict_each_other() {
    let mut scenario = smallest();
    scenario["traffic"] = json!([{"kind": "bulk", "name": "a"}, {"kind": "ping", "name": "a"}]);
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert_eq!(error, "traffic[1].name: found \"a\", which traffic[0] has; accepted: a name of its own");
}

/// Three flows, 2 ms apart: the first has the table's RTT, and the ping of another table has the path's.
#[test]
fn each_flow_is_so_much_farther_away_than_the_one_before() {
    let mut scenario = smallest();
    scenario["traffic"] = json!([
        {"kind": "bulk", "count": 3, "rtt": "20ms", "rtt_step": "2ms"},
        {"kind": "ping"},
    ]);
    let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
    let rtts: Vec<f64> = scenario.flows().iter().map(|flow| flow.rtt_s).collect();
    assert_eq!(rtts, [0.020, 0.022, 0.024, 0.050]);
    let mut simulation = Simulation::new(scenario).unwrap();
    simulation.run();
    for (flow, rtt_ms) in simulation.record().flows.iter().zip([20.0, 22.0, 24.0]) {
        let least = flow.rtt_ms.as_ref().unwrap().min;
        assert!((rtt_ms..rtt_ms + 2.0).contains(&least), "{}: {least} ms, not {rtt_ms}", flow.name);
    }
}

/// The RTT is at most 1000 s, for the last flow, too. A table has one rule for its RTTs.
#[test]
fn a_step_that_leads_too_far_is_refused() {
    let refused = |traffic: Value| {
        let mut scenario = smallest();
        scenario["traffic"] = json!([traffic]);
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    assert_eq!(
        refused(json!({"kind": "bulk", "count": 3, "rtt": "10ms", "rtt_step": "500s"})),
        "traffic[0].rtt_step: found 500s, so that the last flow has 1000.01s; accepted: at most 1000s for the last"
    );
    assert_eq!(
        refused(json!({"kind": "web_users", "users": 2, "rtt_max": "60ms", "rtt_step": "1ms"})),
        "traffic[0].rtt_step: found 1ms; accepted: none beside rtt_max"
    );
}

/// A million users take 2.5 GB. `count` multiplied them without a limit, until the memory was used up.
#[test]
fn users_are_limited_in_all_and_not_only_per_flow() {
    let read = |traffic: Value| {
        let mut scenario = smallest();
        scenario["traffic"] = traffic;
        Scenario::from_json(&scenario.to_string()).map(drop).map_err(|error| error.to_string())
    };
    let web = |users: u64, count: u64| json!({"kind": "web_users", "users": users, "count": count});
    let refusal = |users: u64| Err(format!("traffic: found {users} users in all; accepted: at most 1000000"));
    assert_eq!(read(json!([web(1_000_000, 1)])), Ok(()));
    assert_eq!(read(json!([web(1000, 1000), {"kind": "bulk", "count": 90_000}])), Ok(()));
    assert_eq!(read(json!([web(1000, 1001)])), refusal(1_001_000));
    assert_eq!(read(json!([web(1_000_000, 1), web(1, 1)])), refusal(1_000_001));
    assert_eq!(
        read(json!([{"kind": "web_users", "count": 2001}])),
        refusal(2001 * 500),
        "the default counts, too"
    );
}

/// Otherwise a record's scenario could not be run again.
#[test]
fn a_resolved_scenario_resolves_to_itself() {
    for json in [
        smallest().to_string(),
        with("/traffic/-", json!({"kind": "cbr", "rate": "1234567bit", "stagger": "1.0000001s"})),
        with("/traffic/0/dscp", json!(34)),
        with("/traffic/0/rtt_step", json!("1.5ms")),
        with("/traffic/-", json!({"kind": "transfer", "size": "1.5MB"})),
        with("/traffic/-", json!({"kind": "transfer", "size": "1KiB", "interval": "2s"})),
        with("/traffic/-", json!({"kind": "rr", "request": "1kB", "response": "3B", "think_mean": "1ms"})),
        with("/traffic/-", json!({"kind": "stream", "rate": "1mbit"})),
        with("/bottleneck/qdisc", json!("dualpi2 max_rtt 60ms")),
        with("/bottleneck/qdisc", json!("sfq limit 60 divisor 32")),
        with("/change", json!([{"at": "5s", "rate": "1mbit"}, {"at": "5s", "qdisc": "codel ecn"}])),
    ] {
        let once = serde_json::to_string(&Scenario::from_json(&json).unwrap()).unwrap();
        let twice = serde_json::to_string(&Scenario::from_json(&once).unwrap()).unwrap();
        assert_eq!(once, twice);
    }
}

/// Otherwise a reader of the record could not see what ran after the change.
#[test]
fn a_change_s_line_is_filled_in_on_top_of_the_changes_before_it() {
    let scenario = Scenario::from_json(&with(
        "/change",
        json!([{"at": "5s", "qdisc": "codel limit 50"}, {"at": "6s", "qdisc": "codel ecn"},
               {"at": "6s", "direction": "up", "qdisc": "codel target 9ms", "rate": "3mbit"}]),
    ));
    let json = serde_json::to_value(scenario.unwrap()).unwrap();
    let line = |target, limit, ecn| {
        format!("codel limit {limit} target {target} interval 100ms {ecn} variant linux")
    };
    let wanted = json!([
        {"at": "5s", "direction": "down", "qdisc": line("5ms", 50, "noecn")},
        {"at": "6s", "direction": "down", "qdisc": line("5ms", 50, "ecn")},
        {"at": "6s", "direction": "up", "rate": "3mbit", "qdisc": line("9ms", 1000, "noecn")},
    ]);
    assert_eq!(json["change"], wanted);
    let untouched = Scenario::from_json(&smallest().to_string()).unwrap();
    assert!(
        serde_json::to_value(untouched).unwrap().get("change").is_none(),
        "records of before stay as they were"
    );
}

/// A rate at which a parameter makes no sense is refused before the run, not during it.
#[test]
fn a_change_that_contradicts_the_line_is_refused() {
    let mut scenario = smallest();
    scenario["bottleneck"]["qdisc"] = json!("tbf peakrate 30mbit");
    scenario["change"] = json!([{"at": "5s", "rate": "40mbit"}]);
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert_eq!(error, "change[0].rate: tbf: peakrate must be greater than rate");
    scenario["bottleneck"]["qdisc"] = json!("./idea.py:Idea");
    scenario["change"] =
        json!([{"at": "5s", "rate": "40mbit"}, {"at": "5s", "qdisc": "./idea.py:Idea limit 5"}]);
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    let wanted = "change[1].qdisc: found \"./idea.py:Idea limit 5\"; accepted: none, since a discipline written in \
                  Python cannot change during a run";
    assert_eq!(error, wanted);
}

#[test]
fn a_buffer_of_two_bdp_is_a_limit_in_full_frames() {
    // 25 Mbit/s x 50 ms = 156,250 bytes. Twice that is 206.4 frames of 1514. At 1 Mbit/s it is 8.2 frames, so the
    // minimum holds.
    for (rate, limit) in [("25mbit", "limit 206 "), ("1mbit", "limit 10 ")] {
        let mut scenario = smallest();
        scenario["bottleneck"] =
            json!({"rate": rate, "qdisc": "codel", "buffer": {"bdp": 2.0, "min_packets": 10}});
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        assert!(
            scenario.bottleneck.down.line.to_string().contains(limit),
            "{}",
            scenario.bottleneck.down.line
        );
    }
}

/// A shaper does not queue, the discipline inside it does. `tbf` without a child has its own queue.
#[test]
fn a_buffer_reaches_the_queue_inside_a_shaper() {
    // 206 frames, as above, or their bytes for a queue in bytes.
    let table = [
        ("htb rate 20mbit child codel", "child codel limit 206 "),
        ("htb rate 20mbit", "child pfifo limit 206"),
        ("tbf rate 20mbit child htb child red", "child red limit 311884 "),
        ("tbf rate 20mbit", " limit 311884 "),
    ];
    for (qdisc, limit) in table {
        let mut scenario = smallest();
        scenario["bottleneck"] = json!({"rate": "25mbit", "qdisc": qdisc, "buffer": {"bdp": 2.0}});
        let scenario = Scenario::from_json(&scenario.to_string()).unwrap();
        assert!(
            scenario.bottleneck.down.line.to_string().contains(limit),
            "{}",
            scenario.bottleneck.down.line
        );
    }
    let mut scenario = smallest();
    scenario["bottleneck"] =
        json!({"rate": "25mbit", "qdisc": "htb child codel limit 9", "buffer": {"bdp": 2.0}});
    let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    assert_eq!(error, "bottleneck.buffer: codel has a limit in its line already; accepted: one of them");
}

/// Otherwise two spellings of one scenario would be two scenarios.
#[test]
fn a_codepoint_is_named_where_it_has_a_name() {
    let table = [
        (json!("ef"), json!("EF")),
        (json!(46), json!("EF")),
        (json!("Le"), json!("LE")),
        (json!(4), json!(4)),
    ];
    for (given, resolved) in table {
        let scenario = Scenario::from_json(&with("/traffic/0/dscp", given)).unwrap();
        assert_eq!(serde_json::to_value(&scenario).unwrap()["traffic"][0]["dscp"], resolved);
    }
    let scenario = Scenario::from_json(&with("/traffic/0/dscp", json!("CS0"))).unwrap();
    assert!(serde_json::to_value(&scenario).unwrap()["traffic"][0].get("dscp").is_none());
}

/// A congestion control has the ECN mode that it needs without being told. The record has this mode, and the line
/// with its words.
#[test]
fn a_congestion_control_brings_the_ecn_that_it_needs() {
    for (cc, line, ecn) in [
        ("reno", "reno", json!(false)),
        ("cubic  abe hystart++", "cubic hystart++ abe", json!(false)),
        ("dctcp", "dctcp", json!(true)),
        ("prague", "prague", json!("accecn")),
        ("none", "none cwnd 10", json!(false)),
    ] {
        let mut asked = smallest();
        asked["traffic"] = json!([{"kind": "bulk", "cc": cc}]);
        let scenario = Scenario::from_json(&asked.to_string()).unwrap();
        let resolved = serde_json::to_value(&scenario).unwrap();
        assert_eq!((&resolved["traffic"][0]["cc"], &resolved["traffic"][0]["ecn"]), (&json!(line), &ecn));
        let again = Scenario::from_json(&resolved.to_string()).unwrap();
        assert_eq!(serde_json::to_value(&again).unwrap(), resolved);
    }
}

/// The page leaves the buffer out of the scenario where it does not apply. If the two rules differed, the page would
/// have lines refused that run, or would run lines without the buffer that its slider shows.
#[test]
fn a_buffer_is_refused_exactly_where_it_does_not_apply() {
    let bare = goodqueue_qdisc::registry::ALL.iter().map(|spec| spec.name);
    let lines = [
        "codel limit 9",
        "tbf rate 1mbit burst 5kb latency 50ms",
        "tbf rate 1mbit burst 5kb",
        "htb child cake",
        "htb rate 1mbit child fq_codel",
        "htb child codel limit 9",
        "cake bandwidth 19mbit besteffort",
    ];
    for line in bare.chain(lines) {
        let run = |buffer: bool| {
            let mut scenario = smallest();
            scenario["bottleneck"] = json!({"rate": "25mbit", "qdisc": line});
            if buffer {
                scenario["bottleneck"]["buffer"] = json!({"bdp": 2.0});
            }
            Scenario::from_json(&scenario.to_string()).map(|_| ()).map_err(|error| error.message)
        };
        assert_eq!(run(false), Ok(()), "{line}");
        let why = without_buffer(line);
        let refused = run(true).err().map(|message| message.replace("; accepted: one of them", ""));
        assert_eq!(why, refused, "{line}");
    }
    // A refused line has no buffer that the reader would have to hear of.
    assert_eq!(["", "codle", "codel traget 5ms"].map(without_buffer), [None, None, None]);
    assert!(without_buffer("mac80211").unwrap().contains("no limit"));
}
