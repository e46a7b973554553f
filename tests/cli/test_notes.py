"""Words that `tc` reads differently from most people get a note on standard error, and nothing else does."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import TOML, Result

MBPS = "50Mbps is 400 Mbit/s, as in tc (bytes); 50mbit is 50 Mbit/s"
TWENTY = '"target 20" is 20 us, as in tc; target 20ms is 20 milliseconds'
CHILD = "tbf rate 500kbps burst 20kb child codel target 20 interval 1500.5 ecn"
CAKE = "cake bandwidth 5mbit"
FASTER = "is more than the link's {rate} ({key}.rate), so the link and not {qdisc} is the bottleneck"
ALICE = "--set traffic.0.host=alice"
NONE = "has no effect"
BOTH = (
    'no [[traffic]] has a host or server, so each flow has one of its own; host = "alice" or server = "cdn" names one'
)
SERVER = 'no [[traffic]] has a server, so each flow has one of its own; server = "cdn" names one'

TREE = "tc qdisc add dev e root handle 1: prio; tc filter add dev e parent 1: protocol ip"
FOREIGN = (
    '"match tcp dst 80" compares the IP header from byte 2 on, as Linux finds no next header without a link; '
    "accepted for ports: match ip sport or dport, or flower"
)
UDP = 'no packet of the scenario matches the filter "flower ip_proto udp flowid 1:1"'
HEXADECIMAL = '"ip_proto 17" is hexadecimal in tc, protocol 23; accepted: tcp, udp, icmp or 0x11'

# The arguments, and the notes in order.
TABLE = [
    ("run tree.toml", [FOREIGN, HEXADECIMAL]),
    (
        f"compare pfifo '{TREE} u32 match tcp dst 80 0xffff flowid 1:1' --rate 10mbit --seeds 1 --duration 6s",
        [FOREIGN],
    ),
    (f"compare pfifo '{TREE} flower ip_proto udp flowid 1:1' --rate 10mbit --seeds 1 --duration 6s", [UDP]),
    (f"compare pfifo '{TREE} flower ip_proto icmp flowid 1:1' --rate 10mbit --seeds 1 --duration 6s", []),
    ("run ok.toml --set bottleneck.rate=50Mbps", [f"--set bottleneck.rate {MBPS}"]),
    ("run ok.toml --set bottleneck.rate=50mbit", []),
    ("run ok.toml --set bottleneck.rate=50000000", []),  # TOML's number, which the core refuses in its own words
    ("run bytes.toml", ["bottleneck.rate 2.5mbps is 20 Mbit/s, as in tc (bytes); 2.5mbit is 2.5 Mbit/s"]),
    ("run bare.toml", [TWENTY, '"interval 1000" is 1000 us, as in tc; interval 1ms is the same']),
    (
        'run ok.toml --set \'traffic.1={kind="cbr",rate="800bps"}\'',
        ["--set traffic.1 800bps is 6.4 kbit/s, as in tc (bytes); 800bit is 800 bit/s"],
    ),
    (
        f"run ok.toml --set bottleneck.qdisc='{CHILD}'",
        [
            '"rate 500kbps" is 4 Mbit/s, as in tc (bytes); rate 500kbit is 500 kbit/s',
            TWENTY,
            '"interval 1500.5" is 1500.5 us, as in tc; interval 1.5005ms is the same',
        ],
    ),
    ("run ok.toml --set bottleneck.qdisc='codel target 20us ce_threshold 0 limit 20 variant rfc8289'", []),
    ("run ok.toml --set bottleneck.qdisc='sfb db 60000'", []),  # milliseconds, as people expect
    (
        "run ok.toml --set bottleneck.qdisc='dualpi2 step_thresh 5'",
        ['"step_thresh 5" is 5 us, as in tc; step_thresh 5ms is 5 milliseconds'],
    ),
    ("run ok.toml --set bottleneck.qdisc='dualpi2 step_thresh 5p'", []),
    (
        "run ok.toml --set bottleneck.qdisc='cake bandwidth 9mbit diffserv3 nat besteffort'",
        ['cake diffserv: "besteffort" replaces "diffserv3": as in tc, the last word holds'],
    ),
    (
        "run ok.toml --set bottleneck.qdisc='tbf burst 9kb child codel target 6ms target 7ms'",
        ['codel target: "target 7ms" replaces "target 6ms": as in tc, the last word holds'],
    ),
    (
        "compare codel 'cake bandwidth 20mbit' --rate 10mbit --seeds 1 --duration 6s",
        [f'"bandwidth 20mbit" {FASTER.format(rate="10 Mbit/s", key="bottleneck", qdisc="cake")}'],
    ),
    (
        "compare 'codel / htb rate 10mbit child tbf rate 3mbit burst 9kb' --rate 10mbit --up-rate 2mbit --duration 6s",
        [
            f'"rate {rate}" {FASTER.format(rate="2 Mbit/s", key="bottleneck.up", qdisc=qdisc)}'
            for rate, qdisc in (("10mbit", "htb"), ("3mbit", "tbf"))
        ],
    ),
    ("run ok.toml --set bottleneck.qdisc='htb rate 9mbit ceil 100mbit child fq maxrate 50mbit'", []),
    ("run ok.toml --set bottleneck.qdisc='cake ethernet ether-vlan'", []),  # their overheads add up
    (
        "run change.toml",
        ['codel limit: "limit 8" replaces "limit 9": as in tc, the last word holds'],
    ),
    (
        "run class.toml",
        ['change[0]: class 1:10 loses "prio 3": tc sets prio to its default, as the command does not name it'],
    ),
    (
        "compare 'codel ecn noecn' pfifo --duration 6s --seeds 2",
        ['codel ecn: "noecn" replaces "ecn": as in tc, the last word holds'],
    ),
    (
        "compare 'codel target 20' 'pie target 20' pfifo --rate 50Mbps --duration 6s --seeds 1",
        [f"--rate {MBPS}", TWENTY],
    ),
    (
        "compare pfifo --traffic bulk,cbr:10kbps --duration 6s --seeds 1",
        ["--traffic 10kbps is 80 kbit/s, as in tc (bytes); 10kbit is 10 kbit/s"],
    ),
    ("compare pfifo codel --scenario bare.toml --seeds 1", []),  # the file's qdisc is not run
    (
        "sweep bytes.toml --set bottleneck.qdisc='codel target 20,pie' --set path.rtt=5ms,6ms --seeds 1",
        ["bottleneck.rate 2.5mbps is 20 Mbit/s, as in tc (bytes); 2.5mbit is 2.5 Mbit/s", TWENTY],
    ),
    (f"run ok.toml --set bottleneck.qdisc='{CAKE} dual-dsthost' {ALICE}", []),
    (f"run ok.toml --set bottleneck.qdisc='{CAKE} dual-dsthost'", [f'"dual-dsthost" has no effect here: {BOTH}']),
    (f"run ok.toml --set bottleneck.qdisc='{CAKE} hosts nat'", [f'"hosts" has no effect here: {BOTH}']),
    (f"run ok.toml --set bottleneck.qdisc='{CAKE} triple-isolate'", [f'"triple-isolate" has no effect here: {BOTH}']),
    (f"run ok.toml --set bottleneck.qdisc='{CAKE}'", []),  # the default, which nobody typed
    (f"run ok.toml --set bottleneck.qdisc='{CAKE} flows'", []),
    (f"run ok.toml --set bottleneck.qdisc='htb rate 5mbit child {CAKE} srchost'", [f'"srchost" {NONE} here: {BOTH}']),
    (
        f"run ok.toml --set bottleneck.up.qdisc='{CAKE} dual-dsthost' {ALICE}",  # the users' hosts are the sources
        [f'"dual-dsthost" {NONE} on the way up: {SERVER}'],
    ),
    (f"run ok.toml --set bottleneck.up.qdisc='{CAKE} dual-srchost' {ALICE}", []),
    (
        f"run ok.toml --set bottleneck.qdisc='{CAKE} dual-dsthost' --set 'traffic.1={{kind=\"page\"}}'",
        [f'"dual-dsthost" shares between flows here: {BOTH}'],  # a page's connections count as one
    ),
    (
        f"compare '{CAKE} dual-srchost / {CAKE} dual-srchost' --traffic bulk:host=alice --duration 6s --seeds 1",
        [f'"dual-srchost" {NONE} on the way down: {SERVER}'],
    ),
    (
        f"sweep ok.toml --set bottleneck.qdisc='{CAKE} flows,{CAKE} dual-dsthost' --seeds 1",
        [f'"dual-dsthost" {NONE} here: {BOTH}'],
    ),
    (f"sweep ok.toml --set bottleneck.qdisc='{CAKE} dual-dsthost' --set traffic.0.host=a,b --seeds 1", []),
    ("sweep bytes.toml --set bottleneck.rate=50Mbps,5mbit,0bps --seeds 1", [f"--set bottleneck.rate {MBPS}"]),
]


@pytest.mark.parametrize(("command", "expected"), TABLE, ids=[command for command, _ in TABLE])
def test_each_text_that_is_easily_misread_has_one_note(
    command: str, expected: list[str], here: Path, goodqueue: Callable[..., Result]
) -> None:
    (here / "bytes.toml").write_text(TOML.replace("10mbit", "2.5mbps"), encoding="utf-8")
    (here / "bare.toml").write_text(TOML.replace('"codel"', '"codel target 20 interval 1000"'), encoding="utf-8")
    filters = ["u32 match tcp dst 80 0xffff flowid 1:1", "flower ip_proto 17 flowid 1:2"]
    script = ["DEV=e0 # the device", "tc qdisc add dev $DEV root handle 1: prio"]
    script += [f"tc filter add dev $DEV parent 1: protocol ip {one}" for one in filters]
    tree = TOML.replace('qdisc = "codel"', f"tc = {json.dumps(script)}")
    (here / "tree.toml").write_text(tree, encoding="utf-8")
    change = '[[change]]\nat = "1s"\nqdisc = "codel limit 9 limit 8"\n'
    (here / "change.toml").write_text(TOML + change, encoding="utf-8")
    tree = (
        "tc qdisc add dev eth0 root handle 1: htb; tc class add dev eth0 classid 1:10 parent 1: htb rate 5mbit prio 3"
    )
    commands = "tc class change dev eth0 classid 1:10 htb rate 2mbit"
    classes = f'{TOML.replace("codel", tree)}[[change]]\nat = "1s"\nqdisc = "{commands}"\n'
    (here / "class.toml").write_text(classes, encoding="utf-8")
    result = goodqueue(*shlex.split(command))
    said = [line.removeprefix("goodqueue: note: ") for line in result.err.splitlines() if ": note: " in line]
    assert said == expected


def test_json_on_standard_output_stays_clean(here: Path, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("run", "ok.toml", "--set", "bottleneck.rate=5Mbps", "--json")
    assert json.loads(result.out)["scenario"]["bottleneck"]["rate"] == "40mbit"
    assert (
        result.err == "goodqueue: note: --set bottleneck.rate 5Mbps is 40 Mbit/s, as in tc (bytes); 5mbit is 5 Mbit/s\n"
    )


def test_lines_that_are_data_have_none(here: Path, goodqueue: Callable[..., Result]) -> None:
    result = goodqueue("record", "codel target 20", "--packets", "100", "--out", "c.csv")
    assert (result.status, result.err) == (0, "")
