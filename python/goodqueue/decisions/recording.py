"""Records decision traces of our disciplines, for others to test theirs against. `replay` reads them."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from goodqueue.errors import Option, UserError, quoted
from goodqueue.files import output

if TYPE_CHECKING:
    from goodqueue.decisions.question import Record

SUFFIXES = (".csv", ".csv.gz")


class Totals(TypedDict):
    """The content of a trace: packets, and random numbers drawn."""

    offered: int
    delivered: int
    dropped: int
    marked: int
    draws: int


def check(asked: "Record") -> None:
    """Refuse a name that is no trace's, and a file that must not be written. Raises UserError."""
    name = Path(asked.out).absolute().name
    if not name.endswith(SUFFIXES) or name in SUFFIXES:
        raise UserError(output.OUT, f"found {quoted(asked.out)}; accepted: a file whose name ends in .csv or .csv.gz")
    output.check_file(asked.out, asked.force)


def record(asked: "Record") -> Totals:
    """Record the discipline that is ``asked`` for, under the load that is asked for. The core parses both.

    If the file's name ends in ``.gz`` it is compressed with gzip. The file is complete or absent. Raises UserError if
    something is refused, and also if the file appeared in the meantime: the error says where the trace is.
    """
    from goodqueue import _goodqueue

    path = Path(asked.out).absolute()
    try:
        with output.draft_of(path.resolve()) as draft:
            totals: Totals = json.loads(
                _goodqueue.record(
                    str(draft),
                    path.name.endswith(".gz"),
                    asked.qdisc,
                    asked.pattern,
                    asked.load,
                    asked.rate,
                    asked.packets,
                    asked.sizes,
                    asked.flows,
                    asked.ecn,
                    asked.seed,
                )
            )
            written = output.settle(draft, asked.out, asked.force)
    except ValueError as error:
        raise UserError(_place(asked, str(error))) from None
    except OSError as error:
        raise UserError(Option("out", asked.out), f"cannot be written: {error.strerror or error}") from None
    if written != asked.out:
        raise output.appeared(asked.out, written)
    return totals


def _place(asked: "Record", message: str) -> str:
    """Return an error message of the core, with dashes before it if it begins with the name of an option."""
    key = message.split(":", 1)[0]
    return f"--{message}" if key in asked.fields() else message
