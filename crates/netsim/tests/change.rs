//! `[[change]]` during a run: the packet on the wire, the capacity over time, and disciplines that change while
//! packets wait.

use crate::common::{run, simulation};
use goodqueue_units::Duration;
use serde_json::{Value, json};

/// A stream of full frames at `load` from the start, through 10 Mbit/s for 20 s.
fn scenario(qdisc: &str, load: &str, change: Value) -> Value {
    json!({
        "duration": "20s",
        "bottleneck": {"rate": "10mbit", "qdisc": qdisc},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "cbr", "rate": load}],
        "change": change,
    })
}

/// A frame takes 1.2112 ms at 10 Mbit/s and 2.4224 ms at 5 Mbit/s. The ninth frame begins at 9.6896 ms, is on the
/// wire at the change at 10 ms and ends at 10.9008 ms. From then on each frame takes the longer time.
#[test]
fn a_packet_on_the_wire_keeps_its_time_and_the_next_takes_the_new_one() {
    let mut asked = scenario("pfifo", "20mbit", json!([{"at": "10ms", "rate": "5mbit"}]));
    asked["series"] = json!({"packets": {"from": "9ms", "to": "17ms"}});
    let packets = run(&asked).series.unwrap().packets.unwrap();
    let begun: Vec<u64> = packets.down.time_s.iter().map(|s| (s * 1e9).round() as u64).collect();
    assert_eq!(begun, [9_689_600, 10_900_800, 13_323_200, 15_745_600]);
}

/// Two frames arrive together. The first is on the wire for 1.2112 ms. cake would send the second after half of that
/// time, but nobody asks it then. A change must not let the run go back to that time, which debug assertions would
/// notice.
#[test]
fn a_shaper_whose_timer_is_overdue_is_asked_now() {
    let mut asked = scenario("cake bandwidth 20mbit", "5mbit", json!([{"at": "1ms", "rate": "5mbit"}]));
    asked["traffic"][0]["count"] = json!(2);
    asked["series"] = json!({"packets": {"from": "0s", "to": "6.5ms"}});
    let packets = run(&asked).series.unwrap().packets.unwrap();
    let begun: Vec<u64> = packets.down.time_s.iter().map(|s| (s * 1e9).round() as u64).collect();
    assert_eq!(begun, [0, 1_211_200, 3_633_600, 6_056_000]);
}

/// 4 Mbit/s through 10 Mbit/s for 10 s and 5 Mbit/s for 10 s use 8 of 15 parts of the capacity. The wire was occupied
/// for 40 % and 80 % of the time, which is 60 % on average. The capacity of the warm-up does not count, and the
/// capacity of the other direction does not change.
#[test]
fn utilisation_is_of_the_capacity_that_there_was() {
    let mut asked = scenario("pfifo", "4mbit", json!([{"at": "10s", "rate": "5mbit"}]));
    let used = |asked: &Value| run(asked).queues.down.utilisation_percent;
    assert!((used(&asked) - 800.0 / 15.0).abs() < 0.05, "{}", used(&asked));
    asked["warmup"] = json!("5s");
    // 5 s at 10 Mbit/s and 10 s at 5 Mbit/s: 15 s of 4 Mbit/s use 60 of 100 Mbit.
    assert!((used(&asked) - 60.0).abs() < 0.05, "{}", used(&asked));
    asked["warmup"] = json!("12s");
    assert!((used(&asked) - 80.0).abs() < 0.05, "{}", used(&asked));
    asked["change"] = json!([{"at": "10s", "direction": "up", "rate": "5mbit"}]);
    assert!((used(&asked) - 40.0).abs() < 0.05, "{}", used(&asked));
    // Half of the packets are dropped, so the link is full at either rate, to the packet.
    let full = scenario(
        "pfifo limit 10",
        "20mbit",
        json!([{"at": "5s", "rate": "1mbit"}, {"at": "15s", "rate": "7mbit"}]),
    );
    let down = run(&full).queues.down;
    assert!((down.utilisation_percent - 100.0).abs() < 0.01, "{}", down.utilisation_percent);
    assert!((down.throughput_mbps - (50.0 + 10.0 + 35.0) / 20.0).abs() < 0.01, "{}", down.throughput_mbps);
}

#[test]
fn a_limit_that_shrinks_drops_what_waits_at_once() {
    let line = "codel target 1s limit 100";
    let mut asked = scenario(line, "20mbit", json!([{"at": "10s", "qdisc": "codel limit 10"}]));
    asked["series"] = json!({"interval": "1s"});
    let record = run(&asked);
    let backlog = &record.series.unwrap().queues.down.backlog_packets;
    assert_eq!(
        (backlog[8], backlog[9], backlog[10]),
        (100, 100, 10),
        "the interval that ends then sees what was before"
    );
    assert_eq!(record.queues.down.packets.queued_at_end, 10);
}

