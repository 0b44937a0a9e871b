"""One row of the table of ops, and what follows from it for given dtypes.

In: a dtype rule and C templates.  Out: an :class:`Op`, which gives operand dtypes, C and reference values.

    OPS["add"].types((F32, WEAK_INT)) -> operands (f32, f32), result f32
    OPS["add"].c_for((I8, I8), I8)    -> "(int8_t)((uint32_t){0} + (uint32_t){1})"

:mod:`.c_forms` says what C templates may contain.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import BF16, F16, DType, kind_of, promote
from ..core.errors import BcastgenError
from ..core.frozen import dataclass
from .c_forms import CForms, CTemplate, RangeTest, fill, template_of
from .dtype_rules import RULES, Rule, Types, by_parameter, refuse, refuse_complex
from .facts import FloatFacts, IntegerFacts, Mlir

if TYPE_CHECKING:
    from ..shape.dialect.program import Program
    from .facts import ComplexForm

__all__ = ["Definition", "Op", "Param"]

# Tenths of a nanosecond: an addition, and rounding to a 16-bit float.
_CHEAP, _ROUNDING = 0.4, 1.5


@dataclass(frozen=True, slots=True)
class Param:
    """A static parameter of an op: decided when the expression is built, part of the kernel's identity."""

    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class Definition:
    """An op as a user defined it; equal definitions make one op.

    Attributes
    ----------
    operands : names of the operands.
    c : C expressions over these names, each with the dtypes or kinds it is for; ``""`` is for all.
    dtypes : name of a rule, table of signatures, or function.
    prelude : C definitions that the expressions use, as they were given.
    doc, ulp, reference : as in the row.
    shape : the program that sizes the result, where broadcasting does not.
    maps : with `shape`, the indexing map of each operand.
    bound : with `shape`, the program that gives the result's largest extents from the operands' shapes.
    typed : the shape function with element types, which also gives that of the result; `shape` is without them.
    """

    operands: tuple[str, ...]
    c: tuple[tuple[str, str], ...]
    dtypes: str | Callable[..., Any]
    prelude: str
    doc: str
    ulp: int
    reference: Callable[..., Any] | None
    shape: Program | None = None
    maps: tuple[str, ...] | None = None
    bound: Program | None = None
    typed: Program | None = None


_NO_FORMS, _NO_INTEGERS, _NO_FLOATS = CForms(), IntegerFacts(), FloatFacts()


