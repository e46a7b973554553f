"""The answer of ``advise``: what changes for a person, what to type, how sure that is, and what would change it."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from goodqueue._goodqueue import VERSION
from goodqueue.advice import evidence, finding, report, show, typed
from goodqueue.advice.question import Advise
from goodqueue.advice.result import Advice, as_json
from goodqueue.show.answer import Answer, Part, Picture, Section, Text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CAPTION = "Each number now and with the lines, while downloads and uploads fill the link, and the bufferbloat letter."


def of(advice: Advice, question: Advise) -> Answer:
    """Return the answer."""
    return Answer(
        f"Which lines to type: {advice.question.link.title}",
        list(_parts(advice, question)),
        lambda: as_json(advice, VERSION),
        advice,
        made_files=lambda: report.scenarios_of(advice),
        folder=f"{{}}/{report.WRITTEN}",
    )


def _parts(advice: Advice, question: Advise) -> Iterator[Part]:
    """Yield what a person sees. Without a finding there is nothing to type, and all that was measured is a detail."""
    yield finding.of(advice)
    if not advice.is_doubtful:
        yield from _picture(advice)
    yield show.link(advice.question)
    yield from show.measured(advice.question)
    yield from show.senders(advice)
    if advice.is_doubtful:
        yield from finding.again(advice, question)
        yield Section("What was measured", [*_picture(advice), *_measured(advice)], is_detail=not question.why)
    else:
        yield typed.section(advice)
        yield from _measured(advice)
        if advice.address:
            yield _see(advice)
    yield from evidence.checks(advice)
    yield Section("The evidence", list(evidence.tried(advice)), is_detail=not question.why)


def _picture(advice: Advice) -> Iterator[Picture]:
    yield Picture("now-and-then", CAPTION, partial(_figure, advice))


def _measured(advice: Advice) -> Iterator[Part]:
    yield show.changes(advice)
    yield show.sure(advice)
    yield show.doubts(advice)


def _see(advice: Advice) -> Text:
    """Return where to see the answer packet by packet. The address itself is too long for a terminal."""
    from markupsafe import Markup

    link = Markup('<a href="{}">the link in report.html</a>').format(advice.address)
    return Text(
        Markup("See both, packet by packet: {} (--out DIR), while `goodqueue serve --no-browser` runs.").format(link)
    )


def _figure(advice: Advice) -> "Figure":
    from goodqueue.advice import pictured

    return pictured.figure(advice)
