"""Draws whole runs at random: controls, ECN, hosts, trees, both directions, transfers, hops and changes.

Run k of a seed does not depend on how many are drawn. Only `Random.random` is used, whose numbers Python guarantees.
"""

import math
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, TypeVar

from goodqueue import engines
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.traffic import BULK
from goodqueue.validation.packets import runs
from goodqueue.validation.packets.matrix import Cell

One = TypeVar("One")

RATE_MBIT, RTT_MS, TRANSFER_KB = (1, 50), (5, 200), (2, 2000)
DURATION_S = (5, 15)
MOST_MBIT = 200
"""What a link carries in a run at most, so that no run takes minutes."""
CONTROLS = ("cubic", "cubic", "cubic", "reno", "reno", "bbr", "dctcp", "vegas", "westwood", "illinois", "scalable")
LINES = (
    "pfifo limit {packets}", "bfifo limit {bytes}", "pfifo_head_drop limit {packets}", "codel", "codel ecn",
    "codel target {ms}ms", "fq_codel", "fq_codel noecn", "fq_codel quantum 300 flows 64", "pie", "pie ecn", "fq_pie",
    "cake", "cake bandwidth {part}kbit", "cake bandwidth {part}kbit besteffort flows", "cake ack-filter",
    "sfq", "sfq perturb 10", "red limit {bytes} avpkt 1000 probability 0.02 bandwidth {kbit}kbit",
    "choke limit 200 min 10 max 40 avpkt 1000 bandwidth {kbit}kbit", "fq",
)  # fmt: skip
TREES = (
    (
        "tc qdisc add dev eth0 root handle 1: htb default 20",
        "tc class add dev eth0 parent 1: classid 1:1 htb rate {part}kbit",
        "tc class add dev eth0 parent 1:1 classid 1:10 htb rate {fifth}kbit ceil {part}kbit prio 0",
        "tc class add dev eth0 parent 1:1 classid 1:20 htb rate {fifth}kbit ceil {part}kbit prio 1",
        "tc qdisc add dev eth0 parent 1:10 handle 10: fq_codel",
        "tc qdisc add dev eth0 parent 1:20 handle 20: {leaf}",
        "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 443 0xffff flowid 1:10",
    ),
    (
        "tc qdisc add dev eth0 root handle 1: prio bands 3",
        "tc qdisc add dev eth0 parent 1:1 handle 10: pfifo limit 50",
        "tc qdisc add dev eth0 parent 1:2 handle 20: {leaf}",
        "tc qdisc add dev eth0 parent 1:3 handle 30: pfifo limit 100",
    ),
    (
        "tc qdisc add dev eth0 root handle 1: tbf rate {part}kbit burst 5kb limit {bytes}",
        "tc qdisc add dev eth0 parent 1: handle 10: {leaf}",
    ),
)
LEAVES = ("codel", "fq_codel", "pfifo limit 60", "pie", "sfq")


def cells(count: int, seed: int, release: str | None, on: Sequence[str]) -> list[Cell]:
    """Return ``count`` runs of the draw ``seed``, whose names have their number and what is in them."""
    return [_cell(seed, number, release, on) for number in range(1, count + 1)]


def _cell(seed: int, number: int, release: str | None, on: Sequence[str]) -> Cell:
    """Return a run that both engines can make: what one refuses is drawn again."""
    for attempt in range(100):
        draws = _Draws(Random(f"packets/{seed}/{number}/{attempt}"))
        scenario = _scenario(draws, release)
        try:
            resolved = runs.resolved(scenario, release)
            for engine in on:
                engines.check(engine, resolved)
        except UserError:
            continue
        return Cell(f"{number}: {', '.join(draws.words)}", scenario)
    raise AssertionError("a hundred draws were refused")


