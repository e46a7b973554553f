"""The tables from which netem draws delays that are not uniform, in a folder where `tc` looks for them.

Like iproute2's own tables, these are computed with the functions of NIST Net, which is in the public domain
(netem/normal.c, pareto.c, paretonormal.c). The virtual machine has only the program `tc`, without its tables.
"""

import math
import os
from collections.abc import Callable
from pathlib import Path

from .plan import Plan

_TABLES = "tables"
"""The folder of the tables in that of the results, as long as the run lasts: a change may name one, too."""

_SIZE = 4096
_SCALE = 8192
"""The table's value for one jitter (NETEM_DIST_SCALE). The values have 16 bits."""
_LEAST, _MOST = -4 * _SCALE, 4 * _SCALE - 1


def _normal(u: float) -> float:
    from statistics import NormalDist  # with what it needs it takes as long as to build the network

    return NormalDist().inv_cdf(u)


def _pareto(u: float) -> float:
    """Return the inverse of a Pareto distribution of shape 3, shifted to mean 0 and scaled by its variance."""
    return 4 / 3 * (math.pow(1 - u, -1 / 3) - 1.5)


def _paretonormal(u: float) -> float:
    return (_normal(u) + 3 * min(_pareto(u), 4)) / 4


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "normal": _normal,
    "pareto": _pareto,
    "paretonormal": _paretonormal,
}
"""The inverse of each cumulative distribution function, by tc's name."""


def table(name: str) -> list[int]:
    """Return the numbers of distribution ``name``, in ascending order."""
    inverse = FUNCTIONS[name]
    quantiles = (inverse((number + 0.5) / _SIZE) for number in range(_SIZE))
    return [min(max(round(_SCALE * quantile), _LEAST), _MOST) for quantile in quantiles]


def write(plan: Plan, folder: Path) -> None:
    """Write the tables that the wires and disciplines of ``plan`` need below ``folder``, and make `tc` look there."""
    links = [plan.down, plan.up, *(hop.link for hop in plan.hops if hop.link is not None)]
    lines = [words for link in links for words in (*link.tc, *(line for change in link.changes for line in change.tc))]
    lines += [hop.netem for hop in plan.hops]
    names = {name for name in FUNCTIONS if any(name in words for words in lines)}
    if not names:
        return
    tables = folder / _TABLES
    tables.mkdir()
    for name in names:
        (tables / f"{name}.dist").write_text("\n".join(map(str, table(name))) + "\n", encoding="ascii")
    os.environ["TC_LIB_DIR"] = str(tables)


def remove(folder: Path) -> None:
    """Remove the tables in ``folder``, if there are any."""
    tables = folder / _TABLES
    for path in tables.glob("*"):
        path.unlink()
    if tables.exists():
        tables.rmdir()
