"""The report of a comparison: one self-contained HTML file, its figures, and the data behind them."""

import json
from pathlib import Path

from markupsafe import Markup

from goodqueue.comparison import tables
from goodqueue.comparison.comparing import Comparison, as_json
from goodqueue.comparison.meanings import MEANINGS
from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.pages import Figure, Part, draw, render
from goodqueue.running import Progress
from goodqueue.scenario.toml import to_toml
from goodqueue.show import describe, latex
from goodqueue.show.answer import Code, Findings, Section, Terms, Text

LINK = """\
senders ──▶ [ queue ] ── {down} down ──▶ receivers
        ◀── {up} up ── [ queue ] ◀──            base RTT {rtt}
"""


def write(folder: Path, comparison: Comparison, command: str, progress: Progress = lambda _: None) -> UserError | None:
    """Write into ``folder``: results.json, records.jsonl, scenario.toml, tables.tex, figures, and report.html.

    ``command`` is the command that repeats the comparison. The same comparison gives the same bytes. If the figures
    cannot be drawn, the error is returned, and neither they nor report.html are written, but the measurements are.
    Raises OSError.
    """
    scenario = to_toml(comparison.scenario)
    (folder / "scenario.toml").write_text(f"{_header(comparison)}{scenario}", encoding="utf-8")
    records = (text for entry in comparison.entries for text in entry.texts)
    (folder / "records.jsonl").write_text("".join(f"{text}\n" for text in records), encoding="utf-8")
    shown = [*tables.full_tables(comparison), *tables.difference_tables(comparison)]
    (folder / "tables.tex").write_text(latex.document(shown), encoding="utf-8")
    trouble = draw(
        folder,
        "the records and results.json are",
        lambda: page(comparison, _draw(folder, comparison, progress), command, scenario),
    )
    output.write_results(folder, as_json(comparison), command)
    return trouble


def _draw(folder: Path, comparison: Comparison, progress: Progress) -> list[Figure]:
    """Write each figure into ``folder``, and return them."""
    from goodqueue.comparison import figures
    from goodqueue.plot import style

    drawn = []
    todo = figures.of(comparison)
    for name, title, caption, figure in todo:
        drawn.append(Figure(title, caption, style.save(figure, folder, name), name))
        progress(len(drawn) / (len(todo) + 1))
    return drawn


def _header(comparison: Comparison) -> str:
    lines = ["# What the runs shared. Add one of these under [bottleneck], and a seed:"]
    qdiscs = dict.fromkeys(entry.qdisc for entry in comparison.entries)
    lines += [f"# qdisc = {json.dumps(qdisc, ensure_ascii=False)}" for qdisc in qdiscs]
    return "\n".join([*lines, ""]) + "\n"


def page(comparison: Comparison, drawn: list[Figure], command: str, scenario: str) -> str:
    """Return the report as HTML, with the figures ``drawn``."""
    names = list(dict.fromkeys(entry.name for entry in comparison.entries))
    title = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
    link = {**describe.directions(comparison.scenario), "rtt": str(comparison.scenario["path"]["rtt"])}
    shared = "What all runs share, as resolved: defaults are filled in. The qdisc and the seed are added to it."
    experiment: list[Part] = [
        Code(LINK.format_map(link)),
        Section(
            "Queue disciplines", [Terms({entry.label: entry.resolved for entry in comparison.entries}, are_code=True)]
        ),
        Section("Scenario", [Text(shared, "note"), Code(scenario)]),
        Section("What the numbers mean", [Terms(MEANINGS)]),
        Section("Do it again", [Code(command, wraps=True), Text(_made_by(comparison), "note")]),
    ]
    certainty = [Text(sentence, "note") for sentence in tables.certainty(comparison)]
    return render(
        title,
        [
            Text(describe.whole(comparison.scenario), "lead"),
            Code(command, wraps=True),
            Findings([*tables.not_done(comparison), *tables.findings(comparison)]),
            Section("Figures", drawn),
            Section("Results", [*tables.full_tables(comparison), *certainty, *tables.difference_tables(comparison)]),
            Section("The experiment", experiment),
        ],
    )


def _made_by(comparison: Comparison) -> Markup:
    """Return the note on the version, the seeds and the files."""
    from goodqueue._goodqueue import VERSION

    engines = f"engine{'s' if comparison.engines[1:] else ''} {' and '.join(comparison.engines)}"
    nearly = "" if comparison.engines == ["sim"] else " in the simulator; those of other engines repeat nearly"
    return Markup(
        "Seeds {}; goodqueue {}, {}. The same command gives the same numbers on any machine{}. Each run's record "
        "stands in <code>records.jsonl</code>, the summary in <code>results.json</code>."
    ).format(", ".join(map(str, comparison.seeds)), VERSION, engines, nearly)
