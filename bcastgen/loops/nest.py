"""The loop IR: nests over iteration domains, with an indexing map an operand and a scalar body in SSA form.

In: what `lower` decides.  Out: a :class:`LoopProgram`, which prints; `interpret` runs it, `emit` renders it.

    nest (d0, d1)
      a : tensor<?x?xf32>  (d0, d1) -> (d0|0, d1|0)
      r : tensor<?x?xf32>  (d0, d1) -> (d0, d1)
      checked at run time: a.0 in {1, d0}; a.1 in {1, d1}
      t0 = multiply(a, 2.0:f32) : f32
      r = t0
"""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes import DType
from ..expr.nodes import Constant, Params, literal
from ..ops import Op
from ..shape.constraints import Constraint
from ..shape.dim import Dim
from ..shape.tensor_type import TensorType
from .affine import AffineMap

__all__ = ["Access", "Domain", "Let", "Load", "LoopProgram", "Nest", "Value"]


@dataclass(frozen=True, slots=True)
class Domain:
    """The box a nest iterates over, d0 outermost; `open` if there may be any number of further dims in front.

    Attributes
    ----------
    setters : for each dim, the operand whose type decides its extent, or None where the run time decides.
    stretching : the operands' own dims that stretch if their extent proves to be 1.
    constraints : what is checked at run time.
    """

    dims: tuple[Dim, ...]
    open: bool
    setters: tuple[str | None, ...]
    stretching: frozenset[tuple[str, int]]
    constraints: tuple[Constraint, ...]

    def __str__(self) -> str:
        names = [f"d{at}" if dim.extent is None else f"d{at}={dim.extent}" for at, dim in enumerate(self.dims)]
        return f"({', '.join((['...'] if self.open else []) + names)})"


@dataclass(frozen=True, slots=True)
class Access:
    """An operand or result of a nest: its place in the program, its type and its indexing map."""

    position: int
    name: str
    type: TensorType
    map: AffineMap

    @property
    def dtype(self) -> DType:
        """The element type; lowering gives every access one."""
        assert self.type.dtype is not None
        return self.type.dtype


@dataclass(frozen=True, slots=True)
class Load:
    """The element of an operand at the current point; `access` counts the nest's operands."""

    access: int


@dataclass(frozen=True, slots=True)
class Let:
    """The value of an earlier statement; `index` counts the body."""

    index: int


Value = Load | Let | Constant


@dataclass(frozen=True, slots=True)
class Apply:
    """One statement of a body: an op on values, of the given dtypes."""

    op: Op
    operands: tuple[Value, ...]
    operand_dtypes: tuple[DType, ...]
    params: Params
    dtype: DType


@dataclass(frozen=True, slots=True)
class Nest:
    """One loop nest: `stores[i]` is the value of `results[i]` at every point of the domain."""

    domain: Domain
    operands: tuple[Access, ...]
    results: tuple[Access, ...]
    body: tuple[Apply, ...]
    stores: tuple[Value, ...]

    def show(self, value: Value) -> str:
        """Spell a value as the dump does."""
        match value:
            case Load():
                return self.operands[value.access].name
            case Let():
                return f"t{value.index}"
            case Constant():
                return literal(value)

    def describe(self) -> list[str]:
        """Return the lines that say what is accessed how, and what is left to check."""
        accesses = (*self.operands, *self.results)
        width = max(len(a.name) for a in accesses)
        kinds = max(len(a.type.mlir) for a in accesses)
        lines = [f"{a.name:<{width}} : {a.type.mlir:<{kinds}}  {a.map}" for a in accesses]
        if self.domain.constraints:
            lines.append("checked at run time: " + "; ".join(map(str, self.domain.constraints)))
        return lines

    def __str__(self) -> str:
        lines = [f"nest {self.domain}", *(f"  {line}" for line in self.describe())]
        for at, statement in enumerate(self.body):
            shown = [*map(self.show, statement.operands), *(f"{key}={value}" for key, value in statement.params)]
            lines.append(f"  t{at} = {statement.op.name}({', '.join(shown)}) : {statement.dtype}")
        lines += [
            f"  {access.name} = {self.show(value)}" for access, value in zip(self.results, self.stores, strict=True)
        ]
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """All nests of a kernel; operands and results by position, with their declared types."""

    operands: tuple[tuple[str, TensorType], ...]
    results: tuple[tuple[str, TensorType], ...]
    nests: tuple[Nest, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.nests))
