"""Scenarios: read from TOML, changed by keys and values, and resolved by the core.

A scenario is a plain nested dictionary. The Rust core alone (`resolve`) decides what its keys mean and accept. This
module handles only the text around the scenario, and adds to each error message the place that the key came from.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from goodqueue.errors import Option, Place, UserError, bounded, quoted, said
from goodqueue.files import har, inputs, libreqos, traffic_files
from goodqueue.record import Scenario
from goodqueue.scenario import commands, discipline, parameters, paths, strict

Origins = Mapping[str, Place]
"""What the user wrote to set some keys of a scenario: options, by key."""

Sets = Iterable[str] | Mapping[str, Any]
"""Keys with their values: ``KEY=VALUE`` as text, or values by key."""

MOST_BYTES = 16 * inputs.MIB
"""The largest size of a scenario's file."""


def load(path: str | Path, pipes: bool = True) -> Scenario:
    """Read a scenario file.

    Paths of files of rates, of `tc` commands and of disciplines written in Python are relative to the file. Files of
    commands, and files that traffic names, are read. Raises UserError if the file is missing, a directory, too large,
    empty, not UTF-8 or not TOML (with the line), and without ``pipes`` also if it, or a file that it names, is a pipe.
    """
    name = str(path)
    data = inputs.read(Path(path), MOST_BYTES, "a scenario file in TOML", pipes)
    if not data.strip():
        raise UserError(name, "the file is empty; accepted: a scenario in TOML (`goodqueue run --help` shows one)")
    try:
        text = inputs.decoded(data)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(name, f"line {line}: found a byte that is not UTF-8; accepted: TOML in UTF-8") from None
    try:
        scenario = inputs.toml(text)
    except inputs.TooDeepError:
        raise UserError(name, "found tables, lists or keys nested too deeply; accepted: a scenario in TOML") from None
    except ValueError as error:
        raise UserError(name, f"not TOML: {error}") from None
    if not scenario:
        raise UserError(name, "found only comments; accepted: a scenario in TOML (`goodqueue run --help` shows one)")
    discipline.rebase(scenario, Path(path).parent)
    paths.rebase(scenario, Path(path).parent)
    commands.expand(scenario, Path(path).parent, pipes)
    traffic_files.expand(scenario.get("traffic"), Path(path).parent, pipes)
    libreqos.rebase(scenario, Path(path).parent)
    libreqos.expanded(scenario, says_more=True)
    return scenario


def apply(scenario: Scenario, sets: Sets) -> dict[str, Place]:
    """Apply ``sets`` to ``scenario`` in place, and return the option of each key. Raises UserError."""
    if isinstance(sets, Mapping):
        keys = [put(scenario, key, value, Option("set", key)) for key, value in sets.items()]
    else:
        keys = [apply_set(scenario, assignment) for assignment in sets]
    return {key: Option("set", key) for key in keys}


def apply_set(scenario: Scenario, assignment: str) -> str:
    """Apply one ``KEY=VALUE`` to ``scenario`` in place, as `put` does, and return the key. Raises UserError.

    The value is TOML, or else text. A parameter of a ``qdisc`` line has it as it is written.
    """
    key, equals, text = assignment.partition("=")
    origin = Option("set", assignment)
    if not equals or not all(key.strip().split(".")):
        raise UserError(origin, "found no KEY=VALUE; accepted: a dotted key, as in bottleneck.rate=10mbit")
    return put(scenario, key.strip(), text.strip(), origin, inputs.parse_value)


def put(
    scenario: Scenario, key: str, value: Any, origin: Place, read: Callable[[Any], Any] = lambda value: value
) -> str:
    """Set ``key`` of ``scenario`` to what ``read`` makes of ``value``, in place, and return the key.

    The key is a dotted path. A number in it is an index into a list (``traffic.0.count``); the number after the last
    index appends an element. A name stands for the element that has it (``hop.modem.rate``), and is a number in the key
    that is returned. Missing tables on the way are created. A key below ``qdisc`` is a parameter of its line. A new
    ``page`` replaces the old page's objects. Files that traffic names are read. An error begins with ``origin``.
    Raises UserError.
    """
    parts = key.split(".")
    if len(parts) > inputs.DEEPEST:
        problem = f"found {len(parts)} parts; accepted: {inputs.DEEPEST} at most"
        raise UserError(Option("set", quoted(key)), problem)
    if parts[0] in ("node", "subscriber"):  # one of the tables that files of [isp] stand for
        libreqos.expand(scenario)
    holder: Any = scenario
    for depth, part in enumerate(parts):
        if part == "qdisc" and depth < len(parts) - 1:
            parameters.set_one(
                holder, parts[depth + 1 :], value if isinstance(value, str) else json.dumps(value), origin
            )
            break
        slot = _slot(holder, part, where=".".join(parts[:depth]), origin=origin)
        parts[depth] = str(slot)
        if depth == len(parts) - 1:
            holder[slot] = read(value)
            if part == commands.KEY and isinstance(holder[slot], str):
                holder[slot] = commands.lines(holder[slot])
            if part == har.KEY:
                holder.pop("objects", None)
            if parts[0] == "traffic":
                traffic_files.expand([holder], Path())
        elif isinstance(holder, dict):
            holder = holder.setdefault(part, {})
        else:
            holder = holder[slot]
    return ".".join(parts)


