"""TCP by release of Linux: what changed in which release, and the scripts that prove it."""

import json
from itertools import pairwise
from typing import TypedDict

from goodqueue import _goodqueue
from goodqueue.show.table import Column, Table

SCRIPTS = {
    "a SYN is sent again after": ["syn_lost_linux_6_12", "syn_lost_linux_7_3", "syn_ack_lost_linux_7_3"],
    "small queues (`[[host]]`): a connection has in its host": [],
    "a packet for segmentation offload takes in the sender, beside its payload,": [
        "send_buffer_linux_6_1",
        "send_buffer_linux_6_12",
        "send_buffer_linux_7_3",
    ],
    "a packet takes in the receiver, beside its payload,": ["half_of_the_buffer_linux_6_1"],
    "a packet for segmentation offload ends with": [
        "packet_ends_with_the_piece_linux_6_1",
        "packet_filled_up_linux_6_12",
        "packet_filled_up_linux_7_3",
    ],
    "a FIN": ["fin_waits_for_the_window_linux_6_12", "fin_waits_for_the_window_linux_7_3"],
    "ACKs of data out of order": [
        "compressed_acks_linux_7_3",
        "held_ack_timestamp_linux_6_1",
        "held_ack_timestamp_linux_7_3",
    ],
    "an ACK is delayed by at most": [],
    "receive window": [
        "half_of_the_buffer_linux_6_1",
        "measured_share_linux_6_12",
        "window_for_a_hole_linux_6_12",
        "window_for_a_hole_linux_7_3",
    ],
    "with AccECN (RFC 9768), the option (3.2.3) is": [
        "accecn/option_counts_bytes_linux_7_3",
        "accecn/option_is_agreed_linux_7_3",
        "accecn/option_is_cleared_linux_7_3",
        "accecn/option_is_not_answered_linux_7_3",
        "accecn/option_lost_linux_7_3",
        "accecn/option_not_on_a_repeated_syn_ack_linux_7_3",
        "accecn/option_of_a_server_linux_7_3",
        "accecn/option_resolves_a_long_ack_linux_7_3",
    ],
    'the receive buffer of `tcp_rmem = "stock"` ends at': [],
    "`tcp_ecn` may be": [
        "accecn/agreed_to_nothing",
        "accecn/asked_for_nothing",
        "accecn/client_has_classic_ecn",
        "accecn/server_has_classic_ecn",
    ],
    "`tcp_ecn_option` may be": [
        "accecn/option_after_the_handshake_linux_7_3",
        "accecn/option_never_linux_7_3",
        "accecn/option_never_of_a_server_linux_7_3",
        "accecn/option_on_demand_linux_7_3",
        "accecn/option_persists_linux_7_3",
        "accecn/option_thrice_a_round_trip_linux_7_3",
    ],
}
"""The scripts of ``crates/tcp/tests/scripts/release``, or of another folder there, by what differs."""

TESTS = {
    "small queues (`[[host]]`): a connection has in its host": (
        "crates/tcp/src/small_queue.rs: each_release_lets_another_number_of_packets_out"
    ),
    "an ACK is delayed by at most": "crates/tcp/src/delack/tests.rs: a_release_has_its_longest_delay",
    'the receive buffer of `tcp_rmem = "stock"` ends at': (
        "tests/engines/test_kernel_planning.py: test_the_hosts_have_the_buffers_that_the_scenario_says"
    ),
}
"""The tests of what has no script: the file and the function."""

SYSCTLS = {
    "`tcp_ecn` may be": {"6.1": "0 to 2", "6.12": "0 to 2", "7.3": "0 to 5"},
    "`tcp_ecn_option` may be": {"6.1": "none", "6.12": "none", "7.3": "0 to 3"},
}
"""Values of sysctls, which differ between releases although no stack differs unless a scenario says one."""


class Feature(TypedDict):
    """Something in which TCP differs between releases."""

    name: str
    releases: dict[str, str]
    scripts: list[str]
    test: str | None
    """The test that proves it, if no script does."""


def features() -> list[Feature]:
    """Return each feature that differs between the releases, with what each release does."""
    stacks = json.loads(_goodqueue.stacks())
    names: list[str] = json.loads(_goodqueue.linux())["releases"]
    places = {name: stacks["names"].index(f"linux-{name}") for name in names}
    features = []
    rows = {
        row["aspect"]: {name: row["stacks"][column] for name, column in places.items()} for row in stacks["differences"]
    }
    for name, releases in (rows | SYSCTLS).items():
        if len(set(releases.values())) > 1:
            features.append(Feature(name=name, releases=releases, scripts=SCRIPTS[name], test=TESTS.get(name)))
    return features


def table(features: list[Feature]) -> Table:
    """Return the table of ``features``, with one line below it per feature and release that changed it."""
    names = list(features[0]["releases"])
    rows, notes = [], []
    for feature in features:
        texts = list(feature["releases"].values())
        changed = [
            "",
            *("changed" if text != before else "same" for before, text in pairwise(texts)),
        ]
        proof = (
            f"{len(feature['scripts'])} script{'s' * (len(feature['scripts']) > 1)}"
            if feature["scripts"]
            else "unit test"
        )
        rows.append([feature["name"], *changed, proof])
        changes = (f"{name} {text}" for name, text, new in zip(names, texts, changed, strict=True) if new != "same")
        notes.append(f"{feature['name']}: {'; '.join(changes)}.")
    how = 'stack = "linux-7.3" chooses the TCP. A script is one of crates/tcp/tests/scripts/.'
    columns = [Column(name, False) for name in ("TCP", *names, "proof")]
    return Table("TCP by release of Linux", columns, rows, [*notes, how])
