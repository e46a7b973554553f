"""Compares the records of two versions of the simulator, for changes that must change no result.

Scenarios: every discipline under every load of crates/netsim/tests/data/behaviour.json, the examples, and random ones.
Those have what a faster loop may get wrong: packets and timers at the same nanosecond, flows that start and stop at
once, series and changes amid all else, queues of one packet, base RTTs from near 0 to long, Wi-Fi cells. The records of
both versions must have the same bytes: on one thread, on 2 and 3, and in 1, 7 and 300 slices. So must those of one
version in all these ways.

    python3 benches/digests.py OTHER_TREE [THIS_TREE] [--random N] [--quick]
    python3 benches/digests.py --aarch64 [--random N] [--quick]

OTHER_TREE needs this tree's crates/netsim/examples/packets.rs. `--aarch64` compares this tree with itself, compiled for
that processor and emulated. It needs Debian's gcc-aarch64-linux-gnu and qemu-user, and Rust's target
aarch64-unknown-linux-gnu.
"""

import argparse
import json
import random
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from instructions import ROOT, build

Scenario = dict[str, Any]

#: The ways in which a run is advanced, as words of the example `packets`.
WAYS = (
    ("slices=1",),
    ("slices=7", "most=1000"),
    ("slices=300", "most=300000"),
    ("threads=2",),
    ("threads=3", "slices=7"),
)

DISCIPLINES = (
    *(
        "pfifo limit 1",
        "pfifo limit 30",
        "pfifo",
        "bfifo limit 20000",
        "pfifo_head_drop limit 20",
        "pfifo_fast",
        "prio",
    ),
    *(
        "codel",
        "codel limit 1",
        "codel ecn ce_threshold 1ms",
        "fq_codel",
        "fq_codel limit 20 flows 4 memory_limit 90000",
    ),
    *("fq_codel flows 1 quantum 300 noecn", "pie", "pie ecn tupdate 1ms", "fq_pie", "docsis_pie", "red", "ared", "sfq"),
    *("choke limit 60 min 10 max 40", "blue", "rem", "pi", "cobalt", "cake", "cake bandwidth 9mbit ack-filter", "fq"),
    *("cake bandwidth 20mbit diffserv4", "cake_mq", "dualpi2", "docsis_lld", "tbf rate 6mbit burst 5kb limit 60kb"),
    *("netem delay 2ms 1ms loss 1%", "netem corrupt 2% duplicate 1% rate 15mbit", "sfb", "red_gentle", "fq_nocodel"),
    *("tbf rate 8mbit burst 5kb child pie", "htb rate 9mbit child codel"),
)
RATES = ("1mbit", "5mbit", "10mbit", "12112kbit", "12112kbit", "25mbit", "100mbit", "1gbit")
RTTS = ("1ms", "2ms", "399999ns", "400us", "7ms", "10ms", "20ms", "50ms", "80ms")
CCS = (
    *(
        "cubic",
        "cubic hystart++",
        "reno",
        "bbr",
        "bbr3",
        "dctcp",
        "prague",
        "vegas",
        "westwood",
        "illinois",
        "scalable",
    ),
    *("ledbat", "ledbat++", "c4", "none"),
)
#: The drivers and rates of a cell.
CELLS = {
    "802.11n": (("ath9k", "iwlwifi", "ath10k", "ideal"), ("minstrel", "minstrel", "mcs0", "mcs7", "mcs15")),
    "802.11g": (("ath5k", "ath5k", "ideal"), ("minstrel", "minstrel", "11mbit", "54mbit")),
}
STACKS = ("linux-3.10", "linux-3.14", "linux-6.1", "linux-6.12", "linux-7.3", "rfc")


