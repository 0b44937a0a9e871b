"""From a typed expression of NumExpr's to a kernel.

In: an :class:`ASTNode` whose ops have signatures.  Out: a :class:`Computation`.

    add_fff(cast_fi(a), b)  ->  the kernel of add(cast(a, f32), cast(b, f32))

Every operand is converted to its kind in the kernel, so that nothing is left to NumPy's promotion. NumPy compares
texts, and the kernel takes what came of it; a reduction is part of the kernel, so that no array of what it combines is
made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.frozen import dataclass
from ..expr.build import Builder
from ..expr.nodes import Constant, Node
from ..expr.reductions import FUNCTIONS
from ..expr.trace import Tracer
from ..kernel.kernel import Kernel
from ..kernel.ufunc_keywords import KEYWORDS
from ..ops.table import OPS
from .expressions import ALL_AXES
from .kinds import DTYPES, REDUCTIONS
from .program import constant_value
from .syntax import ASTNode

__all__ = ["Computation", "TextTest", "lowered"]

Array = np.ndarray[Any, Any]

# NumExpr's instructions and functions, and the ops that they are where those have another name.
_ROWS = {
    **{"add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative"},
    **{"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor", "invert": "bitwise_invert"},
    **{"lshift": "left_shift", "rshift": "right_shift", "pow": "power"},
    "complex": "make_complex",
    **{"eq": "equal", "ne": "not_equal", "gt": "greater", "ge": "greater_equal"},
}
# NumPy's function of texts, by the instruction.
_TEXTS: Mapping[str, Callable[[Any, Any], Any]] = {
    **{"eq": np.equal, "ne": np.not_equal, "gt": np.greater, "ge": np.greater_equal},
    "contains": lambda text, part: np.strings.find(text, part) >= 0,
}


@dataclass(frozen=True, slots=True)
class TextTest:
    """A comparison of texts: each side the position of a variable, or bytes."""

    name: str
    sides: tuple[int | bytes, int | bytes]

    def __call__(self, arrays: Sequence[Array]) -> Array:
        """Return what it gives for the variables' arrays: bools."""
        left, right = (np.asarray(arrays[side] if isinstance(side, int) else side) for side in self.sides)
        return np.asarray(_TEXTS[self.name](left, right))


@dataclass(frozen=True, slots=True)
class Computation:
    """What a call does: the kernel's operands, and the kernel, which may reduce what it computes.

    Attributes
    ----------
    dtype : of the result; None for a copied text.
    sources : for each operand of the kernel the position of a variable, or a comparison of texts.
    kernel : None where the only source is the result, or there is a constant.
    constant : the result of an expression without variables.
    reduction : the name of a reduction and its axis.
    """

    dtype: np.dtype[Any] | None
    sources: tuple[int | TextTest, ...]
    kernel: Kernel | None = None
    constant: Any = None
    reduction: tuple[str, int | None] | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a call is one call of the kernel with all arrays as they are."""
        return self.kernel is not None and self.reduction is None and self.sources == tuple(range(len(self.sources)))

    def __call__(self, arrays: Sequence[Array], out: Array | None, order: Any, casting: str) -> Array:
        """Return the result for the variables' arrays, which is `out` if there is one."""
        operands = [arrays[at] if isinstance(at, int) else at(arrays) for at in self.sources]
        if self.reduction is not None:
            return self._reduced(operands, out, order, casting)
        return self._elements(operands, out, order, casting)

    def _elements(self, operands: list[Array], out: Array | None, order: Any, casting: str) -> Array:
        if self.kernel is None:
            value = np.asarray(self.constant, self.dtype) if not operands else operands[0]
            if out is None:
                return np.array(value, order=order)
            if not operands and out.size != 1:
                raise ValueError(f"out has {out.size} elements; output for a constant expression must have size 1")
            np.copyto(out, value, casting=casting)  # type: ignore[arg-type]
            return out
        keywords: dict[str, Any] = {} if order == "K" or out is not None else {"order": order}
        if out is not None and casting == "unsafe":
            keywords["casting"] = casting
        result: Array = self.kernel(*operands, out=out, **keywords)
        return result

    def _reduced(self, operands: list[Array], out: Array | None, order: Any, casting: str) -> Array:
        assert self.reduction is not None
        assert self.kernel is not None
        name, axis = self.reduction
        rank = max(operand.ndim for operand in operands)
        if axis is not None and axis >= rank:
            raise ValueError(f"reduction axis is out of bounds: axis {axis}, and {name} is of {rank} dims")
        found = np.asarray(self.kernel(*operands))
        if out is None:
            # The kernel's own result is in C order.
            return np.array(found, order=order) if order not in ("K", "C") else found
        if axis is None and out.size != 1:
            raise ValueError(f"out has {out.size} elements; out argument must have size 1 for a full reduction")
        np.copyto(out, found.reshape(out.shape) if axis is None else found, casting=casting)  # type: ignore[arg-type]
        return out


