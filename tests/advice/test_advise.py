"""`goodqueue advise`: which line to type on a link. test_advise_kernel.py tests the kernel engine's part."""

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from markupsafe import escape

import goodqueue as gq
import needs
from conftest import Result
from flent_files import data, written
from goodqueue import extras, pages, running, scenario
from goodqueue.advice import (
    candidates,
    checking,
    choosing,
    commands,
    doubts,
    finding,
    gain,
    lengths,
    links,
    page,
    reading,
    scenarios,
    show,
    trying,
    typed,
)
from goodqueue.advice import flent as measured
from goodqueue.advice.answer import of
from goodqueue.advice.question import Advise
from goodqueue.advice.reading import Question
from goodqueue.advice.result import Advice
from goodqueue.advice.scenarios import Truth
from goodqueue.engines import loads
from goodqueue.engines.kernel import planning, tc
from goodqueue.errors import UserError
from goodqueue.measures.scores import letter
from goodqueue.measures.stats import Estimate
from goodqueue.serving import address
from goodqueue.show import terminal
from goodqueue.show.answer import Code

LINKS = {
    "cable": "--down 20mbit --up 5mbit --rtt 30ms --link docsis",
    "dsl": "--down 8mbit --up 1mbit --rtt 30ms --link dsl",
    "vdsl": "--down 16mbit --up 4mbit --rtt 20ms --link vdsl",
    "lte": "--down 12mbit --up 4mbit --rtt 60ms --link lte",
    "5g": "--down 20mbit --up 5mbit --rtt 40ms --link 5g",
    "fibre": "--down 40mbit --up 20mbit --rtt 10ms --link ethernet",
    "satellite": "--down 10mbit --up 2mbit --rtt 600ms --link ethernet",
    "wifi": "--down 20mbit --link wifi",
}
RADIO = ("lte", "5g")
DAILY = ("cable", "dsl", "wifi")
"""The links that `make test` asks about. An answer takes seconds."""
WIRED = ("cable", "dsl", "vdsl", "fibre", "satellite")


def daily(names: Iterable[str]) -> list[Any]:
    """Return ``names`` as parameters, of which all but those of `DAILY` are long."""
    return [name if name in DAILY else pytest.param(name, marks=pytest.mark.long) for name in names]


def asked(name: str, **more: Any) -> Question:
    words = LINKS[name].split()
    options = {word.removeprefix("--"): value for word, value in zip(words[::2], words[1::2], strict=True)}
    return reading.ask(Advise.read({"quick": True, **options, **more}))


class Answers(dict[str, Advice]):
    """The answer for each link, by quick runs, when a test asks for it."""

    def __missing__(self, name: str) -> Advice:
        self[name] = trying.advise(asked(name))
        return self[name]


@pytest.fixture(scope="module")
def answers() -> Answers:
    return Answers()


# --- the lines -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WIRED)
def test_what_is_tried_are_lines_that_linux_has(name: str, tmp_path: Path) -> None:
    """Each line passes the simulator's own reader and the translation to tc's words, with the hidden hops."""
    one = asked(name)
    for candidate in candidates.of(one):
        resolved = scenario.resolve(scenarios.scenario(one, candidate, 1, Truth(), tmp_path))
        plan = planning.plan(resolved)
        assert [hop.name for hop in plan.hops] == ["provider", "modem"], candidate.label
        for direction in ("down", "up"):
            line = resolved["bottleneck"]["qdisc"] if direction == "down" else resolved["bottleneck"]["up"]["qdisc"]
            assert tc.translate(line, 1_000_000_000)


@pytest.mark.parametrize("name", daily(WIRED))
def test_what_is_typed_is_what_was_tried(name: str, answers: Answers) -> None:
    """The commands contain every word of the measured line, except words that only a scenario has."""
    answer = answers[name]
    (up,), (down,) = answer.commands["up"], answer.commands["down"]
    assert up == f"tc qdisc replace dev eth0 root {answer.up}"
    assert down == f"tc qdisc replace dev ifb0 root {answer.down}"
    assert len(answer.commands["prepare"]) == 2


@pytest.mark.parametrize(("kind", "count"), [("htb", 3), ("tbf", 2)])
def test_a_shaper_with_a_child_is_typed_as_tc_wants_it(kind: str, count: int) -> None:
    one = asked("dsl")
    candidate = next(found for found in candidates.of(one) if found.kind == kind)
    typed = commands.commands(one, candidate)["up"]
    assert len(typed) == count
    words = [shlex.split(line) for line in typed]
    assert all(line[:1] == ["tc"] and "eth0" in line for line in words)
    assert words[-1][-7:] == ["parent", "1:1", *candidate.lines(one)[1].partition(" child ")[2].split()]
    assert "linklayer atm" in " ".join(typed)
    assert "overhead 26" in " ".join(typed), "tc adds it to a frame, which has 14 bytes more than the packet"


@pytest.mark.needs("host")
@pytest.mark.parametrize(
    ("name", "more"),
    [
        *((name, {}) for name in LINKS),
        *((name, {"pppoe": "router", "vlan": True}) for name in ("dsl", "vdsl", "fibre")),
        ("vdsl", {"overhead": 26}),
        ("dsl", {"pppoe": "no"}),
    ],
)
def test_tc_itself_understands_what_is_typed(name: str, more: dict[str, Any]) -> None:
    """tc reads the whole command before it looks for the device, which does not exist. That needs no root."""
    one = asked(name, **more)
    typed = [line for found in candidates.of(one) for part in commands.commands(one, found).values() for line in part]
    words = [line.split("; ")[-1].split() for line in typed]
    for command in words:
        assert command[0] == "tc"
        nowhere = ["gqnone0" if word in (one.wan.name, commands.IFB) else word for word in command]
        done = subprocess.run(nowhere, check=False, capture_output=True, text=True, env={"PATH": needs.PATH})
        assert done.stderr == 'Cannot find device "gqnone0"\n', " ".join(command)


