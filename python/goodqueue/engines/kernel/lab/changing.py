"""Changes of links during a run: of their rates and their disciplines."""

import subprocess
from dataclasses import dataclass

from . import tc
from .cards import cards
from .chain import Does, Node, Step, nodes
from .commands import TOWARDS, Words, at_rate
from .errors import LabError
from .plan import Change, Plan
from .topology import Namespace


@dataclass(frozen=True, slots=True)
class Due:
    """Commands for ``tc`` in a namespace, and the time at which they are due."""

    at_s: float
    space: str
    lines: list[Words]


def due(plan: Plan) -> list[Due]:
    """Return the changes of the run, in the order of time.

    A change of rate applies to the shaper, and to the transmission behind the shaper.
    """
    dues = []
    for node in nodes(plan):
        for step in node.steps:
            link = plan.link(step.direction, step.place)
            for change in link.changes if link is not None else []:
                if lines := _lines(plan, node, step, change):
                    dues.append(Due(change.at_s, node.name, lines))
    for card in cards(plan):
        for change in card.stack.link.changes if card.stack.link is not None else []:
            dues.append(Due(change.at_s, card.stack.side, [_change(card.out, words) for words in change.tc]))
    return sorted(dues, key=lambda due_change: due_change.at_s)


def _lines(plan: Plan, node: Node, step: Step, change: Change) -> list[Words]:
    device = node.device(TOWARDS[step.direction])
    lines = [] if change.rate_bps is None else at_rate(device, step, plan, change.rate_bps)
    if step.does is Does.QUEUE:
        lines += [_change(device, words) for words in change.tc]
    return lines


def _change(device: str, words: Words) -> Words:
    """Return the command that changes a discipline, or a class if ``words`` begin with ``class``."""
    is_class = words[0] == "class"
    return ["class" if is_class else "qdisc", "change", "dev", device, *words[is_class:]]


class Changers:
    """One ``tc`` process, waiting for commands, in each namespace that has something to change.

    Starting a program at the time of the change would cost the virtual machine's processor milliseconds.
    """

    def __init__(self, spaces: dict[str, Namespace], names: set[str]) -> None:
        """Start the processes."""
        self._waiting = {}
        for name in sorted(names):
            with spaces[name].entered():
                self._waiting[name] = subprocess.Popen(
                    ["tc", "-batch", "-"],  # noqa: S607
                    stdin=subprocess.PIPE,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    text=True,
                    bufsize=1,
                )

    def do(self, due_change: Due) -> None:
        """Send the commands of ``due_change`` to its namespace's ``tc``."""
        stdin = self._waiting[due_change.space].stdin
        assert stdin is not None
        try:
            stdin.write("".join(" ".join(words) + "\n" for words in due_change.lines))
            stdin.flush()
        except BrokenPipeError:
            self.finish()

    def finish(self) -> list[str]:
        """End the processes, and return what ``tc`` said. Raises LabError if ``tc`` refused a command."""
        heard = []
        for process in self._waiting.values():
            _, text = process.communicate()
            if process.returncode != 0:
                raise LabError(f"tc: a change was refused: {'; '.join(tc.said(text))}")
            heard += tc.said(text)
        return heard
