//! Runs a scenario in the simulator and writes the files that the kernel engine's laboratory would have written for the
//! same run: the captures of the router's interfaces, and notes of hosts that measured nothing. Beside them it writes
//! the simulator's own record. A test measures the former and compares the result with the latter.
//!
//! `simulated SCENARIO.json DRAIN_S FOLDER`: the scenario's traffic stops with the scenario. The drain follows.
#![allow(clippy::unwrap_used)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{ACK, Body, FIN, Frame, SYN};
use goodqueue_netsim::record::Packets;
use goodqueue_netsim::{
    Direction, Event, FlowOutline, Observer, Packet, Record, Scenario, SharedObserver, Simulation,
};
use goodqueue_qdisc::Packet as _;
use goodqueue_tcp::Flags;
use goodqueue_units::{Duration, Instant};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

const START_NS: i64 = 1_700_000_000_000_000_000;

/// Notes the packets that enter and leave the queues, and how long dropped packets had waited.
#[derive(Default)]
struct Tap {
    log: Vec<(bool, Direction, Instant, Packet)>,
    /// Direction, arrival and drop of each dropped packet.
    waited_in_vain: Vec<(Direction, Instant, Instant)>,
}

impl Observer for Tap {
    fn saw(&mut self, now: Instant, direction: Direction, event: Event, packet: &Packet) {
        match event {
            Event::Offered => self.log.push((false, direction, now, *packet)),
            Event::Started => self.log.push((true, direction, now, *packet)),
            Event::Dropped(_) => self.waited_in_vain.push((direction, packet.arrival(), now)),
            Event::Arrived => {}
        }
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
    longer["warmup"] = json!("0s"); // tc's counters have no warm-up
    longer["duration"] = json!(format!("{}ns", (end + drain).as_nanos()));
    for traffic in longer["traffic"].as_array_mut().unwrap() {
        // Traffic that stops with the scenario closes just after its end, so that the closing is not a part of it.
        if traffic["kind"] == "bulk" && traffic["stop"] == json!(asked.duration) {
            traffic["stop"] = json!(format!("{}ns", end.as_nanos() + 1));
        }
    }
    let scenario = Scenario::from_json(&longer.to_string()).unwrap();
    let flows = scenario.flows();
    let tap = Arc::new(Mutex::new(Tap::default()));
    let mut run = Simulation::new(scenario).unwrap();
    run.observe(Arc::clone(&tap) as SharedObserver);
    run.advance(end);
    let before = run.record();
    run.run();
    let after = run.record();
    let mut plain = Simulation::new(asked.clone()).unwrap();
    plain.run();

    let tap = tap.lock().unwrap();
    let log = &tap.log;
    let mut files: [Vec<Frame>; 2] = Default::default();
    for (left, direction, now, packet) in log.iter() {
        let file = usize::from((*direction == Direction::Down) == *left);
        files[file].push(frame(*direction, *now, packet, &flows[packet.flow() as usize], packet.flow()));
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
    let nothing = json!({"app": null, "completion_ms": null, "series": null, "sent": [], "tcp_info": []});
    let notes: serde_json::Map<String, Value> =
        flows.iter().map(|flow| (flow.name.clone(), nothing.clone())).collect();
    let lab = json!({
        "kernel": "simulated", "tc": "none", "tc_said": [], "start_ns": START_NS, "idle_share": 1.0, "sysctls": {},
        "qdisc_stats": {"down": stats(|record| record.queues.down.packets), "up": stats(|record| record.queues.up.packets)},
        "capture_dropped": {"r-wan": 0, "r-cli": 0}, "netstat": {"server": {}, "client": {}}, "flows": notes,
    });
    std::fs::write(folder.join("lab.json"), lab.to_string()).unwrap();
    let waits = |wanted: Direction| -> Value {
        let rows = tap.waited_in_vain.iter().filter(|(direction, ..)| *direction == wanted);
        rows.map(|(_, from, to)| json!([from.as_nanos(), to.as_nanos()])).collect()
    };
    let dropped = json!({"down": waits(Direction::Down), "up": waits(Direction::Up)});
    std::fs::write(folder.join("dropped.json"), dropped.to_string()).unwrap();
    std::fs::write(folder.join("record.json"), serde_json::to_string(&plain.record()).unwrap()).unwrap();
}

/// Returns addresses and ports of the flow's source and sink, as the laboratory has them: each flow has its own hosts,
/// and the listening port says which flow it is.
fn ends(flow: &FlowOutline, place: u32) -> (([u8; 4], u16), ([u8; 4], u16)) {
    let [.., high, low] = (place + 1).to_be_bytes();
    let (server, client) = ([10, 9, high, low], [10, 8, high, low]);
    let (source, sink) = if flow.direction == Direction::Down { (server, client) } else { (client, server) };
    ((source, 0x800 + place as u16), (sink, 0x8000 + place as u16))
}

fn frame(direction: Direction, now: Instant, packet: &Packet, flow: &FlowOutline, place: u32) -> Frame {
    let (source, sink) = ends(flow, place);
    let (from, to) = if direction == flow.direction { (source, sink) } else { (sink, source) };
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
    // A packet's arrival distinguishes it from another packet with the same content. The times of a run are multiples
    // of 64 ns or more, so their low bits alone would soon repeat.
    let id = (packet.arrival().as_nanos().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16;
    let ecn = match packet.ecn() {
        goodqueue_units::Ecn::NotEct => 0,
        goodqueue_units::Ecn::Ect1 => 1,
        goodqueue_units::Ecn::Ect0 => 2,
        goodqueue_units::Ecn::Ce => 3,
    };
    let time_ns = START_NS + now.as_nanos() as i64;
    Frame { time_ns, from, to, id, ecn, len: packet.len(), body }
}
