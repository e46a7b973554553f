"""Supply chain: what is installed is what was seen before. Packages by their hashes, actions by their commits."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest

from conftest import ROOT
from test_architecture import cargo

PINNED = sorted((ROOT / "requirements").glob("*.txt"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").iterdir()}


def requirements(file: Path) -> list[str]:
    """Return the requirements in ``file``, each with its hashes on the same line."""
    joined = file.read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in joined.splitlines() if line and not line.startswith("#")]


def name(requirement: str) -> str:
    """Return the package's name as registries compare it."""
    found = re.match(r"[\w.-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found.group()).lower()


@pytest.mark.parametrize("file", PINNED, ids=lambda file: file.stem)
def test_each_package_has_one_version_and_the_hashes_of_its_files(file: Path) -> None:
    """One line without a hash would be refused by pip, and one without a version would change without notice."""
    found = requirements(file)
    assert found
    for line in found:
        assert re.match(r"[\w.-]+==[\w.!+]+( ;[^\\]*?)?( +--hash=sha256:[0-9a-f]{64})+ *$", line), line[:80]


def test_all_files_have_the_same_version_of_a_package() -> None:
    """All files go into one environment: two versions would replace each other."""
    versions: dict[str, dict[str, set[str]]] = {}
    for file in PINNED:
        for line in requirements(file):
            versions.setdefault(name(line), {}).setdefault(file.name, set()).add(line.split()[0])
    assert len(versions) > 50
    assert not {package: found for package, found in versions.items() if len(set(map(frozenset, found.values()))) > 1}


def test_what_pyproject_asks_for_is_pinned() -> None:
    """Otherwise `make` would stop at a package that nothing installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {file.stem: {name(line) for line in requirements(file)} for file in PINNED}
    assert set(pinned) == {"package", "dev", *project["dependency-groups"]}
    base = project["build-system"]["requires"] + project["project"]["dependencies"]
    assert {name(one) for one in base} <= pinned["package"]
    dev = project["project"]["optional-dependencies"]["dev"]
    assert {name(one) for one in dev} <= pinned["package"] | pinned["dev"]
    for group, asked in project["dependency-groups"].items():
        assert {name(one) for one in asked} <= set().union(*pinned.values()), group


def test_make_installs_nothing_without_a_hash() -> None:
    calls = [line for line in MAKEFILE.splitlines() if re.search(r"\bpip install\b", line) and not line.startswith("#")]
    assert len(calls) == 1
    assert "--require-hashes" in calls[0]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the Makefile and a package index: one wheel, whose hash `make` is to compare."""
    folder = tmp_path_factory.mktemp("clone")
    for file in ("Makefile", "Cargo.toml"):
        shutil.copy(ROOT / file, folder)
    (folder / "requirements").mkdir()
    (folder / "index").mkdir()
    files = {
        "pinned.py": b"",
        "pinned-1.dist-info/METADATA": b"Metadata-Version: 2.1\nName: pinned\nVersion: 1\n",
        "pinned-1.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }

    def digest(content: bytes) -> str:
        return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()

    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files["pinned-1.dist-info/RECORD"] = f"{record}pinned-1.dist-info/RECORD,,\n".encode()
    with zipfile.ZipFile(folder / "index" / "pinned-1-py3-none-any.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("changed", [True, False])
def test_make_refuses_a_package_whose_hash_is_another(clone: Path, changed: bool) -> None:
    wheel = (clone / "index" / "pinned-1-py3-none-any.whl").read_bytes()
    right = hashlib.sha256(wheel).hexdigest()
    hashed = hashlib.sha256(b"what was seen before").hexdigest() if changed else right
    (clone / "requirements" / "package.txt").write_text(f"pinned==1 --hash=sha256:{hashed}\n", encoding="utf-8")
    (clone / ".venv" / ".maturin").unlink(missing_ok=True)
    env = {"PATH": f"{Path(cargo()).parent}{os.pathsep}{os.environ['PATH']}", "HOME": os.environ["HOME"]}
    env |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(clone / "index"), "PIP_CONFIG_FILE": os.devnull}
    command = ["make", ".venv/.maturin"]
    done = subprocess.run(command, cwd=clone, check=False, capture_output=True, text=True, env=env)
    installed = list((clone / ".venv").rglob("pinned.py"))
    if changed:
        assert done.returncode != 0
        assert "HASHES" in done.stderr, done.stderr
        assert right in done.stderr, "the line says what was found"
        assert not installed
    else:
        assert done.returncode == 0, done.stderr
        assert installed


USES = re.compile(r"^\s*(?:- )?uses: (.*)$", re.MULTILINE)
PIN = re.compile(r"([\w-]+/[\w/-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)")


def test_an_action_is_named_by_its_commit() -> None:
    """A tag can be moved to other code. The comment has the tag for people."""
    seen: dict[str, set[tuple[str, str]]] = {}
    for workflow, text in WORKFLOWS.items():
        found = USES.findall(text)
        assert found, workflow
        for one in found:
            pin = PIN.fullmatch(one)
            assert pin, f"{workflow}: {one}"
            seen.setdefault(pin[1], set()).add((pin[2], pin[3]))
    assert not {action: pins for action, pins in seen.items() if len(pins) > 1}


def test_a_program_that_a_workflow_installs_has_a_version() -> None:
    installed = [line for text in WORKFLOWS.values() for line in re.findall(r"cargo install .*", text)]
    assert len(installed) == 3
    assert all(re.fullmatch(r"cargo install --locked [\w-]+@\d+\.\d+\.\d+", line) for line in installed), installed


def test_the_weekly_workflow_fuzzes_each_target() -> None:
    (matrix,) = re.findall(r"^ +target: \[(.*)\]$", WORKFLOWS["weekly.yml"], re.MULTILINE)
    assert matrix.split(", ") == sorted(path.stem for path in (ROOT / "fuzz" / "fuzz_targets").iterdir())


def test_a_release_has_checksums_and_provenance() -> None:
    """`make dist` writes the checksums beside the files, and the release has all of them."""
    release = WORKFLOWS["release.yml"]
    assert 'gh release create "$GITHUB_REF_NAME" dist/*' in release
    assert re.search(r"uses: actions/attest-build-provenance@.*\n +with:\n +subject-path: dist/\*\n", release)
    for permission in ("id-token: write", "attestations: write"):
        assert release.count(permission) == 1, "only the job that builds may sign"
