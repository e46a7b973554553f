"""Makes experiments/parameters/parameters.txt: the numbers that `tc` and Linux make of a line, read from both.

``.venv/bin/python -m experiments.parameters`` boots the kernel engine's machine of each release of `RELEASES`.
experiments/parameters/guest.py is what runs inside. Numbers that `tc` sends are taken from its messages. The kernel's
own are added under the same names with ``kernel_`` before them, where they differ or where `tc` sent nothing.

Two tests in crates/conformance/tests/parameters.rs compare with this file the headers of decision traces, and what
our disciplines make of a line. Tests of crates/qdisc (tc_numbers.rs) compare RED's idle table and htb's buckets.
"""

import json
import re
import struct
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from goodqueue import qdisc
from goodqueue.engines.kernel import cpio, folders, image, tc, vm
from goodqueue.errors import UserError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
RELEASES = ("6.1", "7.3")
OUT_MB = 64

SPELLINGS = """
red limit 400000 avpkt 1000
red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 bandwidth 10mbit
red limit 60000 min 5000 max 15000 avpkt 600 burst 12 bandwidth 3mbit
red limit 60000 min 5000 max 15000 avpkt 1000 burst 8 bandwidth 60mbit
red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 1mbit
red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 1gbit
red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 bandwidth 20gbit
red limit 400000 min 30000 max 35000 avpkt 1000 burst 35 probability 1
choke limit 1000 bandwidth 10mbit
choke limit 200 min 10 max 40 avpkt 600 burst 20 bandwidth 3mbit probability 0.1
choke limit 1000 min 83 max 250 bandwidth 10mbit probability 1
sfq
sfq limit 600 redflowlimit 60000 min 4000 max 12000 avpkt 1000 burst 6 probability 0.1 ecn
codel
codel target 1500us interval 33ms ce_threshold 3ms
fq_codel
fq_codel target 2ms interval 40ms ce_threshold 1500us
pie
pie target 20ms tupdate 30ms alpha 1 beta 10
fq_pie
fq_pie target 5ms tupdate 8ms alpha 1 beta 10
fq
fq maxrate 800kbit refill_delay 10ms low_rate_threshold 1mbit
dualpi2
dualpi2 target 5ms tupdate 8ms alpha 0.3125 beta 6.25 step_thresh 2ms
cake
cake bandwidth 10mbit
cake bandwidth 20mbit rtt 30ms
cake bandwidth 20mbit satellite
cake metro
cake bandwidth 20mbit pppoe-ptm ether-vlan
cake bandwidth 20mbit docsis
cake bandwidth 20mbit conservative
cake bandwidth 8mbit bridged-llcsnap
cake bandwidth 8mbit atm overhead 38 mpu 84
cake bandwidth 8mbit besteffort flows ack-filter ingress nat wash no-split-gso memlimit 100000
htb rate 1mbit
htb rate 5mbit ceil 10mbit burst 15k
htb rate 3333kbit ceil 7777kbit burst 1601 cburst 1b
htb rate 5mbit overhead 40 mpu 84 linklayer atm burst 3000 cburst 1600
htb rate 40gbit ceil 45gbit
tbf rate 1mbit burst 32kb latency 50ms
tbf rate 3333kbit burst 5000 limit 30000 peakrate 10mbit mtu 1601
hfsc sc umax 1500b dmax 20ms rate 1mbit
hfsc rt m1 3mbit d 40ms m2 500kbit ls rate 1mbit ul rate 2mbit
""".strip().splitlines()
"""Lines besides those of the traces: as short as can be, and with values that `tc` converts."""

Read = Callable[[bytes], dict[str, str]]


def each(*keys: str) -> dict[int, Read]:
    """Return the readers of 32-bit numbers whose attributes begin at 1."""
    return dict(enumerate(map(number, keys), 1))


def number(key: str, code: str = "I") -> Read:
    """Return the reader of one number."""
    return lambda data: {key: str(struct.unpack_from(f"={code}", data)[0])}


def numbers(*keys: str, code: str) -> Read:
    """Return the reader of a struct. The keys are those of its numbers. ``-`` stands for one that says nothing."""
    return lambda data: {
        key: str(value) for key, value in zip(keys, struct.unpack_from(f"={code}", data), strict=True) if key != "-"
    }


def bits(key: str) -> Read:
    """Return the reader of a list of bytes."""
    return lambda data: {key: " ".join(str(byte) for byte in data)}


def words(key: str) -> Read:
    """Return the reader of a list of 32-bit numbers."""
    return lambda data: {key: " ".join(str(word) for (word,) in struct.iter_unpack("=I", data))}


RATE = ("-", "{}_linklayer", "{}_overhead", "-", "{}_mpu", "{}_Bps")
"""struct tc_ratespec, whose first number is of the rate table, which no kernel since 3.8 reads."""


