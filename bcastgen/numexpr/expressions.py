"""NumExpr's expressions: nodes that record the operators and functions that are applied to them.

In: variables, numbers, operators.  Out: an :class:`ExpressionNode`, each with the kind of its value.

    2.0 * E.a + 1  ->  add(mul(E.a, 2.0), 1), a double

Names of classes and attributes (`astType`, `astKind`) are NumExpr's, since programs such as PyTables look at them.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from .kinds import CODES, KIND_OF_TYPE, KINDS, REDUCTIONS, TYPES, constant_kind

__all__ = ["ConstantNode", "E", "ExpressionNode", "FuncNode", "OpNode", "RawNode", "VariableNode", "functions"]

ALL_AXES = 255
default_kind = "double"
kind_rank = (*KINDS, "none")
type_to_kind, kind_to_type = KIND_OF_TYPE, TYPES


class _Context(threading.local):
    """How expressions are built in this thread: what `optimization` says."""

    optimization = "none"


context = _Context()


def is_constant(value: object) -> bool:
    """Whether a value is a number or text that an expression can hold."""
    return isinstance(value, (bool, int, float, complex, bytes, str, np.number, np.bool_))


def common_kind(nodes: Sequence[ExpressionNode]) -> str:
    """Return the kind that values are converted to that an op is applied to.

    Raises
    ------
    TypeError
        If some are text and others are not.
    """
    kinds = [node.astKind for node in nodes]
    texts = sum(CODES[kind] == "s" for kind in kinds)
    if texts:
        if texts < len(kinds):
            raise TypeError("strings can only be operated with strings")
        return "bytes"
    return max(kinds, key=kind_rank.index)


def _nodes(values: Sequence[Any]) -> list[ExpressionNode]:
    found: list[ExpressionNode] = []
    for value in values:
        if isinstance(value, ExpressionNode):
            found.append(value)
        elif is_constant(value):
            found.append(ConstantNode(value))
        else:
            raise TypeError(f"unsupported object type: {type(value)}")
    return found


def _folded(function: Callable[..., Any], nodes: Sequence[ExpressionNode]) -> ConstantNode | None:
    """Return the constant that a function gives for constants; None where one is a variable."""
    if not all(isinstance(node, ConstantNode) for node in nodes):
        return None
    with np.errstate(all="ignore"):
        value = function(*(node.value for node in nodes))
    return ConstantNode(value[()] if isinstance(value, np.ndarray) else value)


class ExpressionNode:
    """A value of an expression: what it is (`astType`), its kind, an op's name or a number, and operands."""

    astType = "generic"

    def __init__(self, value: Any = None, kind: str | None = None, children: Sequence[Any] | None = None) -> None:
        self.value = value
        self.astKind = kind or "none"
        self.children = tuple(children or ())

    @property
    def real(self) -> ExpressionNode:
        """The real part, a double."""
        return OpNode("real", (self,), "double")

    @property
    def imag(self) -> ExpressionNode:
        """The imaginary part, a double."""
        return OpNode("imag", (self,), "double")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.value}, {self.astKind}, {self.children})"

    def __neg__(self) -> ExpressionNode:
        return OpNode("neg", (self,))

    def __invert__(self) -> ExpressionNode:
        return OpNode("invert", (self,))

    def __pos__(self) -> ExpressionNode:
        return self

    def __truediv__(self, other: Any) -> ExpressionNode:
        return _true_divide(self, other)

    def __rtruediv__(self, other: Any) -> ExpressionNode:
        return _true_divide(other, self)

    def __pow__(self, other: Any) -> ExpressionNode:
        return _power(self, other)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "You can't use Python's standard boolean operators in NumExpr expressions. You should use their bitwise "
            "counterparts instead: '&' instead of 'and', '|' instead of 'or', and '~' instead of 'not'."
        )


class LeafNode(ExpressionNode):
    """A variable or a constant."""


class VariableNode(LeafNode):
    """A variable; `value` is its name."""

    astType = "variable"


class ConstantNode(LeafNode):
    """A number or text."""

    astType = "constant"

    def __init__(self, value: Any = None, _children: object = None) -> None:
        super().__init__(value, constant_kind(value))

    def _part(self, name: str) -> ConstantNode:
        return ConstantNode(getattr(complex(self.value), name))

    real = property(lambda self: self._part("real"))
    imag = property(lambda self: self._part("imag"))

    def __neg__(self) -> ExpressionNode:
        return ConstantNode(-self.value)

    def __invert__(self) -> ExpressionNode:
        return ConstantNode(~self.value)


