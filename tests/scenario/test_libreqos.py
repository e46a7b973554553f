"""LibreQoS's files of circuits and sites, which a scenario names."""

import json
from pathlib import Path
from typing import Any

import pytest

from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.files import libreqos

HEADINGS = (
    "Circuit ID,Circuit Name,Device ID,Device Name,Parent Node,Parent Node ID,Anchor Node ID,MAC,IPv4,IPv6,"
    "Download Min Mbps,Upload Min Mbps,Download Max Mbps,Upload Max Mbps,Comment"
)
ROWS = [
    '1,"Mill, upper",1,Radio,Hill,,,,"100.64.0.1, 100.64.0.2",,1,0.5,50,10,',
    "2,Forge,2,Radio,Hill,,100.64.0.3,,2,1,25.5,5,",  # without the two newer columns, as in LibreQoS's example
    '1,"Mill, upper",3,Second radio,Hill,,,,100.64.0.4,,1,0.5,50,10,',
    "3,Inn,4,Fibre,,,,,,,1,1,100,100,no address",
]
NETWORK = {
    "Region": {
        "downloadBandwidthMbps": 9000, "uploadBandwidthMbps": 9000, "virtual": True, "type": "site",
        "children": {"Hill": {"downloadBandwidthMbps": 60, "uploadBandwidthMbps": 20.5, "type": "ap"}},
    }
}  # fmt: skip
SCENARIO = """\
duration = "5s"
[isp]
devices = "ShapedDevices.csv"
network = "network.json"
traffic = "idle"
[bottleneck]
rate = "1gbit"
qdisc = "cake diffserv4"
[path]
rtt = "20ms"
"""


def written(folder: Path, rows: list[str], network: Any = NETWORK, headings: str = HEADINGS) -> Path:
    (folder / "ShapedDevices.csv").write_text("\n".join([headings, *rows, ""]), encoding="utf-8")
    (folder / "network.json").write_text(json.dumps(network), encoding="utf-8")
    (folder / "isp.toml").write_text(SCENARIO, encoding="utf-8")
    return folder / "isp.toml"


def test_circuits_and_sites_become_tables(tmp_path: Path) -> None:
    """Rows of one circuit are one subscriber, and a virtual site gives its children to the one above."""
    resolved = loads.from_file(written(tmp_path, ROWS))
    assert resolved["node"] == [{"name": "Hill", "down": "60mbit", "up": "20500kbit"}]
    mill, forge, inn = resolved["subscriber"]
    assert mill["addresses"] == ["100.64.0.1/32", "100.64.0.2/32", "100.64.0.4/32"]
    assert (mill["down"], mill["up_min"], mill["parent"], mill["traffic"]) == ("50mbit", "500kbit", "Hill", "idle")
    assert (forge["down"], forge["down_min"], forge["addresses"]) == ("25500kbit", "2mbit", ["100.64.0.3/32"])
    assert "parent" not in inn
    assert "addresses" not in inn


def test_a_column_of_queues(tmp_path: Path) -> None:
    rows = [f"{row},fq_codel" for row in ROWS[:1]]
    (one,) = loads.from_file(written(tmp_path, rows, headings=f"{HEADINGS},sqm"))["subscriber"]
    assert one["qdisc"].startswith("fq_codel")


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ("1,A,1,A,Hill,,,,100.64.0.1,,1,1,fast,10,", "ShapedDevices.csv:2: Download Max Mbps: found .fast.; accepted:"),
        (
            "1,A,1,A,Hill,,,,100.64.0.1,,90,1,50,10,",
            "ShapedDevices.csv:2: Download Min Mbps: found 90; accepted: at most",
        ),
        ("1,A,1,A,Hil,,,,100.64.0.1,,1,1,50,10,", "ShapedDevices.csv:2: Parent Node: found .Hil.; accepted: a node of"),
        ("1,A,1,A,Hill,,,,100.64.0.999,,1,1,50,10,", "ShapedDevices.csv:2: IPv4: found .100.64.0.999.; accepted: IPv4"),
        ("1,A,1,A,Hill", "ShapedDevices.csv:2: found 5 columns; accepted: 15 or 13, as the headings say"),
        (",A,1,A,Hill,,,,100.64.0.1,,1,1,50,10,", "ShapedDevices.csv:2: Circuit ID: found none; accepted: a number"),
        (
            "1,A,1,A,Hill,,,,100.64.0.1,,1,1,50,10,\n2,B,2,B,Hill,,,,100.64.0.1,,1,1,50,10,",
            "ShapedDevices.csv:3: IPv4: found 100.64.0.1, which row 2 has; accepted: addresses of its own",
        ),
    ],
)
def test_a_bad_row_is_refused_with_row_and_column(tmp_path: Path, row: str, wanted: str) -> None:
    with pytest.raises(UserError, match=wanted):
        loads.from_file(written(tmp_path, [row]))


@pytest.mark.parametrize(
    ("network", "wanted"),
    [
        ([], r"network.json: the file: found \[\]; accepted: an object of nodes by name"),
        ({"Hill": 3}, "network.json: Hill: found 3; accepted: an object with downloadBandwidthMbps and"),
        (
            {"Hill": {"downloadBandwidthMbps": 0, "uploadBandwidthMbps": 1}},
            "network.json: Hill.downloadBandwidthMbps: found 0; accepted: Mbit/s, as 1000",
        ),
        (
            {"Hill": {**NETWORK["Region"], "children": NETWORK}, "Region": NETWORK["Region"]},
            "network.json: Region: found .Region. twice .also at Hill.children.Region.; accepted: each name once",
        ),
    ],
)
def test_a_bad_network_is_refused_with_its_place(tmp_path: Path, network: Any, wanted: str) -> None:
    if "Region" in network:
        network["Hill"]["children"] = {"Region": {"downloadBandwidthMbps": 1, "uploadBandwidthMbps": 1}}
    with pytest.raises(UserError, match=wanted):
        loads.from_file(written(tmp_path, ROWS, network))


def test_headings_are_needed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(
        UserError, match=r"a.csv:1: found the headings .a, b. …, without Circuit ID; accepted: a file as"
    ):
        libreqos.subscribers(tmp_path / "a.csv", None)