@dataclass(frozen=True, slots=True)
class Op:
    """One row.

    Attributes
    ----------
    name : NumPy's name where NumPy has the op.
    arity : number of operands.
    rule : operand types (weak ones included) -> dtypes the operands are converted to, and the result's.
    c : C template.
    doc : one sentence, with the semantics where C or NumPy leave a choice.
    dunder : the Python operator: ``__add__``.
    aliases : further names the op answers to (array API, Python).
    ulp : bound on the error in units in the last place; 0 means bit-identical to NumPy.
    ulp_of : the least magnitude whose units the error is counted in, of a function whose zeros are where terms cancel.
    domain : interval that test and benchmark samples of each operand are drawn from.
    reference : NumPy-like function the values are checked against; None means NumPy's function of that name.
    demand : kind -> C condition each element must satisfy, or the call ends in `status` with nothing written.
    params : static parameters.
    representable : whether the f32 values computed for 16-bit floats are 16-bit floats already, so none is rounded.
    of_digits : whether values depend on how many digits the dtype has: a 16-bit float's are not f32's, rounded.
    definition : the definition of an op that a user defined at run time; None for the rows of the table.
    prelude : names and texts of the C definitions that its C calls, beside those of csrc.
    cost_tenths_ns : cost of an element of 32 bits in a vectorised loop; for all, or by kind of the loop dtype.
    forms : further C, faster where it is right.
    by_power_of_two : the op that replaces this one if the last operand is a power of two, and the number that it takes
        instead: the power's "exponent", "mask" or "inverse".
    integers, floats : the facts for analyses and rewrites.
    clamps : for each operand but the first, whether it is the "low" or the "high" end of the result.
    selects : whether its first operand is a condition that picks one of the others.
    ieee : whether its C raises exactly the floating-point exceptions that NumPy reports, and no other one.
    pole : an expression over its operands, called a, b, ...: where the exact result is infinite, or a division by 0.
    overflow : an expression over its operands a, b, ... and its result r: where NumPy reports an overflow of integers.
    underflow : the same, where a result below the normal numbers is not exact.
    mlir : its spelling in the dialects arith and math; None if they have no counterpart of the same meaning.
    """

    name: str
    arity: int
    rule: Rule
    c: CTemplate
    doc: str
    dunder: str | None = None
    aliases: tuple[str, ...] = ()
    ulp: int = 0
    ulp_of: float = 0.0
    domain: tuple[float, float] = (-50.0, 50.0)
    reference: Callable[..., Any] | None = None
    demand: Mapping[str, str] | None = None
    status: str = "DOMAIN"
    params: tuple[Param, ...] = ()
    representable: bool = False
    of_digits: bool = False
    definition: Definition | None = None
    prelude: tuple[tuple[str, str], ...] = ()
    cost_tenths_ns: float | Mapping[str, float] = _CHEAP
    forms: CForms = _NO_FORMS
    by_power_of_two: tuple[str, str] | None = None
    integers: IntegerFacts = _NO_INTEGERS
    floats: FloatFacts = _NO_FLOATS
    clamps: tuple[str, ...] = ()
    selects: bool = False
    ieee: bool = False
    pole: str = ""
    overflow: str = ""
    underflow: str = ""
    mlir: Mlir | None = None

    @property
    def complex(self) -> ComplexForm | None:
        """What it is for complex numbers; None if it refuses them, or users defined it."""
        from .complex_forms import FORMS  # noqa: PLC0415 - most kernels found on disk have none

        return FORMS.get(self.name) if self.definition is None else None

    @property
    def moves(self) -> bool:
        """Whether the op passes values on unchanged, without reading their bits."""
        return self.selects or self.c == "{0}"

    @property
    def converts(self) -> bool:
        """Whether it is a conversion: its result has the dtype of its parameter, whatever the operand's."""
        return self.rule is by_parameter

    def types(self, operands: Types) -> tuple[tuple[DType, ...], DType]:
        """Return the dtypes the operands are converted to and the result's dtype.

        Raises
        ------
        DTypeError
            Where NumPy has no loop for these dtypes, or its result dtype is not supported.
        """
        storage = next((kind for kind in operands if isinstance(kind, DType) and kind.is_storage), None)
        if storage is not None and not (self.selects and len(set(operands[1:])) == 1):
            raise refuse(self.name, operands, storage.cure)
        loops, result = self.rule(self.name, operands)
        if not any(loop.is_complex for loop in loops):
            return loops, result
        if self.complex is None:
            if self.definition is not None and self.definition.dtypes not in RULES:
                return loops, result
            raise refuse_complex(self.name, operands)
        return loops, result.part if self.complex.is_real and result.is_complex else result

    def c_for(
        self,
        operands: tuple[DType, ...],
        result: DType,
        fast: bool = False,
        common_case: bool = False,
        constant: bool | int | float | None = None,
    ) -> str:
        """Return the C template for converted operand dtypes, with only ``{0}``, ``{1}``, ... left open.

        Parameters
        ----------
        operands, result : the dtypes.
        fast : whether the C is that of ``math="fast"``.
        common_case : whether every element passes the range tests of `forms`.
        constant : the last operand, where it is a constant.
        """
        number = _complex_of(operands)
        form = None if number is None else self.complex
        if number is not None and form is not None and form.c:
            return _named((common_case and form.common_case) or form.c, number)
        special = self.forms.special(operands, constant)
        if special is not None:
            return fill(special[0], operands, result)
        # The forms that would serve, the best one first; some kinds of dtypes lack some forms.
        forms = (
            self.forms.fast_common_case if common_case and fast else None,
            self.forms.common_case if common_case else None,
            self.forms.fast if fast else None,
            self.c,
        )
        found = (template_of(form, operands, result) for form in forms)
        return fill(next(text for text in found if text is not None), operands, result)

    def range_tests_for(
        self,
        operands: tuple[DType, ...],
        result: DType,
        fast: bool = False,
        constant: bool | int | float | None = None,
    ) -> tuple[RangeTest, ...]:
        """Return the tests that elements of the common case pass; an empty tuple if there is no common case."""
        number = _complex_of(operands)
        if number is not None:
            form = self.complex
            rare = "" if form is None else form.is_rare
            says = "the parts of {0} are neither very small nor very large, nor NaN"
            return (RangeTest("int", _named(rare, number), "0", says),) if rare else ()
        if self.forms.special(operands, constant) is not None:
            return ()
        return self.forms.tests_for(operands, result, fast, constant)

    def is_scalar(self, operands: tuple[DType, ...]) -> bool:
        """Whether compilers do not vectorise its plain C, so that it is for elements outside of the common case."""
        if _complex_of(operands) is None:
            return self.forms.scalar
        return self.complex is not None and bool(self.complex.is_rare)

    def in_pairs(self, operands: tuple[DType, ...], constant: bool | int | float | None = None) -> bool:
        """Return whether two elements side by side are faster; `constant` is the last operand, where it is one."""
        return operands[0].computed_in.name in self.forms.pairs and self.forms.special(operands, constant) is None

    def cost_for(self, operands: tuple[DType, ...], result: DType, constant: bool | int | float | None = None) -> float:
        """Return about how long an element takes in a vectorised loop, in tenths of a nanosecond.

        `constant` is the last operand, where it is a constant.
        """
        if self.definition is not None:
            # This is a user's C, and compilers rarely vectorise the functions that it calls.
            texts = (self.c_for(operands, result), *(text for _, text in self.prelude))
            return 50.0 if any(re.search(r"\b(?!bcg_)[a-z]\w*\(", text) for text in texts) else 2.0
        if _complex_of(operands) is not None and self.complex is not None:
            return self.complex.cost_tenths_ns * operands[-1].bits / 64
        own = self.cost_tenths_ns
        cost = own if isinstance(own, (int, float)) else own.get(operands[0].kind, _CHEAP)
        bits = max(dtype.computed_in.bits for dtype in (*operands, result))
        special = self.forms.special(operands, constant)
        if special is not None:
            cost = special[1] if isinstance(special[1], (int, float)) else special[1].get(bits, _CHEAP)
        return cost * bits / 32 + (_ROUNDING if self.rounds(operands, result) else 0)

    def rounds(self, operands: tuple[DType, ...], result: DType) -> bool:
        """Whether what the C computes in f32 has to be rounded to the result's dtype."""
        # A cast is exact if its result's dtype holds every value of the operand's.
        if not result.is_float16 or self.representable:
            return False
        return not self.params or operands[0].is_storage or promote(operands[0], result) is not result

    def ulp_for(self, result: DType, fast: bool = False, operands: tuple[DType, ...] = ()) -> int:
        """Return the bound of the error in a result of this dtype; 16-bit floats are f32's, rounded.

        `operands` are needed where complex operands have a real result.
        """
        if _complex_of((*operands, result)) is not None and self.complex is not None:
            return self.complex.ulp
        ulp = self.forms.fast_ulp if fast and self.forms.fast_ulp is not None else self.ulp
        return min(ulp, 1) if result.is_float16 else ulp

    def demand_for(self, operands: tuple[DType, ...]) -> str | None:
        """Return the condition elements of these dtypes must satisfy, as a C template, or None."""
        return None if self.demand is None else self.demand.get(operands[0].kind)

    def demanded_of(self, operands: tuple[DType, ...]) -> tuple[int, ...]:
        """Return the positions of the operands that this condition reads."""
        found = dict.fromkeys(re.findall(r"\{(\d+)\}", self.demand_for(operands) or ""))
        return tuple(map(int, found))

    def identity(self, operands: tuple[DType, ...], result: DType) -> tuple[tuple[str, Any], ...]:
        """Return the facts that a kernel's dump, and so its key, holds of an op beside its name.

        The package's files, which are in the key, decide the C of the table's rows; a user's C is in the dump.
        """
        if self.definition is None:
            return ()
        # Without strings, comments and directives, all blanks are alike.
        prelude = (("prelude", repr(" ".join(" ".join(text for _, text in self.prelude).split()))),) * bool(
            self.prelude
        )
        return (("c", repr(self.c_for(operands, result))), *prelude)

    def evaluate(self, *operands: Any) -> Any:
        """Apply the reference to NumPy values.

        Raises
        ------
        BcastgenError
            For an op defined at run time without a reference.
        """
        if self.definition is not None:
            # Drop the values after the operands: the identity of a typed op, which is C.
            operands = operands[: self.arity]
            if self.reference is None:
                raise BcastgenError(
                    f"{self.name} has no reference, so only C can compute it; give define_op reference=, a function of "
                    "NumPy scalars"
                )
        function = self.reference or getattr(np, self.name)
        form = self.complex if any(map(_is_complex, operands)) else None
        if form is not None and form.reference is not None:
            function = form.reference
        with np.errstate(all="ignore"):
            if self.params or not any(map(self._is_widened, operands)):
                return function(*operands)
            # As in C: computed in f32, and rounded once.
            loops, result = self.types(tuple(map(kind_of, operands)))
            given = [loop if self.of_digits else loop.computed_in for loop in loops]
            value = function(*map(_converted, operands, loops, given))
            return np.asarray(value).astype(result.np) if result.is_float16 else value

    def _is_widened(self, value: Any) -> bool:
        """Whether a reference gets this value as f32: bf16 for every op, f16 for ops that users define."""
        name = value.dtype.name if isinstance(value, (np.generic, np.ndarray)) else ""
        return name == BF16.numpy or (self.definition is not None and name == F16.numpy)


def _named(template: str, number: DType) -> str:
    """Return a template of complex numbers for one dtype of them."""
    return template.replace("{t}", number.name).replace("{r}", number.part.name)


def _is_complex(value: Any) -> bool:
    return isinstance(value, (complex, np.generic, np.ndarray)) and np.asarray(value).dtype.kind == "c"


def _complex_of(dtypes: tuple[DType, ...]) -> DType | None:
    """Return the complex dtype among these, or None."""
    return next((one for one in dtypes if one.is_complex), None)


def _converted(value: Any, loop: DType, given: DType) -> Any:
    if not isinstance(value, (np.generic, np.ndarray)):
        value = np.asarray(loop.nearest(value)) if loop.is_inexact else np.asarray(value)
    return value.astype(given.np)
