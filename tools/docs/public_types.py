"""The types of ``goodqueue``'s public names, for editors and type checkers: ``python/goodqueue/__init__.pyi``.

The functions are made of questions when they are first used, so no file has their arguments. This file gets them.
"""

import inspect
import re
from collections import defaultdict

import goodqueue as gq

HEAD = '''"""Types of the public names. Written by tools/docs/generate.py from the questions: edit those and run it."""

import os
from collections.abc import Mapping, Sequence
from typing import Any
'''


def stub() -> str:
    """Return the file: where each class comes from, and the arguments of each function."""
    modules: dict[str, list[str]] = defaultdict(list)
    functions = []
    for name in gq.__all__:
        value = getattr(gq, name)
        if inspect.isclass(value) or not hasattr(inspect.unwrap(value), "__signature__"):
            modules[gq._FROM[name]].append(name)
        else:
            functions.append(f"def {name}{_written(value)}: ...")
    imports = [
        f"from {module} import {name} as {name}" for module, names in sorted(modules.items()) for name in sorted(names)
    ]
    listed = "".join(f'    "{name}",\n' for name in gq.__all__)
    return "\n".join([HEAD, *imports, "", f"__all__ = [\n{listed}]\n", *functions]).rstrip() + "\n"


def _written(function: object) -> str:
    """Return the signature on lines of its own, without the quotes of types and with `...` for defaults."""
    signature = inspect.signature(function)  # type: ignore[arg-type]
    lines, is_keyword = [], False
    for argument in signature.parameters.values():
        if argument.kind is argument.KEYWORD_ONLY and not is_keyword:
            has_star = any(other.kind is other.VAR_POSITIONAL for other in signature.parameters.values())
            lines += [] if has_star else ["*"]
            is_keyword = True
        star = {argument.VAR_POSITIONAL: "*", argument.VAR_KEYWORD: "**"}.get(argument.kind, "")
        default = "" if argument.default is argument.empty else " = ..."
        lines.append(f"{star}{argument.name}: {argument.annotation}{default}")
    inner = "".join(f"    {line},\n" for line in lines)
    return re.sub("'", "", f"(\n{inner}) -> {signature.return_annotation}")
