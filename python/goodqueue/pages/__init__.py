"""Renders HTML pages from templates. All of them share one style and one layout of tables."""

from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from goodqueue.show import layout
from goodqueue.show.tables import Table

if TYPE_CHECKING:
    from jinja2 import Environment

WIDE = 144
"""The width in characters of a table that fits in a window of 1200 pixels. A page splits a wider table."""


def render(template: str, **values: Any) -> str:
    """Return the page of the ``template`` (a path within this package) filled with ``values``, in our style."""
    style = files("goodqueue.pages").joinpath("page.css").read_text(encoding="utf-8")
    return _environment().get_template(template).render(style=style, **values)


def fragment(table: Table) -> str:
    """Return one table as HTML for any page: as in reports, but without their style."""
    grid: str = _environment().get_template("pages/grid.html.j2").make_module().grid(table)  # type: ignore[attr-defined]
    return f"<p><b>{escape(table.title)}</b></p>{grid}"


def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("goodqueue", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["parts"] = lambda table: [part.table for part in layout.parts(table, WIDE)]
    return environment