def _slot(holder: Any, part: str, where: str, origin: Place) -> Any:
    """Return the key or index that ``part`` names in ``holder``: a key, a number, or an element's name.

    A list grows by one element at its end if needed.
    """
    if isinstance(holder, dict):
        return part
    if not isinstance(holder, list):
        raise UserError(origin, f"{where} is {quoted(holder)}, which has no keys; accepted: {where}=VALUE")
    if not (part.isascii() and part.isdecimal() and len(part) < 6 and int(part) <= len(holder)):
        names = [table.get("name") if isinstance(table, dict) else None for table in holder]
        if names.count(part) == 1:
            return names.index(part)
        accepted = f"{where}.0 to {where}.{len(holder)} (the last adds one)"
        names_in_list = ", ".join(str(name) for name in names if isinstance(name, str))
        more = f", or a name of one: {names_in_list}" if names_in_list else ""
        if part in names:
            raise UserError(origin, f"found {quoted(part)}, the name of {names.count(part)}; accepted: {accepted}")
        raise UserError(origin, f"found {quoted(part)}; accepted: {accepted}{more}")
    if int(part) == len(holder):
        holder.append({})
    return int(part)


def to_json(scenario: Scenario) -> str:
    """Return ``scenario`` as the JSON that the core takes. Raises UserError for a value that JSON cannot hold."""
    scenario = libreqos.expanded(scenario)
    try:
        return strict.text(scenario)
    except (TypeError, ValueError, RecursionError):
        pass
    key, value = strict.first_unusable(scenario) or ("", None)
    what = "a value nested too deeply" if value is None else bounded(said(value), 60)
    if isinstance(value, str):
        raise UserError(key, f"found {quoted(value)}, which is not UTF-8; accepted: text in UTF-8")
    raise UserError(key, f"found {what}; accepted: text, a finite number, true or false, a list or a table")


def resolve(scenario: Scenario, origin: str = "", origins: Origins | None = None) -> Scenario:
    """Return ``scenario`` checked and with its defaults filled in.

    Nothing is run: the core refuses a ``load``, which `goodqueue.engines.loads` makes a number of users before. An
    error message begins with ``origin`` (a file name) and the line of the key. For keys that came from elsewhere,
    ``origins`` has the beginning, such as ``{"bottleneck.rate": Option("rate")}``. Raises UserError.
    """
    from goodqueue import _goodqueue

    scenario = libreqos.expanded(scenario)
    try:
        text = to_json(scenario)
    except UserError as error:
        key, message = map(str, error.parts)
        raise _refusal(key, message, origin, origins or {}) from None
    try:
        resolved: Scenario = json.loads(_goodqueue.resolve(text))
    except _goodqueue.ScenarioError as error:
        raise _refusal(error.key, error.message, origin, origins or {}) from None
    _resolve_python(resolved, origin, origins or {})
    for file in paths.traces(resolved):
        inputs.note(Path(file))  # the core has read it
    return resolved


def _refusal(key: str, message: str, origin: str, origins: Origins) -> UserError:
    """Return the error for ``key``, which came from ``origin``, or from its entry in ``origins`` if it has one."""
    dotted = key.replace("[", ".").replace("]", "")
    above = [path for path in origins if dotted == path or dotted.startswith(f"{path}.")]
    if above:
        nearest = max(above, key=len)
        return UserError(origins[nearest], dotted[len(nearest) + 1 :], message)
    if dotted.endswith("qdisc") and (set_in := next((name for name in origins if name.startswith(f"{dotted}.")), None)):
        return UserError(origins[set_in], message)
    if message.startswith("unknown key"):  # only the keys below it, which came from options, have created the table
        below = next((path for path in origins if path.startswith(f"{dotted}.")), None)
        if below is not None:
            return UserError(origins[below], dotted, message)
    return UserError(_with_line(origin, key), key, message)


def _with_line(origin: str, key: str) -> str:
    """Return the file ``origin`` with the line of ``key`` in it, in the format of compilers: ``a.toml:12``.

    For a missing key it is the line of its table. An ``origin`` that is no file, or cannot be read twice, is unchanged.
    """
    from goodqueue import _goodqueue

    try:
        if not (key and Path(origin).is_file()):
            return origin
        line = _goodqueue.toml_line(inputs.read_text(Path(origin), MOST_BYTES, "", pipes=False), key)
    except (UserError, OSError, ValueError):
        return origin
    return origin if line is None else f"{origin}:{line}"


def _resolve_python(resolved: Scenario, origin: str, origins: Origins) -> None:
    """Fill in the parameters of what is written in Python. Each discipline is created once, to check that."""
    for key, table in paths.links(resolved):
        if discipline.is_python(table["qdisc"]):
            from goodqueue._goodqueue import Qdisc

            rate = f"{paths.busiest_bps(table)}bit"  # only to create it: a run tells it the rate of its link
            file = discipline.split(table["qdisc"].split()[0])[0]
            try:
                with discipline.blaming([file], UserError):
                    table["qdisc"] = Qdisc(table["qdisc"], rate, 1514, resolved["seed"], discipline.make).line
            except UserError as error:
                raise _refusal(f"{key}.qdisc", str(error), origin, origins) from None
    for key, table in discipline.controlled(resolved):
        try:
            table["cc"] = discipline.control(table["cc"])[2]
        except UserError as error:
            raise _refusal(f"{key}.cc", str(error), origin, origins) from None


def seconds(text: str) -> float:
    """Return a time of a resolved scenario, such as ``70s`` or ``200ms``, in seconds. Raises ValueError."""
    from goodqueue import _goodqueue

    return _goodqueue.time_ns(text) / 1e9