class RawNode:
    """A number that is part of an instruction: the axis of a reduction."""

    astType = "raw"
    astKind = "none"
    children = ()

    def __init__(self, value: int) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"RawNode({self.value})"


class OpNode(ExpressionNode):
    """An op; sums and products of bools are "or" and "and"."""

    astType = "op"

    def __init__(self, opcode: str = "", args: Sequence[Any] = (), kind: str | None = None) -> None:
        kind = common_kind(args) if kind is None else kind
        if kind == "bool":
            opcode = {"mul": "and", "add": "or"}.get(opcode, opcode)
        super().__init__(opcode, kind, args)


class FuncNode(OpNode):
    """A function."""


def _binary(name: str, kind: str | None = None) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return the methods of an operator, and of it with its operands in the other order."""
    python: Callable[..., Any] = getattr(operator, f"__{name}__")

    def apply(left: Any, right: Any) -> ExpressionNode:
        nodes = _nodes((left, right))
        folded = _folded(python, nodes)
        return OpNode(name, nodes, kind) if folded is None else folded

    return apply, lambda self, other: apply(other, self)


for _name in "add sub mul floordiv mod lshift rshift and or xor".split():
    _method, _reflected = _binary(_name)
    setattr(ExpressionNode, f"__{_name}__", _method)
    setattr(ExpressionNode, f"__r{_name}__", _reflected)
for _name, _mirror in (("gt", "lt"), ("ge", "le")):
    _method, _reflected = _binary(_name, "bool")
    setattr(ExpressionNode, f"__{_name}__", _method)
    setattr(ExpressionNode, f"__{_mirror}__", _reflected)
for _name in "eq ne".split():
    setattr(ExpressionNode, f"__{_name}__", _binary(_name, "bool")[0])
ExpressionNode.__rpow__ = _binary("pow")[1]  # type: ignore[attr-defined]
# A sum does not depend on the order of two operands; NumExpr keeps the variable first.
ExpressionNode.__radd__, ExpressionNode.__rmul__ = _binary("add")[0], _binary("mul")[0]  # type: ignore[attr-defined]


def _optimizes(*levels: str) -> bool:
    return context.optimization in levels


def _true_divide(left: Any, right: Any) -> ExpressionNode:
    """Return a quotient; one by a constant of the same kind is a product with its inverse, as in NumExpr."""
    a, b = _nodes((left, right))
    folded = _folded(operator.truediv, (a, b)) if b.value != 0 or not isinstance(b, ConstantNode) else None
    if folded is not None and not isinstance(a.value, (bytes, str)):
        return folded
    floats = ("float", "double", "complex")
    if (
        _optimizes("moderate", "aggressive")
        and isinstance(b, ConstantNode)
        and a.astKind == b.astKind in floats
        and b.value != 0
    ):
        return OpNode("mul", (a, ConstantNode(1.0 / b.value)))
    kind = common_kind((a, b))
    return OpNode("div", (a, b), "double" if kind in ("bool", "int", "long") else kind)


def _power(left: Any, right: Any) -> ExpressionNode:
    a, b = _nodes((left, right))
    folded = _folded(operator.pow, (a, b))
    if folded is not None:
        return folded
    if not isinstance(b, ConstantNode) or isinstance(b.value, (bytes, str, complex, np.complexfloating)):
        return OpNode("pow", (a, b))
    x = b.value
    if a.astKind in ("int", "long") and b.astKind in ("int", "long") and x < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    if _optimizes("aggressive") and abs(x) <= _MOST_PRODUCTS and int(2 * x) == 2 * x:
        return _products(a, x)
    if _optimizes("moderate", "aggressive"):
        simple: dict[float, Callable[[], ExpressionNode]] = {
            -1: lambda: OpNode("div", (ConstantNode(1), a)),
            0: lambda: OpNode("ones_like", (a,)),
            0.5: lambda: FuncNode("sqrt", (a,), _no_integer(a.astKind)),
            1: lambda: a,
            2: lambda: OpNode("mul", (a, a)),
        }
        if x in simple:
            return simple[x]()
    return OpNode("pow", (a, b))


# Powers up to this are products, which NumExpr takes for faster than pow().
_MOST_PRODUCTS = 50


def _no_integer(kind: str) -> str:
    return "double" if kind in ("int", "long") else kind


def _products(a: ExpressionNode, x: Any) -> ExpressionNode:
    """Return a whole or half power as products of squares, in NumExpr's order."""
    count, result, square = int(abs(x)), None, a
    while count:
        if count & 1:
            result = square if result is None else OpNode("mul", (result, square))
        count >>= 1
        if count:
            square = OpNode("mul", (square, square))
    if int(abs(2 * x)) % 2:
        root = OpNode("sqrt", (a,), _no_integer(a.astKind))
        result = root if result is None else OpNode("mul", (result, root))
    if result is None:
        result = OpNode("ones_like", (a,))
    return _true_divide(ConstantNode(1), result) if x < 0 else result


