"""Scenario values that depend on a second parameter: ``{rtt_ms*48+120000}ms`` is 48 round trips and two minutes."""

import re
from collections.abc import Iterator

from goodqueue.studies.published import At

_PRODUCT = re.compile(r"\{(?P<name>\w+)\*(?P<factor>\d+)(?:\+(?P<more>\d+))?\}")


def names(text: str) -> Iterator[str]:
    """Yield the parameters that ``text`` depends on."""
    return (found["name"] for found in _PRODUCT.finditer(text))


def filled(text: str, point: At) -> str:
    """Return ``text`` with the numbers of ``point``."""

    def number(found: re.Match[str]) -> str:
        return f"{float(point[found['name']]) * int(found['factor']) + int(found['more'] or 0):.12g}"

    return _PRODUCT.sub(number, text)
