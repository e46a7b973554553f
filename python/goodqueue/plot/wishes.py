"""What a user asks of the look of a figure: its width, its font, and settings of matplotlib.

Figures of reports and studies have none of these. `applied` holds for the figures of ``goodqueue plot`` and of the
Python API.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager, ft2font

from goodqueue.errors import UserError, quoted
from goodqueue.files import inputs
from goodqueue.plot import names
from goodqueue.plot.names import Labels

INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""The length of each unit. A point is TeX's, which ``\\the\\columnwidth`` prints."""

LEAST_IN, MOST_IN = 2.0, 30.0

SLIDE = "slide"
SLIDE_IN = (6.67, 3.75)
"""The size of a figure for a slide of 16:9. On a slide 13.33 in wide, its text is twice as large as in the file."""

SLIDE_PT = 9.0

PLAIN_IN = (3.5, 5.8, 7.8)
"""The widths of a column, of a figure of one panel, and of a figure of three panels."""

PLAIN_PT = (8.0, 10.5)
"""The size of text in a column, and in wider figures."""

POINTS = (4.0, 40.0)
"""The smallest and the largest font that is accepted."""

LARGEST = 1 << 20

BROUGHT = ("STIXGeneral", "DejaVu Serif", "DejaVu Sans")
"""Fonts for text that matplotlib brings. The first looks like Times."""

LETTERS = {"A": "A", "a": "a", "z": "z", "0": "zero", ".": "period"}
"""Characters that a font for text has, with the names of their glyphs."""

OURS = re.compile(
    r"backend.*|interactive|toolbar|text\.(usetex|parse_math)|svg\..*|pdf\.fonttype|savefig\..*"
    r"|figure\.(constrained_layout\.use|autolayout|dpi|figsize)|(animation|keymap|webagg|tk|macosx|path)\..*"
)
"""Settings of matplotlib that a user's file does not change: names are not formulas, and the layout is ours."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user asks for. Without it a figure has its own width, and the style of goodqueue.mplstyle."""

    width_in: float | None = None
    height_in: float | None = None
    """The height, if the figure must have it, as on a slide."""
    font: str = ""
    font_pt: float | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of matplotlib: those of the user's matplotlibrc, and then those of the style."""
    labels: Labels = field(default_factory=Labels)
    has_note: bool = True
    """Whether the figure explains its marks in a line below."""


_ASKED: ContextVar[Asked] = ContextVar("asked", default=Asked())  # noqa: B039 - it is frozen


def now() -> Asked:
    """Return what is asked of the figure that is drawn now."""
    return _ASKED.get()


def written(name: str, *keys: str) -> str:
    """Return what the figure writes for ``name``, which ``--label`` may also call by one of ``keys``."""
    return now().labels.written(name, keys)


@contextmanager
def applied(wishes: Asked) -> Iterator[None]:
    """Draw figures as ``wishes`` within the context."""
    token = _ASKED.set(wishes)
    try:
        yield
    finally:
        _ASKED.reset(token)


def of(
    width: str | None, font: str | None, style: str | None, labels: Sequence[str] = (), has_note: bool = True
) -> Asked:
    """Return what the options say, with the settings of the user's matplotlibrc. Raises UserError."""
    texts = names.labels(labels)
    settings = {**_changed_settings(), **(_style(style) if style else {})}
    family, points = _font(font) if font else ("", None)
    if width is None:
        size = _figsize(style)
        return Asked(size, None, family, points, settings, texts, has_note)
    if width.strip().lower() == SLIDE:
        slide_pt = points or settings.get("font.size") or SLIDE_PT
        return Asked(*SLIDE_IN, family, slide_pt, settings, texts, has_note)
    return Asked(_width(width), None, family, points, settings, texts, has_note)


def size_pt(width_in: float) -> float:
    """Return the size of the text in a figure of this width: smaller in a column, larger where a figure is wide."""
    column, single, wide = PLAIN_IN
    small, plain = PLAIN_PT
    if width_in > wide:
        return plain * width_in / wide
    return min(plain, max(7.0, small + (plain - small) * (width_in - column) / (single - column)))


def _width(text: str) -> float:
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*(in|cm|mm|pt)", text.strip().lower())
    inches = float(match[1]) * INCHES[match[2]] if match else 0.0
    if not LEAST_IN <= inches <= MOST_IN:
        accepted = f"{LEAST_IN:g}in to {MOST_IN:g}in, also in cm, mm or pt, or slide"
        raise UserError("--width", f"found {quoted(text)}; accepted: {accepted}")
    return inches


