"""`goodqueue init --from`: settings of SQM, qosmate and cake-autorate become scenarios."""

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Result
from goodqueue import settings
from goodqueue.errors import UserError
from goodqueue.scenario import resolve

Command = Callable[..., Result]

SQM = """
config queue 'wan'
\toption enabled '1'
\toption interface 'eth1'
\toption download '85000'
\toption upload '10000'
"""

TBF = "root handle 1: stab mtu 2047 tsize 512 mpu 0 overhead 8 linklayer ethernet tbf"
LEAF = "parent 1: handle 110: fq_codel limit 1001"


def made(tmp_path: Path, text: str) -> tuple[dict[str, Any], list[str]]:
    """Return the scenario of settings, and what it leaves out."""
    file = tmp_path / "settings"
    file.write_text(text, encoding="utf-8")
    draft = settings.read(str(file))
    return tomllib.loads(draft.toml("scenario.toml")), draft.left_out


def options(**values: object) -> str:
    return "".join(f"\toption {name} '{value}'\n" for name, value in values.items())


@pytest.mark.parametrize(
    ("script", "more", "down", "up"),
    [  # What the scripts of sqm-scripts 95337de type, run by dash with a tc that prints.
        (
            "piece_of_cake",
            {"linklayer": "ethernet", "overhead": 44, "tcMPU": 84},
            "cake bandwidth 85000kbit overhead 44 mpu 84 diffserv3 nat besteffort wash",
            "cake bandwidth 10000kbit overhead 44 mpu 84 diffserv3 nat besteffort",
        ),
        (
            "layer_cake",
            {"linklayer": "atm", "overhead": 40, "squash_ingress": 0, "squash_dscp": 0, "iqdisc_opts": "ingress"},
            "cake bandwidth 85000kbit atm overhead 40 mpu 0 diffserv3 nat ingress",
            "cake bandwidth 10000kbit atm overhead 40 mpu 0 diffserv3 nat",
        ),
        (
            "simplest_tbf",
            {"qdisc": "cake", "linklayer": "ethernet", "overhead": 8, "etarget": "8ms"},
            f"{TBF} rate 85000kbit burst 10625 latency 300ms; {LEAF} target 5000us interval 100000us ecn flows 1024",
            f"{TBF} rate 10000kbit burst 1749 latency 300ms; {LEAF} target 8ms ecn flows 1024",
        ),
    ],
)
def test_sqm_makes_what_its_script_types(
    tmp_path: Path, script: str, more: dict[str, object], down: str, up: str
) -> None:
    scenario, left_out = made(tmp_path, SQM + options(script=f"{script}.qos", **more))
    assert left_out == []
    for table, device, wanted in (
        (scenario["bottleneck"], "ifb4eth1", down),
        (scenario["bottleneck"]["up"], "eth1", up),
    ):
        commands = [f"tc qdisc add dev {device} {command}" for command in wanted.split("; ")]
        assert table.get("qdisc", table.get("tc")) == (commands if " handle " in wanted else wanted)


def test_simple_qos_has_three_classes_and_says_what_its_marks_do(tmp_path: Path) -> None:
    scenario, left_out = made(tmp_path, SQM + options(script="simple.qos", squash_ingress=0, foo="bar"))
    down, up = scenario["bottleneck"]["tc"], scenario["bottleneck"]["up"]["tc"]
    of_class = "tc class add dev eth1 parent 1:1 classid 1:12 htb quantum 1749 rate 1666kbit ceil 9984kbit"
    assert f"{of_class} burst 1749 cburst 1749 prio 2" in up
    words = "ip6 priority 0xb8 0xfc classid 1:11"
    assert f"tc filter add dev ifb4eth1 protocol ipv6 parent 1:0 prio 8 u32 match {words}" in down
    assert [text.split(":")[0] for text in left_out] == ["line 7", "line 9"]
    assert "iptables" in left_out[0]
    assert left_out[1] == "line 9: foo 'bar': not understood"


def test_qosmate_makes_its_tree(tmp_path: Path) -> None:
    text = "config settings 'settings'\n" + options(WAN="wan", DOWNRATE=90000, UPRATE=45000)
    rule = "config rule 'call'\n" + options(name="call", dest_port="3478")
    scenario, left_out = made(tmp_path, text + "config hfsc 'hfsc'\n" + options(gameqdisc="bfifo", MSS=536) + rule)
    down = scenario["bottleneck"]["tc"]
    assert down[0] == "tc qdisc add dev ifb-wan root handle 1: stab overhead 40 linklayer ethernet hfsc default 13"
    words = "hfsc rt m1 71500kbit d 25ms m2 7150kbit"
    up = scenario["bottleneck"]["up"]["tc"]
    assert f"tc class add dev wan parent 1:1 classid 1:11 {words}" not in up
    assert "tc class add dev wan parent 1:1 classid 1:11 hfsc rt m1 43650kbit d 25ms m2 7150kbit" in up
    assert "tc qdisc add dev wan parent 1:11 handle 10: bfifo limit 21450" in up
    assert [text.split(":")[0] for text in left_out] == ["line 8", "line 7"]
    scenario, _ = made(tmp_path, text + options(ROOT_QDISC="cake", COMMON_LINK_PRESETS="docsis", RTT=40))
    words = "ingress diffserv4 dual-dsthost rtt 40ms docsis overhead 25 nat wash"
    assert scenario["bottleneck"]["qdisc"] == f"cake bandwidth 90000kbit {words}"


