"""Congestion controls written in Python run wherever those of the list do, and a mistake is one line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import goodqueue as gq
from conftest import ROOT, Result

Command = Callable[..., Result]

CC = (ROOT / "examples" / "my_cc.py").read_text(encoding="utf-8")

SHORT = ("--set", "duration=10s", "--set", "warmup=1s", "--json")


def write(text: str, name: str = "mine.py") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return f"./{name}"


@pytest.mark.parametrize("more", [(), ("--set", "traffic.0.ecn=true", "--set", "bottleneck.qdisc=codel ecn")])
@pytest.mark.parametrize("stack", ["linux-6.1", "linux-3.10", "rfc"])
def test_a_port_of_reno_gives_renos_record(here: Path, goodqueue: Command, stack: str, more: tuple[str, ...]) -> None:
    """Byte for byte except the name, with losses, marks, undos and slow start. Guards against a hook that is lost."""
    line = f"{write(CC)}:Slow beta 0.5"
    sets = ("--set", "series.interval=100ms", "--set", f"traffic.0.stack={stack}", *more)
    ours, theirs = (
        goodqueue("run", "ok.toml", "--set", f"traffic.0.cc={cc}", *sets, *SHORT).out for cc in (line, "reno")
    )
    flow = json.loads(theirs)["flows"][0]
    assert flow["retransmitted"] > 0 or json.loads(theirs)["queues"]["down"]["packets"]["marked"] > 0
    assert json.loads(ours)["scenario"]["traffic"][0]["cc"] == line
    assert ours.replace(json.dumps(line), '"reno"') == theirs


@pytest.mark.parametrize("ecn", ["true", "accecn"])
def test_a_port_of_dctcp_gives_dctcps_record(here: Path, goodqueue: Command, ecn: str) -> None:
    """Byte for byte except the name, with its echo of marks, ECT(0) on ACKs, and its variable in the series."""
    text = (ROOT / "examples" / "dctcp.py").read_text(encoding="utf-8")
    line = f"{write(text, 'dctcp.py')}:Dctcp"
    sets = ("--set", "series.interval=100ms", "--set", "series.cc=true", "--set", f"traffic.0.ecn={ecn}")
    sets += ("--set", "bottleneck.qdisc=codel ecn ce_threshold 1ms")
    ours, theirs = (
        goodqueue("run", "ok.toml", "--set", f"traffic.0.cc={cc}", *sets, *SHORT).out for cc in (line, "dctcp")
    )
    assert json.loads(theirs)["queues"]["down"]["packets"]["marked"] > 0
    assert json.loads(theirs)["series"]["flows"][0]["cc"]["alpha"]
    assert ours.replace(json.dumps(line), '"dctcp"') == theirs


RATE = """
class Rate:
    def __init__(self, connection):
        self.smss, self.bps, self.rounds, self.end, self.rtt = connection.smss, 0.0, 0, 0, None

    def on_ack(self, ack, window):
        raise AssertionError("a model-based class has on_rate instead")

    def on_rate(self, ack, sample, window):
        if ack.segments and sample.prior_delivered >= self.end:
            self.rounds, self.end = self.rounds + 1, sample.total_delivered
        if ack.rtt:
            self.rtt = min(ack.rtt, self.rtt or ack.rtt)
        if sample.interval and not sample.is_app_limited:
            assert sample.delivered > 0 and sample.tx_in_flight > 0 and sample.departure > 0 and not sample.is_idle
            self.bps = max(self.bps, sample.delivered * self.smss * 8e9 / sample.interval)
            window.pacing_bps = self.bps * (2 if self.rounds < 6 else 1)
            window.cwnd = max(4, int(2 * self.bps * self.rtt / 8e9 / self.smss))

    def ssthresh(self, congestion):
        return congestion.cwnd

    def probe(self):
        return {"bps": self.bps, "rounds": self.rounds}
"""


def test_a_class_with_on_rate_finds_the_links_rate(here: Path, goodqueue: Command) -> None:
    """A filter of the delivery rate and the least RTT: what BBR is made of. The link has 10 Mbit/s."""
    line = f"{write(RATE)}:Rate"
    sets = ("--set", "series.interval=100ms", "--set", "series.cc=true", "--set", "bottleneck.qdisc=pfifo limit 200")
    record = json.loads(goodqueue("run", "ok.toml", "--set", f"traffic.0.cc={line}", *sets, *SHORT).out)
    shown = record["series"]["flows"][0]["cc"]
    payload = 10e6 * 1448 / 1514
    assert 0.97 * payload < shown["bps"][-1] < 1.05 * payload, shown["bps"][-1]
    assert 60 < shown["rounds"][-1] < 220, "10 s of 50 to 150 ms"
    assert record["queues"]["down"]["utilisation_percent"] > 95


@pytest.mark.parametrize(
    ("attribute", "ecn", "wanted"),
    [
        ('"l4s"', "true", 'traffic[0].ecn: found true; accepted with cc "./mine.py:Slow beta 0.5": "accecn"'),
        (
            '"dctcp"',
            "false",
            'traffic[0].ecn: found false; accepted with cc "./mine.py:Slow beta 0.5": true or "accecn"',
        ),
        ('"bleach"', "false", 'Slow.ecn: found "bleach"; accepted: "dctcp", "l4s", or none'),
    ],
)
def test_an_ecn_that_does_not_fit_is_refused(
    here: Path, goodqueue: Command, attribute: str, ecn: str, wanted: str
) -> None:
    text = CC.replace("class Slow:\n", f"class Slow:\n    ecn = {attribute}\n")
    assert text != CC
    done = goodqueue("run", "ok.toml", "--set", f"traffic.0.cc={write(text)}:Slow", "--set", f"traffic.0.ecn={ecn}")
    assert done.status != 0
    assert wanted in done.err


HOOKS = """
class Hooks:
    called = []
    paces = True

    def __init__(self, connection):
        assert connection.smss == 1448 and connection.initial_window == 10
        assert 0 <= connection.random() < 1
        self.called = Hooks.called

    def on_open(self, now, rtt, window):
        self.called.append("on_open")
        assert rtt >= 50_000_000
        window.pacing_bps = 4e6

    def on_delivered(self, ack, window):
        assert ack.segments and ack.in_flight >= 0 and ack.state in ("open", "disorder", "cwr", "recovery", "loss")

    def on_ack(self, ack, window):
        window.cwnd = 60
        assert window.pacing_bps == 4_000_000 and ack.una <= ack.nxt and ack.now > 0

    def on_state(self, state, window):
        self.called.append(state)

    def on_rto(self):
        self.called.append("on_rto")

    def on_restart(self, now, idle):
        self.called.append("on_restart")

    def ssthresh(self, congestion):
        self.called.append(congestion.cause)
        with open("called.txt", "a") as file:
            print(*self.called, file=file)
        return congestion.cwnd
