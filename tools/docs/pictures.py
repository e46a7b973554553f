"""Draw the figures in the pages again: ``python tools/docs/pictures.py`` (``--check`` only says which have changed).

A page shows a figure of ``docs/pictures`` above a caption in italics. The caption names the command that makes the
figure, or several, and after them the file that they write:

    ![what it shows](../pictures/first-hour.svg)

    *`goodqueue compare pfifo codel --out first` draws `first/felt.svg`.*

The commands run here in an empty folder with the examples, and the file becomes the picture. The same commands and the
same matplotlib give the same bytes.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"
SHOWN = re.compile(r"!\[[^\]]+\]\([^)]*pictures/([\w-]+\.svg)\)\n\n\*((?:.+\n)+)")
CODE = re.compile(r"`([^`]+)`")


def captions() -> dict[str, list[str]]:
    """Return the commands of each picture, and the file that becomes the picture, by the picture's name."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [one for page in pages for one in SHOWN.findall(page.read_text(encoding="utf-8"))]
    return {name: [" ".join(code.split()) for code in CODE.findall(caption)] for name, caption in found}


def drawn(place: Path) -> dict[str, bytes]:
    """Run the captions' commands in the folder ``place``, each once, and return the pictures by name."""
    (place / "examples").symlink_to(ROOT / "examples")
    done, made = set(), {}
    for name, (*commands, file) in captions().items():
        for command in commands:
            if command not in done:
                line, _, out = command.removeprefix("goodqueue ").partition(" > ")
                arguments = [sys.executable, "-m", "goodqueue", *shlex.split(line)]
                quiet = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "MPLBACKEND": "agg"}
                printed = subprocess.run(arguments, cwd=place, env=quiet, check=True, capture_output=True)
                if out:
                    (place / out).write_bytes(printed.stdout)
                done.add(command)
        made[name] = (place / file).read_bytes()
    return made


def main() -> int:
    """Write the pictures, or check them."""
    with tempfile.TemporaryDirectory() as folder:
        made = drawn(Path(folder))
    stale = [name for name, content in made.items() if not _is_drawn(FOLDER / name, content)]
    for name in stale:
        if "--check" not in sys.argv[1:]:
            FOLDER.mkdir(exist_ok=True)
            (FOLDER / name).write_bytes(made[name])
        sys.stdout.write(f"docs/pictures/{name}\n")
    return int(bool(stale) and "--check" in sys.argv[1:])


def _is_drawn(path: Path, content: bytes) -> bool:
    return path.exists() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
