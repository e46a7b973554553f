"""Studies with one line per point, and numbers over several points: relative to another, pooled, off a target."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean

import pytest

from conftest import TOML, Result
from goodqueue.studies import measuring
from goodqueue.studies.model import Metric

Command = Callable[..., Result]

STUDY = """
[study]
title = "Points"

[[experiment]]
id = "targets"
published = "mine/targets"
scenario = "link.toml"
seeds = 2
quick = { seeds = 1 }

[experiment.sweep]
flows.set = { "traffic.0.count" = "{}" }
target_ms.cases = [{ value = 5 }, { value = 50 }]

[experiment.qdiscs.codel]
"target_ms=5" = "codel target 5ms"
"target_ms=50" = "codel target 50ms"

[experiment.metrics]
delay_ms = { record = "queues.down.delay_ms.mean" }
of_loads_ms = { metric = "delay_ms", record = "queues.down.delay_ms.mean", pooled = "target_ms" }
error_ms = { record = "queues.down.delay_ms.mean", distance_from = "target_ms" }
nobody_ms = { compute = "loss_ratio", name = "nobody", to_name = "nobody", distance_from = "target_ms" }
least_ms = { record = "queues.down.delay_ms.mean", pooled = ["flows", "target_ms"], pooled_as = "least" }
spread_ratio = { record = "queues.down.delay_ms.mean", pooled = "target_ms", pooled_as = "spread" }
offered_packets.record = "queues.down.packets.offered"
forwarded_packets.record = "queues.down.packets.forwarded"
growth_percent = { record = "queues.down.delay_ms.mean", to = { target_ms = 5 }, as = "more_percent" }

[experiment.metrics.sent_ratio]
record = "queues.down.packets.forwarded"
to = { target_ms = 5 }
to_record = "queues.down.packets.offered"

[experiment.metrics.offered_ratio]
record = "queues.down.packets.offered"
to = { target_ms = 5 }
to_record = "queues.down.packets.forwarded"

[experiment.metrics.ranged_ms]
at = { target_ms = "5-50" }
record = "queues.down.delay_ms.mean"
pooled = "target_ms"
pooled_at = { target_ms = [50] }
"""

PUBLISHED = """
[paper]
key = "mine"
title = "Points"

[[scenario]]
id = "mine/targets"
sweep = [{ param = "flows", values = [1, 2] }, { param = "target_ms", values = [5, 50] }]

