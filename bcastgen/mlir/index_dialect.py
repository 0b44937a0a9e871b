"""MLIR's index dialect: its ops mean what arith's mean on indices, and are read as these.

In: the name of an op.  Out: the op of arith with the same meaning, by name.

    AS_ARITH["index.divs"] -> "arith.divsi"
"""

from __future__ import annotations

__all__ = ["AS_ARITH", "CONSTANTS"]

# Where LLVM leaves a result undefined (by 0, a shift by 64 or more) it does so in both dialects.
AS_ARITH = {
    f"index.{name}": f"arith.{other}"
    for name, other in {
        "add": "addi",
        "sub": "subi",
        "mul": "muli",
        "divs": "divsi",
        "divu": "divui",
        "ceildivs": "ceildivsi",
        "ceildivu": "ceildivui",
        "floordivs": "floordivsi",
        "rems": "remsi",
        "remu": "remui",
        "maxs": "maxsi",
        "maxu": "maxui",
        "mins": "minsi",
        "minu": "minui",
        "shl": "shli",
        "shrs": "shrsi",
        "shru": "shrui",
        "and": "andi",
        "or": "ori",
        "xor": "xori",
    }.items()
}
CONSTANTS = ("index.constant", "index.bool.constant")
