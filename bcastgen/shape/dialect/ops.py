"""The table of the shape dialect's ops: one row each; verifier, evaluation, printing, folding, C, docs derive from it.

In: a name, with or without its dialect.  Out: its :class:`~.row.Row`.

    find_row("shape.add").python -> "add"        find_row("meet").name -> "shape.join"

To add an op, add a row. A row's `doc` holds the sentence it follows ("text" is the documentation of MLIR's shape
dialect, "LLVM" is LLVM 22) and what is chosen here where that leaves room. An invalid operand makes the result invalid,
and the first one's message wins; the text says so once for all ops, and rows do not repeat it. The file is long
because the dialect has 37 ops; those of other dialects are in `arith_rows`.
"""

from __future__ import annotations

from ...core.errors import BroadcastError
from ..types import extent_expr, extent_ops
from . import arithmetic, canonical, held, lattice, rules
from .arith_rows import ARITH_ROWS, SCF_ROWS
from .row import ANY, Failed, Parameter, Row, Setting, as_size
from .types import I1, INDEX, SHAPE, SIZE, VALUE_SHAPE, WITNESS, extents_type
from .values import MAX_RANK, Shape, Size, Witness

__all__ = ["ROWS", "find_row"]

_MEETS = "equal, or one is 1, or one is unknown; the result is the one that is not 1, and known if either is and not 1"

