"""LibreQoS's files of circuits and sites, which a scenario names."""

import json
from pathlib import Path
from typing import Any

import pytest

from goodqueue import running
from goodqueue.engines import loads
from goodqueue.errors import UserError
from goodqueue.files.libreqos import devices

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


@pytest.mark.parametrize(
    ("word", "down", "up"),
    [
        ("fq_codel", "fq_codel", "fq_codel"),
        ("Cake / FQ_codel", "cake", "fq_codel"),
        ("/none", "cake", "pfifo"),
        ("cake/", "cake", "cake"),
        ("", "cake", "cake"),
    ],
)
def test_a_column_of_queues(tmp_path: Path, word: str, down: str, up: str) -> None:
    """A word counts for both directions, or there is one per direction. Without one the bottleneck's line counts."""
    (one,) = loads.from_file(written(tmp_path, [f"{ROWS[0]},{word}"], headings=f"{HEADINGS},sqm"))["subscriber"]
    lines = (one.get("qdisc", "cake"), one.get("up_qdisc", one.get("qdisc", "cake")))
    assert [line.split()[0] for line in lines] == [down, up]


def test_cake_on_a_slow_line_has_an_rtt_and_a_fast_circuit_fq_codel(tmp_path: Path) -> None:
    """LibreQoS 2.2 types other lines for at most 4 and for 1000 Mbit/s or more. A circuit's word stays beside them."""
    slow, fast = "1,A,1,A,,,,,100.64.0.1,,1,0.5,3.5,0.9,", "2,B,2,B,,,,,100.64.0.2,,1,1,1000,999,"
    file = written(
        tmp_path, [f"{slow},", f"{fast},", f"{fast.replace('2', '3')},cake/none"], headings=f"{HEADINGS},sqm"
    )
    first, second, third = loads.from_file(file)["subscriber"]
    assert "rtt 120ms" in first["qdisc"]
    assert "rtt 300ms" in first["up_qdisc"]
    assert (second["qdisc"].split()[0], second["up_qdisc"].split()[0]) == ("fq_codel", "cake")
    assert (third["qdisc"].split()[0], third["up_qdisc"].split()[0]) == ("cake", "pfifo")
    first, second, third = loads.from_file(file, {"bottleneck.qdisc": "fq_codel"})["subscriber"]
    assert "qdisc" not in first  # what compare varies is what the circuits have
    assert (third["qdisc"].split()[0], third["up_qdisc"].split()[0]) == ("cake", "pfifo")


def test_headings_of_integrations_and_rows_of_any_length(tmp_path: Path) -> None:
    """Headings differ in case and signs. A row may end after its rates, and what is beyond the headings is ignored."""
    headings = '"circuit_id","Circuit Name","Device ID","Device Name","Parent Node","MAC","IPv4","IPv6",'
    headings += '"Download Min","Upload Min","Download Max","UPLOAD MAX","Comment"'
    rows = ['"1","Mill","1","R","Hill","","100.64.0.1","","24.5","4.9","25.0","5.0"', "2,Inn,2,R,,,,,1,1,50,10,a,bare"]
    mill, inn = loads.from_file(written(tmp_path, rows, headings=headings))["subscriber"]
    assert (mill["down"], mill["up_min"], mill["parent"]) == ("25mbit", "4900kbit", "Hill")
    assert (inn["down"], inn["up"]) == ("50mbit", "10mbit")


def test_a_parent_has_several_names_and_a_virtual_one_is_the_site_above(tmp_path: Path) -> None:
    network = {"Hill": {"downloadBandwidthMbps": 0, "id": "h-1", "name": "The hill", "children": {
        "Ward": {"type": "Virtual", "children": {"Mast": {"downloadBandwidthMbps": 9, "uploadBandwidthMbps": 3}}},
    }}}  # fmt: skip
    names = (",Hill,,", ",The hill,,", ",Ward,,", ",Mast,,", ",nowhere,h-1,", ",,,")
    rows = [f"{at},A,{at},A{name},,,,1,1,5,5," for at, name in enumerate(names)]
    resolved = loads.from_file(written(tmp_path, rows, network))
    assert [(node["name"], node["down"], node["up"]) for node in resolved["node"]] == [
        ("Hill", "1gbit", "1gbit"),  # without rates, those of what is above
        ("Mast", "9mbit", "3mbit"),
    ]
    parents = [subscriber.get("parent") for subscriber in resolved["subscriber"]]
    assert parents == ["Hill", "Hill", "Hill", "Mast", "Hill", None]


def test_devices_of_one_circuit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first row's rates and line count, and a line says so, once. Two parents are refused, as LibreQoS does."""
    rows = ["1,A,1,A,Hill,,,,100.64.0.1,,1,1,50,10,,cake", "1,A,2,B,Hill,,,,100.64.0.2,,1,1,25,10,,none"]
    (one,) = loads.from_file(written(tmp_path, rows, headings=f"{HEADINGS},sqm"))["subscriber"]
    assert (one["down"], one["qdisc"].split()[0]) == ("50mbit", "cake")
    assert [line.partition("csv:3: ")[2][:40] for line in capsys.readouterr().err.splitlines()] == [
        "a circuit's device with other rates; the",
        "a circuit's device with another sqm; the",
    ]
    with pytest.raises(UserError, match=r"csv:3: Parent Node: found .none.; accepted: .Hill., as the circuit's first"):
        loads.from_file(written(tmp_path, [rows[0], rows[1].replace("Hill", "none")], headings=f"{HEADINGS},sqm"))


