"""What type checkers know of ready kernels: `bcastgen.add`, `bcastgen.exp`, `bcastgen.sum`.

The list of names below is made from the table of ops: tests/behaviour/test_types.py holds both together, and writes it
again under BCASTGEN_UPDATE_CASES. Ops that `define_op` makes are not in it; use the kernel that it returns.
"""

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from ..kernel.kernel import Kernel

_Out = TypeVar("_Out")
_New: TypeAlias = EllipsisType | None
_Number: TypeAlias = complex | np.number[Any] | np.bool_
# Arrays of other libraries are not among them: what a kernel gives is of their kind, too.
_Values: TypeAlias = NDArray[Any] | _Number | Sequence[Any]
_Array: TypeAlias = NDArray[Any]

class Elementwise(Kernel[..., Any]):
    """A kernel of one result, which numbers give as a scalar of NumPy's."""

    @overload  # type: ignore[override]
    def __call__(self, *operands: _Number, out: None = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, *operands: _Values | None, out: _New = None, **keywords: Any) -> _Array: ...
    @overload
    def __call__(self, *operands: Any, out: _New = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, *operands: Any, out: _Out, **keywords: Any) -> _Out: ...

class Unary(Kernel[..., Any]):
    """A kernel of one operand."""

    @overload  # type: ignore[override]
    def __call__(self, a: _Number, out: None = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, a: _Values, out: _New = None, **keywords: Any) -> _Array: ...
    @overload
    def __call__(self, a: Any, out: _New = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, a: Any, out: _Out, **keywords: Any) -> _Out: ...

class Binary(Kernel[..., Any]):
    """A kernel of two operands."""

    @overload  # type: ignore[override]
    def __call__(self, a: _Number, b: _Number, out: None = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, a: _Values, b: _Values, out: _New = None, **keywords: Any) -> _Array: ...
    @overload
    def __call__(self, a: Any, b: Any, out: _New = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, a: Any, b: Any, out: _Out, **keywords: Any) -> _Out: ...

class Ternary(Kernel[..., Any]):
    """A kernel of three operands."""

    @overload  # type: ignore[override]
    def __call__(self, a: _Number, b: _Number, c: _Number, out: None = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, a: _Values, b: _Values, c: _Values, out: _New = None, **keywords: Any) -> _Array: ...
    @overload
    def __call__(self, a: Any, b: Any, c: Any, out: _New = None, **keywords: Any) -> Any: ...
    @overload
    def __call__(self, a: Any, b: Any, c: Any, out: _Out, **keywords: Any) -> _Out: ...

class UnaryPair(Kernel[..., Any]):
    """A kernel of one operand and two results."""

    @overload  # type: ignore[override]
    def __call__(self, a: _Number, out: None = None, **keywords: Any) -> tuple[Any, Any]: ...
    @overload
    def __call__(self, a: _Values, out: _New = None, **keywords: Any) -> tuple[_Array, _Array]: ...
    @overload
    def __call__(self, a: Any, out: _New = None, **keywords: Any) -> tuple[Any, Any]: ...
    @overload
    def __call__(self, a: Any, out: _Out, **keywords: Any) -> _Out: ...

class BinaryPair(Kernel[..., Any]):
    """A kernel of two operands and two results."""

    @overload  # type: ignore[override]
    def __call__(self, a: _Number, b: _Number, out: None = None, **keywords: Any) -> tuple[Any, Any]: ...
    @overload
    def __call__(self, a: _Values, b: _Values, out: _New = None, **keywords: Any) -> tuple[_Array, _Array]: ...
    @overload
    def __call__(self, a: Any, b: Any, out: _New = None, **keywords: Any) -> tuple[Any, Any]: ...
    @overload
    def __call__(self, a: Any, b: Any, out: _Out, **keywords: Any) -> _Out: ...

class Reduction(Protocol):
    """A function that combines the elements of an array along dims, or all of them to a scalar of NumPy's."""

    @overload
    def __call__(self, x: _Values, axis: int | Sequence[int], *, out: _New = None, **options: Any) -> _Array: ...
    @overload
    def __call__(self, x: Any, axis: Any = None, *, out: _New = None, **options: Any) -> Any: ...
    @overload
    def __call__(self, x: Any, axis: Any = None, *, out: _Out, **options: Any) -> _Out: ...

class Vectorizing(Protocol):
    """What `vectorize` with options decorates functions of numbers with."""

    @overload
    def __call__(self, function: Callable[..., tuple[Any, ...]], /) -> Kernel: ...
    @overload
    def __call__(self, function: Callable[..., complex], /) -> Elementwise: ...

