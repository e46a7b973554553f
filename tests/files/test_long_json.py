"""A long list is written as Python's own writer of JSON writes it, without being in memory."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodqueue.files import long_json

LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=6), inner), max_leaves=20
)


def _text(data: dict[str, Any], *, is_indented: bool) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1 if is_indented else None) + "\n"


@given(st.dictionaries(st.text(max_size=6), VALUES), st.lists(VALUES), st.booleans())
def test_it_is_what_json_dumps_gives(data: dict[str, Any], items: list[Any], is_indented: bool) -> None:
    """Pieces of a table with a long list somewhere in it, joined, beside the text of the whole."""
    whole = {"first": 1.0, "cells": items, **data}
    long = {"first": 1.0, "cells": long_json.Each(lambda: items), **data}
    if "cells" in data:
        long["cells"] = data["cells"]
    assert "".join(long_json.pieces(long, is_indented)) == _text(whole, is_indented=is_indented)


@pytest.mark.parametrize("is_indented", [True, False])
def test_a_long_list_comes_in_pieces(is_indented: bool) -> None:
    """A hundred thousand items are no piece, and the next item is made only when it is asked for."""
    made = 0

    def items() -> Any:
        nonlocal made
        for made in range(100_000):
            yield {"at": made}

    pieces = long_json.pieces({"cells": long_json.Each(items)}, is_indented)
    assert len(next(pieces)) < 2 * long_json.TOGETHER
    assert made < 20_000
    assert json.loads("".join([*long_json.pieces({"cells": long_json.Each(items)}, is_indented)]))["cells"][-1] == {
        "at": 99_999
    }
