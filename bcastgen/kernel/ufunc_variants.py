"""Kernels that are made of a kernel for calls with a mask, or with operands that are converted first.

In: a kernel, and what a call asks for.  Out: another kernel, made once and kept with the first.

    add, where=mask, out=r      ->   where(where, add(a, b), r)
    add, signature="ff->f"      ->   add(a.astype(f32), b.astype(f32))
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from typing import Any

import numpy as np

from ..core.dtypes import DTYPES, DType, from_key
from ..core.errors import DTypeError, RangeError
from ..core.frozen import replace
from ..core.operand_names import operand_names
from ..expr.build import Builder
from ..expr.nodes import Apply, Node, Notes, Reduce, Remap, topological
from ..expr.text import parse
from ..ops.rows.reductions import REDUCTIONS
from ..ops.table import OPS
from ..runtime.float_errors import DIVIDE, INVALID, OVERFLOW, UNDERFLOW

__all__ = ["Variants", "conditional", "may_refuse", "variant_of"]


class Variants:
    """The kernels that were made of one kernel.

    Parameters
    ----------
    kernel : the one that they are made of.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._made: dict[object, Any] = {}
        self._codes: dict[bytes, bytes] = {}

    def converted(self, operands: tuple[object, ...], loops: tuple[DType, ...]) -> tuple[Any, tuple[object, ...]]:
        """Return the kernel that converts its operands to these dtypes first, and the operands for it.

        Raises
        ------
        RangeError
            If a Python integer does not fit the dtype that it is converted to.
        DTypeError
            If the kernel declares its operands' dtypes.
        """
        kernel = self._kernel
        if not _is_open(kernel):
            raise DTypeError(f"{kernel._name}() declares its types, and takes no dtype=; convert by .astype")
        typed = tuple(map(_as_typed, kernel.operands, operands, loops))
        if loops not in self._made:
            builder = Builder(kernel.operands)
            nodes = tuple(builder.convert(node, loop) for node, loop in zip(builder.operands, loops, strict=True))
            self._made[loops] = _like(kernel, builder, builder.inline(kernel.expression, nodes))
        return self._made[loops], typed

    def conditional(self, codes: bytes, olds: tuple[bool, ...]) -> Any | None:
        """Return the kernel that computes under a mask, its next operand; None if there can be none.

        Parameters
        ----------
        codes : the results' dtypes.
        olds : for each result, whether elements that are not selected keep old values, which are operands behind the
            mask; if not, these elements are 0.
        """
        kernel = self._kernel
        if not _is_open(kernel):
            return None
        key = (codes, olds)
        if key not in self._made:
            taken = kernel.operands
            mask = _free("where", taken)
            names = (*taken, mask, *(_free(f"old_{kernel.results[at]}", taken) for at, has in enumerate(olds) if has))
            builder = Builder(names)
            results = builder.inline(kernel.expression, tuple(builder.operands[: len(taken)]))
            before = iter(builder.operands[len(taken) + 1 :])
            chosen = tuple(
                _chosen(builder, builder.operands[len(taken)], result, next(before) if has else None, DTYPES[code])
                for result, has, code in zip(results, olds, codes, strict=True)
            )
            self._made[key] = _like(kernel, builder, chosen)
        return self._made[key]

    def result_codes(self, operands: bytes) -> bytes | None:
        """Return the results' dtypes for operands of these; nothing is compiled. None if there can be no variants."""
        kernel = self._kernel
        if not _is_open(kernel):
            return None
        if operands not in self._codes:
            found = kernel._compilation(tuple(map(from_key, operands))).typed.result_dtypes
            self._codes[operands] = bytes(map(DTYPES.index, found))
        return self._codes[operands]

    def raising(self) -> tuple[Any, int] | None:
        """Return the kernel of the floating-point errors at each point, as bits of `runtime.float_errors`.

        The number says how many of its results, from the first on, are at the points of the kernel's own results; the
        others are at the points of values that a reduction or a view reads. None if there can be no such kernel, or no
        op raises.
        """
        kernel = self._kernel
        if "raising" not in self._made:
            builder = Builder(kernel.operands)
            results = builder.inline(kernel.expression, tuple(builder.operands))
            # A call that comes here has operands of the types that a kernel declares.
            own = _errors_at(builder, dict.fromkeys(results)) if _is_plain(kernel) else ()
            inner = _errors_at(builder, _taken(results)) if _is_plain(kernel) else ()
            self._made["raising"] = (_like(kernel, builder, (*own, *inner)), len(own)) if own or inner else None
        made: tuple[Any, int] | None = self._made["raising"]
        return made


