"""The page of the Python API for the site: signatures, arguments, results and errors.

Signatures are those of the functions themselves, and the text is their docstrings (Google's convention), so the page
says what ``help()`` says. It is made when the site is built (tools/docs/site.py).
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

from page import table

import goodqueue as gq
from goodqueue import congestion, qdisc
from goodqueue.api import asking, sweep

PACKAGE = Path(gq.__file__).parent
NAME = re.compile(r"(?<![`\w])`([A-Za-z_][\w.]*)`(?!`)")
SECTION = re.compile(r"^(Args|Returns|Raises):\n((?:    .*\n?|\n)+)", re.MULTILINE)
EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!$).*\n?)*\n?)+", re.MULTILINE)


def page() -> str:
    """Return the page: the functions and results of ``goodqueue``, then the modules for classes in Python."""
    names = sorted(gq.__all__, key=lambda name: (name[0].isupper(), name))
    described = {name: _text(_doc(name)).split("\n")[0] for name in names}
    parts = [
        "# Python, every function",
        "`import goodqueue as gq`. [From Python](python.md) is the introduction. `help(gq.run)` prints the same text.",
        table(["name", "what it is"], [[f"[`gq.{name}`](#gq.{name})", words] for name, words in described.items()]),
        *(part for name in names for part in _entry(f"gq.{name}", *_source(name))),
        "## Types of arguments",
        table(["type", "as Python writes it", "what it is"], [_alias(asking, "Source"), _alias(sweep, "Grid")]),
        "## goodqueue.qdisc {#qdisc}",
        _text(inspect.getdoc(qdisc) or ""),
        *(part for name in qdisc.__all__ for part in _entry(f"goodqueue.qdisc.{name}", *_of_module(qdisc, name))),
        "## goodqueue.congestion {#congestion}",
        _text(inspect.getdoc(congestion) or ""),
        *(
            part
            for name in congestion.__all__
            if name not in qdisc.__all__
            for part in _entry(f"goodqueue.congestion.{name}", *_of_module(congestion, name))
        ),
    ]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _source(name: str) -> tuple[ast.ClassDef | ast.FunctionDef, object]:
    """Return the definition of ``gq.NAME`` in its file, and the object."""
    found = getattr(gq, name)
    found = inspect.unwrap(found)
    if hasattr(found, "__signature__"):
        return _made(found), found
    return _defined(Path(inspect.getfile(found)), found.__name__), found


def _made(function: Any) -> ast.FunctionDef:
    """Return the definition of a function that is made of a question, as if it stood in a file."""
    (node,) = ast.parse(f"def {function.__name__}{inspect.signature(function)}: ...").body
    assert isinstance(node, ast.FunctionDef)
    node.body = [ast.Expr(ast.Constant(function.__doc__))]
    return node


def _of_module(module: ModuleType, name: str) -> tuple[ast.ClassDef | ast.FunctionDef, object]:
    """Return the definition of a name of ``module``; the core's names are described in its stub."""
    found = getattr(module, name)
    file = PACKAGE / ("qdisc.py" if inspect.isfunction(found) else "_goodqueue.pyi")
    return _defined(file, found.__name__), found


def _defined(file: Path, name: str) -> ast.ClassDef | ast.FunctionDef:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return next(node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name)


def _doc(name: str) -> str:
    return ast.get_docstring(_source(name)[0]) or ""


def _entry(title: str, node: ast.ClassDef | ast.FunctionDef, found: object) -> Iterator[str]:
    """Yield the section of a function or a class, and a class's public attributes and methods."""
    yield f"## {title} {{#{title}}}"
    if isinstance(node, ast.FunctionDef):
        yield _signature(title, node, found)
        yield _text(ast.get_docstring(node) or "")
        return
    yield _text(ast.get_docstring(node) or "")
    rows = list(_attributes(node))
    if rows:
        yield table(["attribute", "type", "what it is"], rows)
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and not one.name.startswith("_") and not _is_property(one):
            short = f"{title.rpartition('.')[2]}.{one.name}"
            yield f"### {short} {{#{short}}}"
            yield _signature(one.name, one, getattr(found, one.name))
            yield _text(ast.get_docstring(one) or "")


