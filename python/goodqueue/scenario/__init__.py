"""Scenarios: read from TOML, changed by ``--set``, built from command-line options.

A scenario is a plain nested dictionary. The Rust core alone (`resolve`) decides what its keys mean and accept. This
module handles only the text around the scenario, and adds to each error message the place that the key came from.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from goodqueue.errors import UserError, bounded, quoted, said
from goodqueue.files import har, inputs, traffic_files
from goodqueue.record import Scenario
from goodqueue.scenario import air, discipline, parameters, paths, strict
from goodqueue.traffic import BULK, kinds

Tell = Callable[[Scenario, Mapping[str, str]], None]
"""Called with an unresolved scenario, and the options that some of its keys came from."""

MOST_BYTES = 16 * inputs.MIB
"""The largest size of a scenario's file."""

HOSTS = ("host=", "server=")
"""How details of ``--traffic`` begin that name hosts."""


def load(path: str | Path, pipes: bool = True) -> Scenario:
    """Read a scenario file.

    Paths of files of rates and of disciplines written in Python are relative to the file. Files that traffic names are
    read. Raises UserError if the file is missing, a directory, too large, empty, not UTF-8 or not TOML (with the line),
    and without ``pipes`` also if it, or a file that its traffic names, is a pipe.
    """
    name = str(path)
    data = inputs.read(Path(path), MOST_BYTES, "a scenario file in TOML", pipes)
    if not data.strip():
        raise UserError(name, "the file is empty; accepted: a scenario in TOML (`goodqueue run --help` shows one)")
    try:
        text = data.decode("utf-8-sig")
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
    traffic_files.expand(scenario.get("traffic"), Path(path).parent, pipes)
    return scenario


def parse_value(text: str) -> Any:
    """Return ``text`` as a TOML value, or unchanged if it is not one: ``4`` becomes a number, ``10mbit`` stays text."""
    if "\n" in text or "\r" in text:
        return text
    try:
        table = inputs.toml(f"value = {text}")
        json.dumps(table, allow_nan=False)
    except (ValueError, TypeError):
        return text
    return table["value"]


def apply_set(scenario: Scenario, assignment: str) -> str:
    """Apply one ``--set KEY=VALUE`` to ``scenario`` in place, and return the key.

    The key is a dotted path. A number in it is an index into a list (``traffic.0.count=4``); the number after the last
    index appends an element. A name stands for the element that has it (``hop.modem.rate=5mbit``), and is a number in
    the key that is returned. Missing tables on the way are created. A key below ``qdisc`` is a parameter of its line.
    A new ``page`` replaces the old page's objects. Files that traffic names are read. Raises UserError.
    """
    key, equals, text = assignment.partition("=")
    key = key.strip()
    origin = f"--set {assignment}"
    if not equals or not all(key.split(".")):
        raise UserError(origin, "found no KEY=VALUE; accepted: a dotted key, as in bottleneck.rate=10mbit")
    parts = key.split(".")
    if len(parts) > inputs.DEEPEST:
        raise UserError(f"--set {quoted(key)}", f"found {len(parts)} parts; accepted: {inputs.DEEPEST} at most")
    holder: Any = scenario
    for depth, part in enumerate(parts):
        if part == "qdisc" and depth < len(parts) - 1:
            parameters.set_one(holder, parts[depth + 1 :], text.strip(), origin)
            break
        slot = _slot(holder, part, where=".".join(parts[:depth]), origin=origin)
        parts[depth] = str(slot)
        if depth == len(parts) - 1:
            holder[slot] = parse_value(text.strip())
            if part == har.KEY:
                holder.pop("objects", None)
            if parts[0] == "traffic":
                traffic_files.expand([holder], Path())
        elif isinstance(holder, dict):
            holder = holder.setdefault(part, {})
        else:
            holder = holder[slot]
    return ".".join(parts)


def _slot(holder: Any, part: str, where: str, origin: str) -> Any:
    """Return the key or index that ``part`` names in ``holder``: a key, a number, or an element's name.

    A list grows by one element at its end if needed.
    """
    if isinstance(holder, dict):
        return part
    if not isinstance(holder, list):
        raise UserError(origin, f"{where} is {quoted(holder)}, which has no keys; accepted: {where}=VALUE")
    if not (part.isascii() and part.isdecimal() and len(part) < 6 and int(part) <= len(holder)):
        names = [one.get("name") if isinstance(one, dict) else None for one in holder]
        if names.count(part) == 1:
            return names.index(part)
        accepted = f"{where}.0 to {where}.{len(holder)} (the last adds one)"
        named = ", ".join(str(name) for name in names if isinstance(name, str))
        more = f", or a name of one: {named}" if named else ""
        if part in names:
            raise UserError(origin, f"found {quoted(part)}, the name of {names.count(part)}; accepted: {accepted}")
        raise UserError(origin, f"found {quoted(part)}; accepted: {accepted}{more}")
    if int(part) == len(holder):
        holder.append({})
    return int(part)


