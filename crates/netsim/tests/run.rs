//! Whole runs: determinism, conservation, and orders of magnitude that no tuning could hide.

use crate::common::{run, simulation};
use goodqueue_hosts::traffic::ping::{PingResult, PingSeries};
use goodqueue_netsim::{Direction, Event, Observer, Packet, Record};
use goodqueue_units::{Duration, Instant};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

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

/// Returns the measurements of the first application, a ping.
fn ping(record: &Record) -> PingResult {
    *record.apps[0].result::<PingResult>().unwrap()
}

#[test]
fn one_flow_fills_the_link_and_codel_keeps_the_queue_short() {
    let codel = run(&scenario("codel", json!([{"kind": "bulk"}])));
    let fifo = run(&scenario("pfifo limit 1000", json!([{"kind": "bulk"}])));
    let mean = |record: &Record| record.queues.down.delay_ms.unwrap().mean;
    assert!(codel.queues.down.utilisation_percent > 90.0, "{:?}", codel.queues.down);
    assert!(mean(&codel) < 10.0, "{:?}", codel.queues.down);
    assert!(mean(&fifo) > 10.0 * mean(&codel), "a deep FIFO stands: {:?}", fifo.queues.down);
    // 1448 of 1514 bytes are payload, so the goodput is 95.6 % of the throughput, minus retransmissions.
    let (goodput, throughput) = (codel.flows[0].goodput_mbps, codel.queues.down.throughput_mbps);
    assert!((goodput / throughput - 1448.0 / 1514.0).abs() < 0.01, "{goodput} of {throughput}");
    let rtt = codel.flows[0].rtt_ms.unwrap();
    assert!(rtt.min > 40.0 && rtt.min < 43.0, "base RTT and a transmission or two: {rtt:?}");
}

#[test]
fn the_way_back_is_real() {
    // 10 Mbit/s of full segments need about 0.22 Mbit/s of ACKs. 64 kbit/s are less than a third of that.
    let mut thin = scenario("pfifo limit 100", json!([{"kind": "bulk"}]));
    thin["bottleneck"]["up"] = json!({"rate": "64kbit", "qdisc": "pfifo limit 20"});
    let record = run(&thin);
    assert!(record.queues.up.packets.dropped > 0, "ACKs are lost there: {:?}", record.queues.up);
    assert!(record.queues.up.utilisation_percent > 95.0, "{:?}", record.queues.up);
}

/// "Piece of CAKE", "ACK filtering": 50 Mbit/s of full segments need 1.1 Mbit/s of ACKs. With only 0.3 Mbit/s for
/// them, a plain queue starves the download. The filter sends fewer ACKs, and these fit.
#[test]
fn fewer_acks_on_a_narrow_way_back_let_the_download_fill_its_link() {
    let with = |qdisc: &str| {
        let mut asked = scenario("cake", json!([{"kind": "bulk"}]));
        asked["bottleneck"]["rate"] = json!("50mbit");
        asked["bottleneck"]["up"] = json!({"rate": "300kbit", "qdisc": qdisc});
        run(&asked)
    };
    let [plain, careful, aggressive] = ["cake", "cake ack-filter", "cake ack-filter-aggressive"].map(with);
    let filtered = |record: &Record| record.queues.up.drops_by_reason.get("ack").copied().unwrap_or(0);
    assert_eq!(filtered(&plain), 0);
    for (record, share) in [(&careful, 0.3), (&aggressive, 0.5)] {
        let up = &record.queues.up.packets;
        assert!(filtered(record) as f64 > share * up.offered as f64, "{:?}", record.queues.up);
        assert!(record.queues.down.utilisation_percent > 90.0, "{:?}", record.queues.down);
        assert_eq!(record.flows[0].timeouts, Some(0), "{:?}", record.flows[0]);
    }
    assert!(plain.flows[0].goodput_mbps < 0.8 * careful.flows[0].goodput_mbps, "{:?}", plain.flows[0]);
}

