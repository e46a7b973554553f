"""The packages that only some of the work needs, and the extras of goodqueue that bring them."""

from importlib.util import find_spec

from goodqueue.errors import Place, UserError

EXTRAS = {
    "matplotlib": "figures",
    "pyarrow": "store",
    "pandas": "notebook",
    "distributed": "dask",
    "optuna": "search",
    "SALib": "search",
}
"""The extra of each package."""


def is_there(package: str) -> bool:
    """Return whether ``package`` is installed."""
    return find_spec(package) is not None


def needed(package: str, where: Place) -> None:
    """Raise UserError if ``package`` is not installed, before any work is done for ``where``."""
    if not is_there(package):
        raise _refusal(package, where)


def missing(error: ModuleNotFoundError, where: str) -> UserError | None:
    """Return the refusal for an import that failed, if an extra brings the package."""
    package = (error.name or "").partition(".")[0]
    return _refusal(package, where) if package in EXTRAS else None


def _refusal(package: str, where: Place) -> UserError:
    return UserError(where, f"needs {package}; accepted: pip install {package}")
