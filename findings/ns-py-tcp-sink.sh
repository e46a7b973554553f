#!/usr/bin/env bash
# Finding: a Reno flow of ns.py that overflows its queue once delivers almost nothing from then on; its sink hides that.
# Versions: ns.py 0.4.3, simpy 4.1.1 (PyPI); CPython from 3.10 on. It is a simulator: a run repeats.
# Input: one flow of TCPReno or TCPCubic with its defaults, 10 Mbit/s, RTT 40 ms, tail drop at one BDP (50 kB).
# Seen: from second 10 to 20 TCPReno has 0.10 Mbit/s acknowledged, and the sink counts 7.55. TCPCubic has 10.00 of both.
# Misled: who reads the sink's bytes as goodput: it counts what arrives, repeats and all. Each packet has a timer of its
# own, which repeats it whatever the window says; slow start leaves megabytes of them.
# Needs pip and a minute of CPU time. Fails if this changes.
set -euo pipefail
EXPECTED="TCPReno: acknowledged 0.10, the sink counts 7.55 Mbit/s
TCPCubic: acknowledged 10.00, the sink counts 10.00 Mbit/s"

fail() { echo "ns-py-tcp-sink: $1" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip install -q --no-deps --target packages ns.py==0.4.3 simpy==4.1.1 || fail "pip did not get ns.py 0.4.3"
cat >run.py <<'PROGRAM'
import simpy
from ns.flow.cc import TCPReno
from ns.flow.cubic import TCPCubic
from ns.flow.flow import Flow
from ns.packet.tcp_generator import TCPPacketGenerator
from ns.packet.tcp_sink import TCPSink
from ns.port.port import Port
from ns.port.wire import Wire

RATE, RTT = 10e6, 0.04

for control in TCPReno, TCPCubic:
    env = simpy.Environment()
    flow = Flow(fid=0, src="a", dst="b", finish_time=20)
    sender = TCPPacketGenerator(env, flow=flow, cc=control(), element_id=0)
    sink = TCPSink(env)
    down, up = (Wire(env, lambda: RTT / 2) for _ in range(2))
    queue = Port(env, RATE, qlimit=int(RATE * RTT / 8), limit_bytes=True)
    sender.out, queue.out, down.out, sink.out, up.out = queue, down, sink, up, sender
    env.run(until=10)
    acknowledged, counted = sender.last_ack, sink.bytes_received[0]
    env.run(until=20)
    acknowledged, counted = sender.last_ack - acknowledged, sink.bytes_received[0] - counted
    print(f"{control.__name__}: acknowledged {acknowledged * 8e-7:.2f}, the sink counts {counted * 8e-7:.2f} Mbit/s")
PROGRAM
PYTHONPATH=packages python3 run.py | tee results
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
