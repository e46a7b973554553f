"""A transfer without a time has an explanation: it fell into the warm-up, which statistics omit."""

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result
from goodqueue import running
from goodqueue.record import Record
from goodqueue.scenario import warmup

ENDED = "ended in the warm-up (first 4s), which is left out; --set warmup=0s or repeat"
BEGAN = "began in the warm-up (first 4s), which is left out; --set warmup=0s"

LINK = """
duration = "14s"
warmup = "4s"
[bottleneck]
rate = "10mbit"
qdisc = "codel"
[path]
rtt = "20ms"
"""
TRANSFER = '[[traffic]]\nkind = "transfer"\nname = "{}"\nsize = "{}"\n{}\n'


def asked(*transfers: str, **changes: str) -> str:
    text = LINK
    for key, value in changes.items():
        text = text.replace(next(line for line in LINK.splitlines() if line.startswith(key)), f'{key} = "{value}"')
    return text + "".join(transfers)


SHORT = TRANSFER.format("short", "100kB", "")
LATER = TRANSFER.format("later", "100kB", 'start = "5s"')
ACROSS = TRANSFER.format("across", "5MB", "")  # takes somewhat more than 4 s
GAPS = TRANSFER.format("gaps", "100kB", 'interval = "1000s"')  # the next transfer comes later


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (asked(SHORT), [f"short/0: {ENDED}"]),
        (asked(LATER), []),
        (asked(SHORT, LATER, ACROSS), [f"short/0: {ENDED}", f"across/0: {BEGAN}"]),
        (asked(GAPS), [f"gaps/0: {BEGAN}"]),
        (asked(TRANSFER.format("f", "9kB", "count = 5")), [f"f/0, f/1, f/2 and 2 more: {ENDED}"]),
        (asked(SHORT, warmup="0s"), []),
        (asked('[[traffic]]\nkind = "page"\npage = "google"\nrepeat = 1\n'), [f"page/0: {ENDED}"]),
    ],
    ids=["ended", "measured", "went on", "between two", "many", "no warm-up", "page"],
)
def test_what_is_left_out_is_named(
    text: str, expected: list[str], here: Path, goodqueue: Callable[..., Result]
) -> None:
    (here / "w.toml").write_text(text, encoding="utf-8")
    out = goodqueue("run", "w.toml").out
    flat = " ".join(out.split())  # a long note is broken at the page's width
    assert [note for note in expected if note not in flat] == []
    assert flat.count("in the warm-up") == len(expected)


@pytest.fixture(scope="module")
def ended() -> Record:
    import tomllib

    return running.one(tomllib.loads(asked(SHORT)))


def older(record: Record) -> Record:
    """Return a copy of ``record`` as it was before applications counted what is undone."""
    copied = copy.deepcopy(record)
    for app in copied["apps"]:
        del app["never_started"], app["unfinished"]
    return copied


@pytest.mark.parametrize("undone", ["never_started", "unfinished"])
def test_a_transfer_that_is_undone_has_not_ended(ended: Record, undone: str) -> None:
    assert warmup.notes(ended) == [f"short/0: {ENDED}"]
    cut = copy.deepcopy(ended)
    cut["apps"][0][undone] = 1  # type: ignore[literal-required]
    assert warmup.notes(cut) == [f"short/0: {BEGAN}"]


def test_a_transfer_that_is_still_tried_has_not_ended(ended: Record) -> None:
    assert warmup.notes(older(ended)) == [f"short/0: {ENDED}"]
    for key in ("bytes_sent", "retransmitted", "timeouts"):
        tried = older(ended)
        tried["flows"][0][key] = 1  # type: ignore[literal-required]
        assert warmup.notes(tried) == [f"short/0: {BEGAN}"], key
        tried["flows"][0][key] = None  # type: ignore[literal-required]
        assert warmup.notes(tried) == [f"short/0: {BEGAN}"], f"{key} is not known"


def test_a_silence_that_a_timer_may_outlast_proves_no_end(ended: Record) -> None:
    soon = older(ended)
    soon["scenario"]["duration"] = "11s"  # 7 s are measured, of which 4 + 3 may pass before the next retransmission
    assert warmup.notes(soon) == [f"short/0: {BEGAN}"]
