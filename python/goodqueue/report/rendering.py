"""Pages from templates. All of them share one style and one way to show a table."""

from importlib.resources import files
from typing import Any


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
    style = files("goodqueue.report").joinpath("page.css").read_text(encoding="utf-8")
    return environment.get_template(template).render(style=style, **values)
