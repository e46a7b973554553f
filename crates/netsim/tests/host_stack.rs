//! `[[host]]`: the queue of a host's interface, and TCP's small queues.

use goodqueue_netsim::{Direction, Event, Instant, Observer, Packet, Scenario, Simulation};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

fn run(scenario: &Value) -> Value {
    let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
    simulation.run();
    serde_json::to_value(simulation.record()).unwrap()
}

/// One upload through a router's own uplink of 10 Mbit/s, which has `hosts`.
fn upload(stack: &str, hosts: &Value) -> Value {
    json!({
        "duration": "20s", "warmup": "5s",
        "bottleneck": {"rate": "100mbit", "qdisc": "pfifo", "up": {"rate": "10mbit", "qdisc": "pfifo limit 1000"}},
        "path": {"rtt": "40ms"},
        "host": hosts,
        "traffic": [{"kind": "bulk", "direction": "up", "stack": stack, "host": "alice"}],
    })
}

fn median_ms(queue: &Value) -> f64 {
    queue["delay_ms"]["p50"].as_f64().unwrap()
}

/// Without small queues a thousand packets wait (1.2 s at 10 Mbit/s). 128 kB of memory are 31 packets without
/// segmentation offload, 37.5 ms. Since 3.19 a millisecond's share and two packets fit: that is at most four segments.
#[test]
fn a_sender_has_in_its_own_queue_what_its_release_allows() {
    let delay = |stack: &str, hosts: Value| {
        let record = run(&upload(stack, &hosts));
        let goodput = record["flows"][0]["goodput_mbps"].as_f64().unwrap();
        assert!(goodput > 9.0, "{stack}: {goodput}");
        median_ms(&record["queues"]["up"])
    };
    let ideal = delay("linux-6.1", json!([]));
    let off = delay("linux-6.1", json!([{"name": "alice", "small_queues": false}, {}]));
    let rfc = delay("rfc", json!([{}]));
    assert!(ideal > 300.0 && off > 300.0 && rfc > 300.0, "{ideal} {off} {rfc}");
    let old =
        ["linux-3.10", "linux-3.14"].map(|stack| delay(stack, json!([{"name": "alice", "tso": false}])));
    let modern = delay("linux-6.1", json!([{}]));
    let patient = delay("linux-6.1", json!([{"name": "alice", "pacing_shift": 7}]));
    assert!(old.iter().all(|delay| (35.0..39.0).contains(delay)), "{old:?}");
    assert!((1.2..5.0).contains(&modern) && (2.0 * modern..20.0).contains(&patient), "{modern} {patient}");
}

/// Notes when data segments arrive.
#[derive(Default)]
struct Arrivals(Vec<Instant>);

impl Observer for Arrivals {
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        let has_data = packet.segment().is_some_and(|segment| segment.payload_len > 0);
        if direction == Direction::Up && event == Event::Arrived && has_data {
            self.0.push(now);
        }
    }
}

/// HTB at 10 Mbit/s on an interface of 100 Gbit/s: TCP hands down pairs, which leave as one packet, so every second
/// frame follows the one before it at the interface's rate (0.12 us). Without `gso` HTB paces each frame.
#[test]
fn the_frames_of_a_packet_leave_together_behind_the_discipline() {
    let together_percent = |gso: bool| {
        let mut scenario = upload("linux-7.3", &json!([{"name": "alice", "gso": gso}]));
        scenario["bottleneck"]["up"] = json!({"rate": "100gbit", "qdisc": "htb rate 10mbit"});
        let mut simulation = Simulation::new(Scenario::from_json(&scenario.to_string()).unwrap()).unwrap();
        let arrivals = Arc::new(Mutex::new(Arrivals::default()));
        simulation.observe(arrivals.clone());
        simulation.run();
        let times = std::mem::take(&mut arrivals.lock().unwrap().0);
        let close = times.windows(2).filter(|pair| pair[1].since(pair[0]).as_nanos() < 1000);
        100 * close.count() / times.len()
    };
    let (alone, together) = (together_percent(false), together_percent(true));
    assert!(alone < 5 && (40..70).contains(&together), "{alone} {together}");
}

