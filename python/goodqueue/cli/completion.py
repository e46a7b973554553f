"""``goodqueue completion``: prints completion scripts for shells, and answers a shell that asks."""

import os
from collections.abc import Callable
from typing import Annotated, Any

import typer

from goodqueue.cli import words
from goodqueue.errors import UserError, quoted

ASKED_BY = "_GOODQUEUE_COMPLETE"
"""The variable in which the scripts pass their question."""

SHELLS = ("bash", "zsh", "fish")


def completion(
    shell: Annotated[
        str, typer.Argument(metavar="|".join(SHELLS), help="The shell.", autocompletion=words.among(SHELLS))
    ],
) -> None:
    """Print the completion script for a shell.

    \b
    Examples:
      goodqueue completion bash > ~/.local/share/bash-completion/completions/goodqueue
      goodqueue completion zsh > ~/.zfunc/_goodqueue     # where ~/.zfunc is in $fpath
      goodqueue completion fish > ~/.config/fish/completions/goodqueue.fish
      eval "$(goodqueue completion bash)"                # in this shell alone

    Shells read these files when they start. The bash-completion package reads the first.
    """
    # typer exports it under no other name. Its own option --show-completion would stand beside the verbs.
    from typer.completion import get_completion_script  # type: ignore[attr-defined]

    from goodqueue.show import terminal

    if shell not in SHELLS:
        raise UserError("completion", f"found {quoted(shell)}; accepted: {', '.join(SHELLS)}")
    terminal.emit(get_completion_script(prog_name="goodqueue", complete_var=ASKED_BY, shell=shell) + "\n")


def answer(command_line: Callable[[], Any]) -> int | None:
    """Print the completions if a shell asks for them, and return the exit status. Return None if no shell asks."""
    if not (asked := os.environ.get(ASKED_BY)):
        return None
    from typer.completion import completion_init, shell_complete  # type: ignore[attr-defined]

    completion_init()
    return shell_complete(command_line(), {}, "goodqueue", ASKED_BY, asked)
