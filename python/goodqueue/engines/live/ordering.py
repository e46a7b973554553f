"""The order for the lab of a link: the commands, the path between them, and the names of its ends."""

import json
import os
from dataclasses import asdict, dataclass

from goodqueue.capture import Trace
from goodqueue.engines.kernel.lab.addresses import SIDES
from goodqueue.engines.live import ends, outward
from goodqueue.engines.live.ends import Declared
from goodqueue.engines.live.talk import Message

DEPTH = "GOODQUEUE_LINK_DEPTH"
"""A variable in CMD's environment: the number of links that CMD is within."""

NO_RESOLVER = "# goodqueue link: no resolver can be reached from here\n"
"""The text of /etc/resolv.conf if the world is unreachable. Otherwise programs would wait for answers in vain."""


@dataclass(frozen=True, slots=True)
class Task:
    """The command to run, and the path between its ends."""

    scenario: Message
    """The resolved scenario."""
    client: list[str]
    server: list[str] | None = None
    """None: the far side is the world outside, if it can be reached."""
    trace: Trace | None = None
    stdout: int | None = None
    """The descriptors of CMD's standard output and, as ``stderr``, standard error. None: those of this process."""
    stderr: int | None = None
    hosts: tuple[Declared, ...] = ()
    """Further hosts at the ends."""
    plan: str | None = None
    """The plan of Linux's own path (`routed`), as JSON. None: the path is goodqueue's."""


def order(task: Task, level: int, direction: outward.Outward | None = None) -> Message:
    """Return the order for ``task`` as link number ``level`` of those within each other.

    ``direction`` is the way to the world outside, if there is one. CMD gets this process's environment. The order is
    for a link whose far end nobody else places, and which nobody watches.
    """
    every = ends.of_link(level, task.hosts) if task.plan is None else ends.of_laboratory(task.hosts)
    names: dict[str, list[str]] = {}
    environment = dict(os.environ) | {DEPTH: str(level)}
    for end in every:
        names |= end.names()
    for end in every[: len(SIDES)]:
        environment[f"GOODQUEUE_{end.name.upper()}"] = end.ipv4
    if direction is not None:
        names["host"] = [outward.HOST]
        environment["GOODQUEUE_HOST"] = outward.HOST
    scenario = {key: value for key, value in task.scenario.items() if key != "traffic" or value}
    return {
        "scenario": json.dumps(scenario),
        "client": task.client,
        "server": task.server,
        "trace": task.trace and task.trace._asdict(),
        "depth": level,
        "nested": False,
        "outward": direction and direction.command,
        "resolver": NO_RESOLVER,
        "hosts": names,
        "ends": [asdict(end) for end in every],
        "plan": task.plan,
        "environment": environment,
        "looks": False,
        "priority": 0,
        "virtual_time": False,
        "user": None,
    }
