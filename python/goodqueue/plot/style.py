"""The style of the figures, and functions that write them."""

import io
import re
import textwrap
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from goodqueue.errors import UserError
from goodqueue.plot import wishes
from goodqueue.plot.looks import DASHED, Look, look_of, looks, looks_by_label

__all__ = [
    "DASHED", "WIDTH_IN", "Look", "encode", "log_ms", "look", "look_of", "looks", "looks_by_label", "new_figure",
    "note", "plain_numbers", "save", "size", "svg", "width",
]  # fmt: skip

WIDTH_IN = 5.8
"""The width of a figure of which nobody asks for another width."""

PLAIN_PT = 10.5
"""The size of text in such a figure. All other sizes in this room are relative to it."""

SMALLEST_PT = 6.5
"""The smallest text, if the whole figure has small text."""

SIZES = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")

FLATTEST = 2.2
"""A figure of a fixed height is refused if its content needs this many times the height."""

FONT_STACK = "'DejaVu Sans', Verdana, 'Segoe UI', sans-serif"


@contextmanager
def look() -> Iterator[None]:
    """Apply goodqueue.mplstyle within the context, and restore matplotlib's settings afterwards.

    What the user asks for (`wishes.applied`) takes precedence.

    Warnings of matplotlib are suppressed, for example about a character that the font lacks.
    """
    with mpl.rc_context(), _quiet():
        mpl.rcdefaults()
        text = files("goodqueue.plot").joinpath("goodqueue.mplstyle").read_text(encoding="utf-8")
        ours, wished = _parameters(text), wishes.now()
        for key, value in {**ours, "font.size": _font_pt(), **wished.settings}.items():
            mpl.rcParams[key] = value  # type: ignore[index]
        if wished.font:
            mpl.rcParams["font.family"] = wished.font
        if wished.font_pt is not None:
            mpl.rcParams["font.size"] = wished.font_pt
        for key in SIZES:
            if wished.font_pt is not None or key not in wished.settings:
                mpl.rcParams[key] = size(float(ours[key]))  # type: ignore[index]
        yield


def _font_pt() -> float:
    """Return the size of text that fits the width asked for."""
    width = wishes.now().width_in
    return PLAIN_PT if width is None else wishes.size_pt(width)


def size(points: float) -> float:
    """Return the size of text that has ``points`` in a figure of the common width. Call within `look`."""
    scale = float(mpl.rcParams["font.size"]) / PLAIN_PT
    return points if scale == 1 else max(points * scale, min(SMALLEST_PT, points))


def width(plain_in: float = WIDTH_IN) -> float:
    """Return the width of the figure: the one asked for, or ``plain_in``."""
    return wishes.now().width_in or plain_in


def characters(inches: float, points: float) -> int:
    """Return how many characters of text of ``points`` (see `size`) are ``inches`` wide."""
    return max(6, int(inches * 136 / size(points)))


@contextmanager
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def _parameters(text: str) -> dict[str, str]:
    lines = (line.split(":", 1) for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in lines}


def new_figure(height_in: float, plain_in: float = WIDTH_IN) -> Figure:
    """Return an empty figure of the width asked for, or else of ``plain_in``. Call within `look`.

    Raises UserError if a height is asked for, and the figure's content needs much more than that.
    """
    fixed = wishes.now().height_in
    if fixed is not None and height_in > FLATTEST * fixed:
        needs = f"found a figure that needs {height_in / fixed:.1f} times its height"
        accepted = "less in one figure, by --where KEY=VALUE, or --width in inches"
        raise UserError("--width slide", f"{needs}; accepted: {accepted}")
    return Figure(figsize=(width(plain_in), fixed or height_in))


def grow(figure: Figure, by_in: float) -> None:
    """Make ``figure`` higher by ``by_in`` inches, unless its height is asked for."""
    if wishes.now().height_in is None:
        across, high = figure.get_size_inches()
        figure.set_size_inches(across, high + by_in)


def log_ms(ax: Axes, axis: str, low: float, high: float, fine: bool = True) -> None:
    """Make ``axis`` (``x`` or ``y``) of ``ax`` logarithmic, with plain numbers.

    With ``fine`` the numbers stand at 1, 2, 5 of each decade if these fit, otherwise at each decade.
    """
    which = ax.xaxis if axis == "x" else ax.yaxis
    (ax.set_xscale if axis == "x" else ax.set_yscale)("log")
    (ax.set_xlim if axis == "x" else ax.set_ylim)(low, high)
    few = fine and high / low <= (2000 if axis == "x" else 50)
    which.set_major_locator(LogLocator(10, subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=20))
    plain_numbers(which)


def plain_numbers(axis: Axis) -> None:
    """Write the numbers of a logarithmic ``axis`` as 0.1, 1, 10. Powers of ten are formulas, and `look` draws none."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def note(figure: Figure, text: str) -> None:
    """Write an explanation of the marks below ``figure``, unless nobody wants one."""
    if not wishes.now().has_note:
        return
    across = characters(figure.get_size_inches()[0], 8)
    figure.supxlabel("\n".join(textwrap.wrap(text, across)), x=0.01, ha="left", fontsize=size(8), color="#666666")


def svg(figure: Figure, name: str) -> str:
    """Return ``figure`` as an SVG element that can stand in an HTML page beside others.

    Its identifiers begin with ``name``. It contains no date, and its text remains text.
    """
    buffer = io.StringIO()
    with _quiet(), mpl.rc_context({"svg.hashsalt": f"goodqueue {name}", "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'\bd="[^"]*"', lambda path: re.sub(r"\d+\.\d{3,}", _round, path[0]), text)
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(r'xlink:href="#', f'xlink:href="#{name}-', text)
    return re.sub(r"'DejaVu Sans'(, '[^']*'|, [\w-]+)*", FONT_STACK, text)


def _round(match: re.Match[str]) -> str:
    return f"{float(match[0]):.2f}"


def encode(figure: Figure, kind: str, name: str) -> bytes:
    """Return ``figure`` as the content of a file of ``kind``: svg, pdf or png. The content has no date."""
    if kind == "svg":
        return f'<?xml version="1.0" encoding="utf-8"?>\n{svg(figure, name)}'.encode()
    buffer = io.BytesIO()
    without = {"CreationDate": None, "Creator": None, "Producer": None} if kind == "pdf" else {"Software": None}
    with _quiet(), mpl.rc_context({"pdf.fonttype": 42}):
        figure.savefig(buffer, format=kind, dpi=200, metadata=without)
    return buffer.getvalue()


def save(figure: Figure, folder: Path, name: str) -> str:
    """Write ``name.svg`` and ``name.png`` into ``folder`` and return the SVG."""
    text = svg(figure, name)
    with mpl.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # a layout costs as much as drawing, and the picture has the places of the SVG
    (folder / f"{name}.svg").write_text(f'<?xml version="1.0" encoding="utf-8"?>\n{text}', encoding="utf-8")
    (folder / f"{name}.png").write_bytes(encode(figure, "png", name))
    return text
