//! The receive side of cards: interrupt moderation, merging, and what a router's discipline sees of it.

use goodqueue_netsim::{Direction, Event, Instant, Observer, OutsideRoute, Packet, Scenario, Simulation};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn run(scenario: &Value) -> Value {
    let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    simulation.run();
    serde_json::to_value(simulation.record()).unwrap()
}

/// A transfer of 100 kB at 100 Gbit/s: the segments of a flight come within 20 us. An application that reads each at
/// once lets TCP acknowledge nearly each, as the window grows. Beside an application that reads after the poll, the
/// last flights are acknowledged at most twice each. Linux: docs/results/acks.md.
#[test]
fn an_application_that_reads_after_the_poll_has_fewer_acks() {
    let acks = |late: bool, stack: &str| {
        let mut scenario = download(&json!({"rx_usecs": 20, "reads_after_poll": late}));
        scenario.as_object_mut().unwrap().extend(
            json!({
                "duration": "1s", "warmup": "0s", "path": {"rtt": "20ms"},
                "bottleneck": {"rate": "100gbit", "qdisc": "pfifo limit 1000"},
                "linux": {"tcp_rmem": "stock"},
                "traffic": [{"kind": "transfer", "size": "100kB", "host": "alice", "stack": stack, "interval": "9s"}],
            })
            .as_object()
            .unwrap()
            .clone(),
        );
        let record = run(&scenario);
        assert_eq!(record["flows"][0]["goodput_mbps"], 0.8, "all of 100 kB in a second");
        record["queues"]["up"]["packets"]["forwarded"].as_u64().unwrap() - 3
    };
    for stack in ["linux-6.1", "linux-7.3"] {
        let (at_once, late) = (acks(false, stack), acks(true, stack));
        assert!(at_once > 60 && late < 50, "{stack}: {at_once}, {late}");
    }
}

/// One download at 1 Gbit/s to Alice, whose card is as `card`.
fn download(card: &Value) -> Value {
    let mut host = json!({"name": "alice", "small_queues": false});
    host.as_object_mut().unwrap().extend(card.as_object().unwrap().clone());
    json!({
        "duration": "2s", "warmup": "1s",
        "bottleneck": {"rate": "1gbit", "qdisc": "pfifo limit 1000"},
        "path": {"rtt": "10ms"},
        "host": [host],
        "traffic": [{"kind": "bulk", "host": "alice"}],
    })
}

/// Notes when the receiver's ACKs are offered, and when data segments arrive.
#[derive(Default)]
struct Notes {
    acks: Vec<(Instant, u32)>,
    data: Vec<Instant>,
}

impl Observer for Notes {
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        let Some(segment) = packet.segment() else { return };
        match (direction, event) {
            (Direction::Up, Event::Offered) => self.acks.push((now, segment.ack.0)),
            (Direction::Down, Event::Arrived) if segment.payload_len > 0 => self.data.push(now),
            _ => {}
        }
    }
}

/// By hand, for a transfer of ten full segments at 1 Gbit/s: a segment of 1514 bytes takes 12.112 us, and the FIN of 66
/// bytes 0.528 us. So the times of arrival are 0, 12.112, 24.224 … 96.896 (the ninth), 109.008 and 109.536 us.
///
/// Without a card, each is acknowledged when it comes, since a connection begins with quick ACKs. With `rx_usecs = 100`
/// the host takes nine segments at 100 us, and the rest 100 us after the tenth came. Each ACK covers a merged packet:
/// nine segments of a sender that pushes once (`rfc`). Linux's sender pushes at the end of each packet of two segments,
/// and a push ends a merged packet. Four packets come after 36.336 us, the next four after 48.448 + 36.336 us.
#[test]
fn acks_leave_at_the_interrupts() {
    let acks = |stack: &str, card: Value| {
        let mut scenario = download(&card);
        (scenario["duration"], scenario["warmup"]) = (json!("100ms"), json!("0s"));
        scenario["traffic"] =
            json!([{"kind": "transfer", "size": "14480B", "host": "alice", "stack": stack}]);
        let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
        let notes = Arc::new(Mutex::new(Notes::default()));
        simulation.observe(notes.clone());
        simulation.run();
        let notes = std::mem::take(&mut *notes.lock().unwrap());
        assert_eq!(notes.data.len(), 10, "an observer sees packets of the wire");
        let of_data = notes.acks.iter().filter(|(time, _)| *time >= notes.data[0]);
        let segments = |ack: u32| (ack - 1) / 1448;
        let shown =
            |(time, ack): &(Instant, u32)| (time.since(notes.data[0]).as_nanos() / 1000, segments(*ack));
        of_data.map(shown).take_while(|(_, segments)| *segments < 10).collect::<Vec<_>>()
    };
    let each = [0, 12, 24, 36, 48, 60, 72, 84, 96];
    let plain: Vec<(u64, u32)> = each.into_iter().zip(1..).collect();
    assert_eq!(acks("linux-6.1", json!({})), plain);
    let single: Vec<(u64, u32)> = (1..10).map(|number| (100, number)).collect();
    assert_eq!(acks("linux-6.1", json!({"rx_usecs": 100})), single, "taken together, but not merged");
    let merged = json!({"rx_usecs": 100, "gro": true});
    assert_eq!(acks("rfc", merged.clone()), [(100, 9)]);
    assert_eq!(acks("linux-6.1", merged), [(100, 2), (100, 4), (100, 6), (100, 8), (100, 9)]);
    let four = acks("linux-6.1", json!({"rx_usecs": 100, "rx_frames": 4, "gro": true}));
    assert_eq!(four, [(36, 2), (36, 4), (84, 6), (84, 8)]);
}

