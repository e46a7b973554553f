"""Trees of `tc` commands that Linux carried out: what goodqueue sends is what Linux sent, to the nanosecond."""

import threading
from pathlib import Path

import pytest

from goodqueue.validation.trees import comparing, drawing, job, shrinking, stored

_GOLDEN = Path(__file__).parents[2] / "golden" / "trees"


@pytest.mark.parametrize(
    ("name", "count", "departures"),
    [
        ("linux-6.1", 25, 2000),
        ("linux-7.3", 25, 2000),
        # Small trees that once differed, or whose classes and leaves change in the middle (golden/README.md).
        ("differed-6.1", 2, 30),
        ("differed-7.3", 7, 400),
    ],
)
def test_stored_trees_are_exact(name: str, count: int, departures: int) -> None:
    """Trees with Linux's answers: every departure, and what waits at the end."""
    named, trees = stored.read((_GOLDEN / f"{name}.json.gz").read_bytes())
    verdicts = {tree.number: comparing.compare(tree, answer, named) for tree, answer in trees}
    assert {number: verdict.text for number, verdict in verdicts.items() if verdict.kind != comparing.EXACT} == {}
    assert len(trees) == count
    assert sum(verdict.events for verdict in verdicts.values()) > departures


def test_a_packet_is_known_by_its_number() -> None:
    """Numbers stand where checksums do, or in the sequence numbers of what Linux may split."""
    tree = drawing.draw(3, 4, "7.3")
    sizes = [packet.size for packet in tree.packets]
    assert [job.number_of(packet.head, sizes) for packet in tree.packets] == [(n, 0) for n in range(len(sizes))]
    half = tree.with_only(tree.commands, tree.packets[1::2])
    assert [job.number_of(packet.head, sizes)[0] for packet in half.packets] == list(range(len(half.packets)))


def test_a_tree_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not matter goes: here a tree differs as long as its fifth packet and its root are there."""

    def judged(trees: list[job.Job], *_: object) -> list[tuple[job.Job, comparing.Verdict]]:
        def kind(tree: job.Job) -> str:
            there = any(packet.at == wanted.at for packet in tree.packets) and tree.commands[:1] == whole.commands[:1]
            return comparing.DIFFERS if there else comparing.EXACT

        return [(tree, comparing.Verdict(kind(tree))) for tree in trees]

    whole = drawing.draw(3, 4, "7.3")
    whole = whole.with_only(whole.commands, whole.packets, [(whole.packets[9].at, whole.commands[0])])
    wanted = whole.packets[5]
    monkeypatch.setattr(shrinking, "_judged", judged)
    shares: list[float] = []
    small, _ = shrinking.shrink(whole, "7.3", shares.append, threading.Event())
    assert (small.commands, [packet.at for packet in small.packets], small.changes) == (
        whole.commands[:1],
        [wanted.at],
        (),
    )
    assert shares == sorted(shares)
    assert shares
