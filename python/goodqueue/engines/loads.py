"""Finds the number of users that offer a load: ``load`` of a kind of traffic that has ``users``.

Le et al. (2003) counted the users for each of their loads on a link that was ten times as fast, where no user waits for
another, and compared all disciplines with the same users. This module does the same. It counts with one seed and drop
tail, so the number is the same for all disciplines and seeds of a comparison.

The core knows only users. So a verb whose scenario may have a load resolves it by `resolve` of this module, not by that
of `scenario`, which runs nothing.
"""

import copy
import json
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

from goodqueue import _goodqueue, running
from goodqueue import scenario as reading
from goodqueue.errors import Place, UserError, quoted, warn
from goodqueue.record import Scenario
from goodqueue.running import Progress
from goodqueue.scenario import Origins, Sets, paths

FASTER = 10
"""The rate of the link on which users are counted, as a multiple of the load."""

NEAR = 0.005
"""The accepted relative error of the load."""

IRRELEVANT = ("load", "hops", "ecn")
"""Keys that are left out on the fast link. Disciplines that mark (ECN) thus get as many users as those that drop."""

MOST_BPS = 1e11
"""The upper bound of a load, so that the core accepts the rate of the fast link."""

TRIES = 12
FIRST_USERS = 20
MOST_USERS = 1_000_000
MOST_GROWTH = 30.0
"""The largest growth of the number of users from one try to the next: few users say little about the load of many."""

_counted: dict[str, tuple[int, float]] = {}
"""The number of users and the rate in bit/s that they offer, by the JSON of `Probe.asked`.

The counts of this process: cells of a sweep, cells of a study and candidates of a search ask for the same loads.
"""


class Probe(NamedTuple):
    """A load whose users are to be counted. Loads that differ only in their place or their text ask the same."""

    asked: Scenario
    """The users on a fast link, and the ``load`` that they are to offer in bit/s."""
    origin: Place
    key: str
    text: str
    """The load as the scenario has it."""

    @property
    def known(self) -> str:
        """The key in `_counted`."""
        return reading.to_json(self.asked)

    def say(self, what: str) -> None:
        """Write ``what`` about this load to standard error."""
        warn(f"{self.key} = {quoted(self.text)}: {what}")

    def take(self, users: int, offered: float) -> int:
        """Return ``users`` if what they offer is near enough. Raises UserError."""
        if abs(offered / self.asked["load"] - 1) > 10 * NEAR:
            found = f"found {quoted(self.text)}, which no number of users offers"
            closest = f"{users} offer {offered / 1e6:.3g} Mbit/s"
            accepted = f"a load that 1 to {MOST_USERS} users offer"
            raise UserError(self.origin, self.key, f"{found}: {closest}; accepted: {accepted}")
        return users


def resolve(scenario: Scenario, origin: str = "", origins: Origins | None = None) -> Scenario:
    """Return ``scenario`` resolved as `goodqueue.scenario.resolve` does, after each ``load`` has become users.

    The load is replaced in ``scenario``, too. Raises UserError.
    """
    settle(scenario, origin, origins)
    return reading.resolve(scenario, origin, origins)


def from_file(path: str | Path, sets: Sets = ()) -> Scenario:
    """Return the resolved scenario of a file, with ``sets`` applied. Raises UserError."""
    scenario = reading.load(path)
    return resolve(scenario, str(path), reading.apply(scenario, sets))


def settle(scenario: Scenario, origin: str = "", origins: Origins | None = None) -> None:
    """Replace each ``load`` in the traffic of ``scenario`` by the number of users, in place.

    A malformed scenario is left for the core to refuse. Raises UserError if no number of users offers the load.
    """
    for place, source in _loads(scenario):
        probe = _probe(scenario, place, source, origin, origins)
        count([probe], workers=1)
        source["users"] = probe.take(*_counted[probe.known])
        del source["load"]


def probes(scenario: Scenario, origin: str = "", origins: Origins | None = None) -> list[Probe]:
    """Return what `settle` would count for ``scenario``, for `count` to do so beforehand. Raises UserError."""
    return [_probe(scenario, place, source, origin, origins) for place, source in _loads(scenario)]


def uncounted(scenario: Scenario) -> Scenario:
    """Return ``scenario`` with a few users instead of each load, to check the rest of it."""
    checked = copy.deepcopy(scenario)
    for _, source in _loads(checked):
        source["users"] = FIRST_USERS
        del source["load"]
    return checked