/// At 1 Gbit/s a plain receiver acknowledges every second segment: half as many packets go up as down. With 100 us
/// there are eight or nine segments per interrupt. Most have one ACK for all of them; a packet that says PSH ends a
/// merged one.
#[test]
fn a_receiver_that_merges_acknowledges_less() {
    let of = |card: Value| {
        let record = run(&download(&card));
        let packets = |way: &str| record["queues"][way]["packets"]["forwarded"].as_f64().unwrap();
        assert!(record["flows"][0]["goodput_mbps"].as_f64().unwrap() > 800.0, "{record:#}");
        (packets("down") / packets("up"), record["hosts"][0]["card"].clone())
    };
    let (plain, none) = of(json!({}));
    let (merged, card) = of(json!({"rx_usecs": 100, "gro": true}));
    assert!((1.9..2.1).contains(&plain) && none.is_null(), "{plain} {none}");
    assert!((7.3..9.5).contains(&merged), "{merged}");
    let count = |key: &str| card[key].as_f64().unwrap();
    assert!((8.0..9.5).contains(&(count("packets") / count("interrupts"))), "{card}");
    assert!((7.3 * 1514.0..9.5 * 1514.0).contains(&count("mean_bytes")), "{card}");
}

/// A card whose packets do not merge delays them, and no receiver sees anything else.
#[test]
fn moderation_alone_delays() {
    let ping_ms = |card: Value| {
        let mut scenario = download(&card);
        scenario["traffic"] = json!([{"kind": "ping", "host": "alice"}]);
        run(&scenario)["apps"][0]["rtt_ms"]["p50"].as_f64().unwrap()
    };
    let delay = ping_ms(json!({"rx_usecs": 250})) - ping_ms(json!({}));
    assert!((delay - 0.25).abs() < 0.002, "{delay}");
}

/// A download through a router, whose queue `qdisc` is fed by `card` from a link of 1 Gbit/s.
fn router(qdisc: &str, card: &Value) -> Value {
    let mut bottleneck =
        json!({"rate": "100mbit", "qdisc": qdisc, "up": {"rate": "100mbit", "qdisc": "pfifo"}});
    bottleneck.as_object_mut().unwrap().extend(card.as_object().unwrap().clone());
    run(&json!({
        "duration": "10s", "warmup": "2s",
        "bottleneck": bottleneck,
        "path": {"rtt": "20ms"},
        "hop": [{"kind": "link", "name": "lan", "rate": "1gbit", "qdisc": "pfifo", "before": "bottleneck"}],
        "traffic": [{"kind": "bulk", "cc": "reno", "ecn": true}],
    }))
}

