"""Decision traces of our disciplines, for others to test theirs against; `replay` reads them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from goodqueue.errors import UserError, quoted
from goodqueue.files import output

SUFFIXES = (".csv", ".csv.gz")


class Totals(TypedDict):
    """What a trace holds: packets, and random numbers drawn."""

    offered: int
    delivered: int
    dropped: int
    marked: int
    draws: int


@dataclass(frozen=True, slots=True)
class Load:
    """What arrives, as a user writes it; the core understands it."""

    pattern: str = "steady"
    load: float = 1.1
    rate: str = "10mbit"
    packets: int = 5000
    sizes: str = "1514"
    flows: int = 10
    ecn: str = "none"
    seed: int = 1


def record(line: str, load: Load, out: str | Path, force: bool = False) -> Totals:
    """Record the discipline of the ``tc`` line ``line`` under ``load`` into the file ``out``, gzip if it ends so.

    The file is whole or not there. Raises UserError for what is refused, and where the trace went if ``out`` appeared
    while it was made.
    """
    from goodqueue import _goodqueue

    path, name = Path(out).absolute(), f"--out {out}"
    if not path.name.endswith(SUFFIXES) or path.name in SUFFIXES:
        raise UserError("--out", f"found {quoted(str(out))}; accepted: a file whose name ends in .csv or .csv.gz")
    output.check_file(out, force)
    output.remove_drafts(path.parent)
    draft = output.draft_of(path)
    try:
        totals: Totals = json.loads(
            _goodqueue.record(
                str(draft),
                path.name.endswith(".gz"),
                line,
                load.pattern,
                load.load,
                load.rate,
                load.packets,
                load.sizes,
                load.flows,
                load.ecn,
                load.seed,
            )
        )
        written = output.settle(draft, out, force)
    except ValueError as error:
        raise UserError(_place(str(error))) from None
    except OSError as error:
        raise UserError(name, f"cannot be written: {error.strerror or error}") from None
    finally:
        draft.unlink(missing_ok=True)
    if written != str(out):
        raise output.appeared(out, written)
    return totals


def _place(message: str) -> str:
    """Return a refusal of the core with the option before it that it is about."""
    key = message.split(":", 1)[0]
    return f"--{message}" if key in Load.__slots__ else message
