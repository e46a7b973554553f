"""Runs the ``goodqueue`` command: ``python -m goodqueue``."""

import sys
from typing import NoReturn

from goodqueue import interrupts


def main() -> NoReturn:
    """Run the command line. A Ctrl-C during the imports ends the command with one line, as a later one does."""
    try:
        interrupts.answer()
        from goodqueue.cli import main as command

        command()
    except KeyboardInterrupt:
        print(interrupts.LINE, file=sys.stderr)
        sys.exit(interrupts.STATUS)


if __name__ == "__main__":
    main()
