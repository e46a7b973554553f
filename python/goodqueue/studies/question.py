"""What ``goodqueue study`` asks."""

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, TEXTS
from goodqueue.errors import Option, UserError

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store


@question
class Study(Question):
    """Run a published evaluation again and judge each claim.

    Examples:
      goodqueue study schwardmann2014 --quick
      goodqueue study schwardmann2014 --only table1b --only c17
      goodqueue study schwardmann2014 --out report --json > results.json
      goodqueue study hoiland2015 --store runs          a killed study continues where it stopped
      goodqueue study schwardmann2014 --reconstructed   what its numbers imply beside what it says
      goodqueue study schwardmann2014 --fit --quick     what must they have run? all combinations
      goodqueue study path/to/my-study

    A study is a folder: study.toml, published.toml, scenarios. Copy one of ours to begin your own. A folder from
    somebody else may contain Python code, which runs with your rights. --no-code refuses it.
    """

    verb = "study"
    report = "Write a report: HTML, figures, data."
    has_latex = True

    name: str = argument("NAME|FOLDER", "One of `goodqueue list studies`, or a folder.", reader=PATH, completes="study")
    only: tuple[str, ...] = option(
        "ID", "A published scenario, value or claim: table1a, v001, c04; repeatable.", reader=TEXTS
    )
    quick: bool = shared.quick()
    seeds: int | None = shared.seeds(None, "Seeds per cell.", "its own number")
    reconstructed: bool = flag("Run it also with the choices that the paper's numbers imply.")
    fit: bool = flag("Try all combinations of what the paper leaves open; say which explain most.")
    engine: str = shared.engine()
    store: str | None = shared.store()
    workers: int | None = shared.workers()
    is_drawn: bool = False
    """Whether the study's own figures are drawn, by code in its folder."""

    def for_report(self) -> "Study":
        """Return the same question, with figures."""
        return replace(self, is_drawn=True)

    def work(self) -> Work:
        """Return the runs of all cells. Raises UserError."""
        from goodqueue import engines
        from goodqueue.errors import warn
        from goodqueue.studies import answer, combining, figures, libraries, loading, outcome, planning, selection

        (engine,) = engines.parse(self.engine, several=False)
        study = loading.load(libraries.STUDIES.find(self.name))
        if self.fit:
            study = combining.combined(study, self.name)
        chosen = selection.select(study, self.only)
        if self.reconstructed and not study.reconstructions:
            accepted = "a study with [[reconstruction]]"
            raise UserError(Option("reconstructed"), f"{self.name} names no reconstruction; accepted: {accepted}")
        plan = planning.plan(
            study, chosen, self.quick, self.seeds, engine, self.reconstructed or self.fit, self.workers
        )

        def carry_out(progress: "Progress", store: "Store | None") -> "Answer":
            draw = (
                figures.own(study.folder) if self.is_drawn else None
            )  # its code runs when nothing is refused any more
            return answer.of(outcome.carry_out(plan, chosen, self.workers, progress, store, warn), draw)

        return Work(f"{len(plan.scenarios)} runs", carry_out)
