"""The packages that only some of the work needs, and the extras of goodqueue that bring them."""

from importlib.util import find_spec

from goodqueue.errors import UserError

EXTRAS = {
    "matplotlib": "figures",
    "pyarrow": "store",
    "pandas": "notebook",
    "distributed": "dask",
    "optuna": "search",
    "SALib": "search",
}
"""The extra of each package."""


def needed(package: str, place: str) -> None:
    """Raise UserError if ``package`` is not installed, before any work is done for ``place``."""
    if find_spec(package) is None:
        raise _refusal(package, place)


def missing(error: ModuleNotFoundError, place: str) -> UserError | None:
    """Return the refusal for an import that failed, if an extra brings the package."""
    package = (error.name or "").partition(".")[0]
    return _refusal(package, place) if package in EXTRAS else None


def _refusal(package: str, place: str) -> UserError:
    return UserError(place, f"needs {package}; accepted: pip install 'goodqueue[{EXTRAS[package]}]'")
