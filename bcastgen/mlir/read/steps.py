"""The steps that read custom forms: operands, attributes, types, regions.

In: the operation being read.  Out: nothing; each step adds to it what it has read.

    operands, attributes, arrow_types    read ``%a, %b {x = 1} : T, T -> T``

Which op consists of which steps is in :mod:`.forms`. Defaults that only the generic form spells out (``nan_mode``,
``overflowFlags``) are not added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...shape.dialect.arithmetic import COMPARISONS
from ...shape.dialect.types import Type as ShapeType
from ..ir import Attribute, Block, Dense, DialectAttribute, Keyword, Number, Operation, Type
from .types import extents_of

if TYPE_CHECKING:
    from .draft import Draft
    from .operations import Operations, Step

__all__ = [
    "affine_map",
    "arrow_types",
    "assuming",
    "attributes",
    "branches",
    "clauses",
    "comma",
    "constant_value",
    "error_clause",
    "extents_value",
    "flags",
    "function_type",
    "index_comparison",
    "one_type",
    "operand_types",
    "operands",
    "operands_are",
    "predicate",
    "reduce",
    "result_type",
    "results_are",
    "select_types",
    "size_value",
    "some_operands",
    "string",
    "tensor_dim",
    "tensor_elements",
    "tensor_extract",
    "tensor_rank",
    "to_type",
    "tosa_attributes",
    "truth_value",
    "truths",
    "witness_value",
]


def operands(reader: Operations, draft: Draft) -> None:
    """Read operands, which may be none."""
    reader.uses(draft)


def attributes(reader: Operations, draft: Draft) -> None:
    """Read attributes in braces, if there are any."""
    if reader.lexer.kind == "{":
        reader.dictionary(draft)


def tosa_attributes(reader: Operations, draft: Draft) -> None:
    """Read attributes in braces, where a bare word stands for an attribute of the dialect."""
    if reader.lexer.kind == "{":
        reader.dictionary(draft, words=True)
        for name, value in draft.attributes.items():
            if isinstance(value, Keyword):
                draft.attributes[name] = DialectAttribute(f"tosa.{name}", value.name)


def clauses(reader: Operations, draft: Draft) -> None:
    """Read attributes as versions after 22 write them: ``min_val(-1.0 : f32) nan_mode<IGNORE>``."""
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
            raise lexer.fail(f"expected ':' or an attribute such as round(true), found '{name}'", start)


def function_type(reader: Operations, draft: Draft) -> None:
    """Read ``: (T, T) -> T``."""
    reader.lexer.expect(":")
    draft.operand_types = reader.types.parenthesised()
    reader.lexer.expect("->")
    draft.result_types = reader.types.results()


def operand_types(reader: Operations, draft: Draft) -> None:
    """Read ``: T, T``, which may be missing if there are no operands."""
    if draft.operands or reader.lexer.kind == ":":
        reader.lexer.expect(":")
        # MLIR prints `shape.from_extents :` for no operands.
        draft.operand_types = reader.types.several() if draft.operands else []


def arrow_types(reader: Operations, draft: Draft) -> None:
    """Read ``: T, T -> T``."""
    operand_types(reader, draft)
    reader.lexer.expect("->")
    draft.result_types = reader.types.results()


def one_type(reader: Operations, draft: Draft) -> None:
    """Read ``: T``, the type of all operands and of the result."""
    reader.lexer.expect(":")
    draft.result_types = [reader.types.parse()]
    draft.operand_types = draft.result_types * len(draft.operands)


def result_type(reader: Operations, draft: Draft) -> None:
    """Read ``: T``, the type of the result alone."""
    reader.lexer.expect(":")
    draft.result_types = [reader.types.parse()]


def to_type(reader: Operations, draft: Draft) -> None:
    """Read ``: T to T``."""
    reader.lexer.expect(":")
    draft.operand_types = [reader.types.parse()]
    if not reader.lexer.take_word("to"):
        raise reader.lexer.unexpected("'to'")
    draft.result_types = [reader.types.parse()]


def comma(reader: Operations, draft: Draft) -> None:
    """Read a comma."""
    reader.lexer.expect(",")


def flags(word: str, attribute: str) -> Step:
    """Return the step that reads ``overflow<nsw>``, if it is there."""

    def step(reader: Operations, draft: Draft) -> None:
        if reader.lexer.take_word(word):
            if reader.lexer.kind != "<":
                raise reader.lexer.unexpected(f"'<' behind '{word}'")
            body = ", ".join(part.strip() for part in reader.lexer.balanced().split(","))
            draft.attributes[attribute] = DialectAttribute(f"arith.{word}", body)

    return step


def results_are(*kinds: str) -> Step:
    """Return the step that gives results the types that the text leaves out."""
    texts = [str(ShapeType(kind)) for kind in kinds]  # type: ignore[arg-type]

    def step(reader: Operations, draft: Draft) -> None:
        draft.result_types = [reader.types.named(text) for text in texts]

    return step


def operands_are(kind: str) -> Step:
    """Return the step that gives operands the type that the text leaves out."""
    text = str(ShapeType(kind))  # type: ignore[arg-type]

    def step(reader: Operations, draft: Draft) -> None:
        draft.operand_types = [reader.types.named(text)] * len(draft.operands)

    return step


def string(attribute: str) -> Step:
    """Return the step that reads a string, the value of an attribute."""

    def step(reader: Operations, draft: Draft) -> None:
        if reader.lexer.kind != "string":
            raise reader.lexer.unexpected("a string")
        draft.attributes[attribute] = reader.attributes.string()

    return step


def error_clause(reader: Operations, draft: Draft) -> None:
    """Read ``, error = "why"``, if it is there."""
    if reader.lexer.take(","):
        if not reader.lexer.take_word("error"):
            raise reader.lexer.unexpected("'error'")
        reader.lexer.expect("=")
        string("error")(reader, draft)


def constant_value(reader: Operations, draft: Draft) -> None:
    """Read a constant's value, whose type is the result's."""
    start = reader.lexer.start
    value = reader.attributes.parse()
    if isinstance(value, Number) and value.type is None:
        value = Number(value.value, reader.types.named("f64" if isinstance(value.value, float) else "i64"))
    if not isinstance(value, Number | Dense) or value.type is None:
        raise reader.lexer.fail("expected a number or a dense literal", start)
    draft.attributes["value"] = value
    draft.result_types = [value.type]


def size_value(reader: Operations, draft: Draft) -> None:
    """Read a number, the value of a constant size."""
    draft.attributes["value"] = Number(reader.attributes.integer(), reader.types.named("index"))


def witness_value(reader: Operations, draft: Draft) -> None:
    """Read ``true`` or ``false``, the value of a constant witness."""
    draft.attributes["passing"] = _truth(reader)


def truth_value(reader: Operations, draft: Draft) -> None:
    """Read ``true`` or ``false``, the value of a constant predicate."""
    draft.attributes["value"] = _truth(reader)


def _truth(reader: Operations) -> Attribute:
    if reader.lexer.text not in ("true", "false"):
        raise reader.lexer.unexpected("'true' or 'false'")
    return reader.attributes.parse()


def extents_value(reader: Operations, draft: Draft) -> None:
    """Read ``[1, 2] : T``, a constant shape."""
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


def predicate(reader: Operations, draft: Draft) -> None:
    """Read a comparison's predicate and the comma behind it."""
    # COMPARISONS are in the order of MLIR's numbers for them.
    draft.attributes["predicate"] = Number(list(COMPARISONS).index(_comparison(reader)), reader.types.named("i64"))
    reader.lexer.expect(",")


