"""What ``goodqueue report`` asks."""

from dataclasses import replace
from typing import TYPE_CHECKING

from goodqueue.ask import shared
from goodqueue.ask.fields import argument, flag, option
from goodqueue.ask.question import Question, Work, question
from goodqueue.ask.readers import PATH, PATHS

if TYPE_CHECKING:
    from goodqueue.running import Progress
    from goodqueue.show.answer import Answer
    from goodqueue.store import Store


@question
class Report(Question):
    """Write stored results as one HTML page.

    \b
    Examples:
      goodqueue report store --out report.html
      goodqueue run one-flow.toml --json > record.json; goodqueue report record.json
      goodqueue report store study-folder validation --out everything.html

    The page has tables and figures, and needs no network. The command runs nothing. Each sweep of a store is a section.
    Runs outside a sweep are compared with runs that differ only in the qdisc and the engine.
    """

    verb = "report"
    has_json = False

    paths: tuple[str, ...] = argument(
        "PATH...", "A store, a record in JSON, or a folder of study, compare, validate.", reader=PATHS
    )
    out: str = option("FILE", "The page.", "report.html", reader=PATH)
    force: bool = flag(shared.FORCE)

    def work(self) -> Work:
        """Return the page, to be made. Raises UserError."""
        from goodqueue.files import inputs, output
        from goodqueue.report import stored
        from goodqueue.show.answer import Answer

        output.check_file(self.out, self.force)

        def carry_out(progress: "Progress", _: "Store | None") -> "Answer":
            with inputs.noted() as read:
                text = stored.page(self.paths, replace(self, force=False).command(), progress)
            output.spare(self.out, read)
            written = output.write_file(self.out, self.force, text.encode())
            trouble = output.appeared(self.out, written) if written != self.out else None
            return Answer("report", [f"Written: {written}"], dict, text, trouble=trouble)

        return Work("figures and report", carry_out)
