"""The tables by which netem draws delays that are not uniform, where `tc` looks for them.

iproute2 makes its own of the functions of NIST Net, which is in the public domain (netem/normal.c, pareto.c,
paretonormal.c); so are these. The virtual machine has the program alone.
"""

import math
import os
from collections.abc import Callable
from pathlib import Path
from statistics import NormalDist

from .plan import Plan

_SIZE = 4096
_SCALE = 8192
"""A jitter is so much (NETEM_DIST_SCALE), in 16 bits."""
_LEAST, _MOST = -4 * _SCALE, 4 * _SCALE - 1


def _normal(u: float) -> float:
    return NormalDist().inv_cdf(u)


def _pareto(u: float) -> float:
    """Of shape 3, less its mean, by its variance."""
    return 4 / 3 * (math.pow(1 - u, -1 / 3) - 1.5)


def _paretonormal(u: float) -> float:
    return (_normal(u) + 3 * min(_pareto(u), 4)) / 4


FUNCTIONS: dict[str, Callable[[float], float]] = {
    "normal": _normal,
    "pareto": _pareto,
    "paretonormal": _paretonormal,
}
"""By tc's name, the inverse of each cumulative distribution function."""


def table(name: str) -> list[int]:
    """Return the numbers of distribution ``name``, in ascending order."""
    inverse = FUNCTIONS[name]
    quantiles = (inverse((number + 0.5) / _SIZE) for number in range(_SIZE))
    return [min(max(round(_SCALE * quantile), _LEAST), _MOST) for quantile in quantiles]


def write(plan: Plan, folder: Path) -> None:
    """Write the tables that the wires of ``plan`` ask for into ``folder``, and have `tc` look there."""
    wanted = {name for hop in plan.hops for name in FUNCTIONS if name in hop.netem}
    for name in wanted:
        (folder / f"{name}.dist").write_text("\n".join(map(str, table(name))) + "\n", encoding="ascii")
    if wanted:
        os.environ["TC_LIB_DIR"] = str(folder)
