"""The C helpers a kernel needs, copied from csrc.

In: C text that calls helpers.  Out: their definitions, with what they use themselves, in an order that compiles.

    "const double t0 = bcg_exp_f64(a0);"  ->  "static inline double bcg_exp_f64(double x) { return exp(x); }"

Helpers are copied into generated files, not included: the files compile fast, and show what they use. The headers keep
each definition between blank lines (their contracts say so), which is all this module relies on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ...core.resources import csrc_file
from .references import calls, names

__all__ = ["for_loops", "functions_of", "helper_names", "helper_text"]

# In the order they include each other.
_HEADERS = (
    "bcg_abi.h",
    "bcg_check.h",
    "bcg_message.h",
    "bcg_broadcast.h",
    "bcg_extent.h",
    "bcg_memory.h",
    "bcg_values.h",
    "bcg_odometer.h",
    "bcg_shape_value.h",
    "bcg_shape.h",
    "bcg_index.h",
    "bcg_freestanding.h",
    "bcg_vmath_core.h",
    "bcg_freestanding_math.h",
    "bcg_half.h",
    "bcg_small_float.h",
    "bcg_number.h",
    "bcg_scalar.h",
    "bcg_lanes.h",
    "bcg_tosa.h",
    "bcg_vmath_exp.h",
    "bcg_vmath_hyperbolic.h",
    "bcg_vmath_log.h",
    "bcg_vmath_log1p.h",
    "bcg_vmath_inverse_hyperbolic.h",
    "bcg_vmath_root.h",
    "bcg_vmath_power.h",
    "bcg_vmath_angle.h",
    "bcg_vmath_sin_cos.h",
    "bcg_vmath_tan.h",
    "bcg_vmath_inverse_trig.h",
    "bcg_vmath_erf.h",
    "bcg_vmath_gamma.h",
    "bcg_vmath_special.h",
    "bcg_complex.h",
    "bcg_complex_functions.h",
    "bcg_complex_inverse.h",
)
# The headers with functions of elements, and those of mathematical ones.
_OF_ELEMENTS, _MATHEMATICAL = (
    r"bcg_(?:complex|freestanding_math|half|lanes|number|scalar|small_float|tosa|vmath\w*)\.h",
    r"bcg_vmath_(?!core)\w*\.h",
)
# An innermost `#if` block, which the preprocessor may leave out; and the name of a helper.
_CONDITIONAL, _WORD = re.compile(r"^#if(?:(?!^#if).)*?^#endif", re.MULTILINE | re.DOTALL), re.compile(r"\bbcg_\w+")
_DEFINED = (
    re.compile(r"^static inline [\w ]+?[ *](bcg_\w+)\(", re.MULTILINE),
    re.compile(r"^}\s*(bcg_\w+);", re.MULTILINE),
    re.compile(r"^typedef \w+ \(\*(bcg_\w+)\)", re.MULTILINE),
    re.compile(r"^typedef \w+ (bcg_\w+) __attribute__", re.MULTILINE),
    re.compile(r"^#define (BCG_\w+)", re.MULTILINE),
)


class _Definitions(NamedTuple):
    """The definitions of csrc's headers, in order.

    Attributes
    ----------
    places : name -> the chunk that defines it.
    chunks : their texts.
    functions : header -> the names of its functions.
    """

    places: dict[str, int]
    chunks: tuple[str, ...]
    functions: dict[str, list[str]]


@cache
def _definitions() -> _Definitions:
    """Read all headers, which a first call waits for."""
    places: dict[str, int] = {}
    chunks: list[str] = []
    functions: dict[str, list[str]] = {}
    for header in _HEADERS:
        # Bytes: to open text takes longer than to read it.
        text = csrc_file(header).read_bytes().decode()
        own = functions[header] = []
        # Neither the comment that each header begins with, nor what guards it, defines anything.
        for chunk in text[text.index("*/") :].split("\n\n"):
            function = _function(chunk)
            defined = [function] if function else _types_and_macros(chunk)
            own += [function] if function else []
            for name in defined:
                places[name] = len(chunks)
            if defined:
                chunks.append(chunk.strip("\n"))
    return _Definitions(places, tuple(chunks), functions)


def _function(chunk: str) -> str:
    """Return the name of the function that a chunk defines, or ""."""
    # The search for these words takes a tenth of the time of the pattern's.
    begins = chunk.find("static inline ")
    found = None if begins < 0 else _DEFINED[0].search(chunk, begins)
    return "" if found is None else found[1]


def _types_and_macros(chunk: str) -> list[str]:
    return [name for pattern in _DEFINED[1:] for name in pattern.findall(chunk) if not name.endswith("_H")]


def helper_names() -> tuple[str, ...]:
    """Return the names of all helpers, types and macros, without their prefix."""
    return tuple(name[4:] for name in _definitions().places)


def helper_text(
    used: str,
    given: str = "",
    users: tuple[tuple[str, str], ...] = (),
    spell: Callable[[str], str] | None = None,
) -> str:
    """Return the definitions a text needs, but not those whose names are given, separated by blank lines.

    Parameters
    ----------
    used, given : C texts; only the names in them count.
    users : names and texts of the definitions that come with users' ops, in an order that compiles.
    spell : a function that rewrites definitions before their needs are read.
    """
    places, chunks, _ = _definitions()
    if users:
        places = places | {name: len(chunks) + at for at, (name, _) in enumerate(users)}
        chunks += tuple(text for _, text in users)
    if spell is not None:
        chunks = tuple(map(spell, chunks))
    present = _places(given, places)
    needs: dict[int, set[int]] = {}
    pending = _places(used, places)
    while pending:
        place = pending.pop()
        if place not in needs:
            needs[place] = _places(chunks[place], places)
            pending |= needs[place]
    return "\n\n".join(chunks[place] for place in _ordered(needs) if place not in present)


def _places(text: str, places: dict[str, int]) -> set[int]:
    return {places[name] for name in names(text) if name in places}


def _ordered(needs: dict[int, set[int]]) -> list[int]:
    """Return definitions in csrc's order, but each after those it needs: after `spell`, these may be below it."""
    ordered: dict[int, None] = {}
    entered: set[int] = set()

    def enter(place: int) -> None:
        if place not in entered:
            entered.add(place)
            for need in sorted(needs[place]):
                enter(need)
            ordered[place] = None

    for place in sorted(needs):
        enter(place)
    return list(ordered)


