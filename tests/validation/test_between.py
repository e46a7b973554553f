"""What changed between releases of Linux: the table of kernels beside one another."""

from dataclasses import replace

from goodqueue.validation import between
from goodqueue.validation.result import Result, Side, Validation


def side(delay_ms: float, dropped: int = 0, fetch_ms: float | None = None) -> Side:
    values = {"delay_mean_ms": delay_ms, "delay_p95_ms": delay_ms, "utilisation_percent": 99.0, "jain_goodput": 1.0}
    measured = values | {"goodput_mbps": 9.0, "dropped": dropped, "marked": 0, "recovery_s": None}
    transfers = {} if fetch_ms is None else {"fetch": [fetch_ms]}
    return Side({key: [value] for key, value in measured.items()}, [[9.0]], [], transfers)


def validation(release: str, *results: Result) -> Validation:
    kernel = {"release": f"{release}.4-amd64 #1 SMP", "tc": "iproute2", "where": "vm", "qemu": "7.2"}
    return Validation("2026-11-26", "0.1.0", "abc", kernel, False, (1,), results)


def rows(text: str) -> dict[str, list[str]]:
    lines = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cells[0]: cells[1:] for cells in lines}


def test_the_kernels_are_compared_and_the_simulator_only_says_what_is_chance() -> None:
    before = Result("codel", "base", "codel", side(10.0), side(8.0, 50, 300.0), side(11.0))
    after = replace(before, sim=side(1.0), kernel=side(10.0, 40, 250.0))
    alone = replace(before, change="other")
    text = between.markdown({"6.1": validation("6.1", before, alone), "7.3": validation("7.3", after)})
    assert text.startswith("1 cell, one seed each (6.1: Linux 6.1.4-amd64, 2026-11-26, 7.3: Linux 7.3.4-amd64,")
    found = rows(text)["codel/base"]
    assert found[:1] == ["fetch"], "the last table is that of the transfers"
    assert found[1:] == ["300", "250"]
    table, _, _ = text.partition("| cell | of |")
    measured = rows(table)["codel/base"]
    assert measured[:4] == ["8.0", "10.0", "+25.0", "10.0"], "the simulator's 1 ms and 10 ms are no change of Linux"
    assert measured[4:] == ["99.0", "99.0", "50", "40", "0", "0"]
    assert "codel/other" not in text, "one release lacks it"
