"""Runs scripts of other projects in the simulator, in `goodqueue link` and on Linux. Writes shares and delays.

``.venv/bin/python -m experiments.foreign_scripts FOLDER [NAME ...] [--engine ENGINE ...]`` needs the scripts in FOLDER,
under the names of `CASES`: the page docs/results/foreign-scripts.md says how each is made. Only numbers are kept, in
``results.json``. The page's tables are written after each run.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from experiments import kept
from goodqueue import engines, scenario
from goodqueue.errors import UserError
from goodqueue.record import Record

HERE = Path(__file__).resolve().parent
PAGE = kept.PAGES / "foreign-scripts.md"

ENGINES = ("sim", "kernel-6.1-process", "link")


class Case(NamedTuple):
    """One script, and the links below it."""

    script: str
    """The file's name and the arguments behind it."""
    down: str
    up: str


CASES = {
    "LibreQoS": Case("libreqos.tc", "100mbit", "100mbit"),
    "Mininet, htb and netem": Case("mininet-netem.sh", "100mbit", "100mbit"),
    "Mininet, hfsc and red": Case("mininet-hfsc.sh", "100mbit", "100mbit"),
    "Mininet, tbf and red": Case("mininet-tbf.sh", "100mbit", "100mbit"),
    "SQM simple.qos": Case("sqm-simple.sh", "100mbit", "20mbit"),
    "qosmate HFSC": Case("qosmate-hfsc.sh", "100mbit", "50mbit"),
    "qosmate HFSC, no stab": Case("qosmate-nostab.sh", "100mbit", "50mbit"),
    "VyOS shaper": Case("vyos-shaper.sh", "100mbit", "100mbit"),
    "VyOS shaper, to line 8": Case("vyos-8.sh", "100mbit", "100mbit"),
    "VyOS cake": Case("vyos-cake.sh", "100mbit", "100mbit"),
    "wondershaper": Case("wondershaper -a eth0 -d 4000 -u 1000", "10mbit", "10mbit"),
}

FLOWS = ("down, plain", "down, EF", "up")
PORTS = (5201, 5202, 5203)


def main() -> None:
    """Run the cases that the command names, and write the page's tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", nargs="*", choices=[[], *CASES])
    parser.add_argument("--engine", action="append", choices=ENGINES)
    asked = parser.parse_args()
    results = kept.load(HERE)
    for name in asked.name or CASES:
        for engine in asked.engine or ENGINES:
            results.setdefault(name, {})[engine] = found = outcome(asked.folder, CASES[name], engine)
            kept.keep(HERE, results)
            print(f"{name}, {engine}: {found}", flush=True)
    kept.below(PAGE, HERE, list(page(results)))


def outcome(folder: Path, case: Case, engine: str) -> dict[str, Any]:
    """Return the goodput of each flow and the mean delay of each queue, or why the script does not run."""
    head = (
        'duration = "11s"\nwarmup = "1s"\n[path]\nrtt = "20ms"\n'
        f'[bottleneck]\nrate = "{case.down}"\ntc = "{folder.resolve() / case.script}"\n'
        f'[bottleneck.up]\nrate = "{case.up}"\n'
    )
    try:
        return by_programs(head) if engine == "link" else by_engine(head, engine)
    except UserError as error:
        return {"refused": str(error).replace(f"{folder.resolve()}/", "")}


def by_engine(head: str, engine: str) -> dict[str, Any]:
    """Return what an engine measures."""
    # Linux's server sends from its port, and what goes up has none that is known before.
    keys = (f"port = {PORTS[0]}\n", f'port = {PORTS[1]}\ndscp = "ef"\n', 'direction = "up"\n')
    traffic = "".join(f'[[traffic]]\nkind = "bulk"\n{key}' for key in keys)
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "foreign.toml"
        file.write_text(head + traffic, encoding="utf-8")
        asked = scenario.load(file) | {"linux": {"release": "6.1"}}
        resolved = scenario.resolve(asked, "foreign.toml")
        record: Record = json.loads(engines.find(engine)(resolved | {"seed": 1}, lambda _: None, Event()))
    return {"mbps": [round(flow["goodput_mbps"], 3) for flow in record["flows"]], **delays(record)}


def by_programs(head: str) -> dict[str, Any]:
    """Return what three programs `iperf3` measure behind the link. Its ends are network namespaces."""
    words = ("-R", "-R --dscp ef", "")
    serve = " ".join(f"iperf3 -4 -s -1 -p {port} >/dev/null &" for port in PORTS) + " wait"
    with tempfile.TemporaryDirectory() as place:
        file, record = Path(place) / "foreign.toml", Path(place) / "record.json"
        Path(place).chmod(0o777)
        file.write_text(head, encoding="utf-8")
        out = [Path(place) / f"{port}.json" for port in PORTS]
        ask = " ".join(
            f"iperf3 -c server -p {port} -C cubic -t 10 -O 1 -J {more} >{file} &"
            for port, more, file in zip(PORTS, words, out, strict=True)
        )
        command = [sys.executable, "-m", "goodqueue", "link", str(file), "--record", str(record)]
        command += ["--", "sh", "-c", serve, "--", "sh", "-c", f"sleep 1; {ask} wait"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not record.exists():
            raise UserError(None, done.stderr.strip().splitlines()[-1].removeprefix("goodqueue: "))
        ends = [json.loads(one.read_text(encoding="utf-8"))["end"]["sum_received"] for one in out]
        return {
            "mbps": [round(end["bits_per_second"] / 1e6, 3) for end in ends],
            **delays(json.loads(record.read_text(encoding="utf-8"))),
        }


def delays(record: Record) -> dict[str, Any]:
    """Return the mean delay in the queue of each direction."""
    queues = record["queues"]
    return {"delay_ms": [round(queues[way]["delay_ms"]["mean"], 2) for way in ("down", "up")]}


def page(results: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table."""
    yield f"| script | run | {' Mbit/s | '.join(FLOWS)} Mbit/s | queue down ms | queue up ms |"
    yield "|---|---|" + "---:|" * 5
    for name in CASES:
        for engine, found in results.get(name, {}).items():
            ran = {"sim": "simulator", "link": "`goodqueue link`"}.get(engine, "Linux 6.1")
            if "refused" not in found:
                numbers = [*(f"{rate:.2f}" for rate in found["mbps"]), *(f"{delay:.1f}" for delay in found["delay_ms"])]
                yield f"| {name} | {ran} | {' | '.join(numbers)} |"
    refused = [
        (name, engine, found["refused"])
        for name in CASES
        for engine, found in results.get(name, {}).items()
        if "refused" in found
    ]
    if refused:
        yield from ("", "Not run:", "")
        yield from (f"- {name}, {engine}: {why}" for name, engine, why in refused)


if __name__ == "__main__":
    main()
