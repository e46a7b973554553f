"""Commands to a running qemu, in its machine protocol (QMP): resume a machine, or save its state and quit.

qemu gets one end of a pair of sockets as a descriptor. So no path is made, and the connection ends with either side.
"""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_LOOK_S = 0.01
"""Time between two questions about what takes a while."""


class Monitor:
    """A connection to a qemu."""

    def __init__(self) -> None:
        """Make the two ends."""
        self._ours, self.theirs = socket.socketpair()
        self._lines = self._ours.makefile(encoding="utf-8")
        self.saved = False
        """Whether `save` has written a whole state."""
        self.refusal = ""
        """Why qemu could not do what was asked of it."""

    @property
    def options(self) -> list[str]:
        """The words for qemu, which must inherit `theirs`."""
        return ["-chardev", f"socket,id=qmp,fd={self.theirs.fileno()}", "-mon", "chardev=qmp,mode=control"]

    @contextmanager
    def doing(self, act: Callable[[], None]) -> Iterator[None]:
        """Do ``act``, a method of this monitor, in a thread, as long as qemu lives. The block runs qemu."""

        def until_it_ends() -> None:
            try:
                self._lines.readline()  # the greeting
                self._ask("qmp_capabilities")
                act()
            except OSError:
                pass  # qemu has ended, and its own lines say why
            except ValueError as error:
                self.refusal = str(error)
                with suppress(OSError, ValueError):
                    self._ask("quit")

        thread = threading.Thread(target=until_it_ends)
        thread.start()
        try:
            yield
        finally:
            self.theirs.close()  # the last copy: our end reads the end of the connection
            thread.join()
            self._lines.close()
            self._ours.close()

    def resume(self) -> None:
        """Let the machine run as soon as its state is loaded."""
        self._await("query-status", "prelaunch", "inmigrate")
        self._ask("cont")

    def save(self, descriptor: int) -> None:
        """Write the machine's state to ``descriptor`` when it has paused itself as a guest that panics, and quit."""
        self._await("query-status", "prelaunch", "running")
        self._ask("migrate-set-parameters", **{"max-bandwidth": 2**40})  # the default is for networks
        self._ask("getfd", descriptor, fdname="state")
        self._ask("migrate", uri="fd:state")
        ended = self._await("query-migrate", "setup", "active", "device")
        self.saved = ended["status"] == "completed"
        if not self.saved:
            raise ValueError(f"qemu did not save the machine's state: {ended.get('error-desc', ended['status'])}")
        self._ask("quit")

    def _await(self, question: str, *transient: str) -> dict[str, Any]:
        """Ask until the status is none of ``transient``, and return the last answer."""
        while (status := self._ask(question)).get("status") in transient:
            time.sleep(_LOOK_S)
        return status

    def _ask(self, command: str, *descriptors: int, **arguments: Any) -> dict[str, Any]:
        """Return the answer to ``command``. Raises ConnectionError if qemu has ended, and ValueError if it refuses."""
        line = json.dumps({"execute": command, "arguments": arguments}) + "\n"
        socket.send_fds(self._ours, [line.encode()], descriptors)
        while line := self._lines.readline():
            answer: dict[str, Any] = json.loads(line)
            if "return" in answer:
                return answer["return"] or {}
            if "error" in answer:
                raise ValueError(answer["error"]["desc"])
        raise ConnectionError("no more answers")
