"""Lessons of one's own, in the format of `web/lessons`. A file is checked before the page has it."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goodqueue import scenario as scenarios
from goodqueue.errors import UserError, quoted
from goodqueue.files import traffic_files
from goodqueue.record import Scenario, dotted
from goodqueue.scenario import discipline
from goodqueue.studies.keys import Table, load_toml

MOST = 100
"""The most lessons of a folder."""

MOST_LINES = 4
"""The most lines that the page shows side by side."""

_BOUNDS = ("at_least", "at_most")

Lesson = dict[str, Any]


def load(folder: str) -> list[Lesson]:
    """Return the lessons of the TOML files in ``folder``, in the order of their names. Raises UserError."""
    path = Path(folder)
    if not path.is_dir():
        problem = "found a file" if path.exists() else "not found"
        raise UserError(folder, f"{problem}; accepted: a folder of lessons (*.toml)")
    files = sorted(path.glob("*.toml"))
    if not 1 <= len(files) <= MOST:
        raise UserError(folder, f"found {len(files)} lessons (*.toml); accepted: 1 to {MOST}")
    lessons = [_lesson(file) for file in files]
    for number, (file, lesson) in enumerate(zip(files, lessons, strict=True)):
        for other, earlier in zip(files[:number], lessons, strict=False):
            if lesson["title"] == earlier["title"]:
                problem = f"found {quoted(lesson['title'])}, as in {other.name}"
                raise UserError(str(file), "title", f"{problem}; accepted: a title that no other lesson has")
    return lessons


def _lesson(file: Path) -> Lesson:
    top = Table(load_toml(file, "a lesson in TOML"), file)
    lesson: Lesson = {key: _text(top, key) for key in ("title", "text", "question", "hint", "answer")}
    lesson["lines"] = lines = top.texts("lines")
    if not 1 <= len(lines) <= MOST_LINES:
        top.refuse("lines", f"found {len(lines)}; accepted: 1 to {MOST_LINES} qdisc lines")
    lesson["goal"] = [_goal(table, len(lines)) for table in top.tables("goal")]
    lesson["exercise"] = [_exercise(table, len(lines)) for table in top.tables("exercise")]
    if not lesson["goal"] and not lesson["exercise"]:
        top.refuse("goal", "missing; accepted: at least one [[goal]] or [[exercise]]")
    if "scenario" not in top:
        top.refuse("scenario", "missing; accepted: a scenario, without bottleneck.qdisc")
    lesson["scenario"] = _scenario(top, lines)
    top.finish("try")  # what the tests of the page's own lessons try
    return lesson


def _text(table: Table, key: str) -> str:
    text = table.text(key).strip()
    if not text:
        table.refuse(key, 'found ""; accepted: a text that is not empty')
    return text


def _goal(table: Table, lines: int) -> dict[str, Any]:
    goal = {"says": _text(table, "says"), **_check(table, lines)}
    table.finish()
    return goal


def _exercise(table: Table, lines: int) -> dict[str, Any]:
    """Return a question with choices, or one that the page answers by a number of the run."""
    exercise: dict[str, Any] = {"question": _text(table, "question"), "answer": _text(table, "answer")}
    if "choices" in table:
        choices = table.texts("choices")
        if len(choices) < 2 or len(set(choices)) < len(choices):
            table.refuse("choices", f"found {quoted(list(choices))}; accepted: two choices or more that differ")
        exercise |= {"choices": choices, "right": table.choice("right", choices)}
    elif "metric" in table:
        exercise |= _check(table, lines)
    else:
        table.refuse("", "found neither choices nor metric; accepted: one of them")
    table.finish()
    return exercise


def _check(table: Table, lines: int) -> dict[str, Any]:
    """Return what the page checks of a run: a number of the record, and its bounds."""
    metric = table.text("metric")
    if wrong := dotted.check_path(metric):
        table.refuse("metric", wrong)
    line = table.number("line", 0.0)
    if line not in range(lines):
        table.refuse("line", f"found {quoted(table.raw('line'))}; accepted: a whole number from 0 to {lines - 1}")
    bounds = {key: table.number(key) for key in _BOUNDS if key in table}
    if not bounds:
        table.refuse("", f"found no bound; accepted: {' or '.join(_BOUNDS)}, or both")
    return {"metric": metric, "line": int(line), **bounds}


def _scenario(top: Table, lines: Sequence[str]) -> Scenario:
    """Return the lesson's scenario. The core checks it alone, and then under each line."""
    scenario: Scenario = top.mapping("scenario")
    bottleneck = top.table("scenario").mapping("bottleneck")
    if "qdisc" in bottleneck:
        top.refuse("scenario.bottleneck.qdisc", "found a line; accepted: none, since `lines` has them")
    traffic_files.expand(scenario.get("traffic"), top.file.parent, pipes=False)
    try:
        scenarios.resolve(_under(scenario, "pfifo"))
    except UserError as error:
        raise UserError(str(top.file), f"scenario.{error}") from None
    for number, line in enumerate(lines):
        if discipline.is_python(line):
            top.refuse(f"lines.{number}", f"found {quoted(line)}; accepted: a discipline that runs in a browser")
        try:
            _resolve(scenario, line, f"lines.{number}")
        except UserError as error:
            raise UserError(str(top.file), str(error)) from None
    plain: Scenario = json.loads(scenarios.to_json(scenario))
    return plain


def _resolve(scenario: Scenario, line: str, origin: str) -> None:
    """Check ``scenario`` under ``line`` as the page runs it: without the buffer if it does not apply to the line."""
    try:
        scenarios.resolve(_under(scenario, line), origins={"bottleneck.qdisc": origin})
    except UserError as error:
        if not str(error).startswith("bottleneck.buffer"):
            raise
        bare = _under(scenario, line)
        del bare["bottleneck"]["buffer"]
        scenarios.resolve(bare, origins={"bottleneck.qdisc": origin})


def _under(scenario: Scenario, line: str) -> Scenario:
    copied = copy.deepcopy(scenario)
    copied["bottleneck"] = {**copied.get("bottleneck", {}), "qdisc": line}
    return copied
