"""Lists of the queue disciplines and the kinds of traffic."""

import json
from typing import Any

from goodqueue import _goodqueue
from goodqueue.show import reference


def qdiscs() -> list[dict[str, Any]]:
    """Return the queue disciplines as ``goodqueue list qdiscs --json`` prints them: name, summary, source, parameters.

    >>> import goodqueue as gq
    >>> codel = next(one for one in gq.qdiscs() if one["name"] == "codel")
    >>> [parameter["name"] for parameter in codel["params"]][:3]
    ['limit', 'target', 'interval']
    """
    return reference.disciplines()


def traffic_kinds() -> list[dict[str, Any]]:
    """Return the kinds of traffic as ``goodqueue list traffic --json`` prints them: name, summary and keys.

    >>> import goodqueue as gq
    >>> len(gq.traffic_kinds()) > 10
    True
    """
    found: list[dict[str, Any]] = json.loads(_goodqueue.traffic_kinds())
    return found
