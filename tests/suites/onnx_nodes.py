"""ONNX's node tests of element-wise ops, computed by bcastgen's kernels.

In: the test cases of the installed package onnx: a node, operands and results.  Out: :class:`run.Outcomes`.

    Add -> bg.add;  Gelu -> a text of ops that exist;  Cast -> .astype

Nodes are one op each; what ONNX composes of others is a text here. Bounds are those of ONNX (1e-3, absolute 1e-7), and
a last bit for bf16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

import bcastgen as bg
from bcastgen.ops.table import find_op

# ONNX's name, and that of the op.
OPS = {
    **{"Abs": "abs", "Add": "add", "And": "logical_and", "BitwiseAnd": "bitwise_and", "BitwiseNot": "bitwise_invert"},
    **{"BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor", "Ceil": "ceil", "Cos": "cos", "Cosh": "cosh"},
    **{"Acos": "arccos", "Acosh": "arccosh", "Asin": "arcsin", "Asinh": "arcsinh", "Atan": "arctan"},
    **{"Atanh": "arctanh", "Equal": "equal", "Erf": "erf", "Exp": "exp", "Floor": "floor", "Greater": "greater"},
    **{"GreaterOrEqual": "greater_equal", "IsNaN": "isnan", "Less": "less", "LessOrEqual": "less_equal", "Log": "log"},
    **{"Mul": "multiply", "Neg": "negative", "Not": "logical_not", "Or": "logical_or", "Reciprocal": "reciprocal"},
    **{"Round": "rint", "Sigmoid": "sigmoid", "Sign": "sign", "Sin": "sin", "Sinh": "sinh", "Sqrt": "sqrt"},
    **{"Sub": "subtract", "Tan": "tan", "Tanh": "tanh", "Where": "where", "Xor": "logical_xor"},
}
# Ops of any number of operands.
FOLDS = {"Max": "maximum", "Min": "minimum", "Sum": "add"}
# ONNX's name, a text over x and attributes, and the attributes' defaults.
TEXTS: dict[str, tuple[str, dict[str, float]]] = {
    "Relu": ("maximum(x, 0)", {}),
    "LeakyRelu": ("where(x < 0, alpha * x, x)", {"alpha": 0.01}),
    "Elu": ("where(x < 0, alpha * (exp(x) - 1), x)", {"alpha": 1.0}),
    "Celu": ("maximum(x, 0) + minimum(alpha * (exp(x / alpha) - 1), 0)", {"alpha": 1.0}),
    "Selu": (
        "gamma * where(x > 0, x, alpha * exp(x) - alpha)",
        {"alpha": 1.6732631921768188, "gamma": 1.0507010221481323},
    ),
    "ThresholdedRelu": ("where(x > alpha, x, 0)", {"alpha": 1.0}),
    "HardSigmoid": ("clip(alpha * x + beta, 0, 1)", {"alpha": 0.2, "beta": 0.5}),
    "HardSwish": ("x * clip(x / 6 + 0.5, 0, 1)", {}),
    "Softplus": ("log1p(exp(-abs(x))) + maximum(x, 0)", {}),
    "Softsign": ("x / (1 + abs(x))", {}),
    "Mish": ("x * tanh(log1p(exp(-abs(x))) + maximum(x, 0))", {}),
    "Gelu": ("0.5 * x * (1 + erf(x * 0.7071067811865476))", {}),
}


def onnx_version() -> str:
    """Return the version of the installed onnx."""
    import onnx  # optional

    return str(onnx.__version__)


def _clip(x: Any, low: Any = None, high: Any = None) -> Any:
    for op, bound in ((bg.maximum, low), (bg.minimum, high)):
        x = x if bound is None else op(x, bound)
    return x


def _is_inf(x: Any, detect_positive: int = 1, detect_negative: int = 1) -> Any:
    found = bg.isinf(x)
    if not detect_positive:
        found = bg.logical_and(found, bg.less(x, 0))
    return found if detect_negative else bg.logical_and(found, bg.greater(x, 0))


def _power(x: Any, y: Any) -> Any:
    return np.asarray(bg.power(x, y)).astype(x.dtype)


def _divide(x: Any, y: Any) -> Any:
    if x.dtype.kind == "f":
        return bg.divide(x, y)
    # Integers are divided toward zero.
    return bg.evaluate("truncate_divide(x, y)", {"x": x, "y": y})


def _mod(x: Any, y: Any, fmod: int = 0) -> Any:
    return _op("fmod" if fmod else "remainder")(x, y)


def _shift(x: Any, y: Any, direction: bytes = b"") -> Any:
    return (bg.left_shift if direction == b"LEFT" else bg.right_shift)(x, y)


def _mean(*operands: Any) -> Any:
    return bg.divide(reduce(bg.add, operands), np.float32(len(operands)))


def _prelu(x: Any, slope: Any) -> Any:
    return bg.where(bg.less(x, 0), bg.multiply(slope, x), x)


SPECIAL: dict[str, Callable[..., Any]] = {
    "Clip": _clip,
    "IsInf": _is_inf,
    "Pow": _power,
    "Div": _divide,
    "Mod": _mod,
    "BitShift": _shift,
    "Mean": _mean,
    "PRelu": _prelu,
    "Identity": lambda x: bg.positive(x),
}


def _cast(x: Any, result: np.dtype[Any], saturate: int) -> Any:
    """Cast; to a float8 with a sign, ONNX clips what lies beyond its largest number first, if it is to saturate."""
    if saturate and result.name.startswith("float8") and result.name != "float8_e8m0fnu":
        import ml_dtypes

        largest = float(ml_dtypes.finfo(result).max)
        return bg.jit(lambda x: np.clip(x.astype(np.float32), -largest, largest).astype(result))(x)
    return bg.jit(lambda x: x.astype(result))(x)


def _op(name: str) -> Any:
    if find_op(name) is None:
        raise NotImplementedError(f"bcastgen has no op {name}")
    return getattr(bg, name)


def compute(op: str, operands: list[Any], attributes: dict[str, Any], result: np.dtype[Any]) -> Any:
    """Return the result of a node."""
    if op in OPS:
        return _op(OPS[op])(*operands)
    if op in FOLDS:
        return reduce(_op(FOLDS[op]), operands) if len(operands) > 1 else bg.positive(operands[0])
    if op in TEXTS:
        text, defaults = TEXTS[op]
        if op == "Gelu" and attributes.get("approximate") == b"tanh":
            text = "0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x**3)))"
        return bg.evaluate(text, {"x": operands[0], **defaults, **attributes})
    if op == "Cast":
        if operands[0].dtype.kind in "OUST" or result.kind in "OUST":
            raise bg.DTypeError("dtype 'object': text")
        return _cast(operands[0], result, attributes.get("saturate", 1))
    return SPECIAL[op](*operands, **attributes)


def cases() -> Iterator[tuple[str, str, list[Any], dict[str, Any], Any]]:
    """Yield each test of one element-wise node: its name, the op, operands, attributes, and the result."""
    from onnx import helper, numpy_helper
    from onnx.backend.test.case.node import collect_testcases

    for case in collect_testcases(None):
        (node, *others) = case.model.graph.node
        known = node.op_type in {*OPS, *FOLDS, *TEXTS, *SPECIAL, "Cast"}
        if others or not known or node.domain or len(node.output) != 1 or case.name.endswith("expanded"):
            continue
        for operands, results in case.data_sets[:1]:
            values = [numpy_helper.to_array(x) if hasattr(x, "raw_data") else x for x in (*operands, *results)]
            if not all(isinstance(value, (np.ndarray, np.generic)) for value in values):
                continue
            given = dict(zip([name.name for name in case.model.graph.input], values, strict=False))
            attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
            for name in ("to", "round_mode"):
                attributes.pop(name, None)
            bound = [None if not name else given[name] for name in node.input]
            yield case.name, node.op_type, bound, attributes, values[-1]


def onnx_outcomes() -> Any:
    """Run every test; all of them count as passing with ONNX itself, whose results they hold."""
    from run import Outcomes

    ours, why = {}, {}
    with np.errstate(all="ignore"):
        for name, op, operands, attributes, wanted in cases():
            try:
                got = np.asarray(compute(op, operands, attributes, np.asarray(wanted).dtype))
                assert got.dtype == wanted.dtype, f"dtype {got.dtype}, not {wanted.dtype}"
                assert got.shape == wanted.shape, f"shape {got.shape}, not {wanted.shape}"
                if wanted.dtype.name.startswith(("float8", "float6", "float4")):
                    np.testing.assert_array_equal(got.astype("f4"), wanted.astype("f4"))
                elif wanted.dtype.name == "bfloat16":
                    np.testing.assert_allclose(got.astype("f4"), wanted.astype("f4"), rtol=2**-7)
                elif wanted.dtype.kind == "f":
                    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-7)
                else:
                    np.testing.assert_array_equal(got, wanted)
                ours[name], why[name] = "passed", ""
            except Exception as error:
                ours[name], why[name] = "failed", f"{type(error).__name__}: {error}"
    return Outcomes("onnx", dict.fromkeys(ours, "passed"), ours, why)
