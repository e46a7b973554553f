"""Trees of `tc` commands that Linux carried out: what goodqueue sends is what Linux sent, to the nanosecond."""

from pathlib import Path

import pytest

from goodqueue.validation.trees import comparing, drawing, job, stored

_GOLDEN = Path(__file__).parents[2] / "golden" / "trees"


@pytest.mark.parametrize("release", ["6.1", "7.3"])
def test_stored_trees_are_exact(release: str) -> None:
    """25 trees of each release, with Linux's answers: every departure, and what waits at the end."""
    named, trees = stored.read((_GOLDEN / f"linux-{release}.json.gz").read_bytes())
    verdicts = {tree.number: comparing.compare(tree, answer, named) for tree, answer in trees}
    assert {number: verdict.text for number, verdict in verdicts.items() if verdict.kind != comparing.EXACT} == {}
    assert len(trees) == 25
    assert sum(verdict.events for verdict in verdicts.values()) > 2000


def test_a_packet_is_known_by_its_number() -> None:
    """Numbers stand where checksums do, or in the sequence numbers of what Linux may split."""
    tree = drawing.draw(3, 4, "7.3")
    sizes = [packet.size for packet in tree.packets]
    assert [job.number_of(packet.head, sizes) for packet in tree.packets] == [(n, 0) for n in range(len(sizes))]
    half = tree.with_only(tree.commands, tree.packets[1::2])
    assert [job.number_of(packet.head, sizes)[0] for packet in half.packets] == list(range(len(half.packets)))
