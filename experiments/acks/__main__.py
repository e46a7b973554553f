"""Counts the ACKs of transfers on a host whose one processor also runs the application, beside the simulator.

``.venv/bin/python -m experiments.acks 6.1 7.3`` boots the kernel engine's machine (qemu) of each release, whose
processor takes time. It writes experiments/acks/results.json and the table of docs/results/acks.md.
experiments/acks/guest.py is what runs inside. Without a release only the simulator runs again.
"""

import json
import statistics
import sys
import threading
from pathlib import Path
from typing import Any

import goodqueue as gq
from experiments import kept
from goodqueue.engines.kernel import cpio, folders, image, vm

PAGE = kept.PAGES / "acks.md"
HERE = Path(__file__).parent
OUT_MB = 64
RATES = ("10mbit", "100mbit", None)
SIZES = {"100 kB": 100_000, "1 MB": 1_000_000}
RMEM, WMEM = "4096 131072 6291456", "4096 16384 4194304"
PHASES, PHASE_MS = 8, 0.13
IDEAL: dict[str, Any] = {"tso": False}, {}
STOCK: dict[str, Any] = {"gso": True}, {"rx_usecs": 20, "reads_after_poll": True}
"""The sender's host and the receiver's. The card waits 20 us, since no link is without a rate here."""


def rtt(rate: str | None) -> str:
    """Return the round trip of the cases of ``rate``."""
    return "40ms" if rate else "20ms"


def cases() -> dict[str, dict[str, Any]]:
    """Return what the machine does, by name."""
    made = {}
    for rate in RATES:
        shaped = [
            "qdisc add DEV root handle 1: htb default 1",
            f"class add DEV parent 1: classid 1:1 htb rate {rate}",
            "qdisc add DEV parent 1:1 pfifo limit 1000",
        ]
        for size, size_bytes in SIZES.items():
            for single in (False, True):
                made[f"{rate}, {size}{', single' if single else ''}"] = {
                    "single": single,
                    "sender": shaped if rate else [],
                    "receiver": [f"qdisc add DEV root netem delay {rtt(rate)} limit 10000"],
                    "size": size_bytes,
                    "sysctls": {"ipv4/tcp_rmem": RMEM, "ipv4/tcp_wmem": WMEM},
                }
    return made


def on_linux(release: str) -> dict[str, Any]:
    """Return the transfers of each case on Linux ``release``."""
    system = image.find(release)
    if system is None:
        raise SystemExit(f"found no image of {release}; accepted: after goodqueue kernel image --machine qemu")
    own = Path(vm.__file__).parent
    files = {
        "init": (own / "init.sh").read_bytes(),
        "lab/guest.py": (HERE / "guest.py").read_bytes(),
        "lab/libc.py": (own / "lab/libc.py").read_bytes(),
        "lab/netlink.py": (own / "lab/netlink.py").read_bytes(),
        "plan.json": json.dumps(cases()).encode(),
    }
    with folders.private() as folder:
        vm.boot(system, cpio.files(files), OUT_MB, folder, lambda share: print(share, flush=True), threading.Event())
        made: dict[str, Any] = json.loads((folder / "results" / "transfers.json").read_text(encoding="utf-8"))
    return made


def simulated(rate: str | None, size: str, release: str, hosts: tuple[dict[str, Any], dict[str, Any]]) -> list[Any]:
    """Return the ACKs and the time of the same transfers in the simulator, each at another phase."""
    found = []
    for phase in range(PHASES):
        down = {"rate": "100gbit", "qdisc": f"htb rate {rate}" if rate else "pfifo limit 100000"}
        run = gq.run(
            {
                "duration": "6s",
                "warmup": "0s",
                "path": {"rtt": rtt(rate)},
                "bottleneck": down | {"up": {"rate": "100gbit", "qdisc": "pfifo limit 100000"}},
                "linux": {"tcp_rmem": RMEM, "tcp_wmem": WMEM},
                "host": [{"name": "s", "role": "server"} | hosts[0], {"name": "r"} | hosts[1]],
                "traffic": [
                    {
                        "kind": "transfer",
                        "size": size.replace(" ", ""),
                        "interval": "100s",
                        "start": f"{100 + phase * PHASE_MS:.2f}ms",
                        "server": "s",
                        "host": "r",
                        "stack": f"linux-{release}",
                    }
                ],
            }
        )
        # Beside ACKs there are a SYN, the ACK that ends the handshake, and a FIN.
        acks = run.record["queues"]["up"]["packets"]["forwarded"] - 3
        found.append([acks, run.record["flows"][0]["completion_ms"]])
    return found


def cell(transfers: list[list[float]]) -> str:
    """Return the mean number of ACKs, with the least and the greatest, and the mean time."""
    acks = [int(count) for count, _ in transfers]
    span = f" ({min(acks)} to {max(acks)})" if min(acks) < max(acks) else ""
    return f"{statistics.mean(acks):.0f}{span}; {statistics.mean(ms for _, ms in transfers):.1f}"


def write(results: dict[str, Any]) -> None:
    """Write the table below the mark."""
    lines = ["| rate, size | release | Linux | simulator, stock | simulator, ideal | ACKs, time of stock off by |"]
    lines.append("|---|---|---|---|---|---|")
    for rate in RATES:
        for size in SIZES:
            for release, found in results.items():
                name = f"{rate}, {size}"
                linux, stock, ideal = found["linux"]["cases"][name], found["stock"][name], found["ideal"][name]
                off = [
                    100
                    * (statistics.mean(one[place] for one in stock) / statistics.mean(one[place] for one in linux) - 1)
                    for place in (0, 1)
                ]
                shown = f"{rate or 'no limit'}, {size}"
                lines.append(
                    f"| {shown} | {release} | {cell(linux)} | {cell(stock)} | {cell(ideal)} "
                    f"| {off[0]:+.1f} %, {off[1]:+.1f} % |"
                )
    kept.below(PAGE, HERE, lines)


def main() -> None:
    """Run the releases of the command line on Linux, and all in the simulator."""
    results = kept.load(HERE)
    for release in sys.argv[1:]:
        results[release] = {"linux": on_linux(release)}
        kept.keep(HERE, results)
    for release, found in results.items():
        for name, hosts in {"stock": STOCK, "ideal": IDEAL}.items():
            found[name] = {f"{rate}, {size}": simulated(rate, size, release, hosts) for rate in RATES for size in SIZES}
    kept.keep(HERE, results)
    write(results)


if __name__ == "__main__":
    main()
