"""Computations in the folder of a study: they are found by name, replace nobody else's, and fail in one line."""

from pathlib import Path

import pytest

from goodqueue import foreign
from goodqueue.errors import UserError
from goodqueue.studies import libraries, loading, measuring, own

FOLDERS = [*libraries.STUDIES.available().values(), *libraries.SUITES.available().values()]

CODE = """
from goodqueue.studies.computing import NUMBER, Computation
NUMBERS = {"{name}": Computation({"x": NUMBER}, lambda record, options: 3 * options["x"], "three times x")}
"""


def written(folder: Path, code: str) -> Path:
    (folder / own.NUMBERS).write_text(code, encoding="utf-8")
    return folder


def test_a_folder_without_the_file_has_none(tmp_path: Path) -> None:
    assert own.computations(tmp_path) == {}


def test_a_computation_of_the_folder_is_found_before_others_and_nowhere_else(tmp_path: Path) -> None:
    ours = own.computations(written(tmp_path, CODE.replace("{name}", "goodput_ratio")))
    found = measuring.find("goodput_ratio", ours)
    assert found is not None
    assert found.of({}, {"x": 2.0}) == 6.0  # type: ignore[typeddict-item]
    assert measuring.find("goodput_ratio", {}) is measuring.COMPUTATIONS["goodput_ratio"]
    assert measuring.names(ours).count("goodput_ratio") == 1


def test_a_change_of_the_file_is_seen_by_the_next_reader(tmp_path: Path) -> None:
    first = own.computations(written(tmp_path, CODE.replace("{name}", "one")))
    second = own.computations(written(tmp_path, CODE.replace("{name}", "another")))
    assert (list(first), list(second)) == (["one"], ["another"])


def test_figures_take_what_the_computations_have(tmp_path: Path) -> None:
    written(tmp_path, "WIDTH = 7\nNUMBERS = {}\n")
    (tmp_path / "figures.py").write_text("from .numbers import WIDTH\n", encoding="utf-8")
    assert own.module(tmp_path / "figures.py").WIDTH == 7


@pytest.mark.parametrize(
    ("code", "want"),
    [
        ("", "has no dict NUMBERS of computations; accepted: NUMBERS = "),
        ("NUMBERS = [1]", "has no dict NUMBERS of computations; accepted: NUMBERS = "),
        ("NUMBERS = {'a': 1}", "has no dict NUMBERS of computations; accepted: NUMBERS = "),
        ("1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("(", "cannot be imported: SyntaxError: "),
    ],
)
def test_a_file_that_has_none_is_refused_in_one_line(tmp_path: Path, code: str, want: str) -> None:
    with pytest.raises(UserError) as refused:
        own.computations(written(tmp_path, code))
    assert str(refused.value).startswith(f"{tmp_path / own.NUMBERS}: {want}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "folder", [folder for folder in FOLDERS if (folder / own.NUMBERS).exists()], ids=lambda one: one.name
)
def test_each_computation_of_a_folder_is_used_there_and_has_no_other_s_name(folder: Path) -> None:
    names = list(own.computations(folder))
    (text,) = (file.read_text(encoding="utf-8") for file in folder.glob("*.toml") if file.stem in ("study", "suite"))
    assert [name for name in names if f'compute = "{name}"' not in text] == []
    assert [name for name in names if name in measuring.names({})] == []


def test_the_computations_of_each_folder_of_ours_are_there_without_code(monkeypatch: pytest.MonkeyPatch) -> None:
    with_code = {folder: list(own.computations(folder)) for folder in FOLDERS}
    monkeypatch.setenv(foreign.VARIABLE, "1")
    assert {folder: list(own.computations(folder)) for folder in FOLDERS} == with_code
    assert sum(map(bool, with_code.values())) >= 7


def test_no_computation_of_the_package_is_used_by_one_folder_alone() -> None:
    """Such a one belongs into the folder. Those of `windows`, `phases` and `flows` stay beside their likes."""
    texts = {
        folder.name: "".join(file.read_text(encoding="utf-8") for file in folder.glob("s*.toml")) for folder in FOLDERS
    }
    users = {
        name: [key for key, text in texts.items() if f'compute = "{name}"' in text] for name in measuring.COMPUTATIONS
    }
    alone = {name for name, found in users.items() if len(found) < 2}
    kept = {"goodqueue.studies.windows", "goodqueue.studies.phases", "goodqueue.studies.flows"}
    assert {name for name in alone if measuring.COMPUTATIONS[name].of.__module__ not in kept} == set()


def test_a_study_without_its_file_names_the_key(tmp_path: Path) -> None:
    ours = libraries.STUDIES.available()["schwardmann2014"]
    for file in ours.iterdir():
        if file.name != own.NUMBERS:
            (tmp_path / file.name).symlink_to(file)
    with pytest.raises(UserError, match=r'study\.toml: experiment\[.*tau_mean_ms\.compute: found "tau_ms"; '):
        loading.load(tmp_path)
