"""The Python code in the folder of a study or of a suite: ``numbers.py`` with computations, ``figures.py``."""

import sys
from hashlib import sha256
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from goodqueue import foreign
from goodqueue.errors import UserError, one_line
from goodqueue.studies.computing import Computation

NUMBERS = "numbers.py"


def computations(folder: Path) -> dict[str, Computation]:
    """Return the ``NUMBERS`` of the ``numbers.py`` in ``folder`` by name. Empty if there is no such file.

    Raises UserError if the file cannot be used, or if ``--no-code`` refuses it.
    """
    path = folder / NUMBERS
    if not path.is_file():
        return {}
    found = getattr(module(path), "NUMBERS", None)
    if not isinstance(found, dict) or not all(isinstance(one, Computation) for one in found.values()):
        raise UserError(str(path), "has no dict NUMBERS of computations; accepted: NUMBERS = {name: Computation(...)}")
    return found


def module(path: Path) -> ModuleType:
    """Return the module in the file ``path``, which may import the other one of its folder (``from .numbers import``).

    The code runs anew with each call, and leaves no file in the folder. Raises UserError.
    """
    foreign.check(str(path))
    package = f"goodqueue_study_{sha256(bytes(path.parent.resolve())).hexdigest()[:16]}"
    parent = module_from_spec(ModuleSpec(package, None, is_package=True))
    parent.__path__ = [str(path.parent)]
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]
    sys.modules[package] = parent
    spec = spec_from_file_location(f"{package}.{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[spec.name] = found
    writes_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # the folder is the user's
    try:
        with foreign.running(lambda error: blame(path, "cannot be imported:", error)):
            spec.loader.exec_module(found)
    finally:
        sys.dont_write_bytecode = writes_bytecode
    return found


def blame(path: Path, what: str, error: BaseException) -> UserError:
    """Return the UserError of the code in ``path``, which may raise any exception."""
    return UserError(str(path), f"{what} {type(error).__name__}: {one_line(str(error))}")