def test_framing_rates_and_times_are_the_links() -> None:
    said = {name: candidates.of(asked(name))[1].lines(asked(name)) for name in WIRED}
    assert said["cable"][1] == "cake bandwidth 4750kbit besteffort docsis"
    assert said["dsl"][0] == "cake bandwidth 7600kbit besteffort pppoe-llcsnap ingress"
    assert said["vdsl"][0] == "cake bandwidth 15200kbit besteffort pppoe-ptm ingress"
    assert said["satellite"][0] == "cake bandwidth 9500kbit besteffort ethernet rtt 600ms ingress"
    slow = candidates._times(asked("dsl"), 950_000)
    assert slow == " target 19124us interval 114124us", "CoDel needs room for one and a half packets"
    assert candidates._times(asked("cable"), 19_000_000) == ""
    assert candidates._times(asked("satellite"), 9_500_000) == " target 30000us interval 600000us"


@pytest.mark.parametrize(
    ("name", "more", "cake", "htb", "device"),
    [
        ("vdsl", {}, "pppoe-ptm", "overhead 16", "eth0"),
        ("vdsl", {"pppoe": "router", "vlan": True}, "pppoe-ptm ether-vlan", "overhead 34", "pppoe-wan"),
        ("vdsl", {"pppoe": "no"}, "bridged-ptm", "overhead 8", "eth0"),
        ("vdsl", {"overhead": 26}, "overhead 26 ptm", "overhead 12", "eth0"),
        ("dsl", {"pppoe": "router"}, "pppoe-llcsnap", "overhead 40 linklayer atm", "pppoe-wan"),
        ("dsl", {"pppoe": "no", "vlan": True}, "bridged-llcsnap ether-vlan", "overhead 22 linklayer atm", "eth0"),
        ("fibre", {"pppoe": "modem"}, "overhead 46 mpu 84", "overhead 32 mpu 84", "eth0"),
        ("fibre", {"pppoe": "router"}, "overhead 46 mpu 84", "overhead 46 mpu 84", "pppoe-wan"),
        ("fibre", {"wan": "ppp0", "vlan": True}, "overhead 46 mpu 84 ether-vlan", "overhead 50 mpu 84", "ppp0"),
        ("cable", {"wan": "wan", "overhead": 22}, "overhead 22 mpu 64", "overhead 8 mpu 64", "wan"),
    ],
)
def test_framing_is_that_of_the_interface_that_dials(
    name: str, more: dict[str, Any], cake: str, htb: str, device: str
) -> None:
    """cake counts from the IP packet. htb counts the frame, and a PPPoE interface has none of Ethernet's 14 bytes.

    docs/guides/advise.md has what Linux made of these lines on a PPPoE session.
    """
    one = asked(name, **more)
    plain, other = candidates.of(one)[1], candidates.of(one)[-1]
    typed = commands.commands(one, plain)
    assert (
        f" dev {device} root cake bandwidth {candidates.kbit(plain.rates_bps(one)[1])} besteffort {cake}"
        in typed["up"][0]
    )
    assert all(f" dev {device} " in line for line in typed["prepare"])
    assert htb in commands.commands(one, other)["up"][1]
    assert commands.sqm(one, other)["overhead"] == htb.split()[1]
    assert (commands.sqm(one, plain)["interface"], f"dev {device} root" in commands.undo(one)) == (device, True)
    resolved = scenario.resolve(scenarios.scenario(one, plain, 1, Truth(), Path()))
    said = resolved["bottleneck"]["qdisc"]
    assert f"overhead {one.link.overhead}" in said, "the core adds the words up to the same number"


def test_the_router_needs_packages_and_a_way_back(answers: Answers) -> None:
    for name, answer in ((name, answers[name]) for name in DAILY):
        if not answer.commands["down"]:
            assert not typed.section(answer).parts, name
            continue
        said = typed.section(answer).parts
        assert said[-2] == "To take it away again:"
        assert said[-1].text.startswith("  tc qdisc del dev "), name
        assert name == "wifi" or [line.split(":")[0] for line in said[-4:-2]] == ["Packages", "LuCI"]


@pytest.mark.parametrize("name", daily(["cable", "dsl", "satellite", "wifi"]))
def test_a_shell_reads_what_is_pasted_as_the_commands(name: str, answers: Answers) -> None:
    """The lines are broken for a terminal of 80 columns, and OpenWrt's options are set in a loop."""
    answer = answers[name]
    code = [part.text for part in typed.section(answer).parts if isinstance(part, Code)]
    assert max(len(line) for text in code for line in text.splitlines()) <= 80
    stubs = "".join(f'{program}() {{ echo "{program} $*"; }}\n' for program in ("tc", "ip", "uci"))
    script = stubs + "\n".join(code).replace("/etc/init.d/sqm", "echo sqm")
    ran = subprocess.run(["sh", "-euc", script], check=True, capture_output=True, text=True)
    commands_typed = [line for lines in answer.commands.values() for line in lines]
    wanted = {each for line in [*commands_typed, answer.undo] for each in line.split("; ")}
    wanted |= {f"uci set sqm.@queue[0].{option}={value}" for option, value in answer.sqm.items()}
    assert wanted | ({"uci commit sqm", "sqm restart"} if answer.sqm else set()) == set(ran.stdout.splitlines())


def test_ptm_goes_off_the_rate_where_there_is_no_word_for_it() -> None:
    one = asked("vdsl")
    htb = next(found for found in candidates.of(one) if found.kind == "htb")
    assert htb.rates_bps(one)[0] == 14_966_000
    assert commands.sqm(one, candidates.of(one)[1])["download"] == "14966"


@pytest.mark.parametrize(
    ("link", "rate", "least"),
    [("docsis", 50_000_000, 49.8), ("ethernet", 100_000_000, 98.4), ("vdsl", 10_000_000, 9.743)],
)
def test_the_hidden_link_sends_as_the_real_one(link: str, rate: int, least: float) -> None:
    """A frame of 1500 bytes with the link's overhead, at the link's rate, takes as long as 1514 bytes in a scenario."""
    kind = links.LINKS[link]
    frames = links.frames_bps(kind, rate)
    assert frames / 1e6 == pytest.approx(least, rel=0.003)
    cells = 65 / 64 if kind.cells else 1
    assert 1514 * 8 / frames == pytest.approx((1500 + kind.overhead) * 8 * cells / rate, rel=1e-6)