/// A frame takes 12.112 ms at 1 Mbit/s and 6.056 ms at 2 Mbit/s, and the class has tokens for one frame. In Linux a
/// change of a class neither sends anything nor moves the watchdog: the frame that is due at 36.336 ms leaves then,
/// and only the next ones come faster.
#[test]
fn a_class_of_a_tree_changes_as_in_linux() {
    let tree = "tc qdisc add dev eth0 root handle 1: htb default 10; \
        tc class add dev eth0 parent 1: classid 1:10 htb rate 1mbit burst 1514b cburst 1514b";
    let change = "tc class change dev eth0 classid 1:10 htb rate 2mbit burst 1514b cburst 1514b";
    let mut asked = scenario(tree, "5mbit", json!([{"at": "30ms", "qdisc": change}]));
    asked["series"] = json!({"packets": {"from": "0s", "to": "60ms"}});
    let record = run(&asked);
    let packets = record.series.unwrap().packets.unwrap();
    let begun: Vec<f64> = packets.down.time_s.iter().map(|s| (s * 1e5).round() / 100.0).collect();
    assert_eq!(begun[1..7], [2.42, 12.11, 24.22, 36.34, 42.39, 48.45]);
    let wrong = json!([{"at": "30ms", "qdisc": "tc class change dev eth0 classid 1:30 htb rate 2mbit"}]);
    let error =
        goodqueue_netsim::Scenario::from_json(&scenario(tree, "5mbit", wrong).to_string()).unwrap_err();
    let told = "found class 1:30; accepted: a class of the tree (Linux: \"No such file or directory\")";
    assert_eq!(error.to_string(), format!("change[0].qdisc: tc line 1: {told}"));
}

/// The shaper's timer was set for the old rate. If the shaper were asked only then, the link would be idle for
/// seconds.
#[test]
fn a_shaper_that_becomes_faster_sends_at_once() {
    for (slow, fast) in [
        ("cake bandwidth 20kbit", "cake bandwidth 8mbit"),
        ("tbf rate 20kbit burst 1514", "tbf rate 8mbit"),
        ("htb rate 20kbit burst 1b cburst 1b child pfifo", "htb rate 8mbit"),
    ] {
        let record = run(&scenario(slow, "12mbit", json!([{"at": "10s", "qdisc": fast}])));
        let mbps = record.queues.down.throughput_mbps;
        assert!((3.7..4.1).contains(&mbps), "{slow}: 8 Mbit/s in half of the time: {mbps}");
    }
}

/// The transient of the papers: when the rate falls to a tenth, CoDel's queue is long for a while and returns to its
/// target in the end. A FIFO's queue stays ten times as long.
#[test]
fn codel_recovers_from_a_falling_rate() {
    let mut asked = scenario("codel", "1mbit", json!([{"at": "10s", "rate": "1mbit"}]));
    asked["traffic"] = json!([{"kind": "bulk"}]);
    asked["duration"] = json!("40s");
    asked["series"] = json!({"interval": "1s"});
    let delays = |asked: &Value| -> Vec<f64> {
        let series = run(asked).series.unwrap().queues.down;
        series.delay_ms.iter().map(|delay| delay.unwrap_or(0.0)).collect()
    };
    let codel = delays(&asked);
    assert!(codel[8] < 20.0 && codel[10] > 100.0 && codel[35] < 60.0, "{codel:?}");
    asked["bottleneck"]["qdisc"] = json!("pfifo limit 100");
    let pfifo = delays(&asked);
    assert!(pfifo[35] > 600.0, "{pfifo:?}");
}

#[test]
fn a_run_cut_at_a_change_is_the_same_run() {
    let changes = json!([{"at": "3s", "rate": "2mbit"}, {"at": "3s", "qdisc": "fq_codel limit 20"},
                         {"at": "8s", "direction": "up", "rate": "50kbit"}, {"at": "9s", "rate": "30mbit"}]);
    let mut asked = scenario("fq_codel", "1mbit", changes);
    asked["traffic"] = json!([{"kind": "bulk", "count": 3}, {"kind": "ping"}]);
    let whole = serde_json::to_string(&run(&asked)).unwrap();
    let mut cut = simulation(&asked);
    for s in [2.9, 3.0, 3.0, 8.5, 9.0, 20.0] {
        cut.advance(Duration::from_secs_f64(s));
    }
    assert_eq!(serde_json::to_string(&cut.record()).unwrap(), whole);
}

/// Otherwise the record's line would leave the shaper's rate as it was, in this run and in a run of the record.
#[test]
fn what_a_change_takes_back_is_gone_in_the_run_and_in_one_of_its_record() {
    let asked = scenario("cake bandwidth 2mbit", "8mbit", json!([{"at": "10s", "qdisc": "cake unlimited"}]));
    let record = run(&asked);
    assert!(record.queues.down.throughput_mbps > 4.9, "{}", record.queues.down.throughput_mbps);
    let again = run(&serde_json::to_value(&record.scenario).unwrap());
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&record).unwrap());
}

/// Returns the samples of a ping's RTT in ms, in the order of the pings.
fn echoes(asked: &Value) -> Vec<f64> {
    let series = run(asked).series.unwrap();
    series.flows[0].rtt_ms.as_ref().unwrap().iter().map(|rtt| rtt.unwrap_or(0.0)).collect()
}