def to_json(scenario: Scenario) -> str:
    """Return ``scenario`` as the JSON that the core takes. Raises UserError for a value that JSON cannot hold."""
    try:
        return strict.text(scenario)
    except (TypeError, ValueError, RecursionError):
        pass
    key, value = strict.first_unusable(scenario) or ("", None)
    found = "a value nested too deeply" if value is None else bounded(said(value), 60)
    if isinstance(value, str):
        raise UserError(key, f"found {quoted(value)}, which is not UTF-8; accepted: text in UTF-8")
    raise UserError(key, f"found {found}; accepted: text, a finite number, true or false, a list or a table")


def resolve(scenario: Scenario, origin: str = "", origins: Mapping[str, str] | None = None) -> Scenario:
    """Return ``scenario`` checked and with its defaults filled in.

    A ``load`` becomes a number of users, in ``scenario`` too (`calibration`).
    An error message begins with ``origin`` (a file name) and the line of the key. For keys that came from elsewhere,
    ``origins`` has the beginning, such as ``{"bottleneck.rate": "--rate"}``. Raises UserError.
    """
    from goodqueue import _goodqueue
    from goodqueue.scenario import calibration

    calibration.settle(scenario, origin, origins)
    try:
        text = to_json(scenario)
    except UserError as error:
        raise UserError(origin, str(error)) from None
    try:
        resolved: Scenario = json.loads(_goodqueue.resolve(text))
    except _goodqueue.ScenarioError as error:
        raise _refusal(error.key, error.message, origin, origins or {}) from None
    _resolve_python(resolved, origin, origins or {})
    for file in paths.traces(resolved):
        inputs.note(Path(file))  # the core has read it
    return resolved


def _refusal(key: str, message: str, origin: str, origins: Mapping[str, str]) -> UserError:
    """Return the error for ``key``, which came from ``origin``, or from its entry in ``origins`` if it has one."""
    dotted = key.replace("[", ".").replace("]", "")
    known = [known for known in origins if dotted == known or dotted.startswith(f"{known}.")]
    if known:
        nearest = max(known, key=len)
        return UserError(origins[nearest], dotted[len(nearest) + 1 :], message)
    if dotted.endswith("qdisc") and (set_in := next((name for name in origins if name.startswith(f"{dotted}.")), None)):
        return UserError(origins[set_in], message)
    if message.startswith("unknown key"):  # only the keys below it, which came from options, have created the table
        below = next((known for known in origins if known.startswith(f"{dotted}.")), None)
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


def _resolve_python(resolved: Scenario, origin: str, origins: Mapping[str, str]) -> None:
    """Fill in the parameters of disciplines written in Python. Each is created once, to check that it can be."""
    for key, table in paths.links(resolved):
        if discipline.is_python(table["qdisc"]):
            from goodqueue._goodqueue import Qdisc

            rate = f"{paths.rate_bps(table)}bit"
            file = discipline.split(table["qdisc"].split()[0])[0]
            try:
                with discipline.blaming([file], UserError):
                    table["qdisc"] = Qdisc(table["qdisc"], rate, 1514, resolved["seed"], discipline.make).line
            except UserError as error:
                raise _refusal(f"{key}.qdisc", str(error), origin, origins) from None


def from_file(
    path: str | Path,
    sets: Iterable[str] = (),
    seed: int | None = None,
    tell: Tell | None = None,
    options: Mapping[str, str] | None = None,
) -> Scenario:
    """Return the resolved scenario of a file, with ``--set`` assignments and ``--seed`` applied. Raises UserError.

    ``options`` has the command-line option of each key of ``sets`` that has one.
    ``tell`` is called with the scenario before it is resolved, and the origins of its keys.
    """
    scenario = load(path)
    origins = {key: f"--set {key}" for key in (apply_set(scenario, assignment) for assignment in sets)}
    origins |= options or {}
    if seed is not None:
        scenario["seed"] = seed
        origins["seed"] = "--seed"
    resolved = resolve(scenario, str(path), origins)
    if tell is not None:
        tell(scenario, origins)
    return resolved


def seconds(text: str) -> float:
    """Return a time of a resolved scenario, such as ``70s`` or ``200ms``, in seconds. Raises ValueError."""
    from goodqueue import _goodqueue

    return _goodqueue.time_ns(text) / 1e9


def from_options(
    *,
    rtt: str,
    rate: str | None = None,
    wifi: str | None = None,
    stations: str | None = None,
    up_rate: str | None = None,
    up_qdisc: str | None = None,
    flows: int | None = None,
    cc: str | None = None,
    ecn: bool | None = None,
    traffic: str = "bulk,ping",
    duration: str = "60s",
    warmup: str = "5s",
    buffer: str | None = None,
) -> Scenario:
    """Return the (unresolved) scenario that the options of ``goodqueue compare`` describe.

    ``flows`` (4), ``cc`` (cubic) and ``ecn`` (default: the congestion control's) apply to the bulk flows, ``cc`` and
    ``ecn`` to Flent's tests too. Each is None if no option gives it. These flows start at random within the first
    second, so that each seed is another experiment. With ``wifi`` each station has this traffic, with 1 bulk flow.
    Raises UserError.
    """
    bottleneck: dict[str, Any] = {} if rate is None else {"rate": _number_or_text(rate)}
    if stations is not None and wifi is None:
        raise UserError("--stations", f"found {quoted(stations)} without --wifi; accepted: both, or neither")
    if wifi is not None:
        bottleneck["wifi"] = air.cell(wifi, stations)
    if buffer is not None:
        bottleneck["buffer"] = parse_buffer(buffer)
    up = {"rate": up_rate and _number_or_text(up_rate), "qdisc": up_qdisc}
    if given := {key: value for key, value in up.items() if value is not None}:
        bottleneck["up"] = given
    sources = _traffic(traffic, flows, cc, ecn, usual=4 if wifi is None else 1)
    return {
        "duration": duration,
        "warmup": warmup,
        "bottleneck": bottleneck,
        "path": {"rtt": rtt},
        "traffic": air.for_each(sources, bottleneck["wifi"]["station"]) if wifi is not None else sources,
    }


