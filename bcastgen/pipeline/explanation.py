"""The stages of a kernel as a story: what each is, in one sentence, then its text.

In: the text of each stage by name, in order, and the kernel's name in C.  Out: what `bcastgen explain` prints.

    == nest: the loops, and the element of each operand that a point reads; d0|0 is 0 where ...
    nest (d0)
      a : tensor<?xf32>  (d0) -> (d0|0)

A rewrite's text begins with its reason. The C shown is that of the kernel's own functions; of variants that differ in
what they read once for all points, the first.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping

from .stages import MEANINGS, REWRITE

__all__ = ["explain", "own_c", "without_variants"]


def explain(stages: Mapping[str, str], name: str) -> str:
    """Return the text of all stages, each under a heading that says what it is.

    Examples
    --------
    >>> print(explain({"typed": "expr (a: f32)"}, "kernel"))
    == typed: the dtype of every value, by NumPy's rules; conversions are casts
    expr (a: f32)
    """
    shown = {stage: (MEANINGS.get(stage, MEANINGS[REWRITE]), text) for stage, text in stages.items()}
    if "c" in stages:
        front, own = own_c(stages["c"], name)
        left_out = f"{front} lines of types and helpers stand in front (--stage c shows all)"
        if "schedule" in stages:
            shown["schedule"] = (MEANINGS["schedule"], _with_limits(stages["schedule"], stages["c"]))
        shown["c"] = (f"{MEANINGS['c']}; {left_out}" if front else "", without_variants(own).rstrip())
    return "\n\n".join(
        f"== {stage}{': ' if meaning else ''}{meaning}\n{text}" for stage, (meaning, text) in shown.items()
    )


def _with_limits(schedule: str, c: str) -> str:
    """Return a schedule with the number behind each macro that it names, where it first names it."""
    seen: set[str] = set()

    def told(match: re.Match[str]) -> str:
        macro = match[0]
        values = [] if macro in seen else re.findall(rf"^#define {macro} (\S+)$", c, re.MULTILINE)
        seen.add(macro)
        return f"{macro} ({' or, without FMA, '.join(values)})" if values else macro

    return re.sub(r"\bBCG_[A-Z0-9_]+", told, schedule)


def own_c(text: str, name: str) -> tuple[int, str]:
    """Return how many lines of types and helpers a kernel's C begins with, and the C after them: its own functions."""
    # The names of its functions begin with its own; helpers may have parameters that begin with the same letters.
    first = re.search(rf"^static [^\n]*\b{re.escape(name)}_\w+\(", text, re.MULTILINE)
    if first is None:
        return 0, text
    return text[: first.start()].count("\n"), text[first.start() :]


_FUNCTION = re.compile(r"^static void (\w+)\([^{]*\)\n\{\n.*?^\}\n\n", re.MULTILINE | re.DOTALL)
# What a function over rows calls for each row; and an element that is read in front of the loop.
_CALLED = re.compile(r"^ {8}(\w+)\(", re.MULTILINE)
_READ_ONCE = re.compile(r"^    const [^\n]* = [^\n]*\*(\w+)", re.MULTILINE)
_OF_A_LOAD = re.compile(r"\*(\w+)(?=\W*( != 0)?;)")


def without_variants(own: str) -> str:
    """Return a kernel's own functions without variants that only differ from the first in what they read once.

    A comment behind the first says how many are left out, and what each reads once for all points.
    """
    parts: list[tuple[str, str]] = []  # the function that a text is about, and the text
    first: dict[tuple[str, ...], str] = {}
    left_out: dict[str, str] = {}  # by name, what is read once
    of: dict[str, list[str]] = {}
    at = 0
    for found in _FUNCTION.finditer(own):
        name, text = found[1], found[0]
        parts.append(("", own[at : found.start()]))
        at = found.end()
        called = _CALLED.search(text)
        model = first.setdefault(_computed(text), name)
        if model != name:
            left_out[name] = " and ".join(_READ_ONCE.findall(text))
            of.setdefault(model, []).append(name)
        elif called is None or called[1] not in left_out:
            parts.append((name if called is None else called[1], text))
    last = {name: place for place, (name, _) in enumerate(parts)}
    for model, names in of.items():
        once = "; ".join(left_out[name] for name in names)
        said = f"/* {len(names)} more like {model}, with one element for all points of: {once} */"
        name, text = parts[last[model]]
        parts[last[model]] = (name, f"{text}{textwrap.fill(said, 120, subsequent_indent='   ')}\n\n")
    return "".join(text for _, text in parts) + own[at:]


def _computed(function: str) -> tuple[str, ...]:
    """Return the lines of a function's body, sorted: equal for variants, whose loads differ in where they stand."""
    body = _OF_A_LOAD.sub(r"\1[i]", function.partition("\n{\n")[2])
    return tuple(sorted(line.strip() for line in body.splitlines()))
