"""Builds the scenario that options describe, with their defaults, for the command line and for Python."""

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.errors import UserError

if TYPE_CHECKING:
    from goodqueue.record import Scenario

LINK = {"rate": "10mbit", "rtt": "50ms"}
"""The link if no option describes it. `goodqueue.scenario.from_options` has the other defaults."""

# Keys of the scenario and the options that set them. An error message names the option.
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
    """Return the name of the scenario in error messages."""
    return file if isinstance(file, str) else "" if file is None else "the scenario"


def base(
    file: "str | Scenario | None",
    options: Mapping[str, str | None],
    described: Mapping[str, object],
    sets: Sequence[str],
) -> tuple["Scenario", dict[str, str]]:
    """Return the unresolved scenario and, for each key that did not come from the file, the option it came from.

    ``file`` is a file's name or a scenario. If it is None, ``options`` and ``described`` build the scenario: both have
    options of ``goodqueue compare`` by name. Raises UserError.
    """
    from goodqueue import scenario as reading
    from goodqueue.files import traffic_files

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