#[test]
fn a_cbr_stream_gets_what_it_sends_and_a_ping_feels_the_queue() {
    let traffic = json!([
        {"kind": "cbr", "rate": "2mbit", "packet_size": 500},
        {"kind": "ping", "interval": "50ms"},
    ]);
    let record = run(&scenario("pfifo", traffic));
    assert!((record.flows[0].goodput_mbps - 2.0).abs() < 0.01, "{:?}", record.flows[0]);
    let rtt = ping(&record).rtt_ms.unwrap();
    // 98 bytes in each direction at 10 Mbit/s take 0.157 ms, and a CBR packet on the wire takes 0.4 ms more.
    assert!(rtt.min >= 40.156 && rtt.max < 40.6, "{rtt:?}");
    assert_eq!(ping(&record).sent, 300, "15 s at 20 a second");
}

/// Returns the median round-trip time of a ping with codepoint `dscp` beside four bulk flows.
fn ping_among_bulk(qdisc: &str, dscp: Value) -> f64 {
    let traffic = json!([{"kind": "bulk", "count": 4}, {"kind": "ping", "interval": "50ms", "dscp": dscp}]);
    ping(&run(&scenario(qdisc, traffic))).rtt_ms.unwrap().p50
}

/// Without flow isolation only the codepoint can separate the ping from the bulk flows: EF has its own tin, CS1 has
/// the tin that waits for the others.
#[test]
fn cakes_tins_part_codepoints() {
    let cake = |words: &str, dscp| {
        ping_among_bulk(&["cake flowblind bandwidth 9mbit ", words].concat(), json!(dscp))
    };
    let (voice, best_effort) = (cake("diffserv3", "EF"), cake("diffserv3", "CS0"));
    assert!(voice < 42.0 && best_effort > voice + 3.0, "{voice} {best_effort}");
    let (washed, one_tin) = (cake("diffserv3 wash", "EF"), cake("besteffort", "EF"));
    assert!(washed < 42.0 && one_tin > voice + 3.0, "{washed} {one_tin}");
}

/// pfifo_fast empties a band before it serves the next. TOS 0x10 (codepoint 4) is in the first band. EF's bits mean
/// interactive bulk, in the second band, which has best effort, too: tc-prio(8).
#[test]
fn pfifo_fast_serves_low_delay_first_and_takes_ef_for_best_effort() {
    let ping = |dscp| ping_among_bulk("pfifo_fast txqueuelen 100", json!(dscp));
    let (low_delay, ef, best_effort) = (ping(4), ping(46), ping(0));
    assert!(low_delay < 42.0, "{low_delay}");
    assert!(ef > 80.0 && best_effort > 80.0, "100 frames of 1.2 ms: {ef} {best_effort}");
}

