"""Result shapes of a kernel from operand shapes alone, which need neither dtypes nor a compiler.

In: a kernel's compilation for given dtypes, and its signature; shapes.  Out: its loop program; the results' shapes.

    lambda a, b: a & b    ->  the program for i64: bits of f64 are refused, and shapes are those of any dtypes

Dtypes matter only by the size of a result's elements, since an array may not have more bytes than addresses reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from ..core.dtypes import DTYPES, DType, dtype
from ..core.errors import ArgumentError, BroadcastError, DomainError, DTypeError, RangeError, status_values
from ..loops.guard_program.interpret import Failure, run_guards
from ..runtime.named import Named
from ..runtime.slow_path import StrictDims, raise_status
from ..runtime.strict import Strict
from ..shape.types.dim import MAX_EXTENT, as_extent, check_rank

if TYPE_CHECKING:
    from ..loops.nest import LoopProgram
    from ..pipeline.compilation import Compilation
    from ..shape.types.tensor_type import Signature

__all__ = ["shapes_of", "sized", "sizing_program"]

Shapes: TypeAlias = tuple[tuple[int, ...], ...]

# Nearly every op takes one of these for all of its operands.
_LIKELY = (dtype("f64"), dtype("i64"), dtype("bool"))
# A user's ops may want floats in one operand and integers in another; at most this many combinations are tried.
_MOST_TRIED = 1000


class Sized(Named, Protocol):
    """The part of a kernel that sizing uses."""

    @property
    def _values(self) -> tuple[np.ndarray[Any, Any], ...]: ...

    def _sizing(self, ranks: tuple[int, ...]) -> LoopProgram: ...

    def _check_strict(self, shapes: Shapes, strict: StrictDims) -> None: ...


def sizing_program(
    compiled: Callable[[tuple[DType, ...]], Compilation], signature: Signature | None, count: int
) -> LoopProgram:
    """Return the loop program for the declared dtypes of operands; where none is declared, for one that the ops take.

    Shapes do not depend on dtypes, so the first accepted combination will do. `count` is the number of operands.

    Raises
    ------
    DTypeError, RangeError, DomainError
        If no combination is accepted: the error of the first that was tried.
    BroadcastError
        If the types show that no shapes fit.
    """
    types = () if signature is None else signature.operands
    declared = tuple(type_.dtype for _, type_ in types) or (None,) * count
    first: Exception | None = None
    for dtypes in islice(_choices(declared), _MOST_TRIED):
        try:
            return compiled(dtypes).program
        except (DTypeError, RangeError, DomainError) as error:
            first = first or error
    assert first is not None
    raise first


def _choices(declared: tuple[DType | None, ...]) -> Iterator[tuple[DType, ...]]:
    if all(declared):
        yield tuple(row for row in declared if row is not None)
        return
    others = tuple(row for row in DTYPES if row not in _LIKELY and not row.is_added)
    for row in (*_LIKELY, *others):
        yield tuple(known or row for known in declared)
    yield from product(*((known,) if known else _LIKELY for known in declared))


def shapes_of(kernel: Named, names: tuple[str, ...], shapes: tuple[object, ...]) -> Shapes:
    """Return the shapes of operands of these names, each given as a tuple, an array or a number.

    Raises
    ------
    TypeError
        If there is not one shape per operand.
    BroadcastError
        If an array may not have such a shape.
    """
    if len(shapes) != len(names):
        raise ArgumentError(f"{kernel._name}() has {len(names)} operands, got {len(shapes)} shapes")
    return tuple(map(_extents_of, names, shapes))


def _extents_of(name: str, shape: Any) -> tuple[int, ...]:
    """Return the extents in a tuple or of an array; a number is the only extent."""
    extents = shape.shape if isinstance(shape, (np.ndarray, Strict)) else shape
    entries = extents if isinstance(extents, (tuple, list)) else (extents,)
    check_rank(f"operand '{name}'", len(entries), name)
    found: list[int] = []
    for dim, given in enumerate(entries):
        extent = as_extent(given)
        if extent is None:
            raise BroadcastError(
                f"operand '{name}' dim {dim} has extent {given!r}, expected 0 to {MAX_EXTENT}; "
                "give a tuple of integers, or an array of that shape",
                operand=name,
                dim=dim,
            )
        found.append(extent)
    return tuple(found)


def sized(kernel: Sized, operands: Shapes, strict: StrictDims) -> Any:
    """Return the shapes of a kernel's results for these of its operands, or raise the error that such a call raises."""
    shapes = (*operands, *(value.shape for value in kernel._values))
    if strict:
        kernel._check_strict(shapes, strict)
    found = run_guards(kernel._sizing(tuple(map(len, operands))).guards, shapes)
    if isinstance(found, Failure):
        status = status_values()[found.status]
        at = found.subject, found.dim, found.against
        raise_status(kernel, status, *at, found.expected, found.actual, operands)
    return found if len(found) > 1 else found[0]
