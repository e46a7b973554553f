"""Installs the wheel into a new environment of the Python that runs this file, and uses it as a stranger would.

    python3.13 tests/wheel.py dist
    python3 tests/wheel.py dist --everything    # fails where man or bash-completion is missing

pip chooses the wheel of this machine from the folder. The environment is temporary. Its programs are all that PATH has:
no compiler, no git, no checkout; man and bash are the system's. Needs network access for the packages that the wheel
depends on. The exit status is 0 if everything works.
"""

import json
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
import venv
from pathlib import Path

BASH_COMPLETION = Path("/usr/share/bash-completion/bash_completion")
OF_THE_SYSTEM = ("LANG", "SYSTEMROOT", "TEMP")
"""Variables that programs need beside PATH and HOME; the last two on Windows."""


def main(dist: Path, everything: bool) -> None:
    """Install the wheel in ``dist``, run the commands of the first hour, and remove the package again."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder).resolve()
        venv.create(place / "venv", with_pip=True)
        programs = place / "venv" / ("Scripts" if os.name == "nt" else "bin")
        environment = {"PATH": str(programs), "HOME": str(place), "LANG": "C.UTF-8"}
        environment |= {
            name: value
            for name, value in os.environ.items()
            if value and (name.startswith(("PIP_", "SSL_")) or name in OF_THE_SYSTEM)
        }

        def run(*command: str) -> str:
            program = shutil.which(command[0], path=str(programs)) or command[0]
            done = subprocess.run(
                (program, *command[1:]), cwd=place, env=environment, check=False, capture_output=True, encoding="utf-8"
            )
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr.strip()}")
            return done.stdout

        pip = ("python", "-m", "pip")
        install = (*pip, "install", "--quiet", "--only-binary", "goodqueue")
        run(*install, "--no-index", "--no-deps", "--find-links", str(dist.resolve()), "goodqueue")
        run(*install, "goodqueue")  # pip now adds the packages that it depends on
        record = json.loads(run("goodqueue", "compare", "codel", "pie", "--duration", "20s", "--seeds", "2", "--json"))
        expect(len(record["qdiscs"]) == 2, "compare shows two qdiscs")
        expect("Claims:" in run("goodqueue", "study", "schwardmann2014", "--quick"), "the study judges claims")
        expect(", 0 mismatched" in run("goodqueue", "replay"), "the golden traces in the wheel replay")
        serve(place, environment)
        script = run("goodqueue", "completion", "bash")
        expect("_goodqueue_completion" in script, "bash gets its completion")
        if everything or BASH_COMPLETION.exists():
            complete(place, environment, script)
        else:
            print("left out: bash-completion is not installed")
        manuals = list((place / "venv" / "share" / "man" / "man1").glob("goodqueue*.1"))
        expect(len(manuals) > 20, f"{len(manuals)} manual pages")
        if everything or shutil.which("man"):
            read_manual(place, environment)
        else:
            print("left out: man is not installed")
        run(*pip, "uninstall", "--quiet", "--yes", "goodqueue")
        left = [str(path) for path in place.rglob("*") if "goodqueue" in path.name.lower()]
        expect(not left, f"after the removal nothing is left {left or ''}")
    print(f"the wheel works with Python {sysconfig.get_python_version()} on {platform.system()} {platform.machine()}")


def serve(place: Path, environment: dict[str, str]) -> None:
    """Start the page's server, fetch the page, and end the server."""
    program = shutil.which("goodqueue", path=environment["PATH"])
    assert program is not None
    command = [program, "serve", "--port", "0", "--no-browser", "--json"]
    with subprocess.Popen(command, cwd=place, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = json.loads(server.stdout.readline())["url"]
        with urllib.request.urlopen(address) as answer:  # noqa: S310 - the address is our server's
            expect(b"<title>" in answer.read(), "serve shows the page")
        server.terminate()


def read_manual(place: Path, environment: dict[str, str]) -> None:
    """Let man find the pages as it does for a person: by the programs in PATH."""
    path = os.pathsep.join((environment["PATH"], "/usr/bin", "/bin"))
    with_man = environment | {"PATH": path, "MANPAGER": "cat"}
    for name, says in (("goodqueue", "active queue management"), ("goodqueue-run", "Run one scenario")):
        done = subprocess.run(["man", name], cwd=place, env=with_man, check=False, capture_output=True, text=True)
        expect(says in " ".join(done.stdout.split()), f"man {name} shows its page {done.stderr.strip()}")


def complete(place: Path, environment: dict[str, str], script: str) -> None:
    """Put the completion ``script`` where `goodqueue completion` says, and press TAB in an interactive bash."""
    import pty  # Windows has none

    file = place / ".local" / "share" / "bash-completion" / "completions" / "goodqueue"
    file.parent.mkdir(parents=True)
    file.write_text(script, encoding="utf-8")
    start = place / "bashrc"
    start.write_text(f"PS1='> '\nbind 'set bell-style none'\n. {BASH_COMPLETION}\n", encoding="utf-8")
    path = os.pathsep.join((environment["PATH"], "/usr/bin", "/bin"))
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(place)
        os.execve("/bin/bash", ["bash", "--rcfile", str(start), "-i"], environment | {"PATH": path, "TERM": "dumb"})  # noqa: S606
    for keys, shown in (("goodqueue compa\t", "goodqueue compare "), ("codel --ra\t", "codel --rate ")):
        os.write(terminal, keys.encode())
        said = read_until(terminal, shown)
        expect(shown in said, f"TAB completes {keys.strip()!r} {'' if shown in said else repr(said)}".rstrip())
    os.kill(process, signal.SIGKILL)  # the line is unfinished, so a bash that is asked to end may wait for its rest
    os.waitpid(process, 0)
    os.close(terminal)
    file.unlink()


def read_until(terminal: int, text: str) -> str:
    """Return what ``terminal`` shows until it shows ``text``, or for a minute."""
    said, end = "", time.monotonic() + 60
    while text not in said and time.monotonic() < end:
        if select.select([terminal], [], [], 1)[0]:
            said += os.read(terminal, 4096).decode()
    return said


def expect(holds: bool, what: str) -> None:
    """Print ``what`` if it holds, and end the program if not."""
    if not holds:
        sys.exit(f"not so: {what}")
    print(f"ok: {what}".rstrip(), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--everything" in sys.argv[2:])