def _taken(results: tuple[Node, ...]) -> dict[Node, None]:
    """Return the values that reductions and views take: their points are not those of the results."""
    return {node.operand: None for node in topological(results) if isinstance(node, (Reduce, Remap))}


def _errors_at(builder: Builder, values: Iterable[Node]) -> tuple[Node, ...]:
    """Return a node for each value that any op computes: the errors at its points."""
    found = []
    for value in values:
        bits = [
            _raised_by(builder, node) if isinstance(node, Apply) else _raised_along(builder, node)
            for node in _at_points(value)
            if isinstance(node, Apply) or (isinstance(node, Reduce) and node.op.step in _COMPUTE)
        ]
        if bits:
            found.append(reduce(lambda a, b: builder.apply(OPS["bitwise_or"], (a, b)), bits))
    return tuple(found)


def _at_points(value: Node) -> list[Node]:
    """Return the nodes that are computed at the points of a value, and what they read."""
    found: dict[Node, None] = {value: None}
    waiting = [value]
    while waiting:
        node = waiting.pop()
        for child in _read(node) if isinstance(node, Apply) else ():
            if child not in found:
                found[child] = None
                waiting.append(child)
    return list(found)


def _read(node: Apply) -> tuple[Node, ...]:
    """Return the operands whose values an op reads."""
    return node.operands[1:] if node.notes.dtype_only else node.operands


def _raised_along(builder: Builder, node: Reduce) -> Node:
    """Return the node of a reduction's errors: an infinity of finite elements, and a NaN of others.

    An infinite mean of no more elements than `ddof` is a quotient by 0.
    """

    def joined(name: str, of: Node) -> Node:
        return builder.reduce(replace(node, op=REDUCTIONS[name], dtype=None, ddof=0), of)

    finite, nan = (builder.apply(OPS[test], (node.operand,)) for test in ("isfinite", "isnan"))
    count = joined("sum", builder.apply(OPS["equal"], (nan, nan)))
    over = f"where(count <= {node.ddof}, pole, over)" if node.ddof else "over"
    text = parse(f"where(isinf(r) & finite, {over}, where(isnan(r) & ~nan, invalid, none))")
    given: dict[str, Node] = {"r": node, "finite": joined("all", finite), "nan": joined("any", nan), "count": count}
    given |= {name: builder.constant(np.uint8(bit)) for name, bit in _BITS.items()}
    return builder.inline(text, tuple(given[operand.name] for operand in text.operands))[0]


