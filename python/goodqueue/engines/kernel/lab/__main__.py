"""``python -m goodqueue.engines.kernel.lab PLAN.json OUT_DIR [KIB]``: does the run that the plan describes.

Packets wait in KIB of memory for each tcpdump.

Prints ``progress SHARE`` lines. If the run fails, prints one line ``error: TEXT`` and exits with status 1.
"""

import sys
import traceback
from pathlib import Path

from .errors import LabError
from .plan import Plan
from .run import run


def main() -> int:
    """Do the run that the command line's arguments name."""
    plan = Plan.from_json(Path(sys.argv[1]).read_text(encoding="utf-8"))
    try:
        run(plan, Path(sys.argv[2]), lambda share: print(f"progress {share:.3f}", flush=True), *map(int, sys.argv[3:]))
    except LabError as error:
        print(f"error: {error}", flush=True)
        return 1
    except Exception as error:  # noqa: BLE001 - the caller gets one line, and stderr the rest
        traceback.print_exc()
        print(f"error: {type(error).__name__}: {error}", flush=True)
        return 1
    print("progress 1.000", flush=True)
    return 0


sys.exit(main())