# ---- functions -------------------------------------------------------------------------------------------------------


def _function(
    name: str, reference: Callable[..., Any], least: str | None = None, most: str | None = None
) -> Callable[..., Any]:
    """Return a function of an expression: its value is of the operands' kind, but no less and no more than this."""
    keeps_integers = name in ("copy", "ones_like", "round", "sign")
    gives_bool = name in ("isnan", "isfinite", "isinf", "signbit")

    def function(*args: Any) -> ExpressionNode:
        nodes = _nodes(args)
        folded = _folded(reference, nodes)
        if folded is not None:
            return folded
        kind = common_kind(nodes)
        if kind in ("int", "long"):
            kind = kind if keeps_integers else "double"
        elif kind in KINDS:
            if least is not None:
                kind = max(kind, least, key=KINDS.index)
            if most is not None:
                kind = min(kind, most, key=KINDS.index)
        return FuncNode(name, nodes, "bool" if gives_bool else kind)

    function.__name__ = name
    return function


def _where(condition: Any, x: Any, y: Any) -> ExpressionNode:
    nodes = _nodes((condition, x, y))
    if isinstance(nodes[0], ConstantNode):
        return nodes[1] if nodes[0].value else nodes[2]
    return FuncNode("where", nodes)


def _contains(text: Any, part: Any) -> ExpressionNode:
    return FuncNode("contains", _nodes((text, part)), "bool")


def _reduction(name: str) -> Callable[..., Any]:
    def function(a: Any, axis: Any = None) -> ExpressionNode:
        axis = axis.value if isinstance(axis, ConstantNode) else axis
        if axis is None:
            axis = ALL_AXES
        else:
            axis = int(operator.index(axis))
            if axis < 0:
                raise ValueError("negative axis are not supported")
            if axis >= ALL_AXES:
                raise ValueError("cannot encode axis")
        (node,) = _nodes((a,))
        if isinstance(node, ConstantNode) and axis != ALL_AXES:
            raise ValueError(f"reduction axis is out of bounds: axis {axis}, and {name} is of 0 dims")
        return node if isinstance(node, ConstantNode) else FuncNode(name, (node, RawNode(axis)), node.astKind)

    function.__name__ = name
    return function


def _make_functions() -> dict[str, Callable[..., Any]]:
    made: dict[str, Callable[..., Any]] = {}
    for name in "copy ones_like".split():
        made[name] = _function(name, getattr(np, name))
    for name in (
        "sqrt sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh fmod arctan2 "
        "log log1p log10 log2 exp expm1"
    ).split():
        made[name] = _function(name, getattr(np, name), "float")
    for name in "hypot nextafter copysign maximum minimum round trunc sign isnan isfinite isinf signbit".split():
        made[name] = _function(name, getattr(np, name), "double")
    for name in "ceil floor".split():
        made[name] = _function(name, getattr(np, name), "float", "double")
    for name in "real imag".split():
        made[name] = _function(name, getattr(np, name), "double", "double")
    made["abs"] = _function("absolute", np.absolute, "float")
    made["conj"] = _function("conjugate", np.conjugate, "complex")
    made["complex"] = _function("complex", complex, "complex")
    return {**made, "where": _where, "contains": _contains, **{name: _reduction(name) for name in REDUCTIONS}}


functions = _make_functions()


class Expression:
    """``E.a`` is the variable a, a double."""

    def __getattr__(self, name: str) -> VariableNode:
        if name.startswith("_"):
            raise AttributeError(name)
        return VariableNode(name, default_kind)


E = Expression()
