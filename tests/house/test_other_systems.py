"""macOS and Windows: the simulator works there, and what needs Linux says so in one line.

Tests run on Linux, so they hide from a new Python what other systems lack. They do not show what a real one does.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import TOML

LACKING = {
    "Windows": {
        "modules": ["_posixsubprocess", "curses", "fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"],
        "os": ["O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "chown", "fork", "geteuid", "getuid", "killpg", "mkfifo",
               "sched_getaffinity", "sched_setscheduler", "setns", "setsid", "unshare"],
        "signal": ["SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGUSR1", "SIGWINCH"],
        "socket": ["AF_NETLINK", "AF_PACKET", "AF_UNIX", "SOCK_NONBLOCK"],
    },
    "Darwin": {
        "modules": [],
        "os": ["sched_getaffinity", "sched_setscheduler", "setns", "unshare"],
        "signal": [],
        "socket": ["AF_NETLINK", "AF_PACKET", "SOCK_NONBLOCK"],
    },
}  # fmt: skip
"""What each system's Python lacks of what Linux's has, as far as this project might use it."""

HIDING = """
import os, platform, signal, socket, sys
import subprocess, tempfile  # these know what system they are on
system, lacking = {system!r}, {lacking!r}
for name in lacking["modules"]:
    sys.modules[name] = None
for module in (os, signal, socket):
    for name in lacking[module.__name__]:
        if hasattr(module, name):
            delattr(module, name)
platform.system = lambda: system
sys.modules["pyroute2"] = None  # is not installed there
"""

OF_LINUX = (
    "goodqueue.engines.kernel",
    "goodqueue.engines.live",
    "goodqueue.linking.answer",
    "goodqueue.linking.carrying",
    "goodqueue.linking.doctor",
    "goodqueue.linking.view",
    "goodqueue.validation.runs",
    "goodqueue.validation.line",
    "goodqueue.validation.trees",
)
"""Modules that only verbs import which have refused other systems before."""

IMPORTING = """
import importlib, pkgutil
import goodqueue
def walk(package):
    for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
        if not found.name.startswith({of_linux!r}) and ".library" not in found.name:
            module = importlib.import_module(found.name)
            print(found.name)
            if found.ispkg:
                walk(module)
walk(goodqueue)
"""

COMMAND = """
import goodqueue.cli
goodqueue.cli.main({words!r})
"""


def there(system: str, code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run ``code`` by a Python that lacks what the ``system``'s lacks."""
    hiding = HIDING.format(system=system, lacking=LACKING[system])
    command = [sys.executable, "-c", hiding + code]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@pytest.mark.parametrize("system", LACKING)
def test_all_modules_but_the_engines_of_linux_can_be_imported(tmp_path: Path, system: str) -> None:
    done = there(system, IMPORTING.format(of_linux=OF_LINUX), tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) > 150


@pytest.mark.parametrize("system", LACKING)
def test_the_simulator_runs(tmp_path: Path, system: str) -> None:
    (tmp_path / "one.toml").write_text(TOML, encoding="utf-8")
    done = there(system, COMMAND.format(words=["run", "one.toml", "--json"]), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    here = [sys.executable, "-m", "goodqueue", "run", "one.toml", "--json"]
    same = subprocess.run(here, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert json.loads(done.stdout) == json.loads(same)


@pytest.mark.parametrize("system", LACKING)
@pytest.mark.parametrize(
    ("words", "place"),
    [
        (["link", "--", "true"], "link"),
        (["link", "doctor"], "link"),
        (["kernel", "doctor"], "kernel"),
        (["validate", "--quick"], "validate"),
        (["validate", "same-packets", "one.toml"], "validate same-packets"),
        (["validate", "drawn", "1"], "validate drawn"),
        (["validate", "trees", "1"], "validate trees"),
        (["calibrate", "--quick"], "calibrate"),
        (["run", "one.toml", "--engine", "kernel"], "--engine kernel"),
        (["run", "one.toml", "--engine", "live"], "--engine live"),
        (["compare", "codel", "pie", "--engine", "sim,kernel"], "--engine kernel"),
    ],
)
def test_what_needs_linux_says_so_in_one_line(tmp_path: Path, system: str, words: list[str], place: str) -> None:
    """Otherwise a user would see a traceback about a module that the system does not have."""
    (tmp_path / "one.toml").write_text(TOML, encoding="utf-8")
    done = there(system, COMMAND.format(words=words), tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    accepted = "accepted: Linux, since other systems have only the simulator"
    assert done.stderr == f"goodqueue: {place}: found {system}; {accepted}\n"


def test_the_help_of_a_verb_of_linux_is_shown_elsewhere(tmp_path: Path) -> None:
    done = there("Windows", COMMAND.format(words=["link", "--help"]), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "without root" in done.stdout
