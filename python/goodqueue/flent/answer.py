"""The answers of ``goodqueue import`` and ``goodqueue export``."""

import json
from collections.abc import Iterator, Sequence

from goodqueue.files import output
from goodqueue.flent import again, exporting
from goodqueue.flent.question import Export, Import
from goodqueue.neighbours import parts
from goodqueue.record import Record, SourceFile
from goodqueue.record.reading import source_of
from goodqueue.running import Progress
from goodqueue.show.answer import Answer, Part
from goodqueue.show.run import run_tables
from goodqueue.store import Store, subscribers
from goodqueue.store.results import Loose


def of_import(measured: Import, records: Sequence[Record], store: Store | None) -> Answer:
    """Keep the ``records`` in the ``store``, if there is one, and return them."""
    shown = [part for record in records for part in _imported(record)]
    if store is not None:
        parts.keep(store, records, f"--store {measured.store}")
        shown.append(f"Kept: {len(records)} in {measured.store}.")
    text = "\n".join(json.dumps(record, ensure_ascii=False) for record in records)
    remarks = [remark for record in records for remark in _remarks(_source(record))]
    return Answer("import", shown, dict, records, text=text, remarks=remarks)


def _imported(record: Record) -> Iterator[Part]:
    """Yield what a person sees of a record: its file, and the tables of what its program saw."""
    about = _source(record)
    begin, end = about["measured_s"]
    yield f"{about['file']}: {about['test']}, {about['title'] or 'no title'}; {begin:.1f} s to {end:.1f} s"
    sees_queue = any(queue["delay_ms"] or queue["packets"] for queue in record["queues"].values())
    yield from run_tables(record)[0 if sees_queue else 1 :]


def _source(record: Record) -> SourceFile:
    found = source_of(record)
    assert found is not None, "an imported record has a source"
    return found


def _remarks(source: SourceFile) -> Iterator[str]:
    """Yield how the record differs from what a reader would expect, and the series that it lacks, by reason."""
    for note in source.get("notes", []):
        yield f"{source['file']}: {note}"
    by_reason: dict[str, list[str]] = {}
    for name, why in source.get("reasons", {}).items():
        by_reason.setdefault(why, []).append(name)
    for why, names in by_reason.items():
        some = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        yield f"{source['file']}: left out: {some}: {why}"


def of_flent(export: Export, runs: Sequence[Loose], progress: Progress) -> Answer:
    """Write ``runs`` as Flent's files, and return what they are. Raises UserError."""
    remarks = []
    if lacking := again.lacking(runs):
        runs = again.with_series(runs, progress)
        count = len(lacking)
        remarks = [f"{count} runs had no time series: run again, same numbers, series.interval={again.INTERVAL}"]
    files = exporting.files(runs)
    written, _ = output.write(export.out, export.force, lambda folder: exporting.fill(folder, files))
    lines = [f"{written}/{one.name}: {one.choice.test}, {one.title}, seed {one.seed}" for one in files]
    return Answer(
        "export",
        lines,
        lambda: exporting.as_json(files),
        files,
        remarks=[*remarks, *exporting.notes(files)],
        trouble=output.appeared(export.out, written, force=export.force) if written != export.out else None,
    )


def of_subscribers(export: Export, runs: Sequence[Loose]) -> Answer:
    """Write the tables of the subscribers and the nodes of ``runs``, and return how large they are."""
    written, _ = output.write(export.out, export.force, lambda folder: subscribers.fill(folder, runs))
    lines = [
        f"{written}/{name}: {sum(1 for _ in subscribers.rows(runs, part))} rows, {len(runs)} runs"
        for name, part in subscribers.FILES.items()
    ]
    return Answer(
        "export",
        lines,
        lambda: subscribers.as_json(runs),
        runs,
        trouble=output.appeared(export.out, written, force=export.force) if written != export.out else None,
    )
