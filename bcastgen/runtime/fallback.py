"""`KernelBase` in Python over cffi, for machines where the extension csrc/dispatch/dispatch.c could not be built.

In: a call `kernel(a, b, out=r)`.  Out: the ndarray (or tuple of them).  Every call takes the slow path of
`slow_path.py`, so this module starts from clean operands: describe them, find the binary, infer shapes, allocate, run.

    k_strides(((3, 4),), ((8, 24),), (3, 4), 8) -> (8, 24)        the result of an F-ordered operand is F-ordered
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DTYPES
from ..core.source_lines import with_short_tracebacks
from .float_errors import report
from .keys import Array, Limit, check_binary, check_signature, exceeds, operand_code
from .library import constant, ffi
from .native import runtime
from .settings import check_threads, get_num_threads
from .slow_path import call_slow, raise_limit, raise_no_binary, raise_status

__all__ = ["KernelBase", "k_strides"]

Shape = tuple[int, ...]


def k_strides(shapes: Sequence[Shape], strides: Sequence[Shape], result: Shape, itemsize: int) -> Shape:
    """Return a result's byte strides in NumPy's 'K' order: nditer's insertion sort of axes by the operands' strides.

    Examples
    --------
    >>> k_strides(((3, 4), (4,)), ((8, 24), (8,)), (3, 4), 8)
    (8, 24)
    """
    rank = len(result)
    votes = [_votes(shape, stride, result) for shape, stride in zip(shapes, strides, strict=True)]
    order: list[int] = []
    for axis in range(rank):
        order_index = axis
        for k in range(axis - 1, -1, -1):
            inside = _lies_inside(votes, axis, order[k])
            if inside is False:
                break
            if inside:
                order_index = k
        order.insert(order_index, axis)
    found, step = [0] * rank, itemsize
    for axis in order:
        found[rank - 1 - axis] = step
        step *= result[rank - 1 - axis]
    return tuple(found)


def _votes(shape: Shape, strides: Shape, result: Shape) -> list[int]:
    """Return the stride by which an operand orders each axis of the result, innermost first; 0 where it abstains."""
    votes = [0] * len(result)
    pairs = zip(reversed(shape), reversed(strides), reversed(result), strict=False)
    for axis, (extent, stride, expected) in enumerate(pairs):
        votes[axis] = abs(stride) if extent == expected != 1 else 0
    return votes


def _lies_inside(votes: Sequence[Sequence[int]], axis: int, other: int) -> bool | None:
    """Return whether `axis` must be inside `other` against C order; None: no operand votes. C order wins conflicts."""
    voters = [(vote[axis], vote[other]) for vote in votes if vote[axis] and vote[other]]
    return all(y > x for x, y in voters) if voters else None


class _Binary:
    """A compiled kernel: the binary for one tuple of dtypes."""

    __slots__ = ("entry", "keepalive", "limits", "result_codes")

    def __init__(self, entry: Any, result_codes: bytes, limits: tuple[Limit | None, ...], keepalive: object) -> None:
        self.entry, self.result_codes, self.limits, self.keepalive = entry, result_codes, limits, keepalive


class KernelBase:
    """Handles a kernel's calls; subclasses provide ``_compile(key)``.

    Parameters
    ----------
    name : the kernel's name, in messages.
    operands, results : their names, in order.
    defaults : values of the last operands where a call leaves them out.
    ranked : whether a binary is for the operands' ranks, too, which then follow the dtypes in its key.
    constants : how many of the last operands are constants: their defaults are arrays, and no call replaces these.
    slots : how many of the last operands before these stand for an extent that the caller may give; -1 if calls are
        not completed by ``_call_sized``.
    """

    # Names are mangled, since subclasses cannot reach the extension's own fields either.
    __slots__ = (
        "__binaries",
        "__by_position",
        "__constants",
        "__observed",
        "__parameters",
        "__ranked",
        "__reports",
        "__scalars",
        "__threads",
        "__value_operands",
        "__weakref__",
    )

    __parameters: tuple[str, tuple[str, ...], tuple[str, ...], tuple[object, ...]]
    __constants: int
    __binaries: dict[bytes, _Binary]
    __ranked: bool
    __threads: int
    __scalars: bool
    __by_position: bool
    __reports: bool
    __observed: bool
    __value_operands: int

    def __init__(
        self,
        name: str,
        operands: tuple[str, ...],
        results: tuple[str, ...],
        defaults: tuple[object, ...] = (),
        ranked: bool = False,
        constants: int = 0,
        slots: int = -1,
    ) -> None:
        if self.__is_initialised():
            raise TypeError("a kernel is initialised once")
        checked = check_signature(name, operands, results, defaults)
        if not 0 <= constants <= len(checked[3]):
            raise TypeError(
                f"{name}() has {constants} constants and {len(checked[3])} defaults; give each constant its value"
            )
        if not -1 <= slots <= len(checked[1]) - constants:
            raise TypeError(f"{name}() has {slots} slots, and fewer operands")
        self.__parameters = checked
        self.__constants = constants
        self.__binaries = {}
        self.__ranked = ranked
        self.__threads = 0
        self.__scalars = True
        self.__by_position = False
        self.__reports = False
        self.__observed = False
        self.__value_operands = 0

    def __is_initialised(self) -> bool:
        try:
            return self.__parameters is not None
        except AttributeError:
            return False

    @property
    def operands(self) -> tuple[str, ...]:
        """Names of the operands that a call gives, in order."""
        names = self.__parameters[1]
        return names[: len(names) - self.__constants]

    @property
    def _constants(self) -> tuple[str, ...]:
        names = self.__parameters[1]
        return names[len(names) - self.__constants :]

    @property
    def results(self) -> tuple[str, ...]:
        """Names of the results, in order."""
        return self.__parameters[2]

    @property
    def threads(self) -> int | None:
        """How many threads a call may take; None if :func:`bcastgen.get_num_threads` decides."""
        return self.__threads or None

    @threads.setter
    def threads(self, threads: int | None) -> None:
        self.__threads = check_threads(threads)

    @property
    def scalars(self) -> bool:
        """Whether results without dims are NumPy scalars; may be set. out=... gives arrays in one call."""
        return self.__scalars

    @scalars.setter
    def scalars(self, wanted: bool) -> None:
        self.__scalars = _checked_bool(wanted)

    @property
    def _outs_by_position(self) -> bool:
        return self.__by_position

    @_outs_by_position.setter
    def _outs_by_position(self, wanted: bool) -> None:
        self.__by_position = _checked_bool(wanted)

    @property
    def _value_operands(self) -> int:
        return self.__value_operands

    @_value_operands.setter
    def _value_operands(self, operands: int) -> None:
        self.__value_operands = operands

    @property
    def _observed(self) -> bool:
        return self.__observed

    @_observed.setter
    def _observed(self, wanted: bool) -> None:
        self.__observed = _checked_bool(wanted)

    @property
    def _reports_errors(self) -> bool:
        return self.__reports

    @_reports_errors.setter
    def _reports_errors(self, wanted: bool) -> None:
        self.__reports = _checked_bool(wanted)

    @property
    def _name(self) -> str:
        return self.__parameters[0]

    @property
    def _defaults(self) -> tuple[object, ...]:
        return self.__parameters[3]

    @with_short_tracebacks
    def __call__(self, /, *args: object, **by_name: object) -> Any:
        """Bind the arguments, broadcast, and return an ndarray, or a tuple where there are several results."""
        if not self.__is_initialised():
            raise TypeError(f"{type(self).__name__} object was not initialised: call super().__init__")
        return call_slow(self, args, by_name)

    def _compile(self, key: bytes) -> bool:
        raise AttributeError(f"{type(self).__name__} has no _compile to make the binary {key!r}")

    def _add_binary(
        self,
        key: bytes,
        address: int,
        operand_codes: bytes,
        result_codes: bytes,
        limits: tuple[Limit | None, ...],
        keepalive: object,
    ) -> None:
        """Register the compiled kernel whose bcg_entry lies at `address`; a key already there is left as it is."""
        entry = ffi().cast("const bcg_kernel *", address)
        found = (entry.abi_version, entry.operands, entry.results)
        check_binary(self, key, operand_codes, result_codes, limits, found, constant("BCG_ABI_VERSION"))
        self.__binaries.setdefault(key, _Binary(entry, result_codes, limits, keepalive))

    def _add_loop(
        self, key: bytes, nest: int, is_staged: bool, stationary: int, address: int, keepalive: object
    ) -> bool:
        """Return False: only the extension adds loops."""
        return False

    def _counts(self) -> list[tuple[bytes, list[tuple[int, bool, int, str, int, int]]]]:
        """Return nothing: only the extension counts."""
        return []

    def _has_binary(self, key: bytes) -> bool:
        return key in self.__binaries

    def _resolve(self, operands: tuple[object, ...]) -> _Binary:
        ranks = bytes(np.asarray(value).ndim for value in operands) if self.__ranked else b""
        key = bytes(map(operand_code, operands)) + ranks
        if key not in self.__binaries:
            self._compile(key)
        if key not in self.__binaries:
            raise_no_binary(self, key)
        binary = self.__binaries[key]
        for operand_index, (value, limit) in enumerate(zip(operands, binary.limits, strict=True)):
            if limit is not None and exceeds(value, limit):
                raise_limit(self, operand_index, value, limit)
        return binary

    def _prepare(
        self, operands: tuple[object, ...]
    ) -> tuple[_Binary, tuple[Array, ...], list[Shape], Any, list[object]]:
        """Return the binary, operands as ndarrays, results' shapes, operands for C, and objects these need alive."""
        binary = self._resolve(operands)
        arrays = tuple(value if isinstance(value, np.ndarray) else np.asarray(value) for value in operands)
        described, rests_on = _describe(arrays)
        shapes = ffi().new("bcg_shape[]", len(self.results))
        why = ffi().new("bcg_diagnostic *", (-1, -1, -1, 0, 0))
        status = runtime().bcg_run_shapes(binary.entry, described, shapes, ffi().NULL, why)
        self._raise_unless_ok(status, why, arrays)
        return binary, arrays, [tuple(shape.extents[0 : shape.rank]) for shape in shapes], described, rests_on

    @with_short_tracebacks
    def result_shape(self, *operand_shapes: object, extents: Any = None) -> Any:
        """Return the shape of the result for operands of these shapes. Nothing is compiled or computed.

        Parameters
        ----------
        operand_shapes : one an operand: a tuple of extents, or an array that has them.
        extents : a dict with the extents that no operand determines, as in a call.

        Returns
        -------
        tuple of int
            A tuple of these where there are several results.

        Raises
        ------
        BroadcastError
            If operands of these shapes do not fit, as in a call.
        """
        return self._result_shape(operand_shapes, extents)

    def _result_shape(self, shapes: tuple[object, ...], extents: Any) -> Any:
        raise AttributeError(f"{type(self).__name__} has no _result_shape")

    def _infer(self, operands: tuple[object, ...]) -> tuple[tuple[Shape, ...], bytes, bool]:
        """Return the results' shapes and dtype codes for clean operands, and whether operands align with results."""
        binary, _, shapes, _, _ = self._prepare(operands)
        return tuple(shapes), binary.result_codes, bool(binary.entry.aligned)

    def _call_clean(self, operands: tuple[object, ...], outs: tuple[Array | None, ...] | None) -> Any:
        """Call with operands and outs that the slow path has cleaned; overlap is not checked here."""
        binary, arrays, shapes, described, rests_on = self._prepare(operands)
        results = tuple(
            _allocate(arrays if binary.entry.aligned else (), shape, code) if out is None else out
            for shape, code, out in zip(shapes, binary.result_codes, outs or (None,) * len(shapes), strict=True)
        )
        targets, rests_on_too = _describe(results)
        why = ffi().new("bcg_diagnostic *", (-1, -1, -1, 0, 0))
        # The caller has probably written to its memory before; memory from NumPy may be fresh.
        warm = outs is not None and not any(out is None for out in outs)
        raised = ffi().new("int32_t *") if self.__reports else ffi().NULL
        options = ffi().new("bcg_run_options *", (self.__threads or get_num_threads(), warm, raised))
        interruption = list[BaseException]()
        pause, ask = _pause(interruption)
        options.pause = pause
        status = runtime().bcg_run(binary.entry, described, targets, options, why)
        del ask
        if interruption:
            raise interruption[0]
        del rests_on, rests_on_too
        self._raise_unless_ok(status, why, operands)
        if self.__reports and raised[0]:
            report(self, raised[0])
        return results if len(results) > 1 else results[0]

    def _raise_unless_ok(self, status: int, why: Any, operands: tuple[Any, ...]) -> None:
        if status == constant("BCG_NO_MEMORY"):
            raise MemoryError
        if status != 0:
            shapes = tuple(np.shape(operand) for operand in operands)
            raise_status(self, status, why.operand, why.dim, why.against, why.expected, why.actual, shapes)


