"""Ops that users define at run time: a name, operands, C, and a dtype rule become a row and a kernel.

In: what :func:`define_op` is given.  Out: a row that ``ops.find_op`` finds, and its :class:`Kernel`.

    define_op("relu", c="x > 0 ? x : 0")  ->  Op("relu", 1, floating, "({T})({0} > 0 ? {0} : 0)", ...)

Errors in the C text are found here or in ``ops.user_c``, so that their messages name the op.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from ..core.dtypes import DTYPES, DType, dtype
from ..core.errors import BcastgenError, DTypeError, ParseError
from ..core.forks import undivided
from ..core.operand_names import operand_names
from ..core.options import names_of
from ..core.source_lines import with_short_tracebacks
from ..emit.c_text.helpers import helper_text
from ..emit.c_text.names import is_word_of_c
from ..expr.compositions import COMPOSITIONS
from ..expr.reductions import FUNCTIONS
from ..kernel.identity import same_definition
from ..kernel.kernel import Kernel
from ..kernel.op_shape_function import result_dtype, shape_program
from ..ops.dtype_rules import RULES, Converted, Rule, Types, by_function, by_signatures, refuse
from ..ops.maps import element_operands, read_maps, value_types
from ..ops.row import Definition, Op
from ..ops.table import DEFINED, SEVERAL, find_op
from ..ops.user_c import Prelude, check_text, check_words, placed, read_prelude, unknown_words
from ..shape.dialect.erase import without_element_types
from .functions import check_names
from .op_kernels import op_kernel

if TYPE_CHECKING:
    from ..shape.dialect.program import Program

__all__ = ["define_op", "defined_kernel"]

# C expressions, each with the name of its dtype or kind ("" for all); and the function that makes a row's C of them.
Texts = tuple[tuple[str, str], ...]
Template = Callable[[tuple[DType, ...], DType], str]

_KINDS = {"signed": ("signed",), "unsigned": ("unsigned",), "float": ("float",), "integer": ("signed", "unsigned")}
_MOST_OPERANDS = 1_000
_kernels: dict[str, tuple[Op, Kernel]] = {}
# Ops of pickles whose names have other definitions here.
_arrived: list[Op] = []


@with_short_tracebacks
def define_op(
    name: str,
    operands: str | int | Sequence[str] | None = None,
    *,
    c: str | Mapping[str, str],
    dtypes: str | Callable[..., Any] = "same float",
    prelude: str = "",
    reference: Callable[..., Any] | None = None,
    doc: str = "",
    ulp: int = 0,
    shape: Program | str | Callable[..., Any] | None = None,
    maps: Sequence[str] | None = None,
    bound: Program | str | Callable[..., Any] | None = None,
    replace: bool = False,
) -> Kernel:
    """Define an element-wise op by its C, and return it as a kernel.

    From then on it is an op like those of the table: the kernel can be called, also inside functions that are traced;
    text may name it (``bg.evaluate("softclip(a) + b")``); `bcastgen ops` lists it; tracing maps a NumPy ufunc of its
    name to it. It broadcasts as every op does, and each operand is evaluated once per element, however often the C
    names it.

    Parameters
    ----------
    name : a new one: not an op of the table, a dtype, or a word of C or Python.
    operands : names (``"x, low, high"``), or how many (called a, b, c, ...); by default the names in `c`, in order.
    c : one C11 expression over the operands' names, without side effects: numbers, operators, casts, functions of
        <math.h>. The operands have the dtypes that the rule converts them to, and the value is converted to the
        result's by a cast. One for each dtype or kind of the first operand, where they differ: ``{"f32": ..., "f64":
        ..., "integer": ...}``; kinds are bool, signed, unsigned, integer, float. ``{f}`` is the suffix of float's
        functions and literals (``tanh{f}(0.5{f} * x)``), ``{T}`` the result's type, ``{t}`` the first operand's
        dtype (``bcg_tanh_{t}(x)`` is the table's own tanh, which may be faster than the C library's). For f16 and bf16
        all three are those of f32, and f32's expression is used where these have none of their own: the operands are
        then floats, and the value is rounded once.
    dtypes : the dtypes that the op takes, computes in and returns. The name of a rule: ``"same"``: the dtype that the
        operands promote to; ``"same number"``: that but no bool; ``"same integer"``: that but no float; ``"same
        float"``: floats, integers converted as NumPy's functions do; ``"to bool"``: as same, but returns bool;
        ``"logical"``: bools; ``"select"``: a bool, then as same. Or a table of signatures, ``"f32,f32->f32;
        f64,f64->f64"``: the signature that fits exactly is taken, else the first that loses nothing. Or a pure function
        that takes one ``numpy.dtype`` per operand and returns the result's, or a tuple of the operands' and the
        result's, or raises TypeError.
    prelude : C functions and constants that `c` uses, each ``static``, as in ``static float knee(float x) { ... }``.
        In a kernel's C they are renamed.
    reference : a pure function of NumPy scalars. It folds constants, and the interpreter of nests and tests use it;
        without one only the C defines the op, so no constants are folded.
    doc : one sentence, for `bcastgen ops` and ``help``.
    ulp : how many units in the last place the C may be off the reference; 0 for none.
    shape : a shape function, for an op that does not just broadcast: a program of the shape dialect
        (:mod:`bcastgen.shape`), its MLIR text (one function, or one called main), or the Python function that writes
        one, from the operands' shapes to the result's. Its checks fail with its own messages, and with the line and
        column of a text. Kernels and text may use such an op as any other; it is fused with the ops around it. The
        shapes it gets are those of its operands' values, after their own broadcasting.
    maps : with `shape`, one indexing map per operand, as in ``"(d0, d1) -> (d1, d0|0, 0)"``: for each dim of the
        operand, the result's dim that it is. ``d1`` has the extent of the result's dim 1; ``d0|0`` has that of dim 0,
        or has extent 1 and stretches; ``0`` has extent 1. An operand of integers that decide the result's extents, and
        that `c` does not name, has the type of its values in the shape function instead of a map: ``"index"`` for an
        integer, ``"tensor<?xindex>"`` or ``"tensor<2xindex>"`` for a list of integers, ``"!shape.value_shape"`` for an
        array whose integers are asked for by ``value_of`` or ``value_as_shape``. A call reads these values once, before
        anything else.
        A shape function may also take the element types of operands with maps, as parameters ``a_type`` behind the
        operands; it then returns the shape, and the element type of the result, which replaces what `dtypes` says of
        it. `dtypes` still says what operands are converted to.
    bound : with `shape`, for extents that values decide: a shape function of the operands that have maps alone, whose
        result no shape exceeds. A call whose shape exceeds it is refused. `result_shape` gives it where the values are
        None, and a call takes an ``out=`` of that shape, writes its first part, and returns that part.
    replace : whether the name may already have another definition. Kernels made before keep the old one.

    Returns
    -------
    Kernel
        A kernel like ``bg.add``. The same definition again gives the same kernel.

    Raises
    ------
    BcastgenError
        If the name is taken.
    ParseError
        If a name is none, the C is not one expression over the operands, or `dtypes` cannot be read.
    DTypeError
        At a call, for dtypes that the rule does not take or `c` has no expression for.
    CompileError
        At the first call with a tuple of dtypes, if the compiler refuses the C; its output shows the line and the op.

    Notes
    -----
    C's undefined behaviour is undefined here, too: signed overflow (of int, to which small integers promote), division
    by an integer 0, shifts by the width or more, conversion of a float to an integer that cannot hold it. The rows of
    the table guard against these; a user's C has to do so itself, or compute in unsigned types (``{W}`` is one that is
    wide enough for the first operand's dtype and wraps).

    Examples
    --------
    >>> import numpy as np
    >>> softclip = define_op("softclip", "x", c="x < -1 ? -1 : x > 1 ? 1 : x", doc="Limit to [-1, 1].")
    >>> softclip(np.array([-3.0, 0.5, 3.0]))
    array([-1. ,  0.5,  1. ])
    >>> from bcastgen import evaluate
    >>> evaluate("softclip(a) + b", {"a": np.array([-3.0, 0.5]), "b": np.array([[0.0], [10.0]])})
    array([[-1. ,  0.5],
           [ 9. , 10.5]])
    >>> import bcastgen as bg
    >>> less = define_op("each_less_all", "x, y, z", c="x - y + z", shape=lambda x, y, z: bg.shape.concat(x, y),
    ...                  maps=["(i, j) -> (i)", "(i, j) -> (j)", "(i, j) -> (i|0, j|0)"])
    >>> bg.jit(lambda x, y: less(x + 1, y, x[None]) * 2)(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    array([[6., 6.],
           [8., 8.]])
    >>> copies = define_op("copies", "x, count", c="x", maps=["(d0, d1) -> (d1)", "index"],
    ...                    shape=lambda x, count: bg.shape.concat(bg.shape.from_extents(count), x))
    >>> copies(np.array([1.0, 2.0]), 3)
    array([[1., 2.],
           [1., 2.],
           [1., 2.]])
    """
    _check_name(name)
    texts = _texts(name, c)
    helpers = read_prelude(name, prelude)
    names = _operand_names(name, operands, [text for _, text in texts], [helper for helper, _ in helpers])
    if (shape is None) != (maps is None):
        raise BcastgenError(f"{name}: shape= and maps= go together; give both, or neither for plain broadcasting")
    if maps is not None:
        read_maps(name, maps, len(names))
    places = None if maps is None else tuple(maps)
    every, names = names, names if places is None else element_operands(names, places)
    for _, text in texts:
        check_words(name, text, names, helpers)
    if not isinstance(ulp, int) or ulp < 0:
        raise ParseError(f"{name}: ulp={ulp!r} is no number of units in the last place; give 0 or more")
    if reference is not None:
        _check_arity(name, "reference", reference, len(names))
    whole = None if shape is None or places is None else shape_program(name, shape, every, value_types(places), names)
    sized = None if whole is None else without_element_types(whole)
    typed = None if sized is None or whole is None or len(sized.results) == len(whole.results) else whole
    if bound is not None and sized is None:
        raise BcastgenError(f"{name}: bound= limits what shape= gives; give shape= and maps=, too")
    limit = None if bound is None else shape_program(name, bound, names)
    definition = Definition(every, texts, dtypes, prelude, str(doc), ulp, reference, sized, places, limit, typed)
    return defined_kernel(DEFINED.add(_row(name, definition), replace))


def _row(name: str, definition: Definition) -> Op:
    """Return the row of a definition that has been checked."""
    every, texts, places = definition.operands, definition.c, definition.maps
    names = every if places is None else element_operands(every, places)
    helpers = read_prelude(name, definition.prelude)
    template = _template(name, texts, names, helpers)
    return Op(
        name,
        len(every),
        _rule(name, definition, names, template),
        template,
        definition.doc or "Defined at run time.",
        ulp=definition.ulp,
        reference=definition.reference,
        definition=definition,
        prelude=helpers,
    )


def arrived_op(name: str, definition: Definition) -> Op:
    """Return the row of an op that a pickle holds; from then on text may name it, too, if the name was free.

    Equal definitions give one row. If the name has another definition here, the op of the pickle keeps its own, as
    kernels keep theirs that were made before an op was replaced.
    """
    with undivided:
        known = [op for op in (DEFINED.rows.get(name), *_arrived) if op is not None and op.name == name]
        for op in known:
            if op.definition is not None and same_definition(op.definition, definition):
                return op
        _check_name(name)
        op = _row(name, definition)
        if name in DEFINED.rows:
            _arrived.append(op)
            return op
        return DEFINED.add(op, False)


def arrived_kernel(name: str, definition: Definition) -> Kernel:
    """Return the kernel of an op that a pickle holds."""
    op = arrived_op(name, definition)
    return defined_kernel(op) if DEFINED.rows.get(name) is op else _kernel_of(op)


DEFINED.remake = arrived_op


def defined_kernel(op: Op) -> Kernel:
    """Return the one kernel of an op that was defined at run time."""
    with undivided:
        known, kernel = _kernels.get(op.name, (None, None))
        if known is not op or kernel is None:
            kernel = _kernel_of(op)
            _kernels[op.name] = (op, kernel)
        return kernel


def _kernel_of(op: Op) -> Kernel:
    kernel = op_kernel(op)
    kernel._recipe = arrived_kernel, (op.name, op.definition)
    return kernel


# ---- names -----------------------------------------------------------------------------------------------------------


def _check_identifier(what: str, name: object) -> None:
    if not isinstance(name, str) or not name.isascii() or not name.isidentifier() or name.startswith("_"):
        raise ParseError(f"{what} {name!r} is no plain name; use letters, digits and _, with a letter in front")
    if iskeyword(name) or is_word_of_c(name):
        raise ParseError(f"{what} {name!r} is a word of {'Python' if iskeyword(name) else 'C'}; choose another")


def _check_name(name: str) -> None:
    _check_identifier("the op's name", name)
    known = find_op(name)
    if known is not None and known.definition is None:
        alias = "" if known.name == name else f" (another name of {known.name})"
        raise BcastgenError(f"{name} is an op of the table{alias}, which cannot be redefined; choose another name")
    if name in {*SEVERAL, *COMPOSITIONS, *FUNCTIONS}:
        raise BcastgenError(f"{name} is a function of bcastgen, which cannot be redefined; choose another name")
    if any(name in (row.name, row.numpy) for row in DTYPES):
        raise BcastgenError(f"{name} is a dtype, and {name}(x) a conversion to it; choose another name")


def _operand_names(
    op: str, given: str | int | Sequence[str] | None, texts: Sequence[str], own: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of a new op's operands: those given, or the unknown words of its C in order."""
    match given:
        case None:
            names = tuple(dict.fromkeys(word for text in texts for word in unknown_words(text, own)))
        case int() if given > _MOST_OPERANDS:
            raise ParseError(f"{op}: operands={given}, expected at most {_MOST_OPERANDS}")
        case int():
            names = operand_names(given)
        case str():
            names = tuple(given.replace(",", " ").split())
        case _:
            names = tuple(given) if isinstance(given, (list, tuple)) else names_of("operands", given)
    if not names:
        raise ParseError(f"{op} has no operands; name at least one, and use it in c=")
    for name in names:
        _check_identifier(f"{op}: the operand's name", name)
    check_names(names, ParseError)
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise ParseError(f"{op}: two operands are called {twice[0]!r}; give each a name of its own")
    return names


def _check_arity(op: str, what: str, function: Callable[..., Any], arity: int) -> None:
    if not callable(function):
        raise ParseError(f"{op}: {what}={function!r} is no function of {arity} operands")
    try:
        parameters = signature(function)
    except (TypeError, ValueError):
        # A function written in C may have no signature.
        return
    try:
        parameters.bind(*range(arity))
    except TypeError as error:
        raise ParseError(
            f"{op} has {arity} operands, which {what}= does not take ({error}); give both the same"
        ) from None


# ---- C ---------------------------------------------------------------------------------------------------------------


def _texts(op: str, c: str | Mapping[str, str]) -> Texts:
    """Return the C expressions, each with the name of its dtype or kind, or "" for all."""
    if not isinstance(c, (str, Mapping)) or not c:
        raise ParseError(f"{op}: c={c!r} is no C expression; give text, or a mapping of dtypes or kinds to text")
    if isinstance(c, str):
        check_text(op, c)
        return (("", c.strip()),)
    found: dict[str, str] = {}
    for key, text in c.items():
        try:
            name = key if key in _KINDS else dtype(key).name
        except DTypeError:
            kinds = ", ".join(("bool", *_KINDS))
            raise ParseError(f"{op}: c has {key!r}, which is no dtype and no kind; the kinds are {kinds}") from None
        if name in found:
            raise ParseError(f"{op}: c has {name} twice; give one expression for it")
        check_text(op, text)
        found[name] = text.strip()
    return tuple(found.items())


def _choose(texts: Texts, loop: DType) -> str | None:
    """Return a dtype's own expression, else that of the dtype it is computed in, of its kind, or of all; or None."""
    by_key = dict(texts)
    kinds = [kind for kind, members in _KINDS.items() if loop.kind in members]
    return next((by_key[key] for key in (loop.name, loop.computed_in.name, *kinds, "") if key in by_key), None)


def _template(op: str, texts: Texts, names: tuple[str, ...], prelude: Prelude) -> Template:
    """Return the function that makes the row's C: operands by place, and the value cast to the result's type."""
    by_text = {text: f"({{T}})({placed(op, text, names, prelude)})" for _, text in texts}

    def template(operands: tuple[DType, ...], _result: DType) -> str:
        text = _choose(texts, operands[0])
        assert text is not None, "the rule has refused these dtypes"
        return by_text[text]

    return template


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def _rule(op: str, definition: Definition, names: tuple[str, ...], template: Template) -> Rule:
    """Return the row's dtype rule: the given one, which also refuses dtypes that there is no C for.

    A shape function of element types says the result's, from those that operands have before they are converted.
    """
    given, texts, typed = _given_rule(op, definition.dtypes, len(names)), definition.c, definition.typed

    def rule(name: str, operands: Types) -> Converted:
        loops, result = given(name, operands)
        if typed is not None:
            own = (one if isinstance(one, DType) else loop for one, loop in zip(operands, loops, strict=True))
            result = result_dtype(name, typed, dict(zip(names, own, strict=True)))
        if _choose(texts, loops[0]) is None:
            keys = ", ".join(key for key, _ in texts)
            raise refuse(name, operands, f"it has no C for {loops[0]}, only for {keys}; add it, or use .astype(...)")
        code = Op(name, len(names), given, template, "").c_for(loops, result)
        for word in re.findall(r"\bbcg_(?!user)\w+", code):
            if f"{word}(" not in helper_text(word):
                raise refuse(name, operands, f"its C calls {word}, which bcastgen does not have for these dtypes")
        return loops, result

    return rule


def _given_rule(op: str, dtypes: str | Callable[..., Any], arity: int) -> Rule:
    if not isinstance(dtypes, str):
        _check_arity(op, "dtypes", dtypes, arity)
        return by_function(dtypes, arity)
    if dtypes == "select" and arity < 2:
        raise ParseError(f"{op}: the rule 'select' takes a bool and what is chosen from; the op has one operand")
    return RULES[dtypes] if dtypes in RULES else by_signatures(op, dtypes, arity)