def main() -> int:
    """Compare two trees, and return 1 if a record differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("this", type=Path, nargs="?", default=ROOT)
    parser.add_argument(
        "--random",
        type=int,
        default=900,
        metavar="N",
        help="random scenarios, and a fifth as many random Wi-Fi cells [900]",
    )
    parser.add_argument("--quick", action="store_true", help="only in one slice on one thread")
    parser.add_argument("--aarch64", action="store_true", help="compare with the same tree on an emulated processor")
    asked = parser.parse_args()
    if asked.aarch64 == (asked.other is not None):
        parser.error("accepted: OTHER_TREE or --aarch64")
    with tempfile.TemporaryDirectory() as folder:
        other = emulated(Path(folder), asked.this) if asked.aarch64 else program(asked.other)
        programs = [other, program(asked.this)]
        path = Path(folder) / "scenarios"
        cells = map(random_cell, range(asked.random // 5))
        scenarios = [*behaviours(), *examples(), *map(random_one, range(asked.random)), *cells]
        path.write_text("".join(json.dumps(scenario) + "\n" for scenario in scenarios))
        return compare(programs, path, scenarios, WAYS[:1] if asked.quick else WAYS)


def program(tree: Path) -> Path:
    """Return the program of ``tree``. A file is the program itself."""
    return tree if tree.is_file() else build("goodqueue-netsim", "packets", tree)


def emulated(folder: Path, tree: Path) -> Path:
    """Build ``tree`` for aarch64, and return a script in ``folder`` that runs it."""
    target = "aarch64-unknown-linux-gnu"
    linker = f'target.{target}.linker="aarch64-linux-gnu-gcc"'
    built = build("goodqueue-netsim", "packets", tree, ("--target", target, "--config", linker))
    script = folder / "emulated"
    script.write_text(f'#!/bin/sh\nexec qemu-aarch64 -L /usr/aarch64-linux-gnu {shlex.quote(str(built))} "$@"\n')
    script.chmod(0o755)
    return script


def compare(programs: list[Path], path: Path, scenarios: list[Scenario], ways: tuple[tuple[str, ...], ...]) -> int:
    """Print the scenarios whose records differ from the other version's, or by way. Return 1 if there are any."""
    differ, first = 0, list[str]()
    for way in ways:
        lines = [digests(program, path, way) for program in programs]
        first = first or lines[-1]
        for scenario, usual, before, after in zip(scenarios, first, *lines, strict=True):
            if before != after or (has_run(after) and after != usual):
                differ += 1
                print(f"{' '.join(way)}: {before} is now {after}, the first way's {usual}: {json.dumps(scenario)}")
        ran = sum(map(has_run, lines[0]))
        print(f"{' '.join(way)}: {ran} of {len(scenarios)} scenarios ran, {differ} differences so far", flush=True)
    return int(differ > 0)


def has_run(line: str) -> bool:
    """Return whether the line of :func:`digests` has a digest."""
    return "refused" not in line and "not cut" not in line


def digests(program: Path, scenarios: Path, way: tuple[str, ...]) -> list[str]:
    """Return a line per scenario: its number, and the digest or why there is none."""
    result = subprocess.run([program, "digests", *way, scenarios], stdout=subprocess.PIPE, text=True, check=True)
    return [line.removeprefix(f"{scenarios}:") for line in result.stdout.splitlines()]


def behaviours() -> Iterator[Scenario]:
    """Yield the runs of the table of behaviours, shortened."""
    table = json.loads((ROOT / "crates/netsim/tests/data/behaviour.json").read_text())
    for qdisc in table["qdiscs"]:
        for traffic in table["loads"].values():
            scenario = {**table["scenario"], "duration": "8s", "traffic": traffic}
            yield {**scenario, "bottleneck": {**scenario["bottleneck"], "qdisc": qdisc}}


def examples() -> Iterator[Scenario]:
    """Yield the examples, shortened. Files that they name are found beside them."""
    for path in sorted((ROOT / "examples").glob("*.toml")):
        text = path.read_text()
        for name in path.parent.glob("*.mahimahi"):
            text = text.replace(f'"{name.name}"', f'"{name}"')
        scenario = tomllib.loads(text)
        yield {**scenario, "duration": "12s", "warmup": "1s"}


def random_one(seed: int) -> Scenario:
    """Return a random scenario. Those that the simulator refuses are refused in the same words by both versions."""
    dice = random.Random(seed)
    rtt = dice.choice(RTTS)
    link: Scenario = {"rate": dice.choice(RATES), "qdisc": dice.choice(DISCIPLINES)}
    if dice.random() < 0.15:
        link["bursts"] = dice.choice(("1ms", "4ms"))
    elif dice.random() < 0.1:
        link |= {"ring": dice.choice((1, 8)), "bql": "dynamic"}
    elif dice.random() < 0.1:
        link["access"] = dice.choice(("starlink spread 0.5 turn 40ms loss 2", "docsis channel 1gbit"))
    if dice.random() < 0.5:
        link["up"] = {"rate": dice.choice(RATES), "qdisc": dice.choice(DISCIPLINES)}
    scenario: Scenario = {
        "duration": dice.choice(("1500ms", "2s", "2500ms")),
        "warmup": dice.choice(("0s", "300ms", "500ms")),
        "seed": seed,
        "bottleneck": link,
        "path": {"rtt": rtt},
        "traffic": [flow(dice, number) for number in range(dice.choice((1, 1, 2, 3, 5)))],
    }
    if dice.random() < 0.5:
        scenario["series"] = {"interval": dice.choice(("7ms", "10ms", "100ms")), "tcp": True, "cc": True}
        if dice.random() < 0.3:
            scenario["series"]["packets"] = {"from": "500ms", "to": "700ms"}
    if dice.random() < 0.3 and not {"bursts", "access"} & link.keys():
        scenario["change"] = [
            {"at": "800ms", "rate": dice.choice(RATES)},
            {"at": "1003ms", "qdisc": link["qdisc"]},
            {"at": "1200ms", "rtt": dice.choice(RTTS)},
        ][: dice.choice((1, 2, 3))]
    if dice.random() < 0.1:
        scenario["hop"] = [{"kind": "wire", "name": "sea", "delay": "3ms", "jitter": "1ms", "loss": "1%"}]
    return scenario


