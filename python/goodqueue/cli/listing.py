"""``goodqueue list``: lists disciplines, congestion controls, kinds of traffic and of hops, studies and more."""

from typing import Annotated, Any

import typer

from goodqueue.cli import words
from goodqueue.cli.options import Json

TOPICS = {
    "qdiscs": "Queue disciplines",
    "cc": "Congestion controls",
    "traffic": "Kinds of traffic",
    "hops": "Kinds of hops",
    "linux": "Disciplines and TCP by release of Linux",
    "studies": "Studies",
    "suites": "Suites",
    "examples": "Examples",
}

HOW = {
    "cc": "The words of one: goodqueue list cc cubic. A class of your own: FILE.py:CLASS (docs/guides/my-cc.md)",
    "qdiscs": "The parameters of one: goodqueue list qdiscs codel",
    "traffic": "The keys of one, and what it measures: goodqueue list traffic voip",
    "hops": "The keys of one: goodqueue list hops wire",
    "linux": "What changed in one, and its traces: goodqueue list linux cake --json",
    "examples": "One to edit: goodqueue init FILE --example voip-and-web",
}
"""The line below a list: how to see more about one item."""


def listing(
    topic: Annotated[
        str,
        typer.Argument(
            metavar="|".join(TOPICS),
            help="What to list.",
            autocompletion=words.among(TOPICS),
        ),
    ],
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One of them: its words or keys.", autocompletion=words.listed)
    ] = None,
    json: Json = False,
) -> None:
    """List qdiscs, congestion controls, traffic, hops and more.

    \b
    Examples:
      goodqueue list qdiscs
      goodqueue list qdiscs codel
      goodqueue list cc cubic
      goodqueue list traffic voip
      goodqueue list cc --json
    """
    from goodqueue.errors import UserError, quoted
    from goodqueue.show import catalogue, reference, terminal

    if topic not in TOPICS:
        raise UserError("list", f"found {quoted(topic)}; accepted: {', '.join(TOPICS)}")
    items = _items(topic)
    if name is not None:
        chosen = [item for item in items if item["name"] == name]
        if not chosen:
            known = ", ".join(item["name"] for item in items)
            raise UserError(f"list {topic}", f"found {quoted(name)}; accepted: {known}")
        items = [_whole(topic, chosen[0])]
    if json:
        terminal.emit_json(items if name is None else items[0])
    elif name is not None and topic == "qdiscs":
        terminal.show(catalogue.of_discipline(items[0]))
    elif name is not None and topic == "cc":
        terminal.print_table(catalogue.cc_words(items[0]))
    elif name is not None and topic in reference.KINDS:
        terminal.show(reference.of_kind(topic, name))
    elif items:
        if topic == "linux":
            from goodqueue.validation import releases, tcp_releases  # which read validate's cells

            terminal.print_table(releases.table([one for one in items if "since" in one]))  # type: ignore[misc]
            terminal.print_table(tcp_releases.table(tcp_releases.features()))
        else:
            terminal.print_table(catalogue.listed(TOPICS[topic], items))
        if topic in HOW and name is None:
            terminal.say(HOW[topic])
    else:
        terminal.say(f"{TOPICS[topic]}: none in this version")


def _whole(topic: str, item: dict[str, Any]) -> dict[str, Any]:
    """Return all details of ``item``. A kind of traffic or hop also has the keys that every kind takes."""
    from goodqueue.show import reference

    return item | {"common_keys": reference.common_keys(topic)} if topic in reference.KINDS else item


def _items(topic: str) -> list[dict[str, Any]]:
    from json import loads

    from goodqueue import _goodqueue
    from goodqueue.studies import libraries

    if topic in ("studies", "suites"):
        return (libraries.STUDIES if topic == "studies" else libraries.SUITES).listed()
    if topic == "examples":
        from goodqueue import examples

        return examples.available()
    if topic == "linux":
        from goodqueue.validation import releases, tcp_releases

        return [*releases.disciplines(), *tcp_releases.features()]  # type: ignore[list-item]
    if topic == "qdiscs":
        from goodqueue.show import reference

        return reference.disciplines()
    texts = {
        "cc": _goodqueue.congestion_controls,
        "traffic": _goodqueue.traffic_kinds,
        "hops": _goodqueue.hop_kinds,
    }
    items: list[dict[str, Any]] = loads(texts[topic]())
    return items
