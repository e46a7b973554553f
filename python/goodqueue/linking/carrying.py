"""Carries out a link: runs CMD behind the path, serves what it measures, and writes the record and the capture."""

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from goodqueue.capture import asked, check, settle
from goodqueue.engines.live import outside
from goodqueue.engines.live.ordering import Task
from goodqueue.engines.live.outside import End
from goodqueue.errors import warn
from goodqueue.files import output
from goodqueue.linking import answer, path
from goodqueue.show.answer import Answer

if TYPE_CHECKING:
    from goodqueue.linking.question import Link

STDERR = 2
"""The descriptor of standard error."""


def carry_out(link: "Link", task: Task, read: Iterable[Path]) -> Answer:
    """Run the programs of ``task``, and return the answer.

    ``read`` are the files that the scenario was read from. Raises UserError if the link cannot be built, or breaks.
    """
    written = {}
    trouble = None
    with asked(link.trace, link.trace_at, link.trace_snap, link.engine, link.force, read) as capture:
        if capture is not None:
            check(task.scenario, capture.points)
        task = replace(task, trace=capture, stdout=STDERR if link.spares_output else None)
        end = _run(task, link)
        if link.record is not None:
            text = f"{end.record}\n".encode()
            written["--record", link.record] = output.write_file(link.record, link.force, text, "--record")
        if capture is not None and end.no_capture is not None:
            trouble = capture.refusal(ValueError(end.no_capture))
        elif capture is not None:
            written["--trace", capture.file] = settle(capture, link.force)
    for (option, file), found in written.items():
        if found != file:
            trouble = trouble or output.appeared(file, found, option)
    return answer.of(end, trouble, is_quiet=link.quiet)


def _run(task: Task, link: "Link") -> End:
    """Run ``task`` to its end. Serve metrics for Prometheus, and show the link to a person, as ``link`` asks for."""
    note = _unheard if link.quiet else warn
    if link.virtual:
        return _in_virtual_time(task, link, note)
    lookers: list[Callable[[dict[str, Any]], None]] = []
    with outside.signals_held() as ignored, ExitStack() as looking:
        if link.metrics is not None:
            from goodqueue.linking.prometheus import Metrics

            served = Metrics()
            looking.enter_context(served.served(link.metrics))
            lookers.append(served.glance)
        if link.live:
            from goodqueue.linking.view import View

            view = View()
            shown = looking.enter_context(view.shown())
            task = replace(task, stdout=shown, stderr=shown)
            lookers.append(view.glance)
        note(path.in_words(task.scenario))  # here, since a refusal is one line
        end = outside.run(task, outside.Onlooker(note, lookers), ignored)
    return replace(end, record=answer.scored(end.record))


def _in_virtual_time(task: Task, link: "Link", note: Callable[[str], None]) -> End:
    from goodqueue.engines.live.virtual import machine

    with outside.signals_held() as ignored, TemporaryFile() as out, TemporaryFile() as err:
        if link.keeps_output:
            task = replace(task, stdout=out.fileno(), stderr=err.fileno())
        note(path.in_words(task.scenario))
        end = machine.run(task, link.kernel, note, ignored)
        return replace(end, record=answer.scored(end.record), printed=(_text(out), _text(err)))


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


def _unheard(_: str) -> None:
    pass
