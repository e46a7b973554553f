"""The published crates: each is usable from its README alone, and requires no newer Rust than it declares."""

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from test_architecture import cargo

PUBLISHED = ["units", "qdisc", "tcp", "hosts", "netsim", "bottleneck"]

MANIFEST = """
[package]
name = "stranger-of-{crate}"
edition = "2024"
[dependencies]
goodqueue-{crate} = {{ path = "{path}" }}
[profile.dev]
debug = false
incremental = false
[workspace]
"""


@pytest.mark.long
@pytest.mark.parametrize("crate", PUBLISHED)
def test_the_example_of_a_readme_is_a_program_that_needs_that_crate_alone(tmp_path: Path, crate: str) -> None:
    """Otherwise a stranger would have to find the other crates to name, and the missing parts of the example."""
    path = ROOT / "crates" / crate
    (tmp_path / "src").mkdir()
    (tmp_path / "Cargo.toml").write_text(MANIFEST.format(crate=crate, path=path), encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    (example,) = re.findall("^```rust\n(.*?)^```$", (path / "README.md").read_text(encoding="utf-8"), re.DOTALL | re.M)
    (tmp_path / "src" / "main.rs").write_text(example, encoding="utf-8")
    command = [cargo(), "run", "--quiet", "--offline", "--target-dir", str(ROOT / "target" / "strangers")]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "an example that warns is not one to follow"
    assert done.stdout, "it shows nothing"


def test_only_what_is_meant_for_others_can_be_published() -> None:
    """Otherwise `cargo publish --workspace` would publish bindings and tools that nobody can use from there."""
    command = [cargo(), "metadata", "--format-version", "1", "--no-deps", "--offline"]
    packages = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)["packages"]
    published = [package for package in packages if package["publish"] is None]
    assert {package["name"] for package in published} == {f"goodqueue-{crate}" for crate in PUBLISHED}
    for package in published:
        assert all(package[key] for key in ("description", "license", "readme", "keywords", "categories")), package
        files = subprocess.run(
            [cargo(), "package", "--list", "--allow-dirty", "--offline", "--package", package["name"]],
            cwd=ROOT, check=True, capture_output=True, text=True,
        ).stdout.splitlines()  # fmt: skip
        assert {"README.md", "LICENSE-MIT", "LICENSE-APACHE"} <= set(files)


def test_the_version_that_dependents_ask_for_is_the_workspace_s() -> None:
    """Otherwise a published crate would ask the registry for a version that it was not tested with."""
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    asked = {f"goodqueue-{crate}": workspace["dependencies"][f"goodqueue-{crate}"]["version"] for crate in PUBLISHED}
    assert asked == dict.fromkeys(asked, workspace["package"]["version"])


def test_no_dependency_needs_a_newer_rust_than_is_promised() -> None:
    """Clippy (`incompatible_msrv`) checks what our code needs from the standard library. This checks dependencies."""
    command = [cargo(), "metadata", "--format-version", "1", "--offline", "--locked"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)

    def numbers(version: str) -> tuple[int, ...]:
        return tuple(int(part) for part in version.split("."))

    (promised,) = {package["rust_version"] for package in metadata["packages"] if package["source"] is None}
    asked = {package["name"]: package["rust_version"] for package in metadata["packages"] if package["rust_version"]}
    assert {name: version for name, version in asked.items() if numbers(version) > numbers(promised)} == {}
