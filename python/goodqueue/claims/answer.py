"""The answer of ``claims``: what moved in sentences, then the claims and values of each study."""

from goodqueue.claims import moved, result, show
from goodqueue.claims.moved import Moved
from goodqueue.claims.result import Result
from goodqueue.show.answer import Answer


def of(now: Result, change: Moved | None, written: str) -> Answer:
    """Return the answer. ``change`` is since the earlier result, and ``written`` the file that keeps the new one."""
    return Answer(
        "Claims and values of the studies",
        [*show.lead(now, change), *show.tables(now, change)],
        lambda: {**result.as_json(now), "moved": moved.as_json(change) if change else None},
        now,
        written=written,
    )
