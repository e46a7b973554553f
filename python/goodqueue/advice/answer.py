"""The answer of ``advise``: what to type, what it changes, how sure that is, and a report of its own."""

from collections.abc import Iterator

from goodqueue._goodqueue import VERSION
from goodqueue.advice import report, show
from goodqueue.advice.question import Advise
from goodqueue.advice.result import Advice, as_json
from goodqueue.show.answer import Answer, Code, Part


def of(advice: Advice, question: Advise) -> Answer:
    """Return the answer."""
    return Answer(
        show.headline(advice.question),
        list(parts(advice, has_evidence=question.why)),
        lambda: as_json(advice, VERSION),
        advice,
        write=lambda folder, command, _: report.write(folder, advice, command),
        folder=f"{{}}/{report.WRITTEN}",
    )


def parts(advice: Advice, has_evidence: bool = False) -> Iterator[Part]:
    """Yield what a person sees, with every line that was tried if it ``has_evidence``."""
    yield from show.warning(advice)
    yield show.headline(advice.question)
    yield from show.measured(advice.question)
    yield Code("\n".join(show.lines(advice)))  # not wrapped, so that commands can be pasted
    yield show.changes(advice)
    yield from show.sentences(advice)
    if advice.address:
        yield Code("\n".join(show.address(advice)), is_apart=False)
    yield from show.checks(advice)
    if advice.kernel:
        yield f"Not checked on Linux: {advice.kernel}."
    if has_evidence:
        yield from show.why(advice)
