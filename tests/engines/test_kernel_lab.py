"""The kernel engine's laboratory, as far as it needs neither root nor its own kernel."""

import select
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from goodqueue.engines.kernel.lab import bulk, commands, counters, tc, tcpinfo
from goodqueue.engines.kernel.lab.addresses import EPHEMERAL, MOST_FLOWS, MOST_ROUTES, Ends, ends, of_route, place_of
from goodqueue.engines.kernel.lab.bulk import Receiver, Sender
from goodqueue.engines.kernel.lab.clock import Clock
from goodqueue.engines.kernel.lab.datagrams import Sink, Source
from goodqueue.engines.kernel.lab.errors import LabError
from goodqueue.engines.kernel.lab.halves import Connection
from goodqueue.engines.kernel.lab.loop import Loop
from goodqueue.engines.kernel.lab.orders import Orders
from goodqueue.engines.kernel.lab.page import Page
from goodqueue.engines.kernel.lab.plan import Flow, Plan, Route, Shaper

pytestmark = pytest.mark.usefixtures("sockets_are_closed")


def flow(**changes: Any) -> Flow:
    words: dict[str, Any] = {
        "name": "bulk/0",
        "kind": "bulk",
        "direction": "down",
        "start_s": 0.0,
        "stop_s": 0.3,
        "rtt_s": 0.05,
        "ecn": False,
        "ecn_bits": 0,
        "cc": "reno",
        "dscp": 0,
        "pacing": False,
        "packet_size": None,
        "interval_s": None,
        "user": 1,
        "server": 1,
    }
    return Flow(**(words | changes))


def ping(**changes: Any) -> Flow:
    return flow(name="ping/0", kind="ping", cc=None, packet_size=98, interval_s=0.01, **changes)


def plan(*flows: Flow, rtts_s: list[float] | None = None, duration_s: float = 0.3) -> Plan:
    link = Shaper(rate_bps=10_000_000, shaper="htb", tc=[["parent", "1:1", "handle", "10:", "codel", "limit", "1000"]])
    return Plan(
        duration_s=duration_s,
        warmup_s=0.1,
        seed=1,
        down=link,
        up=link,
        routes=[Route(rtt_s) for rtt_s in rtts_s or [0.05]],
        flows=list(flows),
        sample_s=None,
    )


def loopback() -> Ends:
    """Return two free ports of this machine."""
    with socket.socket() as one, socket.socket() as two:
        one.bind(("127.0.0.1", 0))
        two.bind(("127.0.0.1", 0))
        return Ends(one.getsockname(), two.getsockname(), ports=(one.getsockname()[1],))


def test_a_plan_survives_being_written_down() -> None:
    wanted = plan(flow(), ping(user=2))
    assert Plan.from_json(wanted.to_json()) == wanted


def test_an_address_is_a_host_whatever_the_flows_ways_and_ecn() -> None:
    """If the way or ECN were in the address, a discipline that shares between hosts would see one user as several."""
    task = plan(
        flow(user=300, server=1),
        flow(user=300, server=2, direction="up"),
        flow(user=2, server=1, rtt_s=0.1, route=1, ecn=True),
        flow(user=300, server=1, rtt_s=0.1, route=1, routes=[0, 1]),
        rtts_s=[0.05, 0.1],
    )
    assert [ends(task, place) for place in range(4)] == [
        Ends(source=("10.9.0.1", 0x800), sink=("10.8.1.44", 0x8000), ports=(0x8000,)),
        Ends(source=("10.8.1.44", 0x801), sink=("10.9.0.2", 0x8001), ports=(0x8001,)),
        Ends(source=("10.9.0.1", 0x802), sink=("10.8.0.2", 0x8802), ports=(0x8802,)),
        Ends(source=("10.9.0.1", 0x803), sink=("10.8.1.44", 0x8803), ports=(0x8003, 0x8803)),
    ]


