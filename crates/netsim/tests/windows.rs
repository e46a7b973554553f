//! A run in windows has the bytes of a run that handles one event after the other.

use crate::common::{run, simulation, smallest};
use crate::random_paths::file;
use goodqueue_netsim::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Asserts that `scenario` has the same record in windows, event by event, and if both take turns.
fn assert_same(scenario: &Value) {
    let in_windows = serde_json::to_string(&run(scenario)).unwrap();
    let whole = simulation(scenario).duration();
    let (mut alone, mut in_turns) = (simulation(scenario), simulation(scenario));
    while alone.step(whole) {}
    for part in 1..=7 {
        let until = whole * part / 7;
        if part % 2 == 0 {
            while in_turns.step(until) {}
        } else {
            in_turns.advance_by(until, 500);
            (0..100).for_each(|_| _ = in_turns.step(until)); // amid a window
            in_turns.advance(until);
        }
        assert_eq!(in_turns.elapsed(), until);
    }
    for other in [alone, in_turns] {
        let other = serde_json::to_string(&other.record()).unwrap();
        assert!(other == in_windows, "another record of {scenario}");
    }
}

/// Otherwise the other tests would compare a loop with itself.
#[test]
fn a_run_of_bulk_transfers_goes_through_windows() {
    let mut run = simulation(&smallest());
    run.advance_by(run.duration(), 1);
    assert_eq!(run.elapsed() + Duration::from_nanos(1), Duration::from_millis(25)); // half the base RTT
}

/// Bursts end at whole milliseconds, as the slices do. A call that stopped amid the events of such an instant had
/// reached the slice's end for its caller, and left them undone.
#[test]
fn a_call_that_reaches_its_end_does_all_that_happens_then() {
    let mut scenario = smallest();
    scenario["duration"] = json!("40ms");
    scenario["warmup"] = json!("0s");
    scenario["path"]["rtt"] = json!("300us");
    scenario["bottleneck"]["bursts"] = json!("1ms");
    let whole = simulation(&scenario).duration();
    let expected = serde_json::to_string(&run(&scenario)).unwrap();
    for most in 1..=20 {
        let mut in_slices = simulation(&scenario);
        for until in (1..=4).map(|slice| whole * slice / 4) {
            while in_slices.elapsed() < until {
                in_slices.advance_by(until, most);
            }
        }
        let record = serde_json::to_string(&in_slices.record()).unwrap();
        assert!(record == expected, "another record in slices of {most} events");
    }
}

/// Every discipline has its timer, its drops and its idle time.
#[test]
fn every_discipline_does_the_same() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/behaviour.json");
    let runs: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let loads: Vec<_> = runs["loads"].as_object().unwrap().values().collect();
    for (at, qdisc) in runs["qdiscs"].as_array().unwrap().iter().enumerate() {
        let mut scenario = runs["scenario"].clone();
        scenario["duration"] = json!("6s");
        scenario["warmup"] = json!("1s");
        scenario["bottleneck"]["qdisc"] = qdisc.clone();
        scenario["bottleneck"]["up"] = json!({"rate": "2mbit"});
        scenario["traffic"] = loads[at % loads.len()].clone();
        assert_same(&scenario);
    }
}

/// The loop of hosts hears all of eight base RTTs, and of nine the first. Whole milliseconds, and a link without a
/// queue, make packets come out of several pipes at one nanosecond.
#[test]
fn many_base_rtts_do_the_same() {
    let mut scenario = smallest();
    scenario["duration"] = json!("2s");
    scenario["warmup"] = json!("0s");
    scenario["bottleneck"] = json!({"rate": "12112kbit", "qdisc": "fq_codel", "up": {"rate": "1tbit"}});
    let flow =
        |number| json!({"kind": "bulk", "name": format!("f{number}"), "rtt": format!("{}ms", 2 * number)});
    for count in [8, 9] {
        let mut traffic: Vec<_> = (1..=count).map(flow).collect();
        traffic.push(json!({"kind": "ping", "interval": "1ms", "rtt": "2ms"}));
        scenario["traffic"] = json!(traffic);
        assert_same(&scenario);
    }
}

