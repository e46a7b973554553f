"""One end of a scenario's only connection, over a UDP socket: ``python -m goodqueue_transports.end server CASE.json``.

Prints what the end measured, as one line of JSON. The client calls the address of the environment variable
``GOODQUEUE_SERVER``, which `goodqueue link` sets, and else this machine.
"""

import argparse
import os
import sys
from pathlib import Path

from goodqueue_transports._goodqueue_transports import over_socket

PORT = 4433


def main() -> int:
    """Run the end."""
    parser = argparse.ArgumentParser(prog="python -m goodqueue_transports.end", description=__doc__)
    parser.add_argument("role", choices=("server", "client"))
    parser.add_argument("scenario", type=Path, help="a resolved scenario as JSON (goodqueue_transports.confirm)")
    parser.add_argument("--out", type=Path, help="a file for the line")
    asked = parser.parse_args()
    is_server = asked.role == "server"
    host = "0.0.0.0" if is_server else os.environ.get("GOODQUEUE_SERVER", "127.0.0.1")  # noqa: S104 - the link's network
    try:
        line = over_socket(asked.scenario.read_text(encoding="utf-8"), is_server, f"{host}:{PORT}")
    except ValueError as error:
        print(f"{asked.role}: {error}", file=sys.stderr)
        return 2
    if asked.out is not None:
        asked.out.write_text(line + "\n", encoding="utf-8")
    print(line)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
