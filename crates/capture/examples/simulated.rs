//! Runs a scenario in the simulator and leaves what the kernel engine's laboratory would have left of the same run: the
//! captures of the router's interfaces and the hosts' notes, and beside them the simulator's own record. A test measures
//! the one and compares it with the other.
//!
//! `simulated SCENARIO.json DRAIN_S FOLDER`: the scenario's traffic stops with it; the drain follows.
#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{ACK, Body, FIN, Frame, SYN};
use goodqueue_netsim::foreign::{Foreign, Request};
use goodqueue_netsim::record::Packets;
use goodqueue_netsim::scenario::Direction;
use goodqueue_netsim::{FlowOutline, Packet, Record, Scenario, Simulation};
use goodqueue_qdisc::{AnyQdisc, Backlog, Drop, Mark, Owner, Packet as _, Probe, Qdisc};
use goodqueue_tcp::Flags;
use goodqueue_units::{Duration, Instant, Rate};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

const START_NS: i64 = 1_700_000_000_000_000_000;

/// What both queues saw: whether a packet left (or else came), which way, when, and the packet.
type Log = Arc<Mutex<Vec<(bool, Direction, Instant, Packet)>>>;

/// A discipline of the registry that notes what goes in and out.
struct Tap {
    inner: AnyQdisc<Packet>,
    line: String,
    way: Direction,
    log: Log,
}

/// The run's owner, lent to a discipline that is generic over its owner.
struct Lent<'a>(&'a mut dyn Owner<Packet>);

impl Owner<Packet> for Lent<'_> {
    fn dropped(&mut self, packet: Packet, why: Drop) {
        self.0.dropped(packet, why);
    }
    fn marked(&mut self, packet: &Packet, why: Mark) {
        self.0.marked(packet, why);
    }
    fn random_u32(&mut self) -> u32 {
        self.0.random_u32()
    }
    fn random_u64(&mut self) -> u64 {
        self.0.random_u64()
    }
}

impl Foreign for Tap {
    fn line(&self) -> String {
        self.line.clone()
    }
    fn enqueue(&mut self, now: Instant, packet: Packet, owner: &mut dyn Owner<Packet>) {
        self.log.lock().unwrap().push((false, self.way, now, packet));
        self.inner.enqueue(now, packet, &mut Lent(owner));
    }
    fn dequeue(&mut self, now: Instant, owner: &mut dyn Owner<Packet>) -> Option<Packet> {
        let packet = self.inner.dequeue(now, &mut Lent(owner))?;
        self.log.lock().unwrap().push((true, self.way, now, packet));
        Some(packet)
    }
    fn next_timer(&self) -> Option<Instant> {
        self.inner.next_timer()
    }
    fn on_timer(&mut self, now: Instant, owner: &mut dyn Owner<Packet>) {
        self.inner.on_timer(now, &mut Lent(owner));
    }
    fn set_link_rate(&mut self, _rate: Rate) {
        unreachable!("the scenarios measured have no [[change]]")
    }
    fn backlog(&self) -> Backlog {
        self.inner.backlog()
    }
    fn probe(&self, probe: &mut dyn Probe) {
        self.inner.probe(probe);
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, scenario, drain, folder] = arguments.as_slice() else {
        eprintln!("usage: simulated SCENARIO.json DRAIN_S FOLDER");
        std::process::exit(2);
    };
    let folder = Path::new(folder);
    let text = std::fs::read_to_string(scenario).unwrap();
    let asked = Scenario::from_json(&text).unwrap();
    let (end, drain) = (asked.duration.0, Duration::from_secs_f64(drain.parse().unwrap()));
    let mut longer: Value = serde_json::to_value(&asked).unwrap();
    longer["warmup"] = json!("0s"); // tc's counters know of none
    longer["duration"] = json!(format!("{}ns", (end + drain).as_nanos()));
    for key in ["/bottleneck/qdisc", "/bottleneck/up/qdisc"] {
        let line = longer.pointer_mut(key).unwrap();
        *line = json!(format!("tap.py:{}", line.as_str().unwrap()));
    }
    let scenario = Scenario::from_json(&longer.to_string()).unwrap();
    let flows = scenario.flows().unwrap();
    let log = Log::default();
    let mut make = |request: Request<'_>| {
        let line = request.line.strip_prefix("tap.py:").unwrap().to_string();
        let inner = AnyQdisc::parse(&line, &request.link).unwrap();
        Ok(Box::new(Tap { inner, line, way: request.direction, log: Arc::clone(&log) }) as Box<dyn Foreign>)
    };
    let mut run = Simulation::with_foreign(scenario, &mut make).unwrap();
    run.advance(end);
    let before = run.record();
    run.run();
    let after = run.record();
    let mut plain = Simulation::new(asked.clone()).unwrap();
    plain.run();

    let log = log.lock().unwrap();
    let mut files: [Vec<Frame>; 2] = Default::default();
    for (left, way, now, packet) in log.iter() {
        let file = usize::from((*way == Direction::Down) == *left);
        files[file].push(frame(*way, *now, packet, &flows[packet.flow() as usize], packet.flow()));
    }
    for (name, file) in ["r-wan.pcap", "r-cli.pcap"].into_iter().zip(&mut files) {
        file.sort_by_key(|frame| frame.time_ns);
        common::write(&folder.join(name), file);
    }
    let counters = |at: Duration, packets: Option<Packets>| {
        let (sent, drops, qlen) =
            packets.map_or((0, 0, 0), |packets| (packets.forwarded, packets.dropped, packets.queued_at_end));
        let leaf = json!({"kind": "tap", "handle": "10:", "packets": sent, "drops": drops, "qlen": qlen});
        json!({"t_s": at.as_secs_f64(), "qdiscs": [leaf]})
    };
    let stats = |queue: fn(&Record) -> Packets| {
        json!([
            counters(Duration::ZERO, None),
            counters(end, Some(queue(&before))),
            counters(end + drain, Some(queue(&after)))
        ])
    };
    let notes: serde_json::Map<String, Value> = flows
        .iter()
        .enumerate()
        .map(|(place, flow)| {
            let (source, sink) = ends(flow, place as u32);
            let show = |(address, port): ([u8; 4], u16)| json!([std::net::Ipv4Addr::from(address), port]);
            let pings = pings(&log, flow, place as u32, &asked);
            (
                flow.name.clone(),
                json!({"local": show(source), "remote": show(sink), "tcp_info": [], "pings": pings}),
            )
        })
        .collect();
    let lab = json!({
        "kernel": "simulated", "tc": "none", "start_ns": START_NS, "sysctls": {},
        "qdisc_stats": {"down": stats(|record| record.queues.down.packets), "up": stats(|record| record.queues.up.packets)},
        "capture_dropped": {"r-wan": 0, "r-cli": 0}, "netstat": {"server": {}, "client": {}}, "flows": notes,
    });
    std::fs::write(folder.join("lab.json"), lab.to_string()).unwrap();
    std::fs::write(folder.join("record.json"), serde_json::to_string(&plain.record()).unwrap()).unwrap();
}

