"""A question and its faces: the command line, Python and the command that asks again are made of the same fields."""

import inspect
import re
import shlex
from importlib import import_module
from typing import Any

import pytest

import goodqueue as gq
from goodqueue.ask.fields import Field
from goodqueue.ask.question import Question
from goodqueue.cli import VERBS, command_line
from goodqueue.errors import UserError
from goodqueue.linking.question import Link

ASKED: list[type[Question]] = [
    getattr(import_module(f"goodqueue.{module}"), name)
    for module, is_question, name in (where.partition(":") for where in VERBS.values())
    if is_question
]
"""The questions of all verbs that are made of one."""

QUESTIONS = [each for question in ASKED for each in (question, *question.further)]
"""The same, with those of sub-commands."""

TWO_FACED = [question for question in QUESTIONS if question.verb in gq.__all__]
"""Those that Python asks, too."""

SAMPLES = {"int": "64", "float": "0.5", "bool": True}
"""Values by the type of a field. Any other field takes a text."""


def named(question: type[Question]) -> str:
    return question.verb


def command_of(question: type[Question]) -> Any:
    """Return the command, or the sub-command, that is made of ``question``."""
    verb, *further = question.verb.split()
    command = command_line((verb,)).commands[verb]
    return command.commands[further[0]] if further else command


def asked(question: type[Question], words: list[str]) -> Question:
    """Return the question that the command line makes of ``words``, without answering it."""
    command = command_of(question)
    params = command.make_context(question.verb, words).params
    scenario = [name for field in question.fields().values() for name in field.of_scenario or ()]
    given = {name: value for name, value in params.items() if name in question.fields()}
    group = next((name for name, field in question.fields().items() if field.of_scenario is not None), None)
    if group is not None:
        given[group] = {name: params[name] for name in scenario}
    return question.read(given)


WORDS = {"WHEN": "none", "ENGINE": "kernel"}
"""Values of fields that take some words only, by metavar."""


def sample(field: Field) -> Any:
    """Return a value for a field, as a caller would give it."""
    if field.of_scenario is not None:
        return dict.fromkeys(field.of_scenario.keys() - {"ecn"}, "1")  # a flag
    value = WORDS.get(field.metavar) or SAMPLES.get(field.reader.accepts, "a=b,c d")
    return [value] if field.reader.repeats else value


@pytest.mark.parametrize("question", QUESTIONS, ids=named)
def test_the_command_of_a_question_asks_it_again(question: type[Question]) -> None:
    fields = {name: field for name, field in question.fields().items() if field.on_command_line}
    full = question.read({name: sample(field) for name, field in fields.items() if name not in ("store", "workers")})
    words = shlex.split(full.command())[1 + len(question.verb.split()) :]
    assert vars(asked(question, words)) == vars(full)


@pytest.mark.parametrize("question", QUESTIONS, ids=named)
def test_what_has_its_default_is_no_part_of_the_command(question: type[Question]) -> None:
    required = {name: field for name, field in question.fields().items() if name not in question.defaults()}
    command = question.read({name: sample(field) for name, field in required.items()}).command()
    options = [str(field.option(name)) for name, field in required.items() if not field.is_argument]
    assert re.findall(r"--[a-z-]*", command) == options


@pytest.mark.parametrize("words", ["ping -c 3 server", "cell.toml cat -n", "iperf3 -s -- iperf3 -c server", "doctor"])
def test_words_that_look_like_options_stand_behind_all_options(words: str) -> None:
    """CMD of a link has options of its own."""
    full = Link(words=tuple(words.split()), described={"rtt": "5ms"}, live=True)
    assert vars(asked(Link, shlex.split(full.command())[2:])) == vars(full)


@pytest.mark.parametrize("question", TWO_FACED, ids=named)
def test_both_faces_have_the_same_names_defaults_and_sentences(question: type[Question]) -> None:
    params = {param.name: param for param in command_of(question).params}
    arguments = inspect.signature(getattr(gq, question.verb)).parameters
    text = " ".join((inspect.getdoc(getattr(gq, question.verb)) or "").replace("`", "").split())
    for name, field in question.fields().items():
        if not field.in_python or not field.on_command_line or field.of_scenario is not None:
            continue
        assert field.help in (params[name].help or ""), name
        sentence = re.sub(r"--([a-z-]+)", lambda option: option[1].replace("-", "_"), field.help)
        assert sentence.replace("`", "") in text, name
        if not field.is_argument:
            assert (arguments[name].default or None) == (params[name].default or None), name


@pytest.mark.parametrize("question", QUESTIONS, ids=named)
def test_what_is_missing_is_refused_in_one_line(question: type[Question]) -> None:
    if question.fields().keys() <= question.defaults().keys():
        return
    with pytest.raises(UserError, match=f"^{question.verb}: missing "):
        question.read({})
