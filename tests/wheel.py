"""Installs the wheel into a new environment of the Python that runs this file, and uses it as a stranger would.

    python3.13 tests/wheel.py dist

pip chooses the wheel of this machine from the folder. The environment is temporary, and its programs are all that PATH
has: no compiler, no git, no checkout. Needs network access for the packages that the wheel depends on. The exit status
is 0 if everything works.
"""

import json
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import urllib.request
import venv
from pathlib import Path


def main(dist: Path) -> None:
    """Install the wheel in ``dist``, run the commands of the first hour, and remove the package again."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        venv.create(place / "venv", with_pip=True)
        programs = place / "venv" / "bin"
        environment = {"PATH": str(programs), "HOME": folder, "LANG": "C.UTF-8"}
        environment |= {
            name: value for name, value in os.environ.items() if value and name.startswith(("PIP_", "SSL_"))
        }

        def run(*command: str) -> str:
            done = subprocess.run(command, cwd=place, env=environment, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.strip()}")
            return done.stdout

        pip = (str(programs / "python"), "-m", "pip")
        install = (*pip, "install", "--quiet", "--only-binary", "goodqueue")
        run(*install, "--no-index", "--no-deps", "--find-links", str(dist.resolve()), "goodqueue")
        run(*install, "goodqueue")  # pip now adds the packages that it depends on
        record = json.loads(run("goodqueue", "compare", "codel", "pie", "--duration", "20s", "--seeds", "2", "--json"))
        expect(len(record["qdiscs"]) == 2, "compare shows two qdiscs")
        expect("Claims:" in run("goodqueue", "study", "schwardmann2014", "--quick"), "the study judges claims")
        expect(", 0 mismatched" in run("goodqueue", "replay"), "the golden traces in the wheel replay")
        expect("_goodqueue_completion" in run("goodqueue", "completion", "bash"), "bash gets its completion")
        manuals = list((place / "venv" / "share" / "man" / "man1").glob("goodqueue*.1"))
        expect(len(manuals) > 20, f"{len(manuals)} manual pages")
        serve(place, environment)
        run(*pip, "uninstall", "--quiet", "--yes", "goodqueue")
        left = [str(path) for path in (place / "venv").rglob("*goodqueue*")]
        expect(not left, f"after the removal nothing is left {left or ''}")
    print(f"the wheel works with Python {sysconfig.get_python_version()} on {platform.machine()}")


def serve(place: Path, environment: dict[str, str]) -> None:
    """Start the page's server, fetch the page, and end the server."""
    command = ["goodqueue", "serve", "--port", "0", "--no-browser", "--json"]
    with subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["url"]
        with urllib.request.urlopen(address) as answer:  # noqa: S310 - the address is our server's
            expect(b"<title>" in answer.read(), "serve shows the page")
        server.terminate()


def expect(holds: bool, what: str) -> None:
    """Print ``what`` if it holds, and end the program if not."""
    if not holds:
        sys.exit(f"not so: {what}")
    print(f"ok: {what}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
