"""How the cost of a verb grows with the size of its input: CPU seconds, and the exponent from one size to the next.

``python benches/growth.py``. The exponent is 1 where the cost is proportional to the size. Sizes double.
"""

import json
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from goodqueue.flent import programs

SIZES = (10_000, 20_000, 40_000, 80_000)


def of_iperf3(intervals: int, folder: Path) -> Callable[[], object]:
    """Return an import of a test by iperf3 with so many intervals."""
    stream = {"socket": 5, "seconds": 1.0, "bytes": 125_000, "retransmits": 0, "rtt": 40_000, "sender": True}
    steps = [{"streams": [{**stream, "start": at, "end": at + 1}]} for at in range(intervals)]
    test = {"start": {"test_start": {"protocol": "TCP"}}, "intervals": steps, "end": {}}
    file = folder / "iperf3.json"
    file.write_text(json.dumps(test), encoding="utf-8")
    return lambda: list(programs.records(str(file), None, 1))


CASES = {"import of iperf3, intervals": of_iperf3}


def main() -> None:
    """Print a line for each case and size."""
    for name, case in CASES.items():
        before: float | None = None
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                work = case(size, Path(folder))
                begun = time.process_time()
                work()
                took = time.process_time() - begun
            exponent = "" if before is None else f", exponent {math.log2(took / before):.2f}"
            print(f"{name}: {size}, {took:.2f} s{exponent}")
            before = took


if __name__ == "__main__":
    main()
