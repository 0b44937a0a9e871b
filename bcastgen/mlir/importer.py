"""Turns a function of MLIR into an expression: every op is verified, then expressed in our rows.

In: a function of ``tosa`` ops (and ``tensor.cast``).  Out: an :class:`Imported`: expression, signature, constants.

    %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
    return %0
        ->  expr (a, b): t0 = add(a, b); return t0   with (f32[?] a, f32[?] b) -> f32[5]

If a value's type says more than its operands' types prove, a type assertion checks the rest at run time. The whole
function is one expression, so its ops fuse.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import BcastgenError, BroadcastError, DTypeError, ParseError
from ..core.frozen import dataclass
from ..expr.build import Builder
from ..expr.nodes import Constant, Expression, Node, Operand, TypeAssertion
from ..expr.views import Broadcast
from ..shape.types.dim import DYNAMIC, Dim
from ..shape.types.tensor_type import Signature, TensorType
from .broadcastable import verify_broadcastable
from .extents import Extents
from .facts import with_facts
from .ir import Attribute, Dense, Function, Operation, Source, Value
from .options import ReadOptions
from .tosa.elements import check_supported, element_of
from .tosa.meeting import fits, tensor_of
from .tosa.reader import check_counts, constant_of, read_tosa
from .tosa.reductions import read_reduction
from .tosa.reshape import reshaped
from .tosa.table import WRITTEN_FOR, find_reduction, find_tosa
from .tosa.transpose import dense_transposed, transposed

__all__ = ["Imported", "import_function", "live_values"]


@dataclass(frozen=True, slots=True, eq=False)
class Imported:
    """A function as an expression.

    Attributes
    ----------
    name : the function's name.
    expression : its last operands are the constant arrays.
    signature : types of all operands, and of the results.
    constants : the values of the constant arrays.
    results : the names of the values that are returned, as the text has them: ``"%0"``.
    """

    name: str
    expression: Expression
    signature: Signature
    constants: tuple[np.ndarray[Any, Any], ...]
    results: tuple[str, ...]


def import_function(function: Function, source: Source, options: ReadOptions, verify_only: bool = False) -> Imported:
    """Verify every op of a function and return its expression.

    Parameters
    ----------
    function, source : from the parser.
    options : how strict verification is.
    verify_only : accept ops that can be verified, but not compiled (``"test.broadcastable"``).

    Raises
    ------
    BroadcastError, DTypeError, ParseError
        If an op is wrong; the message has its location: ``model.mlir:3:10: error: 'tosa.add' op ...``.
    """
    return _Import(function, source, options, verify_only).run()


class _Import:
    """The import of one function.

    Attributes
    ----------
    nodes : the node of each value so far, except constant tensors.
    dense : the constant tensors.
    live : the values that results depend on; other values are not checked at run time.
    extents : what is known of values beyond their types; only in strict mode.
    """

    def __init__(self, function: Function, source: Source, options: ReadOptions, verify_only: bool) -> None:
        self.function = function
        self.source = source
        self.options = options
        self.verify_only = verify_only
        self.builder = Builder()
        self.nodes: dict[Value, Node] = {}
        self.dense: dict[Value, Dense] = {}
        self.types: list[TensorType] = []
        self.constants: list[np.ndarray[Any, Any]] = []
        self.type_assertions: list[TypeAssertion] = []
        self.live = live_values(function)
        self.extents = Extents(options) if options.is_strict else None

    def run(self) -> Imported:
        body = self.function.body
        if body is None or not body.operations:
            raise self._fault(ParseError("has no body that ends in a return"))
        try:
            for value, said in zip(body.arguments, self._said(body.arguments, True), strict=True):
                check_supported(value)
                self.nodes[value] = self._operand(value, with_facts(tensor_of(value), said, f"argument '{value}'"))
                if self.extents is not None:
                    self.extents.types[value] = tensor_of(value)
        except BcastgenError as error:
            raise self._fault(error) from None
        for operation in body.operations[:-1]:
            self._read(operation)
        results = self._located(body.operations[-1], self._return)
        values = body.operations[-1].operands
        # A returned value is verified as a result anyway, so an assertion of the same type is not needed.
        returned = set(zip(results, map(tensor_of, values), strict=True))
        type_assertions = tuple(one for one in self.type_assertions if (one.node, one.type) not in returned)
        expression = self.builder.finish(results, type_assertions=type_assertions)
        names = (operand.name for operand in self.builder.operands)
        signature = Signature(tuple(zip(names, self.types, strict=True)), self._result_types(values), None)
        shown = tuple(map(str, values))
        return Imported(self.function.name, expression, signature, tuple(self.constants), shown)

    def _said(self, values: tuple[Value, ...], arguments: bool) -> tuple[dict[str, Attribute], ...]:
        """Return the attributes of the function's arguments, or of its results."""
        found = self.function.argument_attributes if arguments else self.function.result_attributes
        return found or ({},) * len(values)

    def _result_types(self, values: tuple[Value, ...]) -> tuple[TensorType, ...]:
        try:
            return tuple(
                with_facts(tensor_of(value), said, f"result {number}")
                for number, (value, said) in enumerate(zip(values, self._said(values, False), strict=True))
            )
        except BcastgenError as error:
            raise self._fault(error) from None

    def _fault(self, error: BcastgenError) -> BcastgenError:
        return self.source.locate(error, self.function.location, f"'func.func' op @{self.function.name}")

    def _located(self, operation: Operation, read: Callable[[Operation], Any]) -> Any:
        try:
            return read(operation)
        except BcastgenError as error:
            raise self.source.locate(error, operation.location, f"'{operation.name}' op") from None

    def _read(self, operation: Operation) -> None:
        if operation.name == "test.broadcastable":
            verify_broadcastable(operation, self.source)
            self._located(operation, self._unlowered)
            return
        self._located(operation, self._read_one)

    def _read_one(self, operation: Operation) -> None:
        match operation.name:
            case "tosa.const" | "tosa.const_shape":
                self.dense[operation.results[0]] = constant_of(operation)
            case "tosa.reshape":
                self._reshape(operation)
            case "tosa.transpose":
                self._transpose(operation)
            case "tensor.cast":
                self._cast(operation)
            case name if (row := find_reduction(name)) is not None:
                if not read_reduction(operation, row, self):
                    self.assert_type(operation.results[0])
            case name if (row := find_tosa(name.removeprefix("tosa."))) is not None and name.startswith("tosa."):
                proved = read_tosa(operation, row, self)
                if not proved:
                    self.assert_type(operation.results[0])
            case _:
                meant = WRITTEN_FOR.get(name.removeprefix("tosa."))
                if meant is not None and name.startswith("tosa."):
                    raise ParseError(f"is none of TOSA's; write tosa.{meant}")
                raise ParseError(
                    "is neither element-wise nor a reduction, or not known here; a kernel is made of TOSA's "
                    "element-wise ops and reductions, tosa.const, tosa.reshape, tosa.transpose and tensor.cast"
                )
        if self.extents is not None:
            self._keep_strict(operation, self.extents)

    def _keep_strict(self, operation: Operation, extents: Extents) -> None:
        """Assert the extents of an op's result that strict mode infers from values' types, unlike the expression."""
        kept, result = extents.add(operation), operation.results[0]
        moves = operation.name in ("tosa.reshape", "tosa.transpose") or find_reduction(operation.name) is not None
        if result in self.dense or moves or tensor_of(result).unranked:
            return
        declared = tensor_of(result)
        if kept and result in self.live and not self.options.trusts:
            ones = tuple(Dim(1) if dim in kept else DYNAMIC for dim in range(len(declared.dims)))
            one = TypeAssertion(self.nodes[result], str(result), TensorType(declared.dtype, ones))
            self.type_assertions.append(one)
        before = [extents.types[operand] for operand in operation.operands if operand in extents.types]
        for dim, own in enumerate(declared.dims):
            if own.is_one and not all(_is_one_at(type_, dim - len(declared.dims)) for type_ in before):
                raise BroadcastError(
                    f"says that '{result}' dim {dim} has extent 1, and types of operands do not; in strict mode it "
                    "would stretch from here on and they would not, so declare the 1 in their types",
                    operand=str(result),
                    dim=dim,
                    expected=1,
                )

    def _return(self, operation: Operation) -> tuple[Node, ...]:
        if operation.name != "func.return":
            raise ParseError("ends the function, expected 'func.return'")
        declared = self.function.type.results
        if len(operation.operands) != len(declared):
            raise ParseError(f"has {len(operation.operands)} operands, but the function has {len(declared)} results")
        for value, type_ in zip(operation.operands, declared, strict=True):
            if value.type != type_:
                raise ParseError(f"returns '{value}' of type {value.type}, but the function's result is {type_}")
            check_supported(value)
        if not declared and not self.verify_only:
            raise ParseError("returns nothing; a kernel has one result or more")
        return tuple(self.value(value) for value in operation.operands)

    def _unlowered(self, operation: Operation) -> None:
        """Add an operand in place of the result of an op that has types but no meaning."""
        if not self.verify_only:
            raise ParseError("has no meaning beyond its types, so there is nothing to compile; use --verify-only")
        value = operation.results[0]
        if value.type.tensor is not None:
            self.nodes[value] = self._operand(value, value.type.tensor)
            if self.extents is not None:
                self.extents.types[value] = value.type.tensor

    # ---- values

    def _operand(self, value: Value, type_: TensorType) -> Operand:
        taken = {operand.name for operand in self.builder.operands}
        plain = re.fullmatch(r"[A-Za-z_]\w*", value.name, re.ASCII) and not keyword.iskeyword(value.name)
        name = value.name if plain else f"arg{len(taken)}" if value.name.isdigit() else re.sub(r"\W", "_", value.name)
        # Calls use out= for results, so no operand may have that name.
        while name in (*taken, "out") or not name.isidentifier():
            name = f"_{name}"
        self.types.append(type_)
        return self.builder.operand(name)

    def value(self, value: Value, beside: tuple[Value, ...] = ()) -> Node:
        """Return the node of a value.

        A constant tensor of one number becomes that number if the values `beside` it span its extents anyway, else that
        number broadcast to its extents. A constant tensor of several numbers becomes an operand.
        """
        node = self.nodes.get(value)
        if node is not None:
            return node
        dense = self.dense[value]
        if dense.values.size != 1:
            check_supported(value)
            made = self._operand(value, _dense_type(dense))
            with np.errstate(invalid="ignore"):  # converting a NaN to bf16 would warn
                self.constants.append(dense.values.astype(element_of(value).np))
            self.nodes[value] = made
            return made
        number = self.number(value)
        extents = [dim.extent for dim in _dense_type(dense).dims]
        if not extents or self._have(beside, extents):
            return number
        return self.builder.remap(number, Broadcast(None, tuple(Dim(extent) for extent in extents)))

    def number(self, value: Value) -> Constant:
        """Return the one number of a constant tensor."""
        check_supported(value)
        return self.builder.keep(Constant(self.dense[value].values.item(), element_of(value)))

    def _have(self, values: tuple[Value, ...], extents: list[int | None]) -> bool:
        """Return whether the values span these extents already, so that a number among them changes no shape."""
        shapes = [tensor_of(value) for value in values if value in self.nodes and not tensor_of(value).unranked]
        return all(
            any(
                len(shape.dims) >= from_right and (extent == 1 or shape.dims[-from_right].extent == extent)
                for shape in shapes
            )
            for from_right, extent in enumerate(reversed(extents), 1)
        )

    def assert_type(self, value: Value) -> None:
        """Assert a value's type, which is then checked at run time, unless types are trusted."""
        if value in self.live and not self.options.trusts:
            self.type_assertions.append(TypeAssertion(self.nodes[value], str(value), tensor_of(value)))

    # ---- ops on types alone

    def _reshape(self, operation: Operation) -> None:
        check_counts(operation, (1, 2))
        operand, result = operation.operands[0], operation.results[0]
        shape = operation.operands[1] if len(operation.operands) == 2 else None
        target = None if shape is None or shape not in self.dense else self.dense[shape]
        if operand in self.dense:
            check_supported(operand)
            self.dense[result] = _dense_reshaped(operation, self.dense[operand])
            return
        self.nodes[result], proved = reshaped(self.builder, self.value(operand), operation, target)
        if not proved:
            self.assert_type(result)

    def _transpose(self, operation: Operation) -> None:
        check_counts(operation, (1,))
        operand, result = operation.operands[0], operation.results[0]
        if operand in self.dense:
            self.dense[result] = dense_transposed(operation, self.dense[operand])
            return
        self.nodes[result], proved = transposed(self.builder, self.value(operand), operation)
        if not proved:
            self.assert_type(result)

    def _cast(self, operation: Operation) -> None:
        check_counts(operation, (1,))
        operand, result = operation.operands[0], operation.results[0]
        check_supported(operand)
        check_supported(result)
        if element_of(operand) is not element_of(result):
            raise DTypeError(f"from {operand.type} to {result.type} changes the element type; use tosa.cast")
        proved = fits((operand,), result, rank_expansion=True)
        if operand in self.dense:
            self.dense[result] = self.dense[operand]
            return
        node = self.nodes[result] = self.nodes[operand]
        plain = isinstance(node, Operand) and all(dim == dim.erased for dim in self.types[node.index].dims)
        if not proved and isinstance(node, Operand) and plain and self.extents is None and result in self.live:
            # The function accepts no other type, so its operand gets this one.
            self.types[node.index] = _narrowed(self.types[node.index], tensor_of(result), node.name)
        elif not proved:
            self.assert_type(result)


