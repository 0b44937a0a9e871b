"""The parser of command lines: its errors say what was meant.

In: arguments.  Out: what argparse makes of them; else a sentence with a cure, and exit code 2.

    bcastgen run "a" --inn a=1  ->  unrecognized arguments: --inn a=1; did you mean --in?
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import NoReturn

from ..core.near_names import did_you_mean

__all__ = ["Parser"]

# Python 3.12 and later write the choices without quotes.
_CHOICE, _WORD = re.compile(r"invalid choice: '(.*)' \(choose from (.*)\)$"), re.compile(r"[\w-]+")


class Parser(argparse.ArgumentParser):
    """A parser that names the flag that was meant, and says how an expression is given that an option took."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and what was meant, and leave."""
        if message.endswith("required: expression"):
            message += "; write it before the options, and one that begins with - in parentheses, as in '(-a)'"
        words = [word.partition("=")[0] for word in message.partition("unrecognized arguments: ")[2].split()]
        choice = _CHOICE.search(message)
        meant = did_you_mean(words, _flags(self), between=" and ")
        if choice:
            meant = did_you_mean(choice[1], _WORD.findall(choice[2]))
        super().error(message + meant)


def _flags(parser: argparse.ArgumentParser) -> list[str]:
    """Return the flags of a parser and of its commands."""
    return [flag for each in _parsers(parser) for action in each._actions for flag in action.option_strings]


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.values()
