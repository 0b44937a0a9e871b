"""The keywords of NumPy's ufuncs that calls of kernels take, beside their operands and `out`.

In: nothing.  Out: their names, each with the default that it has in a call without it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["KEYWORDS"]

KEYWORDS: dict[str, Any] = {
    "where": True,
    "casting": "same_kind",
    "order": "K",
    "dtype": None,
    "subok": True,
    "signature": None,
}
