"""Settings of routers, however they are changed: they make a scenario that runs, or are refused in one line."""

import random
from collections.abc import Callable
from pathlib import Path

from conftest import Result
from goodqueue.engines import loads
from mutation import edited
from tries import tries

SQM = """\
config queue 'wan'
\toption enabled '1'
\toption interface 'eth1'
\toption download '85000'
\toption upload '10000'
\toption qdisc 'fq_codel'
\toption script 'SCRIPT.qos'
\toption linklayer 'ethernet'
\toption overhead '44'
\toption tcMTU '2047'
\toption tcMPU '64'
\toption iqdisc_opts ''
\toption eqdisc_opts ''
\toption squash_ingress '0'
\toption itarget '5ms'
\toption ilimit '1001'
"""
QOSMATE = """\
config settings 'settings'
\toption WAN 'eth1'
\toption DOWNRATE '90000'
\toption UPRATE '45000'
\toption ROOT_QDISC 'ROOT'
\toption COMMON_LINK_PRESETS 'docsis'
config advanced 'advanced'
\toption BWMAXRATIO '20'
\toption ACKRATE ''
\toption UDP_RATE_LIMIT_ENABLED '1'
config hfsc 'hfsc'
\toption gameqdisc 'GAME'
\toption GAMEUP ''
\toption nongameqdisc 'fq_codel'
\toption netem_delay_ms '30'
config cake 'cake'
\toption PRIORITY_QUEUE_INGRESS 'diffserv4'
\toption RTT '40'
config rule 'call'
\toption name 'call'
\tlist dest_port '3478'
"""
AUTORATE = """\
#!/usr/bin/env bash
dl_if=ifb-wan # down
min_dl_shaper_rate_kbps=2000
base_dl_shaper_rate_kbps=30000
max_dl_shaper_rate_kbps=40000
adjust_ul_shaper_rate=1
base_ul_shaper_rate_kbps=9000
reflectors=(
"1.1.1.1" "9.9.9.9"
)
no_pingers=4
reflector_ping_interval_s=0.3
dl_owd_delta_delay_thr_ms=20.0
ul_owd_delta_delay_thr_ms=25.0
bufferbloat_detection_window=6
shaper_rate_min_adjust_down_bufferbloat=0.99
"""


def whole(draw: random.Random) -> str:
    """Return settings as a router has them."""
    script = draw.choice(("piece_of_cake", "layer_cake", "simple", "simplest", "simplest_tbf", "triple-isolate"))
    root = draw.choice(("hfsc", "cake", "hybrid", "htb"))
    game = draw.choice(("pfifo", "bfifo", "fq_codel", "red", "netem", "drr", "qfq"))
    return draw.choice((SQM.replace("SCRIPT", script), QOSMATE.replace("ROOT", root).replace("GAME", game), AUTORATE))


def test_however_settings_are_changed_they_make_a_scenario_or_are_refused(
    here: Path, goodqueue: Callable[..., Result]
) -> None:
    written = 0
    for draw in tries(40):
        text = whole(draw)
        if draw.random() < 0.9:
            text = edited(text, draw)
        Path("settings").write_text(text, encoding="utf-8", errors="surrogatepass", newline="")
        found = goodqueue("init", "made.toml", "--from", "settings", "--force")
        if found.status == 0:
            loads.from_file("made.toml")
            written += 1
        else:
            assert found.status == 2, found
            assert found.err.count("\n") == 1, found
            assert len(found.err) < 3000
    assert written > 3
