"""Tables as Markdown."""

from goodqueue.show.table import Table


def table(one: Table) -> str:
    """Return the columns and rows of ``one``."""
    heads: list[str] = []
    over = ""
    for column in one.columns:
        first, _, second = column.heading.partition("\n")
        over = first or over
        heads.append(f"{over} {second}".strip())
    rule = ["---:" if column.numeric else "---" for column in one.columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *one.rows])