def _pause(interruption: list[BaseException]) -> tuple[Any, Any]:
    """Return what lets signal handlers run during a call, and what must live as long as it."""

    def keep(_kind: object, error: BaseException, _traceback: object) -> int:
        interruption.append(error)
        return 1

    def look(_context: object) -> int:
        return 0  # entering Python is enough: it runs the handlers of signals that have come

    ask = ffi().callback("int32_t(void *)", look, error=1, onerror=keep)
    return ffi().new("bcg_pause *", {"ask": ask}), ask


def _checked_bool(value: bool) -> bool:
    if type(value) is not bool:
        raise TypeError("attribute value type must be bool")
    return value


def _describe(arrays: tuple[Array, ...]) -> tuple[Any, list[object]]:
    """Return `bcg_array[]` for ndarrays, and the objects that must live as long as it."""
    described, rests_on = ffi().new("bcg_array[]", max(len(arrays), 1)), []
    for into, array in zip(described, arrays, strict=False):
        extents, strides = ffi().new("int64_t[]", array.shape), ffi().new("int64_t[]", array.strides)
        into.data = ffi().cast("void *", array.__array_interface__["data"][0])
        into.extents, into.byte_strides, into.rank = extents, strides, array.ndim
        rests_on += [extents, strides]
    return described, rests_on


def _allocate(arrays: tuple[Array, ...], shape: Shape, code: int) -> Array:
    dtype = DTYPES[code].np
    c_order = len(shape) < 2 or all(array.flags.c_contiguous for array in arrays)
    if c_order or math.prod(shape) * dtype.itemsize > sys.maxsize:  # np.empty then raises, in NumPy's words
        return np.empty(shape, dtype)
    strides = k_strides([array.shape for array in arrays], [array.strides for array in arrays], shape, dtype.itemsize)
    made: Array = np.ndarray(shape, dtype, strides=strides)
    return made