[[value]]
id = "mine/v1"
scenario = "mine/targets"
algorithm = "codel"
metric = "ranged_ms"
at = { flows = 1, target_ms = "5-50" }
value = 20
unit = "ms"
"""

CLAIM = """
[[claim]]
id = "mine/{metric}"
scenario = "mine/targets"
statement = "…"
kind = "greater_than"
left = {{ algorithm = "codel", metric = "{metric}"{at} }}
right = {{ value = -1e9, unit = "ms" }}
"""

AT = {"least_ms": {}, "spread_ratio": {"flows": 2}}
EACH = {"flows": 2, "target_ms": 50}
METRICS = ("delay_ms", "error_ms", "least_ms", "spread_ratio", "growth_percent", "sent_ratio", "offered_ratio")
OTHERS = ("offered_packets", "forwarded_packets", "nobody_ms")


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    facts = PUBLISHED
    for metric in METRICS + OTHERS:
        at = ", ".join(f"{name} = {value}" for name, value in AT.get(metric, EACH).items())
        facts += CLAIM.format(metric=metric, at=f", at = {{ {at} }}" if at else "")
    for name, text in (("study", STUDY), ("published", facts), ("link", TOML)):
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def test_numbers_of_several_points(mine: Path, goodqueue: Command) -> None:
    """Each number is computed again from the runs of the single points."""
    result = goodqueue("study", str(mine), "--json")
    assert (result.status, result.err) == (0, "")
    found = json.loads(result.out)
    runs = {tuple(cell["at"].values()): cell["runs"] for cell in found["cells"] if len(cell["at"]) == 2}
    lines = {tuple(cell["at"].values()): cell["qdisc"] for cell in found["cells"] if len(cell["at"]) == 2}
    assert set(runs) == {(flows, target) for flows in (1, 2) for target in (5, 50)}
    assert all(f"target {target}ms " in line for (_, target), line in lines.items())
    claims = {claim["id"]: next(iter(claim["measured"].values())) for claim in found["claims"]}
    delays = {point: own["delay_ms"] for point, own in runs.items()}
    assert claims["mine/error_ms"] == pytest.approx(fmean(abs(one - 50) for one in delays[2, 50]))
    assert claims["mine/nobody_ms"] is None, "what no seed shows is at no distance"
    seeds = range(2)
    assert claims["mine/least_ms"] == pytest.approx(fmean(min(own[n] for own in delays.values()) for n in seeds))
    ratios = [max(pair) / min(pair) for pair in zip(delays[2, 5], delays[2, 50], strict=True)]
    assert claims["mine/spread_ratio"] == pytest.approx(fmean(ratios))
    growth = [100 * (after / before - 1) for before, after in zip(delays[2, 5], delays[2, 50], strict=True)]
    assert claims["mine/growth_percent"] == pytest.approx(fmean(growth))
    offered, sent = (
        {point: own[f"{what}_packets"] for point, own in runs.items()} for what in ("offered", "forwarded")
    )
    assert offered[2, 5] != sent[2, 5]
    for name, here, there in (("sent", sent, offered), ("offered", offered, sent)):
        ratios = [one / other for one, other in zip(here[2, 50], there[2, 5], strict=True)]
        assert claims[f"mine/{name}_ratio"] == pytest.approx(fmean(ratios)), f"{name} here over the other there"
    value = found["values"][0]
    assert value["measured"] == pytest.approx(fmean(delays[1, 50])), "of the range, the points that are named"
    pooled = next(cell for cell in found["cells"] if "of_loads_ms" in cell["runs"] and cell["at"] == {"flows": 2})
    assert pooled["runs"]["of_loads_ms"] == pytest.approx(
        [fmean(pair) for pair in zip(delays[2, 5], delays[2, 50], strict=True)]
    )


def test_pooling_and_setting_against() -> None:
    """By hand: 2, 8 and 5 at the places 1, 4 and 3 lie nearly on a line. The second seed lacks one of them."""
    columns = [[2.0, 1.0], [8.0, None], [5.0, 1.0]]
    pooled = {kind: measuring.pool(kind, columns, [1, 4, 3]) for kind in measuring.POOLS}
    assert pooled["correlation"][0] == pytest.approx(0.98198, abs=1e-5)
    del pooled["correlation"]
    ends = {"least": [2, None], "greatest": [8, None], "spread": [4, None], "range": [6, None]}
    assert pooled == {"mean": [5, None], "median": [5, None], **ends}
    flat = measuring.pool("correlation", [[2.0], [2.0]], [1, 4])
    assert flat == [None], "what never moves is correlated with nothing"
    assert measuring.pool("correlation", [[2.0], [3.0]], ["a", "b"]) == [None]
    assert measuring.pool("correlation", [[2.0], [3.0]], [1, 1]) == [None], "nor is what was seen at one place"
    assert measuring.pool("correlation", [[2.0], [3.0]], [1, 4]) == pytest.approx([1.0]), "two points lie on a line"
    assert measuring.pool("spread", [[0.0], [2.0]], [1, 4]) == [None], "nothing is a multiple of 0"
    assert measuring.pool("spread", [[0.5], [2.0]], [1, 4]) == [4.0]
    against = {form: measuring.set_against(Metric("m", form=form), 6.0, 8.0) for form in measuring.FORMS}
    shares = {"ratio": 0.75, "percent": 75.0, "less_percent": 25.0, "more_percent": -25.0}
    assert against == {**shares, "difference": -2.0, "less": 2.0}
    assert measuring.set_against(Metric("m", form="difference"), 6.0, 0.0) == 6.0
    assert measuring.set_against(Metric("m"), 6.0, 0.0) is None


@pytest.mark.parametrize(
    ("old", "new", "want"),
    [
        (
            '"target_ms=50" = "codel target 50ms"\n',
            "",
            "qdiscs.codel: 0 lines for flows=1, target_ms=50; accepted: one",
        ),
        ('pooled = "target_ms", pooled_as', 'pooled = "target", pooled_as', 'pooled: found "target"; did you mean'),
        ("to = { target_ms = 5 }, as", "to = { targets = 5 }, as", 'growth_percent.to: found "targets"; did you mean'),
        ('distance_from = "target_ms"', 'distance_from = "flow"', 'error_ms.distance_from: found "flow"; did you mean'),
        ('pooled_as = "least"', 'pooled_as = "correlation"', 'found ["flows", "target_ms"]; accepted: one parameter'),
        ('as = "more_percent"', 'as = "persent"', 'as: found "persent"; did you mean'),
    ],
)
def test_what_is_wrong_is_said_in_one_line(mine: Path, goodqueue: Command, old: str, new: str, want: str) -> None:
    assert old in STUDY
    (mine / "study.toml").write_text(STUDY.replace(old, new, 1), encoding="utf-8")
    result = goodqueue("study", str(mine))
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert want in result.err
