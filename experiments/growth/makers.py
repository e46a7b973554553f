"""Makes the work that is measured: files of a size, and the command that reads them."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from goodqueue import running
from goodqueue.engines import identity
from goodqueue.store import Store, columns, create, seal

LINK = """duration = "0.1s"
warmup = "0s"
[bottleneck]
rate = "100mbit"
{bottleneck}
[path]
rtt = "10ms"
"""
BULK = '[[traffic]]\nkind = "bulk"\n'
SEEDS = 250
RUNS = Path(tempfile.gettempdir()) / "goodqueue-growth"
"""Runs that were made before: all sizes share them. Whoever measures removes the folder."""
LEVELS = 200


def intervals(size: int, folder: Path) -> list[str]:
    """Return the import of a file of iperf3 with ``size`` intervals."""
    streams = [{"socket": 5, "start": at, "end": at + 1, "seconds": 1.0, "bytes": 1_250_000, "bits_per_second": 1e7}
               for at in range(size)]  # fmt: skip
    start = {
        "connected": [{"socket": 5, "local_host": "a", "local_port": 1, "remote_host": "b", "remote_port": 5201}],
        "version": "iperf 3.12",
        "timestamp": {"time": "Sat, 28 Nov 2026 00:00:00 GMT", "timesecs": 1_795_824_000},
        "test_start": {"protocol": "TCP", "num_streams": 1, "omit": 0, "duration": size, "reverse": 0},
    }
    end = {
        "streams": [
            {side: streams[0] | {"end": size, "seconds": size, "sender": True} for side in ("sender", "receiver")}
        ]
    }
    content = {"start": start, "intervals": [{"streams": [one], "sum": one} for one in streams], "end": end}
    (folder / "real.json").write_text(json.dumps(content), encoding="utf-8")
    return ["import", "real.json", "--json"]


def classes(size: int, folder: Path) -> list[str]:
    """Return a run with ``size`` classes of hfsc, each below the one before, on `LEVELS` levels."""
    lines = ["tc qdisc add dev eth0 root handle 1: hfsc default 1"]
    for number in range(2, size + 2):
        parent = "" if number % LEVELS == 2 else f"{number - 1:x}"
        lines.append(f"tc class add dev eth0 parent 1:{parent} classid 1:{number:x} hfsc ls rate 1mbit")
    lines.append("tc class add dev eth0 parent 1: classid 1:1 hfsc ls rate 90mbit")
    (folder / "tree.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "x.toml").write_text(LINK.format(bottleneck='tc = "tree.sh"') + BULK, encoding="utf-8")
    return ["run", "x.toml", "--json"]


def circuits(size: int, folder: Path) -> list[str]:
    """Return a run with a table of ``size`` circuits below a tenth as many nodes."""
    headings = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6"
    rates = "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment"
    rows = [f"{number},c,{number},d,n{number % (size // 10 + 1)},,,,1,1,50,10," for number in range(size)]
    (folder / "devices.csv").write_text("\n".join([f"{headings},{rates}", *rows]) + "\n", encoding="utf-8")
    nodes = {
        f"n{number}": {"downloadBandwidthMbps": 900, "uploadBandwidthMbps": 900} for number in range(size // 10 + 1)
    }
    (folder / "network.json").write_text(json.dumps(nodes), encoding="utf-8")
    files = '[isp]\ndevices = "devices.csv"\nnetwork = "network.json"\ntraffic = "none"\n'
    (folder / "x.toml").write_text(LINK.format(bottleneck='qdisc = "fq_codel"') + BULK + files, encoding="utf-8")
    return ["run", "x.toml", "--json"]


def devices(size: int, folder: Path) -> list[str]:
    """Return a run with ``size`` devices of one circuit, each with an address of its own."""
    headings = "Circuit ID,Device ID,Parent Node,IPv4,Download Max Mbps,Upload Max Mbps"
    rows = [f"c,{number},,{_address(number)},50,10" for number in range(size)]
    (folder / "devices.csv").write_text("\n".join([headings, *rows]) + "\n", encoding="utf-8")
    files = '[isp]\ndevices = "devices.csv"\ntraffic = "none"\n'
    (folder / "x.toml").write_text(LINK.format(bottleneck='qdisc = "fq_codel"') + BULK + files, encoding="utf-8")
    return ["run", "x.toml", "--json"]


def subscribers(size: int, folder: Path) -> list[str]:
    """Return a run with a table of ``size`` subscribers."""
    table = f'[[subscriber]]\nname = "a"\ncount = {size}\ndown = "50mbit"\nup = "10mbit"\ntraffic = "none"\n'
    (folder / "x.toml").write_text(LINK.format(bottleneck='qdisc = "fq_codel"') + BULK + table, encoding="utf-8")
    return ["run", "x.toml", "--json"]


def flows(size: int, folder: Path) -> list[str]:
    """Return a run of ``size`` flows, for each of which the link has 1 Mbit/s."""
    link = f'[bottleneck]\nqdisc = "fq_codel"\nrate = "{size}mbit"\n[path]\nrtt = "100ms"\n'
    traffic = f'[[traffic]]\nkind = "bulk"\ncc = "cubic"\ncount = {size}\nstart_spread = "100ms"\n'
    (folder / "x.toml").write_text('duration = "1s"\nwarmup = "0s"\n' + link + traffic, encoding="utf-8")
    return ["run", "x.toml", "--threads", "1", "--json"]


def filters(kind: str, match: str) -> Callable[[int, Path], list[str]]:
    """Return what makes a run with so many filters of a kind, each with another address at the end of its words."""

    def made(size: int, folder: Path) -> list[str]:
        lines = ["tc qdisc add dev eth0 root handle 1: htb default 1"]
        lines.append("tc class add dev eth0 parent 1: classid 1:1 htb rate 90mbit")
        words = f"tc filter add dev eth0 parent 1: protocol ip prio 1 {kind} {match}"
        lines += [f"{words} {_address(number)} flowid 1:1" for number in range(size)]
        (folder / "tree.sh").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "x.toml").write_text(LINK.format(bottleneck='tc = "tree.sh"') + BULK, encoding="utf-8")
        return ["run", "x.toml", "--json"]

    return made


def _address(number: int) -> str:
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


def stored_sweep(size: int, folder: Path) -> list[str]:
    """Return a sweep of ``size`` runs that a store has. Its records are copies of one per cell."""
    cells, seeds = max(1, size // SEEDS), min(size, SEEDS)
    (folder / "x.toml").write_text(LINK.format(bottleneck='qdisc = "codel"') + BULK, encoding="utf-8")
    rtts = ",".join(f"{number + 1}ms" for number in range(cells))
    words = ["sweep", "x.toml", "--set", f"path.rtt={rtts}", "--seeds", str(seeds), "--store", "st", "--json"]
    _fill(create(folder / "st", "--store"), folder / "x.toml", rtts, seeds)
    return words


def stored_plot(size: int, folder: Path) -> list[str]:
    """Return a figure of the runs of `stored_sweep`, which is carried out before, so that the store has its index."""
    words = [sys.executable, "-m", "goodqueue", *stored_sweep(size, folder)]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return ["plot", "lines", "st", "--metric", "delay_p95_ms", "--x", "path.rtt", "--out", "x.svg", "--force"]


def _fill(store: Store, file: Path, rtts: str, seeds: int) -> None:
    from goodqueue.sweeps import plan
    from goodqueue.sweeps.question import Sweep

    RUNS.mkdir(exist_ok=True)
    for cell in plan.of(Sweep(scenario=str(file), grid=[f"path.rtt={rtts}"])).cells:
        assert cell.scenario is not None
        record: dict[str, Any] = json.loads(running.one_text({**cell.scenario, "seed": 1}))
        for seed in range(1, seeds + 1):
            run = identity.of("sim", {**cell.scenario, "seed": seed})
            made, path = RUNS / f"{run.key}.parquet", store.path(run.key)
            if not made.exists():
                record["seed"] = record["scenario"]["seed"] = seed
                made.write_bytes(seal.write(columns.table(run, json.dumps(record))))  # `put` waits for the disk
            path.parent.mkdir(exist_ok=True)
            shutil.copyfile(made, path)
