#!/usr/bin/env bash
# Finding: a fresh SCTP data channel needs 4.7 s for a megabyte on a link that carries it in 0.8 s.
# Versions: sctp-proto 0.10.8 (crates.io; data channels of WebRTC) at both ends, with its defaults; Rust 1.95. Time is a
# number that the program counts, so a run repeats.
# Input: one reliable stream with always data to send, 10 Mbit/s, RTT 40 ms, tail drop at 50 kB (one BDP) or 200 kB.
# Seen: slow start sends 368 packets, of which 50 kB of queue drop 93. The sender then waits a second for its timer,
# repeats 92 packets in one burst, of which the queue drops 47, waits again, and once more for one of the last two. The
# link idles for 2 s. From then on the channel has nine tenths of the link, and repairs losses without the timer.
# Misled: who expects SACK to repair the overflow in some RTTs, or measures a channel for five seconds: 2.00 Mbit/s.
# Needs cargo and seconds of CPU time. Fails if this changes.
set -euo pipefail
EXPECTED="50 kB: 1 MB after 4.70 s, 3 waits of a second, 2.00 Mbit/s in 5 s, 8.89 in the next 20, 155 drops
200 kB: 1 MB after 3.25 s, 2 waits of a second, 6.25 Mbit/s in 5 s, 9.36 in the next 20, 280 drops"

fail() { echo "sctp-first-overflow: $1" >&2; exit 1; }
command -v cargo >/dev/null || fail "found no cargo; accepted: Rust 1.91 or later"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cd "$work"
cat >Cargo.toml <<'MANIFEST'
[package]
name = "overflow"
version = "0.1.0"
edition = "2024"

[dependencies]
bytes = "1"
sctp-proto = "=0.10.8"

[profile.dev]
debug = false
opt-level = 1
MANIFEST
cat >src/main.rs <<'PROGRAM'
use bytes::Bytes;
use sctp_proto::{Association, AssociationHandle, ClientConfig, DatagramEvent, Endpoint, EndpointConfig};
use sctp_proto::{Payload, PayloadProtocolIdentifier::Binary, ServerConfig, Transmit};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

const NS_PER_BYTE: u64 = 800; // 10 Mbit/s
const ONE_WAY_NS: u64 = 20_000_000;
const HEADERS: u64 = 14 + 20 + 8; // Ethernet, IP, UDP
const S: f64 = 1e-9;

struct Host {
    endpoint: Endpoint,
    association: Option<(AssociationHandle, Association)>,
}

impl Host {
    fn due_ns(&self, start: Instant) -> u64 {
        let due = self.association.as_ref().and_then(|(_, own)| own.poll_timeout());
        due.map_or(u64::MAX, |due| due.saturating_duration_since(start).as_nanos() as u64)
    }

    fn packets(&mut self, now: Instant) -> Vec<Bytes> {
        let mut all: Vec<Transmit> = std::iter::from_fn(|| self.endpoint.poll_transmit()).collect();
        if let Some((_, own)) = &mut self.association {
            all.extend(std::iter::from_fn(|| own.poll_transmit(now)));
        }
        let data = all.into_iter().filter_map(|sent| match sent.payload {
            Payload::RawEncode(packets) => Some(packets),
            Payload::PartialDecode(_) => None,
        });
        data.flatten().collect()
    }

    fn hear(&mut self, now: Instant, from: SocketAddr, data: Bytes) {
        match (self.endpoint.handle(now, from, None, None, data), &mut self.association) {
            (Some((handle, DatagramEvent::NewAssociation(new))), own) => *own = Some((handle, new)),
            (Some((_, DatagramEvent::AssociationEvent(event))), Some((_, own))) => own.handle_event(event),
            _ => {}
        }
    }
}

fn run(buffer: u64, seconds: u64) {
    let start = Instant::now();
    let at = |ns| start + Duration::from_nanos(ns);
    let addresses: [SocketAddr; 2] = [([10, 0, 0, 1], 5000).into(), ([10, 0, 0, 2], 5000).into()];
    let config = Arc::new(EndpointConfig::default());
    let server = Some(Arc::new(ServerConfig::default()));
    let mut hosts = [None, server].map(|role| Host { endpoint: Endpoint::new(config.clone(), role), association: None });
    hosts[0].association = hosts[0].endpoint.connect(ClientConfig::default(), addresses[1]).ok();
    let mut wire: BinaryHeap<Reverse<(u64, u64, usize, Bytes)>> = BinaryHeap::new();
    let (mut now, mut free, mut number, mut drops) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut is_open, mut received, mut last, mut waits) = (false, 0_u64, 0_u64, 0_u32);
    let (mut megabyte, mut at_five) = (0_u64, 0_u64);
    while now < seconds * 1_000_000_000 {
        if let Some((_, own)) = &mut hosts[0].association {
            while own.poll().is_some() {}
            if !own.is_handshaking() && !is_open {
                is_open = own.open_stream(1, Binary).is_ok();
            }
            while is_open && own.stream(1).unwrap().buffered_amount().unwrap() < 1 << 20 {
                own.stream(1).unwrap().write_sctp(&Bytes::from_static(&[0; 1024]), Binary).unwrap();
            }
        }
        if let Some((_, own)) = &mut hosts[1].association {
            while own.poll().is_some() {}
            while own.accept_stream().is_some() {}
            for id in own.stream_ids() {
                while let Ok(Some(message)) = own.stream(id).unwrap().read_sctp() {
                    waits += u32::from(received > 0 && now - last > 900_000_000);
                    last = now;
                    received += message.len() as u64;
                    if megabyte == 0 && received >= 1_000_000 {
                        megabyte = now;
                    }
                }
            }
        }
        for data in hosts[0].packets(at(now)) {
            let bytes = data.len() as u64 + HEADERS;
            if free.saturating_sub(now) / NS_PER_BYTE + bytes > buffer {
                drops += 1;
                continue;
            }
            free = free.max(now) + bytes * NS_PER_BYTE;
            number += 1;
            wire.push(Reverse((free + ONE_WAY_NS, number, 1, data)));
        }
        for data in hosts[1].packets(at(now)) {
            number += 1;
            wire.push(Reverse((now + ONE_WAY_NS, number, 0, data)));
        }
        let arrival = wire.peek().map_or(u64::MAX, |Reverse(packet)| packet.0);
        now = now.max(arrival.min(hosts[0].due_ns(start)).min(hosts[1].due_ns(start)));
        if now < 5_000_000_000 {
            at_five = received;
        }
        for host in &mut hosts {
            if host.due_ns(start) <= now && let Some((_, own)) = &mut host.association {
                own.handle_timeout(at(now));
            }
        }
        while wire.peek().is_some_and(|Reverse(packet)| packet.0 <= now) {
            let Some(Reverse((_, _, to, data))) = wire.pop() else { break };
            hosts[to].hear(at(now), addresses[1 - to], data);
        }
    }
    let mbps = |bytes: u64, seconds: u64| bytes as f64 * 8e-6 / seconds as f64;
    println!(
        "{} kB: 1 MB after {:.2} s, {waits} waits of a second, {:.2} Mbit/s in 5 s, {:.2} in the next {}, {drops} drops",
        buffer / 1000, megabyte as f64 * S,
        mbps(at_five, 5), mbps(received - at_five, seconds - 5), seconds - 5
    );
}

fn main() {
    [50_000, 200_000].into_iter().for_each(|buffer| run(buffer, 25));
}
PROGRAM
cargo run -q 2>build.log | tee results || { tail -n 5 build.log >&2; fail "cargo did not build sctp-proto 0.10.8"; }
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
