"""The report of an answer: one self-contained page, the answer as JSON, and the two scenarios."""

import json
from pathlib import Path

from goodqueue.advise import candidates, scenarios, show
from goodqueue.advise.answer import Advice, as_json
from goodqueue.advise.scenarios import Truth
from goodqueue.files.output import RESULTS
from goodqueue.pages import render
from goodqueue.record import Scenario
from goodqueue.scenario.toml import to_toml

WRITTEN = "report.html, with results.json and both scenarios beside it"
"""The files in the folder of ``--out``."""


def write(folder: Path, advice: Advice, command: str) -> None:
    """Write into ``folder``: report.html, results.json, now.toml and then.toml, and the files of rates of a radio.

    ``command`` is the command that repeats the answer. The same answer gives the same bytes. Raises OSError.
    """
    from goodqueue._goodqueue import VERSION

    lines = [(one.label, one.down, one.up) for one in advice.tried]
    every = {(one.label, *one.lines(advice.question)): one for one in candidates.of(advice.question)}
    now, then = (every[lines[at]] for at in (0, next(at for at, one in enumerate(advice.tried) if one.is_choice)))
    texts = {}
    for name, one in (("now", now), ("then", then)):
        found = scenarios.scenario(advice.question, one, advice.question.seeds[0], Truth(), folder)
        texts[name] = to_toml(_beside(found, folder))
        (folder / f"{name}.toml").write_text(texts[name], encoding="utf-8")
    page = _page(advice, command, texts["then"], VERSION)
    (folder / "report.html").write_text(page, encoding="utf-8")
    results = as_json(advice, VERSION) | {"command": command}
    results["files"] = sorted([RESULTS, *(file.name for file in folder.iterdir())])
    (folder / RESULTS).write_text(json.dumps(results, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _beside(found: Scenario, folder: Path) -> Scenario:
    """Return the scenario with its files of rates named as they lie beside it."""
    for hop in found.get("hop") or []:
        trace = hop.get("trace")
        if trace is not None:
            path = Path(trace)
            hop["trace"] = path.name if path.parent == folder else str(path.resolve())
    return found


def _page(advice: Advice, command: str, scenario: str, version: str) -> str:
    return render(
        "advise/report.html.j2",
        title=show.headline(advice.question),
        findings=[*show.warning(advice), *show.measured(advice.question)],
        lines=show.lines(advice),
        changes=[show.changes(advice), *show.checks(advice)],
        sentences=[*show.sure(advice), *show.doubts(advice), show.assumed(advice)],
        address=advice.address,
        evidence=show.why(advice),
        scenario=scenario,
        command=command,
        version=version,
    )