def test_options_change_the_files_and_the_tables_that_they_stand_for(tmp_path: Path) -> None:
    file = written(tmp_path, ROWS[:1])
    other = tmp_path / "other.csv"
    other.write_text(f"{HEADINGS}\n{ROWS[1]}\n", encoding="utf-8")
    (forge,) = loads.from_file(file, {"isp.devices": str(other)})["subscriber"]
    assert forge["down"] == "25500kbit"
    (mill,) = loads.from_file(file, ["subscriber.0.down=70mbit"])["subscriber"]
    assert (mill["down"], mill["up"]) == ("70mbit", "10mbit")


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
        ("1,A,1,A,Hill", "ShapedDevices.csv:2: Download Max Mbps: found .*; accepted: Mbit/s, as 100 or 2.5"),
        (",A,1,A,Hill,,,,100.64.0.1,,1,1,50,10,", "ShapedDevices.csv:2: Circuit ID: found none; accepted: a number"),
        (
            "1,A,1,A,Hill,,,,100.64.0.1,,1,1,50,10,\n2,B,2,B,Hill,,,,100.64.0.1,,1,1,50,10,",
            "ShapedDevices.csv:3: IPv4: found 100.64.0.1, which circuit 1 has; accepted: addresses",
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
            {"Hill": {"downloadBandwidthMbps": "9", "uploadBandwidthMbps": 1}},
            "network.json: Hill.downloadBandwidthMbps: found .9.; accepted: Mbit/s, as 1000",
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
        devices.read(tmp_path / "a.csv", None, {})


@pytest.mark.parametrize("rate", ["1_0", "١٠"])
def test_a_rate_is_a_number_as_others_read_it(tmp_path: Path, rate: str) -> None:
    """Python reads both as 10."""
    file = written(tmp_path, [ROWS[3].replace("1,1,100,100", f"1,1,{rate},100")])
    with pytest.raises(UserError, match="Download Max Mbps: found"):
        loads.from_file(file)


def test_a_node_has_a_name(tmp_path: Path) -> None:
    """The node "" would be the link."""
    site = {"downloadBandwidthMbps": 60, "uploadBandwidthMbps": 20}
    with pytest.raises(UserError, match='found a node called ""; accepted: a name'):
        loads.from_file(written(tmp_path, ROWS, {"": site}))


def test_more_circuits_than_classes_are_refused_as_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million circuits took more than 4 GB before the core counted them."""
    file = written(tmp_path, ROWS)
    monkeypatch.setattr(devices, "MOST_CLASSES", 3)
    with pytest.raises(UserError, match=r"csv:5: found more than 2 circuits; accepted: 3 with the nodes"):
        loads.from_file(file)


def test_more_devices_than_can_be_read_at_once_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million devices of one circuit did not end: each copied the addresses of those before."""
    file = written(tmp_path, ROWS)
    monkeypatch.setattr(devices, "MOST_DEVICES", 3)
    with pytest.raises(UserError, match=r"csv:5: found more than 3 devices; accepted: 3, one a row"):
        loads.from_file(file)


SUBSCRIBER = {"name": "a", "down": "5mbit", "up": "5mbit", "traffic": "none"}
LINK = {
    "duration": "1s",
    "bottleneck": {"rate": "100mbit", "qdisc": "fq_codel"},
    "path": {"rtt": "10ms"},
}


def test_subscribers_may_have_no_traffic() -> None:
    record = running.one(LINK | {"subscriber": [SUBSCRIBER]})
    assert record["flows"] == []


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        (
            [SUBSCRIBER | {"count": 2}, SUBSCRIBER | {"name": "a/0"}],
            'subscriber.1..name: found "a/0", which subscriber',
        ),
        (
            [SUBSCRIBER | {"name": "a/1"}, SUBSCRIBER | {"count": 2}],
            'subscriber.1..name: found "a/1", which subscriber',
        ),
        ([SUBSCRIBER | {"count": 65533}, SUBSCRIBER | {"name": "b"}], "found 0 nodes and 65534 subscribers; accepted"),
        ([SUBSCRIBER | {"count": 65534}], "subscriber.0..count: found 65534; accepted: 1 to 65533"),
        (
            [SUBSCRIBER | {"addresses": [f"10.{at >> 16}.{at >> 8 & 255}.{at & 255}" for at in range(131073)]}],
            "subscriber: found 131073 addresses; accepted: at most 131072 in all",
        ),
    ],
)
def test_subscribers_are_told_apart_and_counted_first(tables: list[Any], found: str) -> None:
    with pytest.raises(ValueError, match=found):
        running.one(LINK | {"subscriber": tables})


def test_the_link_is_no_node_of_its_own() -> None:
    node = {"name": "", "down": "5mbit"}
    with pytest.raises(ValueError, match=r'node.0..name: found ""; accepted: a name'):
        running.one(LINK | {"node": [node], "subscriber": [SUBSCRIBER]})


@pytest.mark.long
def test_there_are_as_many_subscribers_as_classes() -> None:
    """Linux gives 32,767 handles to qdiscs without one."""
    record = running.one(LINK | {"subscriber": [SUBSCRIBER | {"count": 32768}]})
    assert record["flows"] == []
