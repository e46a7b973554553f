"""Captures as people have them: every link type, tag and tunnel, cut, compressed, and with TCP as it arrives."""

import gzip
import json
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import captures
from captures import ACK, ETHERNET, FIN, RST, SYN, WAYS, Frame, Segment
from conftest import Result
from goodqueue import _goodqueue

SENDS = [[">", 100, 9000], ["<", 3000, 8000]]
"""What the ends of `captures.connection` send, and wait for. A capture at the client: the path has no part in its wait."""


def read(folder: Path, content: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the connections of a capture, and the counts of what else it has."""
    (folder / "some.pcap").write_bytes(content)
    connections, others = _goodqueue.connection_vectors(str(folder / "some.pcap"))
    return [json.loads(one) for one in connections], json.loads(others)


def carried(folder: Path, content: bytes) -> list[tuple[int, int]]:
    """Return the bytes up and down of each connection. Fails if a frame was not understood."""
    connections, others = read(folder, content)
    assert (others["not_understood"], others["other"], others["partial"], others["cut"]) == ({}, 0, 0, False), others
    return [bytes_of(one) for one in connections]


def bytes_of(one: dict[str, Any]) -> tuple[int, int]:
    """Return the bytes of a connection up and down."""
    up, down = (sum(size for way, size, _ in one["sends"] if way == end) for end in "><")
    return up, down


@pytest.mark.parametrize("way", WAYS)
def test_a_connection_is_found_in_every_wrapping(tmp_path: Path, way: str) -> None:
    link, wrap = WAYS[way]
    connections, others = read(tmp_path, captures.pcap(captures.frames(captures.connection(), wrap), link))
    assert [one["sends"] for one in connections] == [SENDS]
    assert (connections[0]["rtt_us"], connections[0]["concurrent"]) == (40_000, False)
    assert (others["tcp"], others["not_understood"], others["other"]) == (others["frames"], {}, 0)