def test_delay_goes_by_port_however_many_flows_there_are() -> None:
    rtts_s = [number / 100 for number in range(MOST_ROUTES)]
    task = plan(*[flow(route=route) for route in (0, MOST_ROUTES - 1)] * (MOST_FLOWS // 2), rtts_s=rtts_s)
    for place, one in enumerate(task.flows):
        (_, own), (_, port) = ends(task, place).source, ends(task, place).sink
        taken = [route for route in range(MOST_ROUTES) for first, last in [of_route(route)] if first <= port <= last]
        assert taken == [one.route]
        assert place_of((own, port)) == place_of((port, own)) == place
        assert own < EPHEMERAL[0], "a port that Linux may choose for another connection of the host"
    assert EPHEMERAL[1] < of_route(0)[0], "a chosen port would select a way"
    assert place_of(EPHEMERAL) is None


def test_a_packet_arrives_half_an_rtt_after_its_transmission() -> None:
    (words,) = commands.wire("w-srv", [0.05], [10_000_000])
    assert " ".join(words) == (
        "qdisc add dev w-srv root handle 1: netem delay 25000.000us rate 10000000bit limit 1000000"
    )


def test_an_rtt_of_odd_nanoseconds_is_not_rounded_to_microseconds() -> None:
    (words,) = commands.wire("w-srv", [0.000_010_002], [10_000_000])
    assert "5.001us" in words


def test_several_rtts_have_a_band_each_and_bands_are_hexadecimal() -> None:
    rtts_s = [number / 100 for number in range(16)]
    lines = [" ".join(words) for words in commands.wire("a-cli", rtts_s, [5_000_000] * 16)]
    assert lines[0] == f"qdisc add dev a-cli root handle 1: prio bands 16 priomap{' 0' * 16}"
    assert lines[-3] == (
        "qdisc add dev a-cli parent 1:10 handle 1f: netem delay 75000.000us rate 5000000bit limit 1000000"
    )
    assert lines[-2:] == [
        f"filter add dev a-cli parent 1: protocol ip prio 1 u32 match ip {end} 63488 0xf800 flowid 1:10"
        for end in ("dport", "sport")
    ]


@pytest.mark.parametrize(
    ("shaper", "root"),
    [
        (
            "htb",
            [
                "qdisc add dev r-cli root handle 1: htb default 1",
                "class add dev r-cli parent 1: classid 1:1 htb rate 10000000bit burst 30b cburst 30b quantum 1514",
            ],
        ),
        (
            "cbs",
            ["qdisc add dev r-cli root handle 1: cbs idleslope 10000 sendslope -9990000 hicredit 30 locredit -1000000"],
        ),
    ],
)
def test_the_discipline_is_the_leaf_of_a_link_that_sends_at_its_rate(shaper: str, root: list[str]) -> None:
    link = Shaper(10_000_000, shaper, [["parent", "1:1", "handle", "10:", "codel", "limit", "1000"]])
    lines = [" ".join(words) for words in commands.link("r-cli", link, ["root"])]
    assert lines == [*root, "qdisc add dev r-cli parent 1:1 handle 10: codel limit 1000"]


@pytest.mark.parametrize(("rate_bps", "bytes_ahead"), [(5_000_000, 30), (100_000_000, 125)])
def test_a_late_timer_costs_a_fast_link_none_of_its_rate(rate_bps: int, bytes_ahead: int) -> None:
    _, link = commands.link("r-cli", Shaper(rate_bps, "htb", []), ["root"])
    assert f"burst {bytes_ahead}b cburst {bytes_ahead}b" in " ".join(link)


def test_a_timer_that_goes_through_all_flows_costs_the_link_none_of_its_rate() -> None:
    """fq_pie's timer takes more than 0.1 ms in the virtual machine. A link that may not be ahead then falls behind."""
    fq_pie = ["parent", "1:1", "handle", "10:", "fq_pie", "limit", "10240", "flows", "1024"]
    _, link, _ = commands.link("r-cli", Shaper(8_000_000, "htb", [fq_pie]), ["root"])
    assert "burst 256b" in " ".join(link), "0.256 ms of 8 Mbit/s"
    fq_codel = ["fq_codel" if word == "fq_pie" else word for word in fq_pie]
    _, link, _ = commands.link("r-cli", Shaper(8_000_000, "htb", [fq_codel]), ["root"])
    assert "burst 30b" in " ".join(link), "fq_codel has no timer"


def test_an_unknown_shaper_is_refused() -> None:
    with pytest.raises(LabError, match="found tbf; accepted: htb, cbs"):
        commands.link("r-cli", Shaper(1, "tbf", []), ["root"])


def test_a_refusal_of_tc_names_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tc").write_text("#!/bin/sh\necho 'Error: no such thing.' >&2\necho 'Command failed -:2' >&2\nexit 1\n")
    (tmp_path / "tc").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(LabError, match=r"^tc: Error: no such thing\. in: second line$"):
        tc.batch([["first", "line"], ["second", "line"]])


def test_a_machine_without_tc_is_told_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="package iproute2"):
        tc.version()


def test_counters_since_leave_out_what_stood_still() -> None:
    assert counters.since({"TcpExt.A": 1, "TcpExt.B": 5}, {"TcpExt.A": 1, "TcpExt.B": 7}) == {"TcpExt.B": 2}
    assert "Tcp.RetransSegs" in counters.read()


def test_fields_that_a_kernel_does_not_have_are_null_not_zero() -> None:
    old = tcpinfo.decode(bytes(104))
    assert old["cwnd"] == 0
    assert old["delivered"] is None


def test_bulk_keeps_a_connection_busy_and_holds_little_unsent() -> None:
    between, task = loopback(), plan(flow(stop_s=0.29))
    loop, clock = Loop(), Clock.starting_in(0.01)
    receiver = Receiver(task.flows[0], between, loop)
    sender = Sender(task.flows[0], between, task, clock, loop)
    loop.run(clock.at(0.4))
    warm, end = sender.results()["tcp_info"]
    assert warm["t_s"] == pytest.approx(0.1, abs=0.05)
    assert end["t_s"] == pytest.approx(0.3, abs=0.05)
    assert end["bytes_acked"] > warm["bytes_acked"] > 1_000_000
    assert end["rtt_us"] < 100_000
    assert end["notsent_bytes"] < 200_000
    del receiver


def test_only_a_flow_that_stops_early_holds_little_unsent() -> None:
    """With 16 KiB a sender ran dry behind trains of ACKs: two segments in a thousand were short at 10 Mbit/s."""
    task = plan(flow())
    assert bulk.unsent(flow(stop_s=task.duration_s), task) == 1 << 18
    assert bulk.unsent(flow(stop_s=task.duration_s / 2), task) == 1 << 14


def test_a_flow_that_stops_before_it_starts_does_nothing() -> None:
    between, task = loopback(), plan(flow(start_s=0.3))
    loop, clock = Loop(), Clock.starting_in(0)
    sender = Sender(task.flows[0], between, task, clock, loop)
    loop.run(clock.at(0.35))
    assert sender.results() == {"tcp_info": []}


class Overslept:
    """An epoll that sleeps 0.02 s past its time, as on a busy machine, and returns what is ready by then."""

    def __init__(self, epoll: select.epoll) -> None:
        self._epoll = epoll

    def register(self, descriptor: int, events: int) -> None:
        self._epoll.register(descriptor, events)

    def unregister(self, descriptor: int) -> None:
        self._epoll.unregister(descriptor)

    def poll(self, seconds: float) -> list[tuple[int, int]]:
        time.sleep(seconds + 0.02)
        return self._epoll.poll(0)


def test_a_sender_that_wakes_late_takes_the_reset_after_the_run_for_no_failure() -> None:
    """The receiver's process closes at the end of the run. The sender, which wakes later, is due to stop by then."""
    loop, clock = Loop(), Clock.starting_in(0.0)
    loop._epoll = Overslept(loop._epoll)  # type: ignore[assignment]
    ours, theirs = socket.socketpair()
    theirs.close()
    seen = []
    loop.watch(ours.fileno(), select.EPOLLIN, lambda: seen.append("reset"))
    loop.at(clock.at(0.0), lambda: seen.append("started"))
    loop.at(clock.at(0.03), lambda: (seen.append("stopped"), loop.forget(ours.fileno())))
    loop.run(clock.at(0.1))
    ours.close()
    assert seen == ["started", "stopped"]


def test_an_unknown_congestion_control_is_named() -> None:
    with pytest.raises(LabError, match="flow bulk/0: this kernel has no congestion control nada"):
        Receiver(flow(cc="nada"), loopback(), Loop())


def test_pings_come_back_and_leave_on_time() -> None:
    between, task = loopback(), plan(ping())
    loop, clock = Loop(), Clock.starting_in(0.01)
    sink = Sink(task.flows[0], between, clock, loop)
    source = Source(task.flows[0], between, task, clock, loop)
    loop.run(clock.at(0.4))
    results = source.results()
    assert results["sent"] == 30
    for number, sent, rtt in results["pings"]:
        assert sent >= number * 0.01, "a packet left ahead of its time"
        assert 0 < rtt < 0.05
    del sink


def test_who_listens_to_a_call_notes_each_packet() -> None:
    between, task = loopback(), plan(flow(kind="voip", cc=None, packet_size=214, interval_s=0.01))
    loop, clock = Loop(), Clock.starting_in(0.01)
    sink = Sink(task.flows[0], between, clock, loop)
    source = Source(task.flows[0], between, task, clock, loop)
    loop.run(clock.at(0.4))
    sent, heard = source.results()["sent_s"], sink.results()["heard"]
    assert [number for number, _ in heard] == list(range(30))
    for number, arrived in heard:
        assert number * 0.01 <= sent[number] <= arrived < sent[number] + 0.05


PAGE = {
    "name": "page/0",
    "kind": "page",
    "interval_s": 0.02,
    "connections": 2,
    "objects": [
        {"host": host, "request_bytes": request, "response_bytes": size}
        for host, request, size in (
            (0, 400, 9_000),
            (0, 1, 300_000),
            (0, 90_000, 70_000),
            (1, 3, 10),
            (0, 400, 1),
        )
    ],
}


def browsed(**changes: Any) -> tuple[dict[str, Any], list[int], list[int]]:
    """Return a browser's notes, the number of open connections after each opening, and the bytes of each response."""
    between = loopback()
    served = flow(**PAGE, **changes)
    task = plan(served, duration_s=changes.get("stop_s", 0.0) + 0.5)
    answers: list[int] = []
    opened: list[int] = []

    class Server(Page):
        def established(self, connection: Connection) -> None:
            write = connection.write

            def noted(count: int) -> None:
                answers.append(count)
                write(count)

            connection.write = noted  # type: ignore[method-assign]

    class Browser(Page):
        def open(self, route: int = 0) -> Connection:
            made = super().open(route)
            opened.append(len(self._connections))
            return made

    loop, clock = Loop(), Clock.starting_in(0.01)
    orders = Orders()
    server = Server(served, between, "server", task, clock, loop, orders)
    browser = Browser(served, between, "client", task, clock, loop, orders)
    loop.run(clock.at(task.duration_s + 0.1))
    assert server.notes() == {}
    return browser.notes(), opened, answers


def test_a_browser_fetches_every_object_over_so_many_connections_to_each_host() -> None:
    noted, opened, answers = browsed(repeat=3)
    assert len(noted["begun"]) == len(noted["completed"]) == 3
    assert all(begun < done for begun, done in zip(noted["begun"], noted["completed"], strict=True))
    assert noted["begun"][1] >= noted["completed"][0] + 0.02, "the next begins an interval after the last"
    sizes = [1, 10, 9_000, 70_000, 300_000]
    assert [sorted(answers[at : at + 5]) for at in (0, 5, 10)] == [sizes] * 3, "each of what was asked for, once"
    assert answers[0] == 9_000, "the document names the others"
    assert max(opened) <= 3 + 3, "two to the one host, one to the other, and those of the last fetch may yet be closing"
    assert len(opened) == 9


def test_a_browser_goes_on_until_it_is_stopped() -> None:
    noted, _, _ = browsed(stop_s=1.5)  # real time; the run lasts half a second longer, enough for a busy machine
    assert len(noted["begun"]) > 3
    assert all(begun <= 1.5 for begun in noted["begun"])
    assert len(noted["completed"]) == len(noted["begun"]), "what is under way may end"


def test_a_datagram_has_the_length_on_the_wire_that_was_asked_for() -> None:
    between, task = loopback(), plan(ping())
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(between.sink)
        loop, clock = Loop(), Clock.starting_in(0)
        source = Source(task.flows[0], between, task, clock, loop)
        loop.run(clock.at(0.05))
        assert len(listener.recv(2048)) == 98 - 14 - 20 - 8
    assert source.results()["pings"][0][2] is None, "nobody sent it back"