# --- the choice ------------------------------------------------------------------------------------------------------


def values(ping: list[float], down: list[float]) -> dict[str, list[float]]:
    same = [1.0] * len(ping)
    rates = {choosing.SINGLE_KEY: same, "goodput_mbps": down, "up_goodput_mbps": same}
    return {"ping_rtt_p95_ms": ping, choosing.ADDED_KEY: same, **rates}


def ranked(*tried: tuple[int, dict[str, list[float]]]) -> str:
    rows = [(f"{place}", ("a", "b"), level, found) for place, (level, found) in enumerate(tried)]
    return next(one.label for one in choosing.rank(rows, ("games", "downloads")) if one.is_choice)


def test_a_longer_line_has_to_be_felt() -> None:
    now = (0, values([100.0, 102.0, 101.0], [10.0, 10.0, 10.0]))
    good = (1, values([20.0, 20.1, 20.2], [9.5, 9.5, 9.5]))
    barely = (5, values([17.5, 17.6, 17.4], [9.5, 9.5, 9.5]))
    far = (5, values([15.0, 15.1, 15.2], [9.5, 9.5, 9.5]))
    assert ranked(now, good, barely) == "1", "an eighth of a ping is not worth six lines"
    assert ranked(now, good, far) == "2", "a quarter is"
    assert ranked(now, (1, values([90.0, 85.0, 91.0], [9.9, 9.9, 9.9]))) == "0", "nothing is the simplest of all"
    spread = (5, values([17.5, 17.6, 17.4], [11.0, 11.0, 11.0]))
    assert ranked(now, good, spread) == "1", "1.4 points for games and 1.5 for downloads: felt in neither"
    slower = (1, values([19.8, 19.9, 20.0], [9.4, 9.4, 9.4]))
    assert ranked(now, good, slower) == "1", "of equally simple ones that with the most goodput"


def test_a_longer_line_has_to_be_told_apart_by_the_seeds() -> None:
    good = (1, values([20.0, 40.0, 20.0], [9.5, 9.5, 9.5]))
    luck = (5, values([20.0, 10.0, 20.0], [9.5, 9.5, 9.5]))
    rows = [(name, ("a", "b"), *one) for name, one in (("short", good), ("long", luck))]
    short, long = choosing.rank(rows, ("games",))
    assert (short.is_choice, long.gain.is_felt, long.gain.is_told_apart) == (True, True, False)
    one_seed = [
        (name, lines, level, {key: found[1:2] for key, found in own.items()}) for name, lines, level, own in rows
    ]
    assert choosing.rank(one_seed, ("games",))[1].is_choice, "a single seed cannot say that they are the same"


@pytest.mark.parametrize(
    ("long", "said"),
    [
        (
            [17.5, 17.6, 17.4],
            "A little better is `b` up and `a` down: 95 % of pings return within 17.5 ms in place of 20.1 ms.",
        ),
        (
            [18.0, 9.0, 18.0],
            "Perhaps better is `b` up and `a` down: 95 % of pings return within 15.0 ms in place of 20.1 ms.",
        ),
    ],
)
def test_the_answer_says_why_it_is_the_simpler_line(long: list[float], said: str, answers: Answers) -> None:
    rows = [
        ("now", ("fq_codel", "fq_codel"), 0, values([99.0, 99.1, 99.2], [9.5] * 3)),
        ("short", ("c", "d"), 1, values([20.0, 20.1, 20.2], [9.5] * 3)),
        ("long", ("a", "b"), 5, values(long, [9.5] * 3)),
    ]
    answer = replace(answers["dsl"], tried=choosing.rank(rows, ("games",)))
    assert said in show.sure(answer).parts[0]


def test_a_point_is_a_tenth() -> None:
    one, other = values([110.0], [10.0]), values([100.0], [11.0])
    assert gain.gain(*(choosing.points(found, ("games",)) for found in (other, one))).points.mean == pytest.approx(1.0)
    both = gain.gain(*(choosing.points(found, ("games", "downloads")) for found in (other, one)))
    assert (both.points.mean, both.most.mean) == (pytest.approx(2.0), pytest.approx(1.0))


def test_what_never_came_took_as_long_as_the_run(tmp_path: Path) -> None:
    """A page that no seed loads must not look better than a page that takes long."""
    one = asked("cable")
    record = running.one(scenarios.scenario(one, candidates.of(one)[0], 1, Truth(), tmp_path))
    page = next(app for app in record["apps"] if "load_ms" in app)
    page["load_ms"] = None
    assert choosing.numbers([record])["page_load_mean_ms"] == pytest.approx([1e3 * lengths.short(one).measured_s])


@pytest.mark.parametrize("name", daily(LINKS))
def test_the_choice_is_worth_its_lines(name: str, answers: Answers) -> None:
    answer = answers[name]
    choice = next(one for one in answer.tried if one.is_choice)
    ping = next(one for one in answer.changes if one.metric == "ping_rtt_p95_ms")
    assert choice.points.mean > 1
    assert ping.difference.mean < 0
    assert ping.then.mean >= answer.question.rtt_s * 1e3, "no queue is shorter than none"
    assert ping.difference.mean == pytest.approx(ping.then.mean - ping.now.mean)


def test_a_modem_that_holds_little_needs_no_shaper() -> None:
    """A FIFO of 3 ms delays nobody. A user who only plays is told to type nothing."""
    answer = trying.advise(asked("cable", use="games", buffer="3ms"))
    assert (answer.label, answer.commands["down"], answer.sqm) == ("nothing typed", [], {})
    nothing, as_it_is = finding.of(answer).sentences
    assert nothing == "Type nothing: no line is so much better than what is there now that somebody would feel it."
    assert re.fullmatch(r".* pings return within \d+ ms as it is\. A bufferbloat test would say A\+?\.", as_it_is)
    assert not typed.section(answer).parts


def single(found: Advice, label: str) -> float:
    return next(one.means[choosing.SINGLE_KEY].mean for one in found.tried if one.label == label)


