"""`goodqueue.qdisc`: every discipline alone, driven by hand from Python."""

import doctest
import json
from collections.abc import Callable

import pytest

import goodqueue.qdisc as q
from goodqueue import _goodqueue

MS = 1_000_000


def test_the_examples_in_the_documentation_are_true() -> None:
    outcome = doctest.testmod(q)
    assert outcome.attempted > 5
    assert outcome.failed == 0


@pytest.mark.parametrize("name", q.names())
def test_every_discipline_takes_and_gives_packets_and_loses_none(name: str) -> None:
    qdisc = getattr(q, name)(rate="10mbit") if name not in ("tbf", "htb") else q.make(NEEDY[name])
    offered = delivered = dropped = 0
    for step in range(3000):
        now = step * MS
        if (due := qdisc.next_timer()) is not None and due <= now:
            qdisc.on_timer(now)
            dropped += len(qdisc.dropped)
        if step < 2000:
            for flow in range(2):
                qdisc.enqueue(now, q.Packet(1514, ecn="ect0", flow=flow, id=offered))
                offered += 1
                dropped += len(qdisc.dropped)
        packet = qdisc.dequeue(now)
        dropped += len(qdisc.dropped)
        delivered += packet is not None
        assert all(isinstance(reason, str) for _, reason in qdisc.dropped + qdisc.marked)
        assert offered == delivered + dropped + qdisc.backlog[0]
    assert delivered > 0
    assert isinstance(qdisc.probe(), dict)


NEEDY = {"tbf": "tbf rate 5mbit burst 15kb limit 100kb", "htb": "htb rate 5mbit"}


def test_a_packet_comes_back_as_the_object_that_went_in() -> None:
    fifo = q.pfifo(limit=1)
    first, second = q.Packet(100, flow=3, dscp=46, id=7), q.Packet(200)
    fifo.enqueue(5, first)
    fifo.enqueue(5, second)
    assert fifo.dropped == [(second, "overlimit")]
    assert fifo.backlog == (1, 100)
    assert fifo.dequeue(9) is first
    assert (first.len, first.ecn, first.flow, first.dscp, first.id, first.arrival) == (100, "not-ect", 3, 46, 7, 5)
    assert fifo.dropped == [], "the fates of the last call only"
    fifo.enqueue(9, second)
    assert fifo.dequeue(9) is second, "a dropped packet may be offered again"


def test_cake_filters_acks_and_reads_firewall_marks() -> None:
    cake = q.cake(ack_filter="ack-filter-aggressive", framing="docsis", preset="metro", fwmark="0xf")
    assert "ack-filter-aggressive split-gso rtt 10ms noatm overhead 18 mpu 64" in cake.line
    first, block, last = q.Packet(66, ack=1000), q.Packet(78, ack=1000, sack=[(2000, 3000)]), q.Packet(66, ack=3000)
    cake.enqueue(0, first)
    cake.enqueue(0, block)
    assert cake.dropped == [(first, "ack")]
    cake.enqueue(0, last)
    assert cake.dropped == [], "its block is not repeated"
    assert cake.backlog == (2, 144)
    cake.enqueue(0, q.Packet(100, flow=1, fwmark=1))
    assert str(cake.probe()["tin1"]).startswith("0:100:"), "mark 1 is the bulk tin"
    for bad in ({"sack": [(1, 2)]}, {"ack": -1}, {"ack": 1, "sack": [(1, 2)] * 5}):
        with pytest.raises(ValueError, match=r"found .*accepted: "):
            q.Packet(66, **bad)  # type: ignore[arg-type]


def test_marks_show_in_the_packet() -> None:
    codel = q.codel(ecn=True, rate="1mbit")
    marked = []
    for ms in range(500):
        for _ in range(2):
            codel.enqueue(ms * MS, q.Packet(1000, ecn="ect0"))
        codel.dequeue(ms * MS)
        marked += codel.marked
    assert marked
    assert {(packet.ecn, reason) for packet, reason in marked} == {("ce", "target")}


def test_draws_derive_from_the_seed() -> None:
    def fates(seed: int) -> list[int]:
        red, lost = q.red(min=3000, max=9000, limit=60000, probability=0.5, avpkt=1000, burst=4, seed=seed), []
        for number in range(400):
            red.enqueue(number * MS, q.Packet(1000, id=number))
            lost += [packet.id for packet, _ in red.dropped]
            if number % 2:
                red.dequeue(number * MS)
        return lost

    assert fates(1) == fates(1) != fates(2)


def test_keywords_make_the_line_that_tc_would_take() -> None:
    codel = q.codel(target="15ms", ecn=False, limit=99)
    assert codel.line.startswith("codel limit 99 target 15ms")
    assert "noecn" in codel.line
    assert repr(q.make("  pfifo   limit 3 ")) == "<qdisc pfifo limit 3>"
    assert q.ns("1.5ms") == 1_500_000
    assert q.ns(7) == 7