def lowered(root: ASTNode, names: Sequence[str]) -> Computation:
    """Return the computation of a typed op over variables in this order."""
    reduction = None
    if root.value in REDUCTIONS:
        element, axis = root.children
        reduction, root = (root.value, None if axis.value == ALL_AXES else axis.value), element
    lowering = _Lowering(names)
    dtype = DTYPES[root.astKind].np if root.astKind in DTYPES else None
    if root.astType == "variable" and dtype is not None and reduction is None:
        return Computation(dtype, (lowering.names.index(root.value),), None, None, reduction)
    if dtype is None or (root.astType == "op" and root.signature[1:] == "ss"):
        return lowering.of_text(root, dtype)
    result = lowering.result(root)
    if isinstance(result, Constant):
        return Computation(dtype, (), None, result.value)
    if reduction is not None:
        result = lowering.reduced(*reduction, result, DTYPES[root.astKind])
    builder, operands = lowering.builder, tuple(operand.name for operand in lowering.builder.operands)
    kernel = Kernel(builder.finish((result,)), "evaluate", operands)
    kernel.scalars = False
    return Computation(dtype, tuple(lowering.sources), kernel, None, reduction)


class _Lowering:
    """Builds the nodes of a kernel; its operands are the variables that are numbers, then comparisons of texts."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self.builder = Builder()
        self.sources: list[int | TextTest] = []

    def of_text(self, root: ASTNode, dtype: np.dtype[Any] | None) -> Computation:
        """Return a computation of NumPy's alone: a comparison of texts, or a text that is copied."""
        if root.value in _TEXTS:
            return Computation(dtype, (self._test(root),))
        (leaf,) = root.children
        side = self._side(leaf)
        return Computation(None, (side,)) if isinstance(side, int) else Computation(None, (), None, side)

    def _side(self, leaf: ASTNode) -> int | bytes:
        return self.names.index(leaf.value) if leaf.astType == "variable" else bytes(constant_value(leaf))

    def _test(self, node: ASTNode) -> TextTest:
        left, right = map(self._side, node.children)
        return TextTest(node.value, (left, right))

    def _operand(self, name: str, source: int | TextTest) -> Node:
        self.sources.append(source)
        taken = {"out", *KEYWORDS, *(operand.name for operand in self.builder.operands)}
        while name in taken:
            name += "_"
        return self.builder.operand(name)

    def result(self, root: ASTNode) -> Node:
        """Return the node of a typed op."""
        order = list(root.allOf("variable", "constant", "op"))
        made: dict[int, Node] = {}
        variables = {node.value: node for node in order if node.astType == "variable" and node.astKind in DTYPES}
        for at, name in enumerate(self.names):
            if name in variables:
                node = variables[name]
                made[id(node)] = self.builder.convert(self._operand(name, at), DTYPES[node.astKind])
        for node in order:
            if node.astKind not in DTYPES or id(node) in made:
                continue
            if node.astType == "constant":
                made[id(node)] = self._constant(node)
            elif node.signature[1:] == "ss":
                made[id(node)] = self._operand("text", self._test(node))
            else:
                made[id(node)] = self._op(node, tuple(made[id(child)] for child in node.children))
        return made[id(root)]

    def reduced(self, name: str, axis: int | None, values: Node, kind: DType) -> Node:
        """Return the node of a reduction; minimum and maximum skip NaN, as NumExpr's do."""
        skips = name in ("min", "max") and kind.is_float
        made = FUNCTIONS[f"nan{name}" if skips else name](Tracer(self.builder, values), axis)
        return self.builder.convert(made.node, kind)

    def _constant(self, node: ASTNode) -> Node:
        value = constant_value(node)
        return self.builder.keep(Constant(value.item() if hasattr(value, "item") else value, DTYPES[node.astKind]))

    def _apply(self, name: str, *operands: Node) -> Node:
        return self.builder.apply(OPS[name], operands)

    def _op(self, node: ASTNode, x: tuple[Node, ...]) -> Node:
        special = _SPECIAL.get((node.value, "integer" if node.signature[0] in "il" else "float"))
        if special is not None:
            return special(self, node, x)
        return self._apply(_ROWS.get(node.value, node.value), *x)

    def _number(self, node: ASTNode, value: int) -> Node:
        return self.builder.keep(Constant(DTYPES[node.astKind].np.type(value).item(), DTYPES[node.astKind]))

    def _copy(self, _node: ASTNode, x: tuple[Node, ...]) -> Node:
        return x[0]

    def _cast(self, node: ASTNode, x: tuple[Node, ...]) -> Node:
        return self.builder.convert(x[0], DTYPES[node.astKind])

    def _ones_like(self, node: ASTNode, x: tuple[Node, ...]) -> Node:
        return self._apply("full_like", x[0], self._number(node, 1))

    def _integer_quotient(self, _node: ASTNode, x: tuple[Node, ...]) -> Node:
        return self._apply("truncate_divide", *x)

    def _integer_power(self, node: ASTNode, x: tuple[Node, ...]) -> Node:
        """Return a power; one with a negative exponent is 1 over the base, rounded towards 0."""
        base, exponent = x
        if isinstance(exponent, Constant) and exponent.value >= 0:
            return self._apply("power", base, exponent)
        zero, one = self._number(node, 0), self._number(node, 1)
        inverse = self._apply("truncate_divide", one, base)
        whole = self._apply("power", base, self._apply("maximum", exponent, zero))
        return self._apply("where", self._apply("less", exponent, zero), inverse, whole)

    def _float_quotient(self, _node: ASTNode, x: tuple[Node, ...]) -> Node:
        return self._apply("floor", self._apply("divide", *x))

    def _float_remainder(self, node: ASTNode, x: tuple[Node, ...]) -> Node:
        """Return what NumExpr computes, x - floor(x / y) * y, which NumPy's remainder is not in its last bits."""
        return self._apply("subtract", x[0], self._apply("multiply", self._float_quotient(node, x), x[1]))

    def _magnitude(self, node: ASTNode, x: tuple[Node, ...]) -> Node:
        return self.builder.convert(self._apply("absolute", *x), DTYPES[node.astKind])


_SPECIAL: dict[tuple[str, str], Callable[[_Lowering, ASTNode, tuple[Node, ...]], Node]] = {
    **{("copy", kind): _Lowering._copy for kind in ("integer", "float")},
    **{("cast", kind): _Lowering._cast for kind in ("integer", "float")},
    **{("ones_like", kind): _Lowering._ones_like for kind in ("integer", "float")},
    ("div", "integer"): _Lowering._integer_quotient,
    ("pow", "integer"): _Lowering._integer_power,
    ("mod", "integer"): lambda self, _node, x: self._apply("remainder", *x),
    ("mod", "float"): _Lowering._float_remainder,
    ("floordiv", "integer"): lambda self, _node, x: self._apply("floor_divide", *x),
    ("floordiv", "float"): _Lowering._float_quotient,
    ("absolute", "float"): _Lowering._magnitude,
}
