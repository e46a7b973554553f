"""What ``goodqueue claims`` asks."""

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, PATHS
from goodqueue.errors import Option, UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.claims.result import Result
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store
    from goodqueue.studies.model import Study


@question
class Claims(Question):
    """Run all studies and say which claims and values moved.

    Examples:
      goodqueue claims --out claims --store runs             all of them, whole; keeps the result
      goodqueue claims --beside claims/2026-11-28-33c32b7b.json
      goodqueue claims le2003 ./mine2026 --quick             a look, which is not kept
      goodqueue claims --from new.json --beside old.json     two kept results, without runs
      goodqueue claims --from a.json --from b.json --date 2026-11-28 --commit 33c32b7b --out claims

    Each study runs whole, one after the other. With --store the same command goes on where it was killed. A result has
    each claim and each value with its measured number and its verdict. It is compared with the newest whole one in
    --out. A look (--quick) is not kept, and is compared with --beside alone, with a line that says so. The last example
    keeps what `goodqueue study a --json > a.json` printed on an earlier day.
    """

    verb = "claims"

    names: tuple[str, ...] = argument(
        "[NAME|FOLDER]...",
        "Studies.",
        reader=PATHS,
        completes="study",
        is_optional=True,
        otherwise="all that the package has",
    )
    beside: str | None = option(
        "FILE|DIR",
        "The earlier result, or a folder: its newest whole one.",
        reader=PATH,
        otherwise="the one of --out",
    )
    out: str | None = option("DIR", "Keep the result there: DATE-COMMIT.json.", reader=PATH)
    force: bool = flag(shared.FORCE)
    from_: tuple[str, ...] = option(
        "FILE",
        "Take it in place of runs: a kept result, or answers of `goodqueue study --json`; repeatable.",
        reader=PATHS,
        name="from",
    )
    date: str | None = option("DATE", "The day of the answers' runs.")
    commit: str | None = option("ID", "The commit of the source that made the answers.")
    quick: bool = shared.quick()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs of all studies. There are none if their results are there already. Raises UserError."""
        from goodqueue.claims import answer, keeping, making, moved

        self._check()
        studies = self._studies()
        made = self._taken(studies) if self.from_ else making.begun()
        place = keeping.place(self.out, made, self.force) if self.out is not None else None
        earlier = keeping.earlier(self.beside, self.out, place)
        plans = [] if self.from_ else making.plans(studies, self.quick, self.workers)

        def carry_out(progress: "Progress", store: "Store | None") -> "Answer":
            now = made if self.from_ else replace(made, parts=making.carry_out(plans, self.workers, progress, store))
            change = moved.compare(earlier, now) if earlier else None
            return answer.of(now, change, keeping.write(place, self.force, now) if place else "")

        runs = sum(len(plan.scenarios) for plan in plans)
        return Work(f"{len(studies)} studies, {runs} runs", carry_out)

    def _check(self) -> None:
        """Refuse options that do not go together. Raises UserError."""
        from goodqueue.files import output

        output.check_force(self.force, self.out)
        if self.quick and self.out:
            raise UserError(Option("quick"), "found with --out; accepted: one of them, since a look is not kept")
        if self.from_ and (self.quick or self.store):
            beside = "--quick" if self.quick else "--store"
            raise UserError(Option("from"), f"found with {beside}; accepted: without, as nothing is run")
        if not self.from_ and (self.date or self.commit):
            option = Option("date" if self.date else "commit")
            raise UserError(option, "found without --from; accepted: with answers of studies")

    def _studies(self) -> "list[Study]":
        """Return the studies that are asked for. Raises UserError."""
        from goodqueue.studies import libraries, loading

        studies = [loading.load(libraries.STUDIES.find(name)) for name in self.names or libraries.STUDIES.available()]
        keys = [study.key for study in studies]
        if twice := [key for key in keys if keys.count(key) > 1]:
            raise UserError("NAME", f"found {twice[0]} twice; accepted: each study once")
        return studies

    def _taken(self, studies: "Sequence[Study]") -> "Result":
        """Return the result that the files hold: one result, or answers of ``studies``. Raises UserError."""
        from pathlib import Path

        from goodqueue.claims import making, result

        answers = {file: result.load(Path(file), making.ANSWER) for file in self.from_}
        if len(answers) != len(self.from_):
            raise UserError(Option("from"), "found a file twice; accepted: each once")
        first = next(iter(answers.values()))
        if len(answers) == 1 and isinstance(first, dict) and first.get("made_by") == result.MADE_BY:
            for name, said in ((Option("date"), self.date), (Option("commit"), self.commit), ("NAME", self.names)):
                if said:
                    raise UserError(name, "found with a result of `goodqueue claims`, which says it; accepted: without")
            return result.parse(first, self.from_[0])
        if self.date is None or self.commit is None:
            missing = Option("date" if self.date is None else "commit")
            raise UserError(missing, "missing; accepted: with --from, the day and the commit of the answers")
        return making.of_answers(answers, studies, making.commit(self.commit), making.day(self.date))