"""


def test_every_method_is_called_and_the_class_paces(here: Path, goodqueue: Command) -> None:
    """60 segments per RTT of 50 ms would be 14 Mbit/s. The class sets 4, on a link of 10."""
    line = f"{write(HOOKS)}:Hooks"
    sets = ("--set", "bottleneck.qdisc=netem loss 1%", "--set", "bottleneck.rate=10mbit", "--set", "path.rtt=50ms")
    record = json.loads(goodqueue("run", "ok.toml", "--set", f"traffic.0.cc={line}", *sets, *SHORT).out)
    assert 2 < record["flows"][0]["goodput_mbps"] < 4.1
    called = set(Path("called.txt").read_text(encoding="utf-8").split())
    assert {"on_open", "recovery", "loss"} <= called


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("class Slow", "class Fast", 'has no class "Slow"; accepted: Fast'),
        ("def ssthresh", "def thresh", "Slow has no method ssthresh; accepted: a class with on_ack(self, ack, window)"),
        ("def ssthresh", "def thresh", "and ssthresh(self, congestion), as docs/guides/my-cc.md has it"),
        ("def on_ack", "async def on_ack", "Slow.on_ack is an async def, whose call does nothing yet; accepted"),
        ("if rest:", "yield\n        if rest:", "Slow.on_ack is a generator (it has a yield), whose call does nothing"),
        ("connection, beta=0.5", "", "__init__ takes no connection; accepted: def __init__(self, connection, …)"),
        ("beta=0.5", "gamma=0.5", 'unknown word "beta"; accepted: gamma'),
        ("self.beta = beta", "self.beta = beta / 0", "ZeroDivisionError: "),
        ("max(2, ", "min(1, ", "Slow.ssthresh returned 1; accepted: a whole number of segments, 2 to "),
        ("max(2, int(congestion.cwnd * self.beta))", "None", "Slow.ssthresh returned None; accepted: a whole number"),
        ("if rest:", "window.cwnd = 0\n        if rest:", "window.cwnd: found 0; accepted: a whole number of segments"),
        ("if rest:", "self.ack = ack.cwnd\n        if rest:", "AttributeError: "),
        ("if rest:", "if getattr(self, 'window', window).cwnd and not setattr(self, 'window', window):", ""),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(here: Path, goodqueue: Command, old: str, new: str, says: str) -> None:
    assert old in CC
    line = f"{write(CC.replace(old, new))}:Slow beta 0.5"
    done = goodqueue("run", "ok.toml", "--set", f"traffic.0.cc={line}", *SHORT)
    if not says:  # the window that a call got is the one of the next call, too
        assert done.status == 0
        return
    assert done.status == 2
    assert says in done.err
    assert "mine.py" in done.err
    assert done.err.count("\n") == 1


def test_no_code_refuses_the_file(here: Path, goodqueue: Command) -> None:
    done = goodqueue("run", "--no-code", "ok.toml", "--set", f"traffic.0.cc={write(CC)}:Slow", *SHORT)
    assert done.status == 2
    assert "accepted with --no-code: files without code" in done.err


def test_it_runs_in_compare_and_stores_know_its_code(here: Path) -> None:
    line = f"{write(CC)}:Slow beta 0.7"
    both = gq.compare("pfifo", "codel", cc=line, rate="5mbit", duration="5s", seeds=1)
    assert both.estimate("codel", "utilisation_percent").mean > 50
    scenario = gq.run(cc=line, qdisc="codel", duration="2s").scenario
    from goodqueue.engines import identity

    before = identity._code(scenario)
    write(f"{CC}\n# changed\n")
    assert before is not None
    assert identity._code(scenario) != before


def test_a_suite_takes_it(here: Path, goodqueue: Command) -> None:
    done = goodqueue("suite", "rfc9743", f"{write(CC)}:Slow", "--quick", "--only", "5.1")
    assert done.status in (0, 1), done.err
    assert "Slow" in done.out


def test_a_scenario_names_it_beside_itself(here: Path, goodqueue: Command) -> None:
    folder = Path("there")
    folder.mkdir()
    write(CC, "there/mine.py")
    text = Path("ok.toml").read_text(encoding="utf-8").replace('kind = "bulk"', 'kind = "bulk"\ncc = "mine.py:Slow"', 1)
    (folder / "own.toml").write_text(text, encoding="utf-8")
    done = goodqueue("run", "there/own.toml", *SHORT)
    assert json.loads(done.out)["flows"][0]["cc"] == "there/mine.py:Slow beta 0.5"
