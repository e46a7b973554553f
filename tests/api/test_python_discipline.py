"""Disciplines written in Python run wherever those of the registry do, and cannot cheat."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import goodqueue.qdisc as q
from conftest import ROOT, SCENARIO, Result
from goodqueue import running

FIFO = """
class Fifo:
    def __init__(self, link, limit=1000):
        self.limit = limit

    def enqueue(self, now, packet, queue):
        if len(queue) < self.limit:
            queue.push(packet)
        else:
            packet.drop("overlimit")

    def dequeue(self, now, queue):
        return queue.pop()
"""

Command = Callable[..., Result]


def write(text: str, name: str = "mine.py") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return f"./{name}"


def fifo_with(method: str, body: str) -> str:
    """Return the FIFO with another body for one of its methods."""
    head, tail = FIFO.split(f"    def {method}(")
    signature, rest = tail.split("\n", 1)
    after = rest.partition("\n\n")[2]
    lines = "\n".join(f"        {line}" for line in body.split("\n"))
    return f"{head}    def {method}({signature}\n{lines}\n\n{after}"


def without_qdiscs(text: str) -> str:
    record = json.loads(text)
    for holder in (
        record["scenario"]["bottleneck"],
        record["scenario"]["bottleneck"]["up"],
        *record["queues"].values(),
    ):
        holder["qdisc"] = ""
    return json.dumps(record)


def test_a_port_of_pfifo_gives_pfifos_record(here: Path, goodqueue: Command) -> None:
    file = write(FIFO)
    series = ("--set", "series.interval=100ms", "--set", "series.packets.from=1s", "--set", "series.packets.to=2s")
    ours, theirs = (
        goodqueue("run", "ok.toml", "--set", f"bottleneck.qdisc={line} limit 20", *series, "--json")
        for line in ("pfifo", f"{file}:Fifo")
    )
    assert json.loads(ours.out)["queues"]["down"]["packets"]["dropped"] > 0
    assert json.loads(theirs.out)["queues"]["down"]["qdisc"] == f"{file}:Fifo limit 20"
    assert without_qdiscs(ours.out) == without_qdiscs(theirs.out)


def test_a_cell_takes_a_discipline_too(here: Path, goodqueue: Command) -> None:
    """The ends of a cell have no rate, which a class is created with. It ended with a KeyError."""
    Path("cell.toml").write_text((ROOT / "examples" / "wifi.toml").read_text(encoding="utf-8"), encoding="utf-8")
    short = ("--set", "duration=2s", "--set", "warmup=1s", "--json")
    ours, theirs = (
        goodqueue("run", "cell.toml", "--set", f"bottleneck.qdisc={line} limit 20", *short).out
        for line in (f"{write(FIFO)}:Fifo", "pfifo")
    )
    assert without_qdiscs(ours) == without_qdiscs(theirs)


def test_the_record_holds_every_parameter_and_makes_the_same_run_again(here: Path) -> None:
    line = f"{write(FIFO)}:Fifo"
    first = running.one(SCENARIO | {"bottleneck": {"rate": "10mbit", "qdisc": line, "buffer": {"bdp": 2}}})
    assert first["scenario"]["bottleneck"]["qdisc"] == f"{line} limit 33", "2 * 10 Mbit/s * 20 ms, in frames"
    assert running.one(first["scenario"]) == first


def test_many_at_once_give_what_one_gives(here: Path) -> None:
    lines = ["./my_aqm.py:MyAqm", "codel", "./my_aqm.py:MyAqm target 20ms"]
    write((ROOT / "examples" / "my_aqm.py").read_text(encoding="utf-8"), "my_aqm.py")
    scenarios = [
        SCENARIO | {"seed": seed, "bottleneck": {"rate": "10mbit", "qdisc": line}} for line in lines for seed in (1, 2)
    ]
    together = running.many(scenarios, workers=4)
    assert together == [running.one_text(scenario) for scenario in scenarios]
    assert len(set(together)) == len(together)


def test_compare_runs_the_example_and_says_that_it_is_slow(here: Path, goodqueue: Command) -> None:
    write((ROOT / "examples" / "my_aqm.py").read_text(encoding="utf-8"), "my_aqm.py")
    options = ("--rate", "5mbit", "--duration", "6s", "--seeds", "2")
    result = goodqueue("compare", "codel", "./my_aqm.py:MyAqm", *options, "--out", "report")
    assert result.status == 0, result.err
    assert "Written in Python, so slower" in result.out
    assert "./my_aqm.py:MyAqm target 5ms gain 0.0005 limit 1000" in (here / "report" / "results.json").read_text()


def test_ecn_and_the_probe_reach_the_record(here: Path) -> None:
    scenario = json.loads(json.dumps(SCENARIO))
    scenario["bottleneck"]["qdisc"] = f"{ROOT}/examples/my_aqm.py:MyAqm"
    scenario["traffic"][0]["ecn"] = True
    record = running.one(scenario | {"series": {"interval": "100ms"}})
    assert record["queues"]["down"]["marks_by_reason"]["early"] > 0  # type: ignore[typeddict-item]
    assert any(record["series"]["queues"]["down"]["drop_probability"])  # type: ignore[index]


def test_each_number_of_a_probe_reaches_the_series_of_the_law(here: Path) -> None:
    probe = "return {'drop_probability': 0.5, 'enqueues': self.count, 'busy': True, 'name': 'x', 'late': self.late()}"
    text = FIFO.replace("self.limit = limit", "self.limit, self.count = limit, 0")
    text = text.replace("        if len(queue)", "        self.count += 1\n        if len(queue)", 1)
    text += "\n    def late(self):\n        return float('nan') if self.count < 100 else 1\n"
    text += f"\n    def probe(self):\n        {probe}\n"
    bottleneck = {"rate": "10mbit", "qdisc": f"{write(text)}:Fifo limit 20", "up": {"qdisc": "pfifo"}}
    record = running.one(SCENARIO | {"bottleneck": bottleneck, "series": {"interval": "100ms", "law": True}})
    queues = record["series"]["queues"]
    law = queues["down"]["law"]
    assert list(law) == ["enqueues", "busy", "late"], "text is no number, and drop_probability stands beside the law"
    assert set(queues["down"]["drop_probability"]) == {0.5}
    packets = record["queues"]["down"]["packets"]
    assert packets is not None
    assert law["enqueues"][-1] - law["enqueues"][9] == pytest.approx(packets["offered"], abs=2)  # type: ignore[operator]
    assert set(law["busy"]) == {1.0}
    assert (law["late"][0], law["late"][-1]) == (None, 1.0)
    assert queues["up"]["law"] == {}


def test_a_scenarios_path_starts_at_its_file(here: Path, goodqueue: Command) -> None:
    (here / "sub").mkdir()
    write(FIFO, "sub/mine.py")
    toml = (here / "ok.toml").read_text(encoding="utf-8").replace('"codel"', '"./mine.py:Fifo limit 9"')
    (here / "sub" / "mine.toml").write_text(toml, encoding="utf-8")
    result = goodqueue("run", "sub/mine.toml", "--json")
    assert result.status == 0, result.err
    assert json.loads(result.out)["queues"]["down"]["qdisc"] == "sub/mine.py:Fifo limit 9"


SHAPER = '''
class Shaper:
    """Sends a packet every so often, of two flows in turns."""

    def __init__(self, link, gap: int = 2_000_000):
        self.queues = [link.queue(), link.queue()]
        self.gap, self.due, self.turn, self.next_timer = gap, 0, 0, None

    def enqueue(self, now, packet, queue):
        self.queues[packet.flow % 2].push(packet)

    def dequeue(self, now, queue):
        if now < self.due:
            self.next_timer = self.due
            return None
        self.turn = 1 - self.turn
        packet = self.queues[self.turn].pop() or self.queues[1 - self.turn].pop()
        if packet:
            self.due = now + self.gap
        return packet

    def on_timer(self, now, queue):
        self.next_timer = None
'''


def test_a_shaper_with_queues_of_its_own_holds_packets_back(here: Path) -> None:
    line = f"{write(SHAPER)}:Shaper"
    scenario = SCENARIO | {"bottleneck": {"rate": "10mbit", "qdisc": line, "up": {"qdisc": "pfifo"}}}
    record = running.one(scenario)
    assert record["queues"]["down"]["packets"]["forwarded"] == pytest.approx(1500, abs=5), "one each 2 ms, for 3 s"


BROKEN = {
    "lost on arrival": ("enqueue", "pass", "./mine.py: Fifo.enqueue lost a packet; accepted: queue.push(packet) or"),
    "lost on departure": ("dequeue", "queue.pop()", "./mine.py: Fifo.dequeue lost a packet; accepted: each popped"),
    "given but not popped": ("dequeue", "return queue.head", "returned a packet that still waits in a queue"),
    "not a packet": ("dequeue", "return queue.pop() and 5", "./mine.py: Fifo.dequeue returned a int; accepted:"),
    "pushed twice": ("enqueue", "queue.push(packet)\nqueue.push(packet)", "./mine.py:8: ValueError: queue.push: the"),
    "dropped and pushed": ("enqueue", "packet.drop()\nqueue.push(packet)", "./mine.py:8: ValueError: queue.push: the"),
    "a wrong reason": ("enqueue", "packet.drop('boredom')", 'found reason "boredom"; accepted: overlimit, memory,'),
    "an attribute that is none": ("enqueue", "queue.push(packet)\nqueue.size", "./mine.py:8: AttributeError:"),
    "an exception mid-run": (
        "dequeue",
        "if now > 2_000_000_000:\n    1 / 0\nreturn queue.pop()",
        "goodqueue: ./mine.py:14: ZeroDivisionError: division by zero",
    ),
    "the end of the program": ("dequeue", "raise SystemExit(0)", "./mine.py:13: SystemExit: 0"),
}


@pytest.mark.parametrize("case", BROKEN.values(), ids=BROKEN.keys())
def test_what_goes_wrong_in_a_run_ends_it_with_one_line(
    here: Path, goodqueue: Command, case: tuple[str, str, str]
) -> None:
    method, body, complaint = case
    file = write(fifo_with(method, body))
    for command in (("run", "ok.toml", "--set", f"bottleneck.qdisc={file}:Fifo"), ("compare", "pfifo", f"{file}:Fifo")):
        result = goodqueue(*command)
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1), result.err
        assert complaint in result.err


REFUSED = {
    "no such file": ("", "./other.py:Fifo", "./other.py: cannot be read: No such file"),
    "no such class": (FIFO, "./mine.py:Fito", 'has no class "Fito"; accepted: Fifo'),
    "no method": ("class Fifo:\n    def enqueue(self): ...", "./mine.py:Fifo", "Fifo has no method dequeue; accepted:"),
    "a syntax error": ("x = 1\ndef x(:", "./mine.py:Fifo", "./mine.py:2: SyntaxError: invalid syntax"),
    "an import that fails": ("import nowhere_at_all", "./mine.py:Fifo", "./mine.py:1: ModuleNotFoundError: No module"),
    "an unknown parameter": (FIFO, "./mine.py:Fifo target 5ms", 'unknown word "target"; accepted: limit'),
    "a bad value": (FIFO, "./mine.py:Fifo limit many", 'limit: found "many"; accepted: a whole number'),
    "no value": (FIFO, "./mine.py:Fifo limit", "limit: no value"),
    "twice": (FIFO, "./mine.py:Fifo limit 1 limit 2", "limit: given twice"),
    "an __init__ that raises": (FIFO.replace("= limit", "= 1 / limit"), "./mine.py:Fifo limit 0", "mine.py:4: ZeroDiv"),
    "an async method": (
        FIFO.replace("def dequeue", "async def dequeue"),
        "./mine.py:Fifo",
        "Fifo.dequeue is an async def, whose call does nothing yet; accepted: a plain def",
    ),
    "no link": ("class Fifo:\n    enqueue = dequeue = print", "./mine.py:Fifo", "__init__ takes no link"),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_a_class_that_cannot_be_made_is_refused_before_any_run(
    here: Path, goodqueue: Command, case: tuple[str, str, str]
) -> None:
    text, line, complaint = case
    write(text)
    for command in (("run", "ok.toml", "--set", f"bottleneck.qdisc={line}"), ("compare", "pfifo", line)):
        result = goodqueue(*command)
        assert (result.status, result.out, result.err.count("\n")) == (2, "", 1), result.err
        assert complaint in result.err
    with pytest.raises(ValueError, match=r"."):
        q.make(line)


def test_a_queue_that_is_forgotten_with_its_packets_is_noticed(here: Path, goodqueue: Command) -> None:
    forget = "self.own = getattr(self, 'own', None) or self.link.queue()\nself.own.push(packet)"
    text = fifo_with("enqueue", forget).replace("self.limit = limit", "self.link = link")
    file = write(text.replace("return queue.pop()", "self.own = None"))
    result = goodqueue("run", "ok.toml", "--set", f"bottleneck.qdisc={file}:Fifo")
    assert "Fifo.dequeue lost a packet in a queue that it let go of" in result.err


def test_a_timer_that_stands_still_is_refused(here: Path, goodqueue: Command) -> None:
    extra = "\n    next_timer = 0\n\n    def on_timer(self, now, queue):\n        pass\n"
    file = write(FIFO + extra)
    result = goodqueue("run", "ok.toml", "--set", f"bottleneck.qdisc={file}:Fifo")
    assert "Fifo.on_timer left next_timer at 0 ns, and it is 0 ns now" in result.err


def test_by_hand_a_class_behaves_as_in_a_run(here: Path) -> None:
    fifo = q.make(f"{write(FIFO)}:Fifo limit 1")
    first, second = q.Packet(100, id=1), q.Packet(100, id=2)
    fifo.enqueue(0, first)
    fifo.enqueue(0, second)
    assert (fifo.dropped, fifo.backlog) == ([(second, "overlimit")], (1, 100))
    assert fifo.dequeue(1) is first
    assert fifo.dequeue(2) is None
    assert fifo.line == "./mine.py:Fifo limit 1"
