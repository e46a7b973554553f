"""``gq.Bottleneck``: the path of a scenario for endpoints of one's own, in virtual time."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar

from goodqueue.api import asking
from goodqueue.api.run import Run
from goodqueue.errors import UserError, quoted
from goodqueue.record import Delay, Record
from goodqueue.scenario import discipline, to_json

if TYPE_CHECKING:
    from goodqueue._goodqueue import Datagram

BUSY = ("Already borrowed", "Already mutably borrowed")
"""What PyO3 says if two threads use the same object."""

Args = ParamSpec("Args")
Made = TypeVar("Made")


class Way(TypedDict):
    """What the path did to the datagrams of one direction of a flow. Those sent during the warm-up do not count."""

    sent: int
    sent_bytes: int
    delivered: int
    delivered_bytes: int
    lost: int
    marked: int
    under_way: int
    goodput_mbps: float
    delay_ms: Delay | None


class FlowResult(TypedDict):
    """What the path did to a flow."""

    name: str
    down: Way
    up: Way


class Bottleneck:
    """The path of a scenario in virtual time. The scenario's own traffic is simulated beside your datagrams.

    Traffic of the kind ``outside`` is your flows, each with the keys of any traffic: ``name``, ``count``, ``rtt``,
    ``hops``, ``station`` and ``host``. Without such traffic there is one flow. Times are in seconds since the run
    began. Nothing reads a clock, so the same calls give the same record, byte for byte. One thread at a time may use a
    path: a call beside another's ends in `gq.UserError`.

    Args:
        scenario: The path of a TOML file, or its tables as a dict.
        seed: The seed of the random draws. If None, the scenario's own, or 1.
        **sets: Any key of the scenario, with ``__`` for the dot: ``path__rtt="10ms"``.

    Raises:
        UserError: The scenario is refused. One line says what was found and what is accepted.

    >>> import goodqueue as gq
    >>> cable = {"duration": "1s", "bottleneck": {"rate": "10mbit", "qdisc": "codel"}, "path": {"rtt": "40ms"}}
    >>> path = gq.Bottleneck(cable)
    >>> path.send("down", bytes(1208), ecn="ect0")
    >>> path.receive(until=1.0)
    <datagram of 1208 bytes down at 0.021 s, flow 0, ect0>
    >>> path.results()[0]["down"]["delivered"]
    1
    """

    @asking.in_words_of_python
    def __init__(self, scenario: asking.Source, *, seed: int | None = None, **sets: Any) -> None:
        """Build the path of ``scenario``. The class describes the arguments."""
        from goodqueue import _goodqueue

        if not isinstance(scenario, str | os.PathLike | Mapping):
            raise UserError("scenario", f"found {quoted(scenario)}; accepted: a file's path, or a dict")
        base, _ = asking.scenario_of(scenario, sets | {"seed": seed})
        self._files: list[str] = []
        with discipline.blaming(self._files, UserError):
            try:
                self._path = _goodqueue.Bottleneck(to_json(base), discipline.Maker(self._files))
            except _goodqueue.ScenarioError as error:
                place = "" if isinstance(scenario, Mapping) else f"{scenario}: "
                raise UserError(f"{place}{error.key}" if error.key else place or "scenario", error.message) from None

    @property
    def now(self) -> float:
        """The time that the path has reached."""
        return self._called(lambda: self._path.now)

    @property
    def duration(self) -> float:
        """The end of the run. Time does not go beyond it."""
        return self._called(lambda: self._path.duration)

    @property
    def most_bytes(self) -> int:
        """The greatest number of bytes that a datagram can have."""
        return self._called(lambda: self._path.most_bytes)

    def flow(self, name: str) -> int:
        """Return the number of the flow ``name``. Traffic with a count above 1 needs the number: ``mine/1``."""
        return self._called(self._path.flow, name)

    def send(
        self,
        direction: str,
        data: bytes,
        *,
        ecn: str = "not-ect",
        dscp: int = 0,
        flow: int = 0,
        now: float | None = None,
    ) -> None:
        """Put a datagram into the path, at the time ``now`` or else at the path's.

        ``direction`` is ``"down"``, to the user, or ``"up"``. ``ecn`` is not-ect, ect0, ect1 or ce. The path counts 42
        bytes more than ``data``: the headers of UDP, IPv4 and Ethernet. Raises `gq.UserError` for a time in the path's
        past, an impossible size or a flow that the scenario does not have, and the path is as before.
        """
        self._called(self._path.send, direction, data, ecn=ecn, dscp=dscp, flow=flow, now=now)

    def next_time(self) -> float | None:
        """Return the time of the next event on the path, if there is one up to the end of the run.

        No datagram arrives before it.
        """
        return self._called(self._path.next_time)

    def receive(self, until: float) -> "Datagram | None":
        """Run until the next datagram arrives, at the latest until ``until`` or the end of the run.

        Return the datagram (``time``, ``direction``, ``flow``, ``ecn``, ``dscp``, ``data``); the path has then reached
        its time. A time in the past means now. Raises `gq.UserError` if a class of yours raised an exception.
        """
        return self._called(self._path.receive, until)

    def results(self) -> list[FlowResult]:
        """Return what the path did to each of your flows, in the order of their numbers."""
        found: list[FlowResult] = json.loads(self._called(self._path.results))
        return found

    def record(self) -> Record:
        """Return the record of the run so far. Your flows stand behind those of the scenario."""
        found: Record = json.loads(self._called(self._path.record))
        return found

    def run(self) -> Run:
        """Return the run so far as `gq.run` returns it: it prints as tables, and has figures."""
        return Run(self._called(self._path.record), "bottleneck")

    def _called(self, call: Callable[Args, Made], *args: Args.args, **words: Args.kwargs) -> Made:
        """Call the core. Its refusals, and exceptions of the user's classes, become UserError."""
        from goodqueue._goodqueue import ScenarioError

        with discipline.blaming(self._files, UserError) if self._files else nullcontext():
            try:
                return call(*args, **words)
            except ScenarioError as error:
                raise UserError(str(error)) from None
            except RuntimeError as error:
                if str(error) not in BUSY:
                    raise
                raise UserError("another call uses this path; accepted: one at a time") from None
