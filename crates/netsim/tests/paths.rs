//! Random paths: whatever resolves runs, loses count of no packet, resolves to itself and is the same in pieces.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

mod common;

use common::{run, simulation};
use goodqueue_netsim::record::{HopBody, QueueRecord, WirePackets};
use goodqueue_netsim::scenario::Direction;
use goodqueue_netsim::{Record, Scenario};
use goodqueue_units::Duration;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::OnceLock;

const QDISCS: &[&str] = &[
    "pfifo limit 3",
    "bfifo limit 20000",
    "codel",
    "fq_codel limit 20 flows 4",
    "pie",
    "red",
    "cake bandwidth 3mbit",
    "tbf rate 2mbit burst 5kb child pie",
    "dualpi2",
];

/// A file of rates of each format, of which the last has a time without any rate.
fn traces() -> &'static [String] {
    static FILES: OnceLock<Vec<String>> = OnceLock::new();
    FILES.get_or_init(|| {
        let write = |(name, content): (&str, &str)| {
            let path: PathBuf =
                std::env::temp_dir().join(format!("goodqueue-paths-{}-{name}", std::process::id()));
            std::fs::write(&path, content).unwrap();
            path.to_str().unwrap().to_string()
        };
        [("ms", "1\n2\n2\n2\n9\n40\n"), ("steps", "0s 20mbit\n50ms 1mbit\n90ms 8mbit\n120ms repeat\n")]
            .map(write)
            .into()
    })
}

fn set(table: &mut Value, key: &str, value: Value) {
    table[key] = value;
}

/// What a link sends with, and its discipline.
fn link() -> impl Strategy<Value = Value> {
    let rate = select(vec!["300kbit", "4mbit", "5mbit", "100mbit", "10gbit"]);
    let bursts = prop::option::weighted(0.3, select(vec!["10us", "1ms", "4ms", "150ms"]));
    let peak = prop::option::of(select(vec!["20mbit", "200mbit"]));
    let trace = prop::option::weighted(0.2, select(traces().to_vec()));
    let ring = prop::option::weighted(0.3, 1_u64..40);
    (rate, bursts, peak, trace, ring, select(QDISCS)).prop_map(|(rate, bursts, peak, trace, ring, qdisc)| {
        let mut link = json!({"qdisc": qdisc});
        match (trace, bursts) {
            (Some(trace), _) => set(&mut link, "trace", json!(trace)),
            (None, None) => set(&mut link, "rate", json!(rate)),
            (None, Some(bursts)) => {
                set(&mut link, "rate", json!(rate));
                set(&mut link, "bursts", json!(bursts));
                // One below the rate is refused.
                peak.into_iter().for_each(|peak| set(&mut link, "peak", json!(peak)));
            }
        }
        ring.into_iter().for_each(|ring| set(&mut link, "ring", json!(ring)));
        link
    })
}

fn wire() -> impl Strategy<Value = Value> {
    let delay = select(vec!["0s", "1ns", "3ms", "30ms"]);
    let jitter = select(vec!["0s", "2ms", "50ms"]);
    let distribution = select(vec!["uniform", "normal", "pareto", "paretonormal"]);
    let loss = select(vec!["0%", "5%", "10% 50%", "gemodel 1% 20% 80% 1%", "100%"]);
    let share = select(vec!["0%", "3%", "100%"]);
    let reorder = select(vec!["0%", "20% 50%"]);
    let limit = select(vec![1, 10, 1_000_000]);
    (delay, jitter, distribution, loss, share, reorder, any::<bool>(), limit).prop_map(
        |(delay, jitter, distribution, loss, duplicate, reorder, overtake, limit)| {
            json!({
                "delay": delay, "jitter": jitter, "distribution": distribution, "loss": loss, "duplicate": duplicate,
                "reorder": reorder, "jitter_reorders": overtake, "limit": limit,
            })
        },
    )
}

fn hops() -> impl Strategy<Value = Vec<Value>> {
    let kind = prop_oneof![link().prop_map(|link| (link, "link")), wire().prop_map(|wire| (wire, "wire"))];
    let place = prop::option::of((any::<bool>(), select(vec!["bottleneck", "h0", "h1", "h2"])));
    let hop = (kind, any::<bool>(), place).prop_map(|((mut hop, kind), up, place)| {
        set(&mut hop, "kind", json!(kind));
        set(&mut hop, "direction", json!(if up { "up" } else { "down" }));
        if let Some((before, beside)) = place {
            set(&mut hop, if before { "before" } else { "after" }, json!(beside));
        }
        hop
    });
    prop::collection::vec(hop, 0..6).prop_map(|mut hops| {
        for (number, hop) in hops.iter_mut().enumerate() {
            set(hop, "name", json!(format!("h{number}")));
        }
        hops
    })
}

/// Flows of several kinds both ways, of which some cross a part of the hops.
fn traffic(hops: usize, parts: &[Option<u8>; 5]) -> Value {
    let names: Vec<String> =
        (0..hops).map(|number| format!("h{number}")).chain(["bottleneck".into()]).collect();
    let mut traffic = json!([
        {"kind": "bulk", "count": 2, "ecn": true, "start_spread": "20ms"},
        {"kind": "bulk", "name": "back", "direction": "up", "cc": "reno"},
        {"kind": "cbr", "rate": "2mbit", "packet_size": 300},
        {"kind": "ping", "interval": "5ms"},
        {"kind": "rr", "request": "1kB", "response": "9kB"},
    ]);
    for (flow, part) in traffic.as_array_mut().unwrap().iter_mut().zip(parts) {
        if let Some(part) = part {
            let crossed = names.iter().enumerate().filter(|(place, _)| part >> place & 1 == 1);
            flow["hops"] = crossed.map(|(_, name)| name.clone()).collect();
        }
    }
    traffic
}

