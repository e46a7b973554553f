//! Packets on the path of a run, in virtual time: which leave, when, and with which headers.
#![allow(clippy::unwrap_used)] // a test's input is its own

use etherparse::{PacketBuilder, SlicedPacket, TransportSlice};
use goodqueue_gateway::{Offload, Path};
use goodqueue_netsim::Direction::{self, Down, Up};
use goodqueue_netsim::ScenarioError;
use goodqueue_units::{Duration, Streams};
use serde_json::{Value, json};
use std::collections::VecDeque;

fn path(bottleneck: &Value, hops: &Value) -> Path {
    let scenario =
        json!({"duration": "1000000s", "bottleneck": bottleneck, "path": {"rtt": "0s"}, "hop": hops});
    Path::new(&scenario.to_string(), Vec::new(), &mut |request| {
        Err(ScenarioError { key: String::new(), message: request.line.into() })
    })
    .unwrap()
}

fn udp(number: u16, bytes: usize) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(number, 7);
    builder.write(&mut packet, &vec![0; bytes - 28]).unwrap();
    packet
}

fn ack(number: u32, port: u16) -> Vec<u8> {
    let mut packet = Vec::new();
    let builder = PacketBuilder::ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64).tcp(port, 80, 1, 1000);
    builder.ack(number).write(&mut packet, &[]).unwrap();
    packet
}

/// Returns the packets that have left by `until`: the time in nanoseconds, the direction and the bytes.
fn left(path: &mut Path, until: Duration) -> Vec<(u64, Direction, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(next) = path.next_time().filter(|next| *next <= until) {
        path.advance(next);
        path.deliver(|direction, parts, _| {
            all.push((next.as_nanos(), direction, parts.concat()));
            Some(next)
        });
    }
    path.advance(until);
    all
}

/// Returns the millisecond in which each packet leaves, by mahimahi's rule as its documentation describes it, with
/// 1504 bytes per opportunity. `arrivals` has the millisecond of each packet's arrival. All packets are full: 1500
/// bytes of IP and 4 of TUN.
fn by_mahimahis_rule(millis: &[u64], arrivals: &[u64]) -> Vec<u64> {
    let (mut leave, mut coming) = (Vec::new(), arrivals.iter().copied().collect::<VecDeque<_>>());
    let (mut cycle, mut index) = (0, 0);
    while let Some(&arrival) = coming.front() {
        let time = cycle + millis[index];
        if arrival < time {
            leave.push(time);
            coming.pop_front();
        }
        index += 1;
        if index == millis.len() {
            (index, cycle) = (0, time);
        }
    }
    leave
}

/// Sixteen traces, from steady ones to some with outages of seconds, and packets in bursts. Guards against a packet
/// that leaves a millisecond before or after mahimahi's link shell releases it.
#[test]
fn packets_leave_in_mahimahis_milliseconds() {
    let folder = std::env::temp_dir();
    for number in 0..16 {
        let mut random = Streams::new(7).stream("traces", number);
        let mut millis = Vec::new();
        let mut time = 0;
        while millis.len() < 2000 {
            let outage = number % 4 == 3 && random.next_f64() < 0.002;
            time += if outage { 2000 } else { (random.next_f64() * (number as f64 + 1.0)) as u64 };
            millis.push(time);
        }
        millis.push(time + 1);
        let file = folder.join(format!("goodqueue-gateway-{}-{number}.mahimahi", std::process::id()));
        std::fs::write(&file, millis.iter().map(|milli| format!("{milli}\n")).collect::<String>()).unwrap();
        let link = json!({"trace": file, "qdisc": "pfifo limit 100000", "up": {"rate": "1gbit"}});
        let mut path = path(&link, &json!([]));
        std::fs::remove_file(&file).unwrap();
        let (mut arrivals, mut now) = (Vec::new(), 0);
        for _ in 0..1500 {
            now += if random.next_f64() < 0.1 { (random.next_f64() * 60.0) as u64 } else { 0 };
            arrivals.push(now);
        }
        let mut all = Vec::new();
        for arrival in &arrivals {
            let at = Duration::from_millis(*arrival);
            all.extend(left(&mut path, at));
            path.offer(at, Down, &udp(1, 1500), Offload::default());
        }
        all.extend(left(&mut path, Duration::from_secs(10_000)));
        let nanos: Vec<u64> = all.iter().map(|(nanos, ..)| *nanos).collect();
        let expected: Vec<u64> =
            by_mahimahis_rule(&millis, &arrivals).iter().map(|ms| ms * 1_000_000).collect();
        assert_eq!(nanos, expected, "trace {number}");
    }
}

