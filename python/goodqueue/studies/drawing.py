"""Draws the figures of a study: published values beside measured ones, and those of the study's own ``figures.py``."""

from collections.abc import Iterator, Mapping, Sequence, Set

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from goodqueue import foreign
from goodqueue.errors import UserError
from goodqueue.plot import style
from goodqueue.studies import curves
from goodqueue.studies.figures import FILE, Draw, Drawn
from goodqueue.studies.judging import Judged
from goodqueue.studies.outcome import Outcome
from goodqueue.studies.own import blame
from goodqueue.studies.published import order
from goodqueue.studies.wording import Words


def all_figures(outcome: Outcome, draw: Draw | None) -> list[Drawn]:
    """Return the study's own figures, drawn by ``draw``, and published beside measured for each scenario.

    They have the order of the paper: figures by number, then tables. Raises UserError if ``draw`` fails.
    """
    own = _drawn(outcome, draw) if draw else []
    found = [*own, *curves.figures(outcome), *_tables(outcome, {order(drawn.title) for drawn in own})]
    return sorted(found, key=lambda drawn: order(drawn.title))


def _drawn(outcome: Outcome, draw: Draw) -> list[Drawn]:
    path = outcome.study.folder / FILE
    with foreign.running(lambda error: blame(path, "figures() raised", error)):
        found = list(draw(outcome))
    for one in found:
        if not isinstance(one, Drawn):
            raise UserError(str(path), f"figures() gave a value of type {type(one).__name__}; accepted: Drawn")
        if not isinstance(one.figure, Figure):
            raise UserError(str(path), f"figures() gave a figure of type {type(one.figure).__name__}; accepted: Figure")
    return found


def _tables(outcome: Outcome, drawn_already: Set[tuple[int, int, str]]) -> list[Drawn]:
    groups: dict[str, list[Judged]] = {}
    for judged in outcome.values:
        if judged.distance is not None and judged.value.number is not None and judged.value.band is None:
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
        for ax, (title, own, swept) in zip(places, panels, strict=False):
            if swept:
                _swept(ax, own, swept, algorithms)
                ax.set_xlabel(str(words.name(swept)))
            else:
                _side_by_side(ax, own, algorithms, narrow=columns > 1)
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
        own = [judged for judged in group if judged.value.metric == metric]
        title = str(words.name(metric))
        if len(swept) == 1 and all(isinstance(judged.value.at.get(swept[0]), int | float) for judged in own):
            yield title, own, swept[0]
            continue
        points: dict[str, list[Judged]] = {}
        for judged in own:
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
        own = sorted(
            (judged for judged in group if judged.value.algorithm == algorithm),
            key=lambda judged: float(judged.value.at[parameter]),
        )
        # Shift the algorithms, so that the marks of one point do not cover each other.
        shift = (index - (len(algorithms) - 1) / 2) * 0.04
        width = max(places) - min(places)
        x = [float(judged.value.at[parameter]) for judged in own]
        x = [place * 10**shift if ratio >= 10 else place + shift * width for place in x]
        _points(ax, own, x, all_looks[index], name, line=True)
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
        own = [judged for judged in group if judged.value.algorithm == algorithm]
        _points(ax, own, [float(index)] * len(own), all_looks[index], names[index], line=False)
    ax.set_xticks(range(len(algorithms)), names)
    if narrow and len(algorithms) > 4:
        ax.set_xticks(range(len(algorithms)), names, fontsize=7, rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.5, len(algorithms) - 0.5)
    tops = [max(judged.value.number or 0, (judged.measured and judged.measured.value) or 0) for judged in group]
    ax.set_ylim(0, 1.35 * max(tops) or 1.0)


def _points(ax: Axes, own: Sequence[Judged], x: Sequence[float], look: style.Look, label: str, line: bool) -> None:
    colour, marker = look.colour, look.marker
    published = [judged.value.number for judged in own]
    measured = [judged.measured.value if judged.measured else None for judged in own]
    away = x if line else [place - 0.12 for place in x]
    near = x if line else [place + 0.12 for place in x]
    whole: dict[str, bool] = {} if line else {"clip_on": False}  # show a mark at 0 whole, although it is on the axis
    ax.plot(away, published, marker, color=colour, mfc="none", ls=":" if line else "", lw=1, ms=6, **whole)  # type: ignore[arg-type]
    ax.plot(near, measured, marker, color=colour, ls="-" if line else "", lw=1.2, ms=4, label=label, **whole)  # type: ignore[arg-type]
    for place, judged in zip(near, own, strict=True):
        if judged.measured and judged.measured.low is not None and judged.measured.high is not None:
            ax.plot([place, place], [judged.measured.low, judged.measured.high], color=colour, lw=1.6, alpha=0.6)
