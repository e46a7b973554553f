"""The median response time of web users near a size, on hand-made samples."""

from typing import Any, cast

from goodqueue.record import Record
from goodqueue.studies.web import response_near_ms


def sampled(**sizes_and_times: Any) -> Record:
    return cast("Record", {"series": {"web_users": [{"name": "web/0", **sizes_and_times}]}})


def test_a_quarter_more_or_less_is_near_and_nothing_else_is() -> None:
    record = sampled(bytes=[75, 100, 125, 74, 126], response_ms=[1.0, 50.0, 9.0, 700.0, 800.0])
    assert response_near_ms(record, {"bytes": 100.0}) == 9.0


def test_without_a_response_near_the_size_there_is_no_number() -> None:
    assert response_near_ms(sampled(bytes=[10], response_ms=[1.0]), {"bytes": 100.0}) is None
    assert response_near_ms(cast("Record", {}), {"bytes": 100.0}) is None