/// 1514 bytes at 10 Mbit/s take 1.2112 ms, plus half of the RTT. Guards against a packet that waits for the clock's
/// tick.
#[test]
fn departures_are_those_of_the_plan() {
    let scenario = json!({
        "duration": "10s", "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"}, "path": {"rtt": "20ms"},
    });
    let mut path = Path::new(&scenario.to_string(), Vec::new(), &mut |_| unreachable!()).unwrap();
    for number in 0..3 {
        path.offer(Duration::from_micros(100), Down, &udp(number, 1500), Offload::default());
    }
    let all = left(&mut path, Duration::from_secs(1));
    let micros: Vec<u64> = all.iter().map(|(nanos, ..)| nanos / 100).collect();
    assert_eq!(micros, [113_112, 125_224, 137_336], "in tenths of a microsecond");
    assert!(
        all.iter()
            .enumerate()
            .all(|(number, (_, direction, packet))| *direction == Down && *packet == udp(number as u16, 1500))
    );
}

/// CoDel marks ECT packets: the checksum of a CE packet is right, and packets without ECT are dropped.
#[test]
fn marks_arrive() {
    let mut path = path(&json!({"rate": "10mbit", "qdisc": "codel ecn"}), &json!([]));
    for number in 0..800 {
        let mut packet = udp(number, 1500);
        if number % 2 == 0 {
            packet[1] = 2;
            packet[10..12].fill(0);
            let header = etherparse::Ipv4HeaderSlice::from_slice(&packet).unwrap().to_header();
            packet[10..12].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
        }
        path.offer(Duration::from_micros(u64::from(number)), Down, &packet, Offload::default());
    }
    let all = left(&mut path, Duration::from_secs(10));
    let mut marks = 0;
    for (_, _, packet) in &all {
        let header = etherparse::Ipv4HeaderSlice::from_slice(packet).unwrap().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        marks += u64::from(header.ecn.value() == 3);
    }
    let queue = &path.record().unwrap()["queues"]["down"]["packets"];
    assert!(marks > 0 && queue["marked"] == json!(marks), "{marks} marks, {queue}");
    assert!(queue["dropped"].as_u64().unwrap() > 0);
    assert_eq!(all.len() as u64 + queue["dropped"].as_u64().unwrap(), 800);
}

/// `cake ack-filter` sees real ACKs: of 50 waiting ACKs per connection, only the last is needed.
#[test]
fn superfluous_acks_are_filtered() {
    let up = json!({"rate": "100kbit", "qdisc": "cake ack-filter bandwidth 100kbit"});
    let mut path = path(&json!({"rate": "10mbit", "qdisc": "pfifo", "up": up}), &json!([]));
    for number in 0..100 {
        path.offer(Duration::ZERO, Up, &ack(number * 1000, 5000 + (number % 2) as u16), Offload::default());
    }
    let all = left(&mut path, Duration::from_secs(10));
    let acks: Vec<u32> = all
        .iter()
        .map(|(_, _, packet)| match SlicedPacket::from_ip(packet).unwrap().transport {
            Some(TransportSlice::Tcp(tcp)) => tcp.acknowledgment_number(),
            _ => panic!("no TCP"),
        })
        .collect();
    assert!(all.len() < 10, "{} of 100 were left", all.len());
    assert!(acks.contains(&98_000) && acks.contains(&99_000), "{acks:?}");
}

/// A wire that loses, duplicates and reorders, a queue that overflows, a Wi-Fi cell that gives up: wherever a packet
/// ends, its slot is reused. Guards against memory that grows with the number of packets ever sent.
#[test]
fn every_packet_comes_to_an_end() {
    let wire = json!([{"name": "wire", "kind": "wire", "after": "bottleneck", "delay": "1ms", "loss": "20%",
        "duplicate": "20%", "reorder": "25%", "limit": 40}]);
    let wifi = json!({"qdisc": "fq_codel", "wifi": {"standard": "802.11n",
        "station": [{"name": "far", "rate": "mcs7", "snr": 24.0}]}});
    for (bottleneck, hops) in [
        (json!({"rate": "10mbit", "qdisc": "fq_codel limit 50"}), wire),
        (json!({"rate": "10mbit", "qdisc": "pfifo_fast"}), json!([])),
        (wifi, json!([])),
    ] {
        let mut path = path(&bottleneck, &hops);
        let mut came = 0;
        for number in 0..30_000_u64 {
            let at = Duration::from_micros(number * 700);
            came += left(&mut path, at).len() as u64;
            path.offer(
                at,
                if number % 3 == 0 { Up } else { Down },
                &udp((number % 7) as u16, 1000),
                Offload::default(),
            );
        }
        came += left(&mut path, Duration::from_secs(1000)).len() as u64;
        let record = path.record().unwrap();
        assert!(came > 10_000, "{came} came of {bottleneck}");
        assert_eq!(record["live"]["slots_in_use"], 0, "{bottleneck}");
        assert!(record["live"]["slots"].as_u64().unwrap() < 5000, "{}", record["live"]);
    }
}

