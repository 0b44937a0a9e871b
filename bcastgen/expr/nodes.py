"""The expression DAG: operands, constants and applications of ops, immutable and shared.

In: rows of the op table.  Out: an :class:`Expression`, which prints as a list of values.

    (a + b) * (a + b)  ->  expr (a, b)
                             t0 = add(a, b)
                             t1 = multiply(t0, t0)
                             return t1

Nodes compare by identity: a builder makes one node for each distinct value, so sharing is structural. Every walk goes
through :func:`topological`, which does not recurse: expressions may be thousands of ops deep.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..core.dtypes import DType, Weak
from ..core.frozen import dataclass
from ..core.source_lines import SourceLine
from ..ops.row import Op

if TYPE_CHECKING:
    from ..ops.rows.reductions import Reduction
    from ..shape.types.tensor_type import TensorType
    from .views import View

__all__ = [
    "NO_NOTES",
    "Apply",
    "Constant",
    "Expression",
    "Node",
    "Notes",
    "Operand",
    "Params",
    "Reduce",
    "Remap",
    "Sizing",
    "TypeAssertion",
    "children",
    "concrete",
    "has_reductions",
    "has_views",
    "literal",
    "topological",
]

# The parameters of an op's row.
Params = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Notes:
    """How an op was written, as far as dtypes depend on that: typing reads these notes, and drops them.

    Attributes
    ----------
    called : the op is called by name, not written as an operator or attribute: for Python numbers it gives a result
        with a dtype, as NumPy's function does.
    method : the op is called as a method of an array, which returns a real array unchanged.
    makes_array : NumPy makes an array of the first operand, so that a Python number there is not weak.
    decimals : how many decimals the op rounds to.
    loops : the dtypes of the ufunc's loops, as NumPy's codes, in its order; "math" if floats keep their dtype, and all
        else is computed in f64.
    ufunc : the name of the ufunc that has these loops.
    casting : NumPy's casting rule that the conversion has to satisfy; "" for none.
    meets : the rule does not apply to a Python number: it has to fit the dtype that it is converted to.
    weak : the result of the conversion is weak, like a Python number.
    branches : the op selects between two branches of the user's function: if both values are weak, so is the result.
    guards : the kinds of dtypes, separated by spaces ("any" for all), for whose values this selection is made; for any
        other dtype the result is the value itself.
    dtype_only : of the first operand only the dtype is used.
    deviation : the op subtracts a mean from values.
    mask : the name of the reduction whose `where=` the first operand is.
    initial : the name of the reduction whose initial value the second operand is.
    """

    called: bool = False
    method: bool = False
    makes_array: bool = False
    decimals: int = 0
    loops: str = ""
    ufunc: str = ""
    casting: str = ""
    meets: bool = False
    weak: bool = False
    branches: bool = False
    guards: str = ""
    dtype_only: bool = False
    deviation: bool = False
    mask: str = ""
    initial: str = ""

    @property
    def given(self) -> dict[str, bool | int | str]:
        """What is noted.

        Examples
        --------
        >>> Notes(decimals=2).given
        {'decimals': 2}
        """
        values = ((name, getattr(self, name)) for name in self.__match_args__)
        return {name: value for name, value in values if value}


NO_NOTES = Notes()


@dataclass(frozen=True, slots=True, eq=False)
class Operand:
    """An array that is passed to the kernel. `dtype` is None until the expression is typed."""

    index: int
    name: str
    dtype: DType | Weak | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A scalar known when the expression is built: a bool, int, float or complex; weak if it was a Python scalar."""

    value: Any
    dtype: DType | Weak


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """One op applied to nodes, with its static parameters. Until it is typed `dtype` is None, and it may have notes."""

    op: Op
    operands: tuple[Node, ...]
    params: Params = ()
    dtype: DType | None = None
    notes: Notes = NO_NOTES


@dataclass(frozen=True, slots=True, eq=False)
class Remap:
    """A value read through another indexing map; `like` is the value whose shape it takes, if any."""

    operand: Node
    view: View
    like: Node | None = None
    dtype: DType | Weak | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Reduce:
    """The elements of a value along some dims, combined into one; `axes` is None for all dims.

    `keepdims` leaves a dim of extent 1 in the place of each. `initial` says that an initial value follows, so that dims
    may have extent 0: it is combined by an op of its own. A mean divides by the number of elements less `ddof`.
    """

    op: Reduction
    operand: Node
    axes: tuple[int, ...] | None
    keepdims: bool = False
    initial: bool = False
    ddof: int = 0
    dtype: DType | None = None

    @property
    def settings(self) -> str:
        """How it reduces, as the dump shows it."""
        shown = ["" if self.axes is None else f"axes={list(self.axes)}", "keepdims" * self.keepdims]
        shown += ["initial" * self.initial, f"ddof={self.ddof}" if self.ddof else ""]
        return "".join(f", {one}" for one in shown if one)


Node = Operand | Constant | Apply | Remap | Reduce


