"""``gq.Bottleneck`` under any calls: in any order, from threads, and in a process that forked."""

import os
import random
import threading
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

import goodqueue as gq
from tries import tries

QDISCS = (
    "pfifo limit 20", "codel ecn", "fq_codel", "cake", "netem delay 3ms 1ms loss 5%", "sfq",
    "tbf rate 5mbit burst 3k limit 9k", "pie", "dualpi2",
    "red limit 60000 min 5000 max 15000 avpkt 1000 bandwidth 10mbit",
    ["tc qdisc add dev e root handle 1: htb default 2", "tc class add dev e parent 1: classid 1:2 htb rate 3mbit"],
    ["tc qdisc add dev e root handle 1: prio", "tc qdisc add dev e parent 1:2 handle 2: sfq"],
)  # fmt: skip
ODD = (-1, -0.0, 1e-9, 1e300, float("nan"), float("inf"), 10**30, None, "x", b"", True, 2**32, 2**64, [])

Call = tuple[str, tuple[Any, ...], dict[str, Any]]


def scenario(draw: random.Random) -> dict[str, Any]:
    """Return any scenario of about a second, with up to six flows of one's own."""
    queue = draw.choice(QDISCS)
    key = "tc" if isinstance(queue, list) else "qdisc"
    traffic: list[dict[str, Any]] = [
        {"kind": "outside", "name": f"mine{number}", "count": draw.randint(1, 2), "rtt": f"{draw.randint(1, 90)}ms"}
        for number in range(draw.randint(0, 3))
    ]
    traffic += draw.sample([{"kind": "bulk"}, {"kind": "voip"}, {"kind": "ping"}], draw.randint(0, 2))
    made = {
        "duration": f"{draw.randint(2, 9)}00ms",
        "warmup": f"{draw.randint(0, 1)}00ms",
        "bottleneck": {"rate": f"{draw.choice((1, 10, 100))}mbit", key: queue},
        "path": {"rtt": f"{draw.randint(1, 90)}ms"},
        "hop": [{"name": "far", "kind": "wire"}][: draw.randint(0, 1)],
        "seed": draw.randint(0, 99),
    }
    return made | ({"traffic": traffic} if traffic else {})


def calls(draw: random.Random, flows: int, most: int = 60) -> list[Call]:
    """Return any calls. One in five has something odd among its arguments."""

    def one() -> Call:
        name = draw.choice(("send", "send", "send", "receive", "receive", "next_time", "results", "record", "flow"))
        odd = draw.random() < 0.2
        if name == "send":
            words: dict[str, Any] = {"ecn": draw.choice(("not-ect", "ect0", "ect1", "ce")), "dscp": draw.randint(0, 63)}
            words |= {"flow": draw.randrange(flows), "now": draw.choice((None, draw.random()))}
            arguments = [draw.choice(("down", "up")), draw.randbytes(draw.randint(1, 1472))]
            if odd and draw.random() < 0.3:
                arguments[draw.randint(0, 1)] = draw.choice(("", "left", b"", bytes(1473), *ODD))
            elif odd:
                words[draw.choice(list(words))] = draw.choice(ODD)
            return name, tuple(arguments), words
        if name == "receive":
            return name, (draw.choice(ODD) if odd else draw.random(),), {}
        return name, ((draw.choice(("", "mine0/0", "mine0", "\0", "9" * 99)),) if name == "flow" else ()), {}

    return [one() for _ in range(draw.randint(1, most))]


def carried_out(path: gq.Bottleneck, all_calls: list[Call]) -> list[str]:
    """Carry the calls out, and return what they gave. A call that is refused in a line must change nothing."""
    said, sent = [], Counter[bytes]()
    for name, arguments, words in all_calls:
        before = path.now, str(path.results())
        try:
            got = getattr(path, name)(*arguments, **words)
        except (gq.UserError, TypeError) as error:  # a TypeError is Python's own: no number, no bytes
            assert "\n" not in str(error)
            assert len(str(error)) < 3000
            assert (path.now, str(path.results())) == before, (name, arguments, words)
            said.append(str(error))
            continue
        said.append(str(got))
        assert before[0] <= path.now <= path.duration
        if name == "send":
            sent[arguments[1]] += 1
        elif name == "receive" and got is not None:
            assert got.time <= path.now, "a call of send with a later time goes on to that time"
            sent[got.data] -= 1
            assert sent[got.data] >= 0, "each datagram arrives once, whole"
        elif name == "next_time" and got is not None:
            assert path.now <= got <= path.duration
    for flow in path.results():
        for way in (flow["down"], flow["up"]):
            assert way["sent"] == way["delivered"] + way["lost"] + way["under_way"], flow
    return said


def flows_of(path: gq.Bottleneck) -> int:
    return len(path.results())


def test_whatever_is_called_the_path_counts_right_and_the_same_calls_give_the_same() -> None:
    for draw in tries(12):
        given = scenario(draw)
        path, again = gq.Bottleneck(given), gq.Bottleneck(given)
        chosen = calls(draw, flows_of(path))
        assert carried_out(path, chosen) == carried_out(again, chosen)
        assert path.run().text == again.run().text


def test_threads_that_share_a_path_are_refused_or_served() -> None:
    for draw in tries(4):
        path = gq.Bottleneck(scenario(draw) | {"duration": "300ms"})
        errors: list[BaseException] = []

        def work(chosen: list[Call], path: gq.Bottleneck = path, errors: list[BaseException] = errors) -> None:
            for name, arguments, words in chosen:
                try:
                    with suppress(gq.UserError, TypeError):
                        getattr(path, name)(*arguments, **words)
                except BaseException as error:  # noqa: BLE001 - the test tells it
                    errors.append(error)

        flows = flows_of(path)
        threads = [threading.Thread(target=work, args=(calls(draw, flows),)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        carried_out(path, [])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_process_that_forks_has_two_paths() -> None:
    for draw in tries(4):
        given = scenario(draw)
        path, alone = gq.Bottleneck(given), gq.Bottleneck(given)
        flows = flows_of(path)
        first, second = calls(draw, flows), calls(draw, flows)
        carried_out(path, first)
        carried_out(alone, first)
        wanted = after(alone, second)
        child = os.fork()
        if child == 0:
            status = 1
            try:
                status = 0 if after(path, second) == wanted else 3
            finally:
                os._exit(status)
        assert after(path, second) == wanted
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def after(path: gq.Bottleneck, chosen: list[Call]) -> str:
    """Return the record after these calls."""
    for name, arguments, words in chosen:
        with suppress(gq.UserError, TypeError):
            getattr(path, name)(*arguments, **words)
    return path.run().text