def index_comparison(reader: Operations, draft: Draft) -> None:
    """Read ``slt(%a, %b)``."""
    draft.attributes["pred"] = DialectAttribute("index", f"cmp_predicate {_comparison(reader)}")
    reader.lexer.expect("(")
    reader.uses(draft)
    reader.lexer.expect(")")


def affine_map(reader: Operations, draft: Draft) -> None:
    """Read ``#map(%i)[%n]``, or the map itself instead of its name: the operands are dims, then symbols."""
    draft.attributes["map"] = reader.attributes.parse()
    reader.lexer.expect("(")
    reader.uses(draft)
    reader.lexer.expect(")")
    if reader.lexer.take("["):
        reader.uses(draft)
        reader.lexer.expect("]")
    index = reader.types.named("index")
    draft.operand_types, draft.result_types = [index] * len(draft.operands), [index]


def _comparison(reader: Operations) -> str:
    name = reader.lexer.text
    if name not in COMPARISONS:
        raise reader.lexer.unexpected(f"one of {', '.join(COMPARISONS)}")
    reader.lexer.advance()
    return name


def truths(reader: Operations, draft: Draft) -> None:
    """Read ``: T``, the type of the compared operands."""
    one_type(reader, draft)
    draft.result_types = [reader.types.truths(draft.result_types[0])]


