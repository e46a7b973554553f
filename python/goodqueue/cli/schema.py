"""``goodqueue schema``: what editors know a scenario by."""


def schema() -> None:
    """Print the JSON Schema of a scenario, by which editors complete and check one.

    \b
    Examples:
      goodqueue schema > scenario.schema.json

    Editors that speak TOML (taplo, Even Better TOML for VS Code) use it where a scenario begins with

    \b
      #:schema ./scenario.schema.json

    It knows every key of every table and kind of traffic. What keys mean together, and qdisc lines, `goodqueue run`
    checks.
    """
    from json import dumps

    from goodqueue.show import terminal
    from goodqueue.show.schema import scenario

    terminal.emit(dumps(scenario(), ensure_ascii=False, indent=2) + "\n")