@dataclass(frozen=True, slots=True, eq=False)
class TypeAssertion:
    """The value of `node` has this type: verified like a declared result, but not stored. Errors call it `name`."""

    node: Node
    name: str
    type: TensorType


@dataclass(frozen=True, slots=True, eq=False)
class Sizing:
    """An op whose result its own shape function sizes: the values it is of, and the names of the result's extents.

    The op itself is applied element by element to views of the values, which are broadcast to these names: see
    `build`. Each name is a free extent of the expression. `result` is the node of the op.
    """

    op: Op
    operands: tuple[Node, ...]
    extents: tuple[str, ...]
    result: Node


_NO_LINES: Mapping[Node, SourceLine] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """Named operands and the nodes that are the results, in order.

    `free_extents` are the indices of the operands that have an extent only, which the caller gives: see the module of
    that name. `type_assertions` are types of intermediate values. `sizings` tell free extents from the values' shapes.
    `lines` say for messages where in a user's source ops are applied.
    """

    operands: tuple[Operand, ...]
    results: tuple[Node, ...]
    free_extents: tuple[int, ...] = ()
    type_assertions: tuple[TypeAssertion, ...] = ()
    sizings: tuple[Sizing, ...] = ()
    lines: Mapping[Node, SourceLine] = _NO_LINES

    @property
    def roots(self) -> tuple[Node, ...]:
        """The nodes that reach all others: the results, then the nodes that a type is asserted of."""
        return (*self.results, *(assertion.node for assertion in self.type_assertions))

    def __str__(self) -> str:
        names: dict[Node, str] = {}
        lines: list[str] = []
        for node in topological(self.roots):
            if isinstance(node, Apply):
                names[node] = f"t{len(lines)}"
                said = (*node.params, *node.notes.given.items())
                shown = [*(names[child] for child in node.operands), *(f"{key}={value}" for key, value in said)]
                suffix = "" if node.dtype is None else f" : {node.dtype}"
                lines.append(f"  {names[node]} = {node.op.name}({', '.join(shown)}){suffix}")
            elif isinstance(node, Reduce):
                names[node] = f"t{len(lines)}"
                suffix = "" if node.dtype is None else f" : {node.dtype}"
                lines.append(f"  {names[node]} = {node.op.name}({names[node.operand]}{node.settings}){suffix}")
            elif isinstance(node, Remap):
                names[node] = f"t{len(lines)}"
                like = "" if node.like is None else f", like={names[node.like]}"
                suffix = f" : {node.dtype}" if isinstance(node.dtype, DType) else ""
                lines.append(f"  {names[node]} = {node.view}({names[node.operand]}{like}){suffix}")
            else:
                names[node] = node.name if isinstance(node, Operand) else literal(node)
        heads = (o.name if o.dtype is None else f"{o.name}: {o.dtype}" for o in self.operands)
        for one in self.sizings:
            shown = [names.get(node, "?") for node in one.operands]
            lines.append(f"  ({', '.join(one.extents)}) = shape of {one.op.name}({', '.join(shown)})")
        lines += [f"  claim {names[one.node]} : {one.type} ('{one.name}')" for one in self.type_assertions]
        lines.append("  return " + ", ".join(names[node] for node in self.results))
        return f"expr ({', '.join(heads)})\n" + "\n".join(lines)


def literal(node: Constant) -> str:
    """Spell a constant exactly (Python's repr round-trips), with its dtype unless it is weak."""
    return repr(node.value) if isinstance(node.dtype, Weak) else f"{node.value!r}:{node.dtype}"


def children(node: Node) -> tuple[Node, ...]:
    """Return the operands of a node in order; a value that only gives its shape is last."""
    match node:
        case Apply():
            return node.operands
        case Reduce():
            return (node.operand,)
        case Remap():
            return (node.operand,) if node.like is None else (node.operand, node.like)
    return ()


def concrete(node: Node) -> DType:
    """Return the dtype of a typed node."""
    assert isinstance(node.dtype, DType)
    return node.dtype


def topological(results: Iterable[Node]) -> list[Node]:
    """Return every node that the results need, each once, operands before their users.

    Examples
    --------
    >>> a = Operand(0, "a")
    >>> len(topological((a, a)))
    1
    """
    order: dict[Node, None] = {}
    stack = [(node, False) for node in reversed(tuple(results))]
    while stack:
        node, ready = stack.pop()
        if node in order:
            continue
        below = () if ready else children(node)
        if not below:
            order[node] = None
            continue
        stack.append((node, True))
        stack.extend((child, False) for child in reversed(below))
    return list(order)


def has_reductions(expression: Expression) -> bool:
    """Whether an expression reduces a value."""
    return any(isinstance(node, Reduce) for node in topological(expression.roots))


def has_views(results: tuple[Node, ...]) -> bool:
    """True if a result needs an indexing map that aligning on the right does not give, as where dims are reduced."""
    return any(isinstance(node, (Reduce, Remap)) for node in topological(results))
