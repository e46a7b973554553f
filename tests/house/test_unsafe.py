"""SECURITY.md names each place of ours that has `unsafe`, and no other."""

import re
import tomllib

import pytest

from conftest import ROOT

PLACE = re.compile(r"^\| `((?:crates|transports)/[^`]+)` \|", re.MULTILINE)
WORD = re.compile(r"\bunsafe\b(?!_)")
ALLOWED = re.compile(r"allow\((?:[a-z_]+, )*unsafe_code\b")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


def code(text: str) -> str:
    """Return Rust without its comments."""
    return re.sub(r"//.*", "", text)


@pytest.mark.needs("checkout")
def test_unsafe_code_is_where_security_md_says() -> None:
    page = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    places = PLACE.findall(page)
    found = set()
    for workspace in ("crates", "transports"):
        for file in sorted((ROOT / workspace).rglob("src/**/*.rs")):
            name, text = file.relative_to(ROOT).as_posix(), code(file.read_text(encoding="utf-8"))
            if "/target/" not in name and (WORD.search(text) or ALLOWED.search(text)):
                found.add(next((place for place in places if name == place or name.startswith(f"{place}/")), name))
    assert found == set(places)
    assert f"except in these {NUMBERS[len(places)]} places" in page


@pytest.mark.needs("checkout")
def test_only_the_c_interface_allows_unsafe_code_as_a_whole() -> None:
    allow = {
        manifest.parent.name
        for manifest in (ROOT / "crates").glob("*/Cargo.toml")
        if tomllib.loads(manifest.read_text(encoding="utf-8")).get("lints", {}).get("rust", {}).get("unsafe_code")
    }
    assert allow == {"capi"}
