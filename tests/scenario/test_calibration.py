"""`load`: how many web users offer it. The populations here are small, so that the search takes seconds."""

from typing import Any

import pytest

from goodqueue import run
from goodqueue.errors import UserError
from goodqueue.scenario import calibration


def scenario(**own: Any) -> dict[str, Any]:
    source = {
        "kind": "web_users",
        "think": "exponential(1s)",
        "objects": 2,
        "document": "10kB",
        "object": "10kB",
        "protocol": "http/2",
        "load": "80%",
        **own,
    }
    return {
        "duration": "40s",
        "warmup": "10s",
        "path": {"rtt": "40ms"},
        "bottleneck": {"rate": "10mbit", "qdisc": "codel"},
        "traffic": [{key: value for key, value in source.items() if value is not None}],
    }


def settled(**own: Any) -> dict[str, Any]:
    base = scenario(**own)
    calibration.settle(base)
    source: dict[str, Any] = base["traffic"][0]
    return source


def test_the_users_offer_the_load_where_nobody_waits(capsys: pytest.CaptureFixture[str]) -> None:
    source = settled()
    assert "load" not in source
    probe = scenario(load=None, users=source["users"])
    probe["bottleneck"] = {"rate": "80mbit", "qdisc": "pfifo limit 100000"}
    offered = run.one({**probe, "seed": 1})["queues"]["down"]["throughput_mbps"]
    assert offered == pytest.approx(8.0, rel=0.01)
    assert f"{source['users']} users, who offer" in capsys.readouterr().err


def test_disciplines_and_rates_have_the_same_users() -> None:
    users = settled()["users"]
    for change in ({"qdisc": "pie"}, {"up": {"rate": "5mbit"}}):
        other = scenario()
        other["bottleneck"] |= change
        calibration.settle(other)
        assert other["traffic"][0]["users"] == users
    assert settled(ecn=True)["users"] == users
    faster = scenario(load="8mbit")
    faster["bottleneck"]["rate"] = "100mbit"
    calibration.settle(faster)
    assert faster["traffic"][0]["users"] == users


def test_a_load_that_no_number_of_users_offers_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "MOST_USERS", 30)
    with pytest.raises(UserError, match=r'traffic.0.load: found "300%", which no number of users offers: 30 offer'):
        settled(load="300%")


def test_what_is_no_load_is_the_cores_to_refuse() -> None:
    for own in ({"load": "98%", "users": 3}, {"load": 98}):
        base = scenario(**own)
        calibration.settle(base)
        assert base == scenario(**own)
    for load in ("a lot", "0%", "-5%", "nan%", "1000gbit"):
        with pytest.raises(UserError, match=rf'traffic.0.load: found "{load}"; accepted: a share of the bottleneck'):
            settled(load=load)