fn links() -> Vec<Value> {
    let opportunities = file("windows-ms", b"1\n2\n2\n2\n2\n2\n2\n9\n");
    vec![
        json!({"rate": "12112kbit", "qdisc": "pfifo limit 1"}), // a full frame takes a millisecond
        json!({"rate": "1tbit", "qdisc": "pfifo limit 400"}),
        json!({"rate": "12112kbit", "qdisc": "fq_codel limit 20 flows 4"}),
        json!({"rate": "20mbit", "qdisc": "codel ecn ce_threshold 1ms"}),
        json!({"rate": "20mbit", "qdisc": "pie ecn tupdate 1ms"}),
        json!({"rate": "20mbit", "qdisc": "cake bandwidth 9mbit"}),
        json!({"rate": "20mbit", "qdisc": "tbf rate 8mbit burst 5kb child pie"}),
        json!({"rate": "20mbit", "qdisc": "fq"}),
        json!({"rate": "20mbit", "qdisc": "netem delay 2ms 1ms loss 1%"}),
        json!({"rate": "20mbit", "qdisc": "fq_codel", "ring": 8, "bql": "dynamic"}),
        json!({"rate": "20mbit", "qdisc": "pfifo limit 40", "bursts": "4ms"}),
        json!({"trace": opportunities, "qdisc": "pfifo limit 30"}),
        json!({"rate": "20mbit", "qdisc": "sfq perturb 1 limit 20"}),
        json!({"rate": "20mbit", "qdisc": "fq_codel memory_limit 2000 quantum 300"}),
    ]
}

fn traffic() -> impl Strategy<Value = Value> {
    let kinds = [
        json!({"kind": "bulk", "count": 3}),
        json!({"kind": "bulk", "cc": "reno", "direction": "up", "start": "100ms", "stop": "300ms"}),
        json!({"kind": "bulk", "cc": "bbr", "ecn": true}),
        json!({"kind": "bulk", "cc": "prague", "ecn": "accecn", "stack": "linux-7.3"}),
        json!({"kind": "bulk", "count": 40, "stack": "linux-3.10", "start_spread": "50ms"}),
        json!({"kind": "cbr", "rate": "1mbit", "packet_size": 500}),
        json!({"kind": "ping", "interval": "1ms"}),
        json!({"kind": "packmime", "rate": 40}),
        json!({"kind": "transfer", "size": "30kB", "interval": "5ms"}),
        json!({"kind": "media", "max_rate": "4mbit"}),
    ];
    let rtts = ["400us", "1999us", "2ms", "10ms", "33ms"];
    let entry = (prop::sample::select(kinds.to_vec()), prop::sample::select(rtts.to_vec()));
    let entries = prop::collection::vec(entry, 1..4);
    entries.prop_map(|entries| {
        let named = entries.into_iter().enumerate().map(|(number, (mut entry, rtt))| {
            entry["name"] = json!(format!("t{number}"));
            entry["rtt"] = json!(rtt);
            entry
        });
        Value::Array(named.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Packets, timers, changes and the ends of intervals meet at equal times, and queues hold one packet.
    #[test]
    fn random_runs_are_the_same(
        traffic in traffic(),
        link in 0..14_usize,
        up in 0..14_usize,
        interval in prop::sample::select(vec!["3ms", "7ms", "100ms"]),
        changes in 0..4_usize,
        seed in any::<u16>(),
    ) {
        let mut scenario = smallest();
        let links = links();
        scenario["duration"] = json!("500ms");
        scenario["warmup"] = json!("100ms");
        scenario["seed"] = json!(seed);
        scenario["bottleneck"] = links[link].clone();
        scenario["bottleneck"]["up"] = links[up].clone();
        scenario["traffic"] = traffic;
        scenario["series"] = json!({"interval": interval, "tcp": true});
        let planned = [
            json!({"at": "200ms", "qdisc": links[link]["qdisc"]}),
            json!({"at": "222ms", "rtt": "60ms"}),
            json!({"at": "400ms", "rtt": "50ms"}),
        ];
        scenario["change"] = json!(planned[..changes]);
        assert_same(&scenario);
    }
}
