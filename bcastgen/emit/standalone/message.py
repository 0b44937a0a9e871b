"""The sentences of statuses, from which a module's message functions describe a diagnostic.

In: the C of a module.  Out: the statuses that it returns, their sentences as C, and their comments for the header.

    ... return bcg_fail(why, BCG_RANK, 0, ...)   ->   case AXPB_RANK: return "operand '%o' has rank %a, expected %e";

The sentences are those of ``bcg_status.def``, as in Python's errors. A letter stands for each field of a diagnostic:
%o, %g, %d, %e and %a for operand, against, dim, expected and actual, %m for a message of an op's shape function. The
part about `against` is in brackets, since it is left out where there is no such array; "1 or" is in angle brackets, and
left out where 1 is what is expected.
"""

from __future__ import annotations

import textwrap

from ...core.errors import statuses
from ..c_text.names import c_string
from ..c_text.references import names
from ..c_text.wrap import lay_out_comment

__all__ = ["brackets", "cases", "constants", "returned"]

_MAX_COLUMNS = 118
_LETTERS = {"operand": "o", "against": "g", "dim": "d", "expected": "e", "actual": "a", "message": "m"}
_OPERAND, _EXTENT = "operand '{operand}' dim {dim} has extent", "extent '{operand}' is"
# How the header spells the fields of a diagnostic.
_SHOWN = {
    "operand": "o",
    "against": "p",
    "dim": "d",
    "expected": "m",
    "actual": "n",
    "message": "<the op's own message>",
}

# What to do, where the sentence does not say so; what an op's author says is the author's.
_CURES = {
    "RANK": "add or drop dims of extent 1, or emit the kernel with another type",
    "NEGATIVE": "an array without elements has an extent of 0",
    "BROADCAST": "make it equal or 1",
    "EXTENT": "pass that extent, or emit the kernel with another type",
    "RESULT": "allocate what the function ..._shape gives",
    "NULL_DATA": "allocate it",
    "ALIGNMENT": "allocate it as an array of its elements' type",
    "RESULT_RANK": "allocate what the function ..._shape gives",
    "AT_LEAST": "or emit the kernel with another type",
    "AT_MOST": "or emit the kernel with another type",
    "MULTIPLE": "or emit the kernel with another type",
    "STRICT": "pass that extent, or emit the kernel with a type that stretches",
    "RANK_AT_LEAST": "add dims of extent 1 in front",
    "RANK_AT_MOST": "join dims",
    "NULL_EXTENTS": "fill them in, as bcastgen_dense does",
    "NULL_STRIDES": "fill them in, as bcastgen_dense does",
    "STRIDE": "strides are in bytes, not in elements",
    "SPAN": "correct the stride or the extent",
    "REPEATS": "give the result memory of its own, as bcastgen_dense describes it",
    "RESULT_RANK_AT_LEAST": "emit the kernel with another type",
    "COMPUTED": "pass that extent",
    "RESULT_COMPUTED": "allocate what the function ..._shape gives",
    "UNCOUNTABLE": "pass smaller extents",
    "ROW_DATA": "allocate it with aligned_alloc",
    "ROW_STRIDE": "leave room behind each row",
}


def returned(code: str) -> tuple[tuple[str, int], ...]:
    """Return name and value of each status that a text mentions, in the order of their values.

    Examples
    --------
    >>> returned("if (x) return BCG_RANK; return BCG_OK;")
    (('OK', 0), ('RANK', 1))
    """
    mentioned = names(code)
    return tuple((name, value) for value, (name, _) in statuses().items() if not value or f"BCG_{name}" in mentioned)


def cases(returned: tuple[tuple[str, int], ...], macros: str, extents: bool = False) -> str:
    r"""Return the cases of a switch that returns the sentence of each status.

    Parameters
    ----------
    returned : the statuses.
    macros : the prefix of constants.
    extents : whether a kernel of the module takes extents that the caller gives; of one, `is_extent` is true.

    Examples
    --------
    >>> print(cases((("OK", 0), ("NEGATIVE", 2)), "AXPB"))
        case AXPB_OK: return "no error";
        case AXPB_NEGATIVE: return "operand '%o' dim %d has extent %a, expected 0 or more";
    """
    rows = []
    for name, value in returned:
        sentence = statuses()[value][1]
        start = f"    case {macros}_{name}: return "
        if extents and "{subject}" in sentence:
            column = len(start) - len("return ") + 4
            texts = [_broken(_lettered(sentence, subject), column + 2) for subject in (_EXTENT, _OPERAND)]
            place = " " * column
            rows.append(f"{start}is_extent\n{place}? {texts[0]}\n{place}: {texts[1]};")
        else:
            rows.append(f"{start}{_broken(_lettered(sentence, _OPERAND), len(start))};")
    return "\n".join(rows)


def constants(returned: tuple[tuple[str, int], ...], macros: str) -> str:
    """Return the constants of the enum of statuses, each with what it says.

    Examples
    --------
    >>> print(constants((("OK", 0), ("NULL_DATA", 6)), "AXPB"))
        AXPB_OK = 0,       /* no error */
        AXPB_NULL_DATA = 6 /* 'o' has elements, but its data is a null pointer; allocate it */
    """
    starts = [f"    {macros}_{name} = {value}{',' if name != returned[-1][0] else ''}" for name, value in returned]
    width = max(map(len, starts)) + 1
    rows = []
    for start, (name, value) in zip(starts, returned, strict=True):
        text = statuses()[value][1].replace("{subject}", _OPERAND).replace("{origin}", "").replace("{or_one}", "1 or ")
        cure = f"; {_CURES[name]}" if name in _CURES else ""
        comment = lay_out_comment(f"{text.format(**_SHOWN)}{cure} */", " " * width + " * ", "").lstrip(" *")
        rows.append(f"{start:<{width}}/* {comment}")
    return "\n".join(rows)


def brackets(returned: tuple[tuple[str, int], ...]) -> str:
    """Return the kinds of brackets in the sentences of statuses.

    Examples
    --------
    >>> brackets((("OK", 0), ("BROADCAST", 3))), brackets((("OK", 0), ("RANK", 1))), brackets((("OK", 0),))
    ('[<', '[', '')
    """
    texts = "".join(_lettered(statuses()[value][1], "") for _, value in returned)
    return "".join(mark for mark in "[<" if mark in texts)


def _lettered(sentence: str, subject: str) -> str:
    """Return a sentence with a letter for each field, and the parts that are left out at times in brackets."""
    marked = sentence.replace("{subject}", subject).replace("{origin}", "[ (from '{against}')]")
    return marked.replace("{or_one}", "<1 or >").format(**{field: f"%{letter}" for field, letter in _LETTERS.items()})


def _broken(text: str, column: int) -> str:
    """Spell a string literal; break a long one into pieces on several lines."""
    pieces = textwrap.wrap(text, _MAX_COLUMNS - column - 4, break_on_hyphens=False, drop_whitespace=False)
    return f"\n{' ' * column}".join(map(c_string, pieces))
