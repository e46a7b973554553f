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


BARE = """#![no_std]
use goodqueue_qdisc as _;
use goodqueue_tcp as _;
use goodqueue_units as _;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"""
"""What is to be done at a panic is said once in a program; std says it, wherever in the dependencies it is named."""


@pytest.mark.parametrize(("line", "refused"), [("", False), ("extern crate std;", True)])
def test_disciplines_and_tcp_do_without_std(tmp_path: Path, line: str, refused: bool) -> None:
    """They and what they depend on, with the features that they ask for themselves: the workspace's share std's."""
    crates = ("units", "qdisc", "tcp")
    lines = [f'goodqueue-{crate} = {{ path = "{ROOT / "crates" / crate}" }}' for crate in crates]
    package = '[package]\nname = "bare"\nedition = "2024"\n[workspace]\n[dependencies]'
    (tmp_path / "Cargo.toml").write_text("\n".join([package, *lines, ""]), encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text(BARE + line, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    command = [cargo(), "check", "--quiet", "--offline", "--target-dir", str(ROOT / "target" / "no_std")]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode != 0) == refused, done.stderr
    assert ("duplicate lang item `panic_impl`" in done.stderr) == refused
