"""The identity of a run: its scenario, seed, engine and maker. The key is a hash of these.

Equal keys mean equal records, so a stored run need never be repeated.
"""

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goodqueue import endpoints, engines
from goodqueue.record import Scenario
from goodqueue.scenario import discipline, paths


@dataclass(frozen=True, slots=True)
class Maker:
    """The code that computes a record."""

    version: str
    """The version of goodqueue."""
    build: str | None
    """A hash of the simulator's compiled code, or of what makes a run of another engine. None if the run is not
    goodqueue's, or if it is a run of the kernel engine from an older store."""
    code: str | None
    """A hash of the files of disciplines written in Python and of files of rates. None if there are no such files."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run, done or not."""

    engine: str
    scenario: Scenario
    """The resolved scenario, with its seed."""
    made_by: Maker
    key: str
    """32 hexadecimal digits."""
    scenario_hash: str
    """A hash of the scenario without its seed, 16 digits. Runs with equal values are repeats."""

    @property
    def seed(self) -> int:
        """The scenario's seed."""
        seed: int = self.scenario["seed"]
        return seed


def of(engine: str, scenario: Scenario) -> Run:
    """Return the run of a resolved ``scenario`` with its seed on ``engine``.

    The key depends on the build: a change of the simulator's code invalidates all its runs. A change of the kernel
    engine's image or code (`engines.kernel.making`) invalidates that engine's runs. The live engine works likewise.
    Raises UserError if the file of a discipline or of rates cannot be read, or if Linux cannot run the scenario.
    """
    (run,) = of_seeds(engine, scenario, [scenario["seed"]])
    return run


def of_seeds(engine: str, scenario: Scenario, seeds: Iterable[int]) -> Iterator[Run]:
    """Yield the run of a resolved ``scenario`` with each of ``seeds``. Raises UserError as `of` does."""
    made_by = maker(engine, scenario)
    unseeded = {key: value for key, value in scenario.items() if key != "seed"}
    scenario_hash = digest(unseeded)[:16]
    made = [made_by.version, made_by.build, made_by.code]
    for seed in seeds:
        content = {"scenario": unseeded, "seed": seed, "engine": engine, "made_by": made}
        yield Run(engine, {**scenario, "seed": seed}, made_by, digest(content)[:32], scenario_hash)


def maker(engine: str, scenario: Scenario) -> Maker:
    """Return what would compute ``scenario`` on ``engine`` here. Raises UserError as `of` does."""
    from goodqueue._goodqueue import VERSION

    return Maker(VERSION, _build(engine, scenario), _code(scenario))


def _build(engine: str, scenario: Scenario) -> str:
    if engines.kind(engine) == "kernel":
        from goodqueue.engines.kernel import making

        return making.build(scenario, engines.release(engine), engines.machine(engine))
    if engine == "live":
        from goodqueue.engines.live import engine as live

        return live.build(build())
    if endpoints.package(scenario):
        return digest([build(), endpoints.module(scenario).build()])[:12]
    return build()


def digest(content: Any) -> str:
    """Return the SHA-256 of ``content`` as JSON, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


@functools.cache
def build() -> str:
    """Return a hash of the simulator's compiled code: 12 hexadecimal digits."""
    from goodqueue import _goodqueue

    return hashlib.sha256(Path(str(_goodqueue.__file__)).read_bytes()).hexdigest()[:12]


def _code(scenario: Scenario) -> str | None:
    """Return a hash of the files of classes and rates that a resolved ``scenario`` names, or None."""
    tables = [*(table for _, table in paths.links(scenario)), *scenario.get("change", ())]
    lines = [table.get("qdisc") for table in tables] + [table["cc"] for _, table in discipline.controlled(scenario)]
    files = sorted({discipline.split(line.split()[0])[0] for line in lines if discipline.is_python(line)})
    contents = [discipline.read(file) for file in files]
    contents += [paths.read(file) for file in paths.traces(scenario)]
    if not contents:
        return None
    content_hash = hashlib.sha256()
    for content in contents:
        content_hash.update(hashlib.sha256(content).digest())
    return content_hash.hexdigest()[:12]