fn queue_is_conserved(queue: &QueueRecord) {
    let p = queue.packets;
    assert_eq!(p.queued_at_start + p.offered, p.forwarded + p.dropped + p.queued_at_end, "{queue:?}");
    assert!(queue.utilisation_percent <= 100.0, "{queue:?}");
}

fn wire_is_conserved(p: WirePackets) {
    assert_eq!(p.held_at_start + p.offered + p.duplicated, p.delivered + p.lost + p.held_at_end, "{p:?}");
}

/// What came into and out of each hop of a direction, the bottleneck among them, in the order in which packets meet them.
fn row(record: &Record, way: Direction) -> Vec<(u64, u64)> {
    let of_queue = |queue: &QueueRecord| (queue.packets.offered, queue.packets.forwarded);
    let resolved = serde_json::to_value(&record.scenario).unwrap();
    let is_before = |name: &str| {
        let hops = resolved["hop"].as_array().unwrap();
        hops.iter().any(|hop| hop["name"] == name && hop.get("before").is_some())
    };
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for hop in record.hops.iter().filter(|hop| hop.direction == way) {
        let counts = match &hop.body {
            HopBody::Link(queue) => of_queue(queue),
            HopBody::Wire(wire) => (wire.packets.offered, wire.packets.delivered),
        };
        if is_before(&hop.name) { before.push(counts) } else { after.push(counts) }
    }
    let bottleneck = if way == Direction::Down { &record.queues.down } else { &record.queues.up };
    before.push(of_queue(bottleneck));
    before.extend(after);
    before
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_path_runs_conserves_packets_resolves_to_itself_and_is_the_same_in_pieces(
        hops in hops(),
        bottleneck in link(),
        up in prop::option::of(link()),
        parts in prop::option::of(prop::array::uniform5(prop::option::of(any::<u8>()))),
        change in prop::option::of((select(vec!["h0", "h1", "bottleneck"]), select(vec!["1mbit", "90mbit"]))),
        seed in 0_u64..1000,
        cuts in prop::collection::vec(0_u64..200_000, 0..4),
    ) {
        let mut asked = json!({
            "duration": "200ms", "warmup": "0s", "seed": seed,
            "bottleneck": bottleneck,
            "path": {"rtt": "4ms"},
            "hop": hops,
            "traffic": traffic(hops.len(), &parts.unwrap_or_default()),
        });
        up.into_iter().for_each(|up| asked["bottleneck"]["up"] = up);
        if let Some((hop, rate)) = change {
            asked["change"] = json!([{"at": "100ms", "hop": hop, "rate": rate}]);
        }
        let resolved = match Scenario::from_json(&asked.to_string()) {
            Ok(scenario) => serde_json::to_string(&scenario).unwrap(),
            Err(error) => {
                let text = error.to_string();
                prop_assert!(!text.contains('\n') && text.contains("accepted"), "{}", text);
                return Ok(());
            }
        };
        let again = serde_json::to_string(&Scenario::from_json(&resolved).unwrap()).unwrap();
        prop_assert_eq!(&again, &resolved);

        let record = run(&asked);
        queue_is_conserved(&record.queues.down);
        queue_is_conserved(&record.queues.up);
        for hop in &record.hops {
            match &hop.body {
                HopBody::Link(queue) => queue_is_conserved(queue),
                HopBody::Wire(wire) => wire_is_conserved(wire.packets),
            }
        }
        if parts.is_none() {
            for way in [Direction::Down, Direction::Up] {
                for pair in row(&record, way).windows(2) {
                    let ((_, left), (came, _)) = (pair[0], pair[1]);
                    // One packet may be on the link's wire.
                    prop_assert!(came <= left && left <= came + 1, "{} of {} came: {:?}", came, left, way);
                }
            }
        }

        let mut pieces = simulation(&asked);
        let mut cuts = cuts;
        cuts.sort_unstable();
        cuts.into_iter().for_each(|cut| pieces.advance(Duration::from_micros(cut)));
        pieces.run();
        let [whole, pieces] = [&record, &pieces.record()].map(|record| serde_json::to_string(record).unwrap());
        prop_assert_eq!(whole, pieces);
    }
}

/// Else the property above would hold of nothing.
#[test]
fn most_random_paths_resolve() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let tree = (hops(), link());
    let resolves = |_: u32| {
        let (hops, bottleneck) = tree.new_tree(&mut runner).unwrap().current();
        let traffic = traffic(hops.len(), &[None; 5]);
        let asked = json!({
            "duration": "200ms", "bottleneck": bottleneck, "path": {"rtt": "4ms"}, "hop": hops, "traffic": traffic,
        });
        Scenario::from_json(&asked.to_string()).is_ok()
    };
    let count = (0..200).map(resolves).filter(|resolves| *resolves).count();
    assert!(count > 80, "{count} of 200");
}
