"""The arrows between the crates, and between the rooms of the Python package, point one way (ARCHITECTURE.md)."""

import ast
import graphlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# The crates of the workspace that each crate may use.
KNOWS = {
    "units": set(),
    "qdisc": {"units"},
    "tcp": {"units"},
    "hosts": {"units", "tcp"},
    "netsim": {"units", "qdisc", "tcp", "hosts"},
    "conformance": {"units", "qdisc"},
    "capi": {"units", "qdisc", "bottleneck"},
    "capture": set(),
    "bottleneck": {"units", "qdisc", "hosts", "netsim"},
    "trace": {"units", "qdisc", "tcp", "hosts", "netsim", "capture"},
    "gateway": {"units", "qdisc", "hosts", "netsim", "capture", "trace"},
    "sockets": {"units", "hosts", "netsim"},
    "python": {
        *("units", "qdisc", "tcp", "hosts", "netsim", "bottleneck"),
        *("conformance", "capture", "trace", "gateway", "sockets"),
    },
    "web": {"units", "qdisc", "hosts", "netsim"},
}


def cargo() -> str:
    """Return the path of cargo, which the tests of a checkout need, as its build does."""
    path = shutil.which("cargo")
    if path is None:
        pytest.fail("cargo is not on PATH")
    return path


def test_arrows_point_one_way() -> None:
    command = [cargo(), "metadata", "--format-version", "1", "--no-deps", "--offline"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    ours = {
        package["name"].removeprefix("goodqueue-"): {
            dependency["name"].removeprefix("goodqueue-")
            for dependency in package["dependencies"]
            if dependency["name"].startswith("goodqueue-") and dependency["kind"] is None
        }
        for package in metadata["packages"]
    }
    assert ours.keys() == KNOWS.keys(), "a crate is missing in the list above, and in ARCHITECTURE.md"
    for crate, dependencies in ours.items():
        assert dependencies <= KNOWS[crate], f"{crate} must not know {dependencies - KNOWS[crate]}"


def test_only_disciplines_that_hold_any_other_know_the_registry() -> None:
    """Otherwise a parameter's file and the table of all disciplines would each depend on the other."""
    source = ROOT / "crates" / "qdisc" / "src"
    names = re.compile(r"\b(registry|AnyQdisc|parse_line)\b")
    tests = re.compile(
        r"^#\[cfg\(test\)\]\n(#\[cfg\(feature = .*\)\]\n)?(mod tests \{|fn ).*", re.DOTALL | re.MULTILINE
    )
    comment = re.compile(r"//.*")
    know = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.rs")
        if not {"tests", "tests.rs"} & set(path.parts)
        and names.search(tests.sub("", comment.sub("", path.read_text(encoding="utf-8"))))
    }
    containers = {"sched/htb.rs", "sched/prio.rs", "sched/stab.rs", "sched/tbf.rs"}
    trees = {"tree/build.rs", "tree/change.rs", "tree/leaf.rs", "tree/plan/read.rs"}
    registry = {"lib.rs", "registry.rs", "registry/complete/disabled.rs", "registry/complete/enabled.rs"}
    assert know == registry | containers | trees


MACROS = {"word": "keys", "shapes": "part"}
"""The modules of macros. The names of macros stand in the crate's root."""


def modules_that_each_knows(crate: str) -> dict[str, set[str]]:
    """Return the other modules that each module (file or folder) of ``crate`` names in its code without tests."""
    source = ROOT / "crates" / crate / "src"
    beside = re.compile(r"^#\[cfg\(test\)\]\n(mod \w+ \{|fn ).*|//[^\n]*", re.DOTALL | re.MULTILINE)
    knows: dict[str, set[str]] = {}
    for path in sorted(source.rglob("*.rs")):
        module = path.relative_to(source).parts[0].removesuffix(".rs")
        named = re.findall(r"\bcrate::(\w+|\{)", beside.sub("", path.read_text(encoding="utf-8")))
        if module != "lib":
            knows.setdefault(module, set()).update({MACROS.get(name, name) for name in named} - {module})
    return knows


@pytest.mark.parametrize(
    ("crate", "module", "others"),
    [("netsim", "sim", {"flow", "link", "sockets"}), ("hosts", "traffic", {"keys", "probe"})],
)
def test_no_module_is_in_a_circle(crate: str, module: str, others: set[str]) -> None:
    """Otherwise one could not be read without all the others, as 26 files of scenario, path and traffic once."""
    knows = modules_that_each_knows(crate)
    assert others <= knows[module]
    unknown = set().union(*knows.values()) - knows.keys()
    assert not unknown, f"named by the crate's root and not by their module: {unknown}"
    try:
        graphlib.TopologicalSorter(knows).prepare()
    except graphlib.CycleError as error:
        pytest.fail(f"each of these knows the one before it: {' '.join(error.args[1])}")


BARE = """#![no_std]
use goodqueue_qdisc as _;
use goodqueue_tcp as _;
use goodqueue_units as _;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"""
"""A program defines its panic handler once. std defines one, wherever in the dependencies std is named."""


@pytest.mark.long
@pytest.mark.parametrize(("line", "refused"), [("", False), ("extern crate std;", True)])
def test_disciplines_and_tcp_do_without_std(tmp_path: Path, line: str, refused: bool) -> None:
    """The crates and their dependencies, with the features that they request. The workspace's features include std."""
    crates = ("units", "qdisc", "tcp")
    lines = [f'goodqueue-{crate} = {{ path = "{ROOT / "crates" / crate}" }}' for crate in crates]
    name = "with_std" if refused else "bare"  # for cargo, packages of one name are the same, whatever their folder
    package = f'[package]\nname = "{name}"\nedition = "2024"\n[workspace]\n[dependencies]'
    (tmp_path / "Cargo.toml").write_text("\n".join([package, *lines, ""]), encoding="utf-8")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text(BARE + line, encoding="utf-8")
    shutil.copy(ROOT / "Cargo.lock", tmp_path)
    command = [cargo(), "check", "--quiet", "--offline", "--target-dir", str(ROOT / "target" / "no_std")]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert (done.returncode != 0) == refused, done.stderr
    assert ("duplicate lang item `panic_impl`" in done.stderr) == refused


