"""Bad input gets one clear line with the place, what was found and what is accepted. Nothing is written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import TOML, Result

FILES = {
    "empty.toml": b"",
    "comment.toml": b"# nothing but this\n",
    "latin.toml": b'# fine\nduration = "\xff"\n',
    "syntax.toml": b'duration = "1s"\nwarmup = \n',
    "deep.toml": b"a = " + b"[" * 3000 + b"]" * 3000,
    "date.toml": TOML.replace('"4s"', "2024-01-01").encode(),
    "nan.toml": TOML.replace('"4s"', "nan").encode(),
    "key.toml": b"botleneck = 1\n" + TOML.encode(),
    "short.toml": b'duration = "4s"\n',
    "no-request.toml": TOML.replace('"ping"', '"rr"\nresponse = "1kB"').encode(),
    "bare.json": b'{"queues": 1}',
    "newer.json": b'{"schema": 2}',
    "contradiction.toml": (TOML + 'cc = "cubic"\n').encode(),
}

# The command, and what its one line must contain.
TABLE = [
    ("run missing.toml", "missing.toml: not found; accepted: a scenario file"),
    ("run empty.toml", "empty.toml: the file is empty; accepted: a scenario"),
    ("run comment.toml", "comment.toml: found only comments; accepted: a scenario"),
    ("run folder", "folder: found a directory; accepted: a scenario file"),
    ("run latin.toml", "latin.toml: line 2: found a byte that is not UTF-8"),
    ("run syntax.toml", "syntax.toml: not TOML: Invalid value (at line 2, column 10)"),
    ("run deep.toml", "deep.toml: found tables, lists or keys nested too deeply"),
    ("run date.toml", "date.toml:2: duration: found 2024-01-01; accepted: "),
    ("run nan.toml", "nan.toml:2: duration: found nan; accepted: "),
    ("run key.toml", 'key.toml:1: botleneck: unknown key; did you mean "bottleneck"? accepted: duration'),
    ("run short.toml", "short.toml: bottleneck: missing"),
    ("run contradiction.toml", 'contradiction.toml:15: traffic[1].cc: kind "ping" has no such key'),
    ("run ok.toml --set bottleneck.rate=-5mbit", '--set bottleneck.rate: found "-5mbit"; accepted: a rate'),
    ("run ok.toml --set bottleneck.rate=5parsec", '--set bottleneck.rate: found "5parsec"; accepted: a rate'),
    ("run ok.toml --set path.rtt=50", "--set path.rtt: found"),
    ("run ok.toml --set bottleneck.rate.x=1", "--set bottleneck.rate.x=1: bottleneck.rate is "),
    ("run ok.toml --set traffic.7.count=2", '--set traffic.7.count=2: found "7"; accepted: traffic.0 to traffic.2'),
    ("run ok.toml --set traffic.0.cc=cubik", '--set traffic.0.cc: found "cubik"; did you mean "cubic"? accepted:'),
    ("run ok.toml --set traffic.0.ecn=accec", '--set traffic.0.ecn: found "accec"; accepted: false, true or "accecn"'),
    ("run ok.toml --set traffic.0.cc=none:5", '--set traffic.0.cc: found "none:5"; did you mean "none"?'),
    ("run ok.toml --set nonsense", "--set nonsense: found no KEY=VALUE; accepted: a dotted key"),
    ("run ok.toml --set path.rtt=\udcff", "path.rtt: found "),
    ("run ok.toml --seed x", '--seed: found "x"; accepted: a whole number from 0'),
    ("run ok.toml --seed -1", '--seed: found "-1"; accepted: a whole number from 0'),
    ("run ok.toml --engine gateway", '--engine: found "gateway"; accepted: sim, kernel'),
    ("run ok.toml --engine moon", '--engine: found "moon"; accepted: sim'),
    ("run ok.toml --sed 1", 'run: found option "--sed"; accepted: --engine, --kernel, --machine, --seed'),
    ("run ok.toml --seed", "'--seed' requires an argument"),
    ("run ok.toml more", "run: got unexpected extra argument"),
    ("run", "run: missing argument 'SCENARIO.toml'"),
    ("walk", "no such command 'walk'; accepted: run, compare, sweep"),
    ("compare codle", 'QDISC "codle": unknown qdisc "codle"; did you mean "codel"? accepted: pfifo'),
    ("compare codel codel", 'QDISC: found "codel" twice; accepted: each qdisc once'),
    ("compare codel --rate 10parsec", '--rate: found "10parsec"; accepted: a rate'),
    ("compare codel --rtt -5ms", '--rtt: found "-5ms"; accepted: a time'),
    ("compare codel --duration 1s --warmup 2s", "--warmup: found 2s; accepted: less than the duration"),
    ("compare codel --cc cubik", '--cc: found "cubik"; did you mean "cubic"?'),
    ("compare codel --seeds 99999", '--seeds: found "99999"; accepted: a whole number from 1 to 10000'),
    ("compare codel --flows 0", '--flows: found "0"; accepted: a whole number from 1'),
    ("compare codel --flows 999999", "--flows: found 999999; accepted: 1 to"),
    (
        "compare codel --traffic telepathy",
        '--traffic: found "telepathy"; accepted: bulk, transfer, rr, stream, cbr',
    ),
    ("compare codel --traffic bulk:2:3", '--traffic: found "bulk:2:3", a second count; accepted: one'),
    ("compare codel --traffic bulk:up:down", '--traffic: found "bulk:up:down", a second direction; accepted: one'),
    ("compare codel --traffic cbr:1mbit:2mbit", '--traffic: found "cbr:1mbit:2mbit", a second rate; accepted: one'),
    ("compare codel --traffic ping --flows 4", "--flows: there are no bulk flows in --traffic ping; accepted: --flows"),
    ("compare codel --traffic ping --cc reno", "--cc: there are no bulk flows in --traffic ping; accepted: --cc with"),
    ("compare codel --traffic cbr:1mbit --ecn", "--ecn: there are no bulk flows in --traffic cbr:1mbit; accepted:"),
    ("compare codel --traffic bulk:2,ping --flows 2", "--flows: --traffic bulk:2,ping gives a number of flows too;"),
    ("compare codel --rate 10", "--rate: found the bare number 10; accepted: a rate with its unit"),
    ("compare codel --up-rate 1.5", "--up-rate: found floating point 1.5; accepted: a rate with its unit"),
    (
        "compare codel --traffic cbr:1.5",
        "--traffic: 0.rate: found floating point 1.5; accepted: a rate with its unit",
    ),
    ("compare codel --rate 1mbit --rate=2mbit", "--rate: given twice; accepted: once"),
    ("run ok.toml --seed 1 --seed 1", "--seed: given twice; accepted: once"),
    ("run ok.toml --trace out.pcap", '--trace out.pcap: found a name that ends in ".pcap"; accepted: a name that ends'),
    ("run ok.toml --trace no/out.pcapng", "--trace no/out.pcapng: cannot be written: no is no folder"),
    ("run ok.toml --trace-at sender", "--trace-at: found without --trace; accepted: with --trace FILE.pcapng"),
    ("run ok.toml --trace o.pcapng --trace-at wire", '--trace-at: found "wire"; accepted: sender, receiver, down-in'),
    ("run ok.toml --trace o.pcapng --trace-at up-in,up-in", '--trace-at: found "up-in,up-in", the same twice;'),
    ("run ok.toml --trace o.pcapng --trace-snap 9", '--trace-snap: found "9"; accepted: a whole number from 54'),
    (
        "run ok.toml --engine kernel --trace o.pcapng --trace-at sender",
        '--trace-at: found "sender"; accepted: down-in, down-out, up-in, up-out (with --engine kernel)',
    ),
    ("run missing.toml --trace o.pcapng", "missing.toml"),
    ("compare codel --seeds 0", '--seeds: found "0"; accepted: a whole number from 1 to 10000'),
    ("study schwardmann2014 --seeds 0", '--seeds: found "0"; accepted: a whole number from 1 to 10000'),
    ("compare codel --traffic cbr", '--traffic: found "cbr", a source without rate; accepted: cbr:RATE'),
    (
        "compare codel --traffic transfer",
        '--traffic: found "transfer", a source without size; accepted: transfer:',
    ),
    (
        "compare codel --traffic rr:up",
        '--traffic: found "rr:up", a source without size; accepted: rr:SIZE, as',
    ),
    ("compare codel --traffic tmix", '--traffic: found "tmix", a source without vectors; accepted: tmix:VECTORS, as'),
    ("compare codel --traffic tmix:no.tmix", "no.tmix: not found; accepted: a file of TMIX's connection vectors"),
    ("compare codel --traffic stream", '--traffic: found "stream", a source without rate; accepted: stream:RATE'),
    ("compare codel --traffic transfer:0B", "--traffic: 0.size: found 0 bytes; accepted: 1B to 1000000GB"),
    ("compare codel --traffic transfer:1parsec", '--traffic: 0.size: found "1parsec"; accepted: a size with its unit,'),
    ("run no-request.toml", "no-request.toml:13: traffic[1].request: missing; accepted: a size such as"),
    ("run ok.toml --set traffic.0.size=1MB", '--set traffic.0.size: kind "bulk" has no such key; accepted beside'),
    ("run ok.toml --set nosuch.key=1", "--set nosuch.key: nosuch: unknown key; accepted: duration"),
    ("run ok.toml --set series.tcp=true", "series.interval: missing, and series.tcp samples at its ends; accepted:"),
    ("run ok.toml --set series.cc=true", "series.interval: missing, and series.cc samples at its ends; accepted:"),
    ("run ok.toml --set series.law=true", "series.interval: missing, and series.law samples at its ends; accepted:"),
    ("compare codel --traffic bulk:fast", '--traffic: found "bulk:fast"; accepted: a list such as bulk,ping'),
    ("compare codel --buffer big", '--buffer: found "big"; accepted: a multiple of the bandwidth-delay product'),
    ("compare codel --set bottleneck=3", "bottleneck: found 3; accepted: a table with a rate"),
    ("compare codel --scenario ok.toml --flows 2", "--flows: ok.toml says what the traffic is; accepted: one of"),
    ("compare codel --out ok.toml", "--out ok.toml: found a file; accepted: a folder"),
    ("compare codel --out .", "--out .: holds files of others (bare.json and"),
    ("compare codel --out folder/below/out --rate x", '--rate: found "x"'),
    ("sweep missing.toml", "missing.toml: not found; accepted: a scenario file"),
    ("sweep ok.toml --set path.rtt", "--set path.rtt: found no KEY=VALUE; accepted: a dotted key"),
    ("sweep ok.toml --set path.rtt=5ms,", "--set path.rtt=5ms,: found an empty value; accepted: KEY=V1,V2"),
    ("sweep ok.toml --set path.rtt=5ms,5ms", '--set path.rtt=5ms,5ms: found "5ms" twice; accepted: each value once'),
    ("sweep ok.toml --set path.rtt=5ms --set path.rtt=6ms", "--set path.rtt: given twice; accepted: all values in one"),
    ("sweep ok.toml --set path.rtt=x,y", '--set path.rtt: found "x"; accepted: a time'),
    ("sweep ok.toml --set seed=1,2", "--set seed=1,2: the seeds of each cell follow from --seeds"),
    ("sweep ok.toml --set traffic.0.count=[1,2", "--set traffic.0.count=[1,2: found a bracket that has no partner"),
    ("sweep ok.toml --set bottleneck.qdisc='codel,pie", "found the quote ' that has no partner"),
    ("sweep ok.toml --until-ci 2", '--until-ci: found "2"; accepted: a percentage, as 2%'),
    ("sweep ok.toml --until-ci -1%", '--until-ci: found "-1%"; accepted: a percentage'),
    ("sweep ok.toml --until-ci nan%", '--until-ci: found "nan%"; accepted: a percentage'),
    ("sweep ok.toml --until-ci 2% --seeds 1", "--seeds: found 1, and --until-ci needs a spread"),
    ("sweep ok.toml --until-ci 2% --seeds 9 --max-seeds 8", "--max-seeds: found 8, less than --seeds 9"),
    ("sweep ok.toml --max-seeds 8", "--max-seeds: there is no --until-ci"),
    ("sweep ok.toml --metric delay", '--metric: found "delay"; accepted: delay_mean_ms, '),
    ("sweep ok.toml --metric queues.down.delay", "--metric queues.down.delay: queues.down has no field 'delay'"),
    ("sweep ok.toml --metric flows.0.rtt_ms.p17", "--metric flows.0.rtt_ms.p17: flows.0.rtt_ms has no field 'p17'"),
    ("sweep ok.toml --metric queues.down.qdisc", "queues.down.qdisc is not a number; accepted: a path"),
    ("sweep ok.toml --executor dusk", '--executor: found "dusk"; accepted: local, or dask://HOST:PORT'),
    ("sweep ok.toml --executor dask://here", '--executor: found "dask://here"; accepted: local, or dask://HOST:PORT'),
    ("sweep ok.toml --engine moon", '--engine: found "moon"; accepted: sim'),
    ("sweep ok.toml --store ok.toml", "--store ok.toml: found a file; accepted: a folder"),
    ("sweep ok.toml --store ok.toml/x", "ok.toml is no folder"),
    ("import latin.toml", "latin.toml: not UTF-8; accepted: a data file of Flent's"),
    ("report missing", "missing: not found; accepted: a store, a record in JSON"),
    ("report folder", "folder: no store.json and no results.json in it; accepted: a store"),
    ("report ok.toml", "ok.toml: not JSON: "),
    ("report bare.json", "bare.json: not a record; accepted: what `goodqueue run --json` prints"),
    ("report newer.json", "newer.json: found schema 2, of a newer goodqueue; accepted: 1 at most"),
    (
        "report bare.json --out ok.toml",
        "--out ok.toml: exists already; accepted: another name, or --force to replace it",
    ),
    ("report bare.json --out folder", "--out folder: found a folder; accepted: a file"),
    ("list planets", 'list: found "planets"; accepted: qdiscs, cc, traffic, hops, linux'),
    ("list qdiscs codle", 'list qdiscs: found "codle"; accepted: pfifo'),
    ("replay missing", "missing: not found; accepted: a trace"),
    ("replay folder", "folder: no trace below; accepted: a folder"),
    ("replay ok.toml", "ok.toml"),
    ("bench flows 100,many", 'bench flows: found "many"; accepted: a whole number from 1 to 1000000'),
    ("bench --flows 100", 'bench: found option "--flows"; accepted: goodqueue bench flows N,N, as it is called now'),
    ("bench --fast", 'bench: found option "--fast"; accepted: --quick'),
]


@pytest.mark.parametrize(("command", "expected"), TABLE, ids=[command for command, _ in TABLE])
def test_one_line_names_the_place_and_what_is_accepted(
    here: Path, goodqueue: Callable[..., Result], command: str, expected: str
) -> None:
    for name, content in FILES.items():
        (here / name).write_bytes(content)
    (here / "folder").mkdir()
    before = sorted(here.rglob("*"))

    result = goodqueue(*command.split(" "))

    assert result.status == 2, "bad input must end with status 2"
    assert result.out == "", "bad input must print nothing that a program could take for a result"
    assert result.err.startswith("goodqueue: ")
    assert result.err.count("\n") == 1, "a refusal is one line"
    assert expected in result.err, "the line must name the place, what was found, what is accepted"
    assert sorted(here.rglob("*")) == before, "bad input must leave nothing behind"


def test_a_line_break_in_a_name_does_not_break_the_line(here: Path, goodqueue: Callable[..., Result]) -> None:
    assert goodqueue("run", "two\nlines.toml").err == (
        "goodqueue: two\\nlines.toml: not found; accepted: a scenario file in TOML\n"
    )


def test_a_refusal_comes_before_any_run(here: Path, goodqueue: Callable[..., Result]) -> None:
    # A run of a million seconds would take minutes: the bad third qdisc must be seen first.
    result = goodqueue("compare", "codel", "pie", "red limit none", "--duration", "999999s")
    assert 'QDISC "red limit none"' in result.err