# Ready kernels.
abs: Unary
absolute: Unary
acos: Unary
acosh: Unary
add: Binary
all: Reduction
amax: Reduction
amin: Reduction
angle: Elementwise
any: Reduction
arccos: Unary
arccosh: Unary
arcsin: Unary
arcsinh: Unary
arctan: Unary
arctan2: Binary
arctanh: Unary
argmax: Reduction
argmin: Reduction
around: Elementwise
asin: Unary
asinh: Unary
atan: Unary
atan2: Binary
atanh: Unary
bitwise_and: Binary
bitwise_count: Unary
bitwise_invert: Unary
bitwise_left_shift: Binary
bitwise_not: Unary
bitwise_or: Binary
bitwise_right_shift: Binary
bitwise_xor: Binary
cbrt: Unary
ceil: Unary
clip: Elementwise
clz: Unary
conj: Unary
conjugate: Unary
copysign: Binary
cos: Unary
cosh: Unary
count_nonzero: Reduction
deg2rad: Unary
degrees: Unary
divide: Binary
divmod: BinaryPair
equal: Binary
erf: Unary
erfc: Unary
erfinv: Unary
exp: Unary
exp2: Unary
expit: Unary
expm1: Unary
fabs: Unary
fix: Unary
float_power: Binary
floor: Unary
floor_divide: Binary
fmax: Binary
fmin: Binary
fmod: Binary
frexp: UnaryPair
frexp_exponent: Unary
frexp_mantissa: Unary
full_like: Binary
gammaln: Unary
gcd: Binary
gelu: Unary
greater: Binary
greater_equal: Binary
heaviside: Binary
hypot: Binary
i0: Unary
imag: Unary
invert: Unary
isclose: Elementwise
iscomplex: Unary
isfinite: Unary
isinf: Unary
isnan: Unary
isnat: Unary
isneginf: Unary
isposinf: Unary
isreal: Unary
lcm: Binary
ldexp: Binary
left_shift: Binary
less: Binary
less_equal: Binary
lgamma: Unary
log: Unary
log10: Unary
log1p: Unary
log2: Unary
log_ndtr: Unary
logaddexp: Binary
logaddexp2: Binary
logical_and: Binary
logical_not: Unary
logical_or: Binary
logical_right_shift: Binary
logical_xor: Binary
logit: Unary
logsumexp: Reduction
make_complex: Binary
max: Reduction
maximum: Binary
mean: Reduction
min: Reduction
minimum: Binary
mish: Unary
mod: Binary
modf: UnaryPair
modf_fraction: Unary
modf_whole: Unary
multiply: Binary
nan_to_num: Elementwise
nanmax: Reduction
nanmean: Reduction
nanmin: Reduction
nanprod: Reduction
nanstd: Reduction
nansum: Reduction
nanvar: Reduction
ndtr: Unary
ndtri: Unary
negative: Unary
nextafter: Binary
not_equal: Binary
ones_like: Unary
positive: Unary
pow: Binary
power: Binary
prod: Reduction
ptp: Reduction
rad2deg: Unary
radians: Unary
real: Unary
reciprocal: Unary
remainder: Binary
right_shift: Binary
rint: Unary
round: Elementwise
rounding_right_shift: Binary
rsqrt: Unary
sigmoid: Unary
sign: Unary
signbit: Unary
silu: Unary
sin: Unary
sinc: Unary
sinh: Unary
softplus: Unary
spacing: Unary
sqrt: Unary
square: Unary
std: Reduction
subtract: Binary
sum: Reduction
tan: Unary
tanh: Unary
tosa_multiply_shift: Ternary
tosa_negate: Ternary
true_divide: Binary
trunc: Unary
truncate_divide: Binary
var: Reduction
where: Ternary
xlog1py: Binary
xlogy: Binary
zeros_like: Unary

# fmt: off
__all__ = [  # noqa: RUF022 - in the order above
    "abs", "absolute", "acos", "acosh", "add", "all", "amax", "amin", "angle", "any", "arccos", "arccosh", "arcsin",
    "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "around", "asin", "asinh", "atan", "atan2", "atanh",
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "clip", "clz", "conj", "conjugate", "copysign", "cos", "cosh",
    "count_nonzero", "deg2rad", "degrees", "divide", "divmod", "equal", "erf", "erfc", "erfinv", "exp", "exp2", "expit",
    "expm1", "fabs", "fix", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "frexp_exponent",
    "frexp_mantissa", "full_like", "gammaln", "gcd", "gelu", "greater", "greater_equal", "heaviside", "hypot", "i0",
    "imag", "invert", "isclose", "iscomplex", "isfinite", "isinf", "isnan", "isnat", "isneginf", "isposinf", "isreal",
    "lcm", "ldexp", "left_shift", "less", "less_equal", "lgamma", "log", "log10", "log1p", "log2", "log_ndtr",
    "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_right_shift", "logical_xor",
    "logit", "logsumexp", "make_complex", "max", "maximum", "mean", "min", "minimum", "mish", "mod", "modf",
    "modf_fraction", "modf_whole", "multiply", "nan_to_num", "nanmax", "nanmean", "nanmin", "nanprod", "nanstd",
    "nansum", "nanvar", "ndtr", "ndtri", "negative", "nextafter", "not_equal", "ones_like", "positive", "pow", "power",
    "prod", "ptp", "rad2deg", "radians", "real", "reciprocal", "remainder", "right_shift", "rint", "round",
    "rounding_right_shift", "rsqrt", "sigmoid", "sign", "signbit", "silu", "sin", "sinc", "sinh", "softplus", "spacing",
    "sqrt", "square", "std", "subtract", "sum", "tan", "tanh", "tosa_multiply_shift", "tosa_negate", "true_divide",
    "trunc", "truncate_divide", "var", "where", "xlog1py", "xlogy", "zeros_like",
]
# fmt: on
