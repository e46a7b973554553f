"""Records decision traces of our disciplines, for others to test theirs against. `replay` reads them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from goodqueue.errors import UserError, quoted
from goodqueue.files import output

SUFFIXES = (".csv", ".csv.gz")


class Totals(TypedDict):
    """The content of a trace: packets, and random numbers drawn."""

    offered: int
    delivered: int
    dropped: int
    marked: int
    draws: int


@dataclass(frozen=True, slots=True)
class Load:
    """The arrivals, in the user's notation. The core parses it."""

    pattern: str = "steady"
    load: float = 1.1
    rate: str = "10mbit"
    packets: int = 5000
    sizes: str = "1514"
    flows: int = 10
    ecn: str = "none"
    seed: int = 1


def record(line: str, load: Load, out: str | Path, force: bool = False) -> Totals:
    """Record the discipline of the ``tc`` line ``line`` under ``load`` into the file ``out``.

    If ``out`` ends in ``.gz`` it is compressed with gzip. The file is complete or absent. Raises UserError if
    something is refused, and also if ``out`` appeared in the meantime: the error says where the trace is.
    """
    from goodqueue import _goodqueue

    path, name = Path(out).absolute(), f"--out {out}"
    if not path.name.endswith(SUFFIXES) or path.name in SUFFIXES:
        raise UserError("--out", f"found {quoted(str(out))}; accepted: a file whose name ends in .csv or .csv.gz")
    output.check_file(out, force)
    try:
        with output.draft_of(path.resolve()) as draft:
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
    if written != str(out):
        raise output.appeared(out, written)
    return totals


def _place(message: str) -> str:
    """Return an error message of the core, with dashes before it if it begins with the name of an option."""
    key = message.split(":", 1)[0]
    return f"--{message}" if key in Load.__slots__ else message