def _raised_by(builder: Builder, node: Apply) -> Node:
    """Return the node of one op's errors: a pole is a division by 0, another infinity an overflow, a NaN invalid."""
    read = _read(node)
    names = operand_names(len(read))
    finite, nan = (f" {word} ".join(f"{test}({name})" for name in names) for word, test in _TESTS)
    overflow = f"where(isinf(r) & {finite}, over, where(isnan(r) & ~({nan}), invalid, none))"
    if node.op.pole:
        # The quotient of a complex number by 0 has an infinite part, and one that is NaN.
        at_pole = f"({node.op.pole}) & {finite} & (isinf(r) | ~isnan(r))"
        text = f"where({at_pole}, where(isnan(r), pole | invalid, pole), {overflow})"
    else:
        text = overflow
    text = f"where({node.op.overflow}, over, {text})" if node.op.overflow else text
    given: dict[str, Node] = {**dict(zip(names, read, strict=True)), "r": node}
    if node.op.underflow:
        # The least normal number of a dtype, from its largest one.
        least = parse("4 / nextafter(full_like(real(r), infinite), full_like(real(r), 0))")
        values: dict[str, Node] = {"r": node, "infinite": builder.constant(math.inf)}
        given["least"] = builder.inline(least, tuple(values[operand.name] for operand in least.operands))[0]
        text = f"where((absolute(r) < least) & ({node.op.underflow}), under, {text})"
    target = dict(node.params).get("dtype")
    if isinstance(target, DType) and target.is_integer:
        # `fits` is NaN for a float that the integer cannot hold; other operands wrap, and typing leaves them alone.
        low = float(target.min)
        held = parse(f"((a >= {low!r}) | (a > {low!r} - 1)) & (a < {float(target.max + 1)!r})")
        inside = builder.inline(held, node.operands)[0]
        chosen = (inside, node.operands[0], builder.constant(math.nan))
        given["fits"] = builder.apply(OPS["where"], chosen, notes=Notes(guards="float"))
        text = "where(isnan(fits), invalid, none)"
    expression = parse(text)
    given |= {name: builder.constant(np.uint8(bit)) for name, bit in _BITS.items()}
    return builder.inline(expression, tuple(given[operand.name] for operand in expression.operands))[0]


# How the operands' tests are joined, and the op that tests one.
_TESTS = (("&", "isfinite"), ("|", "isnan"))
# The steps of reductions that compute; others compare.
_COMPUTE = ("ADD", "MULTIPLY")
_BITS = {"pole": DIVIDE, "over": OVERFLOW, "under": UNDERFLOW, "invalid": INVALID, "none": 0}


def _chosen(builder: Builder, mask: Node, result: Node, old: Node | None, row: DType) -> Node:
    other = builder.constant(np.zeros((), row.np)[()]) if old is None else old
    return builder.apply(OPS["where"], (mask, result, other))


def _as_typed(name: str, value: object, loop: DType) -> object:
    """Return a Python number as a scalar of the dtype that it is converted to; NumPy converts it, or refuses it."""
    if type(value) not in (int, float):
        return value
    try:
        with np.errstate(all="ignore"):
            # Only an int is refused where it does not fit.
            return np.asarray(loop.np.type(value) if type(value) is int else np.asarray(value).astype(loop.np))
    except OverflowError as error:
        raise RangeError(f"{error} (operand '{name}')") from None


def _free(name: str, taken: tuple[str, ...]) -> str:
    while name in taken:
        name += "_"
    return name


def _is_open(kernel: Any) -> bool:
    """Whether a kernel's expression may become part of another: it has no types, constants or claims of its own."""
    return kernel.signature is None and _is_plain(kernel)


def _is_plain(kernel: Any) -> bool:
    """Whether a kernel's expression has neither constants nor claims of its own."""
    return not (kernel.constant_values or kernel.expression.type_assertions)


def _like(kernel: Any, builder: Builder, results: tuple[Node, ...]) -> Any:
    """Return a kernel of other results that is called as this one is."""
    expression = builder.finish(results)
    names = tuple(operand.name for operand in expression.operands)
    made = type(kernel)(expression, kernel._name, names, len(results), options=replace(kernel._options))
    made.threads = kernel.threads
    made.provenance = kernel.provenance
    return made


def variant_of(kernel: Any) -> Variants:
    """Return the kernels that were made of a kernel; they live as long as it."""
    if kernel._variants is None:
        kernel._variants = Variants(kernel)
    made: Variants = kernel._variants
    return made


def conditional(kernel: Any, codes: bytes, olds: tuple[bool, ...]) -> Any | None:
    """Return the kernel under a mask; see :meth:`Variants.conditional`."""
    return variant_of(kernel).conditional(codes, olds)


def may_refuse(kernel: Any) -> bool:
    """Whether an element's value may end a call, as a negative power of an integer does."""
    return any(isinstance(node, Apply) and node.op.demand for node in topological(kernel.expression.results))
