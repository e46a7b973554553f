"""Figures of a study: published values beside measured ones, and the figures of the study's own ``figures.py``."""

import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from goodqueue import foreign
from goodqueue.errors import UserError, one_line, quoted, warn
from goodqueue.plot import style
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.published import order
from goodqueue.studies.wording import Words


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure, ready to be written."""

    name: str
    """File name without extension."""
    title: str
    caption: str
    figure: Figure


Draw = Callable[[Outcome], Iterable[Drawn]]
"""The type of the function ``figures`` in a study's ``figures.py``."""

FILE = "figures.py"


def all_figures(outcome: Outcome, draw: Draw | None) -> list[Drawn]:
    """Return the study's own figures, drawn by ``draw`` (see `own`), and published beside measured for each scenario.

    They have the order of the paper: figures by number, then tables. Raises UserError if ``draw`` fails.
    """
    drawn_by_study = _drawn(outcome, draw) if draw else []
    figures = [*drawn_by_study, *_tables(outcome, {order(drawn.title) for drawn in drawn_by_study})]
    return sorted(figures, key=lambda drawn: order(drawn.title))


def _drawn(outcome: Outcome, draw: Draw) -> list[Drawn]:
    path = outcome.study.folder / FILE
    with foreign.running(lambda error: _blame(path, "figures() raised", error)):
        drawings = list(draw(outcome))
    for drawing in drawings:
        if not isinstance(drawing, Drawn):
            raise UserError(str(path), f"figures() gave a value of type {type(drawing).__name__}; accepted: Drawn")
        if not isinstance(drawing.figure, Figure):
            raise UserError(
                str(path), f"figures() gave a figure of type {type(drawing.figure).__name__}; accepted: Figure"
            )
    return drawings


def save(drawn: Drawn, outcome: Outcome, folder: Path) -> str:
    """Write ``drawn`` into ``folder`` as SVG and PNG and return the SVG. Raises UserError if it cannot be drawn."""
    what = f"figure {quoted(drawn.name)} cannot be drawn:"
    # matplotlib calls the user's formatters only now
    with foreign.running(lambda error: _blame(outcome.study.folder / FILE, what, error)):
        return style.save(drawn.figure, folder, drawn.name)


def _blame(path: Path, what: str, error: BaseException) -> UserError:
    """Return the UserError of the code in ``path``, which may raise any exception."""
    return UserError(str(path), f"{what} {type(error).__name__}: {one_line(str(error))}")


