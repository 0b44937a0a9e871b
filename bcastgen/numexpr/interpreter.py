"""Compiled expressions: NumExpr's objects of that name.

In: a typed expression, and the names of its variables.  Out: a :class:`NumExpr`, which is called with arrays.

    NumExpr("2*a + b", [("a", float), ("b", float)])(x, y)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .kinds import CODES, DTYPES, SIGNATURES
from .lowering import Computation, lowered
from .program import constant_nodes, constant_value, instructions, temporaries
from .syntax import ASTNode
from .utils import MAX_THREADS, keep_threads, use_vml

__all__ = ["MAX_THREADS", "NumExpr", "use_vml"]

Array = np.ndarray[Any, Any]

allaxes = 255
maxdims = 64
__BLOCK_SIZE1__ = 1024
opcodes = {name.encode("ascii"): at for at, name in enumerate(sorted(SIGNATURES))}
# Floats that no kernel takes, and the dtype that their elements are converted to before a call.
_LONG = {"g": np.dtype(np.float64), "G": np.dtype(np.complex128)}


def check_out(out: object) -> None:
    """Refuse an `out` that is no array."""
    if out is not None and not isinstance(out, np.ndarray):
        raise ValueError(f"out keyword parameter is not an array, but {type(out).__name__}")


class NumExpr:
    """An expression for variables of known kinds; called with an array for each, in the order of `input_names`.

    Attributes
    ----------
    signature, constsig, tempsig, fullsig : the letters of the kinds of variables, constants, intermediate results; of
        all, the result's first.
    constants : numbers and texts in the expression.
    input_names : the variables.
    computation : the kernel, and what is done with its result.
    """

    def __init__(self, root: ASTNode, names: Sequence[str], kinds: Sequence[str]) -> None:
        self.input_names = tuple(names)
        self.computation: Computation = lowered(root, names)
        if self.computation.kernel is not None:
            keep_threads(self.computation.kernel)
        self._kinds, self._root = tuple(kinds), root
        self._plain = self.computation.kernel if self.computation.is_plain else None
        # What calls have been found to be allowed: the conversions that each needs.
        self._allowed: dict[object, tuple[tuple[int, np.dtype[Any]], ...]] = {}

    @property
    def constants(self) -> tuple[Any, ...]:
        """Numbers and texts in the expression, each once."""
        return tuple(map(constant_value, constant_nodes(self._root)))

    @property
    def signature(self) -> bytes:
        """The letters of the variables' kinds."""
        return "".join(CODES[kind] for kind in self._kinds).encode("ascii")

    @property
    def constsig(self) -> bytes:
        """The letters of the constants' kinds."""
        return "".join(node.typecode() for node in constant_nodes(self._root)).encode("ascii")

    @property
    def tempsig(self) -> bytes:
        """The letters of the kinds of intermediate results."""
        return temporaries(self._root, len(self._kinds) + len(self.constants)).encode("ascii")

    @property
    def fullsig(self) -> bytes:
        """The letters of the kinds of the result, of variables, constants and intermediate results."""
        return self._root.typecode().encode("ascii") + self.signature + self.constsig + self.tempsig

    def program(self) -> list[list[Any]]:
        """Return the instructions that NumExpr would run, as `disassemble` shows them."""
        return instructions(self._root, self.input_names)

    def __call__(
        self, *args: Any, out: Array | None = None, order: Any = "K", casting: str = "safe", ex_uses_vml: bool = False
    ) -> Array:
        """Compute the expression.

        Parameters
        ----------
        *args : an array or a number for each variable.
        out : the array to write to.
        order : ``C``, ``F``, ``A`` or ``K``, of a new result.
        casting : which conversions are allowed: ``no``, ``equiv``, ``safe``, ``same_kind``, ``unsafe``.
        ex_uses_vml : NumExpr's; it changes nothing.

        Raises
        ------
        ValueError
            If there is another number of arrays, or they do not broadcast.
        TypeError
            If `casting` does not allow a conversion.
        """
        if len(args) != len(self._kinds):
            raise ValueError(
                f"number of inputs doesn't match program: {len(args)} arrays, and {len(self._kinds)} variables "
                f"({', '.join(self.input_names)})"
            )
        arrays = [
            np.asarray(value) if isinstance(value, np.ndarray) else self._converted(value, kind)
            for value, kind in zip(args, self._kinds, strict=True)
        ]
        return self.run_arrays(arrays, out, order, casting)

    run = __call__

    def _converted(self, value: Any, kind: str) -> Array:
        return np.asarray(value, DTYPES[kind].np if kind in DTYPES else None)

    def run_arrays(self, arrays: list[Array], out: Array | None, order: Any, casting: str) -> Array:
        """Compute the expression for arrays."""
        check_out(out)
        key = (casting, None if out is None else out.dtype, *[array.dtype for array in arrays])
        conversions = self._allowed.get(key)
        if conversions is None:
            conversions = self._allowed[key] = self._checked(arrays, out, casting)
        for at, dtype in conversions:
            arrays[at] = arrays[at].astype(dtype)
        if self._plain is not None and out is None and order == "K":
            result: Array = self._plain(*arrays)
            return result
        return self.computation(arrays, out, order, casting)

    def _checked(
        self, arrays: Sequence[Array], out: Array | None, casting: str
    ) -> tuple[tuple[int, np.dtype[Any]], ...]:
        """Refuse conversions that `casting` does not allow; return those that are made before the kernel is called."""
        for at, (array, kind, name) in enumerate(zip(arrays, self._kinds, self.input_names, strict=True), start=1):
            wanted = DTYPES[kind].np if kind in DTYPES else np.dtype("S")
            if not np.can_cast(array.dtype, wanted, casting):  # type: ignore[arg-type]
                raise TypeError(
                    f"Iterator operand {at} dtype could not be cast from {array.dtype!r} to {wanted!r} according to "
                    f"the rule '{casting}': variable '{name}'; convert it by astype, or give another casting="
                )
        result = self.computation.dtype
        allowed = out is None or result is None or np.can_cast(result, out.dtype, casting)  # type: ignore[arg-type]
        if not allowed:
            assert out is not None
            raise TypeError(
                f"Iterator requested dtype could not be cast from {result!r} to {out.dtype!r}, the operand 0 dtype, "
                f"according to the rule '{casting}': out; give another array, or casting='unsafe'"
            )
        return tuple((at, _LONG[array.dtype.char]) for at, array in enumerate(arrays) if array.dtype.char in _LONG)
