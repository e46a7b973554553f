"""The sections of a report on stored results. Each is made from data alone, and runs nothing."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from goodqueue import extras, options
from goodqueue.comparison import tables as comparison_tables
from goodqueue.comparison.comparing import Comparison, summarise
from goodqueue.errors import UserError, warn
from goodqueue.files import inputs
from goodqueue.pages import Figure, Part
from goodqueue.record import Record, Scenario
from goodqueue.record.reading import source_of
from goodqueue.scenario.toml import to_toml
from goodqueue.show import describe, labels, undone
from goodqueue.show.answer import Code, Findings, Section, Terms, Text
from goodqueue.show.run import finding, run_tables
from goodqueue.show.table import Column, Table, number
from goodqueue.store import Store
from goodqueue.studies import published, trivial, wording
from goodqueue.sweeps import show
from goodqueue.sweeps.result import Sweep

MOST_BYTES = 64 * inputs.MIB
"""The largest size of a figure in a folder."""


def _section(
    title: str,
    description: str,
    *,
    findings: Sequence[str] = (),
    tables: Sequence[Table] = (),
    sentences: Sequence[str] = (),
    figures: Sequence[Figure] = (),
    lines_by_name: Mapping[str, str] | None = None,
    scenario: str = "",
    command: str = "",
) -> Section:
    """Return a section of the page. ``lines_by_name`` has the disciplines in the tables, ``scenario`` is in TOML.

    ``command`` made the runs, or makes them again.
    """
    above: list[Part] = [Text(description, "lead"), Code(command, wraps=True), Findings(findings)]
    notes = [Text(sentence, "note") for sentence in sentences]
    disciplines = Section("Queue disciplines", [Terms(lines_by_name, are_code=True)] if lines_by_name else [])
    return Section(title, [*above, *figures, *tables, *notes, disciplines, Code(scenario, folded="Scenario")])


def _drawn(make: Callable[[ModuleType], list[Figure]]) -> list[Figure]:
    """Return what ``make`` draws with `goodqueue.report.drawing`, or nothing if matplotlib is not installed."""
    if not extras.has("matplotlib"):
        return []
    from goodqueue.report import drawing

    return make(drawing)


def of_sweep(sweep: Sweep, where: str, store: Store | None, prefix: str) -> Section:
    """Return the section of a sweep. ``where`` is where it was found; ``prefix`` begins its figures' identifiers.

    ``store`` is the store of its runs, if available: then the section has figures of the runs too. Raises UserError
    for a damaged run.
    """
    lines = dict.fromkeys((cell.qdisc or "", cell.cell.at.get("bottleneck.qdisc", "qdisc")) for cell in sweep.cells)
    build = f" (build {sweep.build})" if sweep.build else ""
    return _section(
        title=f"Sweep of {Path(sweep.name).name}",
        description=f"{show.describe(sweep)}; goodqueue {sweep.version}{build}; runs in {where}.",
        findings=show.findings(sweep),
        command=show.command(sweep, where if store is not None else ""),
        tables=show.tables(sweep),
        sentences=[*show.certainty(sweep), *(f"Failed: {line}" for line in show.failures(sweep))],
        figures=_drawn(lambda drawing: drawing.of_sweep(sweep, store, prefix)),
        lines_by_name={name: line for line, name in lines if line},
        scenario=to_toml(sweep.scenario),
    )


def of_records(
    lines: Sequence[str],
    seeds: Sequence[int],
    texts: Mapping[str, Sequence[str]],
    build: str | None,
    command: str,
    prefix: str,
) -> Section:
    """Return the section of records that differ only in qdisc, seed and engine.

    ``texts`` are each engine's records, in the order of `comparison.scenarios`. A single record has a section of a run.
    ``command`` made them, if it is known.
    """
    records = [text for engine_texts in texts.values() for text in engine_texts]
    if len(records) == 1:
        return of_record(json.loads(records[0]), build, command, prefix)
    names = labels.short(lines)
    shared = summarise({"bottleneck": {}}, [names[line] for line in lines], seeds, texts)
    return _section(
        title=_title(shared, [names[line] for line in lines]),
        description=f"{describe.whole(shared.scenario)}; {_by(shared.entries[0].records[0], build)}.",
        findings=comparison_tables.not_done(shared).around(comparison_tables.findings(shared)),
        tables=[*comparison_tables.full_tables(shared), *comparison_tables.difference_tables(shared)],
        sentences=comparison_tables.certainty(shared),
        figures=_drawn(lambda drawing: drawing.of_comparison(shared, prefix)),
        lines_by_name={names[line]: line for line in lines},
        scenario=to_toml(shared.scenario),
        command=command or _again(records, list(lines), seeds, list(texts)),
    )


def _again(records: Sequence[str], lines: Sequence[str], seeds: Sequence[int], on: Sequence[str]) -> str:
    """Return the command that makes runs of the scenario below again, or an empty text if they were only imported."""
    if any(source_of(json.loads(record)) for record in records):
        return ""
    engine = None if list(on) == ["sim"] else ",".join(on)
    if not lines:
        return options.command("run", "scenario.toml", seed=seeds[0], engine=engine)
    if list(seeds) != list(range(seeds[0], seeds[0] + len(seeds))):
        return ""
    given = {"scenario": "scenario.toml", "seeds": len(seeds), "seed": seeds[0], "engine": engine}
    return options.command("compare", *lines, **given)


def _title(shared: Comparison, names: Sequence[str]) -> str:
    some = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return f"{some} at {_where(shared.scenario)}"


def _where(scenario: Scenario) -> str:
    return f"{describe.sends(scenario['bottleneck'])}, {scenario['path']['rtt']}, {describe.traffic(scenario)}"


def _by(record: Record, build: str | None) -> str:
    return f"goodqueue {record['version']}" + (f" (build {build})" if build else "")


def of_record(record: Record, build: str | None, command: str, prefix: str) -> Section:
    """Return the section of a single run."""
    scenario: Scenario = {key: value for key, value in record["scenario"].items() if key != "seed"}
    line = str(scenario["bottleneck"]["qdisc"])
    name = labels.short([line])[line]
    return _section(
        title=f"{name} at {_where(scenario)}, one run",
        description=f"{describe.whole(scenario)}; seed {record['seed']}, engine {record['engine']}, "
        f"{_by(record, build)}.",
        findings=undone.of_run(record).around(finding.sentences(record)),
        tables=run_tables(record),
        figures=_drawn(lambda drawing: drawing.of_record(record, name, prefix)),
        lines_by_name={name: line},
        scenario=to_toml(scenario),
        command=command or _again([json.dumps(record)], [], [record["seed"]], [record["engine"]]),
    )


def of_study(data: Mapping[str, Any], folder: Path, prefix: str) -> Section:
    """Return the section of a study's folder, from its results.json and the figures beside it."""
    verdicts = data["summary"]
    counts = [
        f"{what.capitalize()}: "
        + ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in verdicts[what].items() if count)
        + "."
        for what in ("values", "claims")
        if any(verdicts[what].values())
    ]
    claims = [
        [claim["statement"], claim["verdict"].replace("_", " "), claim["why"] or ""]
        for claim in data["claims"]
        if claim["verdict"] != "not_run"
    ]
    if (model := verdicts.get("trivial")) and model["n"]:
        counts.insert(1, trivial.sentence(model["here"]["reproduced"], model["verdicts"]["reproduced"], model["n"]))
    columns = [Column("claim", False), Column("verdict", False), Column("why", False)]
    return _section(
        title=f"Study {data['study']}",
        description=f"{data['runs']} runs on engine {data['engine']}{', quick' if data['quick'] else ''}; "
        f"goodqueue {data['version']}.",
        findings=counts,
        tables=[*_published(data["values"]), *([Table("Claims", columns, claims)] if claims else [])],
        figures=beside(folder, prefix),
    )


