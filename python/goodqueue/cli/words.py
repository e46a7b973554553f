"""The words that a shell completes: disciplines, kinds of traffic, keys, metrics, and names of what is in the package.

Each function returns the candidates for what is typed so far. Files are completed by the shell itself.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any

Complete = Callable[[str], list[str]]


def among(names: Iterable[str]) -> Complete:
    """Return a function that completes one of ``names``."""
    known = list(names)
    return lambda incomplete: _begin(known, incomplete)


def _begin(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def qdisc(incomplete: str) -> list[str]:
    """Complete the name of a discipline, or after it the name of a parameter."""
    from goodqueue import _goodqueue

    listed: list[dict[str, Any]] = json.loads(_goodqueue.qdiscs())
    known = {one["name"]: [param["name"] for param in one["params"]] for one in listed}
    before, space, last = incomplete.rpartition(" ")
    if not space:
        return _begin(known, incomplete)
    return [f"{before} {name}" for name in _begin(known.get(before.split(" ")[0], []), last)]


def cc(incomplete: str) -> list[str]:
    """Complete the name of a congestion control."""
    from goodqueue import _goodqueue

    return _begin([one["name"] for one in json.loads(_goodqueue.congestion_controls())], incomplete)


def traffic(incomplete: str) -> list[str]:
    """Complete the last kind in a list such as ``bulk:4,ping``."""
    from goodqueue.traffic import kinds

    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _begin(kinds(), last)]


def hop(incomplete: str) -> list[str]:
    """Complete the name of a kind of hop."""
    from goodqueue.hops import kinds

    return _begin(kinds(), incomplete)


def assignment(incomplete: str) -> list[str]:
    """Complete a key of the scenario with its equals sign, or the qdisc after it."""
    key, equals, value = incomplete.partition("=")
    if not equals:
        return [f"{name}=" for name in _begin(keys(), incomplete)]
    last = key.rpartition(".")[2]
    found = {"qdisc": qdisc, "cc": cc}.get(last)
    before, comma, word = value.rpartition(",")
    return [f"{key}={before}{comma}{name}" for name in found(word)] if found else []


def key(incomplete: str) -> list[str]:
    """Complete a key of the scenario."""
    return _begin(keys(), incomplete)


def keys() -> list[str]:
    """Return the dotted keys of a scenario. In a list they are those of its first element."""
    from goodqueue.show import reference

    found: dict[str, None] = {}
    for table in reference.tables():
        name = table["name"]
        place = name.strip("[]") + ("." if name else "")
        place += "0." if name.startswith("[") else ""
        own = [*table["keys"], *(one for kind in table["kinds"] for one in kind["keys"])]
        found |= dict.fromkeys(f"{place}{one['name']}" for one in own)
    return list(found)


def metric(incomplete: str) -> list[str]:
    """Complete the name of a metric."""
    from goodqueue.measures import numbers

    return _begin(list(numbers.by_key()), incomplete)


def drawn(incomplete: str) -> list[str]:
    """Complete what ``plot`` can draw: a distribution, a series or a metric."""
    from goodqueue.plot import series, stored

    names = [*stored.DISTRIBUTIONS, *series.QUEUES, *series.FLOWS, *series.PINGS]
    return list(dict.fromkeys([*_begin(names, incomplete), *metric(incomplete)]))


def figure(incomplete: str) -> list[str]:
    """Complete a kind of figure."""
    from goodqueue.plot import KINDS

    return _begin(KINDS, incomplete)


def topic(incomplete: str) -> list[str]:
    """Complete what ``list`` lists."""
    from goodqueue.catalogue.question import TOPICS

    return _begin(TOPICS, incomplete)


def study(incomplete: str) -> list[str]:
    """Complete the name of a study in the package."""
    from goodqueue.studies import libraries

    return _begin(libraries.STUDIES.available(), incomplete)


def suite(incomplete: str) -> list[str]:
    """Complete the name of a suite in the package."""
    from goodqueue.studies import libraries

    return _begin(libraries.SUITES.available(), incomplete)


def example(incomplete: str) -> list[str]:
    """Complete the name of an example."""
    from goodqueue import examples

    return _begin([str(one["name"]) for one in examples.available()], incomplete)


def listed(ctx: Any, incomplete: str) -> list[str]:
    """Complete the name of an item of the topic before it."""
    topics = {"qdiscs": qdisc, "cc": cc, "traffic": traffic, "hops": hop}
    topics |= {"studies": study, "suites": suite, "examples": example}
    found = topics.get(ctx.params.get("topic", ""))
    return found(incomplete) if found else []