def test_cake_autorate_sets_the_rates_of_the_scenario(here: Path, goodqueue: Command) -> None:
    """The rate of the line is a third of what the shaper starts with, so the program has to cut it."""
    Path("config.primary.sh").write_text(
        "#!/usr/bin/env bash\ndl_if=ifb-wan # down\nmin_dl_shaper_rate_kbps=2000\nbase_dl_shaper_rate_kbps=30000\n"
        "max_dl_shaper_rate_kbps=40000\nadjust_ul_shaper_rate=0\nreflectors=(\n\"1.1.1.1\"\n)\nno_pingers=4\n"
        "dl_owd_delta_delay_thr_ms=20.0\nul_owd_delta_delay_thr_ms=25.0\nstall_detection_thr=5\nsource other\n",
        encoding="utf-8",
    )  # fmt: skip
    result = goodqueue("init", "--from", "config.primary.sh")
    named = "which names 3 settings that it leaves out"
    assert result.out == f"scenario.toml: written, {named}. Next: goodqueue run scenario.toml\n"
    text = (here / "scenario.toml").read_text(encoding="utf-8")
    for line in ("line 12: ul_owd_delta_delay_thr_ms=25.0", "line 13: stall_detection_thr=5", "line 14: source other"):
        assert f"# - {line}: " in text
    scenario = tomllib.loads(text)
    rules = {"pings": "reflectors", "delayed": "20ms", "down": {"min": "2000kbit", "max": "40000kbit"}}
    assert scenario["autorate"] == rules
    sets = [word for key in ("bottleneck.rate=10mbit", "duration=12s", "warmup=6s") for word in ("--set", key)]
    record = json.loads(goodqueue("run", "scenario.toml", "--json", *sets).out)
    rtts = [app["rtt_ms"]["p50"] for app in record["apps"] if app.get("rtt_ms")]
    assert max(rtts) < 60, "with a shaper at 30 Mbit/s the line's own queue would hold all packets"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello\n", "found \"hello\"; accepted: config KIND 'NAME'"),
        ("# nothing\n", "found no section; accepted: OpenWrt's /etc/config/sqm"),
        ("config dhcp 'lan'\n", 'found sections of "dhcp"; accepted: OpenWrt\'s /etc/config/sqm'),
        (SQM + options(script="mine.qos"), 'line 7: script: found "mine.qos"; accepted: piece_of_cake.qos'),
        (
            SQM + options(script="simple.qos", upload="10mbit"),
            'line 8: upload: found "10mbit"; accepted: a whole number',
        ),
        ("config settings 's'\n\toption DOWNRATE '900'\n", "found no UPRATE; accepted: option UPRATE 'KBIT'"),
        ("min_dl_shaper_rate_kbps=fast\n", 'line 1: min_dl_shaper_rate_kbps: found "fast"; accepted: a number'),
        ("base_dl_shaper_rate_kbps=" + "9" * 400, "line 1: base_dl_shaper_rate_kbps: found"),  # infinite as a float
    ],
)
def test_other_files_are_refused_in_one_line(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UserError) as refused:
        made(tmp_path, text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_control_characters_in_settings_are_escaped(tmp_path: Path) -> None:
    """A comment in TOML has none, so the scenario could not be read: a traceback."""
    scenario, left_out = made(tmp_path, SQM + options(script="layer_cake.qos", foo="a\x1b[2J\x7f\x00b"))
    assert scenario["bottleneck"]["qdisc"].startswith("cake ")
    assert left_out == ["line 8: foo 'a\x1b[2J\x7f\x00b': not understood"]
    with pytest.raises(UserError, match=r"bottleneck\.up\.qdisc: "):
        resolve(made(tmp_path, SQM + options(script="layer_cake.qos", eqdisc_opts="fast\x7f"))[0])


@pytest.mark.usefixtures("here")
def test_options_that_a_qdisc_refuses_are_refused_with_the_file(goodqueue: Command) -> None:
    Path("sqm").write_text(SQM + options(script="layer_cake.qos", eqdisc_opts="fast"), encoding="utf-8")
    result = goodqueue("init", "--from", "sqm")
    assert result.status == 2
    assert result.err.startswith("goodqueue: sqm: makes a scenario that is refused: bottleneck.up.qdisc: ")
    assert not Path("scenario.toml").exists()
    assert "found with --example" in goodqueue("init", "--from", "sqm", "--example", "first").err
