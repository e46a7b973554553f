"""The answer of ``validate trees``: how many trees are exact, and where the others differ first."""

from collections import Counter
from collections.abc import Iterator, Mapping
from threading import Event
from typing import Any

from goodqueue.show.answer import Answer, Code, Findings, Part
from goodqueue.show.table import Column, Table
from goodqueue.validation.trees import comparing, shrinking
from goodqueue.validation.trees.comparing import Verdict
from goodqueue.validation.trees.job import Job
from goodqueue.validation.trees.running import Compared

_SHRUNK = 3
"""The most trees that are made small."""
_SHOWN = 20
"""The most trees that are listed."""


def of(compared: Compared, shrinks: bool = False) -> Answer:
    """Return the answer. Its status is 1 if a tree differs."""
    faults = [(job, verdict) for job, verdict in compared.trees if verdict.is_fault]
    differing = compared.of(comparing.DIFFERS)[:_SHRUNK] if shrinks else []
    small = [shrinking.shrink(job, compared.release, Event()) for job, _ in differing]
    result = _as_json(compared, faults, small)
    return Answer(
        f"Trees beside Linux {compared.release}",
        list(_parts(compared, result, faults, small)),
        lambda: result,
        compared,
        status=int(bool(faults)),
    )


def _as_json(compared: Compared, faults: list[tuple[Job, Verdict]], small: list[tuple[Job, Verdict]]) -> dict[str, Any]:
    """Return the result as plain data."""
    kinds = Counter(verdict.kind for _, verdict in compared.trees)
    exact = compared.of(comparing.EXACT)
    return {
        "release": compared.release,
        "kernel": compared.version,
        "seed": compared.seed,
        "trees": len(compared.trees),
        "exact": len(exact),
        "packets": sum(len(job.packets) for job, verdict in compared.trees if verdict.kind != comparing.BOTH),
        "departures": sum(verdict.events for _, verdict in compared.trees),
        "kinds": dict(sorted(kinds.items())),
        "qdiscs": _by_discipline(compared),
        "differing": [_described(job, verdict) for job, verdict in faults],
        "shrunk": [_described(job, verdict) | _packets(job) for job, verdict in small],
    }


def _by_discipline(compared: Compared) -> dict[str, dict[str, int]]:
    """Return for each discipline how many trees have it, and how many of these are exact."""
    tried, exact = Counter[str](), Counter[str]()
    for job, verdict in compared.trees:
        names = disciplines(job) if verdict.kind != comparing.BOTH else set[str]()
        tried.update(names)
        exact.update(names if verdict.kind == comparing.EXACT else ())
    return {name: {"trees": tried[name], "exact": exact[name]} for name in sorted(tried)}


def disciplines(job: Job) -> set[str]:
    """Return the names of the disciplines of a tree."""
    lines = (command.split() for command in job.commands if command.startswith("qdisc "))
    return {words[words.index("handle") + 2] for words in lines}


def _described(job: Job, verdict: Verdict) -> dict[str, Any]:
    about = {"number": job.number, "kind": verdict.kind, "alike": verdict.events, "text": verdict.text}
    return about | {"commands": list(job.commands)}


def _packets(job: Job) -> dict[str, Any]:
    names = "at_ns", "bytes", "mark", "priority", "head"
    rows = [(each.at, each.length, each.mark, each.priority, each.head.hex()) for each in job.packets]
    return {"packets": [dict(zip(names, row, strict=True)) for row in rows]}


def _parts(
    compared: Compared,
    result: Mapping[str, Any],
    faults: list[tuple[Job, Verdict]],
    small: list[tuple[Job, Verdict]],
) -> Iterator[Part]:
    tried = len(compared.trees) - result["kinds"].get(comparing.BOTH, 0)
    yield Findings(
        [
            (
                f"{result['exact']} of {tried} trees are exact on Linux {compared.release}: each packet leaves at"
                f" the same nanosecond, or is dropped in both. {result['packets']} packets came."
            )
        ]
    )
    columns = [Column("qdisc", False), Column("trees", True), Column("exact", True)]
    rows = [[name, str(counts["trees"]), str(counts["exact"])] for name, counts in result["qdiscs"].items()]
    refused = result["kinds"].get(comparing.BOTH, 0)
    notes = [f"{refused} more trees were refused by both."] if refused else []
    yield Table("Trees that have a discipline", columns, rows, notes)
    for job, verdict in faults[:_SHOWN]:
        yield f"Tree {job.number}: {verdict.kind}, after {verdict.events} packets alike. {verdict.text}"
    for job, verdict in small:
        yield f"Tree {job.number}, made small: {len(job.packets)} packets. {verdict.text}"
        yield Code("\n".join(f"tc {command}" for command in job.commands))
