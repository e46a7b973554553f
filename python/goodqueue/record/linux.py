"""The kernel engine's part of a record: how Linux ran the scenario."""

from typing import Any, NotRequired, TypedDict


class KernelHop(TypedDict):
    """How the kernel engine ran a hop."""

    shaper: str | None
    """Linux's discipline that served as the link. None for a wire."""
    qdisc_stats: list[dict[str, Any]]
    """Counters of `tc -s`, as in `Kernel`."""


class Kernel(TypedDict):
    """How the kernel engine ran the scenario.

    From the live engine, only what that engine has of Linux, which is not `tc`.
    """

    release: str
    """Linux's release and version."""
    where: str
    """``host`` or ``vm``."""
    clock: str
    """``real`` or ``virtual``. Virtual time stands still while the machine is busy elsewhere."""
    tc: NotRequired[str]
    """Version of `tc`."""
    shaper: NotRequired[dict[str, str]]
    """By direction, Linux's discipline that served as the link."""
    sysctls: dict[str, Any]
    """The sysctls that were set, and their values."""
    qdisc_stats: NotRequired[dict[str, list[dict[str, Any]]]]
    """By direction, what `tc -s` reports that each discipline counted within the measured time."""
    capture_lost: int
    """Packets that the captures missed. Always 0, because a run with missed packets makes no record."""
    hops: NotRequired[dict[str, KernelHop]]
    """By name, the hops of the path, if it has any."""
