"""CONTRIBUTING.md's recipes for a kind of traffic and a kind of hop: their code is built and run here."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from test_architecture import cargo


@dataclass(frozen=True)
class Recipe:
    """The content of a section of the page."""

    file: str
    code: str
    word: str
    macro: str
    listed_in: str
    scenario: str

    @classmethod
    def read(cls, heading: str) -> "Recipe":
        """Read the recipe below ``heading``."""
        page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
        section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        parts = [
            r"\*\*1\. The file\*\*, `(?P<file>[^`]+)`",
            r"^```rust,ignore\n(?P<code>.*?)^```$",
            r"\*\*2\. The word\*\*, `(?P<word>\w+)` in the list `(?P<macro>\w+)!` of `(?P<listed_in>[^`]+)`",
            r"^```toml\n(?P<scenario>.*?)^```$",
        ]
        found = re.search(".*?".join(parts), section, re.DOTALL | re.MULTILINE)
        assert found, f"the section {heading!r} has not what this test follows"
        return cls(**found.groupdict())

    def follow(self, tree: Path) -> None:
        """Follow the recipe in ``tree``: write the file, and add the word."""
        path = tree / self.file
        assert not path.exists()
        path.write_text(self.code, encoding="utf-8")
        listed_in = tree / self.listed_in
        text, count = re.subn(
            rf"^{self.macro}!\(\s*", rf"\g<0>{self.word}, ", listed_in.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        assert count == 1
        listed_in.write_text(text, encoding="utf-8")


CHANGED = ("hosts", "netsim", "trace", "gateway", "sockets", "python")
"""What the recipes change, and the crates between that and Python. The others are built once for all trees."""


def add_a_number(tree: Path) -> None:
    """Follow the recipe for a number of the record: each block of code goes into its file, after a line there."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("\n## Add a number to the record\n")[2].partition("\n## ")[0]
    step = re.compile(r"in `([^`]+)`, after `([^`]+)`:\n\n```rust,ignore\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    steps = step.findall(section)
    assert len(steps) == 2, "the recipe has not what this test follows"
    for file, line, code in steps:
        text = (tree / file).read_text(encoding="utf-8")
        (tree / file).write_text(text.replace(f"{line}\n", f"{line}\n{code}", 1), encoding="utf-8")


def built(tree: Path, recipes: Sequence[Recipe]) -> Path:
    """Follow ``recipes`` in a copy of the crates in ``tree``. Return a folder with the package and its extension."""
    for name in CHANGED:
        shutil.copytree(ROOT / "crates" / name, tree / "crates" / name)
    shutil.copy(ROOT / "Cargo.lock", tree)
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    members = ", ".join(f'"crates/{name}"' for name in CHANGED)
    workspace = re.sub(r"members = \[.*?\]", f"members = [{members}]", workspace, flags=re.DOTALL)
    workspace = re.sub(rf'path = "(?!crates/({"|".join(CHANGED)})")', f'path = "{ROOT}/', workspace)
    (tree / "Cargo.toml").write_text(workspace)
    for recipe in recipes:
        recipe.follow(tree)
    add_a_number(tree)
    target = ROOT / "target" / "recipes"
    command = [cargo(), "build", "--quiet", "--offline", "--package", "goodqueue-python", "--target-dir", str(target)]
    env = os.environ | {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
    done = subprocess.run(command, cwd=tree, check=False, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "a recipe that warns is not one to follow"
    package = tree / "python" / "goodqueue"
    package.mkdir(parents=True)
    for file in (ROOT / "python" / "goodqueue").iterdir():
        if not file.name.startswith(("_goodqueue.", "__pycache__")):
            (package / file.name).symlink_to(file)
    (made,) = target.glob("debug/lib_goodqueue.*[!d]")
    shutil.copy(made, package / "_goodqueue.abi3.so")
    return package.parent


@dataclass(frozen=True)
class Changed:
    """The command line of the changed tree."""

    package: Path
    here: Path

    def run(self, *words: str, refused: bool = False) -> str:
        """Return what ``goodqueue`` with ``words`` prints: its results, or the line of a refusal."""
        command = [sys.executable, "-m", "goodqueue", *words]
        environment = os.environ | {"PYTHONPATH": str(self.package), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=self.here, env=environment, check=False, capture_output=True, text=True)
        assert done.returncode == (2 if refused else 0), done.stderr
        assert refused or not done.stderr
        return done.stderr if refused else done.stdout

    def json(self, *words: str) -> Any:
        """Return what it prints as JSON."""
        return json.loads(self.run(*words))


def key_names(kind: dict[str, Any]) -> list[str]:
    """Return the names of the keys that a kind has beside those of all kinds."""
    return [key["name"] for key in kind["keys"]]


@pytest.mark.long
def test_a_kind_of_traffic_and_a_kind_of_hop_are_a_file_and_a_word_each(
    tmp_path: Path,
) -> None:
    """If more were necessary, the page's reader would get a compiler's error, or a kind that no list contains."""
    traffic, hop = Recipe.read("Add a kind of traffic"), Recipe.read("Add a kind of hop")
    package = built(tmp_path, [traffic, hop])
    here = tmp_path / "here"
    here.mkdir()
    goodqueue = Changed(package, here)

    shared = ["cc", "stack", "ecn", "dscp", "initial_window", "ack_every", "mss"]
    assert key_names(goodqueue.json("list", "traffic", "connect", "--json")) == ["interval", *shared]
    assert key_names(goodqueue.json("list", "hops", "policer", "--json")) == ["rate", "burst"]
    assert "policer" in goodqueue.run("list", "hops")
    assert "what passes in the long run" in goodqueue.run("list", "hops", "policer")
    schemas = goodqueue.json("schema")["$defs"]
    assert schemas["traffic.connect"]["properties"]["interval"]["default"] == "100ms"
    assert schemas["hop.policer"]["required"] == ["name", "kind", "rate"]

    for recipe in (traffic, hop):
        (here / f"{recipe.word}.toml").write_text(recipe.scenario, encoding="utf-8")
        (here / f"{recipe.word}.json").write_text(goodqueue.run("run", f"{recipe.word}.toml", "--json"))
    with_connects = json.loads((here / "connect.json").read_text())
    (connect,) = with_connects["apps"]
    assert connect["kind"] == "connect"
    # 40 ms of path, and up to 100 packets of 1.2 ms before each SYN-ACK.
    assert connect["count"] > 20
    assert 40 < connect["handshake_ms"]["mean"] < 40 + 122
    assert [flow["kind"] for flow in with_connects["flows"]] == ["bulk"], "a probe is no flow that carries data"

    policed = json.loads((here / "policer.json").read_text())
    (edge,) = policed["hops"]
    packets = edge["packets"]
    assert (edge["name"], edge["kind"]) == ("edge", "policer")
    assert packets["offered"] == packets["delivered"] + packets["lost"] > 1000
    assert packets["lost"] > 0
    assert policed["flows"][0]["goodput_mbps"] < 8

    assert "Hops: policers" in goodqueue.run("run", "policer.toml")
    goodqueue.run("report", "policer.json", "--out", "page.html")
    assert "a policer at 8mbit" in (here / "page.html").read_text(encoding="utf-8")
    goodqueue.run("plot", "bar", "policer.json", "--metric", "drop_percent", "--out", "bar.svg")
    assert (here / "bar.svg").stat().st_size > 1000
    goodqueue.run("compare", "codel", "pie", "--scenario", "policer.toml", "--seeds", "1", "--out", "compared")
    refusal = goodqueue.run("run", "policer.toml", "--engine", "kernel", refused=True)
    assert 'hop[0].kind: found "policer"; accepted by the kernel engine: link, wire' in refusal

    assert policed["queues"]["down"]["forwarded_bytes"] > 0
    goodqueue.run("plot", "bar", "policer.json", "--metric", "queues.down.forwarded_bytes", "--out", "bytes.svg")
