"""Every exception, and one function for each error of shapes, which takes all the facts.

In: operand names, dims and sizes.  Out: an exception whose message names them and the cure.

    broadcast_mismatch("b", 1, 2, 3, "a")  ->  operand 'b' dim 1 has extent 2, expected 1 or 3 (from 'a')

The sentences of run-time statuses are in ``csrc/abi/bcg_status.def``; compile-time errors use the same ones.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

__all__ = [
    "REFUSED",
    "ArgumentError",
    "AxisError",
    "BcastgenError",
    "BroadcastError",
    "CacheError",
    "CacheWarning",
    "CompileError",
    "CompilerWarning",
    "DTypeError",
    "DisabledError",
    "DomainError",
    "ParseError",
    "RangeError",
    "RefusedFlagsError",
    "TraceError",
    "broadcast_mismatch",
    "element_sentence",
    "from_status",
    "operand_refused",
    "placed",
    "rank_mismatch",
    "result_mismatch",
    "result_rank_mismatch",
    "shape_statuses",
    "status_values",
    "statuses",
    "with_article",
]


# Longer words of a text are cut in messages: a hostile one may be as long as all of the text.
_LONGEST_WORD, _SHOWN = 400, 100
_LONG_WORD = rf"[^\s]{{{_LONGEST_WORD},}}"

# The longest message, but for a compiler's: arguments that are told of may have millions of parts.
_LONGEST_MESSAGE = 4_000

# The message where a shape function refuses operands without giving a reason.
REFUSED = "a shape function refuses the operands"


class BcastgenError(Exception):
    """Base of every error bcastgen raises.

    Attributes
    ----------
    sentence : the message without its end that says in which call, and where in the source.
    """

    _sentence: str | None = None
    _longest = _LONGEST_MESSAGE

    def __init__(self, *args: object) -> None:
        super().__init__(*(_shortened(arg, self._longest) if isinstance(arg, str) else arg for arg in args))

    @property
    def sentence(self) -> str:
        """The message without the place: the same sentence that C gives."""
        return str(self) if self._sentence is None else self._sentence


def _shortened(message: str, longest: int) -> str:
    """Return a message without its middle where it is longer than that.

    Examples
    --------
    >>> _shortened("abcdefghij", 10), _shortened("abcdefghijk", 10)
    ('abcdefghij', 'abcde ... (4 characters are left out) ... jk')
    """
    if len(message) <= longest:
        return message
    head, tail = longest - longest // 2, longest // 4
    left_out = len(message) - head - tail
    return f"{message[:head]} ... ({left_out} characters are left out) ... {message[-tail:]}"


class BroadcastError(BcastgenError, ValueError):
    """Shapes do not fit: extents that do not broadcast, ranks, result types.

    Attributes
    ----------
    operand : name of the operand or result at fault, or None.
    dim : the operand's own dim, counted from 0, or None.
    expected, actual : the two sizes, or None.
    against : name of the operand that set the expected size, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        operand: str | None = None,
        dim: int | None = None,
        expected: int | None = None,
        actual: int | None = None,
        against: str | None = None,
    ) -> None:
        super().__init__(message)
        self.operand, self.dim, self.expected, self.actual, self.against = operand, dim, expected, actual, against


class AxisError(BroadcastError, np.exceptions.AxisError):
    """A dim that an argument names is not one of a value's: NumPy's error of this name, and an IndexError.

    Attributes
    ----------
    axis : the dim, as it was given.
    ndim : the value's rank.

    Examples
    --------
    >>> error = AxisError("sum: axis 2 is out of range for a value of rank 2", axis=2, ndim=2)
    >>> isinstance(error, np.exceptions.AxisError), error.axis, str(error)
    (True, 2, 'sum: axis 2 is out of range for a value of rank 2')
    """

    def __init__(self, message: str, *, axis: int | None = None, ndim: int | None = None) -> None:
        BroadcastError.__init__(self, message, dim=axis)
        self.axis, self.ndim = axis, ndim

    # NumPy's own makes the message of the numbers.
    __str__ = Exception.__str__

    def __reduce__(self) -> tuple[Any, ...]:
        """NumPy's class keeps the numbers in slots, which exceptions do not pickle."""
        return _axis_error, (type(self), self.args, self.__dict__, self.axis, self.ndim)


