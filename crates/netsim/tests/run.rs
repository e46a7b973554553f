//! Whole runs: determinism, conservation, and orders of magnitude that no tuning could hide.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

use goodqueue_netsim::{Record, Scenario, Simulation};
use goodqueue_units::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

fn scenario(qdisc: &str, traffic: Value) -> Value {
    json!({
        "duration": "20s",
        "warmup": "5s",
        "seed": 1,
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc},
        "path": {"rtt": "40ms"},
        "traffic": traffic,
    })
}

fn simulation(scenario: &Value) -> Simulation {
    Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap()
}

fn run(scenario: &Value) -> Record {
    let mut simulation = simulation(scenario);
    simulation.run();
    simulation.record()
}

#[test]
fn one_flow_fills_the_link_and_codel_keeps_the_queue_short() {
    let codel = run(&scenario("codel", json!([{"kind": "bulk"}])));
    let fifo = run(&scenario("pfifo limit 1000", json!([{"kind": "bulk"}])));
    let mean = |record: &Record| record.queues.down.delay_ms.unwrap().mean;
    assert!(codel.queues.down.utilisation_percent > 90.0, "{:?}", codel.queues.down);
    assert!(mean(&codel) < 10.0, "{:?}", codel.queues.down);
    assert!(mean(&fifo) > 10.0 * mean(&codel), "a deep FIFO stands: {:?}", fifo.queues.down);
    // 1448 of 1514 bytes are payload, so goodput is 95.6 % of the throughput, less what is sent twice.
    let (goodput, throughput) = (codel.flows[0].goodput_mbps, codel.queues.down.throughput_mbps);
    assert!((goodput / throughput - 1448.0 / 1514.0).abs() < 0.01, "{goodput} of {throughput}");
    let rtt = codel.flows[0].rtt_ms.unwrap();
    assert!(rtt.min > 40.0 && rtt.min < 43.0, "base RTT and a transmission or two: {rtt:?}");
}

#[test]
fn the_way_back_is_real() {
    // 10 Mbit/s of full segments needs about 0.22 Mbit/s of ACKs; 64 kbit/s carry less than a third of that.
    let mut thin = scenario("pfifo limit 100", json!([{"kind": "bulk"}]));
    thin["bottleneck"]["up"] = json!({"rate": "64kbit", "qdisc": "pfifo limit 20"});
    let record = run(&thin);
    assert!(record.queues.up.packets.dropped > 0, "ACKs are lost there: {:?}", record.queues.up);
    assert!(record.queues.up.utilisation_percent > 95.0, "{:?}", record.queues.up);
}

#[test]
fn a_cbr_stream_gets_what_it_sends_and_a_ping_feels_the_queue() {
    let traffic = json!([
        {"kind": "cbr", "rate": "2mbit", "packet_size": 500},
        {"kind": "ping", "interval": "50ms"},
    ]);
    let record = run(&scenario("pfifo", traffic));
    assert!((record.flows[0].goodput_mbps - 2.0).abs() < 0.01, "{:?}", record.flows[0]);
    let rtt = record.apps[0].rtt_ms.unwrap();
    // 98 bytes each way at 10 Mbit/s take 0.157 ms, and a CBR packet in the way 0.4 ms.
    assert!(rtt.min >= 40.156 && rtt.max < 40.6, "{rtt:?}");
    assert_eq!(record.apps[0].sent, 300, "15 s at 20 a second");
}

#[test]
fn a_flow_that_stops_leaves_the_link_to_the_other() {
    let mut asked =
        scenario("codel", json!([{"kind": "bulk"}, {"kind": "bulk", "name": "short", "stop": "10s"}]));
    asked["series"] = json!({"interval": "1s"});
    let record = run(&asked);
    let goodput = |flow: usize| &record.series.as_ref().unwrap().flows[flow].goodput_mbps;
    assert!(goodput(1)[8] > 1.0 && goodput(1)[11..].iter().all(|mbps| *mbps == 0.0), "{:?}", goodput(1));
    assert!(goodput(0)[19] > 8.0, "{:?}", goodput(0));
}

#[test]
fn flows_at_the_same_rtt_share_alike_under_fq_codel() {
    let record = run(&scenario("fq_codel", json!([{"kind": "bulk", "count": 4}])));
    assert!(record.fairness.jain_goodput.unwrap() > 0.99, "{:?}", record.fairness);
}

