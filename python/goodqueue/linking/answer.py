"""The answers of ``link``: the record of the path that CMD had, or what prevents a link on this machine."""

import json
from collections.abc import Iterator, Sequence

from goodqueue.engines.live.outside import End
from goodqueue.errors import UserError
from goodqueue.linking import doctor
from goodqueue.linking.doctor import Finding
from goodqueue.measures.scores import bufferbloat_ms, letter
from goodqueue.record import Record
from goodqueue.show import describe, isolation, undone
from goodqueue.show.answer import Answer, Code, Part
from goodqueue.show.run import run_parts
from goodqueue.show.table import Column, Table


def scored(text: str) -> str:
    """Return the record ``text`` with what a bufferbloat test would say of it, if the link carried a load."""
    record: Record = json.loads(text)
    if "live" not in record or (added := bufferbloat_ms(record)) is None:
        return text
    record["live"]["bufferbloat"] = {"added_ms": added, "letter": letter.letter(added)}
    return json.dumps(record, ensure_ascii=False)


def of(end: End, trouble: UserError | None, *, is_quiet: bool) -> Answer:
    """Return the answer, whose status is CMD's. A person sees nothing of it if it ``is_quiet``."""
    record: Record = json.loads(end.record)
    return Answer(
        "A link",
        [] if is_quiet else list(parts(record)),
        lambda: record,
        end,
        text=end.record,
        remarks=[] if is_quiet else _without_effect(record),
        status=end.status,
        trouble=trouble,
    )


def parts(record: Record) -> Iterator[Part]:
    """Yield what a person sees of a link's record."""
    yield ""  # CMD's output is above it
    yield from undone.of_run(record).around([])
    yield from run_parts(record)
    if "live" in record:
        yield from describe.bufferbloat(record["live"])
        yield describe.lateness(record)


def _without_effect(record: Record) -> Sequence[str]:
    """Return notes on the words of the lines that had no effect on the packets that crossed."""
    if record["scenario"]["traffic"]:
        return []
    return list(isolation.of_link(record["scenario"], record["live"]["hosts"]))


def of_doctor(findings: list[Finding]) -> Answer:
    """Return the answer, whose status is 1 if a link is not possible."""
    columns = [Column("", False), Column("found", False)]
    parts: list[Part] = [
        Table("A link on this machine", columns, [[finding.name, finding.found] for finding in findings])
    ]
    for finding in findings:
        if finding.remedy is not None:
            parts += [f"{finding.name}, what changes that:", Code(finding.remedy, is_apart=False)]
    return Answer(
        "A link on this machine",
        parts,
        lambda: doctor.as_json(findings),
        findings,
        status=int(not doctor.runs(findings)),
    )
