//! The path for endpoints that are not ours: what arrives, when, and what it says of wrong use.
#![allow(clippy::unwrap_used)] // a test's input is its own

use goodqueue_bottleneck::Direction::{Down, Up};
use goodqueue_bottleneck::foreign::Foreign;
use goodqueue_bottleneck::{Bottleneck, Datagram, Direction, Ecn, Error, Flow, Scenario};
use goodqueue_netsim::Packet;
use goodqueue_qdisc::{Backlog, Owner, Probe};
use goodqueue_units::{Instant, Rate};
use std::collections::VecDeque;
use std::time::Duration;

fn scenario(bottleneck: &str, rest: &str) -> String {
    format!(r#"{{"duration": "5s", "bottleneck": {{{bottleneck}}}, "path": {{"rtt": "40ms"}}{rest}}}"#)
}

fn open(bottleneck: &str, rest: &str) -> Bottleneck {
    Bottleneck::open(&scenario(bottleneck, rest)).unwrap()
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn datagram(time: Duration, direction: Direction, flow: u32, bytes: Vec<u8>) -> Datagram {
    Datagram { time, direction, flow: Flow(flow), ecn: Ecn::Ect0, dscp: 0, bytes }
}

/// Sends a datagram of `bytes` of each flow in both directions every millisecond. Returns what arrived.
fn load(path: &mut Bottleneck, flows: u32, bytes: usize) -> Vec<Datagram> {
    let mut all = Vec::new();
    for now in (0..=path.duration().as_millis() as u64).map(ms) {
        while let Some(datagram) = path.receive(now).unwrap() {
            all.push(datagram);
        }
        for flow in 0..flows {
            let number = now.as_millis() as u8 ^ flow as u8;
            path.send(datagram(now, Down, flow, vec![number; bytes])).unwrap();
            path.send(datagram(now, Up, flow, vec![number; 40])).unwrap();
        }
    }
    all
}

/// 1258 + 42 bytes take 1.04 ms at 10 Mbit/s, and 20 ms is half the RTT. Guards against lost bytes, headers that do
/// not count, and a codepoint that does not cross.
#[test]
fn a_datagram_arrives_when_the_link_has_sent_it() {
    let mut path = open(r#""rate": "10mbit", "qdisc": "pfifo""#, "");
    let bytes: Vec<u8> = (0..1258).map(|number| number as u8).collect();
    let sent = Datagram { dscp: 46, ..datagram(ms(3), Up, 0, bytes) };
    path.send(sent.clone()).unwrap();
    assert!(path.next_time().is_some_and(|next| next <= Duration::from_micros(24_040)));
    assert_eq!(path.receive(Duration::from_micros(24_039)).unwrap(), None);
    assert_eq!(path.now(), Duration::from_micros(24_039), "the time that was asked for");
    let arrived = path.receive(path.duration()).unwrap().unwrap();
    assert_eq!(arrived, Datagram { time: Duration::from_micros(24_040), ..sent });
    assert_eq!(path.now(), arrived.time);
    assert_eq!(path.receive(ms(1)).unwrap(), None, "a time in the past means now");
    assert_eq!((path.receive(ms(9_999)).unwrap(), path.now()), (None, ms(5_000)), "the end of the run");
}

/// Guards against a run that depends on anything but the scenario and the calls, such as on the run before it.
#[test]
fn the_same_calls_give_the_same_bytes() {
    let rest = r#", "traffic": [{"kind": "outside"}, {"kind": "bulk"}, {"kind": "page"}]"#;
    let run = || {
        let mut path = open(r#""rate": "10mbit", "qdisc": "fq_codel""#, rest);
        let arrived = load(&mut path, 1, 1000);
        (
            arrived,
            serde_json::to_string(&path.record()).unwrap(),
            serde_json::to_string(&path.results()).unwrap(),
        )
    };
    let first = run();
    assert_eq!(first, run());
    let record: serde_json::Value = serde_json::from_str(&first.1).unwrap();
    let of_flows =
        |key: &str| record["flows"].as_array().unwrap().iter().map(|flow| flow[key].clone()).collect();
    let names: Vec<serde_json::Value> = of_flows("name");
    assert_eq!(names, ["bulk/0", "page/0", "outside/0"]);
    assert!(record["flows"][0]["goodput_mbps"].as_f64().unwrap() > 1.0, "the TCP flow has its share");
    assert_eq!(record["scenario"]["traffic"].as_array().unwrap().len(), 2);
}

/// Every datagram is delivered, lost or under way, whatever stands on the path; and the results are what the caller
/// saw. Guards against buffers that belong to another datagram after copies, drops or reordering.
#[test]
fn results_are_what_the_endpoints_saw() {
    let faults = r#""delay": "5ms", "jitter": "3ms", "loss": "3%", "duplicate": "4%", "reorder": "5%""#;
    let wire = &format!(r#", "hop": [{{"kind": "wire", "name": "air", {faults}}}]"#);
    let stations = r#"[{"name": "near", "rate": "mcs7"}, {"name": "far", "rate": "mcs0"}]"#;
    let wifi = &format!(r#""qdisc": "mac80211", "wifi": {{"standard": "802.11n", "station": {stations}}}"#);
    let far = r#", "traffic": [{"kind": "outside", "station": "far"}]"#;
    for (bottleneck, rest, bytes, (has_marks, has_losses, has_copies)) in [
        (r#""rate": "8mbit", "qdisc": "red ecn""#, "", 1200, (true, false, false)),
        (r#""rate": "20mbit", "qdisc": "cake bandwidth 5mbit""#, "", 900, (true, false, false)),
        (r#""rate": "20mbit", "qdisc": "pfifo""#, wire, 1200, (false, true, true)),
        (r#""rate": "50mbit", "qdisc": "netem loss 2% duplicate 3%""#, wire, 300, (false, true, true)),
        (wifi, far, 1400, (false, true, false)),
    ] {
        let mut path = open(bottleneck, rest);
        let arrived = load(&mut path, 1, bytes);
        let [result] = &path.results()[..] else { panic!("one flow") };
        assert!(arrived.is_sorted_by_key(|datagram| datagram.time));
        for (direction, way, len) in [(Down, &result.down, bytes), (Up, &result.up, 40)] {
            let mine: Vec<_> = arrived.iter().filter(|datagram| datagram.direction == direction).collect();
            let whole = |datagram: &&Datagram| {
                datagram.bytes.len() == len && datagram.bytes.iter().all(|byte| *byte == datagram.bytes[0])
            };
            assert!(mine.iter().all(whole), "{bottleneck}");
            assert_eq!(way.sent, 5001, "{bottleneck}");
            assert_eq!(way.delivered + way.lost + way.under_way, way.sent, "{bottleneck}");
            let marked = mine.iter().filter(|datagram| datagram.ecn == Ecn::Ce).count() as u64;
            assert!(has_copies || (mine.len() as u64, marked) == (way.delivered, way.marked), "{bottleneck}");
        }
        let down = &result.down;
        let came = arrived.iter().filter(|datagram| datagram.direction == Down).count() as u64;
        let found = (down.marked > 0, down.lost > 0, came > down.delivered);
        assert_eq!(found, (has_marks, has_losses, has_copies), "{bottleneck}");
    }
}

/// Two flows of Alice and one of Bob at one `cake`. Guards against hosts, RTTs and names of the scenario that do not
/// reach the caller's flows: without hosts Bob would have a third.
#[test]
fn flows_have_the_hosts_and_times_of_their_tables() {
    let rest = r#", "warmup": "1s", "traffic": [
        {"kind": "outside", "name": "alice", "host": "alice", "count": 2, "rtt": "20ms"},
        {"kind": "outside", "name": "bob", "host": "bob", "rtt": "80ms"}]"#;
    let mut path = open(r#""rate": "12mbit", "qdisc": "cake bandwidth 6mbit dual-dsthost""#, rest);
    let [first, second, bob] = ["alice/0", "alice/1", "bob"].map(|name| path.flow(name).unwrap());
    assert_eq!([first, second, bob], [Flow(0), Flow(1), Flow(2)]);
    let refused = path.flow("alice").unwrap_err().to_string();
    assert_eq!(refused, r#"flow: found "alice"; accepted: alice/0, alice/1, bob/0"#);
    load(&mut path, 3, 1000);
    let results = path.results();
    let mbps: Vec<f64> = results.iter().map(|result| result.down.goodput_mbps).collect();
    assert!((mbps[0] + mbps[1] - mbps[2]).abs() < 0.2, "{mbps:?}");
    let least: Vec<f64> = results.iter().map(|result| result.up.delay_ms.unwrap().min.floor()).collect();
    assert_eq!(least, [10.0, 10.0, 40.0]);
    assert_eq!(results[0].up.sent, 4001, "the warm-up is left out");
}

/// Guards against a mistake that moves time, loses the run or leaves a reader without the accepted values.
#[test]
fn a_mistake_is_one_line_and_changes_nothing() {
    let mut path = open(r#""rate": "10mbit", "qdisc": "pfifo""#, "");
    path.send(datagram(ms(10), Down, 0, vec![1])).unwrap();
    let gigabyte = vec![0; 1 << 30];
    let after_that = |bytes| datagram(ms(10), Down, 0, bytes);
    for (mistake, says) in [
        (
            datagram(ms(5), Down, 0, vec![1]),
            "time: found 5ms; accepted: 10ms, the time of the path, or later",
        ),
        (datagram(ms(5001), Down, 0, vec![1]), "time: found 5.001s; accepted: up to 5s, the end of the run"),
        (after_that(vec![]), "bytes: found 0 bytes; accepted: 1 to 1472, by path.mtu"),
        (after_that(vec![0; 1473]), "bytes: found 1473 bytes; accepted: 1 to 1472, by path.mtu"),
        (after_that(gigabyte), "bytes: found 1073741824 bytes; accepted: 1 to 1472, by path.mtu"),
        (Datagram { dscp: 64, ..after_that(vec![1]) }, "dscp: found 64; accepted: 0 to 63"),
        (datagram(ms(10), Down, 7, vec![1]), "flow: found the number 7; accepted: 0 to 0"),
    ] {
        assert_eq!(path.send(mistake).unwrap_err().to_string(), says);
    }
    assert_eq!((path.now(), path.results()[0].down.sent), (ms(10), 1));
    assert!(path.receive(path.duration()).unwrap().is_some());
    let refused = |bottleneck: &str, rest: &str| {
        Bottleneck::open(&scenario(bottleneck, rest)).err().unwrap().to_string()
    };
    assert!(
        refused(r#""rate": "fast", "qdisc": "pfifo""#, "")
            .starts_with("bottleneck.rate: found \"fast\"; accepted: ")
    );
    let says = refused(
        r#""rate": "1mbit", "qdisc": "pfifo""#,
        r#", "traffic": [{"kind": "outside", "start": "1s"}]"#,
    );
    assert!(says.starts_with("traffic[0].start: "), "{says}");
    let says = refused(r#""rate": "1mbit", "qdisc": "./mine.py:Mine""#, "");
    assert_eq!(
        says,
        r#"bottleneck.qdisc: found "./mine.py:Mine"; accepted here: a discipline of the registry"#
    );
    let cc = r#", "traffic": [{"kind": "bulk", "cc": "./mine.py:Mine"}]"#;
    let says = refused(r#""rate": "1mbit", "qdisc": "pfifo""#, cc);
    assert_eq!(
        says,
        r#"traffic[0].cc: found "./mine.py:Mine"; accepted here: a congestion control of the list"#
    );
}

/// A FIFO that panics when it holds three packets.
#[derive(Default)]
struct Rash(VecDeque<Packet>);

impl Foreign for Rash {
    fn line(&self) -> String {
        "rash.py:Rash".to_string()
    }
    fn enqueue(&mut self, _now: Instant, packet: Packet, _owner: &mut dyn Owner<Packet>) {
        self.0.push_back(packet);
        assert!(self.0.len() < 3, "three are a crowd");
    }
    fn dequeue(&mut self, _now: Instant, _owner: &mut dyn Owner<Packet>) -> Option<Packet> {
        self.0.pop_front()
    }
    fn next_timer(&self) -> Option<Instant> {
        None
    }
    fn on_timer(&mut self, _now: Instant, _owner: &mut dyn Owner<Packet>) {}
    fn set_link_rate(&mut self, _rate: Rate) {}
    fn backlog(&self) -> Backlog {
        Backlog { packets: self.0.len() as u32, bytes: 0 }
    }
    fn probe(&self, _probe: &mut dyn Probe) {}
    fn show(&self, _see: &mut dyn FnMut(&str, f64)) {}
}

/// The first datagram is on the wire, and the fourth makes the discipline panic. Guards against a run that ends, or
/// that counts wrong, because of code that is not ours.
#[test]
fn a_panic_of_a_discipline_is_one_error_and_the_run_goes_on() {
    let text = scenario(
        r#""rate": "1mbit", "qdisc": "rash.py:Rash", "up": {"rate": "10mbit", "qdisc": "pfifo"}"#,
        "",
    );
    let mut path =
        Bottleneck::of(Scenario::open(&text, &[]).unwrap(), &mut |_| Ok(Box::new(Rash::default()))).unwrap();
    let send = |path: &mut Bottleneck, direction| path.send(datagram(ms(1), direction, 0, vec![0; 1000]));
    for _ in 0..3 {
        send(&mut path, Down).unwrap();
    }
    let error = send(&mut path, Down).unwrap_err();
    assert!(matches!(error, Error::Panic { .. }));
    let says = "the discipline rash.py:Rash panicked: three are a crowd; from now on it drops every packet";
    assert_eq!(error.to_string(), says);
    send(&mut path, Down).unwrap();
    send(&mut path, Up).unwrap();
    let arrived: Vec<_> = std::iter::from_fn(|| path.receive(ms(5000)).unwrap()).collect();
    assert_eq!(arrived.iter().map(|datagram| datagram.direction).collect::<Vec<_>>(), [Up, Down]);
    let down = &path.results()[0].down;
    assert_eq!((down.sent, down.delivered, down.lost, down.under_way), (5, 1, 1, 3));
    assert_eq!(path.record().queues.down.packets.queued_at_end, 3);
}
