"""The report of a comparison: one self-contained HTML file, its figures, and the data behind them."""

import json
from pathlib import Path

from goodqueue import extras
from goodqueue.compare import Comparison, as_json, tables
from goodqueue.errors import UserError, one_line
from goodqueue.files.output import RESULTS
from goodqueue.pages import render
from goodqueue.run import Progress
from goodqueue.scenario.toml import to_toml
from goodqueue.show import describe, latex


def write(folder: Path, comparison: Comparison, command: str, progress: Progress = lambda _: None) -> UserError | None:
    """Write into ``folder``: results.json, records.jsonl, scenario.toml, tables.tex, figures, and report.html.

    ``command`` is the command that repeats the comparison. The same comparison gives the same bytes. If the figures
    cannot be drawn, the error is returned, and neither they nor report.html are written, but the measurements are.
    Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    scenario = to_toml(comparison.scenario)
    (folder / "scenario.toml").write_text(f"{_header(comparison)}{scenario}", encoding="utf-8")
    records = (text for entry in comparison.entries for text in entry.texts)
    (folder / "records.jsonl").write_text("".join(f"{text}\n" for text in records), encoding="utf-8")
    shown = [*tables.full_tables(comparison), *tables.difference_tables(comparison)]
    (folder / "tables.tex").write_text(latex.document(shown), encoding="utf-8")
    data = {file.name for file in folder.iterdir()}
    trouble = None
    try:
        drawn = _draw(folder, comparison, progress)
        (folder / "report.html").write_text(page(comparison, drawn, command, scenario, VERSION), encoding="utf-8")
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - a library may raise anything, or fail to be imported
        refusal = extras.missing(error, "") if isinstance(error, ModuleNotFoundError) else None
        what = f"the figures cannot be drawn: {refusal or f'{type(error).__name__}: {one_line(str(error))}'}"
        trouble = UserError("report.html", f"{what}; the records and results.json are there")
        for file in folder.iterdir():
            if file.name not in data:
                file.unlink()
    results = as_json(comparison, VERSION) | {"command": command}
    results["files"] = sorted([RESULTS, *(file.name for file in folder.iterdir())])
    (folder / RESULTS).write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return trouble


def _draw(folder: Path, comparison: Comparison, progress: Progress) -> list[tuple[str, str, str, str]]:
    """Write each figure into ``folder`` and return its name, title, caption and SVG."""
    from goodqueue.plot import style
    from goodqueue.report import figures

    drawn = []
    todo = figures.of(comparison)
    for name, title, caption, figure in todo:
        drawn.append((name, title, caption, style.save(figure, folder, name)))
        progress(len(drawn) / (len(todo) + 1))
    return drawn


def _header(comparison: Comparison) -> str:
    lines = ["# What the runs shared. Add one of these under [bottleneck], and a seed:"]
    qdiscs = dict.fromkeys(entry.qdisc for entry in comparison.entries)
    lines += [f"# qdisc = {json.dumps(qdisc, ensure_ascii=False)}" for qdisc in qdiscs]
    return "\n".join([*lines, ""]) + "\n"


def page(
    comparison: Comparison, drawn: list[tuple[str, str, str, str]], command: str, scenario: str, version: str
) -> str:
    """Return the report as HTML. ``drawn`` holds name, title, caption and SVG of each figure."""
    names = list(dict.fromkeys(entry.name for entry in comparison.entries))
    title = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    return render(
        "report/page.html.j2",
        title=title,
        description=describe.whole(comparison.scenario),
        findings=tables.findings(comparison),
        results=tables.full_tables(comparison),
        differences=tables.difference_tables(comparison),
        certainty=tables.certainty(comparison),
        figures=drawn,
        entries=comparison.entries,
        link=_link(comparison),
        scenario=scenario,
        command=command,
        seeds=comparison.seeds,
        engines=comparison.engines,
        version=version,
    )


def _link(comparison: Comparison) -> dict[str, str]:
    return {**describe.ways(comparison.scenario), "rtt": str(comparison.scenario["path"]["rtt"])}
