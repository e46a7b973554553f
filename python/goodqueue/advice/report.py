"""The files that stand beside the page of an answer: the scenarios of the link now, and with the lines."""

from pathlib import Path

from goodqueue.advice import candidates, scenarios
from goodqueue.advice.result import Advice
from goodqueue.advice.scenarios import Truth
from goodqueue.files import temporary
from goodqueue.record import Scenario
from goodqueue.scenario.toml import to_toml

WRITTEN = "report.html, with results.json and both scenarios beside it"
"""The files in the folder of ``--out``."""


def scenarios_of(advice: Advice) -> dict[str, bytes]:
    """Return now.toml and then.toml, with the first seed, and a radio's files of rates. Equal answers have the same."""
    lines = [(tried.label, tried.down, tried.up) for tried in advice.tried]
    every = {
        (candidate.label, *candidate.lines(advice.question)): candidate for candidate in candidates.of(advice.question)
    }
    now, then = (every[lines[at]] for at in (0, next(at for at, tried in enumerate(advice.tried) if tried.is_choice)))
    question, times = advice.question, advice.length.times
    with temporary.folder() as folder:
        for name, candidate in (("now", now), ("then", then)):
            scenario = scenarios.scenario(question, candidate, question.seeds[0], Truth(), folder, times)
            (folder / f"{name}.toml").write_text(to_toml(_beside(scenario, folder)), encoding="utf-8")
        return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def _beside(scenario: Scenario, folder: Path) -> Scenario:
    """Return the scenario with its files of rates named as they lie beside it."""
    for hop in scenario.get("hop") or []:
        trace = hop.get("trace")
        if trace is not None:
            path = Path(trace)
            hop["trace"] = path.name if path.parent == folder else str(path.resolve())
    return scenario