/// A million packets of nonsense: random, truncated, or with one bit flipped. Guards against a panic, and against a
/// queue whose counters do not add up (the record asserts that they do).
#[test]
fn a_million_malformed_packets() {
    let mut path = path(&json!({"rate": "10gbit", "qdisc": "cake bandwidth 10gbit"}), &json!([]));
    let mut random = Streams::new(3).stream("nonsense", 0);
    let kinds = [udp(1, 200), ack(5, 9), {
        let mut packet = Vec::new();
        PacketBuilder::ipv6([1; 16], [2; 16], 64).tcp(5, 6, 7, 8).write(&mut packet, &[0; 50]).unwrap();
        packet
    }];
    for number in 0..1_000_000_u64 {
        let mut packet = kinds[(number % 3) as usize].clone();
        match random.next_u32() % 3 {
            0 => packet.iter_mut().for_each(|byte| *byte = random.next_u32() as u8),
            1 => packet.truncate(random.next_u32() as usize % packet.len()),
            _ => {
                let at = random.next_u32() as usize % packet.len();
                packet[at] ^= 1 << (random.next_u32() % 8);
            }
        }
        let offload = if number % 2 == 0 {
            Offload::default()
        } else {
            let bytes: [u8; 10] = std::array::from_fn(|_| random.next_u32() as u8);
            Offload::read(bytes, 0)
        };
        let direction = if number % 2 == 0 { Up } else { Down };
        path.offer(Duration::from_micros(number), direction, &packet, offload);
        path.deliver(|_, _, _| Some(Duration::from_micros(number)));
    }
    let record = path.record().unwrap();
    let odd = &record["live"]["packets"];
    assert!(odd["not_ip"].as_u64().unwrap() > 100_000 && odd["not_cut"].as_u64().unwrap() > 100_000, "{odd}");
}

/// Returns whether `packet` overtakes the packet before it, which no filter takes, in a `prio` with this filter.
fn is_taken(filter: &str, packet: &[u8]) -> bool {
    let prio = "tc qdisc add dev e root handle 1: prio priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2";
    let tc = [prio.to_string(), format!("tc filter add dev e parent 1: {filter}")];
    let mut path = path(&json!({"rate": "1mbit", "tc": tc}), &json!([]));
    let other = udp(9, 1000);
    for bytes in [&other[..], &other, packet] {
        path.offer(Duration::ZERO, Down, bytes, Offload::default());
    }
    let left = left(&mut path, Duration::from_secs(1));
    assert_eq!(left.len(), 3, "{filter}");
    left[1].2 == packet
}

/// Filters saw zeros in place of headers, and none of these took its packet.
#[test]
fn filters_see_the_headers_of_real_packets() {
    let segment = |from: u8, port: u16| {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, from], [10, 0, 0, 2], 64).tcp(port, 443, 1, 1000);
        builder.write(&mut packet, &[0; 100]).unwrap();
        packet
    };
    let mut of_ipv6 = Vec::new();
    let host = |last| [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last];
    PacketBuilder::ipv6(host(1), host(2), 64).udp(53, 5000).write(&mut of_ipv6, &[0; 100]).unwrap();
    let mut marked_ef = segment(1, 80);
    marked_ef[1] = 46 << 2;
    let mut last_fragment = segment(1, 80);
    last_fragment[7] = 4;
    let mut echo = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 9)
        .icmpv4_echo_request(1, 1)
        .write(&mut echo, &[])
        .unwrap();
    for (filter, packet, is_match) in [
        ("protocol ip u32 match ip protocol 6 0xff", &segment(1, 80), true),
        ("protocol ip u32 match ip protocol 17 0xff", &segment(1, 80), false),
        ("protocol ip u32 match ip sport 80 0xffff", &segment(1, 80), true),
        ("protocol ip u32 match ip dport 80 0xffff", &segment(1, 80), false),
        ("protocol ip u32 match ip src 10.0.0.7/32", &segment(7, 80), true),
        ("protocol ip u32 match ip src 10.0.0.7/32", &segment(1, 80), false),
        ("protocol ip u32 match ip tos 0xb8 0xfc", &marked_ef, true),
        ("protocol ip u32 match ip icmp_type 8 0xff match ip protocol 1 0xff", &echo, true),
        ("protocol ip flower ip_proto icmp ip_ttl 9", &echo, true),
        ("protocol ip flower ip_proto tcp src_port 80", &segment(1, 80), true),
        ("protocol ip flower ip_proto tcp src_port 80", &last_fragment, false),
        ("protocol ip u32 match ip protocol 17 0xff", &of_ipv6, false),
        ("protocol ipv6 u32 match ip6 protocol 17 0xff match ip6 dst 2001:db8::2/128", &of_ipv6, true),
        ("protocol ipv6 u32 match ip6 sport 53 0xffff match ip6 src 2001:db8::/32", &of_ipv6, true),
        ("protocol ipv6 flower ip_proto udp src_port 53 src_ip 2001:db8::1", &of_ipv6, true),
        ("protocol ipv6 flower ip_proto udp src_ip 2001:db8:1::/48", &of_ipv6, false),
        ("protocol all u32 match u32 0x60000000 0xf0000000 at 0", &of_ipv6, true),
    ] {
        assert_eq!(is_taken(&format!("{filter} flowid 1:1"), packet), is_match, "{filter}");
    }
}