def select_types(reader: Operations, draft: Draft) -> None:
    """Read ``: T`` or ``: C, T``, where C is the type of several conditions."""
    reader.lexer.expect(":")
    types = reader.types.several()
    if len(types) > 2:
        raise reader.lexer.unexpected("at most two types")
    condition = types[0] if len(types) == 2 else reader.types.i1
    draft.operand_types, draft.result_types = [condition, types[-1], types[-1]], [types[-1]]


def some_operands(most: int) -> Step:
    """Return the step that reads at most so many operands, and not the comma behind them."""

    def step(reader: Operations, draft: Draft) -> None:
        reader.uses(draft, most)

    return step


def tensor_dim(reader: Operations, draft: Draft) -> None:
    """Read the tensor's type."""
    reader.lexer.expect(":")
    index = reader.types.named("index")
    draft.operand_types, draft.result_types = [reader.types.parse(), index], [index]


def tensor_rank(reader: Operations, draft: Draft) -> None:
    """Read the tensor's type."""
    reader.lexer.expect(":")
    draft.operand_types, draft.result_types = [reader.types.parse()], [reader.types.named("index")]


def tensor_extract(reader: Operations, draft: Draft) -> None:
    """Read ``%t[%i, %j] : T``."""
    reader.uses(draft, 1)
    reader.lexer.expect("[")
    reader.uses(draft)
    reader.lexer.expect("]")
    attributes(reader, draft)
    type_, element = _tensor_type(reader)
    draft.operand_types = [type_, *[reader.types.named("index")] * (len(draft.operands) - 1)]
    draft.result_types = [element]


def tensor_elements(reader: Operations, draft: Draft) -> None:
    """Read the type of a tensor made of its elements."""
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


def assuming(reader: Operations, draft: Draft) -> None:
    """Read ``-> (T) { ... }``."""
    if reader.lexer.take("->"):
        draft.result_types = reader.types.results()
    draft.regions.append(_ended(reader, draft, reader.region(), "shape.assuming_yield"))


def branches(reader: Operations, draft: Draft) -> None:
    """Read ``-> (T) { ... } else { ... }``; a missing part counts as empty."""
    if reader.lexer.take("->"):
        draft.result_types = reader.types.results()
    first = reader.region()
    second = reader.region() if reader.lexer.take_word("else") else Block((), ())
    draft.regions += [_ended(reader, draft, block, "scf.yield") for block in (first, second)]


def _ended(reader: Operations, draft: Draft, block: Block, name: str) -> Block:
    """Return a region with its terminator, which the text may leave out if it has no operands."""
    if block.operations and block.operations[-1].name == name:
        return block
    ending = Operation(name, (), (), {}, (), reader.lexer.location(draft.start))
    return Block(block.arguments, (*block.operations, ending))


def reduce(reader: Operations, draft: Draft) -> None:
    """Read ``(%s, %i) : S -> T { ... }``."""
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
