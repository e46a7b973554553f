"""cake-autorate's ``config.primary.sh``: the table ``[autorate]`` of a scenario.

Source: cake-autorate (github.com/lynxthecat/cake-autorate, 94238be): defaults.sh and config.primary.sh.
"""

import math
import re

from goodqueue.errors import UserError, quoted
from goodqueue.settings.draft import Draft, Way
from goodqueue.traffic import probe

KEYS = {
    "owd_delta_delay_thr_ms": ("delayed", "ms"),
    "avg_owd_delta_max_adjust_up_thr_ms": ("raise_up_to", "ms"),
    "avg_owd_delta_max_adjust_down_thr_ms": ("cut_most_from", "ms"),
    "bufferbloat_detection_window": ("window", ""),
    "bufferbloat_detection_thr": ("detections", ""),
    "alpha_baseline_increase": ("baseline_up", ""),
    "alpha_baseline_decrease": ("baseline_down", ""),
    "shaper_rate_min_adjust_down_bufferbloat": ("cut_least", ""),
    "shaper_rate_max_adjust_down_bufferbloat": ("cut_most", ""),
    "shaper_rate_max_adjust_up_load_high": ("raise", ""),
    "high_load_thr": ("high_load", ""),
    "bufferbloat_refractory_period_ms": ("after_cut", "ms"),
    "decay_refractory_period_ms": ("back_every", "ms"),
    "monitor_achieved_rates_interval_ms": ("load_every", "ms"),
}
"""The keys of [autorate], by cake-autorate's names without the direction, and the unit of a value."""

RATES = ("min", "base", "max")

WITHOUT_EFFECT = ("output_", "log_", "debug", "dl_if", "ul_if", "reflectors", "pinger_method", "randomize_reflectors")
"""Beginnings of the names that have no effect on packets here."""

DOWN_BACK, UP_BACK = "shaper_rate_adjust_down_load_low", "shaper_rate_adjust_up_load_low"
ASSIGNMENT = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)=(\(?)(\"[^\"]*\"|'[^']*'|[^\s#()]*)")
NUMBER = re.compile(r"\d+\.?\d*|\.\d+")


class Values:
    """The settings of a file with their lines, and which of them somebody has asked for."""

    def __init__(self, file: str, text: str) -> None:
        """Read the assignments. Arrays are skipped up to their end."""
        self.file = file
        self.values: dict[str, tuple[str, int]] = {}
        self.left_out: list[str] = []
        self.asked: set[str] = set()
        is_array = False
        for number, line in enumerate(text.splitlines(), 1):
            match = ASSIGNMENT.match(line)
            if is_array:
                is_array = ")" not in line
            elif match:
                self.values[match[1]] = (match[3].strip("\"'"), number)
                is_array = bool(match[2]) and ")" not in line
            elif (rest := line.strip()) and not rest.startswith("#"):
                self.left_out.append(f"line {number}: {rest}: not understood")

    def number(self, name: str, default: float) -> float:
        """Return a setting that is a number. Raises UserError."""
        self.asked.add(name)
        text, line = self.values.get(name, ("", 0))
        if text and not (NUMBER.fullmatch(text) and math.isfinite(float(text))):
            raise UserError(self.file, f"line {line}: {name}: found {quoted(text)}; accepted: a number")
        return float(text) if text else default

    def written(self, name: str) -> str:
        """Return a setting as the file has it, behind its line."""
        text, line = self.values[name]
        return f"line {line}: {name}={text}"


def is_one(text: str) -> bool:
    """Return whether ``text`` has settings of cake-autorate."""
    return re.search(r"^\s*(min|base|max)_(dl|ul)_shaper_rate_kbps=", text, re.MULTILINE) is not None


def draft(file: str, text: str) -> Draft:
    """Return the scenario of the settings. Raises UserError."""
    values = Values(file, text)
    usual = {"dl": (5000, 20000, 80000), "ul": (5000, 20000, 35000)}
    rates = {
        way: [
            int(values.number(f"{word}_{way}_shaper_rate_kbps", default))
            for word, default in zip(RATES, of_way, strict=True)
        ]
        for way, of_way in usual.items()
    }
    down, up = (Way(base, [f"cake bandwidth {base}kbit"], _remark(least, most)) for least, base, most in rates.values())
    tables = [_pings(values), _rules(values, rates)]
    made = Draft(
        f"The settings of {file}: cake-autorate between its least and its most rates.", down, up, tables=tables
    )
    made.remarks.append(
        "cake-autorate is for lines whose rate changes. Here the rate of the line is constant: [[change]] or `trace` "
        "let it change. The settings do not say the words of cake, which SQM has: qdisc is cake with its defaults."
    )
    texts = values.left_out
    for name in values.values:
        if name not in values.asked and not name.startswith(WITHOUT_EFFECT):
            texts.append(f"{values.written(name)}: not simulated")
    made.left_out = texts
    return made


def _remark(least: int, most: int) -> str:
    return f"cake-autorate sets its rate from {least} to {most} kbit/s."


def _pings(values: Values) -> str:
    count = int(values.number("no_pingers", 6))
    every_ms = 1000 * values.number("reflector_ping_interval_s", 0.3)
    rows = [
        "[[traffic]]",
        f'kind = "{probe().name}"',
        'name = "reflectors"',
        f"count = {count}",
        f'interval = "{every_ms:g}ms"',
    ]
    return "\n".join([*rows, f'stagger = "{every_ms / max(count, 1):g}ms"'])


def _rules(values: Values, rates: dict[str, list[int]]) -> str:
    rows = ["[autorate]", 'pings = "reflectors"']
    for name, (key, unit) in KEYS.items():
        own = [each for each in (f"dl_{name}", f"ul_{name}", name) if each in values.values]
        if own:
            text = f"{values.number(own[0], 0):g}"
            rows.append(f'{key} = "{text}{unit}"' if unit else f"{key} = {text}")
        if len(own) > 1 and values.number(own[1], 0) != values.number(own[0], 0):
            values.left_out.append(
                f"{values.written(own[1])}: another value than that of the way down, which counts for both"
            )
    back = 1 - values.number(DOWN_BACK, 0.99)
    if DOWN_BACK in values.values:
        rows.append(f"back = {back:g}")
    if UP_BACK in values.values and abs(values.number(UP_BACK, 1.01) - 1 - back) > 1e-9:
        values.left_out.append(
            f"{values.written(UP_BACK)}: another step than that of {DOWN_BACK}, which counts for both"
        )
    for way, key in (("dl", "down"), ("ul", "up")):
        least, _, most = rates[way]
        if values.number(f"adjust_{way}_shaper_rate", 1):
            rows += ["", f"[autorate.{key}]", f'min = "{least}kbit"', f'max = "{most}kbit"']
    return "\n".join(rows)
