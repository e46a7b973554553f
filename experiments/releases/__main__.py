"""Runs the scenarios of docs/results/releases.md: ``.venv/bin/python -m experiments.releases 6.1 6.12 7.3``.

The arguments are releases of Linux. Writes ``experiments/releases/RELEASE/results.json``. The folder ``--store`` keeps
the runs, so the same command continues after an interruption. ``tools/docs/generate.py`` then makes the tables.
"""

import argparse
import json
from pathlib import Path

from goodqueue import engines, store
from goodqueue.show import terminal
from goodqueue.validation import cells, pages, runs
from goodqueue.validation.judging import judge

HERE = Path(__file__).parent


def main() -> None:
    """Run the set on each release that the command names, and write the results of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("release", nargs="+")
    parser.add_argument("--seeds", type=int)
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--store", type=Path, required=True)
    asked = parser.parse_args()
    wanted = cells.load(False, asked.only, asked.seeds, HERE / "cells.toml")
    for release in asked.release:
        on = engines.parse("sim,kernel", linux=release)
        kept = store.create(asked.store / release, f"--store {asked.store}")
        with terminal.progress(f"Linux {release}") as progress:
            found = runs.carry_out(cells.on_release(wanted, release), kept, 1, progress, on)
        target = HERE / release / "results.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps(pages.as_json(found, judge(found.results)), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
