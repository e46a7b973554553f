"""The folder of kept results: where a new one is put, and which earlier one it is compared with."""

from pathlib import Path

from goodqueue.claims import result
from goodqueue.claims.result import Result
from goodqueue.errors import Option, UserError
from goodqueue.files import output


def place(out: str, made: Result, force: bool) -> Path:
    """Return the file of ``made`` in the folder ``out``. Raises UserError if it cannot or must not be written."""
    file = output.check_place(out, Option("out", out)) / made.name
    if not made.is_whole:
        raise UserError(Option("from"), "found an answer of --quick or --only; accepted with --out: whole studies")
    if file.parent.is_dir():
        output.check_file(file, force)
    return file


def write(file: Path, force: bool, made: Result) -> str:
    """Write the result ``made`` to ``file``, and return the name of the file. Raises UserError."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(Option("out", str(file.parent)), f"cannot be written: {error.strerror or error}") from error
    return output.write_file(file, force, result.text(made).encode())


def earlier(beside: str | None, out: str | None, own: Path | None) -> Result | None:
    """Return the result to compare with: the file ``beside``, or the newest whole one of a folder, except ``own``.

    The folder is ``beside``, or else ``out``. Returns None if there is none. Raises UserError.
    """
    if beside is not None and not Path(beside).is_dir():
        return result.read(Path(beside))
    folder = beside or out
    stored = result.stored(Path(folder)) if folder else []
    return next((one for file, one in stored if file.resolve() != own and one.is_whole), None)