def _axis_error(kind: type[AxisError], args: tuple[Any, ...], state: dict[str, Any], axis: Any, ndim: Any) -> AxisError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    error.axis, error.ndim = axis, ndim
    return error


class ArgumentError(BcastgenError, TypeError, ValueError):
    """A call has an argument too many or too few, or one that says how to compute has no such value."""


class DTypeError(BcastgenError, TypeError):
    """An operation, or bcastgen as a whole, does not support a dtype."""


class RangeError(BcastgenError, OverflowError):
    """A Python integer does not fit the dtype of the operand beside it (NEP 50)."""


class DomainError(BcastgenError, ValueError):
    """A value is outside an operation's domain: an integer raised to a negative power."""


class TraceError(BcastgenError, TypeError):
    """A traced Python function did something with an operand that an expression cannot hold."""


class ParseError(BcastgenError, ValueError):
    """Text is not an expression, a type or a signature; the message names the column, and shows no word at length."""

    def __init__(self, message: str = "", *more: object) -> None:
        super().__init__(re.sub(_LONG_WORD, lambda word: f"{word[0][:_SHOWN]}...", message), *more)


class CompileError(BcastgenError, RuntimeError):
    """The C compiler is missing or failed; the message holds the command line and its stderr."""

    _longest = 40_000


class RefusedFlagsError(CompileError):
    """The user's compiler flags would change results."""


class DisabledError(CompileError):
    """The user has turned compiling off."""


class CacheError(BcastgenError, OSError):
    """The cache cannot be written to, or a file in it cannot be loaded."""


class CacheWarning(RuntimeWarning):
    """Kernels are not kept, or one that was kept had to be built anew; calls are right all the same."""


class CompilerWarning(RuntimeWarning):
    """A kernel could not be compiled, so NumPy computes its results; the message is the compiler's error."""


def placed(error: BcastgenError, place: str) -> BcastgenError:
    """Return an error whose message also says where: once, by the first caller that knows.

    Examples
    --------
    >>> placed(placed(DTypeError("no such loop"), "at f.py:3"), "in f(x: f32)")
    DTypeError('no such loop, at f.py:3 in f(x: f32)')
    """
    comma = "," if error._sentence is None else ""
    error._sentence = error.sentence
    error.args = (_shortened(f"{error}{comma} {place}", error._longest), *error.args[1:])
    return error


# Tracebacks and pickles then use the public names.
for _face in (BcastgenError, *BcastgenError.__subclasses__(), AxisError, CompilerWarning):
    _face.__module__ = "bcastgen"


@cache
def statuses() -> dict[int, tuple[str, str]]:
    """Return value -> (name, sentence) for every status of a kernel, from ``bcg_status.def``."""
    return _rows("BCG_STATUS")


@cache
def status_values() -> dict[str, int]:
    """Return name -> value for every status of a kernel."""
    return {name: value for value, (name, _) in statuses().items()}


@cache
def shape_statuses() -> dict[int, tuple[str, str]]:
    """Return value -> (name, sentence) for the statuses that only programs of the shape dialect return."""
    return _rows("BCG_SHAPE_STATUS")


def _rows(macro: str) -> dict[int, tuple[str, str]]:
    package = Path(__file__).resolve().parents[1]
    home = next(p for p in (package / "csrc", package.parent / "csrc") if p.is_dir())
    text = (home / "abi" / "bcg_status.def").read_text(encoding="utf-8")
    rows = re.findall(rf'^{macro}\((\w+),\s*(\d+),\s*"([^"]*)"\)', text, re.MULTILINE)
    return {int(value): (name, sentence) for name, value, sentence in rows}


def _sentence(name: str) -> str:
    return next(sentence for row, sentence in (*statuses().values(), *shape_statuses().values()) if row == name)


