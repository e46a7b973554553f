"""What was asked for: the scenario that options describe, with their defaults, for the command line and for Python."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import UserError, quoted

if TYPE_CHECKING:
    from goodqueue.record import Scenario

SEEDS = 5
"""Of each qdisc of a comparison, of each cell of a sweep, where nothing is said."""

FIRST_SEED = 1

LINK = {"rate": "10mbit", "rtt": "50ms"}
"""Where nothing is said; `goodqueue.scenario.from_options` has the other defaults."""

# Keys of the scenario and the options that set them, to name the option in a refusal.
ORIGINS = {
    "bottleneck.rate": "--rate",
    "bottleneck.up.rate": "--up-rate",
    "bottleneck.up.qdisc": "--up-qdisc",
    "bottleneck.buffer": "--buffer",
    "path.rtt": "--rtt",
    "duration": "--duration",
    "warmup": "--warmup",
    "traffic": "--traffic",
    "bottleneck.wifi": "--wifi",
    "bottleneck.wifi.station": "--stations",
}


def place(file: "str | Scenario | None") -> str:
    """Return what a refusal calls the scenario."""
    return file if isinstance(file, str) else "" if file is None else "the scenario"


def base(
    file: "str | Scenario | None",
    options: Mapping[str, str | None],
    described: Mapping[str, object],
    sets: Sequence[str],
) -> tuple["Scenario", dict[str, str]]:
    """Return the unresolved scenario and, for each key that did not come from the file, where it came from.

    ``file`` may be a scenario too; without one ``options`` and ``described``, which are those of ``goodqueue compare``
    by name, say what it is. Raises UserError.
    """
    from goodqueue import scenario as reading
    from goodqueue import traffic_files

    given = {name: value for name, value in options.items() if value is not None}
    wanted = {name: value for name, value in described.items() if value is not None}
    if file is None:
        link = {"rtt": LINK["rtt"]} if "wifi" in wanted else LINK
        scenario = reading.from_options(**(link | given | wanted))  # type: ignore[arg-type]
        origins = dict(ORIGINS)
        for option, key in (("flows", "count"), ("cc", "cc")):
            if option in wanted:
                origins |= {f"traffic.{index}.{key}": f"--{option}" for index in range(len(scenario["traffic"]))}
    else:
        if wanted:
            name = next(iter(wanted))
            raise UserError(
                f"--{name}", f"{place(file)} says what the traffic is; accepted: one of --{name} and --scenario"
            )
        scenario = reading.load(file) if isinstance(file, str) else copy.deepcopy(file)
        if not isinstance(file, str):
            traffic_files.expand(scenario.get("traffic"), Path())
        keys = {option.removeprefix("--").replace("-", "_"): key for key, option in ORIGINS.items()}
        for name, value in given.items():
            if name == "buffer":
                reading.apply_set(scenario, f"bottleneck.buffer.bdp={reading.parse_buffer(value)['bdp']}")
            else:
                reading.apply_set(scenario, f"{keys[name]}={value}")
        origins = {keys[name]: ORIGINS[keys[name]] for name in given}
    own = {key: f"--set {key}" for key in (reading.apply_set(scenario, assignment) for assignment in sets)}
    return scenario, origins | own


def check(
    base: "Scenario", qdiscs: Sequence[str], seed: int, file: str, origins: Mapping[str, str], on: Sequence[str]
) -> tuple[list[str], float]:
    """Resolve ``base`` with each qdisc and show it to each engine, so that a refusal comes before any run.

    A ``load`` in it becomes a number of users. Return the lines, tidied, and the runs' duration in seconds.
    """
    from goodqueue import calibration, engines, labels
    from goodqueue import scenario as reading
    from goodqueue.compare import scenarios

    calibration.settle(base, file, origins)
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
        resolved = reading.resolve(scenario, file, {"bottleneck.qdisc": said, "seed": "--seed", **origins, **own})
        for name in on:
            engines.check(name, resolved)
    return lines, reading.seconds(resolved["duration"])


def command(
    lines: Sequence[str],
    file: str | None,
    options: Mapping[str, object],
    seeds: int,
    seed: int,
    sets: Sequence[str],
    asked: Sequence[str],
) -> str:
    """Return the command that makes this comparison again."""
    import shlex

    words = ["goodqueue", "compare", *lines]
    for name, value in {"scenario": file, **options, "seeds": seeds, "seed": None if seed == 1 else seed}.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}"] + ([] if value is True else [str(value)])
    for assignment in sets:
        words += ["--set", assignment]
    for name in asked:
        words += ["--metric", name]
    return shlex.join(words)