/// cake with `wash` clears the codepoint. The echo has the codepoint that arrived, so the way back sees best effort.
#[test]
fn an_echo_has_the_codepoint_that_arrived() {
    let ping = |down: &str| {
        let traffic = json!([
            {"kind": "bulk", "count": 4, "direction": "up"},
            {"kind": "ping", "interval": "50ms", "dscp": "EF"},
        ]);
        let mut scenario = scenario(down, traffic);
        scenario["bottleneck"]["up"] = json!({"qdisc": "cake flowblind bandwidth 9mbit diffserv3"});
        ping(&run(&scenario)).rtt_ms.unwrap().p50
    };
    let (kept, washed) = (ping("cake"), ping("cake wash"));
    assert!(kept < 42.0 && washed > kept + 3.0, "{kept} {washed}");
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
    assert_eq!(record.flows[0].retransmitted, Some(0));
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

/// Common random numbers: a probe or another discipline must not change what the sources draw.
#[test]
fn changing_the_discipline_or_adding_a_flow_does_not_move_the_starts() {
    let flow = json!({"kind": "bulk", "start_spread": "1s"});
    let alone = run(&scenario("red", json!([flow])));
    let other = run(&scenario("pfifo", json!([flow])));
    let joined = run(&scenario("red", json!([{"kind": "ping", "start_spread": "1s"}, flow])));
    assert_eq!(alone.flows[0].start_s, other.flows[0].start_s);
    assert_eq!(alone.flows[0].start_s, joined.flows[0].start_s);
}

/// As the flows of one iperf3 client: nothing but handshakes before the start, which all have at one time.
#[test]
fn flows_that_open_first_send_together() {
    let flow = json!({"kind": "bulk", "count": 4, "start": "6s", "start_spread": "1s", "opening": "500ms"});
    let mut asked = scenario("pfifo", json!([flow]));
    asked["warmup"] = json!("0s");
    asked["series"] = json!({"interval": "10ms", "tcp": true});
    let record = run(&asked);
    let start = record.flows[0].start_s;
    assert!(start > 6.0 && record.flows.iter().all(|flow| flow.start_s == start && flow.goodput_mbps > 0.5));
    let series = &record.series.as_ref().unwrap().flows;
    let first = |values: &[Option<f64>]| values.iter().position(Option::is_some).unwrap() as f64 / 100.0;
    let rtts: Vec<f64> = series.iter().map(|flow| first(&flow.tcp.as_ref().unwrap().rtt_ms)).collect();
    let expected = [500.0, 375.0, 250.0, 125.0].map(|before| start - before / 1e3 + 0.02);
    for (found, expected) in rtts.iter().zip(expected) {
        assert!((found - expected).abs() < 0.03, "open one after the other: {rtts:?} from {start}");
    }
    let sends = |flow: &[f64]| flow.iter().position(|goodput| *goodput > 0.0).unwrap() as f64 / 100.0;
    assert!(series.iter().all(|flow| sends(&flow.goodput_mbps) >= start), "data before the start");
}

/// Linux's L4S kernel puts AccECN's option of 12 bytes on each segment: 1436 of 1514 bytes are payload.
#[test]
fn the_module_of_prague_has_the_option_of_accecn() {
    for (cc, payload) in [("prague", 1448.0), ("prague module0.7", 1436.0)] {
        let record = run(&scenario("codel ecn", json!([{"kind": "bulk", "cc": cc}])));
        let part = record.flows[0].goodput_mbps / record.queues.down.throughput_mbps;
        assert!((part - payload / 1514.0).abs() < 0.002, "{cc}: {part}");
    }
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

/// It would be wrong to name another flow for a packet: each direction carries the data of one flow, and an ACK
/// belongs to the flow that it acknowledges.
#[test]
fn a_series_of_packets_tells_whose_each_was_if_asked() {
    let up = json!({"kind": "cbr", "rate": "1mbit", "direction": "up"});
    let mut asked = scenario("codel", json!([{"kind": "bulk"}, up]));
    let mut packets = |flows: bool| {
        asked["series"] = json!({"packets": {"from": "10s", "to": "12s", "flows": flows}});
        run(&asked).series.unwrap().packets.unwrap()
    };
    assert!(packets(false).down.flow.is_none());
    let told = packets(true);
    let (down, up) = (told.down.flow.unwrap(), told.up.flow.unwrap());
    assert_eq!(down.len(), told.down.time_s.len());
    assert!(!down.is_empty() && down.iter().all(|flow| *flow == 0));
    let cbr = up.iter().filter(|flow| **flow == 1).count();
    assert!(
        (164..=166).contains(&cbr) && up.len() > 2 * cbr,
        "1 Mbit/s in frames of 1514 bytes for 2 s: {cbr}"
    );
}

/// On an empty link of 10 Mbit/s an echo of 98 bytes takes the base RTT plus twice its serialisation of 78.4 us.
#[test]
fn each_round_trip_of_a_ping_is_in_the_series_and_those_of_the_warm_up_too() {
    let mut asked = scenario("pfifo", json!([{"kind": "ping", "interval": "200ms", "packet_size": 98}]));
    asked["series"] = json!({"interval": "1s"});
    let record = run(&asked);
    let rtt = asked["path"]["rtt"].as_str().unwrap().trim_end_matches("ms").parse::<f64>().unwrap();
    let ping = record.series.as_ref().unwrap().kinds.of::<PingSeries>("pings").next().unwrap();
    assert_eq!(ping.name, "ping/0");
    assert_eq!(ping.seq.len(), ping.sent_s.len());
    assert_eq!(ping.seq, (0..ping.seq.len() as u64).collect::<Vec<_>>());
    assert!(ping.sent_s.iter().zip(&ping.seq).all(|(at, seq)| (at - 0.2 * *seq as f64).abs() < 1e-9));
    assert_eq!(ping.rtt_ms, vec![rtt + 2.0 * 0.0784; ping.seq.len()]);
    asked["series"] = json!({"packets": {"from": "10s", "to": "12s"}});
    assert!(run(&asked).series.unwrap().kinds.is_empty(), "no intervals, no log");
}

/// Frames of 1514 bytes arrive at 20 Mbit/s, 1651.3 per second, and 825.6 per second leave. Once the queue is full,
/// 825 or 826 are dropped per second.
#[test]
fn drops_are_counted_in_the_interval_in_which_they_happen() {
    let calm = json!({"kind": "cbr", "rate": "1mbit", "direction": "up", "name": "calm"});
    let mut asked = scenario("pfifo limit 10", json!([{"kind": "cbr", "rate": "20mbit"}, calm]));
    asked["warmup"] = json!("0s");
    asked["series"] = json!({"interval": "1s"});
    let record = run(&asked);
    let series = record.series.unwrap();
    let dropped = &series.flows[0].dropped_packets;
    assert!(dropped[1..].iter().all(|count| (825..=826).contains(count)), "{dropped:?}");
    assert_eq!(dropped.iter().sum::<u64>(), record.queues.down.packets.dropped);
    assert_eq!(series.flows[1].dropped_packets, vec![0; 20], "those of another flow");
}

/// One echo per 200 ms, which returns after 40 ms plus twice 78.4 us: every second interval of 100 ms has one. Flows
/// that are not pings have none.
#[test]
fn an_intervals_round_trip_is_that_of_the_echoes_that_came_home_in_it() {
    let traffic = json!([{"kind": "ping", "interval": "200ms", "packet_size": 98}, {"kind": "cbr", "rate": "8kbit", "start": "19s"}]);
    let mut asked = scenario("pfifo", traffic);
    asked["series"] = json!({"interval": "100ms"});
    let series = run(&asked).series.unwrap();
    let rtts = series.flows[0].rtt_ms.as_ref().unwrap();
    assert_eq!(rtts.len(), 200);
    for (place, rtt) in rtts.iter().take(190).enumerate() {
        assert_eq!(*rtt, (place % 2 == 0).then_some(40.1568), "interval {place}");
    }
    assert!(series.flows[1].rtt_ms.is_none());
}

/// Karn's rule must not starve a path whose RTT exceeds the initial RTO: at first every segment is sent twice, and an
/// ACK of a segment sent twice is no sample.
#[test]
fn a_round_trip_longer_than_the_initial_timeout_is_learnt() {
    let mut far = scenario("pfifo limit 2000", json!([{"kind": "bulk"}]));
    far["path"]["rtt"] = json!("1200ms");
    far["duration"] = json!("60s");
    let record = run(&far);
    assert!(
        record.flows[0].goodput_mbps > 5.0 && record.flows[0].timeouts.unwrap() < 5,
        "{:?}",
        record.flows[0]
    );

    // A flow that starts while two seconds of queue stand is in the same situation.
    let late = json!([{"kind": "bulk"}, {"kind": "bulk", "name": "late", "start": "20s"}]);
    let mut crowded = scenario("pfifo limit 1000", late);
    crowded["bottleneck"]["rate"] = json!("5mbit");
    crowded["duration"] = json!("120s");
    let record = run(&crowded);
    assert!(
        record.flows[1].goodput_mbps > 0.5 && record.flows[1].timeouts.unwrap() < 10,
        "{:?}",
        record.flows[1]
    );
}

#[test]
fn series_go_on_across_the_end_of_the_warm_up() {
    let mut with_warmup = scenario("pfifo limit 200", json!([{"kind": "bulk", "count": 4}]));
    with_warmup["series"] = json!({"interval": "5s"});
    let mut without = with_warmup.clone();
    without["warmup"] = json!("0s");
    let delays = |scenario: &Value| run(scenario).series.unwrap().queues.down.delay_ms;
    assert_eq!(delays(&with_warmup), delays(&without));
}

#[test]
fn a_flow_that_stopped_is_not_credited_with_what_drains_later() {
    for flow in
        [json!({"kind": "bulk", "stop": "5.1s"}), json!({"kind": "cbr", "rate": "30mbit", "stop": "5.1s"})]
    {
        let record = run(&scenario("pfifo limit 1000", json!([flow])));
        // One packet more in 0.1 s is 0.12 Mbit/s.
        assert!(record.flows[0].goodput_mbps <= 10.13, "more than the link carries: {:?}", record.flows[0]);
    }
}

#[test]
fn no_flow_loses_more_than_it_sends() {
    let mut crowd =
        scenario("pfifo limit 20", json!([{"kind": "bulk", "count": 200, "start_spread": "100ms"}]));
    crowd["warmup"] = json!("0s");
    for flow in run(&crowd).flows {
        assert!(flow.loss_percent <= Some(100.0), "{flow:?}");
    }
}

#[test]
fn pings_under_way_are_not_lost_and_echoes_from_before_do_not_count() {
    let mut calm = scenario("pfifo", json!([{"kind": "ping", "interval": "100ms"}]));
    calm["path"]["rtt"] = json!("400ms");
    let record = run(&calm);
    assert_eq!((ping(&record).sent, ping(&record).received), (150, 146), "four are under way at the end");
    assert_eq!(ping(&record).loss_percent, Some(0.0));
    // The ping ends before the warm-up does: nothing was measured, whatever returns later.
    let mut early = calm.clone();
    early["traffic"][0]["stop"] = json!("4.9s");
    let record = run(&early);
    assert_eq!((ping(&record).sent, ping(&record).received), (0, 0));
}

#[test]
fn datagrams_can_be_ecn_capable() {
    let record = run(&scenario("codel ecn", json!([{"kind": "cbr", "rate": "12mbit", "ecn": true}])));
    assert!(record.queues.down.packets.marked > 0, "{:?}", record.queues.down);
}

/// 60 bytes at 100 Gbit/s take 4.8 ns. Rounded down to 4 ns, they would make a link of 120 Gbit/s.
#[test]
fn a_fast_link_is_no_faster_than_its_rate() {
    let mut fast = scenario("pfifo", json!([{"kind": "cbr", "rate": "200gbit", "packet_size": 60}]));
    fast["bottleneck"]["rate"] = json!("100gbit");
    fast["duration"] = json!("1ms");
    fast["warmup"] = json!("100us");
    let record = run(&fast);
    assert!((record.queues.down.throughput_mbps - 100_000.0).abs() < 10.0, "{:?}", record.queues.down);
}

#[test]
fn goodput_bins_and_fairness_leave_out_the_time_that_a_flow_was_not_there() {
    let mut late = scenario(
        "codel",
        json!([{"kind": "bulk", "start": "15s"}, {"kind": "bulk", "name": "gone", "stop": "4s"}]),
    );
    late["duration"] = json!("40s");
    let record = run(&late);
    assert!(record.flows[0].goodput_5s_mbps.unwrap().p10 > 5.0, "{:?}", record.flows[0]);
    assert!(record.flows[1].goodput_5s_mbps.is_none(), "{:?}", record.flows[1]);
    assert_eq!(record.fairness.jain_goodput, None, "one flow shares with nobody");
}

/// An observer that asserts that time never goes back.
#[derive(Default)]
struct Clock(Instant);

impl Observer for Clock {
    fn saw(&mut self, now: Instant, _direction: Direction, event: Event, _packet: &Packet) {
        assert!(now >= self.0, "{event:?} at {now:?}, after something at {:?}", self.0);
        self.0 = now;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A run in pieces is the same run. So is an observed run, in which every transmission ends at its own time and
    /// not when the link catches up. Packets are conserved in any mix (asserted in `record`).
    #[test]
    fn pieces_make_the_same_run_and_so_does_an_observed_one(
        qdisc in prop::sample::select(vec![
            "pfifo limit 5", "bfifo", "codel", "fq_codel", "fq_codel limit 20 flows 4", "pie", "red", "ared", "sfq perturb 1",
            "fq_pie", "dualpi2", "cake bandwidth 8mbit", "tbf rate 8mbit burst 5kb child pie", "htb rate 8mbit child sfq",
        ]),
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
            {"kind": "transfer", "size": "40kB", "interval": "20ms", "count": bulk},
            {"kind": "rr", "request": "3kB", "response": "30kB", "think_mean": "10ms"},
            {"kind": "stream", "rate": "900kbit", "stop": "3s", "direction": if up { "up" } else { "down" }},
        ]));
        mixed["seed"] = json!(seed);
        mixed["duration"] = json!("4s");
        mixed["warmup"] = json!("1s");
        mixed["path"]["rtt"] = json!(format!("{rtt_ms}ms"));
        mixed["change"] = json!([{"at": "2s", "rate": "9mbit"}, {"at": "2s", "direction": "up", "rate": "12mbit"}]);
        let whole = serde_json::to_string(&run(&mixed)).unwrap();
        let mut observed = simulation(&mixed);
        observed.observe(Arc::new(Mutex::new(Clock::default())));
        observed.run();
        prop_assert_eq!(&whole, &serde_json::to_string(&observed.record()).unwrap());
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
