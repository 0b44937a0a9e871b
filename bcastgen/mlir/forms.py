"""The custom forms of ops that are read: one table, each row an op's syntax as steps from left to right.

In: an op's name.  Out: its :class:`Form`, whose steps read what stands behind the name into a draft.

    tosa.clamp %x min_val(-1.0 : f32) {nan_mode = IGNORE} : (T) -> T     operands, clauses, attributes, ":" function
    shape.add %a, %b : !shape.size, !shape.size -> !shape.size           operands, attributes, ":" types "->" types

Defaults that only the generic form spells out (``nan_mode``, ``overflowFlags``) are not added.
Ops of TOSA that are element-wise are written alike in all versions, so any op of that dialect is tried that way. Ops
of the shape dialect, and of arith beside them, have the syntax their row says in :mod:`..shape.dialect.ops`; only what
such a row calls "custom" has steps of its own here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ..shape.dialect.arithmetic import COMPARISONS
from ..shape.dialect.ops import ROWS
from ..shape.dialect.row import Row
from ..shape.dialect.types import Type as ShapeType
from .ir import Block, Dense, DialectAttribute, FunctionType, Keyword, Number, Operation, Type
from .types import extents_of

if TYPE_CHECKING:
    from .operations import Draft, Operations

__all__ = ["Form", "find_form"]

Step: TypeAlias = "Callable[[Operations, Draft], None]"


@dataclass(frozen=True, slots=True)
class Form:
    """A custom form: its steps, and the op's full name where the text may have a short one."""

    steps: tuple[Step, ...]
    name: str | None = None


def find_form(name: str) -> Form | None:
    """Return the custom form of an op, or None if it is not read.

    Examples
    --------
    >>> find_form("return").name, find_form("linalg.generic")
    ('func.return', None)
    """
    return _FORMS.get(name, _TOSA if name.startswith("tosa.") else None)


# ---- steps


def _operands(reader: Operations, draft: Draft) -> None:
    reader.uses(draft)


def _attributes(reader: Operations, draft: Draft) -> None:
    if reader.lexer.kind == "{":
        reader.dictionary(draft)


def _tosa_attributes(reader: Operations, draft: Draft) -> None:
    # nan_mode = IGNORE stands for #tosa.nan_mode<IGNORE> there.
    if reader.lexer.kind == "{":
        reader.dictionary(draft, words=True)
        for name, value in draft.attributes.items():
            if isinstance(value, Keyword):
                draft.attributes[name] = DialectAttribute(f"tosa.{name}", value.name)


def _clauses(reader: Operations, draft: Draft) -> None:
    """Read ``min_val(-1.0 : f32) nan_mode<IGNORE>``, which versions after 22 write for attributes."""
    lexer = reader.lexer
    while lexer.kind == "word":
        name, start = lexer.text, lexer.start
        if name in draft.attributes:
            raise lexer.fail(f"the attribute '{name}' is there twice", start)
        lexer.advance()
        if lexer.kind == "<":
            draft.attributes[name] = DialectAttribute(f"tosa.{name}", lexer.balanced())
        elif lexer.take("("):
            draft.attributes[name] = reader.attributes.parse()
            lexer.expect(")")
        else:
            raise lexer.unexpected(f"'(' or '<' behind '{name}'")


