"""Shows the result of a fit: the settings with their probabilities, what cannot be told, JSON and the report."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goodqueue.errors import UserError
from goodqueue.files import output
from goodqueue.pages import Code, Figure, Section, Text, draw, render
from goodqueue.scenario import toml
from goodqueue.search.fitting import REGION, UNLIKELY, Fit, Setting
from goodqueue.show.tables import Table

if TYPE_CHECKING:
    from goodqueue.plot.fit import Histogram

BINS = 16

LEAST_ESS = 20.0
"""With fewer effective samples the intervals are rough, and the answer says so."""


def parts(found: Fit) -> Iterator[str | Table]:
    """Yield what a person sees."""
    yield describe(found)
    yield from answer(found)
    yield ""
    yield settings(found)
    yield ""
    yield beside(found)


def describe(found: Fit) -> str:
    """Return what was asked."""
    many = len(found.plan.observed)
    return (
        f"{found.plan.name}: {many} numbers, {len(found.plan.numbers) + len(found.plan.choices)} unknown settings, "
        f"{found.runs} runs. Inferred, not measured."
    )


def answer(found: Fit) -> Iterator[str]:
    """Yield the answer in sentences: the likely words, what the data do not tell, and what nothing explains."""
    for choice, words in zip(found.plan.choices, found.words, strict=True):
        likely = [(word, chance) for word, chance in words if chance >= UNLIKELY]
        if len(likely) == 1:
            yield f"{choice.key} is {likely[0][0]}: {_percent(likely[0][1])}."
        else:
            names = ", ".join(f"{word} ({_percent(chance)})" for word, chance in likely)
            yield f"{choice.key} cannot be told: {names}."
    untold = [one.range.key for one in found.settings if not one.is_told]
    if untold:
        yield f"The numbers do not tell {' or '.join(untold)}."
    if missed := found.unexplained:
        names = ", ".join(one.name for one in missed)
        yield f"No setting explains {names}: something that is not varied is different."
    if found.sample.ess < LEAST_ESS:
        yield f"The answer rests on {found.sample.ess:.0f} effective samples, so its ends are rough; try --evaluations."


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f} %"


def settings(found: Fit) -> Table:
    """Return the unknown numbers with their intervals."""
    rows = [
        {
            "setting": one.range.key,
            "value": one.range.text(one.median),
            f"{100 * REGION:.0f} % interval": f"{one.range.text(one.low)} to {one.range.text(one.high)}",
            "looked within": one.range.said.partition("=")[2].replace("..", " to "),
            "told": "yes" if one.is_told else "no",
        }
        for one in found.settings
    ]
    rows += [
        {
            "setting": choice.key,
            "value": words[0][0],
            f"{100 * REGION:.0f} % interval": ", ".join(f"{word} {_percent(p)}" for word, p in words if p >= 0.005),
            "looked within": f"{len(choice.words)} lines",
            "told": "yes" if words[0][1] >= REGION else "no",
        }
        for choice, words in zip(found.plan.choices, found.words, strict=True)
    ]
    return Table.of("Settings", rows, texts=tuple(rows[0]))


def beside(found: Fit) -> Table:
    """Return the observed numbers beside those of the nearest run."""
    rows = [
        {
            "number": one.name,
            "observed": f"{one.value:.4g}",
            "± error": f"{one.error:.2g}",
            "nearest run": "–" if value is None else f"{value:.4g}",
        }
        for one, value in zip(found.plan.observed, found.best_values, strict=True)
    ]
    return Table.of("Numbers", rows, texts=("number",))


def as_json(found: Fit, version: str) -> dict[str, Any]:
    """Return the result as JSON."""
    plan, sample = found.plan, found.sample
    return {
        "made_by": "goodqueue fit",
        "version": version,
        "data": plan.name,
        "observed": {one.name: {"value": one.value, "error": one.error} for one in plan.observed},
        "settings": {one.range.key: _setting(one) for one in found.settings},
        "choices": {choice.key: dict(words) for choice, words in zip(plan.choices, found.words, strict=True)},
        "answer": list(answer(found)),
        "unexplained": [one.name for one in found.unexplained],
        "seed": plan.seed,
        "runs": found.runs,
        "effective_samples": sample.ess,
        "nearest": {
            "scenario": found.best,
            "numbers": {one.name: value for one, value in zip(plan.observed, found.best_values, strict=True)},
        },
        "sample": [_point(found, row) for row in range(len(sample.points)) if sample.weights[row] > 1e-6],
    }


def _setting(one: Setting) -> dict[str, Any]:
    return {
        "unit": one.range.fact.unit,
        "median": one.median,
        "low": one.low,
        "high": one.high,
        "prior": [one.range.fact.low, one.range.fact.high],
        "is_told": one.is_told,
    }


def _point(found: Fit, row: int) -> dict[str, Any]:
    points = found.sample.points
    numbers = {one.key: one.at(points.numbers[row, at]) for at, one in enumerate(found.plan.numbers)}
    words = {one.key: word for one, word in zip(found.plan.choices, found.plan.words[points.words[row]], strict=True)}
    return {"weight": float(found.sample.weights[row]), **numbers, **words}


def write(folder: Path, found: Fit, command: str) -> UserError | None:
    """Write report.html, the figure, the nearest scenario and results.json into ``folder``. Raises OSError.

    If the figure cannot be drawn, the error is returned.
    """
    from goodqueue._goodqueue import VERSION

    lead = "\n".join(f"# {line}" for line in (describe(found), *answer(found)))
    (folder / "nearest.toml").write_text(f"{lead}\n{toml.to_toml(found.best)}", encoding="utf-8")
    trouble = draw(folder, "results.json is", lambda: _page(folder, found, command))
    output.write_results(folder, as_json(found, VERSION), command)
    return trouble


def _page(folder: Path, found: Fit, command: str) -> str:
    from goodqueue.plot import fit, style

    caption = "What the numbers say of each setting: the bars are probabilities. A flat row is not told."
    words = {choice.key: chances for choice, chances in zip(found.plan.choices, found.words, strict=True)}
    numbers = {one.key: _histogram(found, column) for column, one in enumerate(found.plan.numbers)}
    svg = style.save(fit.figure(words, numbers), folder, "fit")
    return render(
        "What explains the numbers",
        [
            Text(describe(found), "lead"),
            *answer(found),
            Figure("", caption, svg, "fit"),
            settings(found),
            beside(found),
            Section("The nearest run", [Code(toml.to_toml(found.best)), Code(command)]),
        ],
    )


def _histogram(found: Fit, column: int) -> "Histogram":
    import numpy as np

    from goodqueue.plot.fit import Histogram

    one, sample = found.plan.numbers[column], found.sample
    shares = np.linspace(0, 1, BINS + 1)
    chances, _ = np.histogram(sample.points.numbers[:, column], bins=shares, weights=sample.weights)
    edges = [one.at(share) for share in shares]
    return Histogram(edges, chances.tolist(), one.fact.unit, one.fact.is_log)