@cache
def functions_of(headers: str) -> frozenset[str]:
    """Return the names of the functions of the headers whose names match a regular expression."""
    found = _definitions().functions
    return frozenset(name for header in found if re.fullmatch(headers, header) for name in found[header])


def for_loops(definitions: str, loops: str, once: bool, all: bool = True) -> str:
    """Return definitions with the attributes by which compilers vectorise the loops that call them, in little time.

    Compilers do not inline large functions that several loops call, and leave the loops scalar. So functions of
    elements become part of each loop (`BCG_INLINE`); but where the schedule says so, mathematical ones are compiled
    once, for whole vectors (`BCG_CALLED`). Functions for elements outside of a common case are never vectorised, and
    stay apart (`BCG_APART`). Functions that are only called inside an `#if` are `BCG_INLINE`, too, so that compilers do
    not warn of unused functions on machines where the `#if` is false.

    Parameters
    ----------
    definitions, loops : C texts.
    once : whether mathematical functions that loops call are compiled once, as the schedule decides.
    all : whether this is done for all functions of elements, or only if some of them are mathematical.
    """
    called = functions_of(_MATHEMATICAL).intersection(calls(loops))
    shared = called if once else frozenset[str]()
    of_elements = functions_of(_OF_ELEMENTS) if all or called else frozenset[str]()
    apart = {name.replace("_near_", "_") for name in of_elements if "_near_" in name}
    unconditional, conditions = f"{definitions}\n{loops}", 1
    while conditions:
        unconditional, conditions = _CONDITIONAL.subn("", unconditional)
    everywhere = Counter(_WORD.findall(unconditional))

    def spelled(found: re.Match[str]) -> str:
        if found[1] in apart or "_far_" in found[1]:
            return found[0].replace("inline", "BCG_APART", 1)
        if found[1] in shared:
            return found[0].replace("inline", "BCG_CALLED", 1)
        # The definition is one occurrence of the name: fewer than two mean that nothing outside of an `#if` calls it.
        inline = found[1] in of_elements or everywhere[found[1]] < 2
        return found[0].replace("inline", "BCG_INLINE", 1) if inline else found[0]

    return _DEFINED[0].sub(spelled, definitions)
