"""Records of every origin go to every verb that reads results: an answer, or one line, and never a traceback."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import origins
from conftest import Result
from goodqueue.plot import KINDS

Command = Callable[..., Result]

ORIGINS = [*origins.RUNS, *origins.MEASUREMENTS]

RESULTS: dict[str, tuple[str, ...]] = {
    "report": ("report", "FILE", "--out", "r.html"),
    "export --flent": ("export", "--flent", "FILE", "--out", "flent"),
    "export --subscribers": ("export", "--subscribers", "FILE", "--out", "tables"),
    **{f"plot {kind}": ("plot", kind, "FILE", "--out", "f.svg") for kind in KINDS},
    **{
        f"plot {kind} --metric {metric}": ("plot", kind, "FILE", "--metric", metric, "--out", "f.svg")
        for kind, metric in [
            ("bar", "goodput_mbps"), ("box", "ping_rtt_ms"), ("cdf", "ping_rtt_ms"), ("lines", "up_goodput_mbps"),
            ("time", "goodput_mbps"), ("time", "ping_rtt_ms"), ("time", "up_cwnd_packets"), ("box", "voip_mos"),
        ]
    },
}  # fmt: skip
"""What reads records."""

FILES: dict[str, tuple[str, ...]] = {
    "fit": ("fit", "FILE", "--evaluations", "2", "--qdisc", "pfifo", "--workers", "1"),
    "advise --flent": ("advise", "--flent", "FILE", "--down", "2mbit", "--up", "1mbit", "--quick"),
    "import": ("import", "FILE"),
}
"""What reads files of measurements."""

NARROW = 5
"""In each test without a mark, one of so many pairs of an origin and a verb is tried."""


def answer(goodqueue: Command, words: Sequence[str], files: Sequence[str]) -> Result:
    """Return the answer of a command that reads ``files``, which must be one or a line."""
    given = [word for part in words for word in (files if part == "FILE" else [part])]
    done = goodqueue(*given, *(["--force"] if "--out" in given else []))
    assert done.status in (0, 2), (given, done)
    assert done.status == 0 or (done.out, done.err.count("\n")) == ("", 1), (given, done)
    assert "Traceback" not in done.err
    return done


def tried(pairs: int, every: int) -> list[tuple[str, str]]:
    verbs = [*RESULTS, *FILES]
    listed = [
        (origin, verb) for origin in ORIGINS for verb in verbs if verb in RESULTS or origin in origins.MEASUREMENTS
    ]
    return listed[pairs::every]


def try_all(pairs: Sequence[tuple[str, str]], goodqueue: Command, here: Path) -> None:
    for origin in dict.fromkeys(origin for origin, _ in pairs):
        verbs = [verb for other, verb in pairs if other == origin]
        if any(verb in RESULTS for verb in verbs):
            (here / "record.json").write_text(json.dumps(origins.record(origin, here)), encoding="utf-8")
        if any(verb in FILES for verb in verbs):
            (here / "measured.json").write_text(json.dumps(origins.MEASUREMENTS[origin]()), encoding="utf-8")
        for verb in verbs:
            words, file = (RESULTS[verb], "record.json") if verb in RESULTS else (FILES[verb], "measured.json")
            answer(goodqueue, words, [file])


@pytest.mark.long
@pytest.mark.parametrize("at", range(NARROW))
def test_every_verb_answers_every_record(here: Path, goodqueue: Command, at: int) -> None:
    try_all(tried(at, NARROW), goodqueue, here)


def test_some_verbs_answer_some_records(here: Path, goodqueue: Command) -> None:
    """A diagonal through the table of the test above."""
    try_all(tried(3, 71), goodqueue, here)


@pytest.mark.long
@pytest.mark.parametrize("verb", RESULTS)
def test_every_verb_answers_a_store_of_all_records(here: Path, goodqueue: Command, verb: str) -> None:
    for at, origin in enumerate(ORIGINS):
        (here / f"{at}.json").write_text(json.dumps(origins.record(origin, here)), encoding="utf-8")
    files = [f"{at}.json" for at in range(len(ORIGINS))]
    for some in (files, files[::3], files[1::5], files[-4:]):
        answer(goodqueue, RESULTS[verb], some)


@pytest.mark.parametrize("origin", ["irtt", "flent voip by irtt", "iperf3 --bidir", "iperf3 -i 0"])
def test_what_flent_is_given_of_a_measurement_is_read_back(here: Path, goodqueue: Command, origin: str) -> None:
    """irtt has no intervals, and its calls no flows."""
    before = origins.imported(origin, here)
    (here / "record.json").write_text(json.dumps(before), encoding="utf-8")
    exported = answer(goodqueue, RESULTS["export --flent"], ["record.json"])
    if origin == "iperf3 -i 0":  # the format has no place for sums alone
        assert "holds no time series" in exported.err
        return
    (file,) = (here / "flent").glob("*.flent.gz")
    said = goodqueue("import", str(file), "--json")
    after = json.loads(said.out)
    for key in ("rtt_ms", "delay_ms"):
        means = [{app[key]["mean"] for app in one["apps"] if app.get(key)} for one in (before, after)]
        assert means[1] <= means[0]
        assert means[1] or not means[0]
    goodputs = [sum(flow["goodput_mbps"] for flow in one["flows"]) for one in (before, after)]
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.01)


def test_an_ellipse_shows_the_runs_that_have_both(here: Path, goodqueue: Command) -> None:
    """irtt has no goodput, and iperf3 no ping. A run of the simulator has both, and iperf3 the RTT of TCP."""
    for at, origin in enumerate(["irtt", "iperf3 -R", "sim", "iperf3"]):
        (here / f"{at}.json").write_text(json.dumps(origins.record(origin, here)), encoding="utf-8")
    words = RESULTS["plot ellipse"]
    assert answer(goodqueue, words, ["0.json", "1.json", "2.json"]).status == 0
    assert "1 of 3 runs have both" in (here / "f.svg").read_text(encoding="utf-8")
    assert answer(goodqueue, words, ["3.json", "0.json"]).status == 0
    assert "round-trip time of TCP" in (here / "f.svg").read_text(encoding="utf-8")
    said = answer(goodqueue, words, ["0.json", "1.json"])
    assert "no record has both goodput and latency (of pings, of the queue or of TCP)" in said.err


# What a result names is not run.

CLASS = """
from pathlib import Path
Path("ran").touch()
class Own:
    def __init__(self, *_): ...
    def enqueue(self, *_): ...
    def dequeue(self, *_): ...
    on_ack = ssthresh = enqueue
