"""Builds the scenario that options describe, with their defaults, for the command line and for Python."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from goodqueue import scenario as reading
from goodqueue.errors import Option, Place, UserError, quoted
from goodqueue.files import traffic_files
from goodqueue.options import DECLARED
from goodqueue.record import Scenario
from goodqueue.scenario import Sets, air, commands, sources


def base(
    file: str | Scenario | None, options_given: Mapping[str, Any], sets: Sets = ()
) -> tuple[Scenario, dict[str, Place]]:
    """Return the unresolved scenario and, for each key that did not come from the file, the option it came from.

    ``file`` is a file's name or a scenario. If it is None, the options describe the scenario. ``options_given`` has the
    options that the user gave, by name; None is no value. ``sets`` come last. Raises UserError.
    """
    read = {
        option.name: option.read(option.option, options_given[option.name])
        for option in DECLARED.values()
        if options_given.get(option.name) is not None
    }
    values = {name: value for name, value in read.items() if value is not None}
    if file is None:
        scenario, origins = _described(values)
    else:
        for name in values:
            if DECLARED[name].of_traffic:
                where = file if isinstance(file, str) else "the scenario"
                accepted: list[str | Option] = ["one of ", Option(name), " and ", Option("scenario")]
                raise UserError(Option(name), [f"{where} says what the traffic is; accepted: ", *accepted])
        scenario = reading.load(file) if isinstance(file, str) else copy.deepcopy(file)
        if not isinstance(file, str):
            commands.expand(scenario, Path())
            traffic_files.expand(scenario.get("traffic"), Path())
        origins = _put(scenario, values)
    origins |= reading.apply(scenario, sets)
    if file is None and "warmup" not in values and origins.get("warmup") == Option("warmup"):
        _fit(scenario)
    return scenario, origins


def _put(scenario: Scenario, given: Mapping[str, Any]) -> dict[str, Place]:
    """Set the keys of the options ``given`` in ``scenario``, and return the option of each."""
    every = ((DECLARED[name].key, value, Option(name)) for name, value in given.items())
    return {reading.put(scenario, key, value, option): option for key, value, option in every}


def _described(given: Mapping[str, Any]) -> tuple[Scenario, dict[str, Place]]:
    """Return the scenario of the options ``given``, with the defaults of the others, and the origins of its keys."""
    replaced = {DECLARED[name].instead_of for name in given}
    usual = {
        option.name: option.default
        for option in DECLARED.values()
        if option.default is not None and option.name not in replaced
    }
    of_traffic = {name: value for name, value in given.items() if DECLARED[name].of_traffic}
    plain = {name: value for name, value in {**usual, **given}.items() if not DECLARED[name].of_traffic}
    scenario: Scenario = {"duration": "", "warmup": "", "bottleneck": {}, "path": {}}
    origins = _put(scenario, plain)
    cell, stations = of_traffic.pop("wifi", None), of_traffic.pop("stations", None)
    if stations is not None and cell is None:
        without: list[str | Option] = [f"found {quoted(stations)} without ", Option("wifi")]
        raise UserError(Option("stations"), [*without, "; accepted: both, or neither"])
    text = of_traffic.pop("traffic", usual["traffic"])
    if cell is None:
        scenario["traffic"] = sources.listed(text, **of_traffic)
    else:
        scenario["bottleneck"]["wifi"] = air.cell(cell, stations)
        origins |= {DECLARED[name].key: Option(name) for name in ("wifi", "stations")}
        each = sources.listed(text, **of_traffic, usual=1)
        scenario["traffic"] = air.for_each(each, scenario["bottleneck"]["wifi"]["station"])
    origins[DECLARED["traffic"].key] = Option("traffic")
    for name in of_traffic:
        for index in range(len(scenario["traffic"])):
            origins[DECLARED[name].key.replace("*", str(index))] = Option(name)
    return scenario, origins


def _fit(scenario: Scenario) -> None:
    """Make the default warm-up half of a run that is not longer than it."""
    from goodqueue import _goodqueue

    try:
        length_ns = _goodqueue.time_ns(str(scenario["duration"]))
    except ValueError:
        return  # the core refuses it
    if length_ns <= _goodqueue.time_ns(scenario["warmup"]):
        scenario["warmup"] = f"{length_ns // 2}ns"
