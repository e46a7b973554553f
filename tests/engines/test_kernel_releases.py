"""Several releases of Linux side by side: names, images, the private apt. Most of it needs no kernel."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import SCENARIO, Result
from goodqueue import engines
from goodqueue.engines import identity, releases
from goodqueue.engines.kernel import apt, image, linux, packages, vm
from goodqueue.errors import UserError
from goodqueue.record.reading import times_of
from goodqueue.scenario import resolve
from test_kernel_machine import bzimage, write_image


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return an empty folder of images, on a machine with qemu."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vm, "QEMU", "sh")
    monkeypatch.setattr(vm, "version", lambda: "7.2.22")
    image._first_wanted.cache_clear()
    return image.cache()


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_kernel_expands_to_one_engine_per_release() -> None:
    assert engines.parse("sim,kernel", linux="6.1,7.3") == ("sim", "kernel-6.1", "kernel-7.3")
    assert engines.parse("kernel-6.12", several=False) == ("kernel-6.12",)
    assert (engines.kind("kernel-6.12"), engines.release("kernel-6.12")) == ("kernel", "6.12")
    assert (engines.kind("sim"), engines.release("kernel")) == ("sim", None)


@pytest.mark.parametrize(
    ("engine", "linux", "said"),
    [
        ("kernel", "6.2", '--kernel: found "6.2"; accepted: 6.1, 6.12, 7.3, or several, as 6.1,7.3'),
        ("kernel", "6.1,6.1", '--kernel: found "6.1,6.1", the same twice; accepted: each once'),
        ("sim", "7.3", "--kernel: found with --engine sim; accepted: with --engine kernel"),
        ("kernel-6.2", None, '--engine kernel-6.2: found "6.2"; accepted: 6.1, 6.12, 7.3'),
        ("live-7.3", None, '--engine: found "live-7.3"; accepted: sim, kernel, live, or several, as sim,kernel,live'),
    ],
)
def test_a_release_that_is_none_is_refused_by_name(engine: str, linux: str | None, said: str) -> None:
    with pytest.raises(UserError) as refused:
        engines.parse(engine, linux=linux)
    assert str(refused.value) == said


def test_a_release_has_an_image_of_its_own(cache: Path) -> None:
    write_image(cache, "own", kernel="6.1.0-56-amd64")
    write_image(cache, "asked", kernel="7.3.4+deb13-amd64", asked="7.3")
    found = {release: image.find(release) for release in (None, "6.1", "6.12", "7.3")}
    keys = {release: one.key if one else None for release, one in found.items()}
    assert keys == {None: "own", "6.1": "own", "6.12": None, "7.3": "asked"}, "a run would be of another kernel"


def test_the_release_is_in_the_run_s_key(cache: Path) -> None:
    write_image(cache, "own", kernel="6.1.0-56-amd64")
    write_image(cache, "asked", kernel="7.3.4+deb13-amd64", asked="7.3")
    resolved = resolve(SCENARIO)
    keys = {identity.of(engine, resolved).key for engine in ("kernel", "kernel-6.1", "kernel-7.3")}
    assert len(keys) == 3, "a stored run of one kernel would answer for another"


def test_the_machine_s_own_packages_serve_their_release(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = [packages.Package("linux-image-amd64", "6.1.192-2", "linux.deb", "SHA256:00")]
    newer = [packages.Package("linux-image-amd64", "6.12.117-1", "linux.deb", "SHA256:01")]
    monkeypatch.setattr(packages, "resolve", lambda apt=None: newer if apt else own)
    monkeypatch.setattr(apt, "configured", lambda release, folder: folder / release)
    assert image._chosen("6.1") == (own, None), "the same packages would make two images"
    assert image._chosen("6.12") == (newer, cache / "6.12")


def test_a_private_apt_asks_this_machine_s_mirror_for_the_release_s_suites(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(tmp_path, "apt-get", '[ "$1" = indextargets ] && echo http://mirror.test/debian; exit 0')
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(apt, "_KEYRING", tmp_path / "none")
    configuration = apt.configured("7.3", tmp_path / "cache")
    listed = (configuration.parent / "sources.list").read_text().splitlines()
    assert listed == [f"deb http://mirror.test/debian {suite} main" for suite in ("sid", "trixie-backports")]
    pins = (configuration.parent / "preferences").read_text()
    assert pins.index("linux-*") < pins.index("trixie-backports") < pins.index("sid"), "the kernel would be sid's"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 0", "found no mirror of Debian among apt's sources; accepted: a Debian system, after apt-get update"),
        (
            '[ "$1" = indextargets ] && exec echo http://mirror.test; echo "E: Failed to fetch it" >&2; exit 100',
            "apt-get update: Failed to fetch it; accepted: a mirror of Debian with trixie",
        ),
    ],
)
def test_without_network_or_suite_one_line_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, goodqueue: Callable[..., Result], script: str, said: str
) -> None:
    program(tmp_path, "apt-get", script)
    for name in ("apt-cache", "dpkg-deb"):
        program(tmp_path, name, "exit 0")
    program(tmp_path, "dpkg", "echo amd64")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    result = goodqueue("kernel", "image", "--kernel", "6.12")
    assert result.status == 2
    assert result.err.splitlines()[-1].startswith(f"goodqueue: kernel 6.12: {said}")
    assert len(result.err.splitlines()) == 2, "the step, and one line"


def test_zstd_as_newer_kernels_have_it_is_unpacked() -> None:
    # A frame with the text "ELF" in one raw block, and the four bytes of the size that Linux puts behind it.
    frame = bytes.fromhex("28b52ffd2003190000") + b"ELF" + (3).to_bytes(4, "little")
    assert linux.unpacked(bzimage(frame)) == b"ELF"
    with pytest.raises(UserError, match="payload begins with 4c5a4d41; accepted: one that xz, gzip or zstd made"):
        linux.unpacked(bzimage(b"LZMA"))


def test_a_release_is_the_first_two_numbers_of_a_kernel_s_name() -> None:
    assert [releases.of(name) for name in ("6.1.0-56-amd64", "7.3.4+deb13-amd64")] == ["6.1", "7.3"]


@pytest.mark.kernel
@pytest.mark.needs("qemu", "image-7.3")
def test_linux_7_3_boots_and_its_tcp_takes_as_long_as_the_simulator_s() -> None:
    path = {"bottleneck": {"rate": "5mbit", "qdisc": "cake"}, "duration": "2s", "warmup": "0s"}
    asked = resolve(SCENARIO | path | {"traffic": [{"kind": "transfer", "size": "100kB"}]})
    ours, linux = (json.loads(engines.run_many(name, [asked])[0]) for name in ("sim", "kernel-7.3"))
    assert linux["engine"] == "kernel-7.3"
    assert linux["kernel"]["release"].startswith("7.3.")
    assert linux["kernel"]["sysctls"]["tcp_syn_linear_timeouts"] == "4", "another kernel booted: 6.1 has none"
    took_ms = [times_of(record["apps"][0])["mean"] for record in (ours, linux)]
    assert took_ms[1] == pytest.approx(took_ms[0], rel=0.03)


@pytest.mark.parametrize("words", [("validate", "trees", "1"), ("validate", "drawn", "1"), ("link", "--virtual")])
def test_what_is_no_release_is_refused_before_its_image_is_sought(
    words: tuple[str, ...], goodqueue: Callable[..., Result]
) -> None:
    """Each was a traceback, or asked for an image that nobody can build."""
    rest = ("--rate", "1mbit", "--rtt", "9ms", "--", "true") if words[0] == "link" else ()
    for found in ("x", "1e3", "/dev/null", "6.1,7.3"):
        done = goodqueue(*words, "--kernel", found, *rest)
        assert done.status == 2
        assert f'--kernel: found "{found}"; accepted: 6.1, 6.12, 7.3' in done.err
