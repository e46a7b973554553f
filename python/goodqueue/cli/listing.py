"""``goodqueue list``: what there is."""

from typing import Annotated, Any

import typer

from goodqueue.cli.options import Json

TOPICS = {
    "qdiscs": "Queue disciplines",
    "cc": "Congestion controls",
    "traffic": "Kinds of traffic",
    "studies": "Studies",
}


def listing(
    topic: Annotated[str, typer.Argument(metavar="qdiscs|cc|traffic|studies", help="What to list.")],
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One qdisc or cc: its words.")] = None,
    json: Json = False,
) -> None:
    """List qdiscs, congestion controls, kinds of traffic or studies.

    \b
    Examples:
      goodqueue list qdiscs
      goodqueue list qdiscs codel
      goodqueue list cc cubic
      goodqueue list cc --json
    """
    from goodqueue import tables, terminal
    from goodqueue.errors import UserError, quoted

    if topic not in TOPICS:
        raise UserError("list", f"found {quoted(topic)}; accepted: {', '.join(TOPICS)}")
    items = _items(topic)
    if name is not None:
        chosen = [item for item in items if item["name"] == name]
        if not chosen:
            known = ", ".join(item["name"] for item in items)
            raise UserError(f"list {topic}", f"found {quoted(name)}; accepted: {known}")
        items = chosen
    if json:
        from json import dumps

        terminal.emit(dumps(items if name is None else items[0], ensure_ascii=False) + "\n")
    elif name is not None and items[0].get("params"):
        terminal.print_table(tables.qdisc_parameters(items[0]))
    elif name is not None and topic == "cc":
        terminal.print_table(tables.cc_words(items[0]))
    elif items:
        terminal.print_table(tables.catalogue(TOPICS[topic], items))
        if topic == "qdiscs" and name is None:
            terminal.say("The parameters of one: goodqueue list qdiscs codel")
    else:
        terminal.say(f"{TOPICS[topic]}: none in this version")


def _items(topic: str) -> list[dict[str, Any]]:
    from json import loads

    from goodqueue import _goodqueue

    if topic == "studies":
        return _studies()
    texts = {
        "qdiscs": _goodqueue.qdiscs,
        "cc": _goodqueue.congestion_controls,
        "traffic": _goodqueue.traffic_kinds,
    }
    items: list[dict[str, Any]] = loads(texts[topic]())
    return items


def _studies() -> list[dict[str, Any]]:
    """Return the studies that come with the package, from ``goodqueue.studies.available()``."""
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("goodqueue.studies") is None:
        return []
    available = getattr(import_module("goodqueue.studies"), "available", list)
    items: list[dict[str, Any]] = available()
    return items