def _published(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    """Return one table per published scenario with measurements, with one row per value."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for value in rows:
        if value["measured"] is not None:
            groups.setdefault(value["scenario"], []).append(value)
    return [_beside(scenario.rpartition("/")[2], group) for scenario, group in groups.items()]


def _beside(scenario: str, group: Sequence[Mapping[str, Any]]) -> Table:
    """Return the published numbers of ``scenario`` beside the measured ones."""
    parameters = list(dict.fromkeys(name for value in group for name in value["at"]))
    columns = [Column("qdisc", False)]
    for parameter in parameters:
        name = wording.named(parameter)
        is_text = any(isinstance(value["at"].get(parameter), str) for value in group)
        columns.append(Column(f"{name.words}\n{name.unit}".rstrip(), not is_text))
    columns += [Column("metric", False), Column("unit", False), *map(Column, ("paper", "here", "95 % CI", "n"))]
    rows = []
    for value in group:
        name = wording.named(value["metric"])
        digits = max(_decimals(other["published"]) for other in group if other["metric"] == value["metric"])
        ci = value["ci"]
        rows.append(
            [
                value["algorithm"],
                *(_words(value["at"].get(parameter)) for parameter in parameters),
                name.words,
                name.unit,
                _printed(value["published"], digits),
                number(value["measured"], digits),
                "–" if ci is None else f"{number(ci[0], digits)} to {number(ci[1], digits)}",
                str(value["n"]),
                value["verdict"].replace("_", " "),
            ]
        )
    title = f"Published beside measured: {_words(scenario)}"
    return Table(title, [*columns, Column("verdict", False)], rows, names=len(parameters) + 3)


def _words(value: Any) -> str:
    return "–" if value is None else str(value).replace("_", " ")


def _decimals(published: Any) -> int:
    """Return the number of decimals that the paper prints. It is 2 for a range or words."""
    if not isinstance(published, int | float):
        return 2
    return len(f"{published:g}".partition(".")[2])


def _printed(value: Any, digits: int) -> str:
    """Return what the paper printed: a number, a range (perhaps open), or words."""
    if isinstance(value, list):
        return wording.bounds(*value)
    return number(value, digits) if isinstance(value, int | float) else _words(value)


def of_validation(folder: Path, prefix: str) -> Section:
    """Return the section of a validation's folder."""
    from goodqueue.validation import pages
    from goodqueue.validation import show as showing

    validation, judgement = pages.load(folder / "results.json")
    return _section(
        title="The simulator beside Linux",
        description=showing.describe(validation),
        findings=showing.headline(validation, judgement),
        tables=[showing.cells_table(validation, judgement), showing.groups_table(judgement)],
        figures=beside(folder, prefix),
    )


def beside(folder: Path, prefix: str) -> list[Figure]:
    """Return the SVG figures in ``folder`` for use in a page: their identifiers get the prefix ``prefix``."""
    drawn_figures = []
    for file in sorted(folder.glob("*.svg"), key=lambda file: published.order(file.stem)):
        try:
            text = inputs.read_text(file, MOST_BYTES, "a figure in SVG", pipes=False)
        except UserError as error:
            warn(f"left out: {error}")
            continue
        text = text[max(0, text.find("<svg")) :]
        for mark in ('id="', "url(#", 'xlink:href="#'):
            text = re.sub(rf"(?<![\w-]){re.escape(mark)}", f"{mark}{prefix}-", text)
        drawn_figures.append(Figure(file.stem.replace("-", " "), f"{file.name}, as it was drawn then.", text))
    return drawn_figures
