"""A module whose loops are compiled for several instruction sets, of which a call takes the best that its machine has.

In: the C of a module that has one.  Out: its parts that are compiled once, and the file that is compiled for each set.

    axpb_domain, axpb_unit, axpb   ->   once: axpb_domain, and an axpb that picks
                                        for each set: axpb_unit_loops_x86_64_v3, axpb_loops_x86_64_v3

The file is included once for each set, and its functions get names of that set. It has the functions that only the
computation of a call uses; the checks of arrays are compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...core.errors import BcastgenError
from ...core.frozen import dataclass
from ..c_text.references import NOT_CODE, names, reached
from .target import TARGETS, Target, find_target

__all__ = ["LEVELS", "SetsView", "ending_of", "endings", "find_sets", "split_by_set"]

# The macros of an instruction set that helpers ask about, and the level of x86-64 from which on it is there.
LEVELS = {
    **dict.fromkeys(("__SSE4_1__",), 2),
    **dict.fromkeys(("__AVX2__", "__F16C__", "__FMA__"), 3),
    **dict.fromkeys(("__AVX512F__", "__AVX512DQ__"), 4),
}
_ASKED = re.compile(rf"\bdefined\b *\(?({'|'.join(LEVELS)})\b\)?")
_FUNCTION = re.compile(r"^(?:[A-Za-z]\w*[ *]+)+(\w+)\(([^;{}]*)\)\s*\{", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Picked:
    """A function that picks: its head, what it returns (nothing if it is void), its name and those of its arguments."""

    head: str
    is_void: bool
    name: str
    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SetsView:
    """The parts of a module of several instruction sets, as templates print them.

    Attributes
    ----------
    sets : beside that of the compiler's flags, the least first.
    once : the helpers that are compiled once.
    bodies : the functions of kernels that are compiled once.
    names : the functions that each set has, but for those that compute.
    text : what is compiled for each set.
    picked : the functions that pick one.
    asks_level : whether this text asks for the level of a set.
    """

    sets: tuple[Target, ...]
    once: str
    bodies: str
    names: tuple[str, ...]
    text: str
    picked: tuple[Picked, ...]
    asks_level: bool

    def ending(self, name: str) -> str:
        """Return what the names of a set's functions end with."""
        return ending_of(name)


def find_sets(given: Sequence[str]) -> tuple[Target, ...]:
    """Return the instruction sets of these names, the least first.

    Raises
    ------
    BcastgenError
        If there is none of a name.

    Examples
    --------
    >>> [row.name for row in find_sets(("x86-64-v4", "x86-64-v3"))]
    ['x86-64-v3', 'x86-64-v4']
    """
    known = [name for name, row in TARGETS.items() if row.level]
    wrong = [name for name in given if name not in known]
    if wrong:
        raise BcastgenError(
            f"targets={wrong[0]!r} is no set that a call can pick; give a tuple of some of {', '.join(known)}"
        )
    return tuple(sorted(map(find_target, set(given)), key=lambda row: row.level))


def ending_of(name: str) -> str:
    """Return what the names of a set's functions end with.

    Examples
    --------
    >>> ending_of("x86-64-v3")
    '_loops_x86_64_v3'
    """
    return f"_loops_{name.replace('-', '_')}"


def endings(sets: Sequence[str]) -> tuple[str, ...]:
    """Return what the names of functions end with: for the baseline (the compiler's flags), and for each of these."""
    return tuple(map(ending_of, ("baseline", *(row.name for row in find_sets(sets))))) if sets else ()


def split_by_set(
    sets: tuple[Target, ...], helpers: str, bodies: str, called: Collection[str], checks: Collection[str]
) -> SetsView:
    """Tell what is compiled for each set from what is compiled once.

    Parameters
    ----------
    sets : the instruction sets.
    helpers, bodies : the C of a module's helpers, and that of its kernels.
    called : the names of the functions that compute, which are those that pick.
    checks : the names of functions that check arrays, which are compiled once.
    """
    of_helpers, of_bodies = (tuple(_definitions(text)) for text in (helpers, bodies))
    functions = {name: text for text in (*of_helpers, *of_bodies) for name in _functions(text)}
    asked = [name for text in of_bodies for name in _functions(text) if not _is_static(text) and name not in called]
    elsewhere = _reached(asked, functions, ())
    own = {name for text in of_bodies for name in _functions(text)}
    per_set = {name for name in _reached(called, functions, checks) if name not in elsewhere or name not in own}
    kept = [text for text in of_helpers if not per_set.issuperset(_functions(text) or ("",)) or _any(text, elsewhere)]
    rest = [text for text in of_bodies if not per_set.intersection(_functions(text))]
    chosen = [text for text in (*of_helpers, *of_bodies) if per_set.intersection(_functions(text))]
    text = "\n\n".join(_of_set(one, called) for one in chosen)
    inner = tuple(name for one in chosen for name in _functions(one) if name not in called)
    picked = tuple(_picked(one, name) for one in of_bodies for name in _functions(one) if name in called)
    return SetsView(sets, "\n\n".join(kept), "\n\n".join(rest), inner, text, picked, "BCG_SET_LEVEL" in names(text))


def _definitions(text: str) -> Iterator[str]:
    """Yield the definitions of a text: what is between blank lines, but no less than a whole function."""
    piece = ""
    for part in text.strip("\n").split("\n\n"):
        piece = f"{piece}\n\n{part}" if piece else part
        bare = NOT_CODE.sub("", piece)
        if bare.count("{") == bare.count("}") and len(re.findall(r"^#if", bare, re.M)) == bare.count("#endif"):
            yield piece.strip("\n")
            piece = ""
    if piece:
        yield piece.strip("\n")


def _functions(text: str) -> tuple[str, ...]:
    return tuple(found[1] for found in _FUNCTION.finditer(NOT_CODE.sub("", text)))


def _is_static(text: str) -> bool:
    return re.search(r"^static ", text, re.MULTILINE) is not None


def _any(text: str, wanted: Collection[str]) -> bool:
    return any(name in wanted for name in _functions(text))


def _reached(roots: Iterable[str], functions: dict[str, str], stop: Collection[str]) -> set[str]:
    """Return the functions that these use, and themselves, without what only those in `stop` lead to."""

    def used(name: str) -> list[str]:
        return [one for one in names(functions[name]) if one in functions and one not in stop]

    return reached((name for name in roots if name in functions), used)


def _of_set(text: str, called: Collection[str]) -> str:
    """Return a definition as each set has it; of `called` only the heads are renamed: operands may have such names."""

    def spelled(found: re.Match[str]) -> str:
        head = found[0].removeprefix("static ")
        return f"static BCG_SET_TARGET {head.replace(f'{found[1]}(', f'BCG_OF_SET({found[1]})(', found[1] in called)}"

    text = _FUNCTION.sub(spelled, text)
    text = _ASKED.sub(lambda found: f"(BCG_SET_LEVEL >= {LEVELS[found[1]]} || defined({found[1]}))", text)
    return re.sub(r"^(#\w+ )\(([^()]*\(\w+\))\)(?=$| \|\|)(?!.*&&)", r"\1\2", text, flags=re.MULTILINE)


def _picked(text: str, name: str) -> Picked:
    (head,) = (one for one in _FUNCTION.finditer(text) if one[1] == name)
    arguments = tuple(re.sub(r"\[[^\]]*\]", "", one).split()[-1].lstrip("*") for one in head[2].split(", "))
    return Picked(head[0].removesuffix("{").rstrip(), head[0].startswith("void "), name, arguments)
