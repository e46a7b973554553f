"""Lists of values in one text, as ``--set KEY=V1,V2`` has them."""

from goodqueue.errors import Place, UserError


def split(text: str, origin: Place) -> list[str]:
    """Split ``text`` at its commas, except those within quotes, brackets or braces.

    Raises UserError if one of these is not closed.
    """
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        if char == "," and not quote and depth == 0:
            parts.append("")
        else:
            parts[-1] += char
        if depth < 0:
            break
    if quote or depth:
        open_part = f"the quote {quote}" if quote else "a bracket"
        raise UserError(origin, f"found {open_part} that has no partner; accepted: V1,V2, or a TOML value")
    return parts
