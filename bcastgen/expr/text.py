"""Reads expressions from text, by Python's grammar and an allowlist of its nodes; never evaluates anything.

In: ``"a*b + exp(c)"``.  Out: its :class:`Expression`, operands in order of first appearance.

    "where(a > 0, a, 0.1*a)"  ->  t0 = greater(a, 0); t1 = multiply(0.1, a); t2 = where(t0, a, t1)

Text may be hostile: it is parsed, never run, and errors name the column.

The file is long because it has a case for each node of Python's grammar that an expression may hold.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..core.dtypes import DTYPES, DType, dtype, in_numpy_code, meant_by
from ..core.errors import BcastgenError, ParseError, TraceError, with_article
from ..core.near_names import did_you_mean
from ..core.python_text import parse_expression
from ..ops.row import Op
from ..ops.table import OPS, SEVERAL, find_op, find_operator, known_ops, several
from . import refusals
from .build import Builder
from .nodes import Expression, Node, Operand
from .text_calls import FunctionCall, is_candidate
from .text_reductions import CHOICE, ReductionCall, reduction_call
from .text_views import ViewCall, view_call

if TYPE_CHECKING:
    from ..shape.types.tensor_type import TensorType

__all__ = ["not_elementwise", "parse", "row_of"]

MAX_TEXT = 150_000
_MOST_RESULTS = 500

# Python's operator nodes, and the dunder name in the op's row.
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.UAdd: "pos",
    ast.USub: "neg",
    ast.Invert: "invert",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
# Python's operators without an op; and operators of C, with Python's spelling.
_OTHERS: dict[type[ast.AST], str] = {
    ast.MatMult: "@",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.Not: "not",
}
_OF_C = {"&&": "&", "||": "|", "!": "~"}
_DTYPE_NAMES = {name: row for row in DTYPES for name in (row.name, row.numpy)}
_ASTYPE = ("dtype", "order", "casting", "subok", "copy")
_MODULES = ("np", "numpy", "bg", "bcastgen", "math")
# Numbers that these modules have: `np.pi`.
_NUMBERS = {name: float(getattr(math, name)) for name in ("pi", "e", "inf", "nan")}


def parse(text: str, names: tuple[str, ...] | None = None, types: tuple[TensorType, ...] | None = None) -> Expression:
    """Return the expression that a text describes.

    Parameters
    ----------
    text : one Python expression, or a tuple of them for several results, of names, numbers, operators, comparisons and
        calls of ops (``exp(x)``), of dtypes (``float32(x)``), of ``.astype(dtype)``, of views (``transpose(x)``,
        ``x[:, None]``), and of NumPy's functions and methods that traced functions may call (``clip(x, min=0)``).
    names : the operands, in order; None takes the names in order of first appearance.
    types : their declared types; the text may ask for what these say: ``x.shape[0]``, ``x.ndim``, ``x.dtype``.

    Raises
    ------
    ParseError
        If the text holds anything else; the message names the column and what is allowed.

    Examples
    --------
    >>> print(parse("a*b + 1"))
    expr (a, b)
      t0 = multiply(a, b)
      t1 = add(t0, 1)
      return t1
    """
    if len(text) > MAX_TEXT:
        raise ParseError(f"the expression has {len(text)} characters; the limit is {MAX_TEXT}")
    try:
        tree = parse_expression(text.strip())
    except SyntaxError as error:
        slip = _slip(text.strip())
        if slip is not None:
            raise ParseError(f"{slip} (in {_excerpt(text)})") from None
        # Python gives no column where the text ends too early.
        cure = "; put an expression of several lines in parentheses" if "\n" in text.strip() else ""
        raise ParseError(f"column {error.offset or len(text) + 1}: {error.msg}{cure} (in {_excerpt(text)})") from None
    except (RecursionError, MemoryError, ValueError) as error:
        raise ParseError(
            f"the expression cannot be read ({str(error) or 'it is nested too deeply'}): {_excerpt(text)}"
        ) from None
    return _Reader(text, names, types).read(tree)


def row_of(operator: ast.AST) -> Op | None:
    """Return the op of an operator in Python's syntax tree; None if it is not element-wise."""
    dunder = _OPERATORS.get(type(operator))
    return None if dunder is None else find_operator(dunder)


def not_elementwise(operator: ast.AST) -> str:
    """Return why an operator without an op is refused."""
    what = "a matrix product" if isinstance(operator, ast.MatMult) else "of Python's objects"
    return f"the operator {_OTHERS[type(operator)]} is {what}, not element-wise; compute it outside the kernel"