def rates(*names: str) -> tuple[str, ...]:
    """Return the keys of several structs tc_ratespec."""
    return tuple(key if key == "-" else key.format(name) for name in names for key in RATE)


RED = numbers("cfg_limit", "cfg_min", "cfg_max", "cfg_wlog", "cfg_plog", "cfg_scell_log", "cfg_flags", code="IIIBBBB")
SFQ = numbers(
    *("quantum_bytes", "perturb_s", "limit_packets", "divisor", "maxflows", "maxdepth_packets", "headdrop"),
    *("-", "cfg_min", "cfg_max", "cfg_wlog", "cfg_plog", "cfg_scell_log", "cfg_flags", "cfg_max_P"),
    code="IiIIIIIIIIBBBBI",
)
CURVE = ("m1", "d", "m2")

ATTRIBUTES: dict[str, dict[int, Read]] = {
    "red": {1: RED, 2: bits("cfg_stab"), 3: number("cfg_max_P"), 4: number("cfg_flags")},
    "choke": {1: RED, 2: bits("cfg_stab"), 3: number("cfg_max_P")},
    "codel": each("target_us", "limit_packets", "interval_us", "ecn", "ce_threshold_us"),
    "fq_codel": {
        **each("target_us", "limit_packets", "interval_us", "ecn", "buckets", "quantum_bytes", "ce_threshold_us"),
        8: number("drop_batch_packets"),
        9: number("memory_limit_bytes"),
        10: number("ce_threshold_selector", "B"),
        11: number("ce_threshold_mask", "B"),
    },
    "pie": each(
        *("target_us", "limit_packets", "tupdate_us", "alpha", "beta", "ecn", "bytemode", "dq_rate_estimator"),
    ),
    "fq_pie": each(
        *("limit_packets", "buckets", "target_us", "tupdate_us", "alpha", "beta", "quantum_bytes"),
        *("memory_limit_bytes", "ecn_prob_percent", "ecn", "bytemode", "dq_rate_estimator"),
    ),
    "dualpi2": {
        **each("limit_packets", "memory_limit_bytes", "target_us", "tupdate_us", "alpha_256", "beta_256"),
        7: number("step_thresh_packets"),
        8: number("step_thresh_us"),
        9: number("min_qlen_step"),
        10: number("coupling_factor", "B"),
        11: number("drop_overload", "B"),
        12: number("drop_early", "B"),
        13: number("c_protection_wc", "B"),
        14: number("ecn_mask", "B"),
        15: number("split_gso", "B"),
    },
    "cake": {
        2: number("shape_bytes_per_s", "Q"),
        3: number("tin_mode"),
        4: number("atm_mode"),
        5: number("flow_mode_bits"),
        6: number("rate_overhead", "i"),
        7: number("interval_us"),
        8: number("target_us"),
        9: number("autorate"),
        10: number("buffer_limit_bytes"),
        11: number("nat"),
        12: number("raw"),
        13: number("wash"),
        14: number("rate_mpu"),
        15: number("ingress"),
        16: number("ack_filter"),
        17: number("split_gso"),
        18: number("fwmark_mask"),
    },
    "fq": {
        **each(
            *("limit_packets", "flow_limit_packets", "quantum_bytes", "initial_quantum_bytes", "rate_enable"),
            *("flow_default_rate_Bps", "flow_max_rate_Bps", "buckets_log", "flow_refill_delay_us", "orphan_mask"),
            *("low_rate_threshold_Bps", "ce_threshold_us", "timer_slack_ns", "horizon_us"),
        ),
        15: number("horizon_drop", "B"),
        16: lambda data: {"prio2band": " ".join(map(str, data[4:20]))},
        17: words("weights_bytes"),
    },
    "htb": {
        1: numbers(*rates("rate", "ceil"), "buffer", "cbuffer", "quantum", "level", "prio", code="BBHhHI" * 2 + "5I"),
        6: number("rate64_Bps", "Q"),
        7: number("ceil64_Bps", "Q"),
    },
    "tbf": {
        1: numbers(*rates("rate", "peak"), "limit", "buffer", "mtu", code="BBHhHI" * 2 + "3I"),
        4: number("rate64_Bps", "Q"),
        5: number("peak64_Bps", "Q"),
        6: number("burst_bytes"),
        7: number("pburst_bytes"),
    },
    "hfsc": {
        place: numbers(*(f"{name}_{part}" for part in CURVE), code="III")
        for place, name in enumerate(("rsc", "fsc", "usc"), 1)
    },
}
"""The options of each kind by attribute (include/uapi/linux/pkt_sched.h). Names are those of the traces' headers."""
STRUCTS: dict[str, Read] = {"sfq": SFQ, **dict.fromkeys(("pfifo", "bfifo", "pfifo_head_drop"), number("limit"))}
"""Kinds whose options are one struct."""


