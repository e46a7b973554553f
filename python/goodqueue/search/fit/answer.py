"""The answer of a fit: the settings with their probabilities, what the numbers cannot tell, and the nearest run."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from goodqueue.scenario import toml
from goodqueue.search.fit.work import REGION, UNLIKELY, Fitted, Setting
from goodqueue.show.answer import Answer, Code, Part, Picture, Section, Text
from goodqueue.show.table import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from goodqueue.plot.fit import Histogram

BINS = 16

LEAST_ESS = 20.0
"""With fewer effective samples the intervals are rough, and the answer says so."""


CAPTION = "What the numbers say of each setting: the bars are probabilities. A flat row is not told."


def of(result: Fitted) -> Answer:
    """Return the answer."""
    nearest = toml.to_toml(result.best)
    lead = "\n".join(f"# {line}" for line in (describe(result), *sentences(result)))
    parts: list[Part] = [
        Text(describe(result), "lead"),
        *sentences(result),
        Picture("fit", CAPTION, partial(_figure, result)),
        settings(result),
        beside(result),
        Section("The nearest run", [Code(nearest)]),
    ]
    return Answer(
        "What explains the numbers", parts, partial(_data, result), result, {"nearest.toml": f"{lead}\n{nearest}"}
    )


def describe(result: Fitted) -> str:
    """Return what was asked."""
    many = len(result.plan.observed)
    return (
        f"{result.plan.name}: {many} numbers, {len(result.plan.numbers) + len(result.plan.choices)} unknown settings, "
        f"{result.runs} runs. Inferred, not measured."
    )


def sentences(result: Fitted) -> Iterator[str]:
    """Yield the answer in sentences: the likely words, what the data do not tell, and what nothing explains."""
    yield from result.plan.notes
    for choice, words in zip(result.plan.choices, result.words, strict=True):
        likely = [(word, chance) for word, chance in words if chance >= UNLIKELY]
        if len(likely) == 1:
            yield f"{choice.key} is {likely[0][0]}: {_percent(likely[0][1])}."
        else:
            names = ", ".join(f"{word} ({_percent(chance)})" for word, chance in likely)
            yield f"{choice.key} cannot be told: {names}."
    untold = [setting.range.key for setting in result.settings if not setting.is_told]
    if untold:
        yield f"The numbers do not tell {' or '.join(untold)}."
    if missed := result.unexplained:
        names = ", ".join(observed.name for observed in missed)
        yield f"No setting explains {names}: something that is not varied is different."
    if result.sample.ess < LEAST_ESS:
        samples = f"{result.sample.ess:.0f} effective samples"
        yield f"The answer rests on {samples}, so its ends are rough; try --evaluations."


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f} %"


def settings(result: Fitted) -> Table:
    """Return the unknown numbers with their intervals."""
    rows = [
        {
            "setting": setting.range.key,
            "value": setting.range.text(setting.median),
            f"{100 * REGION:.0f} % interval": " to ".join(map(setting.range.text, (setting.low, setting.high))),
            "looked within": setting.range.said.partition("=")[2].replace("..", " to "),
            "told": "yes" if setting.is_told else "no",
        }
        for setting in result.settings
    ]
    rows += [
        {
            "setting": choice.key,
            "value": words[0][0],
            f"{100 * REGION:.0f} % interval": ", ".join(f"{word} {_percent(p)}" for word, p in words if p >= 0.005),
            "looked within": f"{len(choice.words)} lines",
            "told": "yes" if words[0][1] >= REGION else "no",
        }
        for choice, words in zip(result.plan.choices, result.words, strict=True)
    ]
    return Table.of("Settings", rows, texts=tuple(rows[0]))


def beside(result: Fitted) -> Table:
    """Return the observed numbers beside those of the nearest run."""
    rows = [
        {
            "number": observed.name,
            "observed": f"{observed.value:.4g}",
            "± error": f"{observed.error:.2g}",
            "nearest run": "–" if value is None else f"{value:.4g}",
        }
        for observed, value in zip(result.plan.observed, result.best_values, strict=True)
    ]
    return Table.of("Numbers", rows, texts=("number",))


def _data(result: Fitted) -> dict[str, Any]:
    plan, sample = result.plan, result.sample
    return {
        "data": plan.name,
        "observed": {observed.name: {"value": observed.value, "error": observed.error} for observed in plan.observed},
        "settings": {setting.range.key: _setting(setting) for setting in result.settings},
        "choices": {choice.key: dict(words) for choice, words in zip(plan.choices, result.words, strict=True)},
        "answer": list(sentences(result)),
        "unexplained": [observed.name for observed in result.unexplained],
        "seed": plan.seed,
        "runs": result.runs,
        "effective_samples": sample.ess,
        "nearest": {
            "scenario": result.best,
            "numbers": {
                observed.name: value for observed, value in zip(plan.observed, result.best_values, strict=True)
            },
        },
        "sample": [_point(result, row) for row in range(len(sample.points)) if sample.weights[row] > 1e-6],
    }


def _setting(setting: Setting) -> dict[str, Any]:
    return {
        "unit": setting.range.fact.unit,
        "median": setting.median,
        "low": setting.low,
        "high": setting.high,
        "prior": [setting.range.fact.low, setting.range.fact.high],
        "is_told": setting.is_told,
    }


def _point(result: Fitted, row: int) -> dict[str, Any]:
    points = result.sample.points
    numbers = {number.key: number.at(points.numbers[row, at]) for at, number in enumerate(result.plan.numbers)}
    words = {
        choice.key: word for choice, word in zip(result.plan.choices, result.plan.words[points.words[row]], strict=True)
    }
    return {"weight": float(result.sample.weights[row]), **numbers, **words}


def _figure(result: Fitted) -> "Figure":
    from goodqueue.plot import fit

    words = {choice.key: chances for choice, chances in zip(result.plan.choices, result.words, strict=True)}
    numbers = {number.key: _histogram(result, column) for column, number in enumerate(result.plan.numbers)}
    return fit.figure(words, numbers)


def _histogram(result: Fitted, column: int) -> "Histogram":
    import numpy as np

    from goodqueue.plot.fit import Histogram

    number, sample = result.plan.numbers[column], result.sample
    shares = np.linspace(0, 1, BINS + 1)
    chances, _ = np.histogram(sample.points.numbers[:, column], bins=shares, weights=sample.weights)
    edges = [number.at(share) for share in shares]
    return Histogram(edges, chances.tolist(), number.fact.unit, number.fact.is_log)
