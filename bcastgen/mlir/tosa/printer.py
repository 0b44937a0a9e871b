"""Prints expressions in MLIR's TOSA dialect: one function, in the form of LLVM 22, which mlir-opt verifies.

In: a typed expression and the types of its operands.  Out: a func.func on tensors.

    a * 2 + b with (f32[?, 4] a, f32[4] b)
        ->  %v0 = tosa.mul %a, %c2.0, %c0 : (tensor<?x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<?x4xf32>
            %b_shaped = tosa.reshape %b, %shape : (tensor<4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
            %v1 = tosa.add %v0, %b_shaped : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>

TOSA wants equal ranks, so operands are reshaped. Facts on dims that MLIR's types cannot hold are attributes of
arguments and results. An op or a view that TOSA cannot express is refused by name.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.dtypes import BOOL, DType, dtype
from ...core.errors import BcastgenError, BroadcastError
from ...core.python_text import parse_expression
from ...expr.nodes import Apply, Constant, Node, Operand, Reduce, Remap, topological
from ...expr.views import MoveAxes, SwapAxes, Transpose
from ...ops.dtype_rules import compare
from ...ops.row import Op
from ...ops.table import OPS
from ...shape.types.dim import DYNAMIC, Dim
from ...shape.types.tensor_type import TensorType
from ..linalg.block import number, symbol
from ..linalg.types import facts_text
from .reductions import print_reduction
from .spellings import spelling
from .table import find_tosa
from .values import FunctionPrinter, Scalar, Tensor, TextValue, dtype_of, plain

if TYPE_CHECKING:
    import numpy as np

    from ...expr.infer import Typed
    from ...loops.nest import LoopProgram

__all__ = ["tosa_text"]


def tosa_text(typed: Typed, program: LoopProgram, name: str, constants: Sequence[np.ndarray[Any, Any]] = ()) -> str:
    """Return the text of a function that computes a typed expression.

    Parameters
    ----------
    typed : the expression.
    program : the lowered expression, which has the types of operands and results; every operand needs a rank.
    name : the function's name.
    constants : the values of the last operands, which are not operands of the function.

    Raises
    ------
    BroadcastError
        If a rank is not known, an extent is 0, or ranks cannot be made equal.
    BcastgenError
        If TOSA cannot express an op or a view.

    Examples
    --------
    >>> import bcastgen as bg
    >>> compilation = bg.from_text("(f32[?, 4] a) -> exp(a)").compilation
    >>> print(tosa_text(compilation.typed, compilation.program, "f"), end="")
    func.func @f(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %v0 = tosa.exp %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
      return %v0 : tensor<?x4xf32>
    }
    """
    expression = typed.expression
    if expression.free_extents:
        applied = (node.op for node in topological(expression.roots) if isinstance(node, Apply))
        made = next((op.name for op in applied if op.definition is not None), None)
        if made is not None:
            raise BcastgenError(f"op '{made}', which define_op made, has no TOSA op; print the kernel as linalg")
        raise BcastgenError(f"{name} has extents that the caller gives, which no TOSA function takes; declare them")
    declared = [type_ for _, type_ in program.results[len(program.reduced) :]]
    wanted = dict(zip(expression.results, declared, strict=True))
    wanted |= {one.node: one.type for one in expression.type_assertions}
    printer = _Printer(program, constants)
    for node in topological(expression.roots):
        printer.add(node, wanted.get(node))
    returned = [printer.result(node, type_) for node, type_ in zip(expression.results, declared, strict=True)]
    types = [value.type.mlir for value in returned]
    operands = printer.operands[: len(printer.operands) - len(constants)]
    heads = ", ".join(
        f"{value.name}: {value.type.mlir}{facts_text(type_)}"
        for value, (_, type_) in zip(operands, program.operands, strict=False)
    )
    said = [facts_text(type_) for type_ in declared]
    plain_result = len(types) == 1 and not said[0]
    arrow = types[0] if plain_result else f"({', '.join(map(''.join, zip(types, said, strict=True)))})"
    last = f"  return {', '.join(value.name for value in returned)} : {', '.join(types)}"
    return "\n".join((f"func.func {symbol(name)}({heads}) -> {arrow} {{", *printer.text.block.lines, last, "}", ""))


class _Printer:
    """Prints one function; `values` holds the value of each node so far."""

    def __init__(self, program: LoopProgram, constants: Sequence[np.ndarray[Any, Any]]) -> None:
        self.text = FunctionPrinter()
        self.values: dict[Node, TextValue] = {}
        passed = program.operands[: len(program.operands) - len(program.reduced)]
        named = [(name, plain(type_, f"operand '{name}'")) for name, type_ in passed]
        given = len(named) - len(constants)
        self.operands = tuple(Tensor(self.text.block.name(name), type_) for name, type_ in named[:given])
        self.operands += tuple(
            self.text.dense(name, type_, values) for (name, type_), values in zip(named[given:], constants, strict=True)
        )

    def add(self, node: Node, wanted: TensorType | None) -> None:
        """Write a node; `wanted` is its type where one is declared or asserted."""
        match node:
            case Operand():
                value: TextValue = self.operands[node.index]
            case Constant():
                assert isinstance(node.dtype, DType)
                value = Scalar(node.value, node.dtype)
            case Remap():
                value = self._view(node)
            case Reduce():
                value = self._reduced(node)
            case Apply():
                value = self._apply(node, wanted)
        said = () if wanted is None or wanted.unranked else wanted.dims
        if isinstance(value, Tensor) and len(said) == len(value.type.dims):
            value = self.text.narrowed(value, said)
        self.values[node] = value

    def result(self, node: Node, declared: TensorType) -> Tensor:
        """Return the value of a node with the type that the function returns."""
        value = self.values[node]
        if isinstance(value, Tensor) and declared.unranked:
            return value
        dims = plain(declared, "a result").dims
        if isinstance(value, Scalar):
            if any(dim.extent is None for dim in dims):
                raise BroadcastError(f"a constant result has type {declared}, but TOSA needs its extents; declare them")
            return self.text.constant(value, dims)
        return self.text.narrowed(self.text.ranked(value, len(dims)), dims)

    def _reduced(self, node: Reduce) -> Tensor:
        value = self.values[node.operand]
        if isinstance(value, Scalar):
            raise BcastgenError(f"{node.op.name} of a number has no TOSA op; write what it is")
        assert node.dtype is not None
        return print_reduction(self.text, node, value, node.dtype)

    # ---- views

    def _view(self, node: Remap) -> TextValue:
        """Print a view as a transpose, a reshape, and a select where it broadcasts to given extents."""
        value = self.values[node.operand]
        if node.like is not None:
            whose = f"operand '{node.like.name}'" if isinstance(node.like, Operand) else "another value"
            raise BcastgenError(f"a view with the shape of {whose} has no TOSA op; print linalg")
        rank = 0 if isinstance(value, Scalar) else len(value.type.dims)
        resolved = node.view.resolve(rank)
        said = tuple(None if dim is None else dim.extent for dim in resolved.shape)
        if any(dim is not None and not dim.is_static for dim in resolved.shape):
            raise BroadcastError(f"view {node.view} has a dim of unknown extent, which TOSA cannot say; give extents")
        if isinstance(value, Scalar):
            # An open dim has extent 1, which broadcasts to the operands beside the number.
            return self.text.constant(value, tuple(Dim(extent or 1) for extent in said)) if said else value
        if isinstance(node.view, (Transpose, MoveAxes, SwapAxes)):
            return self._transposed(value, resolved.dims)
        kept = {
            view_dim: dim for view_dim, dim in zip(resolved.dims, value.type.dims, strict=True) if view_dim is not None
        }
        if list(kept) != sorted(kept):
            raise BcastgenError(f"view {node.view} has dims in another order, which no reshape gives; transpose first")
        moved = self.text.reshaped(value, tuple(kept.get(view_dim, Dim(1)) for view_dim in range(resolved.rank)))
        if all(extent in (None, dim.extent) for extent, dim in zip(said, moved.type.dims, strict=True)):
            return moved
        # A select between a value and itself broadcasts the value to the shape of its condition.
        condition = self.text.constant(Scalar(True, BOOL), tuple(Dim(extent or 1) for extent in said))
        shape = TensorType(None, tuple(DYNAMIC if extent is None else Dim(extent) for extent in said))
        return self.text.op("select", [condition, moved, moved], dtype_of(moved), wanted=shape)

    def _transposed(self, value: Tensor, view_dims: tuple[int | None, ...]) -> Tensor:
        order = sorted(range(len(view_dims)), key=lambda dim: view_dims[dim] or 0)
        type_ = TensorType(value.type.dtype, tuple(value.type.dims[dim] for dim in order))
        permutation = ", ".join(map(str, order))
        text = f"tosa.transpose {value.name} {{perms = array<i32: {permutation}>}}"
        return self.text.line(f"{text} : ({value.type.mlir}) -> {type_.mlir}", type_)

    # ---- rows

    def _apply(self, node: Apply, wanted: TensorType | None) -> TextValue:
        values = [self.values[operand] for operand in node.operands]
        loops = tuple(map(dtype_of, values))
        assert node.dtype is not None
        others = values[1:]
        if _is_row_of("clamp", node.op) and loops[0].kind != "bool" and _in_order(others):
            low, high = (number(bound.value, loops[0].mlir) for bound in others if isinstance(bound, Scalar))
            attributes = f" {{min_val = {low} : {loops[0].mlir}, max_val = {high} : {loops[0].mlir}}}"
            return self.text.op("clamp", values[:1], node.dtype, attributes, wanted)
        if _is_row_of("negate", node.op) and _are_zero_points(others, loops[0]):
            return self.text.op("negate", values, node.dtype, wanted=wanted)
        tree = parse_expression(spelling(node.op, loops, node.dtype))
        return self._spelled(tree, dict(zip("abc", values, strict=False)), node.dtype, wanted)

    def _spelled(
        self, tree: ast.expr, values: dict[str, TextValue], result: DType, wanted: TensorType | None = None
    ) -> TextValue:
        """Write the ops of a spelling; the outermost one gets the wanted type."""
        match tree:
            case ast.Name("inf"):
                return Scalar(math.inf, dtype_of(values["a"]))
            case ast.Name(name):
                return values[name]
            case ast.Constant(int(value)):
                return Scalar(value, dtype_of(values["a"]))
            case ast.UnaryOp(ast.USub(), ast.Constant(int(value))):
                return Scalar(-value, dtype_of(values["a"]))
            case ast.Call(ast.Name(name), arguments, keywords):
                operands = [self._spelled(argument, values, result) for argument in arguments]
                words = ", ".join(f"{word.arg} = {ast.unparse(word.value)}" for word in keywords)
                return self._called(name, operands, f" {{{words}}}" * bool(words), result, wanted)
        raise AssertionError(f"a spelling holds {ast.dump(tree)}")

    def _called(
        self, name: str, operands: list[TextValue], attributes: str, result: DType, wanted: TensorType | None
    ) -> TextValue:
        """Write an op; if the name is that of a dtype, write a cast to it."""
        if find_tosa(name) is not None:
            return self.text.op(name, operands, _element(name, operands, result), attributes, wanted)
        only = operands[0]
        if isinstance(only, Scalar):
            return Scalar(only.value, dtype(name))
        return self.text.op("cast", operands, dtype(name), attributes, wanted)


def _is_row_of(name: str, op: Op) -> bool:
    """Return whether an op of ours is the one that TOSA's of this name is read as, with all of its operands."""
    row = find_tosa(name)
    assert row is not None
    return op is OPS[row.integer_row or row.row]


def _element(name: str, operands: list[TextValue], result: DType) -> DType:
    """Return the element type of an op's result."""
    row = find_tosa(name)
    assert row is not None
    if name == "cast":
        return result
    return BOOL if OPS[row.row].rule is compare else dtype_of(operands[-1 if name == "select" else 0])


def _in_order(bounds: list[TextValue]) -> bool:
    """Return whether bounds are numbers, and in the order that tosa.clamp requires."""
    low, high = (bound.value if isinstance(bound, Scalar) else math.nan for bound in bounds)
    return low <= high


def _are_zero_points(values: list[TextValue], element: DType) -> bool:
    """Return whether tosa.negate takes these zero points: each is one number, and 0 unless elements are i8."""
    if element.mlir == "i8":
        return all(
            isinstance(value, Scalar) or [dim.is_one for dim in value.type.dims] in ([], [True]) for value in values
        )
    return all(isinstance(value, Scalar) and value.value == 0 for value in values)
