"""The ``goodqueue`` command, and ``python -m goodqueue``."""

import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line; a Ctrl-C while it is still being imported ends like one later, with one line."""
    try:
        from goodqueue.cli import main as command

        command()
    except KeyboardInterrupt:
        print("goodqueue: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
