"""The errors of arguments that do not bind to a kernel's operands, in the words of Python's own.

In: a call as messages show it, and what is wrong.  Out: an error, which is a TypeError.

    unexpected("add()", "c") -> ArgumentError("add() got an unexpected keyword argument 'c'")
"""

from __future__ import annotations

from ..core.errors import ArgumentError

__all__ = ["missing_arguments", "too_many", "unexpected"]


def unexpected(call: str, name: str) -> ArgumentError:
    """Return the error of an argument that a call does not take; `call` is the call as messages show it."""
    return ArgumentError(f"{call} got an unexpected keyword argument '{name}'")


def too_many(call: str, required: int, most: int, given: int, with_out: bool) -> ArgumentError:
    """Return the error of a call with more positional arguments than it takes, as Python words it."""
    takes, plural = (f"from {required} to {most}", "s") if required < most else (f"{most}", "s" * (most != 1))
    note = f" positional argument{'s' * (given != 1)} (and 1 keyword-only argument)" if with_out else ""
    were = "were" if with_out or given != 1 else "was"
    return ArgumentError(f"{call} takes {takes} positional argument{plural} but {given}{note} {were} given")


def missing_arguments(call: str, quoted: list[str]) -> ArgumentError:
    """Return the error of a call without arguments that it needs, as Python words it."""
    last = f"{',' * (len(quoted) > 2)} and ".join(quoted[-2:])
    plural = "s" * (len(quoted) > 1)
    return ArgumentError(
        f"{call} missing {len(quoted)} required positional argument{plural}: {', '.join((*quoted[:-2], last))}"
    )
