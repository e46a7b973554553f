"""The median response time of web users near a size, on hand-made samples."""

from typing import Any, cast

import own_numbers
from goodqueue.record import Record

numbers = own_numbers.of("studies/le2003")


def sampled(**samples: Any) -> Record:
    samples = {"timeout": [False] * len(samples["bytes"]), **samples}
    return cast("Record", {"series": {"web_users": [{"name": "web/0", **samples}]}})


def test_a_quarter_more_or_less_is_near_and_nothing_else_is() -> None:
    record = sampled(bytes=[75, 100, 125, 74, 126], response_ms=[1.0, 50.0, 9.0, 700.0, 800.0])
    assert numbers.response_near_ms(record, {"bytes": 100.0}) == 9.0


def test_without_a_response_near_the_size_there_is_no_number() -> None:
    assert numbers.response_near_ms(sampled(bytes=[10], response_ms=[1.0]), {"bytes": 100.0}) is None
    assert numbers.response_near_ms(cast("Record", {}), {"bytes": 100.0}) is None


def test_a_late_response_is_compared_with_those_of_another_size_or_with_late_ones() -> None:
    record = sampled(
        bytes=[100, 100, 5000, 100, 5000, 9],
        response_ms=[10.0, 30.0, 500.0, 1020.0, 3500.0, 4000.0],
        timeout=[False, False, False, True, True, True],
    )
    # 1020 - 20 and 3500 - 500 ms. No response without a timeout is as small as the last.
    assert numbers.late_s(record, {}) == 2.0
    assert numbers.late_s(sampled(bytes=[100], response_ms=[10.0], timeout=[True]), {}) is None
