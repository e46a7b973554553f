"""Writes the report of an attack: a page with a figure of each find, the finds as scenarios, and the data."""

import json
from collections.abc import Iterator
from pathlib import Path

from goodqueue import running
from goodqueue import scenario as scenarios
from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.pages import Code, Figure, Section, Text, draw, render
from goodqueue.record import Record
from goodqueue.running import Progress
from goodqueue.scenario import toml
from goodqueue.search import attack_show
from goodqueue.search.attack import FRESH, Attack, Find
from goodqueue.search.subjects import instead
from goodqueue.search.worlds import SERIES
from goodqueue.show.tables import Table


def write(folder: Path, found: Attack, command: str, progress: Progress = lambda _: None) -> UserError | None:
    """Write into ``folder``: report.html, a figure and a scenario per find, and results.json.

    ``command`` is the command that repeats the search. If the figures cannot be drawn, the error is returned. Raises
    OSError.
    """
    from goodqueue._goodqueue import VERSION

    for number, one in enumerate(found.finds, 1):
        lead = "\n".join(f"# {line}" for line in (attack_show.sentence(one.differing), attack_show.how_often(one)))
        text = f"{lead}\n{toml.to_toml({**one.scenario, 'seed': FRESH[0]})}"
        (folder / f"find-{number}.toml").write_text(text, encoding="utf-8")
    trouble = draw(folder, "results.json is", lambda: page(folder, found, command, progress))
    output.write_results(folder, attack_show.as_json(found, VERSION), command)
    return trouble


def page(folder: Path, found: Attack, command: str, progress: Progress = lambda _: None) -> str:
    """Return the page as HTML. Figures are written into ``folder``."""
    sections = []
    for number, one in enumerate(found.finds, 1):
        sections.append(Section(f"Find {number}", list(_find(folder, found, one, number))))
        progress(number / len(found.finds))
    return render(
        f"Attack on {found.plan.subject.line}",
        [Text(attack_show.describe(found), "lead"), *sections, Section("The search", [Code(command)])],
    )


def _find(folder: Path, found: Attack, one: Find, number: int) -> Iterator[str | Text | Table | Figure | Code]:
    yield attack_show.sentence(one.differing)
    yield attack_show.table(found, one)
    yield attack_show.how_often(one)
    if one.confirmed is not None:
        yield attack_show.in_linux(one.confirmed)
    yield _figure(folder, found, one, number)
    yield Code(toml.to_toml(one.scenario))


def _figure(folder: Path, found: Attack, one: Find, number: int) -> Figure:
    """Draw the queue's delay over time, of the find and of what it is compared with."""
    from goodqueue.plot import course, style
    from goodqueue.plot.stored import groups

    others = dict.fromkeys(other for condition in found.plan.broken.conditions for other in condition.others)
    series = {**one.scenario, "seed": FRESH[0], "series": {"interval": SERIES}}
    named = {found.plan.subject.line: series}
    named |= {other: instead(series, found.plan.subject, other) for other in others}
    records: dict[str, Record] = {
        name: json.loads(running.one_text(scenarios.resolve(scenario))) for name, scenario in named.items()
    }
    caption = "The delay of the queue over time, with the first of the seeds that the search had not seen."
    figure = course.figure(groups(list(records.values()), list(records)), "delay_ms")
    assert figure is not None  # the runs have the series
    return Figure("", caption, style.save(figure, folder, f"find-{number}"), f"find-{number}")
