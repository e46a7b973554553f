"""What ``goodqueue suite`` and ``gq.suite`` ask."""

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, TEXTS, word


@question
class Suite(Question):
    """Run a standard's tests and print a pass sheet.

    Examples:
      goodqueue suite rfc7928 codel pie fq_codel
      goodqueue suite rfc7928 ./my_aqm.py:MyAqm --quick
      goodqueue suite rfc7928 "codel target 10ms" --only 6 --only 8.2.6
      goodqueue suite rfc9743 bbr3 "cubic hystart++"    tests congestion controls
      goodqueue suite rfc7928 codel --out sheet         one page to attach to a draft
      goodqueue suite bbr bbr3 --junit bbr.xml          the cases of BBR's draft, for CI
      goodqueue suite rfc9743 bbr3 --fail-on none       exit status 0, whatever the verdicts
      goodqueue suite bbr --stack quinn                 the same of a QUIC stack (docs/results/transports.md)
      goodqueue suite rfc7928 codel --store runs        a suite that was killed continues where it stopped

    The command ends with exit status 1 if a row fails, so it agrees with the file of --junit. Rows that are open or
    were not run do not fail.

    The sheet has one row per section. A suite is a folder: suite.toml and scenarios. Copy one of ours to begin your
    own.
    """

    verb = "suite"
    report = "Write one page: sheet, figures, data."
    has_latex = True
    writes = ("junit",)

    name: str = argument("NAME|FOLDER", "One of `goodqueue list suites`, or a folder.", reader=PATH, completes="suite")
    tested: tuple[str, ...] = argument(
        "[QDISC|CC]...",
        "What is tested: qdisc lines, or congestion controls.",
        reader=TEXTS,
        completes="qdisc",
        is_optional=True,
    )
    only: tuple[str, ...] = option("SECTION", "A section of the standard: 5.1; repeatable.", reader=TEXTS)
    stack: str | None = option("NAME", "A QUIC stack, whose congestion controls are tested.")
    quick: bool = shared.quick()
    seeds: int | None = shared.seeds(None, "Seeds per cell.", "its own number")
    junit: str | None = option("FILE", "Write the verdicts as JUnit XML, which CI systems show.", in_python=False)
    fail_on: str = option(
        "WHEN", "What ends with exit status 1: fails, or none.", "fails", reader=word("fails", "none"), in_python=False
    )
    engine: str = shared.engine()
    store: str | None = shared.store()
    workers: int | None = shared.workers()

    def work(self) -> Work:
        """Return the runs of all rows. Raises UserError."""
        from goodqueue import engines
        from goodqueue.errors import warn
        from goodqueue.studies import libraries
        from goodqueue.suites import answer, loading, sheet, stacks, subjects

        (engine,) = engines.parse(self.engine, several=False)
        suite = loading.load(libraries.SUITES.find(self.name))
        if self.stack is not None:
            suite = stacks.fitting(suite, self.stack)
        named = subjects.read(suite, self.tested, self.stack or "")
        rows = sheet.choose(suite, self.only)
        plan = sheet.plan(suite, named, rows, self.quick, self.seeds, engine, self.workers)
        return Work(
            f"{len(plan.scenarios)} runs",
            lambda progress, store: answer.of(
                sheet.carry_out(suite, named, rows, plan, self.workers, progress, store, warn), self
            ),
        )
