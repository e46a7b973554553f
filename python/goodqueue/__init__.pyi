"""Types of the public names. Written by tools/docs/generate.py from the questions: edit those and run it."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from goodqueue.api.advice import Advice as Advice
from goodqueue.api.bottleneck import Bottleneck as Bottleneck
from goodqueue.api.comparison import Comparison as Comparison
from goodqueue.api.link import Linked as Linked
from goodqueue.api.lists import qdiscs as qdiscs
from goodqueue.api.lists import traffic_kinds as traffic_kinds
from goodqueue.api.run import Run as Run
from goodqueue.api.searching import Search as Search
from goodqueue.api.suite import Suite as Suite
from goodqueue.api.sweep import Sweep as Sweep
from goodqueue.errors import UserError as UserError

__all__ = [
    "Advice",
    "Bottleneck",
    "Comparison",
    "Linked",
    "Run",
    "Search",
    "Suite",
    "Sweep",
    "UserError",
    "advise",
    "attack",
    "compare",
    "fit",
    "link",
    "qdiscs",
    "run",
    "sensitivity",
    "suite",
    "sweep",
    "traffic_kinds",
    "tune",
]

def advise(
    down: str | None = ...,
    up: str | None = ...,
    rtt: str | None = ...,
    *,
    link: str = ...,
    use: str | Sequence[str] = ...,
    flent: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = ...,
    buffer: str | None = ...,
    trace: str | os.PathLike[str] | None = ...,
    pppoe: str | None = ...,
    vlan: bool = ...,
    overhead: int | None = ...,
    wan: str | None = ...,
    why: bool = ...,
    verify: bool = ...,
    tune: bool = ...,
    quick: bool = ...,
    seeds: int | None = ...,
    seed: int = ...,
    workers: int | None = ...,
    progress: bool = ...,
) -> Advice: ...
def attack(
    subject: str,
    property: str | Sequence[str] = ...,
    *,
    bound: Mapping[str, Any] | Sequence[str] = ...,
    without: str | Sequence[str] | None = ...,
    qdisc: str | Sequence[str] = ...,
    cc: str | Sequence[str] = ...,
    ecn: bool = ...,
    evaluations: int = ...,
    finds: int = ...,
    method: str = ...,
    draw_seed: int = ...,
    kernel: str | None = ...,
    store: str | os.PathLike[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
) -> Search: ...
def compare(
    *qdiscs: str,
    seeds: int = ...,
    seed: int = ...,
    scenario: str | os.PathLike[str] | Mapping[str, Any] | None = ...,
    metric: str | Sequence[str] = ...,
    against: str | None = ...,
    correct: str | None = ...,
    engine: str | Sequence[str] = ...,
    kernel: str | Sequence[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
    **sets: Any,
) -> Comparison: ...
def fit(
    source: str | os.PathLike[str] | Mapping[str, Any],
    *,
    vary: Mapping[str, Any] | Sequence[str] = ...,
    observed: Mapping[str, float | tuple[float, float]] | Sequence[str] = ...,
    qdisc: str | Sequence[str] = ...,
    evaluations: int = ...,
    draw_seed: int = ...,
    store: str | os.PathLike[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
) -> Search: ...
def link(
    *words: str,
    trace: str | None = ...,
    trace_at: str | None = ...,
    trace_snap: int | None = ...,
    host: str | Sequence[str] = ...,
    virtual: bool = ...,
    engine: str = ...,
    kernel: str | None = ...,
    record: str | None = ...,
    force: bool = ...,
    metrics: str | None = ...,
    live: bool = ...,
    quiet: bool = ...,
    progress: bool = ...,
    **sets: Any,
) -> Linked: ...
def run(
    scenario: str | os.PathLike[str] | Mapping[str, Any] | None = ...,
    *,
    engine: str = ...,
    kernel: str | None = ...,
    machine: str | None = ...,
    threads: int | None = ...,
    progress: bool = ...,
    **sets: Any,
) -> Run: ...
def sensitivity(
    scenario: str | os.PathLike[str] | Mapping[str, Any],
    vary: Mapping[str, Any] | Sequence[str] = ...,
    *,
    metric: str | Sequence[str] = ...,
    method: str = ...,
    samples: int | None = ...,
    seeds: int = ...,
    seed: int = ...,
    store: str | os.PathLike[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
) -> Search: ...
def suite(
    name: str | os.PathLike[str],
    *tested: str,
    only: str | Sequence[str] = ...,
    stack: str | None = ...,
    quick: bool = ...,
    seeds: int | None = ...,
    engine: str = ...,
    store: str | os.PathLike[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
) -> Suite: ...
def sweep(
    scenario: str | os.PathLike[str] | Mapping[str, Any] | None = ...,
    grid: Mapping[str, Any] = ...,
    *,
    mixes: Mapping[str, Any] | Sequence[str] = ...,
    seeds: int = ...,
    seed: int = ...,
    until_ci: str | None = ...,
    max_seeds: int | None = ...,
    metric: str | Sequence[str] = ...,
    against: str | None = ...,
    correct: str | None = ...,
    engine: str = ...,
    executor: str = ...,
    store: str | os.PathLike[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
    **sets: Any,
) -> Sweep: ...
def tune(
    qdisc: str,
    *,
    rate: str | None = ...,
    rtt: str | None = ...,
    on: str | Sequence[str] = ...,
    held_out: str | Sequence[str] = ...,
    vary: Mapping[str, Any] | Sequence[str] = ...,
    want: str | Sequence[str] = ...,
    max: str | Sequence[str] = ...,
    min: str | Sequence[str] = ...,
    evaluations: int = ...,
    seeds: int = ...,
    method: str = ...,
    draw_seed: int = ...,
    store: str | os.PathLike[str] | None = ...,
    workers: int | None = ...,
    progress: bool = ...,
) -> Search: ...
