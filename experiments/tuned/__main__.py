"""Tunes four disciplines for three links: ``.venv/bin/python -m experiments.tuned``.

Writes experiments/tuned/results.json after each search, and the table of docs/results/tuned.md; the same command goes
on from there.
"""

from pathlib import Path
from typing import Any

import goodqueue as gq
from experiments import kept

PAGE = kept.PAGES / "tuned.md"
HERE = Path(__file__).parent
EVALUATIONS = 48
LINKS = (("2mbit", "40ms"), ("20mbit", "30ms"), ("50mbit", "200ms"))
RED = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 probability 0.02"
LINES: tuple[tuple[str, dict[str, str] | list[str]], ...] = (
    ("codel", []),
    ("pie", ["target", "tupdate", "alpha=1..16", "beta=2..32"]),
    (RED, {"probability": "0.0025..0.16", "min": "4000..60000", "max": "61000..400000"}),
    ("cake", {"rtt": "5ms..1000ms"}),
)


def main() -> None:
    """Run what is missing, and write the table."""
    results = kept.load(HERE)
    for rate, rtt in LINKS:
        for line, vary in LINES:
            key = f"{line} | {rate}, {rtt}"
            if key in results:
                continue
            found = gq.tune(line, rate=rate, rtt=rtt, vary=vary, evaluations=EVALUATIONS, seeds=1, progress=False).data
            results[key] = {name: found[name] for name in ("answer", "best", "front", "runs", "ranges")}
            print(key, found["answer"], flush=True)
            kept.keep(HERE, results)
    write(results)


def write(results: dict[str, Any]) -> None:
    """Write the table below the mark."""
    lines = ["| line | link | answer, on scenarios that were held out |", "|---|---|---|"]
    for key, one in results.items():
        line, link = key.split(" | ")
        answer = one["answer"].removeprefix("On the held-out scenarios ")
        lines.append(f"| `{line}` | {link} | {answer} |")
    kept.below(PAGE, HERE, lines)


if __name__ == "__main__":
    main()
