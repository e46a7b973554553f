"""The package's build and run-time dependencies may be used under MIT or Apache-2.0 alike: no copyleft."""

import importlib.metadata
import json
import re
import subprocess
import tomllib

import pytest

from conftest import ROOT
from test_architecture import cargo

DENY = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
ACCEPTED = set(DENY["licenses"]["allow"])

CLASSIFIERS = {
    "Apache Software License",
    "BSD License",
    "ISC License (ISCL)",
    "MIT License",
    "Python Software Foundation License",
}
"""The licences of packages without an SPDX expression (PEP 639), by their own words."""

BY_HAND = {
    "asttokens": "Apache-2.0",
    "fonttools": "MIT",
    "partd": "BSD-3-Clause",
    "psutil": "BSD-3-Clause",
    "tqdm": "MPL-2.0 AND MIT",
    "tzdata": "Apache-2.0",
}
"""Packages whose metadata describe their licence in their own words. Each licence was looked up in the package."""


PER_FILE = {"tqdm": "MPL-2.0 AND MIT"}
"""Packages of which the MPL holds for some files. pip installs them as they are, and no file of ours is made of one."""


def is_accepted(expression: str) -> bool:
    """Return whether an SPDX expression offers a choice of accepted licences. An exception (WITH) only permits more."""
    words = re.findall(r"[()]|[\w.+-]+", re.sub(r" WITH [\w.-]+", "", expression.replace("/", " OR ")))

    def alternatives() -> bool:
        found = joined()
        while words and words[0] == "OR":
            words.pop(0)
            found = joined() or found  # both sides are parsed
        return found

    def joined() -> bool:
        found = one()
        while words and words[0] == "AND":
            words.pop(0)
            found = one() and found
        return found

    def one() -> bool:
        word = words.pop(0)
        if word != "(":
            return word in ACCEPTED
        found = alternatives()
        assert words.pop(0) == ")"
        return found

    accepted = alternatives()
    assert not words, expression
    return accepted


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT/Apache-2.0", True),
        ("GPL-2.0-or-later OR Apache-2.0", True),
        ("MIT AND LGPL-2.1-or-later", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(GPL-2.0-only OR MIT) AND MPL-2.0", False),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-2.0-only WITH Classpath-exception-2.0", False),
    ],
)
def test_an_expression_is_read_as_spdx_says(expression: str, accepted: bool) -> None:
    assert is_accepted(expression) is accepted


def test_every_crate_that_we_depend_on_is_permissive() -> None:
    for manifest in ("Cargo.toml", "fuzz/Cargo.toml", "transports/Cargo.toml", "crates/web/bindgen/Cargo.toml"):
        command = [cargo(), "metadata", "--format-version", "1", "--locked", "--manifest-path", str(ROOT / manifest)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)["packages"]
        assert len(found) > 5
        refused = {one["name"]: one["license"] for one in found if not is_accepted(one["license"] or "none")}
        assert not refused, manifest


def needed(requirements: list[str], known: set[str]) -> set[str]:
    """Return ``known`` with the packages of ``requirements`` and all their dependencies here."""
    for line in requirements:
        name = re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", line).group()).lower()  # type: ignore[union-attr]
        try:
            inner = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue  # for another system, or another Python
        if name not in known:
            known.add(name)
            needed([one for one in inner if "extra ==" not in one], known)
    return known


def test_every_python_package_that_a_user_installs_with_ours_is_permissive() -> None:
    """Packages that only the tests use (``dev``) are not distributed, so they do not count."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [one for name, lines in project["optional-dependencies"].items() if name != "dev" for one in lines]
    names = needed(project["dependencies"] + extras, set())
    assert {"numpy", "rich", "typer"} <= names
    refused = {}
    for name in sorted(names):
        data = importlib.metadata.metadata(name)
        said = data.get("License-Expression") or BY_HAND.get(name)
        classes = {one.rpartition(" :: ")[2] for one in data.get_all("Classifier") or [] if one.startswith("License")}
        if said is not None and said == PER_FILE.get(name):
            continue
        if not (is_accepted(said) if said else classes and classes <= CLASSIFIERS):
            refused[name] = said or sorted(classes) or data.get("License")
    assert not refused
