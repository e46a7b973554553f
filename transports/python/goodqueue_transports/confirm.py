"""Confirms runs in virtual time over real sockets: ``python -m goodqueue_transports.confirm [CASE]...``.

Each case is a scenario with one connection. It runs in virtual time, and then in real time: the same stack, with the
same application, over UDP sockets behind `goodqueue link`. The table has both.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goodqueue import running
from goodqueue.scenario import resolve, to_json
from goodqueue.scenario.toml import to_toml


def _case(stack: str, cc: str, qdisc: str, link: str = "50mbit", seconds: int = 20, **keys: Any) -> dict[str, Any]:
    """Return the scenario of a case: 40 ms, and all of the run is measured."""
    return {
        "duration": f"{seconds}s",
        "bottleneck": {"rate": link, "qdisc": qdisc},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "quic", "stack": stack, "cc": cc, **keys}],
    }


JITTER = {
    "kind": "wire",
    "name": "jitter",
    "direction": "up",
    "delay": "1ms",
    "jitter": "0.1ms",
    "jitter_reorders": False,
}
CASES: Mapping[str, dict[str, Any]] = {
    "quinn": _case("quinn", "cubic", "codel ecn"),
    "noq": _case("noq", "cubic", "codel ecn"),
    "quiche": _case("quiche", "cubic", "codel ecn"),
    "s2n-quic": _case("s2n-quic", "cubic", "codel ecn"),
    "aioquic": _case("aioquic", "reno", "codel ecn", link="10mbit"),
    "noq-unpaced": _case("noq", "bbr3", "pfifo limit 25", link="20mbit", rate="4mbit", interval="100ms"),
    "quinn-window": _case("quinn", "bbr", "pfifo limit 200", rate="2mbit", interval="33ms"),
    "noq-gaps": _case("noq", "cubic", "pie ecn", seconds=5),
    "quinn-jitter": _case("quinn", "bbr", "pfifo limit 200", seconds=10) | {"hop": [JITTER]},
}
"""The last four are the faults of docs/results/transports.md."""


def virtual(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return what the case measures in virtual time."""
    record: Any = running.one(scenario)
    (app,), (flow,), queue = record["apps"], record["flows"], record["queues"]["down"]
    return {
        **_of_queue(queue),
        "goodput_mbps": flow["goodput_mbps"],
        "cwnd_max_bytes": app["cwnd_max_bytes"],
        "closed": app["closed"],
    }


def _of_queue(queue: Mapping[str, Any]) -> dict[str, Any]:
    delay = queue["delay_ms"]
    return {"delay_mean_ms": delay["mean"], "delay_p95_ms": delay["p95"], "drop_percent": queue["drop_percent"]}


def real(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return what the case measures over sockets, behind ``goodqueue link``."""
    with tempfile.TemporaryDirectory() as folder:
        case, record = Path(folder, "case.json"), Path(folder, "record.json")
        case.write_text(to_json(resolve(scenario)), encoding="utf-8")
        lines = {role: Path(folder, f"{role}.json") for role in ("server", "client")}
        ends = {
            role: [sys.executable, "-m", "goodqueue_transports.end", role, str(case), "--out", str(file)]
            for role, file in lines.items()
        }
        path = Path(folder, "path.toml")
        path.write_text(to_toml({key: scenario[key] for key in scenario if key != "traffic"}), encoding="utf-8")
        command = [sys.executable, "-m", "goodqueue", "link", str(path), "--record", str(record)]
        subprocess.run([*command, "--", *ends["server"], "--", *ends["client"]], check=True, stdout=subprocess.DEVNULL)
        server, client = (json.loads(lines[role].read_text(encoding="utf-8")) for role in ("server", "client"))
        found: Any = json.loads(record.read_text(encoding="utf-8"))
    ends, late = {"client": client, "server": server}, found["live"]["late_us"]
    return {
        **_of_queue(found["queues"]["down"]),
        "goodput_mbps": client["goodput_mbps"],
        "cwnd_max_bytes": server["cwnd_max_bytes"],
        "closed": next((f"{role}: {end['closed'][1]}" for role, end in ends.items() if end["closed"]), None),
        "late_p99_ms": late and late["p99"] / 1e3,
    }


COLUMNS = ("goodput_mbps", "delay_mean_ms", "delay_p95_ms", "drop_percent", "cwnd_max_bytes", "closed")


def main() -> None:
    """Run the cases, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m goodqueue_transports.confirm", description=__doc__)
    parser.add_argument("case", nargs="*", help=f"accepted: {', '.join(CASES)} (all of them)")
    asked = parser.parse_args().case or list(CASES)
    print(f"| case | time | {' | '.join(COLUMNS)} |\n|---|---|{'---:|' * len(COLUMNS)}")
    for name in asked:
        if name not in CASES:
            parser.error(f"found {name!r}; accepted: {', '.join(CASES)}")
        for time, measure in (("virtual", virtual), ("real", real)):
            found = measure(CASES[name])
            late = f" (packets late: p99 {found['late_p99_ms']:.2f} ms)" if found.get("late_p99_ms") is not None else ""
            print(f"| {name} | {time}{late} | {' | '.join(_cell(found[one]) for one in COLUMNS)} |", flush=True)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
