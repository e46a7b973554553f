//! A bad scenario is refused with the key, what was found and what is accepted.

use crate::common::{smallest, with};
use goodqueue_netsim::Scenario;
use serde_json::{Value, json};

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
            "bottleneck.rat: unknown key; did you mean \"rate\"? accepted: rate, qdisc, tc, trace, bursts, peak, access, ring, bql, rx_usecs, rx_frames, gro, buffer, up",
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
            "traffic[0].rate: kind \"bulk\" has no such key; accepted beside the common ones: opening, cc, stack,",
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
        (
            "/change",
            json!([{"at": "5s"}]),
            "change[0].rate: missing; accepted: a rate, a qdisc or both, an rtt, or a hop's delay or jitter",
        ),
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
            "change[0].rates: unknown key; did you mean \"rate\"? accepted: at, direction, hop, rate, qdisc, rtt, delay, jitter",
        ),
        (
            "/change",
            json!([{"at": "5s", "rtt": "10ms", "direction": "up"}]),
            "change[0].rtt: found 10ms; accepted: none beside `hop` or `direction = \"up\"`, as it is of the whole path",
        ),
        (
            "/change",
            json!([{"at": "5s", "delay": "10ms"}]),
            "change[0].delay: found 10ms; accepted: beside `hop`, the name of a wire; the path has `rtt`",
        ),
        (
            "/change",
            json!([{"at": "5s", "rtt": "2000s"}]),
            "change[0].rtt: found 2000s; accepted: 0s to 1000s",
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

/// A wire that lets packets overtake needs a delay, after each change, too. No base RTT falls below zero.
#[test]
fn a_change_of_a_delay_that_makes_no_sense_is_refused() {
    let refused = |scenario: &Value| Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
    let mut scenario = smallest();
    scenario["hop"] = json!([{"name": "air", "kind": "wire", "delay": "9ms", "reorder": "1%"},
                             {"name": "modem", "kind": "link", "rate": "5mbit", "qdisc": "pfifo"}]);
    scenario["change"] = json!([{"at": "5s", "hop": "air", "delay": "0s"}]);
    assert!(refused(&scenario).starts_with("change[0].delay: found none, where `reorder` needs one"));
    scenario["change"][0]["hop"] = json!("modem");
    let error = refused(&scenario);
    assert_eq!(
        error,
        "change[0].delay: found 0s; accepted: beside `hop`, the name of a wire; the path has `rtt`"
    );
    scenario["change"] = json!([{"at": "5s", "hop": "air", "rate": "5mbit"}]);
    assert!(refused(&scenario).starts_with("change[0].hop: found \"air\", which is no link"));
    scenario["path"]["rtt"] = json!("50ms");
    scenario["traffic"][0]["rtt"] = json!("20ms");
    scenario["change"] = json!([{"at": "5s", "rtt": "29ms"}]);
    let wanted =
        "change[0].rtt: found 29ms; accepted: 30ms or more, as traffic[0].rtt, 20ms, changes by as much";
    assert_eq!(refused(&scenario), wanted);
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

/// A port that no packet has would be taken without effect.
#[test]
fn a_port_is_of_flows_that_have_ports() {
    let refused = |kind: &str, port: u64| {
        let mut scenario = smallest();
        scenario["traffic"] = json!([{"kind": kind, "port": port}]);
        Scenario::from_json(&scenario.to_string()).unwrap_err().to_string()
    };
    let wanted = "traffic[0].port: found 80 for kind \"rrul\"; accepted: none, as the flows of a test have ports of \
                  their own";
    assert_eq!(refused("rrul", 80), wanted);
    assert_eq!(refused("bulk", 65536), "traffic[0].port: found 65536; accepted: 1 to 65535");
}
