"""Size tables, netem and policers, as users write them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import scenario
from goodqueue.engines.kernel import planning, tc
from goodqueue.errors import UserError
from goodqueue.plot.looks import look_of
from goodqueue.scenario import discipline, parameters

ADSL = "stab overhead -4 linklayer atm tbf rate 840kbit latency 300ms burst 1696"
CANONICAL = "stab mtu 2047 mpu 0 overhead -4 tsize 512 linklayer atm tbf rate 840kbit burst 1696 latency 300ms"

Cli = Callable[..., Result]


def resolved(**changes: Any) -> dict[str, Any]:
    asked = {
        "duration": "10s",
        "bottleneck": {"rate": "10mbit", "qdisc": "pfifo"},
        "path": {"rtt": "40ms"},
        "traffic": [{"kind": "cbr", "rate": "1mbit"}],
    }
    return scenario.resolve(asked | changes, "scenario")


def test_a_table_in_front_of_a_line_counts_cells(goodqueue: Cli, tmp_path: Path) -> None:
    """1514 bytes count 1696 in cells. Without the table 840 kbit/s would pass."""
    file = tmp_path / "adsl.toml"
    file.write_text(
        f'duration = "20s"\n[bottleneck]\nrate = "10mbit"\nqdisc = "{ADSL}"\n[bottleneck.up]\nqdisc = "pfifo"\n'
        '[path]\nrtt = "40ms"\n[[traffic]]\nkind = "cbr"\nrate = "2mbit"\n'
    )
    queue = json.loads(goodqueue("run", str(file), "--json").out)["queues"]["down"]
    assert queue["qdisc"].startswith(CANONICAL.split(" burst", maxsplit=1)[0])
    assert queue["throughput_mbps"] == pytest.approx(0.84 * 1514 / 1696, rel=0.01)


def test_a_line_with_a_table_goes_wherever_a_line_goes(goodqueue: Cli) -> None:
    words = ["--rate", "10mbit", "--traffic", "cbr:2mbit", "--duration", "10s", "--seeds", "1", "--json"]
    result = goodqueue("compare", ADSL, "tbf rate 840kbit burst 1696 latency 300ms", *words)
    assert "stab" in result.out
    assert parameters.numbers(CANONICAL)["burst_bytes"] == 1696
    assert discipline.name_of(CANONICAL) == "tbf"
    assert look_of(CANONICAL) == look_of("tbf")
    table = {"qdisc": ADSL}
    parameters.set_one(table, ["burst"], "3000", "--set")
    assert table["qdisc"] == ADSL.replace("1696", "3000")


def test_the_kernel_engine_refuses_a_table_by_name() -> None:
    """Linux answers "STAB not supported on a non root", and the root of the laboratory's links is their shaper."""
    line = resolved(bottleneck={"rate": "10mbit", "qdisc": ADSL})["bottleneck"]["qdisc"]
    with pytest.raises(UserError, match='linklayer atm"; accepted by the kernel engine: a line without stab'):
        tc.translate(line, 10_000_000)


NETEM = {
    "netem": "netem limit 1000",
    "netem delay 20ms 5ms 25% distribution normal": "netem limit 1000 delay 20ms 5ms 25 distribution normal",
    "netem loss 1% 25% ecn": "netem limit 1000 loss 1 25 ecn",
    "netem loss state 1% 10% 1% 50% 1%": "netem limit 1000 loss state 1 10 1 50 1",
    "netem loss gemodel 1% 10% 70%": "netem limit 1000 loss gemodel 1 10 70",
    "netem rate 5mbit 20 48 5 slot 10ms 20ms packets 3": (
        "netem limit 1000 rate 5mbit 20 48 5 slot 10ms 20ms packets 3"
    ),
}


@pytest.mark.parametrize("line", NETEM)
def test_the_kernel_engine_types_netem_in_tc_s_order(line: str) -> None:
    found = resolved(bottleneck={"rate": "10mbit", "qdisc": line})["bottleneck"]["qdisc"]
    (words,) = tc.translate(found, 10_000_000)
    assert " ".join(words) == f"parent 1:1 handle 10: {NETEM[line]}"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("netem loss 1% seed 7", "no seed, which Linux has since 6.7"),
        ("netem slot distribution uniform 10ms 2ms", "slot with the shortest and the longest time"),
    ],
)
def test_the_kernel_engine_refuses_what_linux_6_1_lacks(line: str, why: str) -> None:
    found = resolved(bottleneck={"rate": "10mbit", "qdisc": line})["bottleneck"]["qdisc"]
    with pytest.raises(UserError, match=why):
        tc.translate(found, 10_000_000)


def test_the_kernel_engine_refuses_a_policer_by_name() -> None:
    hop = {"name": "edge", "kind": "police", "rate": "5mbit", "burst": "15kB"}
    with pytest.raises(UserError, match=r'hop\[0\]\.kind: found "police"; accepted by the kernel engine: link, wire'):
        planning.plan(resolved(hop=[hop]))


def test_a_wire_s_jitter_says_that_it_keeps_order(goodqueue: Cli, tmp_path: Path) -> None:
    text = (
        'duration = "6s"\n[bottleneck]\nrate = "10mbit"\nqdisc = "pfifo"\n[path]\nrtt = "40ms"\n'
        '[[hop]]\nname = "air"\nkind = "wire"\ndelay = "10ms"\njitter = "3ms"\n{more}\n[[traffic]]\nkind = "ping"\n'
    )
    file = tmp_path / "wire.toml"
    file.write_text(text.replace("{more}", ""))
    note = "hop[0].jitter 3ms keeps packets in order, unlike netem; jitter_reorders = true lets them overtake"
    assert note in goodqueue("run", str(file)).err
    file.write_text(text.replace("{more}", "jitter_reorders = true"))
    assert "unlike netem" not in goodqueue("run", str(file)).err
