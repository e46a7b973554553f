"""Modules that can be called: ``gq.run(...)`` works, and ``goodqueue.run`` stays the module of that name.

Importing a submodule binds its name in the package, so a function of the same name would be lost to whoever imports
first. The module itself answers the call instead.
"""

import inspect
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any


class Callee(ModuleType):
    """A module that passes a call on to the function ``function`` of the module ``where``, imported only then."""

    _called: tuple[str, str]

    @property
    def __call__(self) -> Callable[..., Any]:
        """The function, so that help and completion of a call are the function's."""
        where, function = self._called
        found: Callable[..., Any] = getattr(import_module(where), function)
        return found

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.__call__)


def calls(module: str, where: str, function: str) -> None:
    """Let a call of the imported ``module`` be one of ``function`` in the module ``where``."""
    own = sys.modules[module]
    own._called = where, function  # type: ignore[attr-defined]
    own.__class__ = Callee
