"""The refusal of a key in a file tells its line."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import _goodqueue

TEXT = """# 1: a comment
duration = "4s"
seed = 1

[bottleneck.up]
rate = "1mbit"
[bottleneck]
rate = "10mbit"
qdisc = "codel"
buffer = { bdp = 1, min_packets = 2 }

[path]
rtt = "20ms"

[[traffic]]
kind = "bulk"

[[traffic]]
kind = "page"
objects = [
    { response = "1kB" },
    { response = "2kB", host = "a" },
]
"""


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("duration", 2),
        ("bottleneck.rate", 8),
        ("bottleneck.up.rate", 6),
        ("bottleneck.buffer.bdp", 10),
        ("bottleneck.nonsense", 7),
        ("bottleneck.up.qdisc", 5),
        ("bottleneck", 7),
        ("traffic[0]", 15),
        ("traffic[0].cc", 15),
        ("traffic[1].kind", 19),
        ("traffic[1].cc", 18),
        ("traffic[1].objects[1].host", 22),
        ("traffic[1].objects[0].request", 21),
        ("warmup", None),
        ("traffic[2].cc", None),
        ("series.packets.from", None),
        ("path.rtt.more.still", None),
        ("", None),
    ],
)
def test_a_key_has_a_line(key: str, line: int | None) -> None:
    assert _goodqueue.toml_line(TEXT, key) == line


def test_no_toml_has_no_lines() -> None:
    assert _goodqueue.toml_line("= = =", "a") is None


def test_characters_of_several_bytes_do_not_move_lines() -> None:
    assert _goodqueue.toml_line('# ü─▶\r\na = "é"\r\nb = 1', "b") == 3


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('rtt = "20ms"', "rtt = 20", "l.toml:13: path.rtt: found the bare number 20; accepted: a time with its unit"),
        ('kind = "bulk"', 'kind = "bulk"\ncc = "rhino"', "l.toml:17: traffic[0].cc: "),
        ('response = "2kB"', 'response = "0B"', "l.toml:22: traffic[1].objects[1].response: "),
        ('kind = "bulk"', 'kind = "rr"', "l.toml:15: traffic[0].request: missing; accepted: a size such as"),
        ('duration = "4s"', "", "l.toml: duration: missing; accepted: a time such as"),
    ],
    ids=["key", "in a list of tables", "in a list of values", "missing", "missing at the top"],
)
def test_a_refusal_names_the_line(
    old: str, new: str, expected: str, here: Path, goodqueue: Callable[..., Result]
) -> None:
    text = TEXT.replace("buffer = { bdp = 1, min_packets = 2 }", "")
    assert old in text
    (here / "l.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    result = goodqueue("run", "l.toml")
    assert result.status == 2
    assert result.err.startswith(f"goodqueue: {expected}"), result.err


def test_what_came_from_an_option_has_no_line(here: Path, goodqueue: Callable[..., Result]) -> None:
    (here / "l.toml").write_text(TEXT, encoding="utf-8")
    result = goodqueue("run", "l.toml", "--set", "path.rtt=20")
    assert result.err.startswith("goodqueue: --set path.rtt: found the bare number 20")
