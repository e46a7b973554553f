"""The packages that only some of the work needs. Somebody who lacks one is told what to install, before any work."""

from importlib.util import find_spec
from pathlib import Path

from goodqueue.errors import Place, UserError

OPTIONAL = ("matplotlib", "pyarrow", "pandas", "distributed", "optuna", "SALib")
"""Each by the name with which it is imported and installed."""

SETTINGS = "matplotlibrc"
"""The file in the working folder that matplotlib reads as soon as it is imported."""


def has(package: str) -> bool:
    """Return whether ``package`` is installed. Raises UserError if matplotlib's settings cannot be read."""
    if package == "matplotlib":
        _check_settings()
    return find_spec(package) is not None


def needed(package: str, where: Place) -> None:
    """Raise UserError if ``package`` is not installed, before any work is done for ``where``."""
    if not has(package):
        raise _refusal(package, where)


def missing(error: ModuleNotFoundError, where: Place) -> UserError | None:
    """Return the refusal for an import that failed, if an optional package is missing."""
    package = (error.name or "").partition(".")[0]
    return _refusal(package, where) if package in OPTIONAL else None


def _check_settings() -> None:
    """Raise UserError for a ``matplotlibrc`` in the working folder that matplotlib could not read, or not to an end."""
    path = Path(SETTINGS)
    if path.exists() and not path.is_dir():
        from goodqueue.files import inputs  # imports tomllib, which --help does not need

        inputs.read_text(path, inputs.MIB, "matplotlib's settings, or no such file", pipes=False)


def _refusal(package: str, where: Place) -> UserError:
    return UserError(where, f"needs {package}; accepted: pip install {package}")