def _slip(text: str) -> str | None:
    """Return the message for an operator of C in a text that Python cannot parse; None if there is none."""
    found = re.search(r"&&|\|\||!(?!=)", text)
    if found is None:
        return None
    column, cure = found.start() + 1, _OF_C[found[0]]
    binds = ", which binds closer than comparisons: put these in parentheses" if cure != "~" else ""
    return f"column {column}: {found[0]} is no operator here; write {cure}{binds}"


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


class _Reader:
    """Turns Python's tree into nodes without recursing: operands first, then the ops applied to them."""

    def __init__(self, text: str, names: tuple[str, ...] | None, types: tuple[TensorType, ...] | None = None) -> None:
        self.text = text
        self.closed = names is not None
        self.builder = Builder(names or ())
        self.builder.types.update(zip(self.builder.operands, types or (), strict=False))
        self.operands = {operand.name: operand for operand in self.builder.operands}
        self.calls: dict[ast.expr, FunctionCall] = {}
        self.nodes: dict[ast.expr, Node] = {}
        self.views: dict[ast.expr, ViewCall] = {}
        self.reductions: dict[ast.expr, ReductionCall] = {}
        self.several: dict[ast.expr, tuple[Node, ...]] = {}
        self.column = 0
        self.builder.line = lambda: ("column", self.column)

    def read(self, body: ast.expr) -> Expression:
        # A tuple at the top is several results.
        shown = body.elts if isinstance(body, ast.Tuple) and body.elts else [body]
        if len(shown) > _MOST_RESULTS:
            raise ParseError(f"the expression has {len(shown)} results; the limit is {_MOST_RESULTS}")
        stack: list[tuple[ast.expr, bool]] = [(tree, False) for tree in reversed(shown)]
        while stack:
            tree, ready = stack.pop()
            if ready:
                self.nodes[tree] = self._combine(tree)
                continue
            stack.append((tree, True))
            stack.extend((child, False) for child in reversed(list(self._children(tree))))
        inner = [tree for tree in self.several if tree not in shown]
        if inner:
            raise self._error(inner[0], "this gives several results; write it where the results are")
        return self.builder.finish(tuple(x for tree in shown for x in self.several.get(tree, (self.nodes[tree],))))

    def _children(self, tree: ast.expr) -> Iterator[ast.expr]:
        if _asked_for(tree) is not None:
            return
        view = view_call(tree, _is_module, self._error)
        if view is not None:
            self.views[tree] = view
            yield from (view.value,) if view.like is None else (view.value, view.like)
            return
        is_cast = isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) and tree.func.attr == "astype"
        reduction = None if is_cast else reduction_call(tree, _is_module, self._dtype, self._error)
        if reduction is not None:
            self.reductions[tree] = reduction
            yield from (reduction.value,) if reduction.where is None else (reduction.value, reduction.where)
            return
        if is_candidate(tree, _is_module) and (call := self._function_call(tree)) is not None:
            self.calls[tree] = call
            yield from call.values()
            return
        match tree:
            case ast.BinOp(left=left, right=right):
                yield from (left, right)
            case ast.UnaryOp(op=ast.UAdd() | ast.USub() | ast.Invert(), operand=operand):
                yield operand
            case ast.Compare(left=left, comparators=comparators):
                yield from (left, *comparators)
            case ast.Call(func=ast.Attribute(value=value, attr="astype")) if not _is_module(value):
                yield value
            case ast.Call(args=args):
                yield from args
            case ast.Name() | ast.Constant():
                return
            case ast.Attribute(value=value, attr=name) if name in _NUMBERS and _is_module(value):
                return
            case _:
                raise self._error(tree, _cure(tree))

    def _combine(self, tree: ast.expr) -> Node:
        self.column = tree.col_offset + 1
        try:
            return self._node(tree)
        except ParseError:
            raise
        except TraceError as error:
            raise self._error(tree, str(error)) from None
        except BcastgenError as error:
            raise type(error)(f"column {tree.col_offset + 1}: {error}") from None

    def _function_call(self, tree: ast.expr) -> FunctionCall | None:
        from .text_calls import function_call  # noqa: PLC0415 - most texts have operands only

        return function_call(tree, _is_module, self._dtype, self._error)

    def _tracer(self, tree: ast.expr) -> Any:
        from .trace import Tracer  # noqa: PLC0415 - most texts need none

        return Tracer(self.builder, self.nodes[tree])

    def _declared(self, name: str, what: str) -> Any:
        """Return what the declared type of an operand says."""
        from .trace import Tracer  # noqa: PLC0415 - most texts need none

        return getattr(Tracer(self.builder, self.operands[name]), what)

    def _node(self, tree: ast.expr) -> Node:  # noqa: PLR0911
        if tree in self.calls:
            return self.calls[tree].result(tree, self._tracer, self._error)
        asked = _asked_for(tree)
        if asked is not None:
            self._operand(tree, asked[0])
            shape = self._declared(*asked[:2])
            return self.builder.constant(shape if asked[2] is None else self._extent(tree, shape, asked[2]))
        if tree in self.views:
            return self._view(tree, self.views[tree])
        if tree in self.reductions:
            return self._reduction(self.reductions[tree])
        match tree:
            case ast.Constant(value=value):
                if not isinstance(value, (bool, int, float, complex)):
                    kind = with_article(type(value).__name__)
                    raise self._error(tree, f"{kind} is not a number an expression can hold")
                return self.builder.constant(value)
            case ast.Name(id=name):
                return self._operand(tree, name)
            case ast.Attribute(attr=name) if name in _NUMBERS:
                return self.builder.constant(_NUMBERS[name])
            case ast.BinOp(left=left, op=operator, right=right):
                return self.builder.apply(self._operator(tree, operator), (self.nodes[left], self.nodes[right]))
            case ast.UnaryOp(op=operator, operand=operand):
                return self.builder.apply(self._operator(tree, operator), (self.nodes[operand],))
            case ast.Compare():
                return self._comparison(tree)
            case ast.Call():
                return self._call(tree)
        raise self._error(tree, _cure(tree))

    def _extent(self, tree: ast.expr, shape: tuple[int, ...], dim: int) -> int:
        if not -len(shape) <= dim < len(shape):
            raise self._error(tree, f"there is no dim {dim} in the shape {shape}")
        return shape[dim]

    def _view(self, tree: ast.expr, view: ViewCall) -> Node:
        like = None if view.like is None else self.nodes[view.like]
        if like is not None and not isinstance(like, Operand):
            raise self._error(tree, "a shape is taken from an operand")
        return self.builder.remap(self.nodes[view.value], view.view, like)

    def _reduction(self, call: ReductionCall) -> Node:
        from .reductions import FUNCTIONS  # noqa: PLC0415 - most kernels reduce nothing
        from .trace import Tracer  # noqa: PLC0415 - most kernels reduce nothing

        where = {} if call.where is None else {CHOICE: Tracer(self.builder, self.nodes[call.where])}
        made: Node = FUNCTIONS[call.name](Tracer(self.builder, self.nodes[call.value]), **call.options, **where).node
        return made

    def _operand(self, tree: ast.expr, name: str) -> Node:
        if name in self.operands:
            return self.operands[name]
        if self.closed:
            raise self._error(tree, f"unknown name {name!r}; the operands are {', '.join(self.operands) or 'none'}")
        self.operands[name] = self.builder.operand(name)
        return self.operands[name]

    def _operator(self, tree: ast.expr, operator: ast.AST) -> Op:
        row = row_of(operator)
        if row is None:
            raise self._error(tree, not_elementwise(operator))
        return row

    def _comparison(self, tree: ast.Compare) -> Node:
        # As in Python, a < b < c is (a < b) & (b < c).
        sides = [self.nodes[side] for side in (tree.left, *tree.comparators)]
        terms = [
            self.builder.apply(self._operator(tree, operator), (left, right))
            for operator, left, right in zip(tree.ops, sides, sides[1:], strict=False)
        ]
        result = terms[0]
        for term in terms[1:]:
            result = self.builder.apply(OPS["logical_and"], (result, term))
        return result

    def _call(self, tree: ast.Call) -> Node:
        match tree.func:
            case ast.Attribute(value=value, attr="astype") if not _is_module(value):
                return self._astype(self.nodes[value], tree)
            case ast.Name(id=name):
                pass
            case ast.Attribute(value=value, attr=name) if _is_module(value):
                pass
            case _:
                raise self._error(tree, _method(tree.func))
        operands = tuple(self.nodes[argument] for argument in tree.args)
        op = find_op(name)
        rows = several(name)
        if rows and len(operands) == rows[0].arity:
            self.several[tree] = tuple(self.builder.call(one, operands) for one in rows)
            return self.several[tree][0]
        if op is None or len(operands) != op.arity:
            composed = self._composed(name, tree)
            if composed is not None:
                return composed
        if op is None and len(operands) == 1 and (name in _DTYPE_NAMES or meant_by(name)):
            return self.builder.convert(operands[0], self._plain_dtype(tree, name))
        if op is None or op.params:
            why = refusals.function(name) or (
                f"unknown function {name!r}{_suggestion(name)}; `bcastgen ops` lists what there is"
            )
            raise self._error(tree, why)
        if tree.keywords:
            raise self._error(tree, f"{name} takes operands by position, and nothing by name")
        if len(operands) != op.arity:
            raise self._error(tree, f"{name} takes {op.arity} operand{'s' * (op.arity != 1)}, got {len(operands)}")
        return self.builder.call(op, operands)

    def _composed(self, name: str, tree: ast.Call) -> Node | None:
        """Return what a function of NumPy's that is several ops gives; None for any other."""
        from .trace import composed  # noqa: PLC0415 - most kernels need none

        values = list(map(_number, tree.args))
        return composed(name, self.builder, [self.nodes[argument] for argument in tree.args], values)

    def _astype(self, node: Node, tree: ast.Call) -> Node:
        given = dict(zip(_ASTYPE, tree.args, strict=False))
        for keyword in tree.keywords:
            if keyword.arg not in _ASTYPE or keyword.arg in given:
                raise self._error(keyword.value, f"astype takes {', '.join(_ASTYPE)}, each once")
            given[keyword.arg] = keyword.value
        others = [given[name] for name in _ASTYPE[1:] if name in given]
        plain = all(isinstance(value, ast.Constant) and isinstance(value.value, (str, bool)) for value in others)
        if len(tree.args) > len(_ASTYPE) or "dtype" not in given or not plain:
            raise self._error(tree, "astype takes the name of a dtype, as in x.astype(f32)")
        casting = given.get("casting")
        rule = str(casting.value) if isinstance(casting, ast.Constant) else "unsafe"
        return self.builder.convert(node, self._dtype(given["dtype"]), casting=rule)

    def _dtype(self, tree: ast.expr) -> DType:
        match tree:
            case ast.Constant(value=str(name)):
                return in_numpy_code(name)
            case ast.Attribute(value=ast.Name(id=name), attr="dtype") if name in self.operands:
                return dtype(self._declared(name, "dtype"))
            case ast.Name(id=name) | ast.Attribute(attr=name) if len(name) > 1:
                return self._plain_dtype(tree, name)
        raise self._error(tree, "astype takes the name of a dtype, as in x.astype(f32)")

    def _plain_dtype(self, tree: ast.expr, name: str) -> DType:
        """Return the dtype of a name without quotes, ours or NumPy's; refuse a name that is ambiguous between them."""
        if meant := meant_by(name):
            raise self._error(tree, f"{name!r} counts bytes in NumPy, and bits in types; write {meant}")
        return dtype(name)

    def _error(self, tree: ast.expr, message: str) -> ParseError:
        return ParseError(f"column {tree.col_offset + 1}: {message} (in {_excerpt(self.text)})")


