"""The numbers of the parts of a path that draw random numbers. Each has a generator of its own in the simulator.

Linux as a process finds a part's generator by the group of its device (`process_changes`).
"""

from .chain import Step
from .plan import Plan

MOST = 16
"""Parts with higher numbers draw from the generator of the bottleneck down."""


def of_steps(plan: Plan) -> dict[tuple[str, int | None], int]:
    """Return the numbers of the bottleneck's queues and of the hops, by direction and place in the plan's rows."""
    return _numbers(plan)[0]


def of_step(plan: Plan, step: Step) -> int:
    """Return the number of the part that ``step`` is."""
    return _below_most(of_steps(plan)[step.direction, step.place])


def of_card(plan: Plan, place: int) -> int:
    """Return the number of the interface of the plan's stack ``place``."""
    return _below_most(_numbers(plan)[1][place])


def count(plan: Plan) -> int:
    """Return how many parts have a number."""
    steps, cards = _numbers(plan)
    return len(steps) + len(cards)


def _below_most(number: int) -> int:
    return number if number < MOST else 0


def _numbers(plan: Plan) -> tuple[dict[tuple[str, int | None], int], dict[int, int]]:
    """Return the numbers as the simulator counts: the bottlenecks, then by direction the interfaces and the row."""
    steps: dict[tuple[str, int | None], int] = {("down", None): 0, ("up", None): 1}
    cards: dict[int, int] = {}
    for direction, side in (("down", "server"), ("up", "client")):
        for place, stack in enumerate(plan.stacks):
            if stack.side == side and stack.link is not None:
                cards[place] = len(steps) + len(cards)
        for hop in plan.rows[direction]:
            if hop is not None:
                steps[direction, hop] = len(steps) + len(cards)
    return steps, cards
