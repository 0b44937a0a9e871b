"""The stages of a kernel as a story: what each is, in one sentence, then its text.

In: the text of each stage by name, in order, and the kernel's name in C.  Out: what `bcastgen explain` prints.

    == nest: the loops, and the element of each operand that a point reads; d0|0 is 0 where ...
    nest (d0)
      a : tensor<?xf32>  (d0) -> (d0|0)

A rewrite's text begins with its reason. The C shown is that of the kernel's own functions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

__all__ = ["MEANINGS", "explain", "own_c"]

MEANINGS = {
    "constants": "arrays that are part of the kernel",
    "expression": "what was written",
    "typed": "the dtype of every value, by NumPy's rules; conversions are casts",
    "nest": "the loops, and the element of each operand that a point reads; d0|0 is 0 where the operand's extent is 1",
    "constraints": "what shapes have to fulfil; what is proved costs nothing at run time",
    "shape": "the program that computes the shapes of the results, and nothing else; %a is the shape of a",
    "other_rewrites": "those that found nothing to change",
    "standalone_schedule": "the loops of the C that `bcastgen emit` writes by default; any is any stride",
    "ran": "the loops of all binaries, who asked for them, and what calls ran; patterns without a loop, too",
    "measured": "what calls take beside the least that this machine could; the limit is the longer of the last rows",
    "schedule": "the inner loops; along each, an array is unit (element by element) or zero (one element for all)",
}
# Every other stage is a rewrite, or the C.
_OF_A_REWRITE = (
    "a rewrite: its reason, what it changes (values are numbered as above), and the nests after it, numbered anew"
)


def explain(stages: Mapping[str, str], name: str) -> str:
    """Return the text of all stages, each under a heading that says what it is.

    Examples
    --------
    >>> print(explain({"typed": "expr (a: f32)"}, "kernel"))
    == typed: the dtype of every value, by NumPy's rules; conversions are casts
    expr (a: f32)
    """
    shown = {stage: (MEANINGS.get(stage, _OF_A_REWRITE), text) for stage, text in stages.items()}
    if "c" in stages:
        front, own = own_c(stages["c"], name)
        left_out = f"{front} lines of types and helpers stand in front (--stage c shows them)"
        shown["c"] = (f"the kernel's own functions; {left_out}" if front else "", own.rstrip())
    return "\n\n".join(
        f"== {stage}{': ' if meaning else ''}{meaning}\n{text}" for stage, (meaning, text) in shown.items()
    )


def own_c(text: str, name: str) -> tuple[int, str]:
    """Return how many lines of types and helpers a kernel's C begins with, and the C after them: its own functions."""
    # The names of its functions begin with its own; helpers may have parameters that begin with the same letters.
    first = re.search(rf"^static [^\n]*\b{re.escape(name)}_\w+\(", text, re.MULTILINE)
    if first is None:
        return 0, text
    return text[: first.start()].count("\n"), text[first.start() :]