def count(asked: Iterable[Probe], workers: int | None = None) -> None:
    """Count the users of each load that is not known yet, on all cores or on ``workers`` threads.

    The lines on standard error are those of one load after the other. So is the error: the first load that no number of
    users offers raises UserError, and ends the others.
    """
    wanted: dict[str, Probe] = {}
    for probe in asked:
        if (known := probe.known) not in _counted:
            wanted.setdefault(known, probe)
    left = deque(enumerate(wanted.items()))
    ended: dict[int, str | BaseException] = {}

    def begin() -> None:
        if left:
            left[0][1][1].say("counting the users that it takes")

    def tell(index: int, result: str | BaseException) -> None:
        ended[index] = result
        while left and left[0][0] in ended:
            place, (known, probe) = left.popleft()
            found = ended.pop(place)
            if isinstance(found, BaseException):
                raise found
            users, offered = json.loads(found)
            _counted[known] = users, offered
            probe.take(users, offered)
            rate_bps = probe.asked["load"]
            probe.say(f"{users} users, who offer {100 * offered / rate_bps:.1f} % of {rate_bps / 1e6:g} Mbit/s")
            begin()

    if wanted:
        begin()
        running.each([probe.asked for probe in wanted.values()], tell, workers, engine=_search, failed=tell)


def _loads(scenario: Scenario) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each traffic of ``scenario`` that has a load instead of users, with its place."""
    sources = scenario.get("traffic")
    for place, source in enumerate(sources if isinstance(sources, list) else []):
        if isinstance(source, dict) and isinstance(source.get("load"), str) and "users" not in source:
            yield place, source


def _probe(scenario: Scenario, place: int, source: dict[str, Any], origin: str, origins: Origins | None) -> Probe:
    key = f"traffic.{place}.load"
    where = (origins or {}).get(key, origin)
    return Probe(_alone(scenario, source, where, key), where, key, source["load"])


def _alone(scenario: Scenario, source: dict[str, Any], origin: Place, key: str) -> Scenario:
    """Return `Probe.asked`. Raises UserError."""
    probe = copy.deepcopy(scenario) | {"seed": 1}
    for name in ("series", "change", "hop"):
        probe.pop(name, None)
    bottleneck = probe.get("bottleneck")
    if isinstance(bottleneck, dict):
        probe["bottleneck"] = {"rate": bottleneck.get("rate"), "qdisc": "pfifo limit 100000"}
    one = {name: value for name, value in source.items() if name not in IRRELEVANT} | {"users": 1}
    probe["traffic"] = [one]
    resolved = reading.resolve(probe, str(origin))  # the core's error messages show the user's own numbers
    rate_bps = _load_bps(source["load"], paths.rate_bps(resolved["bottleneck"]))
    if not 0 < rate_bps < MOST_BPS:
        accepted = 'a share of the bottleneck\'s rate such as "98%", or a rate such as "98mbit"'
        raise UserError(origin, key, f"found {quoted(source['load'])}; accepted: {accepted}")
    fast = f"{round(FASTER * rate_bps)}bit"
    return probe | {"bottleneck": {"rate": fast, "qdisc": "pfifo limit 100000"}, "load": rate_bps}


def _load_bps(text: str, bottleneck_bps: int) -> float:
    """Return a load in bit/s, or 0 for a text that is no load."""
    try:
        return float(text[:-1]) / 100 * bottleneck_bps if text.endswith("%") else _goodqueue.rate_bps(text)
    except ValueError:
        return 0.0


def _search(asked: Scenario, progress: Progress, stop: Event) -> str:
    """Return the number of users that offer the load of `Probe.asked`, and the rate that they do offer, as JSON.

    It is an engine for the threads of `goodqueue.running`.
    """
    alone = {name: value for name, value in asked.items() if name != "load"}
    rate_bps = asked["load"]
    users, best = FIRST_USERS, (0, 0.0)
    for _ in range(TRIES):
        offered = _offered_bps(alone, users, progress, stop)
        if abs(offered - rate_bps) < abs(best[1] - rate_bps):
            best = (users, offered)
        if abs(offered / rate_bps - 1) < NEAR:
            break
        growth = rate_bps / offered if offered > 0 else MOST_GROWTH
        following = max(1, min(MOST_USERS, round(users * min(growth, MOST_GROWTH))))
        if following == users:
            break
        users = following
    return json.dumps(best)


def _offered_bps(alone: Scenario, users: int, progress: Progress, stop: Event) -> float:
    """Return the throughput of ``users`` users on the fast link, headers included, in bit/s."""
    source = alone["traffic"][0] | {"users": users}
    record = json.loads(running.simulate(alone | {"traffic": [source]}, progress, stop))
    direction = source.get("direction", "down")
    return float(record["queues"][direction]["throughput_mbps"]) * 1e6
