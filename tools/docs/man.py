"""Write the manual pages, one per verb, from what ``--help`` shows: goodqueue(1), goodqueue-run(1) and so on.

    python tools/docs/man.py FOLDER

Neither typer nor click writes such pages. Groff's manual of the macros: groff_man(7).
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goodqueue.cli import command_line

VERSION = re.compile(r'^version = "(.*)"$', re.MULTILINE)
EXAMPLES = "Examples:"


def escaped(text: str) -> str:
    """Return ``text`` as roff prints it: hyphens that can be copied, and no line that begins with a request."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("'", r"\(aq").replace("`", r"\(ga")
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE).replace("^", r"\(ha").replace("~", r"\(ti")


def blocks(help_text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text, without the mark of those that keep their lines."""
    for block in help_text.split("\n\n"):
        yield block.removeprefix("\b\n")


def printed(block: str) -> Iterator[str]:
    """Yield the lines of roff for a paragraph: what is indented in it keeps its lines."""
    for run in re.findall(r"(?:^ +.*\n?)+|(?:^[^ \n].*\n?)+", block, re.MULTILINE):
        if run.startswith(" "):
            yield from (".RS 4", ".nf", *(escaped(line[2:]) for line in run.splitlines()), ".fi", ".RE")
        else:
            yield from (".PP", *(escaped(line) for line in run.splitlines()))


def described(params: list[Any], context: Any) -> Iterator[str]:
    """Yield a tagged paragraph per argument or option."""
    for param in params:
        names, words = param.get_help_record(context)
        yield from (".TP", f".B {escaped(names.removesuffix(' <str>'))}", escaped(words))


def page(context: Any, version: str) -> str:
    """Return the page of a command."""
    command = context.command
    name = context.command_path.replace(" ", "-")
    first, *others = blocks(command.help)
    of_kind = {
        kind: [param for param in command.get_params(context) if param.param_type_name == kind and param.help]
        for kind in ("argument", "option")
    }
    examples = [block.removeprefix(EXAMPLES + "\n") for block in others if block.startswith(EXAMPLES)]
    commands = getattr(command, "commands", {})
    title = escaped(first.removeprefix("goodqueue: ").rstrip("."))
    lines = [f'.TH {escaped(name.upper())} 1 "" "goodqueue {version}" "User Commands"']
    lines += [".SH NAME", rf"{escaped(name)} \- {' '.join(title.split())}"]
    usage = " ".join(command.collect_usage_pieces(context))
    lines += [".SH SYNOPSIS", f".B {escaped(context.command_path)}", escaped(usage)]
    prose = [line for block in others if not block.startswith(EXAMPLES) for line in printed(block)]
    lines += [".SH DESCRIPTION", *prose] if prose else []
    for heading, params in [("ARGUMENTS", of_kind["argument"]), ("OPTIONS", of_kind["option"])]:
        lines += [f".SH {heading}", *described(params, context)] if params else []
    if commands:
        lines.append(".SH COMMANDS")
        for verb, sub in commands.items():
            lines += [".TP", f".BR {escaped(name)}\\-{escaped(verb)} (1)", escaped(sub.get_short_help_str(500))]
    lines += [".SH EXAMPLES", *(line for block in examples for line in printed(block))] if examples else []
    if context.parent:
        lines += [".SH SEE ALSO", f".BR {escaped(context.parent.command_path.replace(' ', '-'))} (1)"]
    return "\n".join(lines) + "\n"


def pages(context: Any, version: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of a command's page and of those of its commands."""
    yield f"{context.command_path.replace(' ', '-')}.1", page(context, version)
    for name, command in getattr(context.command, "commands", {}).items():
        with command.make_context(name, [], parent=context, resilient_parsing=True) as inner:
            yield from pages(inner, version)


def main(folder: str) -> None:
    """Write all pages into ``folder``."""
    manifest = Path(__file__).resolve().parents[2] / "Cargo.toml"
    (version,) = VERSION.findall(manifest.read_text(encoding="utf-8"))
    Path(folder).mkdir(parents=True, exist_ok=True)
    with command_line().make_context("goodqueue", [], resilient_parsing=True) as context:
        for name, text in pages(context, version):
            (Path(folder) / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
