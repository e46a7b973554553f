"""``goodqueue schema``: prints the JSON Schema of a scenario, for editors."""


def schema() -> None:
    """Print the JSON Schema of a scenario.

    \b
    Examples:
      goodqueue schema > scenario.schema.json

    Editors with TOML support (taplo, Even Better TOML for VS Code) use the schema if a scenario begins with

    \b
      #:schema ./scenario.schema.json

    The schema has every key of every table and kind of traffic. `goodqueue run` also checks qdisc lines, and keys
    against each other.
    """
    from json import dumps

    from goodqueue.show import terminal
    from goodqueue.show.schema import scenario

    terminal.emit(dumps(scenario(), ensure_ascii=False, indent=2) + "\n")