/// Addresses and ports of the flow's source and sink: each flow has hosts of its own, as in the laboratory.
fn ends(flow: &FlowOutline, place: u32) -> (([u8; 4], u16), ([u8; 4], u16)) {
    let [.., high, low] = (place + 1).to_be_bytes();
    let (server, client) = ([10, 9, high, low], [10, 8, high, low]);
    let port = 10_000 + place as u16;
    let (source, sink) = if flow.direction == Direction::Down { (server, client) } else { (client, server) };
    ((source, port + 10_000), (sink, port))
}

fn frame(way: Direction, now: Instant, packet: &Packet, flow: &FlowOutline, place: u32) -> Frame {
    let (source, sink) = ends(flow, place);
    let (from, to) = if way == flow.direction { (source, sink) } else { (sink, source) };
    let body = match (packet.segment(), packet.datagram()) {
        (Some(segment), _) => {
            let has = |flag, bit| if segment.flags.contains(flag) { bit } else { 0 };
            Body::Tcp {
                seq: segment.seq.0,
                ack: segment.ack.0,
                flags: has(Flags::SYN, SYN) | has(Flags::FIN, FIN) | has(Flags::ACK, ACK),
                sack: segment.sack_blocks().iter().map(|block| (block.start.0, block.end.0)).collect(),
            }
        }
        (None, number) => Body::Udp { number: number.unwrap() },
    };
    // A packet's arrival is what tells it from another that says the same.
    let id = (packet.arrival().as_nanos() & 0xffff) as u16;
    let ecn = match packet.ecn() {
        goodqueue_units::Ecn::NotEct => 0,
        goodqueue_units::Ecn::Ect1 => 1,
        goodqueue_units::Ecn::Ect0 => 2,
        goodqueue_units::Ecn::Ce => 3,
    };
    let time_ns = START_NS + now.as_nanos() as i64;
    Frame { time_ns, from, to, id, ecn, len: packet.len(), body }
}

/// Number, time sent and RTT of each ping: the echo is home when it is through the wire and half an RTT.
fn pings(
    log: &[(bool, Direction, Instant, Packet)],
    flow: &FlowOutline,
    place: u32,
    scenario: &Scenario,
) -> Value {
    let sent = log.iter().filter(|(left, way, _, packet)| {
        !left && *way == flow.direction && packet.flow() == place && packet.datagram().is_some()
    });
    let rate = match flow.direction {
        Direction::Down => scenario.bottleneck.up.rate.unwrap().0,
        Direction::Up => scenario.bottleneck.rate.0,
    };
    let rows = sent.map(|(.., at, ping)| {
        let home = log.iter().find(|(left, way, _, packet)| {
            *left && *way != flow.direction && packet.flow() == place && packet.datagram() == ping.datagram()
        });
        let rtt = home.map(|(.., left_at, echo)| {
            let wire_s = f64::from(echo.len()) * 8.0 / rate.as_bps() as f64;
            left_at.since(*at).as_secs_f64() + wire_s + flow.rtt_s / 2.0
        });
        json!([ping.datagram(), at.as_secs_f64(), rtt])
    });
    Value::Array(rows.collect())
}
