"""matplotlib reads a ``matplotlibrc`` in the working folder as soon as it is imported."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Result


@pytest.mark.parametrize("is_pipe", [True, False])
def test_settings_that_nobody_can_read_are_one_line(
    here: Path, goodqueue: Callable[..., Result], is_pipe: bool
) -> None:
    if is_pipe:
        os.mkfifo("matplotlibrc")
    else:
        Path("matplotlibrc").write_bytes(b"font.size: 9\xff\n")
    found = goodqueue("plot", "cdf", "ok.toml", "--out", "x.svg")
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert found.err.startswith("goodqueue: matplotlibrc: ")