def random_cell(seed: int) -> Scenario:
    """Return a random scenario with a Wi-Fi cell."""
    dice = random.Random(seed)
    standard = dice.choice(("802.11n", "802.11n", "802.11n", "802.11g"))
    drivers, rates = CELLS[standard]

    def station(number: int) -> Scenario:
        one: Scenario = {"name": f"s{number}", "driver": dice.choice(drivers), "rate": dice.choice(rates)}
        one["count"] = dice.choice((1, 1, 5))
        if dice.random() < 0.6:
            one["snr"] = dice.choice((5.0, 9.0, 12.0, 17.5, 25.0))
        if standard == "802.11n" and dice.random() < 0.3:
            one |= dice.choice(({"aggregate": 3}, {"streams": 1}))
        return one

    cell: Scenario = {"standard": standard, "driver": dice.choice(drivers)}
    cell["station"] = [station(number) for number in range(dice.choice((1, 2, 3)))]
    if dice.random() < 0.5:
        cell |= dice.choice(({"rts": True}, {"band": "2.4ghz"}, {"lifetime": "50ms"}, {"lifetime": "20ms"}))
    traffic = [flow(dice, number) for number in range(dice.choice((1, 2, 3, 5)))]
    for place, source in enumerate(traffic):
        source["station"] = f"s{place % len(cell['station'])}"
        if dice.random() < 0.4:
            source["dscp"] = dice.choice(("ef", "cs1", "af41"))
    return {
        "duration": "2500ms",
        "warmup": "500ms",
        "seed": seed,
        "bottleneck": {"qdisc": dice.choice(("mac80211", *DISCIPLINES)), "wifi": cell},
        "path": {"rtt": dice.choice(RTTS)},
        "traffic": traffic,
    }


def flow(dice: random.Random, number: int) -> Scenario:
    """Return random traffic with a name of its own."""
    both: Scenario = {"name": f"t{number}", "direction": dice.choice(("down", "down", "up"))}
    if dice.random() < 0.3:
        both["rtt"] = dice.choice(RTTS)
    if dice.random() < 0.3:
        both |= {"start": dice.choice(("10ms", "400ms", "1s")), "stop": dice.choice(("1200ms", "1203ms"))}
    tcp: Scenario = {"cc": dice.choice(CCS)} if dice.random() < 0.7 else {}
    if dice.random() < 0.4:
        tcp["ecn"] = dice.choice((True, "accecn"))
    if dice.random() < 0.3:
        tcp["stack"] = dice.choice(STACKS)
    bulk = {**both, **tcp, "kind": "bulk"}
    without_direction = {key: value for key, value in both.items() if key != "direction"}
    return dice.choice(
        (
            bulk,
            {**bulk, "count": dice.choice((2, 10, 30)), "start_spread": dice.choice(("10ms", "100ms"))},
            {**bulk, "count": dice.choice((2, 10, 300))},
            {
                **without_direction,
                "kind": "ping",
                "interval": dice.choice(("5ms", "200ms")),
                "count": dice.choice((1, 3)),
            },
            {**both, "kind": "cbr", "rate": "2mbit", "packet_size": dice.choice((300, 1500))},
            {**both, "kind": "transfer", "size": dice.choice(("20kB", "1MB")), "interval": "30ms", "count": 3},
            {"name": both["name"], "kind": "packmime", "rate": 60},
            {"name": both["name"], "kind": "web_users", "users": 100, "rtt_max": "120ms"},
            {"name": both["name"], "kind": "rrul"},
            {**both, "kind": "media", "max_rate": "4mbit", "ecn": True},
            {"name": both["name"], "kind": "rr", "request": "1kB", "response": "9kB"},
            {"name": both["name"], "kind": "rpm", "interval": "100ms"},
            {**without_direction, "kind": "video", "segment": "400ms", "buffer": "2s"},
            {**without_direction, "kind": "voip"},
        )
    )


if __name__ == "__main__":
    sys.exit(main())
