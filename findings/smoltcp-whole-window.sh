#!/usr/bin/env bash
# Finding: smoltcp without congestion control gets 2 to 5 % of an empty link, where a flood would be guessed.
# Versions: smoltcp 0.14.0 (crates.io) at both ends, which controls congestion only if asked; Rust 1.95. Time is a
# number that the program counts, so a run repeats.
# Input: one transfer with always data to send, windows of 256 kB, 10 Mbit/s, RTT 40 ms, tail drop at 50 or 200 kB.
# Seen: 0.15 and 0.51 Mbit/s in 20 s. Its own Reno gets 8.81 and 8.77 there. Each timeout sends the whole window again
# in one burst, which overflows the buffer as the first one did, and the timeouts double from 1 s on: the link idles.
# Misled: who expects that a sender without congestion control fills a link and harms others; it harms itself. With
# 200 kB path and buffer lack room for 12 kB of the window, and that alone costs 95 % of the link.
# Needs cargo and seconds of CPU time. Fails if this changes.
set -euo pipefail
EXPECTED="None, 50 kB: 0.15 Mbit/s, 697 drops
None, 200 kB: 0.51 Mbit/s, 478 drops
Reno, 50 kB: 8.81 Mbit/s, 38 drops
Reno, 200 kB: 8.77 Mbit/s, 14 drops"

fail() { echo "smoltcp-whole-window: $1" >&2; exit 1; }
command -v cargo >/dev/null || fail "found no cargo; accepted: Rust 1.91 or later"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cd "$work"
cat >Cargo.toml <<'MANIFEST'
[package]
name = "window"
version = "0.1.0"
edition = "2024"

[dependencies.smoltcp]
version = "=0.14.0"
default-features = false
features = ["std", "medium-ip", "proto-ipv4", "socket-tcp", "socket-tcp-reno"]

[profile.dev]
debug = false
opt-level = 1
MANIFEST
cat >src/main.rs <<'PROGRAM'
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;

const RATE: f64 = 10.0; // bits per microsecond
const ONE_WAY: i64 = 20_000;
const WINDOW: usize = 262_144;
const SECONDS: i64 = 20;

#[derive(Default)]
struct Port {
    received: VecDeque<Vec<u8>>,
    sent: Vec<Vec<u8>>,
}
struct Received(Vec<u8>);
impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}
struct Room<'a>(&'a mut Vec<Vec<u8>>);
impl TxToken for Room<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        self.0.push(vec![0; len]);
        f(self.0.last_mut().unwrap())
    }
}
impl Device for Port {
    type RxToken<'a> = Received;
    type TxToken<'a> = Room<'a>;
    fn receive(&mut self, _: Instant) -> Option<(Received, Room<'_>)> {
        Some((Received(self.received.pop_front()?), Room(&mut self.sent)))
    }
    fn transmit(&mut self, _: Instant) -> Option<Room<'_>> {
        Some(Room(&mut self.sent))
    }
    fn capabilities(&self) -> DeviceCapabilities {
        let mut it = DeviceCapabilities::default();
        (it.medium, it.max_transmission_unit) = (Medium::Ip, 1500);
        it
    }
}
struct End {
    port: Port,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}
impl End {
    fn new(number: u8, control: CongestionControl) -> Self {
        let mut port = Port::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = number.into();
        let mut interface = Interface::new(config, &mut port, Instant::ZERO);
        interface.update_ip_addrs(|it| it.push(IpCidr::new(IpAddress::v4(10, 0, 0, number), 24)).unwrap());
        let buffer = || SocketBuffer::new(vec![0; WINDOW]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(control);
        let mut sockets = SocketSet::new(vec![]);
        let socket = sockets.add(socket);
        End { port, interface, sockets, socket }
    }
    fn tcp(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }
}
fn run(control: CongestionControl, buffer: f64) {
    let mut ends = [End::new(1, control), End::new(2, control)];
    ends[1].tcp().listen(80).unwrap();
    let End { interface, sockets, socket, .. } = &mut ends[0];
    sockets.get_mut::<Socket>(*socket).connect(interface.context(), (IpAddress::v4(10, 0, 0, 2), 80), 4000).unwrap();
    let (mut now, mut free, mut received, mut drops) = (0i64, 0i64, 0, 0);
    let mut underway: [VecDeque<(i64, Vec<u8>)>; 2] = Default::default(); // to the receiver, to the sender
    while now < SECONDS * 1_000_000 {
        let mut next = now + 1_000_000;
        for side in 0..2 {
            while underway[1 - side].front().is_some_and(|(at, _)| *at <= now) {
                let (_, packet) = underway[1 - side].pop_front().unwrap();
                ends[side].port.received.push_back(packet);
            }
            loop {
                let End { port, interface, sockets, .. } = &mut ends[side];
                interface.poll(Instant::from_micros(now), port, sockets);
                let moved = match side {
                    0 if ends[0].tcp().can_send() => ends[0].tcp().send_slice(&[0; WINDOW]).unwrap(),
                    1 if ends[1].tcp().can_recv() => ends[1].tcp().recv(|it| (it.len(), it.len())).unwrap(),
                    _ => 0,
                };
                let sent = std::mem::take(&mut ends[side].port.sent);
                received += side * moved;
                if moved == 0 && sent.is_empty() {
                    break;
                }
                for packet in sent {
                    let mut at = now;
                    if side == 0 {
                        let bytes = packet.len() as f64 + 14.0;
                        free = free.max(now);
                        if (free - now) as f64 * RATE / 8.0 + bytes > buffer {
                            drops += 1;
                            continue;
                        }
                        free += (bytes * 8.0 / RATE) as i64;
                        at = free;
                    }
                    underway[side].push_back((at + ONE_WAY, packet));
                }
            }
            let End { interface, sockets, .. } = &mut ends[side];
            if let Some(at) = interface.poll_at(Instant::from_micros(now), sockets) {
                next = next.min(at.total_micros());
            }
        }
        next = underway.iter().filter_map(|it| it.front()).map(|(at, _)| *at).fold(next, i64::min);
        now = next.max(now + 1);
    }
    println!("{control:?}, {} kB: {:.2} Mbit/s, {drops} drops", buffer / 1000.0, received as f64 * 8.0 / 1e6 / SECONDS as f64);
}
fn main() {
    for control in [CongestionControl::None, CongestionControl::Reno] {
        [50_000.0, 200_000.0].into_iter().for_each(|buffer| run(control, buffer));
    }
}
PROGRAM
cargo run -q | tee results
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
