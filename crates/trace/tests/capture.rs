//! A run's capture is read back by another library and compared with the run's own record.
#![allow(clippy::unwrap_used)] // clippy.toml's exemption covers test functions, not their helpers

use goodqueue_hosts::traffic::ping::PingResult;
use goodqueue_netsim::{Record, Scenario, SharedObserver, Simulation};
use goodqueue_trace::{EPOCH_S, Point, Trace, WHOLE_BYTES};
use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{Block, OptionCode, PcapBlockOwned, PcapError, PcapNGReader};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A frame as the file holds it.
#[derive(Clone, Debug)]
struct Frame {
    point: String,
    /// Nanoseconds since the run began.
    time_ns: u64,
    length: usize,
    data: Vec<u8>,
    comment: Option<String>,
}

impl Frame {
    fn id(&self) -> u16 {
        u16::from_be_bytes([self.data[18], self.data[19]])
    }
    fn ttl(&self) -> u8 {
        self.data[22]
    }
    fn protocol(&self) -> u8 {
        self.data[23]
    }
    /// Returns the address of the sender.
    fn source(&self) -> [u8; 4] {
        self.data[26..30].try_into().unwrap()
    }
    fn ce(&self) -> bool {
        self.data[15] & 3 == 3
    }
}

fn read(path: &Path) -> Vec<Frame> {
    let mut reader = PcapNGReader::new(1 << 16, std::fs::File::open(path).unwrap()).unwrap();
    let (mut names, mut frames) = (Vec::new(), Vec::new());
    loop {
        match reader.next() {
            Ok((size, block)) => {
                match block {
                    PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                        assert_eq!(interface.ts_resolution(), Some(1_000_000_000));
                        let name = interface.options.iter().find(|option| option.code == OptionCode::IfName);
                        names.push(name.unwrap().as_str().unwrap().to_string());
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        let comment = packet.options.iter().find(|option| option.code == OptionCode::Comment);
                        let time_ns = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
                        frames.push(Frame {
                            point: names[packet.if_id as usize].clone(),
                            time_ns: time_ns - EPOCH_S * 1_000_000_000,
                            length: packet.origlen as usize,
                            data: packet.packet_data().to_vec(),
                            comment: comment.map(|comment| comment.as_str().unwrap().to_string()),
                        });
                    }
                    _ => {}
                }
                reader.consume(size);
            }
            Err(PcapError::Incomplete(_)) => reader.refill().unwrap(),
            Err(PcapError::Eof) => return frames,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// Three kinds of traffic in both directions, through queues that drop and mark.
const SCENARIO: &str = r#"{
    "duration": "4s", "bottleneck": {"rate": "10mbit", "qdisc": "codel ecn"}, "path": {"rtt": "20ms"},
    "traffic": [
        {"kind": "bulk", "count": 2}, {"kind": "bulk", "name": "up", "direction": "up", "ecn": true, "stop": "3s"},
        {"kind": "cbr", "rate": "1mbit", "packet_size": 501, "dscp": "EF"}, {"kind": "ping", "start": "1500ms"}
    ]
}"#;

fn file(test: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{test}.pcapng"))
}

fn capture(test: &str, scenario: &str, points: &[Point], snap_bytes: u32) -> (Vec<Frame>, Record) {
    let mut run = Simulation::new(Scenario::from_json(scenario).unwrap()).unwrap();
    let flows = run.scenario().flows();
    let trace = Trace::create(&file(test), &flows, points, snap_bytes).unwrap();
    let trace = Arc::new(Mutex::new(trace));
    run.observe(Arc::clone(&trace) as SharedObserver);
    run.run();
    trace.lock().unwrap().finish().unwrap();
    (read(&file(test)), run.record())
}

fn at<'a>(frames: &'a [Frame], point: &str) -> Vec<&'a Frame> {
    frames.iter().filter(|frame| frame.point == point).collect()
}

