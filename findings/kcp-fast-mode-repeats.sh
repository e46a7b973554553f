#!/usr/bin/env bash
# Finding: KCP in its fastest mode spends a third of a link on repeats though nothing forces a loss, or stops it whole.
# Versions: kcp 0.6.0 (crates.io); Rust 1.95. KCP takes the time as a number: a run repeats.
# Input: set_nodelay(true, 10, 2, true), which KCP's documents call the fastest mode; data always to send, 10 Mbit/s,
# RTT 40 ms, tail drop at 250 or 50 kB (5 and 1 BDP), windows of 128 (its packets fit into path and 250 kB) and 1024.
# Seen: 128: 6.5 Mbit/s of data on a link that carries 10. 1024 at one BDP: 0.07 Mbit/s from 5 s on, 88 % dropped, and
# the link idles. The same mode with its congestion control gets 8.5 and 9.4 Mbit/s from 5 s on, and loses under 1 %.
# Misled: who reads "10 to 20 % more bandwidth than TCP" (KCP's README) as the price, or thinks that it fills any link.
# Needs cargo and seconds of CPU time. Fails if this changes.
set -euo pipefail
EXPECTED="controlled false, window 128, 250 kB: data 6.54, link 10.0 Mbit/s, dropped 6 %
controlled false, window 1024, 50 kB: data 0.07, link 0.2 Mbit/s, dropped 88 %
controlled true, window 1024, 250 kB: data 9.41, link 9.9 Mbit/s, dropped 0 %
controlled true, window 1024, 50 kB: data 8.48, link 8.9 Mbit/s, dropped 0 %"

fail() { echo "kcp-fast-mode-repeats: $1" >&2; exit 1; }
command -v cargo >/dev/null || fail "found no cargo; accepted: Rust 1.85 or later"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cd "$work"
cat >Cargo.toml <<'MANIFEST'
[package]
name = "fast"
version = "0.1.0"
edition = "2024"

[dependencies]
kcp = "=0.6.0"

[profile.dev]
debug = false
opt-level = 1
MANIFEST
cat >src/main.rs <<'PROGRAM'
use kcp::Kcp;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{Result, Write};
use std::rc::Rc;

const RATE: f64 = 10e6;
const ONE_WAY: f64 = 0.02;

#[derive(Default)]
struct Link {
    now: f64,
    rate: f64, // 0: no limit
    buffer: f64,
    free: f64,
    underway: VecDeque<(f64, Vec<u8>)>,
    offered: u32,
    dropped: u32,
    bytes: f64,
}
impl Link {
    fn arrived(&mut self) -> Option<Vec<u8>> {
        let now = self.now;
        self.underway.pop_front_if(|it| it.0 <= now).map(|it| it.1)
    }
}
#[derive(Clone)]
struct Sender(Rc<RefCell<Link>>);
impl Write for Sender {
    fn write(&mut self, packet: &[u8]) -> Result<usize> {
        let mut link = self.0.borrow_mut();
        link.free = link.free.max(link.now);
        link.offered += 1;
        if link.rate > 0.0 {
            let bytes = packet.len() as f64 + 42.0;
            if (link.free - link.now) * link.rate / 8.0 + bytes > link.buffer {
                link.dropped += 1;
                return Ok(packet.len());
            }
            link.bytes += bytes;
            link.free += bytes * 8.0 / link.rate;
        }
        let at = link.free + ONE_WAY;
        link.underway.push_back((at, packet.to_vec()));
        Ok(packet.len())
    }
    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
fn run(controlled: bool, window: u16, buffer: f64) {
    let new = |rate| Sender(Rc::new(RefCell::new(Link { rate, buffer, ..Link::default() })));
    let (down, up) = (new(RATE), new(0.0));
    let [mut sender, mut receiver] = [down.clone(), up.clone()].map(|link| {
        let mut end = Kcp::new_stream(7, link);
        end.set_nodelay(true, 10, 2, !controlled);
        end.set_wndsize(window, window);
        end
    });
    let mut text = vec![0; 65536];
    let mut received = 0;
    for millisecond in 0..20_000 {
        if millisecond == 5_000 { // what follows is measured
            let mut link = down.0.borrow_mut();
            (received, link.offered, link.dropped, link.bytes) = (0, 0, 0, 0.0);
        }
        for link in [&down, &up] {
            link.0.borrow_mut().now = f64::from(millisecond) / 1000.0;
        }
        for (link, end) in [(&down, &mut receiver), (&up, &mut sender)] {
            loop {
                let packet = link.0.borrow_mut().arrived();
                let Some(packet) = packet else { break };
                end.input(&packet).unwrap();
            }
        }
        while let Ok(bytes) = receiver.recv(&mut text) {
            received += bytes;
        }
        while sender.wait_snd() < 2 * usize::from(window) {
            sender.send(&text[..16384]).unwrap();
        }
        sender.update(millisecond).unwrap();
        receiver.update(millisecond).unwrap();
    }
    let (link, mbit) = (down.0.borrow(), |bytes| bytes * 8.0 / 15e6);
    println!(
        "controlled {controlled}, window {window}, {} kB: data {:.2}, link {:.1} Mbit/s, dropped {:.0} %",
        buffer / 1e3, mbit(received as f64), mbit(link.bytes), 100.0 * f64::from(link.dropped) / f64::from(link.offered)
    );
}
fn main() {
    run(false, 128, 250e3);
    run(false, 1024, 50e3);
    run(true, 1024, 250e3);
    run(true, 1024, 50e3);
}
PROGRAM
cargo run -q | tee results
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