class _Draws:
    """Random choices, and the words that say what was chosen."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.words: list[str] = []

    def happens(self, share: float, word: str = "") -> bool:
        happened = self._random.random() < share
        if happened and word:
            self.words.append(word)
        return happened

    def one(self, of: Sequence[One]) -> One:
        return of[math.floor(self._random.random() * len(of))]

    def number(self, least: int, most: int) -> int:
        return least + math.floor(self._random.random() * (most - least + 1))

    def even_log(self, ends: tuple[float, float]) -> float:
        """Return a number with two digits, evenly distributed on a logarithmic scale."""
        least, most = map(math.log, ends)
        return float(f"{math.exp(least + self._random.random() * (most - least)):.2g}")


def _scenario(draws: _Draws, release: str | None) -> Scenario:
    rate, rtt = draws.even_log(RATE_MBIT), draws.even_log(RTT_MS)
    duration = min(draws.number(*DURATION_S), max(DURATION_S[0], round(MOST_MBIT / rate)))
    down = _link(draws, round(1000 * rate))
    draws.words += [f"{rate:g}mbit", f"{rtt:g}ms", down.get("qdisc", "tree")]
    if draws.happens(0.4, "other way up"):
        down["up"] = _link(draws, round(1000 * rate / draws.one((2, 5, 10))))
    scenario: dict[str, Any] = {
        "duration": f"{duration}s",
        "warmup": "1s",
        "seed": draws.number(1, 1_000_000),
        "bottleneck": down,
        "path": {"rtt": f"{rtt:g}ms"},
        "traffic": _traffic(draws, release),
    }
    if draws.happens(0.25, "hops"):
        scenario["hop"] = [_hop(draws, rate)]
    if draws.happens(0.2, "change"):
        later = {"at": f"{duration / 2:g}s", "rate": f"{round(1000 * rate * draws.one((0.3, 0.5, 2)))}kbit"}
        scenario["change"] = [later]
    if draws.happens(0.25):
        scenario["host"] = [_host(draws, scenario["traffic"][0])]
    if draws.happens(0.2, "stock buffers"):
        scenario["linux"] = {"tcp_rmem": "stock", "tcp_wmem": "stock"}
    return scenario


def _link(draws: _Draws, kbit: int) -> dict[str, Any]:
    values = {
        "packets": draws.one((10, 30, 100, 300, 1000)),
        "bytes": draws.one((20_000, 100_000, 400_000)),
        "ms": draws.one((2, 10, 30)),
        "kbit": kbit,
        "part": kbit * 9 // 10,
        "fifth": kbit // 5,
    }
    if draws.happens(0.15):
        commands = [command.format(**values, leaf=draws.one(LEAVES)) for command in draws.one(TREES)]
        return {"rate": f"{kbit}kbit", "tc": commands}
    return {"rate": f"{kbit}kbit", "qdisc": draws.one(LINES).format(**values)}


def _traffic(draws: _Draws, release: str | None) -> list[dict[str, Any]]:
    traffic = [_bulk(draws, "down")]
    if draws.happens(0.35, "second control"):
        traffic.append(_bulk(draws, "down"))
    if draws.happens(0.3, "both directions"):
        traffic.append(_bulk(draws, "up"))
    if draws.happens(0.4, "transfers"):
        size = draws.even_log(TRANSFER_KB)
        again = {"interval": f"{draws.number(1, 20) * 100}ms"}
        direction = draws.one(("down", "down", "up"))
        traffic.append({"kind": "transfer", "size": f"{round(size * 1000)}B", "direction": direction, **again})
    if draws.happens(0.15, "requests"):
        sizes = {"request": f"{draws.number(1, 3000)}B", "response": f"{draws.number(1, 9000)}B"}
        traffic.append({"kind": "rr", **sizes, "think": f"{draws.number(1, 500)}ms"})
    has_accecn = release == "7.3" and draws.happens(0.15, "AccECN")
    for number, flows in enumerate(traffic):
        flows["name"] = f"{flows['kind']}{number}"
        flows["start_spread"] = "1s"
        if has_accecn:
            flows["ecn"] = "accecn"
    return traffic


def _bulk(draws: _Draws, direction: str) -> dict[str, Any]:
    control = draws.one(CONTROLS)
    count = draws.number(1, 4)
    flows: dict[str, Any] = {"kind": BULK, "cc": control, "count": count, "direction": direction}
    draws.words.append(f"{count} {control}")
    if control != "dctcp" and draws.happens(0.35, "ECN"):
        flows["ecn"] = True
    if draws.happens(0.15, "pacing"):
        flows["pacing"] = True
    if draws.happens(0.15, "stops"):
        flows["stop"] = f"{draws.number(3, 4)}s"
    return flows


def _hop(draws: _Draws, rate: float) -> dict[str, Any]:
    place: Mapping[str, Any] = draws.one(({"before": "bottleneck"}, {"after": "bottleneck"}, {"direction": "up"}))
    if draws.happens(0.4):
        line = draws.one(("pfifo limit 100", "fq_codel"))
        return {
            "name": "link",
            "kind": "link",
            "rate": f"{rate * draws.one((0.8, 2, 10)):g}mbit",
            "qdisc": line,
            **place,
        }
    wire: dict[str, Any] = {"name": "wire", "kind": "wire", "delay": f"{draws.number(1, 30)}ms", **place}
    kind = draws.one(("", "", "loss", "jitter", "reorder"))
    if kind:
        draws.words.append(kind)
    if kind == "loss":
        wire["loss"] = draws.one(("0.1%", "1%"))
    elif kind == "jitter":
        wire |= {"jitter": "1ms", "jitter_reorders": draws.happens(0.5)}
    elif kind == "reorder":
        wire["reorder"] = "1%"
    return wire


def _host(draws: _Draws, entry: dict[str, Any]) -> dict[str, Any]:
    """Return a host with an interface, and put the traffic ``entry`` on it.

    Without an interface the bottleneck would be the host's own queue, before which nothing can be captured.
    """
    role = draws.one(("host", "server", "server"))
    entry[role] = "box"
    line, rate = draws.one(("fq", "fq_codel", "pfifo_fast")), draws.one((50, 100, 1000))
    draws.words.append(f"host {line}")
    return {"role": role, "name": "box", "rate": f"{rate}mbit", "qdisc": line, "tso": False}
