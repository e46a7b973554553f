"""``goodqueue schema``: prints the JSON Schema of a scenario for editors, and of what the other verbs print."""

from typing import Annotated

import typer


def schema(
    of: Annotated[str, typer.Option(metavar="WHAT", help="scenario, record, or result.")] = "scenario",
) -> None:
    """Print the JSON Schema of scenarios, records or results.

    \b
    Examples:
      goodqueue schema > scenario.schema.json
      goodqueue schema --of record > record.schema.json    what run --json prints
      goodqueue schema --of result    what compare, sweep and the other verbs print

    Editors with TOML support (taplo, Even Better TOML for VS Code) use the schema if a scenario begins with

    \b
      #:schema ./scenario.schema.json

    The schema has every key of every table and kind of traffic. `goodqueue run` also checks qdisc lines, and keys
    against each other. The schema of a record has every key that any engine writes. The schema of a result has what the
    results of all verbs share, and the metrics of compare and sweep with their units.
    """
    from json import dumps

    from goodqueue.errors import UserError, quoted
    from goodqueue.show import schema_of_output, terminal
    from goodqueue.show.schema import scenario

    made = {"scenario": scenario, "record": schema_of_output.record, "result": schema_of_output.result}
    if of not in made:
        raise UserError("--of", f"found {quoted(of)}; accepted: {', '.join(made)}")
    terminal.emit(dumps(made[of](), ensure_ascii=False, indent=2) + "\n")
