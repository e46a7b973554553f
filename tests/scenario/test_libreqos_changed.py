"""LibreQoS's files, however they are changed: what is sold is what the file says, or the file is refused in a line."""

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

from goodqueue.engines import loads
from goodqueue.errors import UserError
from mutation import edited, mutated
from tries import tries

OLD = "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,MAC,IPv4,IPv6,Download Min Mbps,Upload Min Mbps,"
OLD += "Download Max Mbps,Upload Max Mbps,Comment"
NEW = OLD.replace("Parent Node,", "Parent Node,Parent Node ID,Anchor Node ID,").replace("Comment", "Comment,sqm")
SCENARIO = """\
duration = "1s"
isp = {devices = "devices.csv", network = "network.json", traffic = "none"}
bottleneck = {rate = "1gbit", qdisc = "cake diffserv4"}
path = {rtt = "20ms"}
[[traffic]]
kind = "bulk"
"""


def table(draw: random.Random, nodes: list[str]) -> str:
    """Return any table of circuits, in the headings of LibreQoS 1.4 or of 2.2."""
    headings = draw.choice((OLD, NEW, NEW.replace("Comment,sqm", "sqm,Comment"))).split(",")
    rows = []
    for number in range(draw.randint(1, 6)):
        cells = {
            "Circuit ID": str(draw.choice((number, 1))),
            "Circuit Name": draw.choice(("Mill, upper", "Forge", "")),
            "Parent Node": draw.choice((*nodes, "", "none")),
            "IPv4": draw.choice(("", f"100.64.{number}.1", f"100.64.{number}.0/24", "100.64.0.0/10", "10.0.0.1")),
            "Download Max Mbps": draw.choice(("50", "2.5", "1000", "0.5")),
            "Upload Max Mbps": draw.choice(("10", "1.25")),
            "Download Min Mbps": draw.choice(("", "0.1", "0.5")),
            "sqm": draw.choice(("", "cake", "fq_codel", "cake/fq_codel", "none")),
        }
        rows.append([cells.get(name, "") for name in headings])
    out = io.StringIO()
    csv.writer(out).writerows([headings, *rows])
    return out.getvalue()


def sites(draw: random.Random) -> tuple[dict[str, Any], list[str]]:
    """Return any tree of up to five sites, and their names."""
    names = [f"n{number}" for number in range(draw.randint(0, 5))]
    tree: dict[str, Any] = {}
    places = [tree]
    for name in names:
        site = {"downloadBandwidthMbps": 100, "uploadBandwidthMbps": 50, "children": {}}
        site |= draw.choice(({}, {"virtual": True}, {"type": "site"}, {"id": f"id-{name}"}))
        draw.choice(places)[name] = site
        places.append(site["children"])
    return tree, names


def test_a_subscriber_is_sold_what_the_first_row_of_its_circuit_says(tmp_path: Path) -> None:
    file = tmp_path / "isp.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    read = 0
    for draw in tries(60):
        network, names = sites(draw)
        text = table(draw, names)
        (tmp_path / "devices.csv").write_text(text, encoding="utf-8", newline="")
        (tmp_path / "network.json").write_text(json.dumps(network), encoding="utf-8")
        try:
            sold = {one["name"]: one for one in loads.from_file(file)["subscriber"]}
        except UserError as error:
            assert "\n" not in str(error)
            assert "accepted: " in str(error)
            continue
        read += 1
        rows = list(csv.DictReader(io.StringIO(text)))
        assert list(sold) == list(dict.fromkeys(row["Circuit ID"] for row in rows))
        for row in reversed(rows):
            first = next(one for one in rows if one["Circuit ID"] == row["Circuit ID"])
            one = sold[row["Circuit ID"]]
            for key, column in (("down", "Download Max Mbps"), ("up", "Upload Max Mbps")):
                assert bits(one[key]) == float(first[column]) * 1e6, (one, first)
            if row["IPv4"]:
                assert any(row["IPv4"] in address for address in one["addresses"]), (one, row)
    assert read > 5


def bits(rate: str) -> float:
    for unit, times in (("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)):
        if rate.endswith(unit):
            return float(rate.removesuffix(unit)) * times
    raise AssertionError(rate)


def test_however_the_files_are_changed_they_are_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / "isp.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    for draw in tries(120):
        network: Any
        network, names = sites(draw)
        text = table(draw, names)
        if draw.random() < 0.7 or not network:
            text = edited(text, draw)
            said = json.dumps(network)
        else:
            network, _ = mutated(network, draw)
            said = json.dumps(network)
            said = edited(said, draw) if draw.random() < 0.3 else said
        (tmp_path / "devices.csv").write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        (tmp_path / "network.json").write_text(said, encoding="utf-8", errors="surrogatepass")
        try:
            loads.from_file(file)
        except UserError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 3000
