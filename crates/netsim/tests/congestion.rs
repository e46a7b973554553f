//! Every congestion control on a link of its own, and the L4S ones beside a classic one.
//!
//! `cargo test -p goodqueue-netsim --test all congestion -- --nocapture` prints the measurements.
#![allow(clippy::print_stdout)] // the measurements

use goodqueue_netsim::{Record, Scenario, Simulation};
use goodqueue_tcp::Cc;
use serde_json::{Value, json};

fn run(rate: &str, rtt: &str, qdisc: &str, seconds: u32, traffic: &Value) -> Record {
    let scenario = json!({
        "duration": format!("{seconds}s"),
        "warmup": format!("{}s", seconds / 3),
        "bottleneck": {"rate": rate, "qdisc": qdisc, "up": {"qdisc": "pfifo limit 1000"}},
        "path": {"rtt": rtt},
        "traffic": traffic,
    });
    let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    simulation.run();
    simulation.record()
}

/// 41 full frames are the product of 10 Mbit/s and 50 ms. With such a buffer, half of a full pipe plus buffer still
/// fills the pipe. So a sender that halves its window keeps the link busy, and senders with a delay target must do
/// so, too.
#[test]
fn everyone_fills_a_link_whose_buffer_is_its_bandwidth_delay_product() {
    for cc in Cc::ALL {
        // A constant window fills the link if it is as large as the pipe.
        let line = if *cc == Cc::Fixed { "none cwnd 45" } else { cc.name() };
        let record = run("10mbit", "50ms", "pfifo limit 41", 60, &json!([{"kind": "bulk", "cc": line}]));
        let (queue, flow) = (&record.queues.down, &record.flows[0]);
        let delay = queue.delay_ms.unwrap();
        println!(
            "{line:12} {:6.2} % {:6.2} ms {:3} dropped",
            queue.utilisation_percent, delay.mean, queue.packets.dropped
        );
        assert!(queue.utilisation_percent > 85.0, "{line}: {queue:?}");
        assert_eq!(flow.timeouts, Some(0), "{line}");
    }
}

/// Vegas keeps two to four segments in the queue. At 10 Mbit/s each takes 1.2 ms.
#[test]
fn vegas_keeps_a_few_segments_in_the_queue_and_drops_none() {
    let record = run("10mbit", "50ms", "pfifo limit 41", 60, &json!([{"kind": "bulk", "cc": "vegas"}]));
    let delay = record.queues.down.delay_ms.unwrap().mean;
    assert!((1.2..6.0).contains(&delay), "{delay} ms");
    assert_eq!(record.queues.down.packets.dropped, 0);
}

/// Alone and with a large buffer, LEDBAT holds its target of 100 ms of queue and loses nothing (RFC 6817). Beside a
/// loss-based flow it gives way (RFC 6817, section 1).
#[test]
fn ledbat_holds_its_target_alone_and_gives_way_to_cubic() {
    for (cc, target) in [("ledbat", 100.0), ("ledbat++", 60.0)] {
        let alone = run("10mbit", "50ms", "pfifo limit 1000", 120, &json!([{"kind": "bulk", "cc": cc}]));
        let delay = alone.queues.down.delay_ms.unwrap();
        let beside = json!([{"kind": "bulk", "cc": cc}, {"kind": "bulk", "cc": "cubic", "start": "20s"}]);
        let both = run("10mbit", "50ms", "pfifo limit 250", 120, &beside);
        let share = both.flows[0].goodput_mbps / both.flows[1].goodput_mbps;
        println!(
            "{cc:9} alone p50 {:.1} ms, p99 {:.1} ms; beside cubic 1 : {:.1}",
            delay.p50,
            delay.p99,
            1.0 / share
        );
        assert!((0.8 * target..1.1 * target).contains(&delay.p50), "{cc}: {delay:?}");
        assert_eq!(alone.queues.down.packets.dropped, 0, "{cc}");
        assert!(share < 0.2, "{cc}: {share}");
    }
}