#[test]
fn a_router_queues_merged_packets() {
    let card = json!({"rx_usecs": 200, "gro": true});
    let most_ms = |record: &Value| record["queues"]["down"]["delay_ms"]["max"].as_f64().unwrap();
    let conserved = |record: &Value| {
        let packets = |key: &str| record["queues"]["down"]["packets"][key].as_u64().unwrap();
        let came = packets("queued_at_start") + packets("offered");
        assert_eq!(came, packets("forwarded") + packets("dropped") + packets("queued_at_end"), "{record:#}");
    };
    let plain = router("pfifo limit 20", &json!({}));
    let merged = router("pfifo limit 20", &card);
    conserved(&merged);
    // 20 packets are 2.4 ms at 100 Mbit/s. Merged ones have up to 16 segments.
    assert!(most_ms(&plain) < 2.6 && most_ms(&merged) > 8.0, "{} {}", most_ms(&plain), most_ms(&merged));
    assert!(merged["queues"]["down"]["card"]["mean_bytes"].as_f64().unwrap() > 4000.0, "{merged:#}");
    // cake cuts them, unless it is told not to. A limit in bytes counts bytes.
    let cut =
        ["cake", "cake no-split-gso"].map(|line| router(line, &card)["queues"]["down"]["packets"].clone());
    assert_ne!(cut[0], cut[1]);
    for line in
        ["codel", "fq_codel", "pie", "red limit 400000 min 30000 max 90000", "tbf rate 90mbit", "fq", "sfq"]
    {
        conserved(&router(line, &card));
    }
    assert_eq!(merged, router("pfifo limit 20", &card));
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    for (change, why) in [
        (
            json!({"host": [{"rx_usecs": 100}]}),
            "host[0]: found `rx_usecs`, `gro` or `reads_after_poll` without a name; accepted: a card of a host",
        ),
        (
            json!({"host": [{"name": "alice", "rx_frames": 8}]}),
            "host[0].rx_frames: found 8 without a time; accepted: one with `rx_usecs`, at the end of which",
        ),
        (json!({"host": [{"name": "alice", "rx_usecs": 100_001}]}), "host[0].rx_usecs: found 100001"),
        (json!({"host": [{"name": "alice", "rx_usecs": 5, "rx_frames": 0}]}), "host[0].rx_frames: found 0"),
        (json!({"host": [{"name": "alice", "gro": "on"}]}), "host[0].gro: found string \"on\""),
        (
            json!({"host": [{"name": "alice", "gso": true, "tso": false}]}),
            "host[0].gso: found true beside `tso = false`; accepted: a host whose TCP makes longer packets",
        ),
        (
            json!({"bottleneck": {"rate": "1gbit", "qdisc": "pfifo", "rx_frames": 3}}),
            "bottleneck.rx_frames: found 3 without a time",
        ),
        (
            json!({"bottleneck": {"qdisc": "pfifo", "gro": true, "wifi": {"standard": "802.11n", "station": [{"rate": "mcs7"}]}}}),
            "bottleneck.gro: found one with Wi-Fi",
        ),
        (
            json!({"hop": [{"kind": "wire", "name": "w", "delay": "1ms", "gro": true}]}),
            "hop[0].gro: unknown key",
        ),
    ] {
        let mut scenario = download(&json!({}));
        scenario.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let error = Scenario::from_json(&scenario.to_string()).unwrap_err().to_string();
        assert!(error.starts_with(why) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn packets_of_real_programs_do_not_merge() {
    let scenario = download(&json!({}));
    let open = |change: Value| {
        let mut asked =
            json!({"duration": "1s", "bottleneck": scenario["bottleneck"], "path": scenario["path"]});
        asked.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        Scenario::open(&asked.to_string(), &[OutsideRoute::default()])
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let hop = json!({"kind": "link", "name": "m", "rate": "1mbit", "qdisc": "pfifo", "rx_usecs": 5});
    assert_eq!(open(json!({"hop": [hop]})), Ok(()), "they wait for interrupts");
    let merging = json!({"kind": "link", "name": "m", "rate": "1mbit", "qdisc": "pfifo", "gro": true});
    let refused = "hop[0].gro: found true; accepted: false, since packets of real programs do not merge here";
    assert_eq!(open(json!({"hop": [merging]})), Err(refused.to_string()));
}

/// A resolved scenario says what it was asked, and one without a card does not mention any.
#[test]
fn a_card_is_written_as_it_was_read() {
    let mut scenario = download(&json!({"rx_usecs": 100, "rx_frames": 9, "rate": "1gbit", "qdisc": "fq"}));
    scenario["bottleneck"]["gro"] = json!(true);
    scenario["bottleneck"]["up"] = json!({"rx_usecs": 50});
    let resolved = serde_json::to_value(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    let again = Scenario::from_json(&resolved.to_string()).unwrap();
    assert_eq!(serde_json::to_value(again).unwrap(), resolved);
    let host = &resolved["host"][0];
    assert_eq!(
        (&host["rx_usecs"], &host["rx_frames"], &host["gro"]),
        (&json!(100), &json!(9), &json!(false))
    );
    let [down, up] = [&resolved["bottleneck"], &resolved["bottleneck"]["up"]];
    assert_eq!((&down["rx_usecs"], &down["gro"]), (&json!(0), &json!(true)));
    assert_eq!(
        (&up["rx_usecs"], &up["gro"]),
        (&json!(50), &json!(true)),
        "the way up has what it leaves out"
    );
    let none = Scenario::from_json(&download(&json!({"gro": false})).to_string()).unwrap();
    assert!(!serde_json::to_string(&none).unwrap().contains("gro"));
}
