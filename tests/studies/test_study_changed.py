"""Files of a study that somebody changed by hand are read, or are refused in one line."""

import contextlib
import shutil
from pathlib import Path

import pytest

from goodqueue.errors import UserError
from goodqueue.studies import libraries, loading
from mutation import edited
from tries import tries


@pytest.mark.parametrize("name", ["taht2016"])
def test_however_a_study_is_changed_it_is_read_or_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(libraries.STUDIES.find(name), folder)
    files = sorted(file for file in folder.iterdir() if file.suffix in (".toml", ".csv"))
    for draw in tries(20):
        file = draw.choice(files)
        whole = file.read_bytes()
        file.write_bytes(edited(whole.decode(), draw).encode(errors="surrogatepass"))
        with contextlib.suppress(UserError):
            loading.load(folder)
        file.write_bytes(whole)
