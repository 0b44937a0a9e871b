"""Constant arrays in standalone C: static data, and a descriptor where a function needs one.

In: arrays, and the operands they are.  Out: :class:`ConstantView` values.

    scale = [0.5, 0.1]  ->  static const float k_data_scale[2] = {
                                0.5f, 0x1.99999ap-4f
                            };
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType
from ..c_text.body import stored_literal
from ..c_text.names import Namer
from .model import ConstantView

__all__ = ["constant_views", "data_lines"]

# Elements per line, and columns beside the indentation.
_PER_LINE, _COLUMNS = 16, 112
_COMMENT, _IDLE_ZEROS = re.compile(r" ?/\*.*?\*/"), re.compile(r"\.?0+p")


def data_lines(values: np.ndarray[Any, Any], dtype: DType) -> tuple[str, ...]:
    """Spell the elements of an array, bit for bit, in rows; the last dim varies fastest.

    Examples
    --------
    >>> from bcastgen.core.dtypes import dtype
    >>> data_lines(np.array([[0.5], [-0.1]], np.float32), dtype("f32")), data_lines(np.array([-1, 2]), dtype("i8"))
    (('0.5f, (-0x1.99999ap-4f)',), ('(-1), 2',))
    """
    texts = (_COMMENT.sub("", stored_literal(value, dtype)) for value in values.ravel().tolist())
    return tuple(_rows(_IDLE_ZEROS.sub("p", text) for text in texts))


def _rows(texts: Iterable[str]) -> Iterable[str]:
    row: list[str] = []
    width = 0
    for text in texts:
        if row and (len(row) == _PER_LINE or width + len(text) > _COLUMNS):
            yield ", ".join(row) + ","
            row, width = [], 0
        row.append(text)
        width += len(text) + 2
    if row:
        yield ", ".join(row)


def constant_views(
    prefix: str,
    operands: Sequence[str],
    names: Sequence[str],
    constants: Sequence[tuple[int, np.ndarray[Any, Any], DType]],
    namer: Namer,
    read: frozenset[str],
) -> tuple[ConstantView, ...]:
    """Return the views of the constants that a nest reads.

    Parameters
    ----------
    prefix : the prefix of names outside of functions. No function's name continues it like these names do.
    operands, names : C names of all operands, and the users' names.
    constants : the number, values and dtype of each constant.
    namer : the kernel's namer.
    read : the C names of the operands whose elements a nest reads.
    """
    views = []
    for at, values, dtype in constants:
        if operands[at] not in read:
            continue
        c_order = np.empty(values.shape, np.uint8).strides
        views.append(
            ConstantView(
                at,
                operands[at],
                names[at],
                dtype.c_in_memory,
                f"{prefix}_data_{operands[at]}",
                f"{prefix}_extents_{operands[at]}",
                f"{prefix}_strides_{operands[at]}",
                namer.take(f"{operands[at]}_array"),
                values.shape,
                tuple(stride * dtype.bytes for stride in c_order),
                values.size,
                data_lines(values, dtype),
            )
        )
    return tuple(views)
