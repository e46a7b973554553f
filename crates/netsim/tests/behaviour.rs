//! What every discipline does under three loads, as a table under version control: a change of behaviour shows as a
//! changed row in review, and the digests hold the promise that every build gives the same bytes (this test runs
//! without optimisation, `tests/test_determinism.py` compares the optimised build with the same table).
//!
//! After an intended change: `GOODQUEUE_BLESS=1 cargo test -p goodqueue-netsim --test behaviour`.

use goodqueue_netsim::{Scenario, Simulation};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

const QDISCS: [&str; 10] = [
    "pfifo limit 100",
    "bfifo limit 64kb",
    "codel",
    "codel ecn variant rfc8289",
    "fq_codel",
    "pie",
    "pie variant draft2013 target 5ms",
    "red limit 150kb",
    "ared",
    "sfq",
];

/// Traffic and its name; each load also carries a ping.
fn loads() -> [(&'static str, Value); 3] {
    let ping = json!({"kind": "ping"});
    [
        ("one", json!([{"kind": "bulk", "stack": "linux-3.10"}, ping])),
        ("eight", json!([{"kind": "bulk", "count": 8, "start_spread": "1s", "ecn": true}, ping])),
        (
            "mixed",
            json!([
                {"kind": "bulk", "count": 2, "cc": "reno"},
                {"kind": "bulk", "name": "back", "direction": "up", "rtt": "80ms"},
                {"kind": "cbr", "rate": "2mbit", "packet_size": 400, "start": "5s"},
                ping,
            ]),
        ),
    ]
}

fn row(qdisc: &str, load: &str, traffic: &Value) -> String {
    let scenario = json!({
        "duration": "15s", "warmup": "3s", "seed": 7,
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc},
        "path": {"rtt": "40ms"},
        "traffic": traffic,
    });
    let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    simulation.run();
    let record = simulation.record();
    let bytes = serde_json::to_string(&record).unwrap();
    let down = &record.queues.down;
    let delay = down.delay_ms.unwrap();
    let goodput: f64 = record.flows.iter().map(|flow| flow.goodput_mbps).sum();
    format!(
        "{qdisc:33} {load:6} {:8.2} {:8.2} {:6.1} {goodput:7.2} {:6} {:6}  {:016x}",
        delay.p50,
        delay.p99,
        down.utilisation_percent,
        down.packets.dropped,
        down.packets.marked,
        fnv1a(bytes.as_bytes()),
    )
}

/// FNV-1a: a digest small enough for a table.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[test]
fn behaviour_is_as_the_table_says() {
    let mut table = String::from(
        "qdisc                             load     p50 ms   p99 ms  util%  Mbit/s  drops  marks  record (FNV-1a)\n",
    );
    for qdisc in QDISCS {
        for (load, traffic) in loads() {
            writeln!(table, "{}", row(qdisc, load, &traffic)).unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/behaviour.txt");
    if std::env::var_os("GOODQUEUE_BLESS").is_some() {
        std::fs::write(&path, &table).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    for (now, before) in table.lines().zip(kept.lines().chain(std::iter::repeat("(no such row)"))) {
        assert_eq!(now, before, "behaviour has changed; if that is intended, see the head of this file");
    }
    assert_eq!(table.lines().count(), kept.lines().count(), "rows are gone");
}
