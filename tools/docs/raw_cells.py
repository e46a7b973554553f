"""The page of the studies of raw data, as Markdown: the cells and claims of each set, then each set by line."""

from collections.abc import Mapping

from goodqueue.claims.result import Part, Result
from goodqueue.show import markdown as markdowns
from goodqueue.show.table import Column, Table, number
from goodqueue.studies import inside, libraries, loading
from goodqueue.studies.inside import Cell
from goodqueue.studies.model import Study

HEADINGS = ("cells", "run", "inside", "%", "numbers inside", "claims hold", "fail", "not tested", "seeds")


def markdown(result: Result) -> str:
    """Return the tables of ``result``: all sets, then the lines and parameters of each."""
    studies = {part.study: loading.load(libraries.STUDIES.find(part.study)) for part in result.parts}
    blocks = [
        f"{result.date[:10]}, goodqueue {result.version} of commit {result.commit}.",
        markdowns.table(_sets(result, studies)),
        f"A cell is inside by its first number; {inside.RULE}",
    ]
    for part in result.parts:
        study = studies[part.study]
        for scenario, cells in inside.by_scenario(cells_of(part, study)).items():
            title = study.published.scenarios[scenario].title
            table = markdowns.table(inside.table(study, scenario, cells))
            blocks += [f"## {scenario}: {title[0].lower()}{title[1:]}", table]
    return "\n\n".join(blocks)


def cells_of(part: Part, study: Study) -> list[Cell]:
    """Return the numbers of measured cells that ``part`` compared."""
    return [
        (value, kept["verdict"] == inside.INSIDE)
        for value in study.published.values
        if value.band is not None and (kept := part.values.get(value.id)) and kept["measured"] is not None
    ]


def all_of(study: Study) -> int:
    """Return the number of measured cells of ``study``, run or not."""
    return inside.first((value, False) for value in study.published.values if value.band is not None)[1]


def _sets(result: Result, studies: Mapping[str, Study]) -> Table:
    rows = [_row(part, studies[part.study]) for part in result.parts]
    columns = [Column("set", numeric=False), *map(Column, HEADINGS)]
    return Table("", columns, rows, [], names=1)


def _row(part: Part, study: Study) -> list[str]:
    cells = cells_of(part, study)
    near, run = inside.first(cells)
    verdicts = [claim["verdict"] for claim in part.claims.values()]
    least, most = part.seeds
    return [
        *(part.study, str(all_of(study)), str(run), str(near), number(100 * near / run, 0) if run else "–"),
        f"{sum(is_inside for _, is_inside in cells)} of {len(cells)}",
        *(str(verdicts.count(word)) for word in ("holds", "fails", "not_run")),
        str(least) if least == most else f"{least} to {most}",
    ]