REFUSED: dict[str, tuple[Callable[[], object], str]] = {
    "range": (lambda: q.codel(target="3000s"), "codel target: found"),
    "unknown": (lambda: q.codel(targte="5ms"), 'did you mean "target"?'),
    "no unit": (lambda: q.codel(target=5), "codel target: found 5, which has no unit; accepted: 1us to"),
    "wrong unit": (lambda: q.codel(target="5mbit"), "accepted: a time"),
    "not a flag": (lambda: q.codel(ecn="yes"), "codel ecn: found 'yes'; accepted: True or False"),
    "a flag that is none": (lambda: q.codel(limit=True), "codel limit: found True; accepted:"),
    "two words": (lambda: q.codel(target="5ms limit 3"), "codel target: found"),
    "rate": (lambda: q.codel(rate="fast"), "accepted: a rate"),
    "bare rate": (lambda: q.codel(rate=10), "codel rate: found 10, which has no unit"),
    "line": (lambda: q.make("codle"), 'did you mean "codel"?'),
    "empty": (lambda: q.make(""), "unknown qdisc"),
    "no file": (lambda: q.make("./nowhere.py:X"), "./nowhere.py: cannot be read"),
    "length": (lambda: q.Packet(0), "Packet len: found 0; accepted: 1 to 1000000"),
    "codepoint": (lambda: q.Packet(1, ecn="ECT"), 'found "ECT"; accepted: not-ect, ect1, ect0, ce'),
    "dscp": (lambda: q.Packet(1, dscp=64), "accepted: 0 to 63"),
    "negative time": (lambda: q.pfifo().dequeue(-1), "found -1; accepted: whole nanoseconds"),
    "helper": (lambda: q.ns("5"), "has no unit"),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED.keys())
def test_a_refusal_is_one_line_that_says_what_is_accepted(call: tuple[Callable[[], object], str]) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        call[0]()
    assert call[1] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_clock_never_goes_back_and_a_packet_waits_once() -> None:
    fifo, packet = q.pfifo(), q.Packet(100)
    fifo.enqueue(10, packet)
    with pytest.raises(ValueError, match="found now_ns 9; accepted: 10"):
        fifo.dequeue(9)
    with pytest.raises(ValueError, match="waits already"):
        fifo.enqueue(11, packet)
    with pytest.raises(ValueError, match="delivered or dropped already"):
        q.Packet(5).drop()
    assert fifo.backlog == (1, 100)


def test_an_unknown_discipline_is_an_attribute_error_that_lists_the_known() -> None:
    with pytest.raises(AttributeError, match=r"accepted: .*codel"):
        q.codle  # noqa: B018
    assert "fq_codel" in dir(q)
    assert "fq_codel" in q.fq_codel.__doc__


def test_a_line_s_values_have_their_units_in_their_keys() -> None:
    values = _goodqueue.qdisc_values("codel target 5500us limit 7 ecn")
    expected = {"limit_packets": 7, "target_ms": 5.5, "interval_ms": 100, "ecn": True, "ce_threshold_ms": None}
    assert values == expected | {"variant": "linux"}
    tbf = _goodqueue.qdisc_values("tbf rate 2500kbit child dualpi2 step_thresh 3p classic_protection 12.5%")
    assert (tbf["rate_mbps"], tbf["burst_bytes"], tbf["latency_ms"]) == (2.5, 5120, None)
    assert (tbf["child"], tbf["child_step_thresh_packets"], tbf["child_l4s"]) == ("dualpi2", 3, "l4s_ect")
    assert (tbf["child_classic_protection_percent"], tbf["child_coupling_factor"]) == (12.5, 2)
    assert _goodqueue.qdisc_values("fq_codel ce_threshold_selector 1/3")["ce_threshold_selector"] == "0x1/0x3"
    with pytest.raises(ValueError, match='did you mean "codel"'):
        _goodqueue.qdisc_values("codle")


@pytest.mark.parametrize("name", q.names())
def test_each_parameter_that_a_line_can_set_has_a_value(name: str) -> None:
    """These are a sweep's columns: one per parameter, none twice, numbers as numbers."""
    (spec,) = (spec for spec in json.loads(_goodqueue.qdiscs()) if spec["name"] == name)
    settable = [param for param in spec["params"] if param["unit"] not in ("alias", "refused", "shorthand", "line")]
    values = {key: value for key, value in _goodqueue.qdisc_values(name).items() if not key.startswith("child")}
    assert len(values) == len(settable)
    for param, (key, value) in zip(settable, values.items(), strict=True):
        assert key.startswith(param["name"])
        assert (value is None) == (param["default"].split(" or by variant ")[0] == "unset"), key