def _font(text: str) -> tuple[str, float | None]:
    """Return the family and the size of a font, such as ``Times New Roman 9pt``. Either may be absent."""
    match = re.fullmatch(r"(.*?)\s*(?:(?<!\S)(\d+\.?\d*)\s*pt)?", text.strip())
    assert match is not None
    family, points = match[1], float(match[2]) if match[2] else None
    if points is not None and not POINTS[0] <= points <= POINTS[1]:
        raise UserError("--font", f"found {quoted(text)}; accepted: {POINTS[0]:g}pt to {POINTS[1]:g}pt")
    if family:
        fonts = {font.name: font.fname for font in font_manager.fontManager.ttflist}
        generic = ("serif", "sans-serif", "monospace")
        exact = {name.lower(): name for name in (*fonts, *generic)}.get(family.lower())
        if exact is None:
            near = [name for name in get_close_matches(family, fonts, n=10, cutoff=0.4) if _is_of_text(fonts[name])]
            near = list(dict.fromkeys((*near, *BROUGHT)))[:3]
            accepted = f"a font that matplotlib finds, such as {', '.join(near)}, or {', '.join(generic)}"
            raise UserError("--font", f"found {quoted(family)}; accepted: {accepted}; and a size, such as 9pt")
        family = exact
    elif points is None:
        raise UserError("--font", f"found {quoted(text)}; accepted: a font's name, a size such as 9pt, or both")
    return family, points


def _is_of_text(file: str) -> bool:
    """Return whether the font in ``file`` has letters, digits and a full stop. A font of symbols lacks some."""
    face = ft2font.FT2Font(file)
    glyphs = face.get_charmap()
    if not all(ord(character) in glyphs for character in LETTERS):
        return False
    # A font of symbols may have its signs in the places of letters. Their names say what they are, if it has names.
    named = [face.get_glyph_name(glyphs[ord(character)]) for character in LETTERS]
    return not ft2font.FaceFlags.GLYPH_NAMES & face.face_flags or named == list(LETTERS.values())


def _changed_settings() -> dict[str, Any]:
    """Return what the user changed in matplotlib: in a matplotlibrc, or in a notebook."""
    names = [key for key in mpl.rcParamsDefault if not OURS.fullmatch(key)]
    return {key: mpl.rcParams[key] for key in names if mpl.rcParams[key] != mpl.rcParamsDefault[key]}


def _figsize(style: str | None) -> float | None:
    """Return the width of figures that the style or the user's matplotlibrc sets, or None."""
    of_style = _style(style, exempt="figure.figsize") if style else {}
    size = of_style.get("figure.figsize", mpl.rcParams["figure.figsize"])
    if list(size) == list(mpl.rcParamsDefault["figure.figsize"]):
        return None
    return min(max(float(size[0]), LEAST_IN), MOST_IN)


def _style(text: str, exempt: str = "") -> dict[str, Any]:
    """Return the settings of a style of matplotlib, or of a file of settings. Raises UserError."""
    from matplotlib import style

    if text in style.library:
        library: Any = style.library
        settings: Mapping[str, Any] = library[text]
    elif Path(text).exists():
        settings = _file(Path(text))
    else:
        near = get_close_matches(text, style.available, n=3, cutoff=0.4) or style.available[:3]
        accepted = f"a style of matplotlib, such as {', '.join(near)}, or a file of its settings (.mplstyle)"
        raise UserError("--style", f"found {quoted(text)}; accepted: {accepted}")
    return {key: value for key, value in settings.items() if key == exempt or not OURS.fullmatch(key)}


def _file(path: Path) -> dict[str, Any]:
    """Return the settings of a file with lines ``key: value``. Raises UserError for a line that matplotlib refuses."""
    accepted = "lines of matplotlib's settings, such as font.size: 9"
    settings: Any = mpl.RcParams()  # which checks each value
    for number, line in enumerate(inputs.read_text(path, LARGEST, accepted).splitlines(), 1):
        text = re.sub(r"""^((?:[^"'#]|"[^"]*"|'[^']*')*)#.*$""", r"\1", line).strip()
        if not text:
            continue
        key, colon, value = (part.strip() for part in text.partition(":"))
        if not colon or key not in mpl.rcParamsDefault:
            raise UserError(f"{path}, line {number}", f"found {quoted(key)}; accepted: {accepted}")
        try:
            settings[key] = value.strip('"') if value.count('"') == 2 else value
        except Exception:  # noqa: BLE001 - its validators raise what they like
            problem = f"{key}: found {quoted(value)}; accepted: matplotlib's values"
            raise UserError(f"{path}, line {number}", problem) from None
    return dict(settings)
