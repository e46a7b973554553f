"""A parameter is named by what it is (docs/style.md, rule 3): a name that fits everything says nothing."""

import ast
from collections import defaultdict
from collections.abc import Iterator

from conftest import ROOT

PACKAGE = ROOT / "python" / "goodqueue"

MOST = 12
"""The maximum number of types of the parameters with one name. `found` had 50 and `one` 26 before they were renamed."""


def parameters(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and type of each parameter with a type.

    A type in quotes is the same type. The options of a command line, which `Annotated` adds, belong to no type.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            several = [starred for starred in (node.args.vararg, node.args.kwarg) if starred]
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *several):
                if argument.annotation:
                    yield argument.arg, written(argument.annotation)


def written(annotation: ast.expr) -> str:
    """Return a type as text, without quotes and without what `Annotated` adds."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        assert isinstance(annotation.slice, ast.Tuple)
        annotation = annotation.slice.elts[0]
    return ast.unparse(annotation).replace("'", "").replace('"', "")


def test_no_name_is_that_of_parameters_of_many_types() -> None:
    types: dict[str, set[str]] = defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        for name, type_ in parameters(path.read_text(encoding="utf-8")):
            types[name].add(type_)
    assert len(types) > 500, "the parameters of the package were read"
    vague = {name: sorted(of_name) for name, of_name in types.items() if len(of_name) > MOST}
    assert not vague, "name each of these by what it is"


def test_quotes_and_options_make_no_other_type() -> None:
    text = """
def first(group: Group, *, out: Annotated[str | None, Option(help="DIR")] = None) -> None: ...
async def second(group: "Group", *out: str, **untyped) -> None: ...
"""
    assert list(parameters(text)) == [("group", "Group"), ("out", "str | None"), ("group", "Group"), ("out", "str")]