def test_a_router_shares_between_the_users_behind_it(answers: Answers) -> None:
    """One user downloads once beside another's three downloads. Half of the link is that user's, not a quarter.

    Without `nat` cake sees the router's address only, whatever its isolation. A line with it has to show the gain.
    """
    answer = answers["cable"]
    shaped = 0.95 * 20 * 1448 / (1500 + 18)
    assert single(answer, "cake, fair between users") == pytest.approx(shaped / 2, rel=0.1)
    for label in ("cake at 95 %", "tbf + fq_codel", "htb + fq_codel"):
        assert single(answer, label) == pytest.approx(shaped / 4, rel=0.1), label
    assert (" nat dual-dsthost ingress" in answer.down, answer.up.endswith(" nat dual-srchost")) == (True, True)
    assert answer.sqm["iqdisc_opts"] == "nat dual-dsthost ingress"
    assert answer.sqm["eqdisc_opts"] == "nat dual-srchost"
    (said,) = [sentence for sentence in show.sure(answer).parts if sentence.startswith("Without nat")]
    assert f"{single(answer, 'cake at 95 %'):.3g} Mbit/s" in said


@pytest.mark.long
def test_a_player_gets_no_words_for_downloads() -> None:
    answer = trying.advise(asked("cable", use="games"))
    assert (answer.label, "nat" in answer.down + answer.up) == ("cake at 95 %", False)
    assert not [sentence for sentence in show.sure(answer).parts if sentence.startswith("Without nat")]


@pytest.mark.parametrize("name", LINKS)
def test_the_household_has_the_same_traffic_whoever_is_seen(name: str, tmp_path: Path) -> None:
    """Otherwise lines with and without `nat` would be compared on different loads."""
    one = asked(name)
    seen = [
        scenarios.scenario(one, candidate, 1, Truth(), tmp_path)["traffic"]
        for candidate in (candidates.Candidate("cake", "", fair=fair) for fair in (True, False))
    ]
    users, router = ([source.pop("host") for source in traffic] for traffic in seen)
    assert seen[0] == seen[1]
    assert (set(users), set(router)) == ({"busy", "single", "player", "caller"}, {"router"})


# --- what would change it --------------------------------------------------------------------------------------------


def test_a_rate_that_is_not_there_lets_the_modem_fill(answers: Answers) -> None:
    doubt = answers["cable"].doubts[0]
    now, same, lower = (one.means["ping_rtt_p95_ms"].mean for one in doubt.tried)
    assert doubt.changes_answer
    assert same > 3 * lower, "the modem's queue must stand again where the shaper sends more than the link"
    assert now > lower
    rates = [int(line.split("bandwidth ")[1].split("kbit")[0]) for line in (answers["cable"].down, answers["cable"].up)]
    assert f"Type {int(rates[0] * 0.85)}kbit and {int(rates[1] * 0.85)}kbit then" in doubt.then


def test_each_doubt_says_what_it_measured(answers: Answers) -> None:
    for name, answer in ((name, answers[name]) for name in DAILY):
        assert len(answer.doubts) >= 2, name
        for doubt in answer.doubts:
            pings = [one.means["ping_rtt_p95_ms"].mean for one in doubt.tried]
            said = doubt.then.replace(" s", " ms").replace(",", "")
            assert "ms" in said, doubt.what
            rounded = {f"{ms:.0f} ms" for ms in pings} | {f"{ms:.1f} ms" for ms in pings}
            rounded |= {f"{ms / 1000:.2f} s" for ms in pings}
            assert any(one in doubt.then for one in rounded), (doubt.what, doubt.then, pings)


@pytest.mark.long
def test_on_its_own_port_a_router_needs_no_shaper(answers: Answers) -> None:
    (doubt,) = (one for one in answers["fibre"].doubts if "own port" in one.what)
    plain, shaped = doubt.tried
    assert plain.means["goodput_mbps"].mean > shaped.means["goodput_mbps"].mean
    assert plain.means["ping_rtt_p95_ms"].mean < 1.1 * shaped.means["ping_rtt_p95_ms"].mean


@pytest.mark.long
def test_a_slow_wifi_is_out_of_reach(answers: Answers) -> None:
    doubt = answers["fibre"].doubts[-1]
    fifo, own = (one.means["ping_rtt_p95_ms"].mean for one in doubt.tried)
    assert "Wi-Fi" in doubt.what
    assert fifo > 3 * own, "the access point's FIFO is the bottleneck, whatever the router's line is"


