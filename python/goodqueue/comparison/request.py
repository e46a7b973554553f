"""Checks a comparison before any run, and writes the command that repeats it."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goodqueue import options
from goodqueue.errors import Option, UserError, quoted
from goodqueue.measures import FIRST_SEED
from goodqueue.options import COMPARED, DECLARED

if TYPE_CHECKING:
    from goodqueue.record import Scenario
    from goodqueue.scenario import Origins, Sets


def check(
    base: "Scenario", qdiscs: Sequence[str], seed: int, file: str, origins: "Origins", on: Sequence[str]
) -> "tuple[list[str], Scenario]":
    """Resolve ``base`` with each qdisc and let each engine check it, so that errors come before any run.

    Each ``load`` becomes a number of users. Return the lines with single spaces, and the resolved scenario
    of the last one.
    """
    from goodqueue import engines
    from goodqueue import scenario as reading
    from goodqueue.comparison import scenarios
    from goodqueue.engines import loads
    from goodqueue.show import labels

    loads.settle(base, file, origins)
    lines = [" ".join(line.split()) for line in qdiscs]
    for line in lines:
        if lines.count(line) > 1:
            raise UserError("QDISC", f"found {quoted(line)} twice; accepted: each qdisc once")
    if not isinstance(base.get("bottleneck"), dict):
        found = quoted(base["bottleneck"]) if "bottleneck" in base else "none"
        raise UserError(origins.get("bottleneck", file), f"bottleneck: found {found}; accepted: a table with a rate")
    resolved, up = base, "bottleneck.up.qdisc"
    both = [line for line in lines if labels.BOTH in line]
    if both and up in origins and "qdisc" in (base["bottleneck"].get("up") or {}):
        found = f"found for the way up beside {quoted(both[0])}, which names both"
        raise UserError(origins[up], f"{found}; accepted: one of them")
    for scenario, line in zip(scenarios(base, lines, [seed]), lines, strict=True):
        said = f"QDISC {quoted(line)}"
        own = {up: said} if line in both else {}
        resolved = reading.resolve(scenario, file, {"bottleneck.qdisc": said, "seed": Option("seed"), **origins, **own})
        for name in on:
            engines.check(name, resolved)
    return lines, resolved


def against(asked: str | None, lines: Sequence[str]) -> str:
    """Return the line from which the others differ, one of ``lines``, or an empty text if nobody asks."""
    if asked is None:
        return ""
    line = " ".join(asked.removeprefix("qdisc=").split())
    if line not in lines:
        raise UserError(Option("against"), f"found {quoted(asked)}; accepted: {', '.join(lines)}")
    return line


def correction(text: str | None) -> str:
    """Return the correction that ``--correct`` names, or an empty text. Raises UserError."""
    if text not in (None, "", "holm"):
        raise UserError(Option("correct"), f"found {quoted(text)}; accepted: holm")
    return text or ""


def command(
    lines: Sequence[str],
    file: str | None,
    said: Mapping[str, Any],
    sets: "Sets",
    *,
    seeds: int,
    seed: int,
    metric: Sequence[str] | None,
    engine: str,
    against: str | None,
    correct: str | None,
    effect: bool = False,
) -> str:
    """Return the command that repeats this comparison, with the options ``said`` and the keys ``sets``."""
    if isinstance(sets, Mapping):
        others = {DECLARED[name].key: value for name, value in said.items() if name not in COMPARED}
        sets = [
            f"{key}={value if isinstance(value, str) else json.dumps(value)}"
            for key, value in {**others, **sets}.items()
        ]
    return options.command(
        "compare", *lines, scenario=file, **{name: said.get(name) for name in COMPARED},
        engine=None if engine == "sim" else engine, against=against, correct=correct, effect=effect, seeds=seeds,
        seed=None if seed == FIRST_SEED else seed, set=sets, metric=metric,
    )  # fmt: skip
