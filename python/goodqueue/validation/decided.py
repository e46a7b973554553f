"""Differences between `tc` and goodqueue that are decisions, each with its reason."""

import re

REASONS = {
    "own words": "Taken by goodqueue only: words that tc lacks, such as variants, idle, and the word that switches a flag "
    "off where tc has none.",
    "defaults": "Taken by goodqueue only: tc requires a word of tbf, htb, red or choke for which goodqueue has a default.",
    "cut": "Taken by tc only: a number that does not fit into 32 bits. tc keeps the lowest bits, so that the queue gets "
    "another value than the line says.",
    "negative": "Taken by tc 6.1 only: a negative time or rate, which later releases refuse.",
    "clock": "Taken by tc only: a time of more than 2199 s, which CoDel's clock cannot compare, or the number that tc "
    "itself uses for a threshold that the line does not give.",
    "trailing": "Taken by tc only: letters behind a number, which tc does not look at there.",
    "trees": "Taken by tc only: words of trees of classes, which are not simulated.",
    "adaptive": "Values cannot be compared: the kernel engine refuses red's adaptive, whose timer Linux does not start.",
    "rtt 0": "Taken by tc only: tc sends no rtt then, but a target of 1 us.",
    "framings": "Taken by tc only: framings whose overheads add up to more than 256 bytes, which no overhead may say.",
}
"""The reasons by name."""

_CODEL_MOST_S = 2199.023254
_NUMBER = re.compile(r"(-?)(0x[0-9a-f]+|[0-9.]+(?:e[0-9]+)?)", re.IGNORECASE)


def by(where: str, line: str, tc: str, ours: str) -> str | None:
    """Return the name of the decision that explains a difference of the list ``where``, or None."""
    if where == "goodqueue_only":
        if re.search(r"What is|unknown parameter", tc):
            return "own words"
        return "defaults" if re.search(r"mandatory|[Rr]equired|\"latency\" is", tc) else None
    if "accepted by the kernel engine: noadaptive" in ours:
        return "adaptive"
    if where == "values":
        return None
    return _refused(line, ours)


def _refused(line: str, ours: str) -> str | None:
    """Return why goodqueue refuses a line that `tc` takes."""
    if "trees of classes" in ours:
        return "trees"
    found = re.search(r'found "([^"]*)"', ours)
    text = found[1] if found else ""
    number = _NUMBER.match(text)
    if number is None:
        return None
    if number[1]:
        return "negative"
    value = float(int(number[2], 16)) if number[2].lower().startswith("0x") else float(number[2])
    if "4294.967295s" in ours or value >= 1 << 32:
        return "cut"
    if "2199023.254ms" in ours or value == (1 << 32) - 1:
        return "clock"
    if "cake rtt" in ours:
        return "rtt 0"
    if "cake overhead" in ours and line.count("-") + line.count("ether") and value > 256:
        return "framings"
    if line.split()[0] in ("red", "choke", "sfq", "sfb") and re.search(r"[^0-9.e-]", text.removeprefix("0x")):
        return "trailing"
    return "trailing" if text.lower() == "0x" else None
