"""Kernels and calls of the shape model from the text that they print as, so that a report is a case.

parse_kernel('(f64[?, n] a) -> f64[n, n] : broadcast_to(a, (n, n)); dynamic="strict"')
parse_call("(1, 2), k=3")
"""

from __future__ import annotations

import ast
import re

from shape_kernels import Call
from shape_model_kernel import Apply, Const, Dim, Kernel, NewAxes, Operand, Read, Spread, Transpose, Type

OPTIONS = {
    'dynamic="strict"': {"strict": True},
    "stretch=False": {"stretch": False},
    "rank_expansion=False": {"rank_expansion": False},
}
OPS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
DIM = re.compile(r"(\?|\w+)(?:>=(\d+))?(?:<=(\d+))?(?:%(\d+))?([!~]?)")


def parse_kernel(text):
    signature, *options = text.split("; ")
    operands, _, rest = signature.partition(" -> ")
    declared, _, body = rest.rpartition(" : ")
    types = re.findall(r"f64\[([^]]*)\] (\w+)", operands)
    tree = ast.parse(body.strip(), mode="eval").body
    given = {name: value for option in options for name, value in OPTIONS[option].items()}
    results = tuple(map(_node, tree.elts if isinstance(tree, ast.Tuple) else [tree]))
    results_types = tuple(map(_type, re.findall(r"f64\[([^]]*)\]", declared))) or None
    return Kernel(tuple(Operand(name, _type(dims)) for dims, name in types), results, results_types, **given)


def _type(text):
    dims = [dim.strip() for dim in re.split(r",(?![^(]*\))", text) if dim.strip()]
    is_open = dims[:1] == ["*"]
    return Type(tuple(map(_dim, dims[is_open:])), is_open)


def _dim(text):
    if text == "bcast":
        return Dim(1, flag="bcast")
    found = DIM.fullmatch(text)
    if found is None:
        return Dim(computed=text.rstrip("!~"), flag=text[-1] if text[-1] in "!~" else "")
    value, low, high, step, flag = found.groups()
    bounds = int(low or 0), None if high is None else int(high), int(step or 1)
    if value.isdigit():
        return Dim(int(value), None, *bounds, flag)
    return Dim(None, None if value == "?" else value, *bounds, flag)


def _node(tree):
    match tree:
        case ast.Name(name):
            return Read(name)
        case ast.Constant(value):
            return Const(value)
        case ast.BinOp(left, op, right):
            return Apply(OPS[type(op)], (_node(left), _node(right)))
        case ast.Attribute(value, "T"):
            return Transpose(_node(value))
        case ast.Subscript(value, index):
            items = index.elts if isinstance(index, ast.Tuple) else [index]
            return NewAxes(_node(value), tuple(map(_item, items)))
        case ast.Call(ast.Name("transpose"), [value, axes]):
            return Transpose(_node(value), ast.literal_eval(axes))
        case ast.Call(ast.Name("broadcast_to" | "broadcast_in_dim"), [value, target, *dims]):
            names = isinstance(target, ast.Tuple)
            target = tuple(map(_extent, target.elts)) if names else Read(target.id)
            return Spread(_node(value), target, ast.literal_eval(dims[0]) if dims else None)
    raise ValueError(ast.dump(tree))


def _item(tree):
    return ":" if isinstance(tree, ast.Slice) else "..." if tree.value is Ellipsis else "None"


def _extent(tree):
    return tree.id if isinstance(tree, ast.Name) else tree.value


def parse_call(text):
    extents = re.findall(r"\(([\d, ]*)\)", text)
    given = re.findall(r"(\w+)=(\d+)", text)
    return Call(
        tuple(tuple(map(int, re.findall(r"\d+", one))) for one in extents),
        tuple((name, int(extent)) for name, extent in given),
        tuple((int(at), int(dim)) for at, dim in re.findall(r"strict (\d+)\.(\d+)", text)),
    )
