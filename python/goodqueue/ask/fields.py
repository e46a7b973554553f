"""The fields of a question: what a person may say, in which words, and what holds if nothing is said.

Each function is the default of a field in a dataclass, as `dataclasses.field` is: ``finds: int = option(...)``.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, NamedTuple

from goodqueue.ask.readers import FLAG, OPTIONS, TEXT, Reader
from goodqueue.errors import Option

KEY = "field"
"""Where `dataclasses` keeps a `Field`, among the metadata."""


class Field(NamedTuple):
    """An argument or an option, as all front ends show it."""

    metavar: str
    """What the value is, in one word. Empty for a flag."""
    help: str
    reader: Reader
    name: str = ""
    """The name of the option, if the field's own is another: ``--set`` of ``grid``."""
    aliases: tuple[str, ...] = ()
    """Further names of the option."""
    otherwise: str = ""
    """What holds without the option, in words, where its default does not say it."""
    completes: str = ""
    """The function of `cli.words` that completes its value."""
    is_argument: bool = False
    """Whether it has a place instead of a name on the command line."""
    is_required: bool = False
    """Whether the command line requires it, though it has a default: a scenario that Python describes otherwise."""
    is_positional: bool = False
    """Whether a call in Python may give it without its name."""
    in_python: bool = True
    """Whether Python has it. What a caller can do without, such as ``--set`` beside a dict, it has not."""
    on_command_line: bool = True
    """Whether the command line has it."""
    of_scenario: Mapping[str, str] | None = None
    """The options of a scenario (`options.DECLARED`) that this one field stands for, with what holds without them."""

    def option(self, field_name: str) -> Option:
        """Return the option of the field called ``field_name``."""
        return Option(self.name or field_name)

    def described(self) -> str:
        """Return the sentence, with what holds without the option in brackets."""
        return f"{self.help} [{self.otherwise}]" if self.otherwise else self.help


def argument(
    metavar: str,
    text: str,
    *,
    reader: Reader = TEXT,
    completes: str = "",
    is_optional: bool = False,
    is_optional_in_python: bool = False,
    in_python: bool = True,
    otherwise: str = "",
) -> Any:
    """Declare what has a place on the command line. Unless it ``is_optional``, the command cannot do without it."""
    field = Field(
        metavar,
        text,
        reader,
        otherwise=otherwise,
        completes=completes,
        is_argument=True,
        is_required=is_optional_in_python,
        is_positional=True,
        in_python=in_python,
    )
    has_default = is_optional or is_optional_in_python
    default: Any = {"default": () if reader.repeats else None} if has_default else {}
    return dataclasses.field(metadata={KEY: field}, **default)


def option(
    metavar: str,
    text: str,
    default: Any = None,
    *,
    reader: Reader = TEXT,
    name: str = "",
    aliases: tuple[str, ...] = (),
    otherwise: str = "",
    completes: str = "",
    is_positional: bool = False,
    is_required: bool = False,
    in_python: bool = True,
    on_command_line: bool = True,
) -> Any:
    """Declare an option: its metavar, its sentence, and the value that it has if nobody gives one.

    If it ``is_required`` there is no such value.
    """
    field = Field(
        metavar,
        text,
        reader,
        name,
        aliases,
        otherwise,
        completes,
        is_positional=is_positional,
        in_python=in_python,
        on_command_line=on_command_line,
    )
    if is_required:
        return dataclasses.field(metadata={KEY: field})
    value = () if default is None and reader.repeats else default
    return dataclasses.field(default=value, metadata={KEY: field})


def flag(text: str, *, in_python: bool = True) -> Any:
    """Declare an option without a value."""
    return dataclasses.field(default=False, metadata={KEY: Field("", text, FLAG, in_python=in_python)})


def scenario_options(*names: str, **otherwise: str) -> Any:
    """Declare the options of a scenario by ``names``, and those of ``otherwise`` with what holds without them.

    The field is a dict of those that somebody gave, by name.
    """
    every = {name: otherwise.get(name, "") for name in (*names, *otherwise)}
    field = Field("", "", OPTIONS, of_scenario=every)
    return dataclasses.field(default_factory=dict, metadata={KEY: field})