/// A packet of two segments that the discipline refuses as a whole was not sent: nothing is lost, nor sent again.
#[test]
fn a_packet_that_is_refused_whole_was_not_sent() {
    let hosts = json!([{"name": "alice", "rate": "10mbit", "qdisc": "pfifo limit 3", "gso": true}]);
    let mut scenario = upload("linux-6.1", &hosts);
    scenario["bottleneck"]["up"]["rate"] = json!("50mbit");
    scenario["traffic"][0]["count"] = json!(8);
    let record = run(&scenario);
    let flows = record["flows"].as_array().unwrap();
    let goodput: f64 = flows.iter().map(|flow| flow["goodput_mbps"].as_f64().unwrap()).sum();
    let drops = record["hops"][0]["packets"]["dropped"].as_u64();
    assert!(goodput > 9.4 && drops.is_some_and(|drops| drops > 50), "{goodput} {drops:?}");
    assert!(flows.iter().all(|flow| flow["retransmitted"] == 0));
}

/// `fq` paces all TCP of its own host, so a ping passes the upload's packets whose time has not come. Without pacing
/// both wait in one FIFO, the fast path. A stack before departure times is not paced. Guards against pacing that waits
/// in TCP, as `pacing = true` does: then the ping waits as long as without.
#[test]
fn fq_paces_the_tcp_of_its_own_host_and_a_ping_passes_it() {
    let of = |stack: &str, qdisc: &str| {
        let hosts = json!([{"name": "alice", "rate": "5mbit", "qdisc": qdisc}]);
        let mut scenario = upload(stack, &hosts);
        let ping = json!({"kind": "ping", "direction": "up", "host": "alice"});
        scenario["traffic"].as_array_mut().unwrap().push(ping);
        let record = run(&scenario);
        let goodput = record["flows"][0]["goodput_mbps"].as_f64().unwrap();
        assert!(goodput > 4.7, "{stack}, {qdisc}: {goodput}");
        record["apps"][0]["rtt_ms"]["mean"].as_f64().unwrap()
    };
    let (paced, unpaced) = (of("linux-6.1", "fq"), of("linux-6.1", "fq nopacing"));
    assert!(unpaced > paced + 1.0, "{unpaced} without pacing, and {paced} with");
    for stack in ["linux-3.14", "rfc"] {
        assert!((of(stack, "fq") - of(stack, "fq nopacing")).abs() < 1e-9, "{stack} has no departure times");
    }
    let below = of("linux-6.1", "tbf rate 100mbit burst 10kb child fq");
    assert!(unpaced > below + 1.0, "below a shaper, too: {below}, and {unpaced} without pacing");
}

/// As on Linux, a connection has departure times if `fq` paced when it sent its first packet. A change to `nopacing`,
/// or back, is one for connections that begin later. Guards against a change that nobody follows, or that all follow.
#[test]
fn a_change_of_pacing_is_for_connections_that_begin_later() {
    let of = |first: &str, then: Option<&str>, traffic: Value| {
        let hosts = json!([{"name": "alice", "rate": "5mbit", "qdisc": first}]);
        let mut scenario = upload("linux-6.1", &hosts);
        let ping = json!({"kind": "ping", "direction": "up", "host": "alice"});
        scenario["traffic"] = json!([traffic, ping]);
        if let Some(line) = then {
            scenario["change"] = json!([{"at": "2s", "hop": "host alice", "qdisc": line}]);
        }
        run(&scenario)["apps"].as_array().unwrap().last().unwrap()["rtt_ms"]["mean"].as_f64().unwrap()
    };
    let bulk = |start: &str| json!({"kind": "bulk", "direction": "up", "host": "alice", "start": start});
    let transfers =
        json!({"kind": "transfer", "direction": "up", "host": "alice", "size": "1MB", "interval": "1ms"});
    let (paced, unpaced) = ("fq pacing", "fq nopacing");
    for (from, to) in [(paced, unpaced), (unpaced, paced)] {
        let old = of(from, Some(to), bulk("1s"));
        assert!(
            (old - of(from, None, bulk("1s"))).abs() < 0.2,
            "{from}, {to}: a connection of before has {old}"
        );
        for traffic in [bulk("3s"), transfers.clone()] {
            let new = of(from, Some(to), traffic.clone());
            let (was, is) = (of(from, None, traffic.clone()), of(to, None, traffic));
            assert!((new - is).abs() < 0.2 && (was - is).abs() > 0.5, "{from}, {to}: {was}, {is}, and {new}");
        }
    }
}

