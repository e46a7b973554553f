"""Tables as Markdown."""

from goodqueue.show.table import Table


def table(table: Table) -> str:
    """Return the columns and rows of ``table``."""
    heads: list[str] = []
    over = ""
    for column in table.columns:
        first, _, second = column.heading.partition("\n")
        over = first or over
        heads.append(f"{over} {second}".strip())
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in [heads, rule, *table.rows])
