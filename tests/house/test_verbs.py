"""The comment of a function begins with a verb: docs/style.md, rule 6. `Returns` in Rust, `Return` in Python.

Of Python, ruff checks the form of the verb (D401), but takes a noun for one.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

FUNCTION = re.compile(r"\s*(pub(\([^)]*\))? )?(const |async |unsafe |extern \"C\" )*fn (?P<name>\w+)")
VERB = re.compile(r"[A-Z][a-z]+s,?")
NOUNS = {"as", "its", "this", "always", "users", "tunnels", "segments", "packets", "bytes", "flows"}
"""Words that end like a verb of Rust's comments."""
NO_VERBS = NOUNS | {"a", "all", "an", "each", "every", "for", "from", "how", "if", "one", "only", "that", "the", "what"}
NO_VERBS |= {"when", "where", "whether", "which"}


def of_rust(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and first word of each function's comment, except of tests, and of getters that Python sees."""
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        begin = number - 1
        if not FUNCTION.match(line):
            continue
        while begin and re.match(r"\s*(#\[|///)", lines[begin - 1]):
            begin -= 1
        above = [one.strip() for one in lines[begin : number - 1]]
        comment = [one.removeprefix("///").strip() for one in above if one.startswith("///")]
        if comment and not {"#[test]", "#[getter]"} & set(above):
            yield number, (comment[0].split() or [""])[0]


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and first word of each function's docstring, except of properties, fixtures and tests."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and (said := ast.get_docstring(node)):
            decorators = " ".join(map(ast.unparse, node.decorator_list))
            if not re.search(r"property|fixture", decorators) and not node.name.startswith("test_"):
                yield node.lineno, said.split()[0].strip(",:")


def nouns(path: Path) -> list[str]:
    """Return the places in ``path`` where the comment of a function does not begin with a verb."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        bad = [one for one in of_rust(text) if not VERB.fullmatch(one[1]) or one[1].lower() in NOUNS]
    else:
        bad = [one for one in of_python(text) if one[1].lower() in NO_VERBS or one[1].endswith("'s")]
    return [f"{path}:{line}: {word}" for line, word in bad]


def test_every_comment_of_a_function_begins_with_a_verb() -> None:
    rust = sorted(ROOT.glob("crates/*/src/**/*.rs"))
    python = [
        path
        for room in ("python", "tools", "experiments", "tests", "benches")
        for path in sorted((ROOT / room).rglob("*.py"))
    ]
    assert len(rust) > 300
    assert len(python) > 200
    found = [place for path in (*rust, *python) for place in nouns(path)]
    assert not found, f"docs/style.md, rule 6: {len(found)} functions\n" + "\n".join(found)


def test_a_noun_is_found_and_a_verb_is_not(tmp_path: Path) -> None:
    rust = tmp_path / "a.rs"
    rust.write_text(
        "/// Whether it is.\nfn a() {}\n"
        "/// As [`a`].\n#[inline]\npub(crate) const fn b() {}\n"
        "/// Returns it,\n/// whether or not.\npub fn c() {}\n"
        "/// RFC 9293: not twice.\n#[test]\nfn d() {}\n"
        "/// The rate.\nstruct E;\n// Whether.\nfn f() {}\n",
        encoding="utf-8",
    )
    assert [place.rpartition("a.rs:")[2] for place in nouns(rust)] == ["2: Whether", "5: As"]
    python = tmp_path / "a.py"
    python.write_text(
        'def a():\n    """The rate."""\ndef b():\n    """Return it."""\ndef test_c():\n    """A rate."""\n'
        'class D:\n    @property\n    def e(self):\n        """A rate."""\n',
        encoding="utf-8",
    )
    assert [place.rpartition("a.py:")[2] for place in nouns(python)] == ["1: The"]