def _number_or_text(text: str) -> Any:
    """Return a bare number as a number, as a file has it, so that the core asks for its unit. Other text stays text."""
    value = parse_value(text.strip())
    return value if isinstance(value, int | float) and not isinstance(value, bool) else text


def parse_buffer(text: str) -> dict[str, float]:
    """Return the scenario's ``buffer`` for ``2bdp`` or ``0.5bdp``. Raises UserError."""
    number = text.strip().lower().removesuffix("bdp").strip()
    try:
        bdp = float(number)
    except ValueError:
        bdp = math.nan
    if not 0 < bdp < math.inf:
        accepted = "a multiple of the bandwidth-delay product, such as 2bdp"
        raise UserError("--buffer", f"found {quoted(text)}; accepted: {accepted}")
    return {"bdp": bdp}


def _traffic(text: str, flows: int | None, cc: str | None, ecn: bool | None, usual: int) -> list[dict[str, Any]]:
    """Return the traffic tables of ``--traffic``, with what the other options say about its TCP flows.

    The default number of bulk flows is ``usual``.
    """
    sources = [_source(item.strip()) for item in text.split(",")]
    bulk = [source for source in sources if source["kind"] == BULK]
    load = [source for source in sources if source in bulk or kinds()[source["kind"]].is_made_of_flows]
    tcp = "bulk flows or Flent's tests"
    wanted = (("--flows", flows, bulk, "bulk flows"), ("--cc", cc, load, tcp), ("--ecn", ecn, load, tcp))
    for option, value, takers, accepted in wanted:
        if value is not None and not takers:
            message = f"there are no bulk flows in --traffic {text}; accepted: {option} with {accepted}"
            raise UserError(option, message)
    if flows is not None and any("count" in source for source in bulk):
        raise UserError("--flows", f"--traffic {text} gives a number of flows too; accepted: one of them")
    for source in bulk:
        source["count"] = source.pop("count", usual if flows is None else flows)
    for source in load:
        source |= {"cc": cc or "cubic", "start_spread": "1s"}
        if ecn:  # otherwise the congestion control decides
            source["ecn"] = True
    return sources


def mix(text: str) -> list[dict[str, Any]]:
    """Return the traffic tables of a list as ``--traffic`` takes it, or those of a scenario file. Raises UserError."""
    if text.endswith(".toml"):
        found = load(text).get("traffic")
        if not isinstance(found, list) or not found:
            raise UserError(text, "traffic: found none; accepted: a file with [[traffic]]")
        return found
    return _traffic(text, None, None, None, usual=4)


def _source(item: str) -> dict[str, Any]:
    """Return one traffic table for ``KIND[:DETAIL]…``: a count, a direction, a rate, a size, a codec, a page, a host.

    Transfers follow one another, requests have 200 bytes, and applications start at random within the first second.
    """
    name, *details = item.split(":")
    kind = kinds().get(name)
    if kind is None:
        raise UserError("--traffic", f"found {quoted(name)}; accepted: {', '.join(kinds())}")
    source: dict[str, Any] = {"kind": name}
    of = kind.option
    for detail in details:
        key: str
        value: Any
        if detail in ("down", "up"):
            key, value = "direction", detail
        elif detail.startswith(HOSTS):
            key, _, value = detail.partition("=")
        elif detail.isascii() and detail.isdecimal() and len(detail) < 10:
            key, value = of.detail if of.example.isdecimal() else "count", int(detail)
        elif of.detail and detail:
            key, value = of.detail, _number_or_text(detail) if of.example else detail
        else:
            accepted = (
                "a list such as bulk,ping or bulk:4:host=bob,bulk:1:up,cbr:1mbit,transfer:100kB,voip:up,page:google"
            )
            raise UserError("--traffic", f"found {quoted(item)}; accepted: {accepted}")
        if key in source:
            raise UserError("--traffic", f"found {quoted(item)}, a second {key}; accepted: one")
        source[key] = value
    if of.example and of.detail not in source:
        what = "size" if of.example.endswith("B") else of.detail
        accepted = f"{name}:{what.upper()}, as {name}:{of.example}"
        raise UserError("--traffic", f"found {quoted(item)}, a source without {what}; accepted: {accepted}")
    traffic_files.expand([source], Path())
    return source | of.sets