#[test]
fn ecn_marks_instead_of_dropping() {
    let record = run(&scenario("codel ecn", json!([{"kind": "bulk", "ecn": true}])));
    assert!(record.queues.down.packets.marked > 0, "{:?}", record.queues.down);
    assert_eq!(record.queues.down.packets.dropped, 0, "{:?}", record.queues.down);
    assert_eq!(record.flows[0].retransmitted, 0);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_other_ones() {
    let traffic = json!([{"kind": "bulk", "count": 3, "start_spread": "1s"}, {"kind": "ping"}]);
    let mut first = scenario("red", traffic);
    let text = |scenario: &Value| serde_json::to_string(&run(scenario)).unwrap();
    assert_eq!(text(&first), text(&first));
    let before = run(&first);
    first["seed"] = json!(2);
    let after = run(&first);
    assert_ne!(before.flows[0].start_s, after.flows[0].start_s);
}

/// Common random numbers: a probe or another discipline must not move the sources' draws.
#[test]
fn changing_the_discipline_or_adding_a_flow_does_not_move_the_starts() {
    let flow = json!({"kind": "bulk", "start_spread": "1s"});
    let alone = run(&scenario("red", json!([flow])));
    let other = run(&scenario("pfifo", json!([flow])));
    let joined = run(&scenario("red", json!([flow, {"kind": "ping", "start_spread": "1s"}])));
    assert_eq!(alone.flows[0].start_s, other.flows[0].start_s);
    assert_eq!(alone.flows[0].start_s, joined.flows[0].start_s);
}

#[test]
fn series_agree_with_the_totals() {
    let mut asked = scenario("codel", json!([{"kind": "bulk"}]));
    asked["series"] = json!({"interval": "100ms", "packets": {"from": "10s", "to": "12s"}});
    let record = run(&asked);
    let series = record.series.as_ref().unwrap();
    assert_eq!(series.time_s.len(), 200);
    let goodput: f64 = series.flows[0].goodput_mbps[50..].iter().sum::<f64>() / 150.0;
    assert!(
        (goodput - record.flows[0].goodput_mbps).abs() < 1e-3,
        "{goodput} {}",
        record.flows[0].goodput_mbps
    );
    let packets = &series.packets.as_ref().unwrap().down;
    assert!(packets.time_s.len() > 1000 && packets.time_s.iter().all(|time| (10.0..12.0).contains(time)));
    assert!(series.flows[0].cwnd_packets.iter().all(Option::is_some));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Cutting a run into pieces changes nothing; and whatever the mix, packets are conserved (asserted in `record`).
    #[test]
    fn pieces_make_the_same_run(
        qdisc in prop::sample::select(vec!["pfifo limit 5", "bfifo", "codel", "fq_codel", "fq_codel limit 20 flows 4", "pie", "red", "ared", "sfq"]),
        seed in 0_u64..1000,
        bulk in 1_u64..6,
        up in any::<bool>(),
        ecn in any::<bool>(),
        rtt_ms in 0_u64..80,
        cuts in prop::collection::vec(0.0_f64..4.0, 0..4),
    ) {
        let mut mixed = scenario(qdisc, json!([
            {"kind": "bulk", "count": bulk, "ecn": ecn, "start_spread": "500ms", "stop": "3s"},
            {"kind": "bulk", "name": "back", "direction": if up { "up" } else { "down" }, "cc": "reno", "rtt": "7ms"},
            {"kind": "cbr", "rate": "3mbit", "start": "1s"},
            {"kind": "ping"},
        ]));
        mixed["seed"] = json!(seed);
        mixed["duration"] = json!("4s");
        mixed["warmup"] = json!("1s");
        mixed["path"]["rtt"] = json!(format!("{rtt_ms}ms"));
        let whole = serde_json::to_string(&run(&mixed)).unwrap();
        let mut pieces = simulation(&mixed);
        let mut cuts = cuts;
        cuts.sort_by(f64::total_cmp);
        cuts.into_iter().for_each(|cut| pieces.advance(Duration::from_secs_f64(cut)));
        pieces.run();
        let record = pieces.record();
        prop_assert_eq!(whole, serde_json::to_string(&record).unwrap());
        for queue in [&record.queues.down, &record.queues.up] {
            let p = queue.packets;
            prop_assert_eq!(p.queued_at_start + p.offered, p.forwarded + p.dropped + p.queued_at_end);
            prop_assert!(queue.utilisation_percent <= 100.0);
        }
    }
}
