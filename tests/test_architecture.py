"""The arrows between the crates point one way (ARCHITECTURE.md)."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: Which crates of ours each crate may know.
KNOWS = {
    "units": set(),
    "qdisc": {"units"},
    "tcp": {"units"},
    "netsim": {"units", "qdisc", "tcp"},
    "conformance": {"units", "qdisc"},
    "capi": {"units", "qdisc"},
    "capture": set(),
    "trace": {"units", "qdisc", "tcp", "netsim", "capture"},
    "python": {"units", "qdisc", "tcp", "netsim", "conformance", "capture", "trace"},
}


def cargo() -> str:
    """Cargo's path; a checkout's tests need it, as its build does."""
    path = shutil.which("cargo")
    if path is None:
        pytest.fail("cargo is not on PATH")
    return path


def test_arrows_point_one_way() -> None:
    command = [cargo(), "metadata", "--format-version", "1", "--no-deps", "--offline"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    ours = {
        package["name"].removeprefix("goodqueue-"): {
            dependency["name"].removeprefix("goodqueue-")
            for dependency in package["dependencies"]
            if dependency["name"].startswith("goodqueue-") and dependency["kind"] is None
        }
        for package in metadata["packages"]
    }
    assert ours.keys() == KNOWS.keys(), "a crate is missing in the list above, and in ARCHITECTURE.md"
    for crate, dependencies in ours.items():
        assert dependencies <= KNOWS[crate], f"{crate} must not know {dependencies - KNOWS[crate]}"


def test_disciplines_and_tcp_do_without_std() -> None:
    for crate in ("units", "qdisc", "tcp"):
        text = (ROOT / "crates" / crate / "src" / "lib.rs").read_text(encoding="utf-8")
        assert "#![no_std]" in text, f"{crate} is to be usable where there is no std"


def test_only_disciplines_that_hold_any_other_know_the_registry() -> None:
    """Else a parameter's file could not be read without the table of all disciplines, which could not be without it."""
    source = ROOT / "crates" / "qdisc" / "src"
    names = re.compile(r"\b(registry|AnyQdisc|parse_line)\b")
    tests = re.compile(r"^#\[cfg\(test\)\]\n(mod tests \{|fn ).*", re.DOTALL | re.MULTILINE)
    comment = re.compile(r"//.*")
    know = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.rs")
        if path.name != "tests.rs" and names.search(tests.sub("", comment.sub("", path.read_text(encoding="utf-8"))))
    }
    assert know == {"lib.rs", "registry.rs", "sched/htb.rs", "sched/tbf.rs"}
