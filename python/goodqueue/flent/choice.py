"""The Flent test that is nearest to a run: its name, and the assignment of the run's flows to the test's series.

The rule: four TCP flows each way of the classes BE, BK, CS5 and EF are `rrul`. Four each way, all best effort, are
`rrul_be`. Any other flows both ways are `rrul_be_nflows`. Flows in one direction are `tcp_nup` or `tcp_ndown`. No
flows are `ping`, or `http` or `voip` if there is no ping. Only flows that send without end count, which are `bulk`. A
call and a page fit in every test. Flows that already have Flent's names keep them. Other kinds have no series in
Flent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from goodqueue.flent import HTTP, PING, VOIP
from goodqueue.record import Record
from goodqueue.traffic import BULK

CLASSES = {"CS0": "BE", "CS1": "BK", "CS5": "CS5", "EF": "EF"}
"""Codepoints of `rrul`, and the classes' names in it."""

PINGS = {
    "rrul": ("UDP EF", "UDP BK", "UDP BE"),
    "rrul_be": ("UDP BE1", "UDP BE2", "UDP BE3"),
    "rrul_be_nflows": ("UDP BE",),
    "tcp_nup": (),
    "tcp_ndown": (),
    "ping": ("UDP",),
    "http": (),
    "voip": (),
}
"""The pings of each test, besides ICMP, which every test has."""


@dataclass(slots=True)
class Choice:
    """The test for a run, and its series."""

    test: str
    parameters: dict[str, str] = field(default_factory=dict)
    """The parameters of the test, as Flent's option ``--test-parameter`` takes them."""
    flows: dict[str, str] = field(default_factory=dict)
    """Flent's series by goodqueue's flow."""
    pings: dict[str, str] = field(default_factory=dict)
    """Flent's series by goodqueue's ping."""
    calls: dict[str, str] = field(default_factory=dict)
    """Flent's series by goodqueue's call. Flent's plots draw the first call."""
    pages: dict[str, str] = field(default_factory=dict)
    """Flent's series by goodqueue's page."""
    derived: list[tuple[str, str, list[str]]] = field(default_factory=list)
    """A derived series, ``sum`` or ``avg``, and the series from which it is derived."""
    left_out: list[str] = field(default_factory=list)
    """Flows that have no series in the test."""

    def series(self) -> dict[str, str]:
        """Return Flent's series by goodqueue's name, for everything that has a series."""
        return self.flows | self.pings | self.calls | self.pages


def choose(record: Record) -> Choice:
    """Return the test that is nearest to ``record``."""
    classes = dict(_classes(record))
    bulk = [flow for flow in record["flows"] if flow["kind"] == BULK]
    directions = {
        direction: [flow["name"] for flow in bulk if flow["direction"] == direction] for direction in ("up", "down")
    }
    apps = {kind: [app["name"] for app in record["apps"] if app["kind"] == kind] for kind in ("ping", "page", "voip")}
    choice = _test(directions, classes, apps)
    if choice.test == "rrul":
        choice.flows = {
            name: f"TCP {direction}load {classes[name]}" for direction, names in directions.items() for name in names
        }
    elif choice.test == "rrul_be":
        choice.flows = {
            name: f"TCP {direction}load BE{number or ''}"
            for direction, names in directions.items()
            for number, name in zip(("", 2, 3, 4), names, strict=True)
        }
    else:
        middle = " BE" if choice.test == "rrul_be_nflows" else ""
        choice.flows = {
            name: f"TCP {direction}load{middle}::{index}"
            for direction, names in directions.items()
            for index, name in enumerate(names, 1)
        }
    _pings(choice, apps["ping"], classes)
    if apps["voip"]:
        choice.calls = {name: VOIP if index == 1 else f"{VOIP}::{index}" for index, name in enumerate(apps["voip"], 1)}
        choice.parameters["voip_host"] = "localhost"
    if apps["page"]:
        alone = len(apps["page"]) == 1
        choice.pages = {name: HTTP if alone else f"{HTTP}::{index}" for index, name in enumerate(apps["page"], 1)}
        choice.parameters["include_http"] = "yes"
    series = choice.series()
    listed = [*record["flows"], *record["apps"]]
    choice.left_out = list(dict.fromkeys(entry["name"] for entry in listed if entry["name"] not in series))
    _derive(choice)
    return choice


def _test(directions: dict[str, list[str]], classes: dict[str, str | None], apps: dict[str, list[str]]) -> Choice:
    counts = {f"{direction}load_streams": str(len(names)) for direction, names in directions.items() if names}
    if not counts:
        names = (("ping", "ping"), ("page", "http"), ("voip", "voip"))
        return Choice(next((test for kind, test in names if apps[kind]), "ping"))
    if len(counts) == 1:
        return Choice("tcp_nup" if directions["up"] else "tcp_ndown", counts)
    sets = [sorted(classes[name] or "" for name in names) for names in directions.values()]
    if all(classes == sorted(CLASSES.values()) for classes in sets):
        return Choice("rrul")
    if all(classes == ["BE"] * 4 for classes in sets):
        return Choice("rrul_be")
    return Choice("rrul_be_nflows", counts)


def _classes(record: Record) -> Iterator[tuple[str, str | None]]:
    """Yield the class of each flow and application. Flows and applications are in the scenario's order."""
    names = {kind: [entry["name"] for entry in entries] for kind, entries in _by_kind(record).items()}
    for source in record["scenario"].get("traffic", []):
        free = names.get(source["kind"], [])
        for _ in range(min(source.get("count") or 1, len(free))):
            yield free.pop(0), CLASSES.get(source.get("dscp") or "CS0")


def _by_kind(record: Record) -> dict[str, list[dict[str, str]]]:
    by_kind: dict[str, dict[str, dict[str, str]]] = {}
    for entry in (*record["flows"], *record["apps"]):  # some applications are listed as flows too
        by_kind.setdefault(entry["kind"], {})[entry["name"]] = {"name": entry["name"]}
    return {kind: list(by_name.values()) for kind, by_name in by_kind.items()}


def _pings(choice: Choice, names: Sequence[str], classes: dict[str, str | None]) -> None:
    """Assign series to the pings: first to those with a series' name, then ICMP to the first, then by class."""
    free = [f"{PING} {which}" for which in ("ICMP", *PINGS[choice.test])]
    for name in names:
        stem = name.rpartition("/")[0] or name
        if stem in free:
            free.remove(stem)
            choice.pings[name] = stem
    for name in names:
        if name in choice.pings:
            continue
        alike = [series for series in free if series.endswith("ICMP") or f" {classes.get(name)}" in series]
        if fits := alike or ([] if choice.test == "rrul" else free):
            free.remove(fits[0])
            choice.pings[name] = fits[0]


def _derive(choice: Choice) -> None:
    """List the sums and means that Flent's own plots of the test draw."""
    all_flows = list(choice.flows.values())
    for direction in ("upload", "download"):
        if summed := [series for series in all_flows if series.startswith(f"TCP {direction}")]:
            choice.derived += [(f"TCP {direction} avg", "avg", summed), (f"TCP {direction} sum", "sum", summed)]
    if choice.test.startswith("rrul"):
        choice.derived.append(("TCP totals", "sum", all_flows))
        choice.derived.append((f"{PING} avg", "avg", list(choice.pings.values())))
