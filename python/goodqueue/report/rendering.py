"""Pages from templates. All of them share one style and one way to show a table."""

from importlib.resources import files
from typing import Any

from goodqueue import layout

WIDE = 144
"""Characters of a table that fit side by side in a window of 1200 pixels; beyond, a page cuts it as a terminal does."""


def render(template: str, **values: Any) -> str:
    """Return the page that ``template`` (a path within this package) makes of ``values``, in our style."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("goodqueue", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["parts"] = lambda table: [part.table for part in layout.parts(table, WIDE)]
    style = files("goodqueue.report").joinpath("page.css").read_text(encoding="utf-8")
    return environment.get_template(template).render(style=style, **values)