def _is_one_at(type_: TensorType, dim: int) -> bool:
    """Return whether a dim, counted from the end, is known to be 1, or is not there."""
    if -dim > len(type_.dims):
        return not type_.unranked
    return type_.dims[dim].extent == 1


def live_values(function: Function) -> set[Value]:
    """Return the values that a function's results depend on."""
    operations = () if function.body is None else function.body.operations
    live: set[Value] = set()
    for operation in reversed(operations):
        if operation is operations[-1] or not live.isdisjoint(operation.results):
            live.update(operation.operands)
    return live


def _dense_type(dense: Dense) -> TensorType:
    assert dense.type.tensor is not None
    return dense.type.tensor


def _dense_reshaped(operation: Operation, dense: Dense) -> Dense:
    """Return a constant tensor with the shape of an operation's result; raise if the numbers of elements differ."""
    result = operation.results[0]
    check_supported(result)
    extents = tuple(dim.extent for dim in tensor_of(result).dims)
    counts = [1, 1]
    for side, shape in enumerate((_dense_type(dense).dims, tensor_of(result).dims)):
        for dim in shape:
            counts[side] *= dim.extent if dim.extent is not None else -1
    if None in extents or counts[0] != counts[1]:
        raise BroadcastError(
            f"a constant of type {dense.type} has no shape {result.type}; the numbers of elements differ"
        )
    values = dense.values if dense.is_splat else dense.values.reshape([extent or 0 for extent in extents])
    return Dense(result.type, values)


def _narrowed(known: TensorType, said: TensorType, name: str) -> TensorType:
    """Return the type that combines two types of one value."""
    if said.unranked:
        return known
    if known.unranked:
        return said
    if known.rank != said.rank:
        raise BroadcastError(
            f"operand '{name}' is cast to rank {said.rank}, expected {known.rank} (from another cast)",
            operand=name,
            expected=known.rank,
            actual=said.rank,
        )
    dims = []
    for dim, (old, new) in enumerate(zip(known.dims, said.dims, strict=True)):
        if old.is_static and new.is_static and old != new:
            raise BroadcastError(
                f"operand '{name}' dim {dim} is cast to extent {new}, expected {old} (from another cast)",
                operand=name,
                dim=dim,
                expected=old.extent,
                actual=new.extent,
            )
        dims.append(old if old.is_static else new)
    return TensorType(known.dtype, tuple(dims), False)