/// RFC 9332, section 1: the L queue waits less than a millisecond on average and 1 to 2 ms at the 99th percentile, at
/// full utilisation. At 40 Mbit/s a full frame takes 0.3 ms, well below these delays.
#[test]
fn scalable_senders_alone_wait_about_a_millisecond_in_dualpi2() {
    for (cc, qdisc) in
        [("dctcp", "dualpi2 any_ect"), ("prague", "dualpi2"), ("prague", "dualpi2 variant rfc9332")]
    {
        let record = run("40mbit", "20ms", qdisc, 60, &json!([{"kind": "bulk", "cc": cc}]));
        let (queue, delay) = (&record.queues.down, record.queues.down.delay_ms.unwrap());
        println!(
            "{cc:7} {qdisc:24} {:5.1} % mean {:.2} ms p99 {:.2} ms",
            queue.utilisation_percent, delay.mean, delay.p99
        );
        assert!(delay.mean < 1.0 && delay.p99 < 2.0, "{cc} in {qdisc}: {delay:?}");
        assert!(queue.utilisation_percent > 95.0 && queue.packets.dropped == 0, "{cc} in {qdisc}: {queue:?}");
    }
}

/// RFC 9332, sections 2.1 and 2.5: the coupling gives flows of both kinds roughly equal rates. For DCTCP "roughly" is
/// within a factor of two: k = 2 stands for 1.4 to 1.9 in appendix C. Also the classic flow's RTT is longer by the
/// target of 15 ms, which matters for a sender whose rate depends on the RTT. Prague's share is larger: the L4S team
/// measured 2.2 and 2.7 times CUBIC's rate at 100 Mbit/s and 20 ms, and 1.8 to 2.6 beside a little UDP
/// (studies/l4steam2020).
#[test]
fn scalable_senders_and_cubic_share_dualpi2_as_measured_and_l4s_waits_little() {
    for (cc, rate, qdisc, ratios) in [
        ("dctcp", "40mbit", "dualpi2 any_ect", 0.5..2.0),
        ("prague", "100mbit", "dualpi2", 1.8..2.8),
        ("prague", "100mbit", "dualpi2 variant rfc9332", 1.8..3.0),
    ] {
        let traffic = json!([
            {"kind": "bulk", "name": "l4s", "cc": cc},
            {"kind": "bulk", "name": "classic", "cc": "cubic", "start": "1s"},
        ]);
        let record = run(rate, "20ms", qdisc, 120, &traffic);
        let (l4s, classic) = (&record.flows[0], &record.flows[1]);
        let ratio = l4s.goodput_mbps / classic.goodput_mbps;
        let waits = [l4s, classic].map(|flow| flow.rtt_ms.unwrap().mean - 20.0);
        println!(
            "{cc:7} {qdisc:24} {:.2} and {:.2} Mbit/s, RTT + {:.2} and + {:.2} ms",
            l4s.goodput_mbps, classic.goodput_mbps, waits[0], waits[1]
        );
        assert!(ratios.contains(&ratio), "{cc} in {qdisc}: {ratio}");
        // Queueing in both directions, with the transmission of 0.3 ms and that of the ACKs.
        assert!(waits[0] < 2.0, "{cc} in {qdisc}: {:?}", l4s.rtt_ms);
        assert!(l4s.loss_percent.unwrap() < 0.01, "{cc} in {qdisc}: {:?}", l4s.loss_percent);
    }
}

/// RFC 8511: with a shallow target, half of the window leaves the link idle for a while. A smaller reduction at marks
/// uses more of the link.
#[test]
fn abe_uses_more_of_a_link_with_a_shallow_queue() {
    let used = |cc: &str| {
        let traffic = json!([{"kind": "bulk", "cc": cc, "ecn": true}]);
        run("10mbit", "100ms", "codel ecn", 120, &traffic).queues.down.utilisation_percent
    };
    for (plain, abe) in [("reno", "reno abe"), ("cubic", "cubic abe")] {
        println!("{plain} {:.2} %, with abe {:.2} %", used(plain), used(abe));
        assert!(used(abe) > used(plain), "{plain}");
    }
}

