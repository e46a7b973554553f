"""Puts a calibration into docs/results/calibration.md: ``.venv/bin/python -m experiments.calibration DIR``.

DIR is the folder of ``goodqueue calibrate --out DIR``. The tables go below the page's mark, and
the figures without the single runs into experiments/calibration/results.json.
"""

import json
import sys
import textwrap
from pathlib import Path

from experiments import kept

PAGE = kept.PAGES / "calibration.md"
HERE = Path(__file__).parent
WIDTH = 120


def main() -> None:
    """Write the page's tables and its numbers."""
    folder = Path(sys.argv[1])
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    kept.keep(HERE, {key: value for key, value in found.items() if key not in ("runs", "files", "command")})
    text = (folder / "table.md").read_text(encoding="utf-8").strip()
    lines = [[line] if line.startswith("|") else textwrap.wrap(line, WIDTH) or [""] for line in text.split("\n")]
    kept.below(PAGE, HERE, [part for line in lines for part in line])


if __name__ == "__main__":
    main()