def read(kind: str, options: bytes) -> dict[str, str]:
    """Return the numbers in the options of a discipline."""
    if kind in STRUCTS:
        return STRUCTS[kind](options) if options else {}
    found: dict[str, str] = {}
    while len(options) >= 4:
        length, place = struct.unpack_from("=HH", options)
        reader = ATTRIBUTES[kind].get(place & 0x3FFF)
        if reader is not None:
            found |= reader(options[4:length])
        options = options[(length + 3) & ~3 :]
    return found


def of_traces() -> dict[str, list[str]]:
    """Return the lines of the project's decision traces by release. A trace of a later mainline counts as the last."""
    traces = sorted(str(file) for file in (ROOT / "golden").glob("*/*.csv.gz") if file.parent.name != "tc")
    command = ["cargo", "run", "--quiet", "--package", "goodqueue-conformance", "--example", "lines", "--", *traces]
    made = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    found: dict[str, list[str]] = {release: [] for release in RELEASES}
    for kernel, line in (each.split("\t") for each in sorted(set(made.splitlines()))):
        found[next((known for known in RELEASES if kernel.startswith(f"{known}.")), RELEASES[-1])].append(line)
    return found


def commands(line: str) -> list[list[str]]:
    """Return the commands that type ``line`` as it is: of htb and hfsc it has the words of a class."""
    kind, *rest = line.split()
    root = ["qdisc", "add", "dev", "v0", "root", "handle", "1:"]
    if kind in ("htb", "hfsc"):
        return [[*root, kind], ["class", "add", "dev", "v0", "parent", "1:", "classid", "1:1", kind, *rest]]
    return [[*root, kind, *rest]]


def typed(line: str) -> list[list[str]]:
    """Return the commands for a trace's ``line``, whose words are ours, in `tc`'s words, or nothing if it has none."""
    kind, *rest = line.split()
    if kind in ("pfifo_fast", "cake_mq"):
        return []  # pfifo_fast has no options, and cake_mq needs a device with several queues
    if kind == "cake":  # tc derives the target from the rtt
        place = rest.index("target")
        return commands(" ".join([kind, *rest[:place], *rest[place + 2 :]]))
    if kind == "red":  # the kernel engine refuses `adaptive`, and tc takes it
        return commands(line)
    # A trace has CoDel's times in ticks of 1024 ns, and tc takes microseconds.
    whole = re.sub(r"(ce_threshold) (\d+)ns", lambda found: f"{found[1]} {-(-int(found[2]) // 1000)}us", line)
    try:
        made = tc.translate(qdisc.make(whole, rate="10mbit").line, 10_000_000, "", "1:")[0]
    except UserError as error:  # `tc` has no word for one of its options
        print(f"left out: {line}: {error}")
        return []
    return [["qdisc", "add", "dev", "v0", "root", *made[2:]]]


def asked(release: str, lines: dict[str, list[list[str]]]) -> str:
    """Return what `tc` and the kernel of ``release`` make of the commands by line, as the file has it."""
    system = image.find(release)
    if system is None:
        accepted = f"after goodqueue kernel image --kernel {release}"
        raise SystemExit(f"found no image of Linux {release}; accepted: {accepted}")
    files = {
        "init": Path(vm.__file__).with_name("init.sh").read_bytes(),
        "lab/guest.py": (HERE / "guest.py").read_bytes(),
        "plan.json": json.dumps(list(lines.values())).encode(),
    }
    with folders.private() as folder:
        vm.boot(system, cpio.files(files), OUT_MB, folder, lambda _: None, threading.Event())
        made = json.loads((folder / "results" / "parameters.json").read_text(encoding="utf-8"))
    text = [f"# {release}: {made['tc']}, Linux {made['kernel']}"]
    for line, one in zip(lines, made["lines"], strict=True):
        kind = line.split()[0]
        sent, kept = (read(kind, bytes.fromhex(one[key])) for key in ("sent", "kept"))
        text.append(f"{release} {line}")
        if one["said"] and not kept:
            text.append(f"  refused={one['said'].splitlines()[0]}")
        text += [f"  {key}={value}" for key, value in sent.items()]
        text += [f"  kernel_{key}={value}" for key, value in kept.items() if sent.get(key) != value]
    return "\n".join(text) + "\n"


def main() -> None:
    """Write the file."""
    text = "# Made by experiments/parameters, which says what the keys are: do not edit.\n"
    for release, lines in of_traces().items():
        entries = {line: made for line in lines if (made := typed(line))}
        text += asked(release, entries | {line: commands(line) for line in SPELLINGS})
    (HERE / "parameters.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
