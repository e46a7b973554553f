"""Makes a result: runs each study whole, or takes the answers of ``goodqueue study --json`` in place of runs."""

import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from goodqueue import running
from goodqueue._goodqueue import VERSION
from goodqueue.claims.result import Part, Result, part_of
from goodqueue.engines import identity
from goodqueue.errors import UserError, quoted, warn
from goodqueue.store import Store, completing
from goodqueue.studies import outcome, planning, selection
from goodqueue.studies.model import Study
from goodqueue.studies.planning import Plan

ANSWER = "an answer of `goodqueue study --json`, or one result of `goodqueue claims --out`"


def begun() -> Result:
    """Return the result of this version, this commit and this minute, without the results of studies."""
    return Result(VERSION, source(), today(), ())


def plans(studies: Sequence[Study], quick: bool, workers: int | None) -> list[Plan]:
    """Return the runs of ``studies``, each whole. Raises UserError as a study does."""
    return [planning.plan(study, selection.select(study, []), quick, workers=workers) for study in studies]


def carry_out(
    plans: Sequence[Plan], workers: int | None, progress: running.Progress, store: Store | None
) -> tuple[Part, ...]:
    """Run the studies of ``plans``, one after the other, and return their results. Raises UserError as a study does."""
    parts = []
    done, runs = 0, sum(len(plan.scenarios) for plan in plans)
    for plan in plans:
        is_own = store is None or not _held(plan, store)
        begun = time.process_time()
        shown = completing.part(progress, done / runs, len(plan.scenarios) / runs)
        everything = selection.select(plan.study, [])
        answer = outcome.as_json(outcome.carry_out(plan, everything, workers, shown, store, warn), VERSION)
        parts.append(part_of(answer, round(time.process_time() - begun, 1) if is_own else None))
        done += len(plan.scenarios)
    return tuple(parts)


def _held(plan: Plan, store: Store) -> bool:
    """Return whether ``store`` has a run of ``plan`` already."""
    return any(store.path(identity.of(plan.engine, scenario).key).exists() for scenario in plan.scenarios.values())


def of_answers(answers: Mapping[str, Any], studies: Sequence[Study], commit_id: str, date: str) -> Result:
    """Return the result that ``answers``, by the files that hold them, are. ``studies`` are those that are known.

    Raises UserError if one is no answer, if two are of the same study, if their versions differ, or if one has other
    seeds than its study.
    """
    by_key = {study.key: study for study in studies}
    parts: dict[str, Part] = {}
    versions = set()
    for where, data in answers.items():
        if not isinstance(data, dict) or data.get("made_by") != "goodqueue study":
            raise UserError(where, f"found something else; accepted: {ANSWER}")
        try:
            name = data["study"]
            if name not in by_key or name in parts:
                again = " again" if name in parts else ""
                raise UserError(
                    where, f"found the study {quoted(name)}{again}; accepted: once each of {', '.join(by_key)}"
                )
            if not data["quick"]:
                _check_seeds(data, by_key[name], where)
            parts[name] = part_of(data)
            versions.add(data["version"])
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(where, f"damaged ({type(error).__name__}: {error}); accepted: {ANSWER}") from None
    if len(versions) != 1:
        raise UserError("--from", f"found versions {', '.join(sorted(versions))}; accepted: answers of one version")
    return Result(versions.pop(), commit_id, date, tuple(parts[name] for name in by_key if name in parts))


def _check_seeds(answer: Mapping[str, Any], study: Study, where: str) -> None:
    """Refuse an ``answer`` that was made with ``--seeds``: the answer itself does not say so. Raises UserError."""
    for cell in answer["cells"]:
        seed_counts = {experiment.seeds for experiment in study.experiments_of(cell["scenario"])}
        if len(cell["seeds"]) not in seed_counts:
            problem = f"found {len(cell['seeds'])} seeds in {cell['scenario']}"
            raise UserError(
                where, f"{problem}; accepted: the study's own number, {' or '.join(map(str, sorted(seed_counts)))}"
            )


def today() -> str:
    """Return the day and the time, as a result has them."""
    return f"{datetime.now(UTC):%Y-%m-%dT%H:%MZ}"


def day(text: str) -> str:
    """Return the date in ``text``: a day, or a day and a time. Raises UserError."""
    for form in ("%Y-%m-%d", "%Y-%m-%dT%H:%MZ"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC).strftime(form)
        except ValueError:
            continue
    raise UserError("--date", f"found {quoted(text)}; accepted: 2026-11-28, or with a time 2026-11-28T14:05Z")


def commit(text: str) -> str:
    """Return the commit in ``text``, which becomes a part of a file's name. Raises UserError."""
    if not re.fullmatch(r"\w[\w.+-]{0,99}", text):
        raise UserError("--commit", f"found {quoted(text)}; accepted: a commit or a tag of letters, digits and . + - _")
    return text


def source() -> str:
    """Return the commit of the source that runs, with ``+`` if the source was changed since. Empty: it is not known.

    The package may stand in a folder below somebody else's repository. So git must know this very file.
    """
    here = Path(__file__).resolve()
    git = shutil.which("git")
    if git is None:
        return ""

    def say(*words: str) -> str | None:
        done = subprocess.run([git, *words], cwd=here.parent, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    if say("ls-files", "--error-unmatch", here.name) is None:
        return ""
    changed = say("status", "--porcelain", "--untracked-files=no")
    return f"{say('rev-parse', '--short=8', 'HEAD') or ''}{'+' if changed else ''}"
