"""Finds the number of users that offer a load: ``load`` of a kind of traffic that has ``users``.

Le et al. (2003) counted the users for each of their loads on a link that was ten times as fast, where no user waits for
another, and compared all disciplines with the same users. This module does the same. It counts with one seed and drop
tail, so the number is the same for all disciplines and seeds of a comparison.
"""

import copy
import json
from collections.abc import Mapping
from typing import Any

from goodqueue.errors import Place, UserError, quoted, warn
from goodqueue.record import Scenario
from goodqueue.scenario import paths

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

_found: dict[str, int] = {}


def settle(scenario: Scenario, origin: str = "", origins: Mapping[str, Place] | None = None) -> None:
    """Replace each ``load`` in the traffic of ``scenario`` by the number of users, in place.

    A malformed scenario is left for the core to refuse. Raises UserError if no number of users offers the load.
    """
    sources = scenario.get("traffic")
    for place, source in enumerate(sources if isinstance(sources, list) else []):
        if isinstance(source, dict) and isinstance(source.get("load"), str) and "users" not in source:
            key = f"traffic.{place}.load"
            where = (origins or {}).get(key, origin)
            source["users"] = _users(scenario, source, where, key)
            del source["load"]


def _users(scenario: Scenario, source: dict[str, Any], origin: Place, key: str) -> int:
    from goodqueue import scenario as reading

    alone, rate_bps = _alone(scenario, source, origin, key)
    known = reading.to_json({**alone, "load": rate_bps})
    if known not in _found:
        warn(f"{key} = {quoted(source['load'])}: counting the users that it takes")
        _found[known], offered = _search(alone, rate_bps, origin, key, source["load"])
        share = f"{100 * offered / rate_bps:.1f} % of {rate_bps / 1e6:g} Mbit/s"
        warn(f"{key} = {quoted(source['load'])}: {_found[known]} users, who offer {share}")
    return _found[known]


def _alone(scenario: Scenario, source: dict[str, Any], origin: Place, key: str) -> tuple[Scenario, float]:
    """Return the scenario with only the users on a fast link, and the load in bit/s. Raises UserError."""
    from goodqueue import scenario as reading

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
    return probe | {"bottleneck": {"rate": fast, "qdisc": "pfifo limit 100000"}}, rate_bps


def _load_bps(text: str, bottleneck_bps: int) -> float:
    """Return a load in bit/s, or 0 for a text that is no load."""
    from goodqueue import _goodqueue

    try:
        return float(text[:-1]) / 100 * bottleneck_bps if text.endswith("%") else _goodqueue.rate_bps(text)
    except ValueError:
        return 0.0


def _search(alone: Scenario, rate_bps: float, origin: Place, key: str, asked: str) -> tuple[int, float]:
    """Return the number of users that offer ``rate_bps``, and the rate that they do offer."""
    users, best = FIRST_USERS, (0, 0.0)
    for _ in range(TRIES):
        offered = _offered_bps(alone, users)
        if abs(offered - rate_bps) < abs(best[1] - rate_bps):
            best = (users, offered)
        if abs(offered / rate_bps - 1) < NEAR:
            return best
        growth = rate_bps / offered if offered > 0 else MOST_GROWTH
        following = max(1, min(MOST_USERS, round(users * min(growth, MOST_GROWTH))))
        if following == users:
            break
        users = following
    if abs(best[1] / rate_bps - 1) > 10 * NEAR:
        found = f"found {quoted(asked)}, which no number of users offers: {best[0]} offer {best[1] / 1e6:.3g} Mbit/s"
        raise UserError(origin, key, f"{found}; accepted: a load that 1 to {MOST_USERS} users offer")
    return best


def _offered_bps(alone: Scenario, users: int) -> float:
    """Return the throughput of ``users`` users on the fast link, headers included, in bit/s."""
    from goodqueue import run

    source = alone["traffic"][0] | {"users": users}
    record = json.loads(run.one_text(alone | {"traffic": [source]}))
    direction = source.get("direction", "down")
    return float(record["queues"][direction]["throughput_mbps"]) * 1e6
