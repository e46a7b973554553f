"""Turns a qdisc's canonical line into the words of Linux's ``tc``, for each kernel of the engine and its iproute2.

goodqueue's words are `tc`'s, so most pass unchanged. Parameters that `tc` lacks are refused by name, never ignored.
The exception is a parameter that does nothing here (``noecn`` where `tc` knows only ``ecn``): it is omitted. Times
are whole microseconds, which is `tc`'s resolution.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from goodqueue.errors import UserError, quoted
from goodqueue.scenario import discipline

LEAF = "10:"
"""The handle of the scenario's discipline, whose counters are the queue's."""

FULL_FRAME = 1514

TELL_IDLE = ("red", "choke")
"""Disciplines whose average decays while the link idles. htb never asks an empty child for a packet, so the child would
not notice the idle time. Its average would stay above ``max`` and drop everything for good."""

MULTI_QUEUE = ("cake_mq",)
"""Disciplines that Linux takes only at the root of a device with several transmit queues."""

HOLD_BACK = ("tbf", "htb", "netem")
"""Disciplines that hold packets back themselves. htb considers a child broken that has packets but returns none."""


@dataclass(frozen=True, slots=True)
class Line:
    """A canonical line, parsed."""

    name: str
    values: dict[str, str]
    """The text of each parameter that the line sets, or a flag's word: ``ecn``, ``noecn``."""
    child: str | None
    """The line of the discipline inside."""
    stab: tuple[str, ...] = ()
    """The words of the size table in front of the line."""

    def text(self, name: str) -> str | None:
        """Return the text of parameter ``name``, or None if it is not set."""
        return self.values.get(name)

    def refuse(self, name: str, accepted: str) -> UserError:
        """Return the error that refuses parameter ``name``."""
        is_flag = _params()[self.name][name]["unit"] == "flag"
        words = self.values[name] if is_flag else f"{name} {self.values[name]}"
        return UserError(f"found {quoted(f'{self.name} {words}')}; accepted by the kernel engine: {accepted}")


def translate(line: str, rate_bps: int, parent: str = "1:1", handle: str = LEAF) -> list[list[str]]:
    """Return the commands that make the discipline of a canonical ``line`` on a link of ``rate_bps``.

    Each command is the words after ``tc qdisc add dev DEV``, or after ``tc class add dev DEV`` if its first word is
    ``class``. The outermost discipline is first. Raises UserError, without the key, for what the kernel lacks.
    """
    if discipline.is_python(line):
        raise UserError(f"found {quoted(line)}, which is written in Python; accepted by the kernel engine: {known()}")
    parsed = parse(line)
    make = DISCIPLINES.get(parsed.name)
    if make is None:
        raise UserError(
            f"found {quoted(parsed.name)}, which its kernels have not; accepted by the kernel engine: {known()}"
        )
    variant = parsed.text("variant")
    if variant not in (None, "linux"):
        raise parsed.refuse("variant", "variant linux")
    if parsed.stab:
        accepted = "a line without stab, which Linux takes only at the root, where the link's shaper is"
        raise UserError(f"found {quoted(' '.join(parsed.stab))}; accepted by the kernel engine: {accepted}")
    return make(parsed, rate_bps, ["parent", parent, "handle", handle])


def known() -> str:
    """Return the disciplines that the engine can run, for error messages."""
    return ", ".join(DISCIPLINES)


def shaper(line: str) -> str:
    """Return which of Linux's disciplines plays the serial link above ``line``: ``htb``, ``cbs`` or ``none``.

    cbs asks until the queue is empty, as a network card does. htb is nearer to the exact rate. A device has nothing
    above a `MULTI_QUEUE` discipline, which shapes to a rate of its own.
    """
    parsed = parse(line)
    if parsed.name in MULTI_QUEUE:
        return "none"
    holds_back = parsed.name in HOLD_BACK or own_rate(parsed) is not None or "maxrate" in parsed.values
    return "cbs" if parsed.name in TELL_IDLE or holds_back else "htb"


def own_rate(line: Line) -> str | None:
    """Return the rate that the discipline itself shapes to, or None if its line gives none."""
    if line.name in HOLD_BACK:
        return line.text("rate")
    return line.text("bandwidth") if line.name in ("cake", "cake_mq") else None


