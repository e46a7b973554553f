"""CONTRIBUTING.md's recipes for a kind of traffic and a kind of hop: their code is built and run here."""

import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from goodqueue.show import reference, schema
from test_architecture import cargo

PROGRAM = """
use goodqueue_netsim::scenario::reference::TABLES;
use goodqueue_netsim::{Scenario, Simulation};

fn main() {
    let records = std::env::args().skip(1).map(|text| {
        let mut simulation = Simulation::new(Scenario::from_json(&text).unwrap()).unwrap();
        simulation.run();
        simulation.record()
    });
    let records: Vec<_> = records.collect();
    println!("{}", serde_json::json!({"tables": TABLES, "records": records}));
}
"""
"""Prints the reference of all tables, and the record of each scenario."""

MANIFEST = """
[package]
name = "stranger"
edition = "2024"
[dependencies]
goodqueue-netsim = { workspace = true }
serde_json = { workspace = true }
"""


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

    def asked(self) -> str:
        """Return the scenario as the core reads it."""
        return json.dumps(tomllib.loads(self.scenario))


def built_and_run(tree: Path, recipes: Sequence[Recipe]) -> dict[str, Any]:
    """Follow ``recipes`` in a copy of the simulator in ``tree``, and return the program's output."""
    netsim = "crates/netsim"
    shutil.copytree(ROOT / netsim / "src", tree / netsim / "src")
    for name in ("Cargo.toml", "README.md"):
        shutil.copy(ROOT / netsim / name, tree / netsim)
    (tree / netsim / "tests").mkdir()
    (tree / netsim / "tests" / "all.rs").touch()  # Cargo.toml names it
    shutil.copy(ROOT / "Cargo.lock", tree)
    workspace = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    workspace = re.sub(r"members = \[.*?\]", f'members = ["{netsim}", "stranger"]', workspace, flags=re.DOTALL)
    # Only the simulator changes. The crates below it are built once, beside other builds.
    workspace = re.sub(rf'path = "(?!{netsim}")', f'path = "{ROOT}/', workspace)
    (tree / "Cargo.toml").write_text(workspace + "\n[profile.dev]\ndebug = false\nincremental = false\n")
    (tree / "stranger" / "src").mkdir(parents=True)
    (tree / "stranger" / "Cargo.toml").write_text(MANIFEST, encoding="utf-8")
    (tree / "stranger" / "src" / "main.rs").write_text(PROGRAM, encoding="utf-8")
    for recipe in recipes:
        recipe.follow(tree)
    command = [cargo(), "run", "--quiet", "--offline", "--package", "stranger"]
    command += ["--target-dir", str(ROOT / "target" / "recipes"), "--", *(recipe.asked() for recipe in recipes)]
    done = subprocess.run(command, cwd=tree, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "a recipe that warns is not one to follow"
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def key_names(table: str, kind: str) -> list[str]:
    """Return the keys that the reference lists for a kind of ``table``, in its order."""
    kinds: list[Mapping[str, Any]] = next(one["kinds"] for one in reference.tables() if one["name"] == table)
    return [key["name"] for key in next(one["keys"] for one in kinds if one["name"] == kind)]


@pytest.mark.long
def test_a_kind_of_traffic_and_a_kind_of_hop_are_a_file_and_a_word_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If more were necessary, the page's reader would get a compiler's error, or a kind that no list contains."""
    traffic, hop = Recipe.read("Add a kind of traffic"), Recipe.read("Add a kind of hop")
    printed = built_and_run(tmp_path, [traffic, hop])

    monkeypatch.setattr(reference, "tables", lambda: printed["tables"])
    shared = ["cc", "stack", "ecn", "dscp", "initial_window", "ack_every", "mss"]
    assert key_names("[traffic]", "connect") == ["interval", *shared]
    assert key_names("[hop]", "policer") == ["rate", "burst"]
    headings = [heading for heading, _, _ in reference.headings()]
    assert {'kind = "connect"', 'kind = "policer"'} <= set(headings)
    schemas = schema.scenario()["$defs"]
    assert schemas["traffic.connect"]["properties"]["interval"]["default"] == "100ms"
    assert schemas["hop.policer"]["required"] == ["name", "kind", "rate"]

    with_connects, policed = printed["records"]
    (connect,) = with_connects["apps"]
    assert connect["kind"] == "connect"
    # 40 ms of path, and up to 100 packets of 1.2 ms before each SYN-ACK.
    assert connect["count"] > 20
    assert 40 < connect["handshake_ms"]["mean"] < 40 + 122
    assert [flow["kind"] for flow in with_connects["flows"]] == ["bulk"], "a probe is no flow that carries data"

    (edge,) = policed["hops"]
    packets = edge["packets"]
    assert (edge["name"], edge["kind"]) == ("edge", "policer")
    assert packets["offered"] == packets["delivered"] + packets["lost"] > 1000
    assert packets["lost"] > 0
    assert policed["flows"][0]["goodput_mbps"] < 8