_SHAPE_ROWS = (
    Row(
        "shape.add",
        "Adds two sizes. Text: unknown if either is unknown. Chosen: a sum that 63 bits do not hold is invalid; an "
        "index result is the sum of the integers, and a run fails where 64 bits do not hold it.",
        rules.two(rules.SIZES),
        (rules.SIZES,),
        rules.size_type,
        rules.sizes_or_indices(lattice.add, lambda a, b: arithmetic.checked(a + b), extent_expr.add),
        rules.fits(extent_expr.add),
        canonicalise=canonical.neutral(0),
        example="add 2, 3 -> 5",
    ),
    Row(
        "shape.any",
        "Returns some combination of the inputs' dims. Text: undefined where ranks or shared extents differ. Chosen: "
        "the first known extent of each dim, and on conflict the first operand (LLVM 22 takes the last constant).",
        rules.shapes("inputs"),
        (rules.SHAPES,),
        rules.shape_type,
        lambda operation, *shapes: lattice.any_of(shapes),
        canonicalise=canonical.distinct(),
        loose=True,
        example="any [2, ?], [?, 3] -> [2, 3]",
    ),
    Row(
        "shape.assuming",
        "Runs its region if the witness passes. Chosen: if it fails the run ends with its message, and nothing of the "
        "region has run; a witness known to fail is never inlined (LLVM 22 inlines on any constant).",
        (Parameter("witness", ("witness",)),),
        None,
        syntax="custom",
        regions=1,
        yields="shape.assuming_yield",
        effect=True,
    ),
    Row(
        "shape.assuming_all",
        "Returns the AND of witnesses. Text: any failing one is enough to prevent execution. Chosen: it fails with the "
        "message of the first that does.",
        (Parameter("inputs", ("witness",), variadic=True),),
        (("witness",),),
        rules.fixed(WITNESS),
        rules.all_pass,
        rules.always,
        canonical.assuming_all,
        syntax="bare",
        example="assuming_all passing, failing -> failing",
    ),
    Row(
        "shape.assuming_yield",
        "Ends the region of `assuming`; its operands are the results there.",
        (Parameter("operands", ANY, variadic=True, least=0),),
        syntax="types",
        terminator=True,
    ),
    Row(
        "shape.broadcast",
        "Returns the shape that shapes broadcast to: aligned on the right, 1s prepended. Text: unranked if one is; "
        "invalid, with the message of `error`, if extents clash. Chosen: two extents meet if they are "
        + _MEETS
        + ". The "
        "text gives 1 for (1, ?), which is wrong for ? = 5.",
        rules.shapes(),
        (rules.SHAPES,),
        rules.shape_type,
        lambda operation, *shapes: lattice.broadcast(shapes, rules.error(operation)),
        lambda operation, shapes: lattice.broadcastable(shapes) is True,
        canonical.broadcast,
        rules.ERROR,
        example="broadcast [2, ?], [1] -> [2, ?]",
    ),
    Row(
        "shape.concat",
        "Returns the dims of lhs followed by those of rhs. Chosen: unranked if one is; "
        f"more than {MAX_RANK} dims are invalid.",
        rules.two(rules.SHAPES),
        (rules.SHAPES,),
        rules.shape_type,
        lambda operation, a, b: lattice.concat(a, b),
        lambda operation, shapes: (
            all(one.rank is not None for one in shapes) and sum(one.rank for one in shapes) <= MAX_RANK
        ),
        canonical.concat,
        example="concat [2, 3], [4, 5] -> [2, 3, 4, 5]",
    ),
    Row(
        "shape.const_shape",
        "Creates a constant shape. Chosen: extents are 0 or more (LLVM 22 takes -1 and means nothing by it).",
        (),
        (rules.SHAPES,),
        rules.fixed(SHAPE),
        lambda operation: Shape(operation.attribute("shape")),
        settings=(Setting("shape", tuple, required=True),),
        syntax="value",
        fault=rules.constant_fault,
        example="const_shape shape=[1, 2, 3] -> [1, 2, 3]",
    ),
    Row(
        "shape.const_size",
        "Creates a constant size, 0 or more.",
        (),
        (("size",),),
        rules.fixed(SIZE),
        lambda operation: Size(operation.attribute("value")),
        settings=(Setting("value", int, required=True),),
        syntax="value",
        fault=rules.negative_fault,
        example="const_size value=10 -> 10",
    ),
    Row(
        "shape.const_witness",
        "Creates a witness that is decided (LLVM 22).",
        (),
        (("witness",),),
        rules.fixed(WITNESS),
        lambda operation: Witness(operation.attribute("passing")),
        settings=(Setting("passing", bool, required=True),),
        syntax="value",
        example="const_witness passing=true -> passing",
    ),
    Row(
        "shape.cstr_broadcastable",
        "Returns a witness that shapes broadcast, by the logic of `broadcast`. Chosen: it passes at compile time if "
        "that is certain, fails if it cannot be, and is undecided otherwise; an invalid operand fails it with its own "
        "message; `error` is the author's message (an attribute of ours, which LLVM keeps).",
        rules.shapes(least=2),
        (("witness",),),
        rules.fixed(WITNESS),
        lambda operation, *shapes: lattice.witness(lattice.broadcastable(shapes), shapes, rules.error(operation)),
        rules.always,
        canonical.predicate(2, reflexive=False),
        rules.ERROR,
        syntax="types",
        constraint=True,
        effect=True,
        example="cstr_broadcastable [2, 2], [3, 1, 2] -> passing",
    ),
    Row(
        "shape.cstr_eq",
        "Returns a witness that shapes are equal. Chosen: undecided while unknown extents leave it open; an invalid "
        "operand fails it with its own message; `error` is the author's message (an attribute of ours).",
        rules.shapes(),
        (("witness",),),
        rules.fixed(WITNESS),
        lambda operation, *shapes: lattice.witness(lattice.same(shapes), shapes, rules.error(operation)),
        rules.always,
        canonical.predicate(2, reflexive=False),
        rules.ERROR,
        syntax="types",
        constraint=True,
        effect=True,
        example="cstr_eq [2, 2], [1, 2] -> failing",
    ),
    Row(
        "shape.cstr_require",
        "Returns a witness that a predicate holds; `msg` is what a run says where it does not (LLVM 22).",
        (Parameter("pred", ("i1",)),),
        (("witness",),),
        rules.fixed(WITNESS),
        rules.require,
        rules.always,
        settings=(Setting("msg", str, required=True),),
        syntax="custom",
        constraint=True,
        effect=True,
        example='cstr_require false, msg="batch sizes differ" -> failing "batch sizes differ"',
    ),
    Row(
        "shape.debug_print",
        "Prints a size or shape and passes it through. Chosen: a run prints to stderr; evaluation prints nothing.",
        (Parameter("input", ("shape", "size")),),
        (("shape", "size"),),
        rules.same_type,
        lambda operation, value: value,
        rules.always,
        syntax="generic",
        fault=lambda operation: (
            None
            if operation.operands[0].type == operation.results[0].type
            else f"returns {operation.results[0].type}, expected {operation.operands[0].type} as it passes it through"
        ),
        effect=True,
        example="debug_print [3, ?] -> [3, ?]",
    ),
    Row(
        "shape.dim",
        "Returns one extent of a tensor (LLVM 22): `get_extent` of its `shape_of`.",
        (Parameter("value", ("tensor",)), Parameter("index", rules.SIZES)),
        (rules.SIZES,),
        rules.size_type,
        rules.extent,
        rules.extent_certain,
        example="dim tensor<2x?xf32>, 1 -> ?",
    ),
    Row(
        "shape.div",
        "Divides sizes, rounding down (LLVM 22; -7 / 2 of indices is -4). Unknown if either is. Chosen: a division by "
        "0 is an invalid size, and ends the run where the result is an index.",
        rules.two(rules.SIZES),
        (rules.SIZES,),
        rules.size_type,
        rules.sizes_or_indices(
            lattice.divide,
            lambda a, b: arithmetic.checked(a // b) if b else Failed("division by 0"),
            extent_ops.floor_divide,
        ),
        rules.fits(extent_ops.floor_divide),
        canonicalise=canonical.neutral(1, both=False),
        example="div 7, 2 -> 3",
    ),
    Row(
        "shape.from_extent_tensor",
        "Creates a shape from a tensor of extents: as many dims as elements. Chosen: an unknown length is unranked.",
        (Parameter("input", ("extents",)),),
        (("shape",),),
        rules.fixed(SHAPE),
        lambda operation, shape: shape,
        rules.always,
        canonical.inverse("shape.to_extent_tensor"),
        syntax="types",
        example="from_extent_tensor tensor[2, ?] -> [2, ?]",
    ),
    Row(
        "shape.from_extents",
        "Creates a shape from extents; without any it is a scalar's. Chosen: a negative index makes it invalid.",
        (Parameter("extents", rules.SIZES, variadic=True, least=0),),
        (("shape",),),
        rules.fixed(SHAPE),
        rules.from_extents,
        lambda operation, extents: len(extents) <= MAX_RANK and all(rules.not_negative(extent) for extent in extents),
        syntax="types",
        example="from_extents 2, ? -> [2, ?]",
    ),
    Row(
        "shape.get_extent",
        "Returns one extent. Text: an error shape gives an error size. Chosen: so does a dim out of range, negative "
        "ones included; an unknown dim gives an unknown size.",
        (Parameter("shape", rules.SHAPES), Parameter("dim", rules.SIZES)),
        (rules.SIZES,),
        rules.size_type,
        rules.extent,
        rules.extent_certain,
        example="get_extent [4, 5], 1 -> 5",
    ),
    Row(
        "shape.index_to_size",
        "Converts an index to a size. Text: undefined for negative ones. Chosen: those are invalid.",
        (Parameter("arg", ("index",)),),
        (("size",),),
        rules.fixed(SIZE),
        lambda operation, value: as_size(value),
        lambda operation, operands: rules.not_negative(operands[0]),
        canonical.inverse("shape.size_to_index"),
        syntax="bare",
        example="index_to_size index -1 -> invalid",
    ),
    Row(
        "shape.is_broadcastable",
        "Tells whether shapes broadcast (LLVM 22). Chosen: an invalid shape does not; unknown if extents do not tell.",
        rules.shapes(),
        (("i1",),),
        rules.fixed(I1),
        lambda operation, *shapes: lattice.broadcastable(shapes),
        rules.always,
        canonical.predicate(1, reflexive=False),
        syntax="types",
        example="is_broadcastable [2, 2], [3, 2] -> false",
    ),
    Row(
        "shape.join",
        "Returns what both operands say (LLVM 22 calls it meet): the more specific one dim by dim; invalid, with the "
        "message of `error`, if they contradict each other. Chosen: takes element types too.",
        rules.two(("shape", "size", "element_type"), "arg0", "arg1"),
        (("shape", "size", "element_type"),),
        rules.same_type,
        rules.join,
        canonicalise=canonical.idempotent,
        settings=rules.ERROR,
        mlir="shape.meet",
        syntax="custom",
        fault=rules.one_type,
        example="join [1, 2], [1, ?] -> [1, 2]",
    ),
    Row(
        "shape.max",
        "Returns the larger of two sizes, or of the extents of two shapes of equal rank (LLVM 22); other ranks are "
        "invalid. Unknown where either is.",
        rules.two(("shape", "size")),
        (("shape", "size"),),
        rules.same_type,
        lambda operation, a, b: lattice.elementwise(extent_ops.maximum, a, b),
        rules.same_ranks,
        canonical.idempotent,
        fault=rules.one_type,
        example="max [2, ?], [3, 4] -> [3, ?]",
    ),
    Row(
        "shape.min",
        "Returns the smaller of two sizes, or of the extents of two shapes; as `max`.",
        rules.two(("shape", "size")),
        (("shape", "size"),),
        rules.same_type,
        lambda operation, a, b: lattice.elementwise(extent_ops.minimum, a, b),
        rules.same_ranks,
        canonical.idempotent,
        fault=rules.one_type,
        example="min 2, 3 -> 2",
    ),
    Row(
        "shape.mul",
        "Multiplies two sizes. Text: unknown if either is unknown, so unknown * 0 is unknown. Overflow as in `add`.",
        rules.two(rules.SIZES),
        (rules.SIZES,),
        rules.size_type,
        rules.sizes_or_indices(lattice.multiply, lambda a, b: arithmetic.checked(a * b), extent_expr.multiply),
        rules.fits(extent_expr.multiply),
        canonicalise=canonical.neutral(1),
        example="mul ?, 0 -> ?",
    ),
    Row(
        "shape.num_elements",
        "Returns the product of the dims; 1 for a scalar. Chosen: unknown if one is, even where another is 0; a "
        "product that 63 bits do not hold is invalid ([4611686018427387904, 4, 0] is 0).",
        (Parameter("shape", rules.SHAPES),),
        (rules.SIZES,),
        rules.size_type,
        lambda operation, shape: lattice.num_elements(shape),
        lambda operation, shapes: lattice.counts(shapes[0]),
        example="num_elements [2, 3, 4] -> 24",
    ),
    Row(
        "shape.rank",
        "Returns the number of extents (LLVM 22); unknown for an unranked shape.",
        (Parameter("shape", rules.SHAPES),),
        (rules.SIZES,),
        rules.size_type,
        lambda operation, shape: lattice.rank(shape),
        rules.always,
        example="rank [?, 2] -> 2",
    ),
    Row(
        "shape.reduce",
        "Applies its region to every dim: results = fn(index, extent, results). Text: if the shape is unranked, so are "
        "the results; chosen: each is the unknown of its type. An invalid shape gives invalid results, or ends the run "
        "where their type cannot be invalid.",
        (Parameter("shape", rules.SHAPES), Parameter("initVals", ANY, variadic=True)),
        None,
        syntax="custom",
        regions=1,
        yields="shape.yield",
        effect=True,
    ),
    Row(
        "shape.shape_eq",
        "Tells whether shapes are equal (LLVM 22: an error equals itself). Unknown where extents leave it open.",
        rules.shapes(),
        (("i1",),),
        rules.fixed(I1),
        lambda operation, *shapes: lattice.same(shapes),
        rules.always,
        canonical.predicate(1, reflexive=True),
        syntax="types",
        example="shape_eq [2, 3], [2, 3] -> true",
    ),
    Row(
        "shape.shape_of",
        "Returns the shape of a tensor or of a value_shape.",
        (Parameter("arg", ("value_shape", "tensor")),),
        (rules.SHAPES,),
        rules.shape_of_type,
        lambda operation, value: rules.shape_of(value),
        rules.always,
        example="shape_of tensor<?x3xf32> -> tensor[?, 3]",
    ),
    Row(
        "shape.size_to_index",
        "Converts a size to an index. Text: undefined for unknown and invalid ones. Chosen: a run ends there.",
        (Parameter("arg", rules.SIZES),),
        (("index",),),
        rules.fixed(INDEX),
        lambda operation, value: value,
        rules.always,
        canonical.size_to_index,
        syntax="types",
        example="size_to_index 3 -> index 3",
    ),
    Row(
        "shape.split_at",
        "Splits a shape at an index, negative from the back. Text: outside [-rank, rank] is an error; chosen: both "
        "parts are invalid. Both parts are unranked if the shape is unranked or the index is unknown.",
        (Parameter("operand", rules.SHAPES), Parameter("index", rules.SIZES)),
        (rules.SHAPES, rules.SHAPES),
        lambda types, attributes: rules.shape_type(types, attributes) * 2,
        rules.split,
        rules.split_certain,
        syntax="generic",
        example="split_at [4, 5, 6], index -1 -> [4, 5], [6]",
    ),
    Row(
        "shape.to_extent_tensor",
        "Converts a shape to a tensor of extents. Text: aborts for an error; chosen: a run ends there with a status.",
        (Parameter("input", rules.SHAPES),),
        (("extents",),),
        lambda types, attributes: (extents_type(types[0].length),),
        lambda operation, shape: shape,
        rules.always,
        canonical.inverse("shape.from_extent_tensor"),
        example="to_extent_tensor [2, ?] -> tensor[2, ?]",
    ),
    Row(
        "shape.value_as_shape",
        "Returns the integers that a value holds as a shape (LLVM 22): `value_of`, then `from_extent_tensor`. Chosen: "
        "a value that is no list of extents is invalid; at most the rank is known of an unknown value.",
        (Parameter("arg", ("extents", "value_shape")),),
        (rules.SHAPES,),
        rules.fixed(SHAPE),
        lambda operation, value: held.as_shape(value),
        held.certain,
        example="value_as_shape tensor[2, ?] -> [2, ?]",
    ),
    Row(
        "shape.value_of",
        "Returns the value of a value_shape (LLVM 22). Chosen: only the shape of a tensor of numbers matters, and the "
        "integers of an extent tensor; a run ends where the value is not of the result's type.",
        (Parameter("arg", ("value_shape",)),),
        (("tensor", "extents"),),
        rules.fixed(extents_type(None)),
        held.value_of,
        held.certain,
        syntax="result",
        example="value_of (?, [2]) -> tensor[?, ?]",
    ),
    Row(
        "shape.with_shape",
        "Returns a value with a shape of its own (LLVM 22). Text: an error where the two do not conform. Chosen: the "
        "shape is what both say, or invalid without a message where they contradict each other.",
        (Parameter("operand", ("value_shape", "tensor")), Parameter("shape", rules.SHAPES)),
        (("value_shape",),),
        rules.fixed(VALUE_SHAPE),
        lambda operation, value, shape: held.with_shape(value, shape),
        syntax="types",
        example="with_shape (?, [2, ?]), [?, 3] -> (?, [2, 3])",
    ),
    Row(
        "shape.yield",
        "Ends the region of `reduce`; its operands are the next results.",
        (Parameter("operands", ANY, variadic=True, least=0),),
        syntax="types",
        terminator=True,
    ),
)


ROWS: dict[str, Row] = {row.name: row for row in (*_SHAPE_ROWS, *ARITH_ROWS, *SCF_ROWS)}
# The first row with a short name has it.
_SHORT = {row.python: row for row in reversed(ROWS.values())} | {row.mlir: row for row in ROWS.values() if row.mlir}
_SHORT |= {name.partition(".")[2]: row for name, row in _SHORT.items() if "." in name}


def find_row(name: str) -> Row:
    """Return the row of a name: with its dialect or without, LLVM's or the documentation's.

    Raises
    ------
    BroadcastError
        If there is none.

    Examples
    --------
    >>> find_row("add").name, find_row("shape.meet").name, find_row("addi").name
    ('shape.add', 'shape.join', 'arith.addi')
    """
    row = ROWS.get(name) or _SHORT.get(name)
    if row is None:
        raise BroadcastError(f"{name!r} is no op of the shape dialect; use one of {', '.join(ROWS)}")
    return row