/// RFC 9406: the rising delay ends slow start early, so the first overshoot drops fewer packets than plain slow
/// start.
#[test]
fn hystart_plus_plus_drops_less_in_the_first_slow_start() {
    let drops = |cc: &str| {
        let traffic = json!([{"kind": "bulk", "cc": cc}]);
        let mut scenario = json!({
            "duration": "5s", "bottleneck": {"rate": "50mbit", "qdisc": "pfifo limit 400"},
            "path": {"rtt": "50ms"}, "traffic": traffic,
        });
        scenario["seed"] = json!(1);
        let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
        simulation.run();
        simulation.record().queues.down.packets.dropped
    };
    println!("reno {} and with hystart++ {} dropped", drops("reno"), drops("reno hystart++"));
    assert!(drops("reno hystart++") < drops("reno") / 2);
}

/// In a full frame 1448 of 1514 bytes are payload. With an `mss` of 448 it is 448 of 514 bytes. A path with an MTU of
/// 500 bytes allows no larger segments, whatever the flow asks for.
#[test]
fn a_flow_may_have_segments_of_its_own_size_within_the_paths() {
    let goodput =
        |traffic: &Value| run("10mbit", "50ms", "pfifo limit 200", 30, traffic).flows[0].goodput_mbps;
    let small = goodput(&json!([{"kind": "bulk", "cc": "reno", "mss": 448}]));
    assert!((small / (10.0 * 448.0 / 514.0) - 1.0).abs() < 0.005, "{small}");
    let full = goodput(&json!([{"kind": "bulk", "cc": "reno"}]));
    assert!((full / (10.0 * 1448.0 / 1514.0) - 1.0).abs() < 0.005, "{full}");

    let narrow = |traffic: Value| {
        let scenario = json!({
            "duration": "10s",
            "bottleneck": {"rate": "10mbit", "qdisc": "pfifo limit 200"},
            "path": {"rtt": "50ms", "mtu": 500},
            "traffic": traffic,
        });
        let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
        simulation.run();
        simulation.record().flows[0].goodput_mbps
    };
    let asked = narrow(json!([{"kind": "bulk", "mss": 1448}]));
    assert_eq!(asked.to_bits(), narrow(json!([{"kind": "bulk"}])).to_bits());
}

/// AccECN's option takes 12 bytes of each segment of `linux-7.3`: ACKs take 78 in place of 66 bytes of the way up.
/// Linux 7.3 itself (`--engine kernel --kernel 7.3`, seeds 1 and 2, 30 s): 216 and 216 packets marked, 2.64 and 2.63 %,
/// a mean delay of 12.08 and 11.96 ms, and 2.98 and 2.98 % of the way up. Guards against an option that no ACK has.
#[test]
fn the_accecn_option_makes_acks_longer_and_marks_as_many() {
    let of = |stack: &str| {
        let traffic = json!([{"kind": "bulk", "count": 3, "ecn": "accecn", "stack": stack}]);
        let queues = run("4mbit", "40ms", "codel ecn", 30, &traffic).queues;
        let (down, up) = (queues.down, queues.up);
        let delay = down.delay_ms.unwrap().mean;
        println!(
            "{stack}: {} marked, {:.2} %, {delay:.2} ms, {:.2} % of the way up",
            down.packets.marked, down.mark_percent, up.utilisation_percent
        );
        (up.utilisation_percent, down.mark_percent, delay)
    };
    let ((plain, ..), (longer, marked, delay)) = (of("linux-6.1"), of("linux-7.3"));
    assert!((1.16..1.22).contains(&(longer / plain)), "{longer} and {plain}");
    assert!((2.3..3.0).contains(&marked) && (11.0..13.0).contains(&delay), "{marked} %, {delay} ms");
}