def own(folder: Path) -> Draw | None:
    """Return the function ``figures`` of the ``figures.py`` in ``folder``, or None if there is no such file.

    With ``--no-code`` another's file is left out, with a warning. Raises UserError if the file cannot be used.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    if not foreign.allowed(str(path)):
        warn(f"{path}: left out, since --no-code refuses Python code; the study's own figures are missing")
        return None
    spec = importlib.util.spec_from_file_location(f"goodqueue_study_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    foreign.check(str(path))
    with foreign.running(lambda error: _blame(path, "cannot be imported:", error)):
        spec.loader.exec_module(module)
    draw = getattr(module, "figures", None)
    if not callable(draw):
        raise UserError(str(path), "has no function figures; accepted: figures(outcome), which returns a list of Drawn")
    drawn_by: Draw = draw
    return drawn_by


def _tables(outcome: Outcome, drawn_already: Set[tuple[int, int, str]]) -> list[Drawn]:
    groups: dict[str, list[Judged]] = {}
    for judged in outcome.values:
        if judged.distance is not None and judged.value.number is not None:
            groups.setdefault(judged.value.scenario, []).append(judged)
    drawn = []
    for scenario, group in groups.items():
        facts = outcome.study.published.scenarios[scenario]
        if len(group) == 1 and order(facts.name) in drawn_already:
            continue  # the report's table has these numbers, and a second figure of this number would confuse
        n = sorted({judged.measured.n for judged in group if judged.measured})
        runs = f"n = {n[0]}" if len(n) == 1 else f"n = {n[0]} to {n[-1]}"
        caption = (
            f"Hollow marks: the paper{f' ({facts.where})' if facts.where else ''}. Full marks: measured here, the mean "
            f"of the seeds ({runs}); bars are 95 % confidence intervals, cut where they leave the frame."
        )
        figure = published_and_measured(outcome.study.words, group)
        title = f"{facts.name}: {facts.title}" if facts.title else facts.name
        drawn.append(Drawn(scenario.rpartition("/")[2], title, caption, figure))
    return drawn


def published_and_measured(words: Words, group: Sequence[Judged]) -> Figure:
    """Draw the values of one published scenario.

    If one parameter is swept, it is the x axis, with one panel per metric. Otherwise the algorithms stand side by side,
    with one panel per metric and point.
    """
    panels = list(_panels(words, group))
    algorithms = {name: words.algorithm(name) for name in dict.fromkeys(judged.value.algorithm for judged in group)}
    columns = 2 if len(panels) > 1 else 1
    rows = -(-len(panels) // columns)
    with style.look():
        figure = style.new_figure(0.5 + (2.6 if rows < 4 else 2.1) * rows)
        places = figure.subplots(rows, columns, squeeze=False).flatten()
        for ax, (title, judged_values, swept) in zip(places, panels, strict=False):
            if swept:
                _swept(ax, judged_values, swept, algorithms)
                ax.set_xlabel(str(words.name(swept)))
            else:
                _side_by_side(ax, judged_values, algorithms, narrow=columns > 1)
            ax.set_title(title, fontsize=None if max(map(len, title.split("\n"))) <= 24 else 8.5)
        for ax in places[len(panels) :]:
            ax.set_visible(False)
        handles, labels = places[0].get_legend_handles_labels()
        if len(handles) > 1 and any(swept for _, _, swept in panels):
            figure.legend(handles, labels, loc="outside upper right", ncols=len(handles), frameon=False)
    return figure


def _panels(words: Words, group: Sequence[Judged]) -> Iterator[tuple[str, list[Judged], str]]:
    """Yield the title of each panel, its values, and the parameter on the x axis, if any."""
    swept = list(dict.fromkeys(name for judged in group for name in judged.value.at))
    for metric in dict.fromkeys(judged.value.metric for judged in group):
        rows = [judged for judged in group if judged.value.metric == metric]
        title = str(words.name(metric))
        if len(swept) == 1 and all(isinstance(judged.value.at.get(swept[0]), int | float) for judged in rows):
            yield title, rows, swept[0]
            continue
        points: dict[str, list[Judged]] = {}
        for judged in rows:
            point = words.point(judged.value.at)
            points.setdefault(point, []).append(judged)
        for point, some in points.items():
            yield f"{title}\n{point}" if point else title, some, ""


def _swept(ax: Axes, group: Sequence[Judged], parameter: str, algorithms: Mapping[str, str]) -> None:
    places = sorted({float(judged.value.at[parameter]) for judged in group})
    ratio = max(places) / min(places) if min(places) > 0 else 1.0
    if ratio >= 10:
        ax.set_xscale("log")
    all_looks = style.looks(list(algorithms.values()))
    for index, (algorithm, name) in enumerate(algorithms.items()):
        rows = sorted(
            (judged for judged in group if judged.value.algorithm == algorithm),
            key=lambda judged: float(judged.value.at[parameter]),
        )
        # Shift the algorithms, so that the marks of one point do not cover each other.
        shift = (index - (len(algorithms) - 1) / 2) * 0.04
        width = max(places) - min(places)
        x = [float(judged.value.at[parameter]) for judged in rows]
        x = [position * 10**shift if ratio >= 10 else position + shift * width for position in x]
        _points(ax, rows, x, all_looks[index], name, line=True)
    _heights(ax, group)
    ax.xaxis.set_major_locator(FixedLocator(places))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_locator(NullLocator())


def _heights(ax: Axes, group: Sequence[Judged]) -> None:
    """Scale the y axis of ``ax`` to the values. An interval of few seeds may reach beyond its edge."""
    values = [judged.value.number for judged in group if judged.value.number is not None]
    values += [judged.measured.value for judged in group if judged.measured and judged.measured.value is not None]
    low, high = min(values), max(values)
    if low > 0 and high / low > 8:
        style.log_ms(ax, "y", low / 1.5, high * 1.5)
    else:
        room = 0.12 * (high - low) or 0.1 * abs(high) or 1.0
        ax.set_ylim(low - room, high + room)


def _side_by_side(ax: Axes, group: Sequence[Judged], algorithms: Mapping[str, str], narrow: bool) -> None:
    names = list(algorithms.values())
    all_looks = style.looks(names)
    for index, algorithm in enumerate(algorithms):
        rows = [judged for judged in group if judged.value.algorithm == algorithm]
        _points(ax, rows, [float(index)] * len(rows), all_looks[index], names[index], line=False)
    ax.set_xticks(range(len(algorithms)), names)
    if narrow and len(algorithms) > 4:
        ax.set_xticks(range(len(algorithms)), names, fontsize=7, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.5, len(algorithms) - 0.5)
    tops = [max(judged.value.number or 0, (judged.measured and judged.measured.value) or 0) for judged in group]
    ax.set_ylim(0, 1.35 * max(tops) or 1.0)


def _points(ax: Axes, rows: Sequence[Judged], x: Sequence[float], look: style.Look, label: str, line: bool) -> None:
    colour, marker = look.colour, look.marker
    published = [judged.value.number for judged in rows]
    measured = [judged.measured.value if judged.measured else None for judged in rows]
    away = x if line else [position - 0.12 for position in x]
    near = x if line else [position + 0.12 for position in x]
    whole: dict[str, bool] = {} if line else {"clip_on": False}  # show a mark at 0 whole, although it is on the axis
    ax.plot(away, published, marker, color=colour, mfc="none", ls=":" if line else "", lw=1, ms=6, **whole)  # type: ignore[arg-type]
    ax.plot(near, measured, marker, color=colour, ls="-" if line else "", lw=1.2, ms=4, label=label, **whole)  # type: ignore[arg-type]
    for position, judged in zip(near, rows, strict=True):
        if judged.measured and judged.measured.low is not None and judged.measured.high is not None:
            ax.plot([position, position], [judged.measured.low, judged.measured.high], color=colour, lw=1.6, alpha=0.6)
