"""The fields of a question: what a person may say, in which words, and what holds if nothing is said.

Each function is the default of a field in a dataclass, as `dataclasses.field` is: ``finds: int = option(...)``.
"""

import dataclasses
from dataclasses import dataclass
from typing import Any

from goodqueue.ask.readers import FLAG, TEXT, Reader

KEY = "field"
"""Where `dataclasses` keeps a `Field`, among the metadata."""


@dataclass(frozen=True, slots=True)
class Field:
    """An argument or an option, as all front ends show it."""

    metavar: str
    """What the value is, in one word. Empty for a flag."""
    help: str
    reader: Reader
    otherwise: str = ""
    """What holds without the option, in words, where its default does not say it."""
    completes: str = ""
    """The function of `cli.words` that completes its value."""
    is_argument: bool = False
    """Whether it has a place instead of a name on the command line."""
    is_positional: bool = False
    """Whether a call in Python may give it without its name."""
    in_python: bool = True
    """Whether Python has it. What a caller can do without, such as ``--set`` beside a dict, it has not."""

    def described(self) -> str:
        """Return the sentence, with what holds without the option in brackets."""
        return f"{self.help} [{self.otherwise}]" if self.otherwise else self.help


def argument(metavar: str, text: str, *, reader: Reader = TEXT, completes: str = "") -> Any:
    """Declare what the command cannot do without."""
    field = Field(metavar, text, reader, completes=completes, is_argument=True, is_positional=True)
    return dataclasses.field(metadata={KEY: field})


def option(
    metavar: str,
    text: str,
    default: Any = None,
    *,
    reader: Reader = TEXT,
    otherwise: str = "",
    completes: str = "",
    is_positional: bool = False,
    in_python: bool = True,
) -> Any:
    """Declare an option: its metavar, its sentence, and the value that it has if nobody gives one."""
    field = Field(metavar, text, reader, otherwise, completes, is_positional=is_positional, in_python=in_python)
    value = () if default is None and reader.repeats else default
    return dataclasses.field(default=value, metadata={KEY: field})


def flag(text: str) -> Any:
    """Declare an option without a value."""
    return dataclasses.field(default=False, metadata={KEY: Field("", text, FLAG)})
