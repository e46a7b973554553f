"""Hand-written tables: everything that is accepted, to the last value, and the texts of refusals."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goodqueue.errors import UserError
from goodqueue.studies.keys import Table, load_toml, unknown
from goodqueue.studies.notes import text_in

Read = Callable[[Table], Any]


def table(**content: Any) -> Table:
    return Table(content, Path("f.toml"), "t")


@pytest.mark.parametrize(
    ("found", "read", "want"),
    [
        (5, lambda one: one.number("x", least=5), 5.0),
        (-7, lambda one: one.number("x"), -7.0),
        (1, lambda one: one.count("x"), 1),
        (10_000, lambda one: one.count("x"), 10_000),
        (True, lambda one: one.flag("x", False), True),
        (False, lambda one: one.flag("x", True), False),
        (["a", "b"], lambda one: one.texts("x"), ("a", "b")),
        ("a", lambda one: one.texts("x", lone=True), ("a",)),
        ("b", lambda one: one.choice("x", ["a", "b"]), "b"),
        (7, lambda one: one.number("y", 3.0), 3.0),
        (7, lambda one: one.texts("y", ("d",)), ("d",)),
        (7, lambda one: one.tables("y"), []),
    ],
)
def test_what_is_accepted(found: Any, read: Read, want: Any) -> None:
    assert read(table(x=found)) == want


@pytest.mark.parametrize(
    ("found", "read", "want"),
    [
        (4.9, lambda one: one.number("x", least=5), "found 4.9; accepted: a number from 5"),
        ("5", lambda one: one.number("x"), 'found "5"; accepted: a number'),
        (True, lambda one: one.number("x"), "found true; accepted: a number"),
        (float("inf"), lambda one: one.number("x"), "found Infinity; accepted: a number"),
        (0, lambda one: one.count("x"), "found 0; accepted: a whole number from 1 to 10000"),
        (10_001, lambda one: one.count("x"), "found 10001; accepted: a whole number from 1 to 10000"),
        (True, lambda one: one.count("x"), "found true; accepted: a whole number from 1 to 10000"),
        (1, lambda one: one.flag("x", False), "found 1; accepted: true or false"),
        ("a", lambda one: one.texts("x"), 'found "a"; accepted: a list of texts'),
        (["a", 7], lambda one: one.texts("x"), 'found ["a", 7]; accepted: a list of texts'),
        (7, lambda one: one.texts("x", lone=True), "found 7; accepted: a list of texts"),
        ([7], lambda one: one.tables("x"), "found [7]; accepted: a list of tables, each headed [[t.x]]"),
        (7, lambda one: one.mapping("x"), "found 7; accepted: a table"),
    ],
)
def test_what_is_refused_says_where_what_and_what_else(found: Any, read: Read, want: str) -> None:
    with pytest.raises(UserError) as refused:
        read(table(x=found))
    assert str(refused.value) == f"f.toml: t.x: {want}"


def test_a_key_that_nobody_asked_for_is_refused_with_all_that_may_be_there() -> None:
    one = table(delay=1, dellay=2, note=3)
    one.raw("delay")
    with pytest.raises(UserError) as refused:
        one.finish("note")
    assert str(refused.value) == 'f.toml: t.dellay: unknown key; did you mean "delay"? accepted: delay, note'
    one.raw("dellay")
    one.finish("note")


def test_of_many_names_twelve_are_listed() -> None:
    names = [f"n{number}" for number in range(13)]
    assert unknown("x", names[:12]) == f'found "x"; accepted: {", ".join(names[:12])}'
    assert unknown("x", names) == f'found "x"; accepted: {", ".join(names[:12])}, …'
    assert unknown("x", []) == 'found "x"; accepted: none'


@pytest.mark.parametrize(
    ("content", "want"),
    [
        (b"a = 1\nb = '\xff'\n", "line 2: found a byte that is not UTF-8; accepted: TOML in UTF-8"),
        (b"\n\xff", "line 2: found a byte that is not UTF-8; accepted: TOML in UTF-8"),
        (b"a = 1\nb =\n", "not TOML: Invalid value (at line 2, column 4)"),
        (b"# nothing", "the file is empty; accepted: a study"),
        (b"a" + b".a" * 50_000 + b" = 1", "not TOML: nested deeper than 64"),
        (None, "not found; accepted: a study"),
    ],
)
def test_a_file_that_is_no_table_says_so(tmp_path: Path, content: bytes | None, want: str) -> None:
    file = tmp_path / "f.toml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UserError) as refused:
        load_toml(file, "a study")
    assert str(refused.value) == f"{file}: {want}"


def test_a_folder_and_a_name_that_no_file_can_have_are_not_read(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="found a directory; accepted: a study"):
        load_toml(tmp_path, "a study")
    with pytest.raises(UserError, match="cannot be read: embedded null byte"):
        load_toml(Path("a\x00b"), "a study")


def test_what_has_no_end_in_a_folder_of_another_is_not_read(tmp_path: Path) -> None:
    """A link to a device took all memory, and a pipe stopped the command for ever."""
    (tmp_path / "device.toml").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.toml")
    for name in ("device", "pipe"):
        with pytest.raises(UserError, match=f"found a {name}; accepted: a study"):
            load_toml(tmp_path / f"{name}.toml", "a study")


def test_notes_are_text_or_none(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "NOTES.md")
    assert text_in(tmp_path) == ""
    (tmp_path / "NOTES.md").unlink()
    (tmp_path / "NOTES.md").write_bytes(b"\xff")
    with pytest.raises(UserError, match="not UTF-8"):
        text_in(tmp_path)