@pytest.mark.long
def test_a_radio_s_answer_names_the_program_that_follows_the_delay(answers: Answers) -> None:
    """Nobody can set one rate for a radio. Whether a program is better is measured, too."""
    for name in RADIO:
        (doubt,) = (one for one in answers[name].doubts if "cake-autorate" in one.what)
        same, program = (one.means["ping_rtt_p95_ms"].mean for one in doubt.tried)
        assert same != program
        assert "pings take" in doubt.then
        one = answers[name].question
        outside = next(tried for tried in candidates.of(one) if tried.outside)
        settings = commands.program(one, outside)
        assert (settings["dl_if"], settings["ul_if"]) == ("ifb0", "eth0")
        rates = [int(settings[f"{word}_dl_shaper_rate_kbps"]) for word in ("min", "base", "max")]
        assert rates == [one.down_bps // 8000, one.down_bps // 2000, one.down_bps * 2 // 1000]
        program_tried, half = (
            next(tried for tried in answers[name].tried if tried.label == label)
            for label in (outside.label, "cake at half of the mean")
        )
        said = finding.lines(answers[name], program_tried, half)
        assert said == "these lines with rates that cake-autorate sets"
        chosen = replace(answers[name], label=outside.label, program=settings)
        assert "  dl_if=ifb0\n  ul_if=eth0\n" in "".join(
            part.text for part in typed.section(chosen).parts if isinstance(part, Code)
        )


def test_wifi_is_the_drivers(answers: Answers) -> None:
    answer = answers["wifi"]
    assert [one.label.split()[0] for one in answer.tried] == ["pfifo", "fq_codel", "the"]
    assert answer.down in ("mac80211", "fq_codel")
    assert answer.commands["down"][0].startswith("tc qdisc replace dev wlan0 root ")


def shown(advice: Advice, capsys: pytest.CaptureFixture[str], **asked: Any) -> str:
    """Return what a terminal shows of an answer."""
    question = Advise(down="8mbit", up="1mbit", link="dsl", **asked)
    terminal.print_answer(of(advice, question).parts, shows_all=False)
    return capsys.readouterr().out


def test_an_answer_that_the_seeds_do_not_support_has_no_recipe(
    answers: Answers, capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise a gain of 3 ± 8 points would be read as an order to type something."""
    sure = answers["dsl"]
    assert "What to type" in shown(sure, capsys)
    tried = [replace(one, points=Estimate(3.0, 8.0, 3)) if one.is_choice else one for one in sure.tried]
    said = shown(replace(sure, tried=tried), capsys, quick=True)
    assert said.startswith("Too uncertain to say what to type: 3 seeds do not show ")
    assert "\n  goodqueue advise --down 8mbit --up 1mbit --link dsl --quick --seeds 12\n" in said
    assert "tc qdisc" not in said
    assert "--all shows more: What was measured" in said
    same = gain.Gain(Estimate(3.0, 8.0, 3), "games", Estimate(3.0, 8.0, 3))
    idle = [replace(one, is_choice=at == 0, gain=same, points=same.points) for at, one in enumerate(sure.tried)]
    idle[0] = replace(idle[0], points=Estimate(0.0, 0.0, 3))
    (said,) = finding.of(replace(sure, tried=idle)).sentences
    assert f"With `{sure.tried[1].up}` up and " in said, "to type nothing is not sure either"


def test_changes_that_the_seeds_do_not_tell_apart_are_no_gain(answers: Answers) -> None:
    sure = answers["dsl"]
    worse = [replace(one, difference=Estimate(one.difference.mean, 1e9, 3)) for one in sure.changes]
    assert [row[-1] for row in show.changes(replace(sure, changes=worse)).rows] == ["not told apart"] * len(worse)
    ping = replace(sure, changes=[one for one in sure.changes if one.metric == "ping_rtt_p95_ms"] + worse)
    gains, _ = finding.of(ping).sentences
    assert gains.count("in place of") == 2, "the ping, and the letter"


@pytest.mark.parametrize(
    ("down", "up", "said"),
    [
        ((11.6, 5.3, 2.0), (2.8, 1.7, 0.5), "54 % of downloads (5.3 Mbit/s in place of 11.6) and 39 % of uploads (1.7"),
        ((20.0, 19.5, 0.1), (4.0, 5.0, 0.1), "less than 5 % of downloads and of uploads."),
        (
            (20.0, 15.0, 9.0),
            (4.0, 4.0, 0.1),
            "25 % of downloads (15.0 Mbit/s in place of 20.0, which these seeds do not",
        ),
    ],
)
def test_the_finding_says_what_the_lines_cost(
    down: tuple[float, float, float], up: tuple[float, float, float], said: str, answers: Answers
) -> None:
    sure = answers["dsl"]
    rates = {
        f"{prefix}goodput_mbps": (Estimate(now, 0.1, 3), Estimate(then, 0.1, 3), Estimate(then - now, half, 3))
        for prefix, (now, then, half) in (("", down), ("up_", up))
    }
    changes = [
        replace(one, now=found[0], then=found[1], difference=found[2])
        for one in sure.changes
        if (found := rates.get(one.metric))
    ]
    assert finding.cost(replace(sure, changes=changes)).startswith(f"What it costs: {said}")


# --- what is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", daily(LINKS))
def test_the_answer_fits_80_columns_and_begins_with_the_finding(
    name: str, answers: Answers, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Now and then stand side by side, and neither a command nor the page's address is longer than a line."""
    monkeypatch.setenv("COLUMNS", "80")
    answer = answers[name]
    lines = shown(answer, capsys).splitlines()
    assert max(map(len, lines)) <= 80
    if answer.is_doubtful:
        assert len(lines) <= 12
        return
    assert lines[0].startswith("While downloads and uploads fill the link, ")
    assert [line for line in lines[1:6] if line.startswith("What it costs: ")]
    assert [" ".join(line.split()) for line in lines if "then ± CI" in line] == ["now ± CI then ± CI change ± CI"]
    assert {"What to type", "How sure"} <= set(lines)
    assert len(lines) <= 84


@pytest.mark.long
def test_the_same_bytes_twice_and_with_any_workers(goodqueue: Callable[..., Result]) -> None:
    words = ["advise", *LINKS["lte"].split(), "--quick", "--json"]
    first = goodqueue(*words)
    assert first.out == goodqueue(*words, "--workers", "1").out, "files of rates must not depend on the order of runs"
    assert first.out != goodqueue(*words, "--seed", "9").out


def test_json_has_all_of_it(goodqueue: Callable[..., Result]) -> None:
    found = json.loads(goodqueue("advise", *LINKS["dsl"].split(), "--quick", "--json").out)
    assert (found["schema"], found["made_by"]) == (1, "goodqueue advise")
    assert found["link"] == {
        "kind": "dsl", "down_bps": 8_000_000, "up_bps": 1_000_000, "rtt_ms": 30.0, "buffer_ms": 250.0, "flent": None,
        "overhead": 40, "wan": "eth0",
    }  # fmt: skip
    assert found["seeds"] == [1, 2, 3]
    assert [one["is_choice"] for one in found["tried"]].count(True) == 1
    assert found["choice"]["sqm"]["linklayer"] == "atm"
    assert {one["metric"] for one in found["changes"]} == {one.key for one in choosing.FELT}
    assert all(len(one["then"]["ci"]) == 2 for one in found["changes"])
    assert found["kernel"] == {"why_not": None, "checks": []}


@pytest.mark.long
def test_out_writes_a_report_that_repeats(goodqueue: Callable[..., Result], here: Path) -> None:
    """The page, the answer as JSON, and scenarios that run: with the files of rates of a radio beside them."""
    words = ["advise", *LINKS["lte"].split(), "--quick", "--out"]
    printed = goodqueue(*words, "a").out
    assert printed.splitlines()[-1] == "Written: a/report.html, with results.json and both scenarios beside it."
    goodqueue(*words, "b", "--json")
    names = sorted(file.name for file in (here / "a").iterdir())
    assert names == [
        "down-12000000-1.mahimahi", "now-and-then.png", "now-and-then.svg", "now.toml",
        "report.html", "results.json", "then.toml", "up-4000000-1.mahimahi",
    ]  # fmt: skip
    assert [(here / "a" / name).read_bytes() for name in names] == [(here / "b" / name).read_bytes() for name in names]
    results = json.loads((here / "a" / "results.json").read_text(encoding="utf-8"))
    assert results["files"] == names
    assert results["command"].startswith("goodqueue advise --down 12mbit --up 4mbit --rtt 60ms --link lte --quick")
    html = (here / "a" / "report.html").read_text(encoding="utf-8")
    for part in ("Too uncertain", "4 seeds, the same", "cake-autorate", results["command"]):
        assert part in html
    shutil.move(here / "a", here / "moved")
    then = json.loads(goodqueue("run", "moved/then.toml", "--json").out)
    assert then["scenario"]["bottleneck"]["qdisc"].startswith("cake bandwidth")


@pytest.mark.parametrize("has_matplotlib", [True, False])
def test_the_page_is_made_of_the_parts_of_the_answer(
    has_matplotlib: bool, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The picture has now beside then, and the letters. Without matplotlib the page has all the rest."""
    monkeypatch.setattr(extras, "has", lambda _: has_matplotlib)
    answer = answers["cable"]
    written = of(answer, Advise(down="40mbit", up="20mbit", link="ethernet"))
    assert pages.write(tmp_path, written, "advise", "goodqueue advise", lambda _: None) is None
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert {"now.toml", "then.toml", "results.json"} <= {file.name for file in tmp_path.iterdir()}
    assert finding.of(answer).sentences[0] in html
    assert f'<a href="{escape(answer.address)}">the link in report.html</a>' in html
    assert "Everything that was tried" in html
    assert ("<svg" in html) == has_matplotlib == (tmp_path / "now-and-then.png").exists()
    if has_matplotlib:
        drawn = set(re.findall(r"<text[^>]*>([^<]*)</text>", html))
        assert {letter.letters(one.means[choosing.ADDED_KEY]) for one in (answer.tried[0], answer.choice)} <= drawn
        assert {change.what for change in answer.changes} <= drawn


def test_out_replaces_nothing_unasked(goodqueue: Callable[..., Result], here: Path) -> None:
    words = ["advise", "--down", "5mbit", "--up", "1mbit", "--quick"]
    assert goodqueue(*words, "--force").err == "goodqueue: --force: found without --out; accepted: with --out DIR\n"
    (here / "mine").mkdir()
    (here / "mine" / "notes.txt").write_text("keep", encoding="utf-8")
    refused = goodqueue(*words, "--out", "mine")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.startswith("goodqueue: --out mine: holds "), "before anything is run"
    assert goodqueue(*words, "--out", "mine", "--force").status == 0
    assert (here / "mine" / "notes.txt").read_text(encoding="utf-8") == "keep"


def test_why_shows_the_evidence(goodqueue: Callable[..., Result]) -> None:
    out = goodqueue("advise", *LINKS["dsl"].split(), "--quick", "--why").out
    for candidate in candidates.of(asked("dsl")):
        assert candidate.label in out
    assert "Points: one for each tenth" in out


def test_the_address_is_the_one_that_the_page_s_test_opens() -> None:
    """web/tests/advise.spec.ts opens this address in the page, and compares the goodput."""
    one = asked("cable")
    now, _, fair, *_ = candidates.of(one)
    held = Path(__file__).parents[2] / "web" / "tests" / "advise.address.txt"
    assert page.of(one, now, fair, lengths.short(one)) == held.read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("name", daily(LINKS))
def test_the_address_holds_what_was_measured(name: str, answers: Answers) -> None:
    """Read as web/src/address.ts does, it is the scenario of the first seed, and the lines of both directions."""
    answer = answers[name]
    if name in RADIO:
        assert answer.address == "", "a browser has no file of rates"
        return
    words = parse_qsl(urlsplit(answer.address).fragment, strict_parsing=True)
    lines = [value for key, value in words if key == "qdisc"]
    assert lines == [f"{one.down} / {one.up}" for one in answer.tried if one.is_choice or one is answer.tried[0]]
    assert [value for key, value in words if key == "label"] == ["now", "with the lines"]
    read: dict[str, Any] = {}
    for key, text in words:
        if key not in ("qdisc", "label"):
            put(read, key.split("."), text)
    then = next(one for one in candidates.of(answer.question) if one.label == answer.label)
    wanted = scenarios.scenario(answer.question, then, 1, Truth(), Path(), answer.length.times)
    read["bottleneck"] |= {"qdisc": answer.down, "up": read["bottleneck"].get("up", {}) | {"qdisc": answer.up}}
    assert scenario.resolve(read) == scenario.resolve(wanted)


def put(table: Any, path: list[str], text: str) -> None:
    """Put a leaf at its place, as the page does: lists are numbered from 0 on."""
    name: Any = path[0] if isinstance(table, dict) else int(path[0])
    if isinstance(table, list) and name == len(table):
        table.append({})
    if len(path) == 1:
        try:
            table[name] = json.loads(text)
        except ValueError:
            table[name] = text
        return
    inner: Any = [] if path[1].isdecimal() else {}
    put(table.setdefault(name, inner) if isinstance(table, dict) else table[name], path[1:], text)


@pytest.mark.parametrize(
    ("leaf", "written"),
    [("2", "%222%22"), ("a b", "a+b"), (True, "true"), (1.5, "1.5"), ([1, 2], "%5B1%2C2%5D"), ({}, "%7B%7D")],
)
def test_an_address_does_not_turn_text_into_another_value(leaf: Any, written: str) -> None:
    assert address.address({"key": {"of": leaf}}, []) == f"http://localhost:8289/#key.of={written}"


@pytest.mark.long
def test_linux_cannot_be_asked_of_a_radio(answers: Answers, goodqueue: Callable[..., Result]) -> None:
    out = goodqueue("advise", *LINKS["wifi"].split(), "--quick", "--seeds", "2", "--verify").out
    (line,) = (line for line in " ".join(out.split()).split("Not checked on Linux: ")[1:])
    assert "stations compete" in line
    for name in RADIO:
        assert "delivery opportunities" in checking.checked(answers[name], lambda _: None).kernel


@pytest.mark.long
def test_a_trace_of_the_users_gives_the_rate(goodqueue: Callable[..., Result], here: Path) -> None:
    made = goodqueue("generate", "lte", "--mean", "20mbit", "--length", "20s", "--out", "my.mahimahi").out
    mean = float(made.split(" Mbit/s on average")[0].split()[-1])
    words = ["advise", "--link", "lte", "--trace", "my.mahimahi", "--up", "3mbit", "--quick"]
    found = json.loads(goodqueue(*words, "--json").out)
    assert found["link"]["down_bps"] == pytest.approx(1e6 * mean, rel=0.01)
    assert "my.mahimahi" in found["assumed"][0]["what"]
    assert not [one for one in found["doubts"] if "half of what you said" in one["what"]]


# --- Flent -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a data file of Flent's for a link of 20 and 5 Mbit/s with FIFOs of 150 ms, RTT 25 ms."""
    from goodqueue.cli import main
    from goodqueue.scenario.toml import to_toml

    folder = tmp_path_factory.mktemp("flent")
    link = {
        "duration": "40s",
        "bottleneck": {
            "rate": "20mbit",
            "qdisc": "bfifo limit 375000",
            "up": {"rate": "5mbit", "qdisc": "bfifo limit 93750"},
        },
        "path": {"rtt": "25ms"},
        "traffic": [{"kind": "rrul_be", "start": "5s"}],
        "series": {"interval": "200ms"},
    }
    (folder / "r.toml").write_text(to_toml(link), encoding="utf-8")
    record = running.one(loads.from_file(folder / "r.toml"))
    (folder / "r.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["export", "--flent", str(folder / "r.json"), "--out", str(folder / "out")])
    (file,) = (folder / "out").glob("*.flent.gz")
    return str(file)


def test_a_measurement_says_what_the_link_is(real: str) -> None:
    found = measured.found([real])
    assert found.down_bps == pytest.approx(20e6, rel=0.05)
    assert found.up_bps == pytest.approx(5e6, rel=0.05)
    assert found.rtt_s == pytest.approx(0.025, rel=0.05)
    assert found.buffer_s is not None
    assert 0.07 < found.buffer_s <= 0.15, "a FIFO of 150 ms that CUBIC fills and drains"


@pytest.mark.long
def test_a_measurement_of_one_direction_leaves_the_other_to_be_said(
    tmp_path: Path, goodqueue: Callable[..., Result]
) -> None:
    """Uploads of 4 and 2 Mbit/s beside pings that all take 50 ms: no queue, and an unknown rate downwards."""
    file = written(tmp_path, data())
    found = measured.found([file])
    assert found.down_bps is None
    assert found.up_bps == pytest.approx(6e6 * 1514 / 1448, rel=1e-3)
    assert (found.rtt_s, found.buffer_s) == (0.05, None)
    assert goodqueue("advise", "--flent", file).err.startswith("goodqueue: --down: missing")
    link = json.loads(goodqueue("advise", "--flent", file, "--down", "20mbit", "--quick", "--json").out)["link"]
    assert link["buffer_ms"] == 250.0


def test_a_measurement_without_a_ping_is_refused(tmp_path: Path, goodqueue: Callable[..., Result]) -> None:
    content = data()
    for part in ("results", "raw_values"):
        del content[part]["Ping (ms) ICMP"]
    file = written(tmp_path, content)
    said = f"goodqueue: {file}: found no ping; accepted: a test of Flent's that has one, such as rrul_be\n"
    assert goodqueue("advise", "--flent", file).err == said


@pytest.mark.long
def test_what_is_said_goes_before_what_was_measured(real: str, goodqueue: Callable[..., Result]) -> None:
    words = ["advise", "--flent", real, real, "--quick", "--json"]
    link = json.loads(goodqueue(*words).out)["link"]
    assert link["down_bps"] == link["flent"]["down_bps"]
    assert link["buffer_ms"] == pytest.approx(1e3 * link["flent"]["buffer_s"])
    own = json.loads(goodqueue(*words, "--down", "10mbit", "--buffer", "300ms", "--rtt", "40ms").out)["link"]
    assert (own["down_bps"], own["up_bps"]) == (10_000_000, link["up_bps"])
    assert (own["rtt_ms"], own["buffer_ms"]) == (40.0, 300.0)
    said = " ".join(goodqueue("advise", "--flent", real, "--quick").out.split())
    assert "of queue each way" in said


# --- access networks -------------------------------------------------------------------------------------------------

ACCESS = {
    "starlink": "--down 120mbit --up 12mbit --rtt 20ms --link starlink",
    "lld": "--down 100mbit --up 20mbit --rtt 15ms --link lld",
}


@pytest.mark.parametrize("name", ACCESS)
def test_a_link_of_an_access_network_has_its_turns_and_its_queue(name: str, tmp_path: Path) -> None:
    words = ACCESS[name].split()
    given = dict(zip([word.removeprefix("--") for word in words[::2]], words[1::2], strict=True))
    one = reading.ask(Advise(down=given["down"], up=given["up"], rtt=given["rtt"], link=name, use="games", quick=True))
    for candidate in candidates.of(one):
        found = scenario.resolve(scenarios.scenario(one, candidate, 1, Truth(), tmp_path))
        hops = {hop["name"]: hop for hop in found["hop"]}
        access = {place: hop.get("access", "").partition(" ")[0] for place, hop in hops.items()}
        queues = {hop["qdisc"].partition(" ")[0] for hop in hops.values()}
        if name == "starlink":
            assert (access, queues) == ({"provider": name, "modem": name}, {"pfifo_head_drop"}), candidate.label
        else:
            assert (access, queues) == ({"provider": "", "modem": "docsis"}, {"docsis_lld"}), candidate.label
    now, then = candidates.of(one)[:2]
    assert ".access=" in page.of(one, now, then, lengths.short(one)), "the complete page runs it"
    assert checking.check(one, candidates.of(one)[0], lambda _: None) == ([], checking.ACCESS)


def test_starlink_s_answer_says_why_cubic_gets_so_little_and_what_bbr_gets(tmp_path: Path) -> None:
    one = reading.ask(Advise(down="60mbit", up="6mbit", link="starlink", seeds=1, quick=True))
    nothing, cake, *_ = candidates.of(one)
    (asked_of_both,) = (doubt for doubt in doubts.of(one, nothing, cake) if doubt.what == doubts.SENDERS)
    (doubt,) = trying._doubts(trying.Bench(one, tmp_path, 1, lambda _: None), [asked_of_both])
    cubic, bbr = (tried.means["goodput_mbps"].mean for tried in doubt.tried)
    assert bbr > 1.5 * cubic
    why = "since CUBIC takes each random loss for a full queue"
    assert doubt.then == (
        f"Of 60 Mbit/s downloads of CUBIC get {cubic:.3g} now, {why}. Downloads of BBR get {bbr:.3g} Mbit/s."
    )
    assert not doubt.changes_answer


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--up 1mbit", "--down: missing; accepted: a rate such as 50mbit, or --flent FILE that measured it"),
        ("--down 9mbit", "--up: missing; accepted: a rate such as 50mbit"),
        ("--down fast --up 1mbit", '--down: found "fast"; accepted: a rate'),
        ("--down 9kbit --up 1mbit", '--down: found "9kbit"; accepted: 128kbit to 10gbit'),
        (
            "--down 250Mbps --up 25mbit",
            '--down: found "250Mbps", which is 2 Gbit/s for tc (bytes), and 250 Mbit/s in a contract; accepted: 2',
        ),
        ("--down 9mbit --up 2Gbps", '--up: found "2Gbps", which is 16 Gbit/s for tc (bytes), and 2 Gbit/s in a contr'),
        ("--down 9mbit --up 1mbit --rtt 5s", '--rtt: found "5s"; accepted: 1ms to 2s'),
        ("--down 9mbit --up 1mbit --buffer 1h", '--buffer: found "1h"; accepted: a time'),
        (
            "--down 9mbit --up 1mbit --link satellite",
            '--link: found "satellite"; accepted: docsis (cable, hfc), dsl (adsl',
        ),
        ("--down 9mbit --up 1mbit --pppoe me", '--pppoe: found "me"; accepted: router, modem, no'),
        ("--down 9mbit --up 1mbit --link lte --vlan", "--vlan: found with --link lte; accepted: with a link by wire"),
        ("--down 9mbit --up 1mbit --vlan --overhead 8", "--vlan: found beside --overhead; accepted: one of them"),
        ("--down 9mbit --up 1mbit --overhead 257", '--overhead: found "257"; accepted: a whole number from 0 to 256'),
        ("--down 9mbit --up 1mbit --wan a;reboot", '--wan: found "a;reboot"; accepted: an interface'),
        ("--down 9mbit --up 1mbit --wan 0123456789abcdef", '--wan: found "0123456789abcdef"; accepted: an interface'),
        ("--down 9mbit --up 1mbit --use calls,calls", '--use: found "calls" twice; accepted: a list of calls, games'),
        ("--down 9mbit --up 1mbit --use mail", '--use: found "mail"; accepted: a list of calls, games'),
        ("--down 900mbit --link wifi", '--down: found "900mbit" with --link wifi; accepted: up to 189mbit'),
        ("--down 20mbit --link wifi --buffer 1s", "--buffer: found with --link wifi; accepted: without"),
        ("--down 9mbit --up 1mbit --trace x", "--trace: found with --link docsis; accepted: with --link lte or 5g"),
        ("--link lte --trace none.txt --up 1mbit", "none.txt: not found; accepted: a trace of rates"),
        ("--link lte --down 1mbit --trace ok.toml --up 1mbit", '--down: found "1mbit" beside --trace; accepted: one'),
        ("--flent ok.toml", "ok.toml: not JSON"),
        ("--flent bare.json", "bare.json: not a data file of Flent's; accepted: a data file of Flent's"),
        ("x.flent.gz", 'advise: found "x.flent.gz" without --flent; accepted: --flent FILE...'),
        ("--down 9mbit --up 1mbit --seeds 0", '--seeds: found "0"; accepted: a whole number from 1'),
    ],
)
def test_bad_input_is_one_line(words: str, said: str, goodqueue: Callable[..., Result], here: Path) -> None:
    (here / "bare.json").write_text("{}", encoding="utf-8")
    result = goodqueue("advise", *words.split())
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"goodqueue: {said}"), result.err
    assert result.err.count("\n") == 1


# --- from Python -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_python_has_the_same_answer(goodqueue: Callable[..., Result]) -> None:
    words = LINKS["dsl"].split()
    theirs = json.loads(goodqueue("advise", *words, "--quick", "--json").out)
    advice = gq.advise("8mbit", "1mbit", "30ms", link="dsl", quick=True)
    assert (advice.down, advice.up) == (theirs["choice"]["down"], theirs["choice"]["up"])
    assert advice.change(choosing.CALL.key).then.mean == theirs["changes"][0]["then"]["mean"]
    printed = goodqueue("advise", *words, "--quick").out
    assert advice.table() + "\n--all shows more: The evidence\n" == printed
    assert "Everything that was tried" in gq.advise("8mbit", "1mbit", "30ms", link="dsl", quick=True, why=True).table()
    with pytest.raises(UserError, match=r"^down: missing"):
        gq.advise(up="1mbit")
    with pytest.raises(UserError, match=r"^metric: found"):
        advice.change("mos")


def test_a_kind_of_link_has_the_names_that_people_give_it(goodqueue: Callable[..., Result]) -> None:
    assert {word: links.find(word).key for word in ("cable", "Fibre", "ADSL", "4g", "NR", "wlan")} == {  # type: ignore[union-attr]
        "cable": "docsis", "Fibre": "ethernet", "ADSL": "dsl", "4g": "lte", "NR": "5g", "wlan": "wifi",
    }  # fmt: skip
    refused = goodqueue("advise", "--down", "5mbit", "--up", "1mbit", "--link", "satellite")
    assert refused.status == 2
    assert "accepted: docsis (cable, hfc), dsl (adsl, adsl2, adsl2+)" in refused.err