/// One ping every 100 ms, which meets nobody, with `change`.
fn pings(change: Value) -> Value {
    let mut asked = scenario("pfifo", "1mbit", change);
    asked["traffic"] = json!([{"kind": "ping", "interval": "100ms"}]);
    asked["bottleneck"]["rate"] = json!("10gbit");
    asked["duration"] = json!("3s");
    asked["series"] = json!({"interval": "100ms"});
    asked
}

/// The RTT of 40 ms becomes 90 ms, then 10 ms. A ping that crosses the change has one half of each: a packet on its way
/// keeps its delay.
#[test]
fn a_base_rtt_changes_for_packets_from_then_on() {
    let change = json!([{"at": "990ms", "rtt": "90ms"}, {"at": "2030ms", "rtt": "10ms"}]);
    let found = echoes(&pings(change));
    let near = |from: usize, to: usize, ms: f64| {
        found[from..to].iter().all(|rtt| (rtt - ms).abs() < 0.1) || panic!("{ms}: {found:?}")
    };
    assert!(near(1, 10, 40.0) && near(11, 20, 90.0) && near(21, 30, 10.0));
    // The ping of 2.0 s went 45 ms, arrived at 2.045 s, and its echo went 5 ms.
    assert!(near(20, 21, 50.0));
}

/// A stream whose path becomes shorter by 100 ms has no packet that overtakes another, so TCP sees no duplicate ACK. A
/// wire whose jitter may reorder lets them overtake, as netem does.
#[test]
fn packets_behind_a_shorter_delay_wait_unless_the_wire_reorders() {
    let run_with = |rtt: &str, hop: Value, change: Value| {
        let mut asked = scenario("pfifo limit 10000", "1mbit", json!([change])); // so large that nothing is dropped
        (asked["path"]["rtt"], asked["duration"]) = (json!(rtt), json!("8s"));
        asked["traffic"] = json!([{"kind": "bulk"}]);
        if !hop.is_null() {
            asked["hop"] = json!([hop]);
        }
        run(&asked).flows[0].retransmitted
    };
    assert_eq!(run_with("240ms", json!(null), json!({"at": "4s", "rtt": "40ms"})), Some(0));
    let wire = |reorders: bool| json!({"name": "sky", "kind": "wire", "delay": "200ms", "jitter_reorders": reorders});
    let shorter = json!({"at": "4s", "hop": "sky", "delay": "0s"});
    assert_eq!(run_with("40ms", wire(false), shorter.clone()), Some(0));
    assert!(run_with("40ms", wire(true), shorter) > Some(0));
}

/// Flows with an RTT of their own change by as much as the path: the ping of 60 ms has 110 ms in the end. A change at
/// the start is the same as the value from the start, but for its place in the scenario.
#[test]
fn a_change_at_the_start_is_the_same_path() {
    let mut changed = pings(json!([{"at": "0s", "rtt": "90ms"}]));
    changed["traffic"] =
        json!([{"kind": "bulk", "rtt": "60ms"}, {"kind": "ping"}, {"kind": "bulk", "direction": "up"}]);
    changed["bottleneck"]["rate"] = json!("10mbit");
    let mut plain = changed.clone();
    (plain["change"], plain["path"]["rtt"]) = (json!([]), json!("90ms"));
    plain["traffic"][0]["rtt"] = json!("110ms");
    let [changed, plain] = [changed, plain].map(|asked| {
        let mut record = serde_json::to_value(run(&asked)).unwrap();
        record["scenario"] = json!(null);
        record
    });
    assert_eq!(changed, plain);
}

/// The delay of a wire with jitter lies within its bounds before and after, and a cut run is the same.
#[test]
fn jitter_and_delay_of_a_wire_change() {
    let mut asked = pings(
        json!([{"at": "1s", "hop": "air", "jitter": "20ms"}, {"at": "2s", "hop": "air", "delay": "5ms", "jitter": "0s"}]),
    );
    asked["hop"] = json!([{"name": "air", "kind": "wire", "delay": "30ms"}]);
    let found = echoes(&asked);
    assert!(found[1..10].iter().all(|rtt| (rtt - 70.0).abs() < 0.1), "{found:?}");
    assert!(found[11..20].iter().all(|rtt| (50.0..90.0).contains(rtt)), "{found:?}");
    assert!(found[11..20].iter().any(|rtt| (rtt - 70.0).abs() > 1.0), "{found:?}");
    assert!(found[21..30].iter().all(|rtt| (rtt - 45.0).abs() < 0.1), "{found:?}");
    let whole = serde_json::to_string(&run(&asked)).unwrap();
    let mut cut = simulation(&asked);
    [0.99, 1.0, 2.0, 2.02].into_iter().for_each(|s| cut.advance(Duration::from_secs_f64(s)));
    cut.run();
    assert_eq!(serde_json::to_string(&cut.record()).unwrap(), whole);
}
