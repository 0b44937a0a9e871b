"""MLIR's index dialect: its ops mean the same as arith's ops on indices, and are read as those.

In: the name of an op.  Out: the op of arith with the same meaning, by name.

    AS_ARITH["index.divs"] -> "arith.divsi"
"""

from __future__ import annotations

__all__ = ["AS_ARITH", "CONSTANTS"]

# LLVM leaves the same results undefined in both dialects: a division by 0, a shift by 64 or more.
AS_ARITH = {
    "index.add": "arith.addi",
    "index.sub": "arith.subi",
    "index.mul": "arith.muli",
    "index.divs": "arith.divsi",
    "index.divu": "arith.divui",
    "index.ceildivs": "arith.ceildivsi",
    "index.ceildivu": "arith.ceildivui",
    "index.floordivs": "arith.floordivsi",
    "index.rems": "arith.remsi",
    "index.remu": "arith.remui",
    "index.maxs": "arith.maxsi",
    "index.maxu": "arith.maxui",
    "index.mins": "arith.minsi",
    "index.minu": "arith.minui",
    "index.shl": "arith.shli",
    "index.shrs": "arith.shrsi",
    "index.shru": "arith.shrui",
    "index.and": "arith.andi",
    "index.or": "arith.ori",
    "index.xor": "arith.xori",
}
CONSTANTS = ("index.constant", "index.bool.constant")
