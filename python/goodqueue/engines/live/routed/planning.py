"""The plan of Linux's own path for a link, whose traffic is that of programs."""

from goodqueue.engines.kernel import path as paths
from goodqueue.engines.kernel import planning
from goodqueue.engines.kernel.lab.plan import Plan, Route
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.scenario import paths as links
from goodqueue.scenario import seconds

STEPS_S = 3600
"""The time for which the rates of a file are planned. A link that lasts longer is refused at its end."""

_NONE_OF = {
    "traffic": "simulated traffic, as CMD is the traffic",
    "subscriber": "subscribers, as their traffic is simulated",
    "autorate": "a program that sets rates",
    "host": "the stack of a host, as CMD's is Linux's",
}
"""Tables that this path has not, in words."""


def plan(scenario: Scenario, release: str | None) -> Plan:
    """Return the plan of the path of the resolved ``scenario`` on ``release``.

    Raises UserError: the key, what was found, what is accepted.
    """
    for key, what in _NONE_OF.items():
        if scenario.get(key):
            raise UserError(key, f"found {what.partition(',')[0]}; accepted with --engine kernel: none{_why(what)}")
    planning.check_stated(scenario, release)
    planning.check_disciplines(scenario, release)
    has_files = any("trace" in table for _, table in links.links(scenario))
    duration_s = STEPS_S if has_files else seconds(scenario["duration"])
    path = paths.path(scenario | {"duration": f"{duration_s}s"})
    rtt_s = seconds(scenario["path"]["rtt"])
    return Plan(
        duration_s=duration_s,
        warmup_s=0.0,
        seed=scenario["seed"],
        down=path.down,
        up=path.up,
        routes=[Route(rtt_s)],
        flows=[],
        scenario="",
        sample_s=None,
        drain_s=1.0 + rtt_s + path.drain_s,
        hops=path.hops,
        rows=path.rows,
    )


def _why(what: str) -> str:
    _, comma, why = what.partition(",")
    return f"{comma}{why}"