/// The interface's queue is where a fast sender behind a slow port waits, and nowhere else.
#[test]
fn the_interface_of_a_host_is_a_queue_of_its_own() {
    let mut scenario = upload(
        "linux-6.1",
        &json!([
            {"name": "alice", "rate": "8mbit", "qdisc": "fq_codel", "ring": 4},
            {"name": "bob", "rate": "20mbit", "qdisc": "pfifo limit 20", "small_queues": false},
            {"name": "cdn", "role": "server", "rate": "50mbit", "qdisc": "fq nopacing"},
        ]),
    );
    scenario["traffic"].as_array_mut().unwrap().extend([
        json!({"kind": "bulk", "name": "other", "direction": "up", "host": "bob"}),
        json!({"kind": "transfer", "size": "100kB", "interval": "300ms", "server": "cdn", "name": "get"}),
        json!({"kind": "cbr", "rate": "30mbit", "direction": "up", "host": "bob", "name": "flood", "stop": "10s"}),
    ]);
    let record = run(&scenario);
    let hops = record["hops"].as_array().unwrap();
    let names: Vec<&str> = hops.iter().map(|hop| hop["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["server cdn", "host alice", "host bob"]);
    assert_eq!(hops[1]["direction"], "up");
    let packets = |hop: &Value, key: &str| hop["packets"][key].as_u64().unwrap();
    assert!(packets(&hops[2], "dropped") > 0, "{record:#}");
    for hop in hops {
        let [queued, held, offered] =
            ["queued_at_start", "offered", "copies"].map(|key| hop["packets"][key].as_u64().unwrap_or(0));
        let out = packets(hop, "forwarded") + packets(hop, "dropped") + packets(hop, "queued_at_end");
        assert_eq!(queued + held + offered, out, "{hop:#}");
    }
    // Alice has a millisecond at the rate of her port, of which the ring holds four packets.
    assert!(
        median_ms(&hops[1]) < 10.0 && record["flows"][0]["goodput_mbps"].as_f64().unwrap() > 1.0,
        "{record:#}"
    );
    let again = Scenario::from_json(&record["scenario"].to_string()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), record["scenario"]);
}

/// A ring of 100 packets hides 121 ms from the discipline. Byte queue limits leave it a few packets.
#[test]
fn byte_queue_limits_shorten_a_ring() {
    let ring_ms = |bql: Option<&str>| {
        let mut scenario = upload("linux-6.1", &json!([]));
        scenario["bottleneck"]["up"]["ring"] = json!(100);
        if let Some(bql) = bql {
            scenario["bottleneck"]["up"]["bql"] = json!(bql);
        }
        let record = run(&scenario);
        assert!(record["flows"][0]["goodput_mbps"].as_f64().unwrap() > 9.0, "{record:#}");
        median_ms(&record["queues"]["up"]["ring"])
    };
    let [whole, dynamic, one] = [None, Some("dynamic"), Some("1514B")].map(ring_ms);
    assert!(whole > 110.0 && (1.0..4.0).contains(&dynamic) && one < 1.3, "{whole} {dynamic} {one}");
    let refused =
        upload("linux-6.1", &json!([{"name": "alice", "rate": "1gbit", "qdisc": "fq", "bql": "dynamic"}]));
    let error = Scenario::from_json(&refused.to_string()).unwrap_err().to_string();
    assert_eq!(error, "host[0].bql: found no ring; accepted: limits of a ring");
}

/// A connection whose packets the host's own discipline drops would wait for ever if a drop freed nothing.
#[test]
fn a_drop_frees_memory_too() {
    let record = run(&upload(
        "linux-6.1",
        &json!([
            {"name": "alice", "rate": "5mbit", "qdisc": "pfifo limit 2", "pacing_shift": 5},
        ]),
    ));
    let goodput = record["flows"][0]["goodput_mbps"].as_f64().unwrap();
    assert!(goodput > 3.0, "{record:#}");
    assert!(record["hops"][0]["packets"]["dropped"].as_u64().unwrap() > 10);
}

/// Linux takes a segment for unsent that its own discipline refuses, so nothing is lost. RED says of its drop that the
/// segment may be on its way: the window falls at once, but the loss must be repaired. An RFC's TCP hears nothing.
#[test]
fn a_linux_sender_hears_of_drops_in_its_own_host() {
    let lost_and_dropped = |stack: &str, qdisc: &str| {
        let host = json!([{"name": "alice", "rate": "5mbit", "qdisc": qdisc, "small_queues": false}]);
        let record = run(&upload(stack, &host));
        let flow = &record["flows"][0];
        assert!(flow["goodput_mbps"].as_f64().unwrap() > 4.2, "{stack} {qdisc} {record:#}");
        let dropped = record["hops"][0]["packets"]["dropped"].as_u64().unwrap();
        (flow["retransmitted"].as_u64().unwrap(), dropped)
    };
    let (lost, dropped) = lost_and_dropped("linux-6.1", "pfifo limit 30");
    assert!(lost == 0 && dropped > 5, "{lost} {dropped}");
    for (stack, qdisc) in
        [("rfc", "pfifo limit 30"), ("linux-6.1", "red min 30000 max 90000 probability 0.1")]
    {
        let (lost, dropped) = lost_and_dropped(stack, qdisc);
        assert!(lost > 0 && dropped > 0, "{stack} {lost} {dropped}");
    }
}

/// All seven disciplines are alike where the sender is the station: its discipline never has more than a packet.
#[test]
fn one_upload_over_wifi_is_alike_under_all_disciplines() {
    let ping_ms = |qdisc: &str, hosts: &Value| {
        let record = run(&json!({
            "duration": "20s", "warmup": "5s",
            "bottleneck": {"qdisc": qdisc, "wifi": {"standard": "802.11n", "driver": "iwlwifi",
                "station": [{"rate": "mcs7"}]}},
            "path": {"rtt": "20ms"},
            "host": hosts,
            "traffic": [{"kind": "bulk", "direction": "up", "stack": "linux-3.14"}, {"kind": "ping", "direction": "up"}],
        }));
        let apps = record["apps"].as_array().unwrap();
        apps.iter().find(|app| app["kind"] == "ping").unwrap()["rtt_ms"]["p50"].as_f64().unwrap()
    };
    let qdiscs = ["pfifo", "codel", "fq_codel"];
    let ideal = qdiscs.map(|qdisc| ping_ms(qdisc, &json!([])));
    let real = qdiscs.map(|qdisc| ping_ms(qdisc, &json!([{"tso": false}])));
    assert!(ideal[0] > 2.0 * ideal[2], "{ideal:?}");
    assert!(real.iter().all(|one| (one / real[0] - 1.0).abs() < 0.1), "{real:?}");
}

#[test]
fn what_is_no_host_is_refused_in_one_line() {
    for (host, why) in [
        (json!({"name": "bob"}), "host[0].name: found \"bob\"; accepted: alice"),
        (
            json!({"name": "alice", "role": "server"}),
            "host[0].name: found \"alice\"; accepted: the `server` of a [[traffic]]; none has one",
        ),
        (
            json!({"rate": "1gbit", "qdisc": "fq"}),
            "host[0].rate: found one without a name; accepted: an interface of a host with a `name`",
        ),
        (
            json!({"name": "alice", "qdisc": "fq"}),
            "host[0].rate: missing; accepted: a rate such as \"25mbit\"",
        ),
        (json!({"name": "alice", "rate": "1gbit"}), "host[0].qdisc: missing"),
        (
            json!({"name": "alice", "rate": "1gbit", "qdisc": "mac80211"}),
            "host[0].qdisc: found \"mac80211\" without Wi-Fi",
        ),
        (json!({"name": "alice", "role": "router"}), "host[0].role: "),
        (json!({"pacing_shift": 31}), "host[0].pacing_shift: "),
        (json!({"bursts": "4ms"}), "host[0].bursts: "),
    ] {
        let error =
            Scenario::from_json(&upload("linux-6.1", &json!([host])).to_string()).unwrap_err().to_string();
        assert!(error.starts_with(why) && !error.contains('\n'), "{error}");
    }
    let twins = json!([{"name": "alice"}, {"name": "alice"}]);
    let error = Scenario::from_json(&upload("linux-6.1", &twins).to_string()).unwrap_err().to_string();
    assert!(error.starts_with("host[1].name: found \"alice\", which another host has"), "{error}");
}
