//! A run on several threads has the bytes of a run on one.

use crate::common::{run, simulation, smallest};
use crate::isp::street;
use crate::random_paths::file;
use goodqueue_netsim::{Threaded, Trial, Uncut};
use goodqueue_units::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Returns the record of `scenario` on `threads` threads, in `pieces` pieces, or why it cannot be cut.
fn on(scenario: &Value, threads: usize, pieces: u64) -> Result<String, Uncut> {
    let mut run = Threaded::cut(simulation(scenario), threads).map_err(|uncut| uncut.1)?;
    let whole = run.duration();
    (1..=pieces).for_each(|piece| run.advance_by(whole * piece / pieces, u64::MAX));
    assert_eq!(run.elapsed(), whole);
    Ok(serde_json::to_string(&run.into_record()).unwrap())
}

fn assert_same(scenario: &Value, threads: usize, pieces: u64) {
    let alone = serde_json::to_string(&run(scenario)).unwrap();
    let threaded = on(scenario, threads, pieces).unwrap();
    assert!(threaded == alone, "{threads} threads, {pieces} pieces: another record of {scenario}");
}

/// Every discipline under the loads of the table of behaviours. Packets of several flows meet at equal times there.
#[test]
fn every_discipline_sees_the_same_packets() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/behaviour.json");
    let runs: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (at, qdisc) in runs["qdiscs"].as_array().unwrap().iter().enumerate() {
        for (load, traffic) in runs["loads"].as_object().unwrap() {
            let mut scenario = runs["scenario"].clone();
            scenario["duration"] = json!("6s");
            scenario["bottleneck"]["qdisc"] = qdisc.clone();
            scenario["traffic"] = traffic.clone();
            assert_same(&scenario, 2 + at % 3, 1 + load.len() as u64 % 2);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let scenario = json!({
        "duration": "3s", "warmup": "1s",
        "bottleneck": {"rate": "50mbit", "qdisc": "fq_codel", "up": {"rate": "5mbit", "qdisc": "pie"}},
        "path": {"rtt": "20ms"},
        "series": {"interval": "100ms", "tcp": true, "cc": true},
        "change": [{"at": "2s", "rate": "20mbit"}],
        "traffic": [
            {"kind": "bulk", "count": 40, "ecn": true},
            {"kind": "bulk", "direction": "up", "count": 3, "rtt": "70ms"},
            {"kind": "ping", "count": 3},
            {"kind": "transfer", "size": "20kB", "interval": "10ms", "count": 5},
        ],
    });
    for threads in [2, 3, 4, 8] {
        assert_same(&scenario, threads, 7);
    }
}

#[test]
fn subscribers_of_a_provider_stay_the_same() {
    assert_same(&street(), 3, 2);
}

/// A responsiveness test closes all of its connections at once. Their numbers are others beside the connections of
/// other shards, and with the order of a hash table the packets left in another order. A draw of `benches/digests.py`
/// found it.
#[test]
fn connections_that_end_at_once_do_so_in_one_order() {
    let scenario = json!({
        "duration": "2500ms", "warmup": "500ms", "seed": 887, "path": {"rtt": "50ms"},
        "bottleneck": {"rate": "100mbit", "qdisc": "docsis_lld"},
        "traffic": [
            {"kind": "bulk", "name": "t1", "count": 2, "direction": "up",
                "cc": "bbr3", "ecn": "accecn", "stack": "linux-6.1"},
            {"kind": "rpm", "name": "t2", "interval": "100ms"},
            {"kind": "packmime", "name": "t3", "rate": 60},
            {"kind": "rrul", "name": "t4"}
        ]
    });
    [2, 3].into_iter().for_each(|threads| assert_same(&scenario, threads, 1));
}

/// Returns flows of several kinds in both directions, which begin at the same time and have the same base RTT.
fn together() -> Value {
    json!([
        {"kind": "bulk", "count": 9},
        {"kind": "bulk", "count": 3, "direction": "up", "cc": "reno"},
        {"kind": "cbr", "count": 4, "rate": "500kbit", "packet_size": 300},
        {"kind": "ping", "count": 3},
        {"kind": "transfer", "count": 3, "size": "30kB", "interval": "7ms"},
        {"kind": "packmime", "rate": 60},
    ])
}

/// Returns links that are more than a fixed rate, and one so fast that packets leave it at the same nanosecond.
fn links() -> Vec<Value> {
    let steps = file("threads-steps", b"0s 20mbit\n50ms 1mbit\n90ms 40mbit\n120ms repeat\n");
    let opportunities = file("threads-ms", b"1\n2\n2\n2\n2\n2\n2\n9\n");
    vec![
        json!({"rate": "1tbit", "qdisc": "pfifo limit 400"}),
        json!({"rate": "20mbit", "qdisc": "pfifo limit 40", "bursts": "4ms"}),
        json!({"rate": "20mbit", "qdisc": "fq_codel", "bursts": "1ms", "peak": "1gbit"}),
        json!({"trace": opportunities, "qdisc": "pfifo limit 30"}),
        json!({"trace": steps, "qdisc": "codel"}),
        json!({"rate": "20mbit", "qdisc": "fq_codel", "ring": 8, "bql": "dynamic"}),
        json!({"rate": "20mbit", "qdisc": "pie", "access": "starlink spread 0.5 turn 40ms loss 2"}),
        json!({"rate": "20mbit", "qdisc": "pie", "access": "docsis channel 100mbit"}),
        json!({"rate": "20mbit", "qdisc": "netem delay 2ms 1ms loss 1% corrupt 2% rate 15mbit"}),
    ]
}

/// Returns less than a second of [`together`].
fn short() -> Value {
    let mut scenario = smallest();
    scenario["duration"] = json!("700ms");
    scenario["warmup"] = json!("100ms");
    scenario["path"]["rtt"] = json!("12ms");
    scenario["traffic"] = together();
    scenario
}

/// Packets for hosts of several shards leave these links at the same nanosecond, and the hosts answer at once: the
/// answers would be taken in another order if only their time and pipe decided.
#[test]
fn links_that_are_more_than_a_fixed_rate_stay_the_same() {
    for (at, link) in links().into_iter().enumerate() {
        let mut scenario = short();
        scenario["bottleneck"] = link;
        assert_same(&scenario, 2 + at % 3, 2);
        scenario["bottleneck"]["up"] = json!({"rate": "2mbit", "qdisc": "pfifo limit 30"});
        assert_same(&scenario, 2 + at % 2, 1);
    }
}

/// Segments enter the first hop by its gate and datagrams at once, some flows cross a part of the hops or none one way,
/// and hops change during the run.
#[test]
fn rows_of_hops_stay_the_same() {
    for (at, link) in links().into_iter().enumerate() {
        let mut scenario = short();
        scenario["series"] =
            json!({"interval": "100ms", "tcp": true, "packets": {"from": "30ms", "to": "31ms"}});
        scenario["change"] = json!([
            {"at": "300ms", "hop": "street", "rate": "5mbit"},
            {"at": "400ms", "hop": "sea", "delay": "1ms"},
        ]);
        let mut home = link.clone();
        for (key, value) in
            [("kind", "link"), ("name", "home"), ("direction", "up"), ("before", "bottleneck")]
        {
            home[key] = json!(value);
        }
        scenario["hop"] = json!([
            home,
            {"kind": "link", "name": "street", "rate": "12mbit", "qdisc": "codel", "before": "bottleneck"},
            {"kind": "wire", "name": "sea", "delay": "3ms", "jitter": "1ms", "loss": "1%"},
            {"kind": "wire", "name": "sea back", "direction": "up", "duplicate": "2%"},
        ]);
        scenario["bottleneck"] = link;
        let parts =
            [json!(["bottleneck", "sea back"]), json!(["home"]), json!(["home", "sea"]), json!(["street"])];
        for (flows, hops) in
            scenario["traffic"].as_array_mut().unwrap().iter_mut().skip(1 + at % 2).zip(parts)
        {
            flows["hops"] = hops;
        }
        assert_same(&scenario, 2 + at % 3, 2);
    }
}

/// A cell has one air for both directions, so the order of what hosts at both of its ends send matters.
#[test]
fn cells_stay_the_same() {
    for (qdisc, standard, rate) in [("mac80211", "802.11n", "mcs7"), ("fq_codel", "802.11b", "minstrel")] {
        let mut scenario = short();
        scenario["series"] = json!({"interval": "100ms"});
        let station: Vec<_> =
            ["a", "b", "c"].map(|name| json!({"name": name, "rate": rate, "snr": 20})).into();
        scenario["bottleneck"] = json!({"qdisc": qdisc, "wifi": {"standard": standard, "station": station}});
        for (at, flows) in scenario["traffic"].as_array_mut().unwrap().iter_mut().enumerate() {
            flows["station"] = json!(["a", "b", "c"][at % 3]);
        }
        assert_same(&scenario, 3, 2);
    }
}

/// Each of these would give another record, or fail, if it were cut.
#[test]
fn what_cannot_be_cut_says_so() {
    let with = |key: &str, value: Value| {
        let mut scenario = smallest();
        scenario[key] = value;
        scenario
    };
    let bulk = |more: Value| {
        let mut entry = json!({"kind": "bulk"});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([entry])
    };
    let mut host = with("host", json!([{"name": "pc", "rate": "100mbit", "qdisc": "fq"}]));
    host["traffic"][0]["host"] = json!("pc");
    let card = json!({"rate": "10mbit", "qdisc": "codel", "rx_usecs": 200, "gro": true});
    for (scenario, words) in [
        (host, "a host has a queue of its own"),
        (with("bottleneck", card), "a card receives"),
        (with("change", json!([{"at": "1ms", "rtt": "9ms"}])), "RTT changes"),
        (with("path", json!({"rtt": "0s"})), "near 0"),
        (with("traffic", bulk(json!({"rtt": "100us"}))), "near 0"),
    ] {
        let why = on(&scenario, 2, 1).err();
        assert!(why.is_some_and(|why| why.contains(words)), "{scenario}: {why:?}");
    }
    assert!(on(&smallest(), 1, 1).is_err_and(|why| why.contains("no more were asked for")));
}

/// The hosts of one flow are most of the work of a run with one flow, and no two threads can share them.
#[test]
fn threads_are_worth_it_if_each_has_flows() {
    let threads = |flows: usize, rate: &str, rtt: &str, cores: usize| {
        let mut scenario = smallest();
        scenario["bottleneck"]["rate"] = json!(rate);
        scenario["path"]["rtt"] = json!(rtt);
        scenario["duration"] = json!("100s");
        scenario["traffic"] = json!([{"kind": "bulk", "count": flows}, {"kind": "ping", "count": 9}]);
        simulation(&scenario).threads_worth(cores)
    };
    assert_eq!(threads(1, "100mbit", "50ms", 2), 1);
    assert_eq!(threads(100, "1gbit", "20ms", 2), 2);
    assert_eq!(threads(7, "1gbit", "20ms", 8), 3);
    assert_eq!(threads(10, "100mbit", "50ms", 2), 2);
    assert_eq!(threads(10, "40mbit", "200ms", 2), 1); // shorter than a trial is worth
    assert_eq!(threads(100, "10mbit", "20ms", 8), 1); // too little to do in a window
}

/// Both runs of a trial stop at the ends of slices, within it, too. Whichever is kept, the record is the same.
#[test]
fn a_trial_ends_with_either_run_and_the_same_bytes() {
    let mut scenario = smallest();
    scenario["bottleneck"]["rate"] = json!("50mbit");
    scenario["duration"] = json!("4s");
    scenario["warmup"] = json!("0s");
    scenario["series"] = json!({"interval": "7ms"});
    scenario["traffic"] = json!([{"kind": "bulk", "count": 20}, {"kind": "ping"}]);
    let alone = serde_json::to_string(&run(&scenario)).unwrap();
    for (pieces, most) in [(1, u64::MAX), (300, u64::MAX), (1, 1000), (7, 100_000)] {
        let mut trial = Trial::new(simulation(&scenario), 2).unwrap_or_else(|uncut| panic!("{}", uncut.1));
        let whole = trial.duration();
        for piece in 1..=pieces {
            while trial.elapsed() < whole * piece / pieces {
                trial.advance_by(whole * piece / pieces, most);
            }
            assert_eq!(trial.elapsed(), whole * piece / pieces);
        }
        assert!(trial.has_several_threads().is_some(), "the trial is over");
        assert!(serde_json::to_string(&trial.into_record()).unwrap() == alone, "{pieces} pieces, {most}");
    }
    let mut trial = Trial::new(simulation(&scenario), 2).unwrap_or_else(|uncut| panic!("{}", uncut.1));
    trial.advance_by(Duration::from_millis(1), u64::MAX);
    assert_eq!((trial.elapsed(), trial.has_several_threads()), (Duration::from_millis(1), None));
    assert!(Trial::new(simulation(&scenario), 1).is_err_and(|uncut| uncut.1.contains("no more were asked")));
}

/// An empty stretch of a run takes no events, so it ends only with the run.
#[test]
fn a_run_stops_near_the_events_that_it_may_take() {
    let mut scenario = smallest();
    scenario["traffic"] = json!([{"kind": "bulk", "count": 4}]);
    scenario["duration"] = json!("2s");
    scenario["warmup"] = json!("0s");
    let mut run = Threaded::cut(simulation(&scenario), 2).unwrap_or_else(|uncut| panic!("{}", uncut.1));
    run.advance_by(Duration::from_secs(2), 100);
    let first = run.elapsed();
    assert!(first < Duration::from_secs(1), "{first:?}");
    while run.elapsed() < run.duration() {
        run.advance_by(Duration::from_secs(2), 100);
    }
}

fn traffic() -> impl Strategy<Value = Value> {
    let kinds = [
        json!({"kind": "bulk"}),
        json!({"kind": "bulk", "cc": "reno", "direction": "up"}),
        json!({"kind": "bulk", "cc": "bbr", "ecn": true}),
        json!({"kind": "cbr", "rate": "1mbit", "packet_size": 500}),
        json!({"kind": "ping"}),
        json!({"kind": "voip"}),
        json!({"kind": "packmime", "rate": 40}),
        json!({"kind": "transfer", "size": "30kB", "interval": "5ms"}),
        json!({"kind": "rr", "request": "1kB", "response": "4kB"}),
        json!({"kind": "video"}),
    ];
    let entry = (prop::sample::select(kinds.to_vec()), 1..6_u64, prop::sample::select(vec![2, 10, 33]));
    let entries = prop::collection::vec(entry, 1..4);
    entries.prop_map(|entries| {
        let entries = entries.into_iter().map(|(mut entry, count, rtt_ms)| {
            entry["count"] = json!(count);
            entry["rtt"] = json!(format!("{rtt_ms}ms"));
            entry
        });
        Value::Array(entries.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Flows of many kinds begin at the same time, so their packets and timers meet at equal times.
    #[test]
    fn random_runs_are_the_same(
        traffic in traffic(),
        qdisc in prop::sample::select(vec!["pfifo limit 20", "fq_codel", "cake", "pie ecn", "fq", "sfq", "dualpi2"]),
        rate in prop::sample::select(vec!["2mbit", "10mbit", "90mbit"]),
        seed in any::<u16>(),
        threads in 2..5_usize,
        pieces in 1..4_u64,
    ) {
        let mut scenario = smallest();
        scenario["duration"] = json!("700ms");
        scenario["warmup"] = json!("100ms");
        scenario["bottleneck"] = json!({"rate": rate, "qdisc": qdisc});
        scenario["seed"] = json!(seed);
        scenario["traffic"] = traffic;
        assert_same(&scenario, threads, pieces);
    }
}
