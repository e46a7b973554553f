"""The key of a run of the kernel engine covers everything that makes the run. Nothing here needs a kernel."""

import shutil
from pathlib import Path

import pytest

from conftest import SCENARIO
from goodqueue import running, store
from goodqueue.engines import identity, kernel
from goodqueue.engines.identity import Maker, Run
from goodqueue.engines.kernel import host, image, making, packages, vm
from goodqueue.errors import UserError
from goodqueue.record import Scenario
from goodqueue.scenario import resolve
from goodqueue.store import results
from test_kernel_machine import write_image

PACKAGES = [packages.Package("linux-image-amd64", "6.1.192-2", "linux.deb", "SHA256:00")]


@pytest.fixture
def resolved() -> Scenario:
    return resolve(SCENARIO)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Set up a machine with qemu 7.2.22 and one image. Returns the folder of images."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(vm, "QEMU", "sh")  # a program that exists
    monkeypatch.setattr(vm, "version", lambda: "7.2.22")
    image._first_wanted.cache_clear()
    write_image(image.cache(), "first")
    return image.cache()


def renew(cache: Path, key: str) -> None:
    """Leave the result of ``goodqueue kernel image``, which runs in its own process."""
    write_image(cache, key)
    image._first_wanted.cache_clear()


def test_a_kernel_run_s_key_is_of_all_that_makes_it(
    machine: Path, resolved: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    def key() -> str:
        return identity.of("kernel", resolved).key

    keys = [key()]
    assert key() == keys[0], "the same machine runs the same scenario twice"
    monkeypatch.setattr(vm, "version", lambda: "9.0.0")
    keys.append(key())
    monkeypatch.setattr(making, "laboratory", lambda: "another")
    keys.append(key())
    renew(machine, "second")
    keys.append(key())
    monkeypatch.setattr(vm, "QEMU", "qemu-that-is-not-there")
    monkeypatch.setattr(making, "_host", lambda: ("6.1.0", "#1", "iproute2-6.1.0"))
    keys.append(key())
    monkeypatch.setattr(making, "_host", lambda: ("6.12.0", "#1", "iproute2-6.1.0"))
    keys.append(key())
    assert len(set(keys)) == 6, "one of the five does not count: a stored run would answer"


def test_the_laboratory_s_hash_is_of_each_file_s_bytes_and_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "kernel"
    shutil.copytree(making._FOLDER, copied, ignore=shutil.ignore_patterns("__pycache__"))
    here = making.laboratory.__wrapped__()
    monkeypatch.setattr(making, "_FOLDER", copied)
    assert making.laboratory.__wrapped__() == here, "of the files, not of where they are"
    seen = {here}
    for changed in ("lab/run.py", "lab/commands.py", "init.sh", "guest.py", "image.py", "tc.py", "measure.py"):
        path = copied / changed
        path.write_bytes(path.read_bytes() + b"\n")
        seen.add(making.laboratory.__wrapped__())
    (copied / "lab" / "run.py").rename(copied / "lab" / "runs.py")
    seen.add(making.laboratory.__wrapped__())
    assert len(seen) == 9, "a file that decides the run does not count"


def test_an_image_that_is_to_be_built_has_its_name_before(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(machine / "first")
    monkeypatch.setattr(packages, "resolve", lambda apt=None: PACKAGES)
    named = image.wanted()
    renew(machine, named)  # as `build` does
    assert image.wanted() == named, "the first run would have another key than those after it"


def test_an_image_that_is_renewed_meanwhile_is_for_the_next_command(machine: Path) -> None:
    assert image.wanted() == "first"
    write_image(machine, "second")
    found = image.find()
    assert found is not None
    assert found.key == "second"
    assert kernel._image(None).key == "first", "its runs would stand under the key of the other image"


def test_an_image_of_other_packages_than_those_in_the_keys_is_refused(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert image.wanted() == "first"
    shutil.rmtree(machine / "first")
    other = image.get(write_image(machine, "second").name)
    monkeypatch.setattr(image, "build", lambda release: other)
    with pytest.raises(UserError, match="kernel image: found second; accepted: first, or the same command once more"):
        kernel._image(None)


def test_a_kernel_run_of_before_is_run_again_and_stays_readable(
    machine: Path, resolved: Scenario, tmp_path: Path
) -> None:
    """Until 0.1 the key of such a run contained goodqueue's version and nothing about the kernel."""
    kept = store.create(tmp_path / "st", "--store st")
    now = identity.of("kernel", resolved)
    before = Maker(now.made_by.version, None, None)
    kept.put(Run("kernel", resolved, before, "0" * 32, now.scenario_hash), running.one_text(resolved))
    assert kept.get(now) is None, "what made it is not known"
    assert [one.build for one in results.in_store(kept, kept.all_keys())] == [None]


def test_this_host_is_named_by_its_kernel_and_its_tc(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tc = tmp_path / "tc"
    tc.write_text("#!/bin/sh\necho tc utility, iproute2-6.1.0\n")
    tc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(host, "_SYSTEM_FOLDERS", ())
    assert making._host.__wrapped__()[2] == "tc utility, iproute2-6.1.0"
    tc.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert making._host.__wrapped__()[2] == "", "a machine without it has no runs, but the key is asked for first"
