"""Modules that can be called: ``gq.run(...)`` works, and ``goodqueue.run`` stays the module of that name.

Importing a submodule binds its name in the package. A function of the same name would then be replaced by the module.
So the module itself answers the call.
"""

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class Callee(ModuleType):
    """A module whose call is passed to the function ``function`` of the module ``where``, imported only then."""

    _called: tuple[str, str]

    @property
    def __call__(self) -> Callable[..., Any]:
        """The function itself, so that help and completion show its signature."""
        where, function = self._called
        found: Callable[..., Any] = getattr(import_module(where), function)
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__call__)


def calls(module: str, where: str, function: str) -> None:
    """Make a call of the imported ``module`` a call of ``function`` in the module ``where``."""
    own = sys.modules[module]
    own._called = where, function  # type: ignore[attr-defined]
    own.__class__ = Callee