PACKAGE = ROOT / "python" / "goodqueue"

FLOORS = (
    {"_goodqueue", "errors", "listening"},
    {"congestion", "examples", "files", "hops", "interrupts", "traffic"},
    {"extras", "foreign", "options", "record", "settings", "threads"},
    {"scenario"},
    {"capture", "endpoints", "measures", "qdisc"},
    {"running"},
    {"show"},
    {"engines"},
    {"executors"},
    {"store"},
    {"ask"},
    {"plot"},
    {"linking", "pages", "runs"},
    {"comparison", "decisions", "neighbours", "speed"},
    {"flent", "sweeps"},
    {"studies"},
    {"calibrate", "claims", "serving", "suites", "validation"},
    {"catalogue", "report", "search"},
    {"advice"},
    {"api", "cli"},
    {"__init__", "__main__", "testing"},
)
"""The rooms of the Python package, from below to above. A room is a folder or a file in the package's root.

A room imports only rooms of lower floors. A new room gets the lowest floor that is above all rooms that it imports.
"""

BY_NAME = {"__init__.py", "cli/__init__.py", "endpoints.py"}
"""The files that import a module by a name that is a value: public names, verbs, and packages of others."""


def arrows(package: Path) -> dict[tuple[str, str], list[str]]:
    """Return the places (file:line) at which each room imports each other room.

    An import counts wherever it stands: in a function, and for types alone, too.
    """
    rooms = {path.stem for path in package.iterdir()}
    found: dict[tuple[str, str], list[str]] = {}
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package)
        if "library" in file.parts:  # a link to a folder of examples, studies or suites
            continue
        room = file.parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for _, *names in imported(node, file):
                other = names[0] if names and names[0] in rooms else "__init__"  # a name of the package itself
                if other != room:
                    found.setdefault((room, other), []).append(f"{file}:{node.lineno}")  # type: ignore[attr-defined]
    return found


def imported(node: ast.AST, file: Path) -> list[list[str]]:
    """Return what ``node`` of ``file`` imports from our package, each as the parts of its whole name."""
    if isinstance(node, ast.Import):
        names = [alias.name.split(".") for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        folder = ["goodqueue", *file.parts[:-1]]
        above = folder[: len(folder) + 1 - node.level] if node.level else []
        names = [[*above, *(node.module or "").split("."), alias.name] for alias in node.names]
    else:
        return []
    return [[part for part in name if part] for name in names if name[0] == "goodqueue"]


def test_no_arrow_between_rooms_of_the_python_package_runs_upward() -> None:
    """Two rooms on a circle of imports would need one that does, so there is no circle either."""
    floor = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
    assert len(floor) == sum(map(len, FLOORS)), "a room stands on two floors"
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or list(path.glob("*.py"))}
    assert floor.keys() == there | {"_goodqueue"}, "the rooms on the floors above are those of the package"
    known = arrows(PACKAGE)
    assert {("engines", "running"), ("cli", "engines")} <= known.keys()
    upward = {arrow: places for arrow, places in known.items() if floor[arrow[1]] >= floor[arrow[0]]}
    assert not upward


@pytest.mark.parametrize(
    ("file", "text", "arrow"),
    [
        ("record/new.py", "import goodqueue.engines", ("record", "engines")),
        ("scenario/new.py", "def resolve():\n    from goodqueue import running", ("scenario", "running")),
        ("show.py", "if TYPE_CHECKING:\n    from goodqueue.engines.identity import Run", ("show", "engines")),
        ("scenario/new.py", "from ..engines import identity", ("scenario", "engines")),
        ("running.py", "import goodqueue as gq", ("running", "__init__")),
        ("engines/new.py", "from goodqueue import run", ("engines", "__init__")),
    ],
)
def test_an_arrow_counts_wherever_the_import_stands(
    tmp_path: Path, file: str, text: str, arrow: tuple[str, str]
) -> None:
    for room in ("record", "scenario", "engines"):
        (tmp_path / room).mkdir()
    for path in ("running.py", "show.py", file):
        (tmp_path / path).write_text(text if path == file else "", encoding="utf-8")
    assert list(arrows(tmp_path)) == [arrow]


def test_few_files_import_by_a_name_that_is_a_value() -> None:
    """An arrow that is text, as `import_module("goodqueue.running")`, would not be counted above."""
    calls = re.compile(r"\b(import_module|__import__)\(")
    files = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    assert {name for name, path in files.items() if calls.search(path.read_text(encoding="utf-8"))} == BY_NAME


def test_the_table_of_rooms_names_every_room() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    crates = {f"`crates/{path.name}`" for path in (ROOT / "crates").iterdir() if path.is_dir()}
    made = {"__pycache__", "page", "golden"}  # built, or a link to a folder at the root
    rooms = sorted(path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name not in made)
    names = [*sorted(crates), *(f"`python/goodqueue/{name}`" for name in rooms)]
    missing = [name for name in names if name not in table]
    modules = sorted(path.stem for path in PACKAGE.glob("*.py") if not path.stem.startswith("_"))
    loose = next(line for line in table.splitlines() if "beside the rooms" in line)
    missing += [name for name in modules if f"`{name}`" not in loose]
    assert not missing, f"no row of ARCHITECTURE.md names {missing}"
