"""`goodqueue link doctor`: each obstacle is simulated, and its remedy is compared word for word."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Result
from goodqueue.linking import doctor
from goodqueue.linking.doctor import Finding, Machine


def machine(**differs: Any) -> Machine:
    """Return a machine on which everything works except for ``differs``."""
    fine: dict[str, Any] = {
        "release": "6.1.0-1-amd64",
        "root": False,
        "program": "/usr/bin/python3.12",
        "switch": lambda name: None,
        "exists": lambda path: True,
        "opens": lambda: True,
        "find": lambda name: f"/usr/bin/{name}",
        "build": lambda: None,
    }
    return Machine(**(fine | differs))


def refused() -> str:
    return "unshare: Operation not permitted"


def only(findings: list[Finding]) -> Finding:
    (found,) = [finding for finding in findings if not finding.good]
    return found


def switches(**values: str) -> Callable[[str], str | None]:
    return lambda name: values.get(name.rpartition("/")[2])


def test_where_all_works_nothing_is_to_be_done() -> None:
    findings = doctor.examine(machine())
    assert all(finding.good and finding.remedy is None for finding in findings)
    assert doctor.runs(findings)
    assert [finding.name for finding in findings] == ["kernel", "namespaces", "/dev/net/tun", "way out"]


def test_no_user_namespaces_at_all() -> None:
    findings = doctor.examine(machine(build=refused, switch=switches(max_user_namespaces="0\n")))
    found = only(findings)
    assert found.found == "user.max_user_namespaces = 0"
    line = "echo 'user.max_user_namespaces = 15000' | sudo tee /etc/sysctl.d/60-goodqueue.conf && sudo sysctl --system"
    assert found.remedy == line
    assert not doctor.runs(findings)


def test_debians_switch() -> None:
    found = only(doctor.examine(machine(build=refused, switch=switches(unprivileged_userns_clone="0\n"))))
    assert found.found == "kernel.unprivileged_userns_clone = 0"
    assert found.remedy is not None
    assert "echo 'kernel.unprivileged_userns_clone = 1' | sudo tee" in found.remedy


def test_apparmor_and_the_text_of_its_profile() -> None:
    switch = switches(apparmor_restrict_unprivileged_userns="1\n", max_user_namespaces="15000\n")
    found = only(doctor.examine(machine(build=refused, switch=switch)))
    assert found.name == "AppArmor"
    assert found.remedy is not None
    assert "profile goodqueue /usr/bin/python3.12 flags=(unconfined) {\n  userns,\n}\nEND\n" in found.remedy
    assert found.remedy.startswith("sudo tee /etc/apparmor.d/goodqueue <<'END'\n")
    assert found.remedy.endswith("\nsudo apparmor_parser -r /etc/apparmor.d/goodqueue")


def test_a_switch_that_stands_in_nobodys_way_is_not_told() -> None:
    """Ubuntu has this switch on, and our program may have a profile already. Only a failed link counts."""
    findings = doctor.examine(machine(switch=switches(apparmor_restrict_unprivileged_userns="1\n")))
    assert all(finding.good for finding in findings)


def test_two_switches_are_both_told() -> None:
    switch = switches(max_user_namespaces="0", unprivileged_userns_clone="0")
    findings = doctor.examine(machine(build=refused, switch=switch))
    assert [finding.found for finding in findings if finding.stops] == [
        "user.max_user_namespaces = 0",
        "kernel.unprivileged_userns_clone = 0",
    ]


def test_a_refusal_that_no_switch_explains_is_told_as_it_is() -> None:
    found = only(doctor.examine(machine(build=refused)))
    assert found.found == "unshare: Operation not permitted"
    assert found.stops


@pytest.mark.parametrize(
    ("differs", "said", "remedy"),
    [
        ({"exists": lambda path: False, "opens": lambda: False}, "missing: veth", "sudo modprobe tun"),
        ({"opens": lambda: False}, "does not open: veth", "sudo chmod 666 /dev/net/tun"),
    ],
)
def test_without_tun_there_is_a_link_all_the_same(differs: dict[str, Any], said: str, remedy: str) -> None:
    findings = doctor.examine(machine(**differs))
    tun, outward = (finding for finding in findings if not finding.good)
    assert tun.found.startswith(said)
    assert tun.remedy is not None
    assert tun.remedy.startswith(remedy)
    assert outward.found == "pasta, which needs /dev/net/tun"
    assert doctor.runs(findings)


def test_without_a_way_out_two_commands_meet_all_the_same() -> None:
    findings = doctor.examine(machine(find=lambda name: None))
    found = only(findings)
    assert found.remedy == "sudo apt-get install passt"
    assert doctor.runs(findings)


def test_slirp4netns_is_a_way_out_too() -> None:
    findings = doctor.examine(machine(find=lambda name: name if name == "slirp4netns" else None))
    assert findings[-1] == Finding("way out", "slirp4netns", True)


@pytest.mark.parametrize(
    ("release", "good"), [("5.5.19", False), ("5.6.0", True), ("4.19.0-amd64", False), ("6.18.44-fc-v595", True)]
)
def test_an_old_kernel(release: str, good: bool) -> None:
    findings = doctor.examine(machine(release=release))
    assert findings[0].good is good
    assert doctor.runs(findings) is good


def test_the_command_prints_it(goodqueue: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    ill = machine(build=refused, switch=switches(max_user_namespaces="0"))
    monkeypatch.setattr(doctor, "Machine", lambda: ill)
    done = goodqueue("link", "doctor")
    assert done.status == 1
    assert "user.max_user_namespaces = 0" in done.out
    remedy = (
        "echo 'user.max_user_namespaces = 15000' | sudo tee /etc/sysctl.d/60-goodqueue.conf && sudo sysctl --system"
    )
    assert f"\n{remedy}\n" in done.out, "whole, so that it can be copied"
    said = json.loads(goodqueue("link", "doctor", "--json").out)
    assert said["runs"] is False
    assert {"name", "found", "good", "remedy", "stops"} == said["findings"][0].keys()