def _function(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(":")
    draft.operand_types = reader.types.parenthesised()
    reader.lexer.expect("->")
    draft.result_types = reader.types.results()


def _operand_types(reader: Operations, draft: Draft) -> None:
    if draft.operands or reader.lexer.kind == ":":
        reader.lexer.expect(":")
        # MLIR prints `shape.from_extents :` where there are none.
        draft.operand_types = reader.types.several() if draft.operands else []


def _arrow(reader: Operations, draft: Draft) -> None:
    _operand_types(reader, draft)
    reader.lexer.expect("->")
    draft.result_types = reader.types.results()


def _one_type(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(":")
    draft.result_types = [reader.types.parse()]
    draft.operand_types = draft.result_types * len(draft.operands)


def _to_type(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(":")
    draft.operand_types = [reader.types.parse()]
    if not reader.lexer.take_word("to"):
        raise reader.lexer.unexpected("'to'")
    draft.result_types = [reader.types.parse()]


def _comma(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(",")


def _flags(word: str, attribute: str) -> Step:
    """Read ``overflow<nsw>``."""

    def step(reader: Operations, draft: Draft) -> None:
        if reader.lexer.take_word(word):
            if reader.lexer.kind != "<":
                raise reader.lexer.unexpected(f"'<' behind '{word}'")
            body = ", ".join(part.strip() for part in reader.lexer.balanced().split(","))
            draft.attributes[attribute] = DialectAttribute(f"arith.{word}", body)

    return step


def _results(*kinds: str) -> Step:
    """Give results the types that go without saying."""
    texts = [str(ShapeType(kind)) for kind in kinds]  # type: ignore[arg-type]

    def step(reader: Operations, draft: Draft) -> None:
        draft.result_types = [reader.types.named(text) for text in texts]

    return step


def _operands_are(kind: str) -> Step:
    text = str(ShapeType(kind))  # type: ignore[arg-type]

    def step(reader: Operations, draft: Draft) -> None:
        draft.operand_types = [reader.types.named(text)] * len(draft.operands)

    return step


def _string(attribute: str) -> Step:
    def step(reader: Operations, draft: Draft) -> None:
        if reader.lexer.kind != "string":
            raise reader.lexer.unexpected("a string")
        draft.attributes[attribute] = reader.attributes.string()

    return step


def _error(reader: Operations, draft: Draft) -> None:
    if reader.lexer.take(","):
        if not reader.lexer.take_word("error"):
            raise reader.lexer.unexpected("'error'")
        reader.lexer.expect("=")
        _string("error")(reader, draft)


def _constant(reader: Operations, draft: Draft) -> None:
    start = reader.lexer.start
    value = reader.attributes.parse()
    if isinstance(value, Number) and value.type is None:
        value = Number(value.value, reader.types.named("f64" if isinstance(value.value, float) else "i64"))
    if not isinstance(value, Number | Dense) or value.type is None:
        raise reader.lexer.fail("expected a number or a dense literal", start)
    draft.attributes["value"] = value
    draft.result_types = [value.type]


def _size(reader: Operations, draft: Draft) -> None:
    draft.attributes["value"] = Number(reader.attributes.integer(), reader.types.named("index"))


def _witness(reader: Operations, draft: Draft) -> None:
    if reader.lexer.text not in ("true", "false"):
        raise reader.lexer.unexpected("'true' or 'false'")
    draft.attributes["passing"] = reader.attributes.parse()


def _extents(reader: Operations, draft: Draft) -> None:
    lexer = reader.lexer
    start = lexer.start
    lexer.expect("[")
    extents = []
    if lexer.kind != "]":
        extents.append(reader.attributes.integer())
        while lexer.take(","):
            extents.append(reader.attributes.integer())
    lexer.expect("]")
    lexer.expect(":")
    draft.result_types = [reader.types.parse()]
    shaped = extents_of(draft.result_types[0].text)
    if shaped is not None and shaped[0] != (len(extents),):
        raise lexer.fail(f"{len(extents)} extents are no value of type {draft.result_types[0]}", start)
    values = np.array(extents, np.int64)
    draft.attributes["shape"] = Dense(
        reader.types.extents(len(extents)), values[:1].reshape(()) if len(set(extents)) == 1 else values
    )


def _predicate(reader: Operations, draft: Draft) -> None:
    lexer = reader.lexer
    if lexer.text not in COMPARISONS:
        raise lexer.unexpected(f"one of {', '.join(COMPARISONS)}")
    # They are listed in the order of their numbers.
    draft.attributes["predicate"] = Number(list(COMPARISONS).index(lexer.text), reader.types.named("i64"))
    lexer.advance()
    lexer.expect(",")


def _truths(reader: Operations, draft: Draft) -> None:
    _one_type(reader, draft)
    draft.result_types = [reader.types.truths(draft.result_types[0])]


def _select_types(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(":")
    types = reader.types.several()
    if len(types) > 2:
        raise reader.lexer.unexpected("at most two types")
    condition = types[0] if len(types) == 2 else reader.types.i1
    draft.operand_types, draft.result_types = [condition, types[-1], types[-1]], [types[-1]]


def _some(most: int) -> Step:
    """Read so many operands and not the comma behind them."""

    def step(reader: Operations, draft: Draft) -> None:
        reader.uses(draft, most)

    return step


def _tensor_dim(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(":")
    index = reader.types.named("index")
    draft.operand_types, draft.result_types = [reader.types.parse(), index], [index]


def _tensor_rank(reader: Operations, draft: Draft) -> None:
    reader.lexer.expect(":")
    draft.operand_types, draft.result_types = [reader.types.parse()], [reader.types.named("index")]


def _tensor_extract(reader: Operations, draft: Draft) -> None:
    reader.uses(draft, 1)
    reader.lexer.expect("[")
    reader.uses(draft)
    reader.lexer.expect("]")
    _attributes(reader, draft)
    type_, element = _tensor_type(reader)
    draft.operand_types = [type_, *[reader.types.named("index")] * (len(draft.operands) - 1)]
    draft.result_types = [element]


def _tensor_elements(reader: Operations, draft: Draft) -> None:
    type_, element = _tensor_type(reader)
    draft.operand_types, draft.result_types = [element] * len(draft.operands), [type_]


def _tensor_type(reader: Operations) -> tuple[Type, Type]:
    """Read ``: tensor<...>``, and return the type and its elements'."""
    reader.lexer.expect(":")
    start = reader.lexer.start
    type_ = reader.types.parse()
    shaped = extents_of(type_.text)
    if shaped is None:
        raise reader.lexer.fail(f"type {type_} is no tensor", start)
    return type_, reader.types.named(shaped[1])


def _assuming(reader: Operations, draft: Draft) -> None:
    if reader.lexer.take("->"):
        draft.result_types = reader.types.results()
    block = reader.region()
    # Its terminator goes without saying where it has no operands.
    if not block.operations or block.operations[-1].name != "shape.assuming_yield":
        location = reader.lexer.location(draft.start)
        ending = Operation("shape.assuming_yield", (), (), {}, (), location)
        block = Block(block.arguments, (*block.operations, ending))
    draft.regions.append(block)


def _reduce(reader: Operations, draft: Draft) -> None:
    lexer = reader.lexer
    lexer.expect("(")
    reader.uses(draft)
    lexer.expect(")")
    lexer.expect(":")
    shape = reader.types.parse()
    if lexer.take("->"):
        draft.result_types = reader.types.results()
    draft.operand_types = [shape, *draft.result_types]
    draft.regions.append(reader.region())


def _name(reader: Operations, draft: Draft) -> None:
    draft.attributes["sym_name"] = reader.attributes.symbol_name()


def _keyword_attributes(reader: Operations, draft: Draft) -> None:
    if reader.lexer.take_word("attributes"):
        if reader.lexer.kind != "{":
            raise reader.lexer.unexpected("'{' behind 'attributes'")
        reader.dictionary(draft)


def _module(reader: Operations, draft: Draft) -> None:
    if reader.lexer.kind == "symbol":
        _name(reader, draft)
    _keyword_attributes(reader, draft)
    draft.regions.append(reader.region(isolated=True))


def _func(reader: Operations, draft: Draft) -> None:
    lexer = reader.lexer
    if lexer.kind == "word" and lexer.text in ("private", "public", "nested"):
        draft.attributes["sym_visibility"] = lexer.text
        lexer.advance()
    _name(reader, draft)
    arguments, types = _signature(reader)
    results = _signature_results(reader) if lexer.take("->") else []
    draft.attributes["function_type"] = FunctionType(tuple(types), tuple(results))
    _keyword_attributes(reader, draft)
    if lexer.kind != "{":
        draft.regions.append(Block((), ()))
        return
    if len(arguments) != len(types):
        raise lexer.fail("a function with a body has a name for each operand: (%a: i32)")
    draft.regions.append(reader.region(True, arguments))
    if not draft.regions[0].operations:
        raise reader.lexer.fail("the body of a function is not empty; it ends in a return", draft.start)


def _signature(reader: Operations) -> tuple[list[tuple[str, int, Type]], list[Type]]:
    """Read ``(%a: T {...}, %b: T)``, or only types."""
    lexer = reader.lexer
    arguments: list[tuple[str, int, Type]] = []
    types: list[Type] = []
    lexer.expect("(")
    while lexer.kind != ")" or types:
        if lexer.kind == "value" or arguments:
            arguments.append(reader.argument())
            types.append(arguments[-1][2])
        else:
            types.append(reader.types.parse())
        _dropped(reader)
        if not lexer.take(","):
            break
    lexer.expect(")")
    return arguments, types


def _signature_results(reader: Operations) -> list[Type]:
    lexer = reader.lexer
    if not lexer.take("("):
        return [reader.types.parse()]
    types: list[Type] = []
    while lexer.kind != ")" or types:
        types.append(reader.types.parse())
        _dropped(reader)
        if not lexer.take(","):
            break
    lexer.expect(")")
    return types


def _dropped(reader: Operations) -> None:
    # Attributes of operands and results say nothing that is used.
    if reader.lexer.kind == "{":
        reader.attributes.dictionary()
    reader.skip_location()


# ---- the table


def _of_row(row: Row) -> Form | None:
    """Return the form that a row's `syntax` stands for."""
    steps: tuple[Step, ...]
    match row.syntax:
        case "arrow":
            steps = (_operands, _attributes, _arrow)
        case "types":
            steps = (_attributes, _operands, _attributes, _operand_types, _results(*_kinds(row)))
        case "first":
            flags = (_flags("overflow", "overflowFlags"),) if row.name in _OVERFLOWING else ()
            steps = (_operands, *flags, _attributes, _one_type)
        case "bare":
            steps = (
                _attributes,
                _operands,
                _attributes,
                _operands_are(row.parameters[0].kinds[0]),
                _results(*_kinds(row)),
            )
        case "generic":
            return None
        case _:
            steps = _CUSTOM[row.name]
    return Form(steps)


def _kinds(row: Row) -> list[str]:
    return [kinds[0] for kinds in row.results or ()]


_OVERFLOWING = ("arith.addi", "arith.subi", "arith.muli")
_CUSTOM: dict[str, tuple[Step, ...]] = {
    "shape.assuming": (_some(1), _operands_are("witness"), _assuming, _attributes),
    "shape.const_shape": (_attributes, _extents),
    "shape.const_size": (_attributes, _size, _results("size")),
    "shape.const_witness": (_attributes, _witness, _results("witness")),
    "shape.cstr_require": (_some(1), _comma, _string("msg"), _attributes, _operands_are("i1"), _results("witness")),
    "shape.join": (_some(2), _error, _attributes, _arrow),
    "shape.reduce": (_reduce, _attributes),
    "arith.constant": (_attributes, _constant),
    "arith.cmpi": (_predicate, _operands, _attributes, _truths),
    "arith.select": (_operands, _attributes, _select_types),
}
_CAST: tuple[Step, ...] = (_operands, _attributes, _to_type)
_MODULE: tuple[Step, ...] = (_module,)
_FUNC: tuple[Step, ...] = (_func,)
_RETURN: tuple[Step, ...] = (_attributes, _operands, _attributes, _operand_types)
_TOSA = Form((_operands, _clauses, _tosa_attributes, _function))
# None: a form of its own that is not read.
_FORMS: dict[str, Form | None] = {
    **dict.fromkeys(
        f"tosa.{name}" for name in "cond_if while_loop yield variable variable_read variable_write".split()
    ),
    **{row.mlir or row.name: _of_row(row) for row in ROWS.values()},
    "arith.index_cast": Form(_CAST),
    "tensor.cast": Form(_CAST),
    "tensor.dim": Form((_operands, _attributes, _tensor_dim)),
    "tensor.extract": Form((_tensor_extract,)),
    "tensor.from_elements": Form((_operands, _attributes, _tensor_elements)),
    "tensor.rank": Form((_operands, _attributes, _tensor_rank)),
    "func.func": Form(_FUNC),
    "func.return": Form(_RETURN),
    "return": Form(_RETURN, "func.return"),
    "builtin.module": Form(_MODULE),
    "module": Form(_MODULE, "builtin.module"),
}
