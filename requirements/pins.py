"""Writes the files beside this one: the newest versions of the packages that pyproject.toml asks for, with hashes.

``make pins`` runs it. Each file serves every system and every Python that the package runs with, and has the hashes of
all files of a release. All files go into one environment, in the order of `NEEDED`. So a file leaves out what an
earlier one has, and has the same versions.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
PYPROJECT = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]

EXTRAS = PROJECT["optional-dependencies"]
NEEDED: dict[str, list[str]] = {
    "package": PYPROJECT["build-system"]["requires"] + PROJECT["dependencies"] + EXTRAS["all"],
    "dev": EXTRAS["dev"],
    **GROUPS,
}
"""The requirements of each file, without its ending."""

REQUIREMENT = re.compile(r"^[\w.-]+==.*\n(?: +--hash=.*\n)+", re.MULTILINE)


def main(*options: str) -> None:
    """Write each file. ``options`` are further ones of ``uv pip compile``."""
    earlier: list[Path] = []
    for name, needed in NEEDED.items():
        file = HERE / f"{name}.txt"
        command = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes", "--no-annotate", *options]
        command += ["--python-version", PROJECT["requires-python"].removeprefix(">=")]
        command += ["--custom-compile-command", "make pins", "--output-file", str(file)]
        command += [word for other in earlier for word in ("--constraints", str(other))]
        subprocess.run([*command, "-"], check=True, input="\n".join(needed), text=True)
        text = file.read_text(encoding="utf-8")
        for known in (one for other in earlier for one in REQUIREMENT.findall(other.read_text(encoding="utf-8"))):
            text = re.sub(f"^{re.escape(known)}", "", text, flags=re.MULTILINE)
        file.write_text(text, encoding="utf-8")
        earlier.append(file)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["--upgrade"]))
