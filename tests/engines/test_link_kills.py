"""A few kills of links at random moments. `link_kills` says what is killed, and kills more if it is asked to."""

import os

import pytest

import link_kills

KILLS = int(os.environ.get("GOODQUEUE_KILLS", "3"))

pytestmark = pytest.mark.needs("link", "unnamed")


@pytest.mark.long
# Not link_kills.work: the folder of an engine's run stays until the next run if the outermost command is killed.
@pytest.mark.parametrize("kind", [link_kills.nested, link_kills.containers])
def test_nothing_is_lost_and_nothing_is_left(kind: link_kills.Kind) -> None:
    assert len(link_kills.kill(KILLS, seed=36, kinds=[kind])) == KILLS