/// Returns RFC 1071's sum over `data`, complemented: zero, if the checksum in it is right.
fn checksum(data: &[u8], start: u32) -> u16 {
    let mut sum = start;
    for pair in data.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[test]
fn counts_at_the_queues_are_the_records() {
    let (frames, record) = capture("counts", SCENARIO, &Point::ALL, WHOLE_BYTES);
    for (direction, packets) in [("down", record.queues.down.packets), ("up", record.queues.up.packets)] {
        let count = |what: &str| at(&frames, &format!("{direction}-{what}")).len() as u64;
        assert_eq!(
            (count("in"), count("out"), count("drop")),
            (packets.offered, packets.forwarded, packets.dropped)
        );
        let marked = at(&frames, &format!("{direction}-out")).iter().filter(|frame| frame.ce()).count();
        assert_eq!(marked as u64, packets.marked);
    }
    assert!(record.queues.down.packets.dropped > 0 && record.queues.up.packets.marked > 0);
    assert!(frames.is_sorted_by_key(|frame| frame.time_ns), "tools take a file to be in the order of time");
    let reasons: BTreeSet<_> = frames.iter().filter_map(|frame| frame.comment.as_deref()).collect();
    assert_eq!(reasons, BTreeSet::from(["dropped: target"]));
}

#[test]
fn every_checksum_and_length_is_right() {
    let (frames, _) = capture("checksums", SCENARIO, &[Point::Sender, Point::Receiver], WHOLE_BYTES);
    let mut protocols = BTreeSet::new();
    for frame in &frames {
        let data = &frame.data;
        assert_eq!(data.len(), frame.length);
        let ip_len = usize::from(u16::from_be_bytes([data[16], data[17]]));
        assert_eq!(ip_len, frame.length - 14);
        assert_eq!(checksum(&data[14..34], 0), 0, "IP: {frame:?}");
        protocols.insert(frame.protocol());
        // TCP and UDP also sum the pseudo-header's addresses, protocol and length. ICMP does not.
        let pseudo = !checksum(&data[26..34], u32::from(frame.protocol()) + ip_len as u32 - 20);
        let start = if frame.protocol() == 1 { 0 } else { pseudo.into() };
        assert_eq!(checksum(&data[34..], start), 0, "{frame:?}");
    }
    assert_eq!(protocols, BTreeSet::from([1, 6, 17]));
}

/// Asserts that the packets of each address are numbered from 0 on, without a gap.
fn assert_numbers_count_each_hosts_packets(frames: &[Frame]) {
    let mut next: BTreeMap<[u8; 4], u16> = BTreeMap::new();
    for frame in frames.iter().filter(|frame| frame.point.ends_with("-in")) {
        let next = next.entry(frame.source()).or_default();
        assert_eq!((frame.id(), frame.ttl()), (*next, 64));
        *next += 1;
    }
}

/// A named host has one address, whatever the RTT and the ECN of its flows. Each flow has a pair of ports of its own
/// between the same two addresses.
#[test]
fn a_named_host_has_one_address() {
    let household = r#"{
        "duration": "1s", "bottleneck": {"rate": "10mbit", "qdisc": "cake dual-dsthost"}, "path": {"rtt": "20ms"},
        "traffic": [
            {"kind": "bulk", "name": "one", "count": 3, "host": "alice", "server": "cdn"},
            {"kind": "bulk", "name": "up", "direction": "up", "ecn": true, "rtt": "50ms",
                "host": "alice", "server": "cdn"},
            {"kind": "page", "host": "alice", "server": "cdn"},
            {"kind": "ping", "host": "alice"},
            {"kind": "cbr", "rate": "1mbit", "host": "bob", "server": "cdn"}
        ]
    }"#;
    let (frames, _) = capture("hosts", household, &[Point::DownIn, Point::UpIn], WHOLE_BYTES);
    assert_numbers_count_each_hosts_packets(&frames);
    let seen = |point: &str, part: std::ops::Range<usize>| -> BTreeSet<Vec<u8>> {
        at(&frames, point).iter().map(|frame| frame.data[part.clone()].to_vec()).collect()
    };
    let (source, destination) = (26..30, 30..34);
    let (alice, bob) = (vec![10, 8, 0, 1], vec![10, 8, 0, 7]);
    let (cdn, of_ping) = (vec![10, 9, 0, 1], vec![10, 9, 0, 6]);
    assert_eq!(seen("down-in", destination.clone()), BTreeSet::from([alice.clone(), bob]));
    assert_eq!(seen("down-in", source.clone()), BTreeSet::from([cdn.clone(), of_ping.clone()]));
    assert_eq!(seen("up-in", source), BTreeSet::from([alice]));
    assert_eq!(seen("up-in", destination), BTreeSet::from([cdn, of_ping]));
    let tcp = at(&frames, "down-in").into_iter().filter(|frame| frame.protocol() == 6);
    let ports: BTreeSet<_> = tcp.map(|frame| frame.data[34..38].to_vec()).collect();
    assert!(ports.len() >= 5, "three downloads, an upload's ACKs, and a page: {ports:?}");
}

