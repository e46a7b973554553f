"""The ``goodqueue`` command, and ``python -m goodqueue``."""

import sys
from typing import NoReturn

from goodqueue import interrupts


def main() -> NoReturn:
    """Run the command line; a Ctrl-C while it is still being imported ends like one later, with one line."""
    try:
        interrupts.answer()
        from goodqueue.cli import main as command

        command()
    except KeyboardInterrupt:
        print(interrupts.LINE, file=sys.stderr)
        sys.exit(interrupts.STATUS)


if __name__ == "__main__":
    main()