def _shape_error(
    status: str,
    operand: str,
    dim: int | None,
    actual: int,
    expected: int,
    against: str | None,
    is_extent: bool = False,
) -> BroadcastError:
    """Return the error of a status about one extent, with the sentence that C has for it."""
    message = _sentence(status).format(
        subject=f"extent '{operand}' is" if is_extent else f"operand '{operand}' dim {dim} has extent",
        operand=operand,
        dim=dim,
        actual=actual,
        expected=expected,
        or_one="1 or " if expected != 1 else "",
        against=against,
        origin=f" (from '{against}')" if against is not None else "",
        message=REFUSED,
    )
    own = None if is_extent else dim
    return BroadcastError(message, operand=operand, dim=own, expected=expected, actual=actual, against=against)


def broadcast_mismatch(operand: str, dim: int, actual: int, expected: int, against: str) -> BroadcastError:
    """Two operands have different extents in a dim, and neither is 1."""
    return _shape_error("BROADCAST", operand, dim, actual, expected, against)


def result_mismatch(result: str, dim: int, actual: int, expected: int, against: str | None = None) -> BroadcastError:
    """A result's extent differs from the inferred one; result dims never broadcast."""
    return _shape_error("RESULT", result, dim, actual, expected, against)


def rank_mismatch(operand: str, actual: int, expected: int) -> BroadcastError:
    """An operand's rank differs from its type."""
    return _shape_error("RANK", operand, None, actual, expected, None)


def result_rank_mismatch(result: str, actual: int, expected: int) -> BroadcastError:
    """A result's rank differs from the inferred one."""
    return _shape_error("RESULT_RANK", result, None, actual, expected, None)


def strict_mismatch(operand: str, dim: int, actual: int, expected: int, against: str | None = None) -> BroadcastError:
    """A dim would stretch that the caller marked as strict."""
    found = _shape_error("STRICT", operand, dim, actual, expected, against)
    cure = f"as bcastgen.strict says; pass the whole extent, or leave dim {dim} out of dims="
    return BroadcastError(
        f"{found}, {cure}", operand=operand, dim=dim, expected=expected, actual=actual, against=against
    )


def with_article(noun: str) -> str:
    """Return a type's name behind its article.

    Examples
    --------
    >>> with_article("Array"), with_article("str"), with_article("uint8")
    ('an Array', 'a str', 'a uint8')
    """
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"


def operand_refused(name: str, value: object, why: BcastgenError) -> DTypeError:
    """A call's operand is of a dtype that there is no C for; the message says what it is."""
    if value is None:
        return DTypeError(f"operand '{name}' is None; give an array or a number")
    shape = getattr(value, "shape", ())
    kind = f"an array of shape {shape}" if shape else with_article(type(value).__name__)
    return DTypeError(f"operand '{name}' ({kind}): {why}")


def from_status(
    status: int,
    names: tuple[str, ...],
    operand: int,
    dim: int,
    against: int,
    expected: int,
    actual: int,
    extents: tuple[str, ...] = (),
) -> BcastgenError:
    """Return the exception for a kernel's status and diagnostic.

    Parameters
    ----------
    status : a value of ``bcg_status.def``.
    names : names of operands, then results, then type assertions, in the kernel's order.
    operand, dim, against, expected, actual : the diagnostic's fields; -1 means none in the first three.
    extents : the names of operands that stand for extents which the caller gives.
    """
    if status not in statuses():
        return BcastgenError(f"kernel returned the unknown status {status}; clear the cache (bcastgen cache clear)")
    name, sentence = statuses()[status]
    if "{" not in sentence:  # It tells of an element, not of an operand.
        return DomainError(sentence)
    return _shape_error(
        name,
        names[operand] if operand >= 0 else "?",
        dim if dim >= 0 else None,
        actual,
        expected,
        names[against] if against >= 0 else None,
        operand >= 0 and names[operand] in extents,
    )


def element_sentence(status: str) -> str:
    """Return the sentence of a status that elements cause, without the cure.

    Examples
    --------
    >>> element_sentence("ENDLESS").partition(", or ")[0]
    'a loop is not over for an element after the most rounds that it makes'
    """
    return next(sentence for name, sentence in statuses().values() if name == status).partition(";")[0]
