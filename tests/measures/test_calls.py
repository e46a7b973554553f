"""The score of a call: that of its listener, behind a play-out buffer, and one score wherever a person looks."""

from typing import Any

import pytest

from goodqueue import _goodqueue, traffic
from goodqueue.measures import calls, metrics
from goodqueue.show.run import applications


def call(delays_ms: list[float], loss_percent: float = 0.0) -> dict[str, Any]:
    """Return the part of a record for a call with these delays."""
    ordered = sorted(delays_ms)
    at = [ordered[round(percent / 100 * (len(ordered) - 1))] for percent in range(101)]
    return {"name": "voip/0", "kind": "voip", "loss_percent": loss_percent, "delay_percentiles_ms": at, "mos": 4.2}


def score(of: dict[str, Any]) -> float:
    found = calls.mos(of)
    assert found is not None
    return found


JITTERY = call([20.0 + 2.4 * step for step in range(101)])
"""Delays of 20 to 260 ms, with a mean of 140 ms."""


def test_jitter_is_heard_although_the_mean_delay_is_short() -> None:
    """A telephone has to wait for the last ones, or to lose them."""
    even = score(call([140.0]))
    assert even == pytest.approx(_goodqueue.mos(140.0, 0.0))
    assert even - score(JITTERY) > 0.1, "0.1 of MOS is a point of advise"
    assert score(JITTERY) == pytest.approx(_goodqueue.mos(260.0, 0.0)), "to wait for all is better than to lose some"


def test_a_buffer_does_not_wait_for_a_straggler() -> None:
    """One packet of a hundred after 2 s costs its loss, not 2 s of delay."""
    found = score(call([20.0] * 200 + [2000.0] * 2))
    assert found == pytest.approx(_goodqueue.mos(20.0, 1.0), abs=0.01)
    assert found > _goodqueue.mos(2000.0, 0.0) + 1


def test_a_call_of_which_nothing_arrives_is_the_worst() -> None:
    assert calls.mos({"loss_percent": 100.0, "delay_percentiles_ms": None}) == 1.0


def test_a_percentile_that_is_unknown_is_no_wait() -> None:
    """Records allow such a percentile, and somebody may have taken one out."""
    waits = [None, *[20.0] * 100]
    assert calls.mos({"loss_percent": 0.0, "delay_percentiles_ms": waits}) == pytest.approx(_goodqueue.mos(20.0, 0.0))
    assert calls.mos({"loss_percent": 0.0, "delay_percentiles_ms": [None] * 101}) is None


def test_tables_show_another_score_than_advise() -> None:
    """`advise` once said 4.01 and `run` and the page 4.35, of one call."""
    scores = [metric for metric in metrics.METRICS if metric.key in ("call_mos", "voip_mos")]
    values = {metric.key: [metric.pick({"apps": [JITTERY]})] for metric in scores}  # type: ignore[typeddict-item]
    assert values == {"call_mos": [score(JITTERY)], "voip_mos": [4.2]}
    shown = metrics.shown(metrics.METRICS, [values], ["down"])
    assert [(metric.key, metric.label) for metric in shown] == [("call_mos", "MOS")]
    table = applications.table(traffic.kinds()["voip"], [JITTERY], ())  # type: ignore[list-item]
    assert (table.columns[-1].heading, table.rows[0][-1]) == ("MOS", f"{score(JITTERY):.2f}")


def test_a_score_by_the_mean_delay_has_another_name() -> None:
    """Another program's call has no percentiles."""
    measured = JITTERY | {"delay_percentiles_ms": None}
    shown = metrics.shown(metrics.METRICS, [{"call_mos": [None], "voip_mos": [4.2]}], ["down"])
    assert [metric.label for metric in shown] == ["MOS of mean delay"]
    table = applications.table(traffic.kinds()["voip"], [measured], ())  # type: ignore[list-item]
    assert (table.columns[-1].heading, table.rows[0][-1]) == ("MOS of\nmean delay", "4.20")