def _attributes(node: ast.ClassDef) -> Iterator[list[str]]:
    """Yield name, type and sentence of each public field and property."""
    for one, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(one, ast.FunctionDef) and _is_property(one):
            words = ast.get_docstring(one) or ""
            yield [f"`{one.name}`", _type(one.returns), " ".join(_text(words).split())]
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
            said = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            yield [f"`{one.target.id}`", _type(one.annotation), " ".join(_text(str(said)).split())]


def _is_property(node: ast.FunctionDef) -> bool:
    return any("property" in ast.unparse(one) for one in node.decorator_list)


def _signature(name: str, node: ast.FunctionDef, found: object) -> str:
    """Return the signature as code, one argument per line if there are several; a default is its value."""
    values = _defaults(found)
    arguments = [*node.args.posonlyargs, *node.args.args]
    rows = [_argument(one, values) for one in arguments if one.arg not in ("self", "cls")]
    if node.args.vararg:
        rows.append(f"*{_argument(node.args.vararg, values)}")
    elif node.args.kwonlyargs:
        rows.append("*")
    rows += [_argument(one, values) for one in node.args.kwonlyargs]
    if node.args.kwarg:
        rows.append(f"**{_argument(node.args.kwarg, values)}")
    inner = ", ".join(rows)
    returned = _type(node.returns).strip("`")
    if len(inner) > 60:
        inner = "\n" + "".join(f"    {row},\n" for row in rows)
    return f"```python\n{name}({inner}) -> {returned}\n```"


def _defaults(found: object) -> dict[str, str]:
    """Return the default of each argument that has one, as Python writes it."""
    try:
        parameters = inspect.signature(found).parameters  # type: ignore[arg-type]
    except (TypeError, ValueError):  # a method of the core without a signature
        return {}
    return {name: repr(one.default) for name, one in parameters.items() if one.default is not one.empty}


def _argument(one: ast.arg, values: dict[str, str]) -> str:
    typed = f"{one.arg}: {_type(one.annotation).strip('`')}"
    return f"{typed} = {values[one.arg]}" if one.arg in values else typed


def _type(hint: ast.expr | None) -> str:
    """Return a type as code: the names of our modules before it are left out."""
    text = ast.unparse(hint).replace("'", "") if hint else "None"
    text = re.sub(r"\b(asking|result|sheet|comparing|os|np)\.(?=[A-Z\w])", "", text)
    return f"`{text}`"


def _text(words: str) -> str:
    """Return a docstring as Markdown: its sections as tables and sentences, its examples as code."""
    words = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].strip()}\n```\n\n", f"{words}\n")
    words = SECTION.sub(lambda found: _section(found[1], textwrap.dedent(found[2])), words)
    code = re.compile(r"(```.*?```\n)", re.DOTALL)
    return "".join(part if part.startswith("```pycon") else _prose(part) for part in code.split(words)).strip()


def _prose(words: str) -> str:
    """Return ``words`` with a link at each name of the package that they mention."""
    return NAME.sub(_linked, words).replace("``", "`")


def _linked(found: re.Match[str]) -> str:
    name = found[1].removeprefix("gq.")
    return f"[`{found[1]}`](#gq.{name})" if name in gq.__all__ else f"`{found[1]}`"


def _alias(module: ModuleType, name: str) -> list[str]:
    """Return name, value and sentence of a type that ``module`` declares."""
    body = ast.parse(inspect.getsource(module)).body
    for one, after in pairwise(body):
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == name and isinstance(after, ast.Expr):
            return [f"`{name}`", _type(one.value), ast.literal_eval(after.value)]
    raise LookupError(name)


def _section(title: str, body: str) -> str:
    """Return a section of a docstring: arguments and errors as a table, the result as a sentence."""
    if title == "Returns":
        return f"**Returns:** {' '.join(body.split())}\n\n"
    code = "``" if title == "Args" else "`"  # an argument may be called as a function is, and is no link to it
    rows = []
    for item in re.split(r"\n(?=\S)", body.strip()):
        name, _, words = item.partition(":")
        rows.append([f"{code}{name}{code}", " ".join(words.split())])
    return (
        table(["argument" if title == "Args" else "raises", "what it is" if title == "Args" else "when"], rows) + "\n\n"
    )


PAGES = {"docs/reference/api.md": page}
"""The page's place, and what makes it."""
