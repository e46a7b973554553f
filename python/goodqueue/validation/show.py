"""A validation as tables and sentences, for the terminal and for Markdown."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from goodqueue.measures.stats import Estimate, Median, median
from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table, decimals, number
from goodqueue.validation.judging import FACTOR, FEW, FLOOR_MS, Judgement, Summary, agree
from goodqueue.validation.result import Result, Validation

NOTE = (
    "Errors are the simulator's against the kernel's: ln(sim / kernel) of delays (0.1 is about 10 %), sim - kernel in "
    "points, taken seed by seed. All other numbers are medians of the seeds, with the ends of the median's 95 % "
    f"bootstrap interval in brackets. A delay below {FLOOR_MS:g} ms counts as {FLOOR_MS:g} ms in a ratio. Drops and "
    f"marks are those of one run; they agree within a factor of {FACTOR:g} (! where they do not), and are not judged "
    f"where both engines have fewer than {FEW} in all seeds. Flows apart: goodputs, the greatest against the greatest "
    "and so on. Cwnd area: between the curves of a lone flow, as a part of the kernel's."
)
"""The meaning of the columns."""


def describe(validation: Validation) -> str:
    """Return a sentence on the runs and the system that made them."""
    kernel, n = validation.kernel, len(validation.seeds)
    places = {"vm": f" in qemu {kernel.get('qemu')}", "process": " as a process", "host": " on this host"}
    where = places.get(kernel["where"], "")
    drawn = f" drawn by seed {validation.drawn.seed}" if validation.drawn else ""
    made_by = "".join(f", {name} {kernel[name]}" for name in ("image", "laboratory") if name in kernel)
    quick = ", quick: shorter runs, rough numbers" if validation.quick else ""
    return (
        f"{len(validation.results)} cells{drawn}, {n} seed{'s' if n > 1 else ''} each, {validation.date}{quick}: "
        f"goodqueue {validation.version} (build {validation.build}) against Linux {kernel['release']}{where}, "
        f"{kernel['tc']}{made_by}."
    )


def headline(validation: Validation, judgement: Judgement) -> list[str]:
    """Return the overall figures in sentences. The figure that chance gives is in brackets."""
    overall, chance = judgement.overall, judgement.chance

    def with_chance(value: float | None, by_chance: float | None, digits: int) -> str:
        """Return a figure, followed by that of the simulator against itself."""
        return number(value, digits) + (f" ({number(by_chance, digits)})" if by_chance is not None else "")

    def figure(key: str, digits: int = 3) -> str:
        return with_chance(getattr(overall, key), getattr(chance, key) if chance else None, digits)

    def agreeing(what: str) -> str:
        """Return the number of cells in which a count agrees, and of the cells that are judged."""
        ours, *theirs = (
            f"{getattr(summary, f'{what}_agree')} of {getattr(summary, f'{what}_judged')}"
            for summary in (overall, chance)
            if summary
        )
        return ours + "".join(f" ({their})" for their in theirs)

    by_chance = chance.delay_spread_ln if chance else {}
    spread = "".join(
        f", {name} {with_chance(v, by_chance.get(name), 3)}" for name, v in overall.delay_spread_ln.items()
    )
    off = [abs(cell.delay_mean_ln.mean) if cell.delay_mean_ln else -1.0 for cell in judgement.cells]
    where = f" in {validation.results[off.index(max(off))].id}" if spread else ""
    shares = f"Jain's index: {figure('jain')}; goodput by flow: {figure('flow_goodput_percent', 1)} % apart"
    tail = f"95th percentile: median {figure('delay_p95_ln')}"
    lines = [
        f"Mean delay: median |ln(sim / kernel)| {figure('delay_mean_ln')}{spread}{where}; {tail}.",
        f"Utilisation: mean |sim - kernel| {figure('utilisation_points', 2)} points; {shares}.",
        f"Within a factor of {FACTOR:g}: drops in {agreeing('drops')} cells, marks in {agreeing('marks')}.",
    ]
    if overall.cwnd_area is not None:
        lines.append(f"Congestion window of a lone flow: {figure('cwnd_area', 2)} of its area lies between the curves.")
    if overall.completion_ln is not None:
        lines.append(f"Completion times of transfers: median |ln(sim / kernel)| {figure('completion_ln')}.")
    if overall.recovery_s is not None:
        lines.append(f"Back at its window after a burst: mean |sim - kernel| {figure('recovery_s', 2)} s.")
    if chance is not None:
        lines.append("In brackets what is chance: the simulator against itself under other seeds.")
    if overall.delay_half_width_ln is not None:
        lines.append(
            f"{len(validation.seeds)} seeds leave the mean delay of one cell open by "
            f"{number(overall.delay_half_width_ln, 3)} either way (half of a 95 % interval of ln, median of the cells)."
        )
    groups = (judgement.by_qdisc, judgement.by_change if _share_changes(judgement) else {})
    worst = [text for text in map(_worst, groups) if text]
    return [*lines, f"Farthest off in mean delay: {', '.join(worst)}."] if worst else lines


def _share_changes(judgement: Judgement) -> bool:
    """Return whether several cells share a change. Each cell of a drawn set has its own."""
    return any(summary.cells > 1 for summary in judgement.by_change.values())


def _worst(groups: Mapping[str, Summary]) -> str:
    worst = [(group.delay_mean_ln, name) for name, group in groups.items() if group.delay_mean_ln is not None]
    if len(worst) < 2:
        return ""
    error, name = max(worst)
    return f"{name} ({number(error, 3)})"


def cells_table(validation: Validation, judgement: Judgement) -> Table:
    """Return one row per cell: each measure on both engines, and the error."""
    results = validation.results
    digits = {
        key: decimals(middle.value for result in results for middle in _both(result, key) if middle)
        for key in ("delay_mean_ms", "delay_p95_ms")
    }
    rows = [
        [
            result.id,
            *(_between(middle, digits["delay_mean_ms"]) for middle in _both(result, "delay_mean_ms")),
            _signed(errors.delay_mean_ln, 2),
            *(number(_middle(middle), digits["delay_p95_ms"]) for middle in _both(result, "delay_p95_ms")),
            _signed(errors.delay_p95_ln, 2),
            *(number(_middle(middle), 1) for middle in _both(result, "utilisation_percent")),
            _signed(errors.utilisation_points, 1),
            *_counts(result, "dropped", errors.drops_ln),
            *_counts(result, "marked", errors.marks_ln),
            *(number(_middle(middle), 3) for middle in _both(result, "jain_goodput")),
            number(_mean(errors.flow_goodput_percent), 1),
            number(_mean(errors.cwnd_area), 2),
        ]
        for result, errors in zip(results, judgement.cells, strict=True)
    ]
    headings = ["delay mean\nsim ms", "\nkernel", "\nln", "p95\nsim ms", "\nkernel", "\nln", "used\nsim %", "\nkernel"]
    headings += ["\npoints", "drops\nsim", "\nkernel", "marks\nsim", "\nkernel", "Jain\nsim", "\nkernel"]
    headings += ["flows\napart %", "cwnd\narea"]
    return Table("Cell by cell", [Column("cell", False), *map(Column, headings)], rows, [NOTE])


def _both(result: Result, key: str) -> list[Median | None]:
    return [result.sim.median(key), result.kernel.median(key)]


def _middle(median: Median | None) -> float | None:
    return None if median is None else median.value


def _between(median: Median | None, digits: int) -> str:
    """Return a median, followed by the ends of its interval if they differ as shown."""
    if median is None:
        return "–"
    middle, low, high = (number(value, digits) for value in (median.value, median.low, median.high))
    return f"{middle} [{low} – {high}]" if low != high else middle


def _mean(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.mean


def _median_known(values: Sequence[float | None]) -> float | None:
    return _middle(median([value for value in values if value is not None]))


def _signed(estimate: Estimate | None, digits: int) -> str:
    return "–" if estimate is None else f"{estimate.mean:+.{digits}f}"


def _counts(result: Result, key: str, ratio_ln: float | None) -> list[str]:
    sim, kernel = (_between(middle, 0) for middle in _both(result, key))
    return [sim, kernel + ("" if ratio_ln is None or agree(ratio_ln) else " !")]


def transfers_table(validation: Validation, judgement: Judgement) -> Table | None:
    """Return one row per transfer of each cell, or None if there is none."""
    rows = [
        [
            result.id,
            name,
            *(number(_median_known(side.completions_ms[name]), 1) for side in (result.sim, result.kernel)),
            _signed(errors.completion_ln.get(name), 3),
        ]
        for result, errors in zip(validation.results, judgement.cells, strict=True)
        for name in result.kernel.completions_ms
    ]
    headings = ["completion\nsim ms", "\nkernel", "\nln"]
    columns = [Column("cell", False), Column("transfer", False), *map(Column, headings)]
    return Table("Transfers", columns, rows, ["From the SYN to the last byte in order."]) if rows else None


def recoveries_table(validation: Validation, judgement: Judgement) -> Table | None:
    """Return one row per cell with a burst, or None if there is none."""
    rows = [
        [
            result.id,
            *(number(_middle(middle), 1) for middle in _both(result, "recovery_s")),
            _signed(errors.recovery_s, 1),
        ]
        for result, errors in zip(validation.results, judgement.cells, strict=True)
        if any(_both(result, "recovery_s"))
    ]
    headings = ["recovery\nsim s", "\nkernel", "\nsim - kernel"]
    note = "From a burst's beginning until the lone flow's window is back at its mean before it; read each 0.2 s."
    return Table("After a burst", [Column("cell", False), *map(Column, headings)], rows, [note]) if rows else None


def tables(validation: Validation, judgement: Judgement) -> list[Table]:
    """Return all tables, the summary last."""
    optional = [transfers_table(validation, judgement), recoveries_table(validation, judgement)]
    some = [table for table in optional if table is not None]
    return [cells_table(validation, judgement), *some, groups_table(judgement)]


def groups_table(judgement: Judgement) -> Table:
    """Return one row for all cells, and one per qdisc and per change, which show where the errors are."""
    chance = {"the simulator against itself": judgement.chance} if judgement.chance else {}
    groups = {"all": judgement.overall, **chance, **judgement.by_qdisc}
    if _share_changes(judgement):
        groups |= judgement.by_change
    rows = [
        {
            "cells of": name,
            "cells": str(group.cells),
            "delay mean\nln": number(group.delay_mean_ln, 3),
            "p95\nln": number(group.delay_p95_ln, 3),
            "used\npoints": number(group.utilisation_points, 2),
            "drops\nagree": _share(group.drops_agree, group.drops_judged),
            "marks\nagree": _share(group.marks_agree, group.marks_judged),
            "Jain": number(group.jain, 3),
            "flows\napart %": number(group.flow_goodput_percent, 1),
            "cwnd\narea": number(group.cwnd_area, 2),
        }
        for name, group in groups.items()
    ]
    notes = ["Delays: median over the cells; all else: mean. Agree: cells of those that are judged."]
    return Table.of("How far apart, by qdisc and by what departs from the base", rows, notes, ("cells of",))


def _share(agreeing: int, judged: int) -> str:
    return f"{agreeing}/{judged}" if judged else "–"


def markdown(validation: Validation, judgement: Judgement) -> str:
    """Return the whole validation as Markdown."""
    parts = [describe(validation), "\n".join(f"- {sentence}" for sentence in headline(validation, judgement))]
    *others, summary = tables(validation, judgement)
    for table in (summary, *others):
        parts += [f"### {table.title}", markdowns.table(table), *table.notes]
    lines: dict[str, str] = {}
    for result in [] if validation.drawn else validation.results:
        lines.setdefault(result.qdisc, result.line)
    if lines:
        parts += ["### Qdiscs", "\n".join(f"- {name}: `{line}`" for name, line in lines.items())]
    return "\n\n".join(parts) + "\n"


def as_json(judgement: Judgement, ids: Sequence[str]) -> dict[str, Any]:
    """Return the numbers computed from the results, as JSON. ``ids`` are the cells' ids."""
    return {
        "floor_ms": FLOOR_MS,
        "factor": FACTOR,
        "few": FEW,
        "overall": asdict(judgement.overall),
        "chance": asdict(judgement.chance) if judgement.chance else None,
        "by_qdisc": {name: asdict(summary) for name, summary in judgement.by_qdisc.items()},
        "by_change": {name: asdict(summary) for name, summary in judgement.by_change.items()},
        "errors": {id_: _errors_json(cell) for id_, cell in zip(ids, judgement.cells, strict=True)},
    }


def _errors_json(errors: Any) -> dict[str, Any]:
    return {field.name: _number_json(getattr(errors, field.name)) for field in fields(errors)}


def _number_json(value: Mapping[str, Estimate] | Estimate | float | None) -> Any:
    """Return an estimate as an object, several by name, and an infinite ratio (one count is 0) as a word."""
    if isinstance(value, Mapping):
        return {name: _number_json(part) for name, part in value.items()}
    if isinstance(value, Estimate):
        ci = None if value.half_width is None else [value.low, value.high]
        return {"mean": value.mean, "ci": ci, "n": value.n}
    if value is not None and math.isinf(value):
        return "only the simulator's" if value > 0 else "only the kernel's"
    return value