def queues(line: str) -> int:
    """Return how many transmit queues a device must have for the canonical ``line``."""
    return int(parse(line).text("txqueues") or 1)


def limit_frames(line: Line) -> int:
    """Return how many full frames the discipline holds at most, or 1000 if its line sets no limit."""
    limit = int(line.text("limit") or 1000)
    in_bytes = "limit" in line.values and _params()[line.name]["limit"]["unit"] == "bytes"
    return -(-limit // FULL_FRAME) if in_bytes else limit


def parse(line: str) -> Line:
    """Parse a canonical line, which is a line of a resolved scenario."""
    from goodqueue import _goodqueue

    stab, (name, *_) = discipline.split_stab(line)
    values: dict[str, str] = {}
    child = None
    if name not in _params():  # written in Python, or of a Wi-Fi cell
        return Line(name, values, child, tuple(stab))
    for step in json.loads(_goodqueue.qdisc_reading(line))["steps"]:
        if step["unit"] == "line":
            child = step["value"]
            break
        values[step["param"]] = step["word" if step["unit"] == "flag" else "value"]
    return Line(name, values, child, tuple(stab))


@cache
def _params() -> dict[str, dict[str, dict[str, Any]]]:
    """Return the registry's parameters by discipline and name."""
    from goodqueue import _goodqueue

    return {
        qdisc["name"]: {param["name"]: param for param in qdisc["params"]} for qdisc in json.loads(_goodqueue.qdiscs())
    }


def _microseconds(line: Line, name: str) -> int:
    from goodqueue import _goodqueue

    ns = _goodqueue.time_ns(line.values[name])
    if ns % 1000 or ns >= 1000 << 32:
        raise line.refuse(name, "whole microseconds, at most 4294s")
    return ns // 1000


def _words(line: Line, *names: str) -> list[str]:
    """Return the words of those parameters among ``names`` that the line sets."""
    words = []
    params = _params()[line.name]
    for name in names:
        if name in line.values:
            time = params[name]["unit"] == "time"
            words += [name, f"{_microseconds(line, name)}us" if time else line.values[name]]
    return words


def _on(line: Line, *names: str) -> list[str]:
    """Return those flags among ``names`` that are on: `tc` has no word for "off"."""
    return [name for name in names if line.values.get(name) == name]


def _either(line: Line, *names: str) -> list[str]:
    """Return the flags ``names`` as the line sets them, on or off, for flags where `tc` has a word for both."""
    return [line.values[name] for name in names if name in line.values]


Make = Callable[[Line, int, list[str]], list[list[str]]]


def _fifo(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    return [[*parent, line.name, *_words(line, "limit")]]


def _pfifo_fast(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    _refuse_other_length(line)
    return [[*parent, "pfifo_fast"]]


def _fq(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    """Return the command for fq. Linux has had bands since 6.7: before, ``priomap`` and ``weights`` are no words."""
    words = _words(line, "limit", "flow_limit", "buckets", "orphan_mask", "quantum", "initial_quantum", "maxrate")
    words += _words(line, "low_rate_threshold", "refill_delay", "horizon", "ce_threshold")
    words += ["timer_slack", line.values["timer_slack"]]  # tc takes nanoseconds here
    words.append(line.values["beyond"])
    for name in ("priomap", "weights"):
        if (text := line.text(name)) is not None and text != _params()[line.name][name]["default"]:
            words += [name, *text.split()]
    return [[*parent, "fq", *words, *_either(line, "pacing")]]


def _prio(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    _refuse_other_length(line)
    return [[*parent, "prio", "bands", line.values["bands"], "priomap", *line.values["priomap"].split()]]


def _refuse_other_length(line: Line) -> None:
    if line.text("txqueuelen") != "1000":
        raise line.refuse("txqueuelen", "1000, as the laboratory's interfaces have it")


def _codel(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    return [[*parent, "codel", *_words(line, "limit", "target", "interval", "ce_threshold"), *_either(line, "ecn")]]


def _fq_codel(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    """Return the command for fq_codel. ``fq_nocodel`` is Linux's fq_codel with a target that no packet waits for."""
    names = ["limit", "flows", "quantum", "target", "interval", "ce_threshold", "ce_threshold_selector"]
    words = _words(line, *names, "memory_limit", "drop_batch")
    return [[*parent, "fq_codel", *words, *_either(line, "ecn")]]


def _pie(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    words = _words(line, "limit", "target", "tupdate", "alpha", "beta")
    return [[*parent, "pie", *words, *_either(line, "ecn", "bytemode", "dq_rate_estimator")]]


def _fq_pie(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    names = ["limit", "flows", "target", "tupdate", "alpha", "beta", "quantum", "memory_limit", "ecn_prob"]
    return [[*parent, "fq_pie", *_words(line, *names), *_either(line, "ecn", "bytemode", "dq_rate_estimator")]]


def _red(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    """Return the command for RED. tc derives unset parameters, as `qdisc::aqm::red::setup` does.

    tc sends ``adaptive`` among the flags that came with ``nodrop``. Linux shows the flag from there, but starts the
    timer that moves the probability by the old flags alone. The probability would not move, so ``adaptive`` is
    refused.
    """
    if _on(line, "adaptive"):
        raise line.refuse("adaptive", "noadaptive, since tc 5.7 and later does not start Linux's timer for it")
    words = _words(line, "limit", "min", "max", "avpkt", "burst", "bandwidth", "probability")
    return [[*parent, "red", *words, *_on(line, "ecn", "harddrop", "nodrop")]]


def _dualpi2(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    """Return the command for DualPI2. tc turns ``max_rtt`` and ``typical_rtt`` into the words that the line shows."""
    if line.text("l4s") == "ect0":
        raise line.refuse("l4s", "l4s_ect or any_ect, since tc has no word for ECT(0) alone")
    words = _words(line, "limit", "memlimit", "coupling_factor", "target", "tupdate", "alpha", "beta", "step_thresh")
    words += _words(line, "min_qlen_step") if line.values["min_qlen_step"] != "0" else []
    words += [line.values[name] for name in ("on_overload", "drop_at", "l4s", "split_gso") if name in line.values]
    words += ["classic_protection", line.values["classic_protection"].rstrip("%")]
    return [[*parent, "dualpi2", *words]]


def _choke(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    if _on(line, "harddrop"):
        raise line.refuse("harddrop", "noharddrop, since tc has no word for it")
    words = _words(line, "limit", "min", "max", "avpkt", "burst", "bandwidth", "probability")
    return [[*parent, "choke", *words, *_on(line, "ecn")]]


def _sfb(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    words = _words(line, "limit", "max", "target", "increment", "decrement", "penalty_rate", "penalty_burst")
    for name in ("rehash", "db"):
        if not line.values[name].isdecimal():
            raise line.refuse(name, "whole milliseconds")
        words += _words(line, name)
    return [[*parent, "sfb", *words]]


def _sfq(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    words = _words(line, "limit", "depth", "flows", "divisor", "quantum", "perturb") + _on(line, "headdrop")
    if "redflowlimit" in line.values:
        words += _words(line, "redflowlimit", "min", "max", "avpkt", "burst", "probability")
        words += _on(line, "ecn", "harddrop")
    return [[*parent, "sfq", *words]]


def _cake(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    if "target" in line.values:
        raise line.refuse("target", "no target, since tc derives it from rtt")
    words = _words(line, "bandwidth") or ["unlimited"]
    # `bandwidth` after `autorate-ingress` would switch it off; `raw` after an overhead would cancel that overhead.
    alone = ("autorate", "diffserv", "isolation", "direction", "ack_filter", "gso", "framing", "base", "cells")
    words += [line.values[name] for name in alone if name in line.values]
    words += _words(line, "rtt", "overhead", "memlimit", "fwmark")
    words += _words(line, "mpu") if line.values["mpu"] != "0" else []
    return [[*parent, line.name, *words, *_either(line, "wash", "nat")]]


def _cake_mq(line: Line, rate_bps: int, parent: list[str]) -> list[list[str]]:
    """Return the command for cake_mq. Nothing above it would serve the packets of several queues one at a time."""
    from goodqueue import _goodqueue

    if (bandwidth := line.text("bandwidth")) is None or _goodqueue.rate_bps(bandwidth) >= rate_bps:
        problem = f"found {quoted(f'cake_mq bandwidth {bandwidth}' if bandwidth else 'cake_mq')}"
        raise UserError(f"{problem}; accepted by the kernel engine: a bandwidth below the link's rate")
    if parent[:2] != ["parent", "1:1"]:
        raise UserError('found "cake_mq" inside; accepted by the kernel engine: cake_mq alone, at the device\'s root')
    return _cake(line, rate_bps, ["root", *parent[2:]])


def _tbf(line: Line, rate_bps: int, parent: list[str]) -> list[list[str]]:
    _refuse_told(line)
    words = _words(line, "rate") or ["rate", f"{rate_bps}bit"]
    words += _words(line, "burst")
    if "peakrate" in line.values:
        words += _words(line, "peakrate") + (_words(line, "minburst") or ["minburst", str(FULL_FRAME)])
    words += _framing(line)
    if line.child is not None:
        # tc requires a limit. It applies to the default queue, which the child replaces.
        words += ["limit", str(1000 * FULL_FRAME)]
    else:
        words += _words(line, "limit") or _words(line, "latency") or ["latency", "70ms"]
    handle = parent[-1]
    outer = [*parent, "tbf", *words]
    return [outer, *_child(line, rate_bps, f"{handle}1", handle)]


def _htb(line: Line, rate_bps: int, parent: list[str]) -> list[list[str]]:
    from goodqueue import _goodqueue

    _refuse_told(line)
    handle = parent[-1]
    rate = _goodqueue.rate_bps(line.text("rate") or f"{rate_bps}bit")
    ceil = _goodqueue.rate_bps(line.text("ceil") or f"{rate}bit")
    mtu = int(line.values["mtu"])
    # tc's own defaults, made explicit: a frame, and what the rate sends in a tick of its clock (1 ns).
    burst = line.text("burst") or str(mtu + rate // 8_000_000_000)
    cburst = line.text("cburst") or str(mtu + ceil // 8_000_000_000)
    words = ["rate", f"{rate}bit", "ceil", f"{ceil}bit", "mtu", str(mtu)]
    for name, size in (("burst", burst), ("cburst", cburst)):
        words += [name, f"{size}b"] if size != "0" else []  # tc takes 0 as left out
    words += _framing(line)
    return [
        [*parent, "htb", "default", "1"],
        ["class", "parent", handle, "classid", f"{handle}1", "htb", *words, "quantum", str(FULL_FRAME)],
        *_child(line, rate, f"{handle}1", handle),
    ]


def _netem(line: Line, _rate: int, parent: list[str]) -> list[list[str]]:
    """Return the command for netem. Each parameter stands with those that follow it."""
    if "seed" in line.values:
        raise line.refuse("seed", "no seed, which Linux has since 6.7")
    if line.text("slot distribution") == "uniform":
        raise line.refuse("slot distribution", "slot with the shortest and the longest time")
    words: list[str] = []
    for name, param in _params()["netem"].items():
        if param["unit"] == "flag":
            words += _on(line, name)
        elif name in line.values and (name, line.values[name]) != ("distribution", "uniform"):
            words += [*([] if param["follows"] else name.split()), line.values[name]]
    return [[*parent, "netem", *words]]


def _framing(line: Line) -> list[str]:
    """Return the words by which tbf and htb weigh a packet, if not by its length alone."""
    words = [word for name in ("mpu", "overhead") if line.values[name] != "0" for word in _words(line, name)]
    return words + (_words(line, "linklayer") if line.text("linklayer") != "ethernet" else [])


def _refuse_told(line: Line) -> None:
    if line.text("idle") == "told":
        raise line.refuse("idle", "idle linux")


def _child(line: Line, rate_bps: int, parent: str, handle: str) -> list[list[str]]:
    if line.child is None:
        return []
    return translate(line.child, rate_bps, parent, f"{int(handle.rstrip(':'), 16) + 0x10:x}:")


DISCIPLINES: dict[str, Make] = {
    "pfifo": _fifo,
    "bfifo": _fifo,
    "pfifo_head_drop": _fifo,
    "pfifo_fast": _pfifo_fast,
    "prio": _prio,
    "codel": _codel,
    "fq": _fq,
    "fq_codel": _fq_codel,
    "fq_nocodel": _fq_codel,
    "cake": _cake,
    "cake_mq": _cake_mq,
    "fq_pie": _fq_pie,
    "sfq": _sfq,
    "pie": _pie,
    "red": _red,
    "sfb": _sfb,
    "dualpi2": _dualpi2,
    "choke": _choke,
    "tbf": _tbf,
    "htb": _htb,
    "netem": _netem,
}
"""The functions by the discipline's name, in the registry's order."""