#[test]
fn a_packet_keeps_its_number_and_numbers_count_each_hosts_packets() {
    let (frames, _) = capture("numbers", SCENARIO, &Point::ALL, WHOLE_BYTES);
    assert_numbers_count_each_hosts_packets(&frames);
    let known = |end: &str| -> BTreeMap<([u8; 4], u16), &Frame> {
        let found = frames.iter().filter(|frame| frame.point.ends_with(end));
        found.map(|frame| ((frame.source(), frame.id()), frame)).collect()
    };
    let (offered, forwarded, dropped) = (known("-in"), known("-out"), known("-drop"));
    assert!(dropped.keys().all(|key| !forwarded.contains_key(key)), "a packet that was dropped and left");
    assert!(!dropped.is_empty());
    for (key, frame) in &forwarded {
        // The router takes one hop, and the queue may mark. All other bytes are as they came, so the checksum must
        // follow.
        let (came, left) = (&offered[key].data, &frame.data);
        assert_eq!(came[34..], left[34..]);
        assert_eq!((came[22], left[22]), (64, 63));
    }
    // The hosts must see the same numbers: each host's in order, with gaps where packets were lost.
    for point in ["sender", "receiver"] {
        let mut last: BTreeMap<[u8; 4], u16> = BTreeMap::new();
        for frame in at(&frames, point) {
            let before = last.insert(frame.source(), frame.id());
            assert!(before.is_none_or(|before| before < frame.id()));
        }
    }
}

#[test]
fn a_syn_says_what_linux_says() {
    let (frames, _) = capture("syn", SCENARIO, &[Point::Sender], WHOLE_BYTES);
    let syn = &frames[0];
    assert_eq!((syn.time_ns, syn.length), (0, 74));
    // Ethernet: 02:00 and the hosts' addresses, then IPv4.
    assert_eq!(syn.data[..14], [2, 0, 10, 8, 0, 1, 2, 0, 10, 9, 0, 1, 8, 0]);
    assert_eq!(syn.data[34..38], [0x08, 0x00, 0x80, 0x00], "ports 2048 and 32768");
    assert_eq!(syn.data[46..48], [0xa0, 0x02], "ten words, SYN");
    // MSS 1460, SACK permitted, timestamps, a NOP, window scale (RFC 9293, 2018, 7323).
    assert_eq!(syn.data[54..64], [2, 4, 0x05, 0xb4, 4, 2, 8, 10, 0, 0]);
    assert_eq!((&syn.data[66..70], &syn.data[70..73]), (&[0; 4][..], &[1, 3, 3][..]));
}

#[test]
fn dscp_stands_in_the_header_and_a_ping_is_an_echo() {
    let (frames, record) = capture("echo", SCENARIO, &[Point::Sender], WHOLE_BYTES);
    let udp: Vec<_> = frames.iter().filter(|frame| frame.protocol() == 17).collect();
    assert!(udp.iter().all(|frame| frame.data[15] == 46 << 2 && frame.length == 501));
    let (requests, replies): (Vec<&Frame>, Vec<&Frame>) =
        frames.iter().filter(|frame| frame.protocol() == 1).partition(|frame| frame.data[34] == 8);
    let ping: &PingResult = record.apps[0].result().unwrap();
    assert_eq!((requests.len() as u64, replies.len() as u64), (ping.sent, ping.received));
    assert_eq!((requests[0].time_ns, &requests[0].data[40..42]), (1_500_000_000, &[0, 0][..]));
    assert!(replies.iter().all(|frame| frame.data[34] == 0 && frame.source()[..2] == [10, 8]));
}

#[test]
fn a_cut_packet_keeps_its_length() {
    let (frames, _) = capture("snap", SCENARIO, &[Point::Receiver], 60);
    assert!(frames.iter().all(|frame| frame.data.len() == 60));
    assert!(frames.iter().any(|frame| frame.length == 1514));
}

/// Shapers and schedulers change the order of packets and set their arrival anew. The numbers must still be right.
#[test]
fn numbers_hold_in_disciplines_that_reorder() {
    for (test, line) in
        [("tbf", "tbf rate 9mbit burst 3000 limit 60000"), ("cake", "cake bandwidth 9mbit ack-filter wash")]
    {
        let scenario = SCENARIO.replace("codel ecn", line);
        let (frames, record) = capture(test, &scenario, &Point::ALL, WHOLE_BYTES);
        let offered: BTreeMap<_, _> =
            frames.iter().filter(|f| f.point.ends_with("-in")).map(|f| ((f.source(), f.id()), f)).collect();
        let mut seen = BTreeSet::new();
        for frame in frames.iter().filter(|f| f.point.ends_with("-out") || f.point.ends_with("-drop")) {
            let key = (frame.source(), frame.id());
            assert!(seen.insert(key), "{line}: twice {frame:?}");
            assert_eq!(offered[&key].data[34..], frame.data[34..], "{line}");
        }
        let left = record.queues.down.packets.queued_at_end + record.queues.up.packets.queued_at_end;
        assert_eq!(seen.len() as u64 + left, offered.len() as u64, "{line}");
    }
}

#[test]
fn a_capture_that_is_not_finished_leaves_nothing() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unfinished");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("run.pcapng");
    let trace = Trace::create(&path, &[], &[Point::Sender], WHOLE_BYTES).unwrap();
    assert!(path.exists(), "or this test shows nothing");
    drop(trace);
    assert!(!path.exists());
}