"""


@pytest.mark.parametrize("place", ["bottleneck.qdisc", "traffic.0.cc", "change", "hop"])
def test_no_verb_runs_a_class_that_a_record_names(here: Path, goodqueue: Command, place: str) -> None:
    (here / "own.py").write_text(CLASS, encoding="utf-8")
    record = json.loads(json.dumps(origins.record("sim without series", here)))
    scenario = record["scenario"]
    match place:
        case "bottleneck.qdisc":
            scenario["bottleneck"]["qdisc"] = record["queues"]["down"]["qdisc"] = "./own.py:Own target 5ms"
        case "traffic.0.cc":
            scenario["traffic"][0]["cc"] = record["flows"][0]["cc"] = "own.py:Own"
        case "change":
            scenario["change"] = [{"at": "1s", "qdisc": "stab overhead 4 own.py:Own"}]
        case _:
            scenario["hop"] = [{"name": "m", "kind": "link", "rate": "1mbit", "qdisc": "own.py:Own"}]
    (here / "record.json").write_text(json.dumps(record), encoding="utf-8")
    for verb in ("report", "plot law", "plot time"):
        answer(goodqueue, RESULTS[verb], ["record.json"])
    said = answer(goodqueue, RESULTS["export --flent"], ["record.json"])
    assert said.status == 2
    assert "names Python code" in said.err
    assert not (here / "ran").exists()


def test_fit_runs_no_congestion_control_that_a_file_names(here: Path, goodqueue: Command) -> None:
    (here / "own.py").write_text(CLASS, encoding="utf-8")
    text = json.dumps(origins.MEASUREMENTS["iperf3"]()).replace('"brutal"', '"./own.py:Own"')
    (here / "f.json").write_text(text, encoding="utf-8")
    said = answer(goodqueue, FILES["fit"], ["f.json"])
    assert "congestion control ./own.py:Own, which the simulator does not know" in " ".join(said.out.split())
    assert not (here / "ran").exists()