def _number(tree: ast.expr) -> Any:
    """Return the number that a text is, with its sign; None for what is none."""
    try:
        return ast.literal_eval(tree)
    except (ValueError, TypeError):
        return None


def _asked_for(tree: ast.expr) -> tuple[str, str, int | None] | None:
    """Return what a text asks of an operand's type, as in `x.ndim` and `x.shape[0]`; None for other text."""
    match tree:
        case ast.Attribute(value=ast.Name(id=name), attr="ndim" | "size" as what):
            return name, what, None
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=at):
            match at:
                case ast.Constant(value=int(dim)):
                    return name, "shape", dim
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(dim))):
                    return name, "shape", -dim
    return None


def _is_module(tree: ast.expr) -> bool:
    return isinstance(tree, ast.Name) and tree.id in _MODULES


def _method(tree: ast.expr) -> str:
    """Return why a call of this is refused: `x.sum()`, `np.linalg.norm(x)`."""
    name = tree.attr if isinstance(tree, ast.Attribute) else ""
    if find_op(name) is not None:
        return f"what {ast.unparse(tree)} is, text does not say; write {name}(...) for the op of that name"
    why = refusals.function(name) or (refusals.attribute(name) if name in refusals.OF_ARRAYS else None)
    return why or "only functions can be called; `bcastgen ops` lists what there is"


def _cure(tree: ast.AST) -> str:
    match tree:
        case ast.Attribute(attr=name):
            return refusals.attribute(name)
        case ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
            return "and, or and not have no meaning for arrays; use &, |, ~ or logical_and, logical_or, logical_not"
        case ast.IfExp():
            return "'x if c else y' has no meaning for arrays; use where(c, x, y)"
    return f"{type(tree).__name__} is not allowed; use names, numbers, operators, comparisons and calls of ops"


def _suggestion(name: str) -> str:
    from .compositions import COMPOSITIONS, WITH_NUMBERS  # noqa: PLC0415 - only errors need them
    from .reductions import FUNCTIONS  # noqa: PLC0415 - only errors need them

    ops = [op.name for op in known_ops() if not op.params]
    meant = did_you_mean(name, [*ops, *SEVERAL, *FUNCTIONS, *COMPOSITIONS, *WITH_NUMBERS], before="")
    return f" ({meant})" if meant else ""
