"""The report of an answer: one self-contained page, the answer as JSON, and the two scenarios."""

from pathlib import Path

from markupsafe import Markup

from goodqueue.advice import candidates, scenarios, show
from goodqueue.advice.result import Advice, as_json
from goodqueue.advice.scenarios import Truth
from goodqueue.files import output
from goodqueue.pages import REPORT, Part, render
from goodqueue.record import Scenario
from goodqueue.scenario.toml import to_toml
from goodqueue.show.answer import Code, Findings, Section, Text

WRITTEN = "report.html, with results.json and both scenarios beside it"
"""The files in the folder of ``--out``."""


def write(folder: Path, advice: Advice, command: str) -> None:
    """Write into ``folder``: report.html, results.json, now.toml and then.toml, and the files of rates of a radio.

    ``command`` is the command that repeats the answer. The same answer gives the same bytes. Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    lines = [(tried.label, tried.down, tried.up) for tried in advice.tried]
    every = {
        (candidate.label, *candidate.lines(advice.question)): candidate for candidate in candidates.of(advice.question)
    }
    now, then = (every[lines[at]] for at in (0, next(at for at, tried in enumerate(advice.tried) if tried.is_choice)))
    texts = {}
    for name, candidate in (("now", now), ("then", then)):
        question, times = advice.question, advice.length.times
        scenario = scenarios.scenario(question, candidate, question.seeds[0], Truth(), folder, times)
        texts[name] = to_toml(_beside(scenario, folder))
        (folder / f"{name}.toml").write_text(texts[name], encoding="utf-8")
    (folder / REPORT).write_text(_page(advice, command, texts["then"]), encoding="utf-8")
    output.write_results(folder, as_json(advice, VERSION), command)


def _beside(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with its files of rates named as they lie beside it."""
    for hop in scenario.get("hop") or []:
        trace = hop.get("trace")
        if trace is not None:
            path = Path(trace)
            hop["trace"] = path.name if path.parent == folder else str(path.resolve())
    return scenario


def _page(advice: Advice, command: str, scenario: str) -> str:
    sentences: list[Part] = [*show.sentences(advice)]
    if advice.address:
        link = Markup('<p><a href="{}">See both, packet by packet</a>, while <code>goodqueue serve</code> runs.</p>')
        sentences.append(link.format(advice.address))
    link_is = Markup(
        "The first seed's scenario with these lines, as in <code>then.toml</code>; <code>now.toml</code> has the link "
        "as it is."
    )
    return render(
        show.headline(advice.question),
        [
            Findings([*show.warning(advice), *show.measured(advice.question)]),
            Section("What to type", [Code("\n".join(show.lines(advice)), wraps=True)]),
            show.changes(advice),
            *show.checks(advice),
            Section("How sure, and what would change it", sentences),
            Section("The evidence", show.why(advice)),
            Section("The link", [Text(link_is, "note"), Code(scenario, folded="Scenario")]),
            Section("Do it again", [Code(command, wraps=True)]),
        ],
    )
