"""The pages that list things for the site: traffic, path elements, studies and suites, examples.

Each is made from what ``goodqueue list`` reads, when the site is built (tools/docs/site.py). So no list can be out of
date. Links are relative to docs/reference/.
"""

import re
from collections.abc import Iterator

from generate import measured_by
from page import table

from goodqueue import examples, traffic
from goodqueue.measures.metrics import METRICS
from goodqueue.show import reference
from goodqueue.studies import libraries

KEYS = list(reference.COLUMNS)

TRAFFIC = """\
A scenario has one table `[[traffic]]` per flow, or per several equal flows. The key `kind` names the traffic.
`goodqueue compare codel --traffic bulk:4,ping,voip` names kinds on the command line. `goodqueue list traffic voip`
prints the section of one kind."""

PATH = """\
Packets cross a row of elements in each direction. The bottleneck is one of them: a link with a queue discipline, or a
Wi-Fi cell. A `[[hop]]` stands before or behind it. [Paths](../concepts/paths.md) and [Wi-Fi](../concepts/wifi.md)
explain how they work."""

STUDIES = """\
A study is a published evaluation as data. `goodqueue study NAME` runs it and prints each measured number beside the
published one. [Write a study](../../studies/README.md) explains the files."""

SUITES = """\
A suite is a standard's tests as data. `goodqueue suite NAME LINE` runs them and prints a pass sheet.
[Suites](../guides/suites.md) explains the verdicts."""


def traffic_page() -> str:
    """Return the page of the kinds of traffic: how each is asked for, its keys, what it measures."""
    kinds = traffic.kinds().values()
    rows = [[f"[`{kind.name}`](#{kind.name})", kind.summary] for kind in kinds]
    parts = [
        "# Traffic",
        TRAFFIC,
        table(["kind", "what it is"], rows),
        "The [keys of every kind](#keys-of-every-kind) are at the end.",
        *(part for kind in kinds for part in _kind(kind)),
        "## Keys of every kind",
        table(KEYS, reference.key_rows(reference.common_keys())),
    ]
    return "\n\n".join(parts) + "\n"


def _kind(kind: traffic.Kind) -> Iterator[str]:
    yield f"## {kind.name}"
    yield f"{_sentence(kind.summary)}{_option(kind)}"
    yield f"```toml\n{_shortest(kind)}```"
    if used := _used(kind.name):
        yield f"Examples: {used}."
    if kind.keys:
        yield f"### Keys of `{kind.name}`"
        yield table(KEYS, reference.key_rows(kind.keys))
    if kind.fields:
        times = f" `{kind.times}`: {kind.times_are}." if kind.times else ""
        yield f"### What a flow of `{kind.name}` measures"
        yield f"These keys stand in the [record](record.md#app) of each flow.{times}"
        yield measured_by(kind, "record.md#delay")
    if kind.measures:
        of = {metric.key: metric for metric in METRICS}
        rows = [
            [f"`{one.key}`", of[one.key].label, one.unit, f"`{one.path}`", reference.SUMS[one.sum]]
            for one in kind.measures
        ]
        yield f"### Metrics of `{kind.name}`"
        yield table(["metric", "name", "unit", "made of", "of several flows"], rows)


def _option(kind: traffic.Kind) -> str:
    """Return how ``--traffic`` asks for the kind with a detail."""
    detail = kind.option.detail
    example = f" An example is `--traffic {kind.name}:{kind.option.example}`." if kind.option.example else ""
    return f" `--traffic {kind.name}:DETAIL` sets its key `{detail}`.{example}" if detail else ""


def _shortest(kind: traffic.Kind) -> str:
    """Return the shortest table that asks for the kind: its required keys, with their examples."""
    needed = (key for key in kind.keys if key["required"])
    return "".join(
        ["[[traffic]]\n", f'kind = "{kind.name}"\n', *(f"{key['name']} = {key['example']}\n" for key in needed)]
    )


ELEMENTS = ("bottleneck", "path", "hop", "change")
"""The tables of a scenario that describe what packets cross."""


def path_page() -> str:
    """Return the page of what a path is made of: the bottleneck, a Wi-Fi cell, hops, the base RTT, changes."""
    elements = [one for one in reference.tables() if one["name"].strip("[]").split(".")[0] in ELEMENTS]
    parts = [
        "# Path elements",
        PATH,
        table(["element", "what it is"], [[_anchor(one["name"]), one["help"]] for one in elements]),
    ]
    for one in elements:
        needed = "" if one["required"] else " It may be left out."
        parts += [f"## `[{one['name']}]`", f"{one['help']}{needed}"]
        parts += [table(KEYS, reference.key_rows(one["keys"]))] if one["keys"] else []
        for kind in one["kinds"]:
            parts += [f"### Hop of kind {kind['name']}", _sentence(kind["summary"])]
            parts += [table(KEYS, reference.key_rows(kind["keys"]))]
            parts += [f"Examples: {used}."] if (used := _used(kind["name"])) else []
    return "\n\n".join(parts) + "\n"


def _anchor(name: str) -> str:
    return f"[`[{name}]`](#{re.sub(r'[^a-z]', '', name)})"


def library_page() -> str:
    """Return the page that lists the studies and the suites, with their notes."""
    parts = ["# Studies and suites"]
    for name, about, library in (("studies", STUDIES, libraries.STUDIES), ("suites", SUITES, libraries.SUITES)):
        rows = [
            [f"`{one['name']}`", one["summary"], one["source"], f"[notes](../../{name}/{one['name']}/NOTES.md)"]
            for one in library.listed()
        ]
        parts += [f"## {name.capitalize()}", about]
        parts += [table([library.what, "title", "source", "what we decided, and what misses"], rows)]
    return "\n\n".join(parts) + "\n"


def examples_page() -> str:
    """Return the page of the examples, each with its file, its drawing and its commands."""
    parts = [
        "# Examples",
        "Each example is a scenario to start from. `goodqueue init FILE --example NAME` copies one.",
    ]
    for one in examples.available():
        head = examples.read(one["name"]).split("\n\n")[0]
        lines = [line.removeprefix("#").removeprefix(" ") for line in head.splitlines()[1:]]
        parts += [f"## {one['name']}", one["summary"]]
        parts += [f"```text\n{chr(10).join(lines).strip(chr(10))}\n```"]
        parts += [f"The file: [examples/{one['name']}.toml](../../examples/{one['name']}.toml)"]
    return "\n\n".join(parts) + "\n"


def _used(kind: str) -> str:
    """Return links to the examples that have traffic, or a hop, of ``kind``."""
    names = [name for name in examples.names() if re.search(rf'^kind = "{kind}"', examples.read(name), re.MULTILINE)]
    return ", ".join(f"[{name}](../../examples/{name}.toml)" for name in names)


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


PAGES = {
    "docs/reference/traffic.md": traffic_page,
    "docs/reference/path-elements.md": path_page,
    "docs/reference/library.md": library_page,
    "docs/reference/examples.md": examples_page,
}
"""Each page's place, and what makes it."""
