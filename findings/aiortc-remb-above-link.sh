#!/usr/bin/env bash
# Finding: aiortc's bandwidth estimator settles 43 % above the link's rate, and leaves the queue full for ever.
# Versions: aiortc 1.16.0 (PyPI), of which two files are used; any CPython from 3.10 on. Time is a number: runs repeat.
# Input: frames at 30 Hz, of exactly the rate that the estimator asked for, from 1 Mbit/s on; packets of at most 1100
# bytes with abs-send-time; a link of 5 Mbit/s with RTT 40 ms and tail drop after 1 s, 0.2 s or 0.05 s of queue.
# Seen: it asks for 7.17 Mbit/s from second 30 on, whatever the buffer; 33 % is lost, and the queue is full (989 ms).
# After a fall of the link to 1 Mbit/s it asks for 0.9 within 15 s, with 11 ms of queue: then the detector does notice.
# Misled: who takes REMB for a bound, since GCC keeps below the link in its papers. A queue that is full no longer
# grows, so no overuse shows, and the estimate is held only at 1.5 times what arrives; GCC's second half, by loss, is
# not there.
# Needs pip and a second. Fails if this changes.
set -euo pipefail
EXPECTED="buffer 1 s: asked 7.17 Mbit/s, lost 33 %, queue 989 ms
buffer 0.2 s: asked 7.17 Mbit/s, lost 33 %, queue 189 ms
buffer 0.05 s: asked 7.17 Mbit/s, lost 33 %, queue 39 ms
after a fall to 1 Mbit/s: asked 0.9 Mbit/s, lost 0 %, queue 11 ms"

fail() { echo "aiortc-remb-above-link: $1" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m pip download -q --no-deps aiortc==1.16.0 || fail "pip did not get aiortc 1.16.0"
# The estimator alone: the package as a whole would load FFmpeg.
python3 -c "
import zipfile, glob
with zipfile.ZipFile(glob.glob('aiortc-*.whl')[0]) as wheel:
    for name in ('rate', 'utils'):
        wheel.extract(f'aiortc/{name}.py')"
cat >run.py <<'PROGRAM'
from aiortc.rate import RemoteBitrateEstimator

RTT, FRAMES = 0.04, 30


def call(title, buffer, rates, seconds, measured=10):
    estimator = RemoteBitrateEstimator()
    asked, free, sent, lost, waits = 1e6, 0.0, 0, 0, []
    arriving, reports = [], []  # (when, sent at, bytes), (when, rate)
    for frame in range(seconds * FRAMES):
        now = frame / FRAMES
        rate = [rate for since, rate in rates if since <= now][-1]
        for _, asked in (report for report in reports if report[0] <= now):
            pass
        reports = [report for report in reports if report[0] > now]
        packets = max(1, round(asked / FRAMES / 8 / 1100))
        size = int(asked / FRAMES / 8 / packets)
        for _ in range(packets):
            wait = max(free - now, 0.0)
            if now >= seconds - measured:
                sent, lost = sent + 1, lost + (wait > buffer)
                waits.append(wait)
            if wait <= buffer:
                free = now + wait + (size + 54) * 8 / rate
                arriving.append((free + RTT / 2, now, size))
        while arriving and arriving[0][0] <= now + 1 / FRAMES:
            when, sent_at, size = arriving.pop(0)
            if remb := estimator.add(int(when * 1000), int(sent_at * 2**18) & 0xFFFFFF, size, 1):
                reports.append((when + RTT / 2, remb[0]))
    mean = sum(waits) / len(waits) * 1000
    print(f"{title}: asked {asked / 1e6:.{2 if asked > 2e6 else 1}f} Mbit/s, lost {100 * lost / sent:.0f} %, queue {mean:.0f} ms")


for buffer in (1, 0.2, 0.05):
    call(f"buffer {buffer} s", buffer, [(0, 5e6)], 60)
call("after a fall to 1 Mbit/s", 1, [(0, 5e6), (30, 1e6)], 60)
PROGRAM
python3 run.py | tee results
[ "$(<results)" = "$EXPECTED" ] || fail "the behaviour changed; expected: $EXPECTED"
