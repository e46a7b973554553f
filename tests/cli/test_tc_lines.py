"""Lines of `tc` mean what they mean to `tc`: lines that people type, and lines made at random, read by `tc` itself."""

import threading

import pytest

from goodqueue import _goodqueue, scenario
from goodqueue.validation import decided, line_making, lines


def canonical(line: str, rate: str = "1gbit") -> str:
    bottleneck = {"rate": rate, "qdisc": line}
    asked = {"duration": "1s", "bottleneck": bottleneck, "path": {"rtt": "0s"}, "traffic": [{"kind": "ping"}]}
    found: str = scenario.resolve(asked)["bottleneck"]["qdisc"]
    return found


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "cake bandwidth 20000kbit overhead 44 mpu 84 diffserv3 nat besteffort",
            ("bandwidth 20mbit", " besteffort ", " nat ", "overhead 44", "mpu 84"),
        ),
        ("tbf rate 1mbit burst 12kbit latency 50ms", ("burst 1536",)),
        ("tbf rate 1mbit burst 32kbit latency 400ms", ("burst 4096",)),
        ("tbf rate 1mbit burst 10kb lat 70ms", ("burst 10240", "latency 70ms")),
        ("tbf rate 1mbit burst 6000/16 latency 70ms", ("burst 6000",)),
        ("tbf rate 50% burst 10kb peakr 1GiBps mtu 2k lim 1e4", ("rate 500mbit", "minburst 2048", "limit 10000")),
        ("htb rate 1mbit l at m 1500", ("linklayer atm", "mtu 1500")),
        ("codel limit 50 limit 0x10 target 5000 target 7.9us noecn ecn", ("limit 16", "target 7us", " ecn ")),
        ("fq_codel limit 0 flows 010", ("limit 10240", "flows 8")),
        ("pfifo limit 10k", ("limit 10240",)),
        ("sfb rehash 500", ("rehash 500",)),
    ],
)
def test_a_line_that_people_type_has_tc_s_values(line: str, words: tuple[str, ...]) -> None:
    for word in words:
        assert word in f"{canonical(line)} "


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fq_codel limit 10240p", "tc -s prints 10240p, but tc takes 10240"),
        ("tbf rate 1mbit rate 2mbit burst 5kb latency 50ms", "given twice; tc takes it once"),
        ("tbf rate 1mbit burst 5kb latency 50ms limit 5000", "given with latency; tc takes one of them"),
        ("cake metro lan", "given twice; tc takes it once"),
        ("hfsc default 12", "has classes; accepted: the commands of its tree"),
        ("drr", "has classes; accepted: the commands of its tree"),
        ("htb default 12", "trees are written as tc commands"),
        ("codel target 2min", "accepted: a time"),
        ("fq_codel quantum 1k", "accepted: 1 to"),
    ],
)
def test_what_tc_refuses_is_refused_in_one_line(line: str, said: str) -> None:
    with pytest.raises(ValueError, match=r"\A[^\n]*\Z") as refused:
        _goodqueue.qdisc_values(line)
    assert said in str(refused.value)
    assert "did you mean" not in str(refused.value)


def test_the_lines_are_the_same_for_the_same_seed() -> None:
    """Otherwise a difference that the stored result names could not be found again."""
    made = line_making.make(700, 3)
    assert made == line_making.make(700, 3)
    assert made != line_making.make(700, 4)
    assert {line.split(maxsplit=1)[0] for line in made} == set(line_making.KNOWN)


@pytest.mark.long
@pytest.mark.kernel
@pytest.mark.needs("qemu", "image")
def test_tc_and_goodqueue_read_lines_alike() -> None:
    """Each difference that no decision explains is a line that one of them understands otherwise."""
    counts, judge = lines.compare(420, 11, lambda _: None, threading.Event())
    result = lines.as_json(counts, judge, 420, 11)
    opened = {name: qdisc["open"] for name, qdisc in result["qdiscs"].items() if any(qdisc["open"].values())}
    assert not opened
    assert sum(count.taken for count in counts.values()) > 100, "nearly all were refused: nothing was compared"
    for count in counts.values():
        for found in (each for several in count.lists().values() for each in several):
            assert found.decided in decided.REASONS


@pytest.mark.parametrize(
    ("where", "line", "said", "ours"),
    [
        ("goodqueue_only", "tbf lat 70ms", 'tbf: unknown parameter "lat"', "tbf latency 70ms"),
        ("goodqueue_only", "codel noe", 'What is "noe"?', "codel noecn"),
        ("goodqueue_only", "codel lim 5", 'What is "lim"?', "codel limit 5"),
        ("values", "netem delay 10ms 5ms", "{}", "netem limit 1000 delay 10ms 5ms: {}"),
        ("tc_only", "tbf mpu 64", "{}", 'tbf mpu: found "64"; accepted: 65 to 65535'),
        ("tc_only", "tbf mpu 64kbit", "{}", 'tbf mpu: found "64kbit"; accepted: 0 to 65535'),
        ("tc_only", "cake bandwidth 999gbit", "{}", 'cake bandwidth: found "999gbit"; accepted: 8bit to 1000gbit'),
        ("values", "netem rate 30% corrupt 1", "{}", "netem limit 1000 corrupt 1 rate 3gbit: {}"),
        ("tc_only", "choke limit 16 bandwidth 10mbit", "{}", "choke: bandwidth is too small for the decay while idle"),
        ("tc_only", "codel limit 5 limit 6", "{}", 'codel limit: found "6"; accepted: 7 to 9'),
        ("tc_only", "fq maxrate 5kbit", "{}", 'fq maxrate: found "5kbit"; accepted: 8kbit to 1gbit'),
    ],
)
def test_no_decision_explains_what_it_is_not_about(where: str, line: str, said: str, ours: str) -> None:
    """A rule that is too wide would hide a fault among the differences that are decided."""
    assert decided.by(where, line, said, ours) is None


def test_choke_takes_a_short_queue() -> None:
    """tc takes it: the check of its table for idle times passes at 31 cells."""
    assert "limit 16" in canonical("choke limit 0x10 bandwidth 10mbit")


@pytest.mark.parametrize("line", ["fq limit 0", "fq flow_limit 0", "fq initial_quantum 0"])
def test_fq_takes_zero_as_linux_does(line: str) -> None:
    """tc sends these zeros to Linux, which takes them. `limit 0` was read as the default, without a word."""
    assert f" {line.removeprefix('fq ')} " in f"{canonical(line)} "
