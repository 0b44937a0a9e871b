"""The pipeline: every stage in order, each with what goes in and what comes out.

    stage         in                                   out               prints
    1 trace       a Python function, or text           Expression        expr (a, b) ...
    2 infer       Expression, operand dtypes           Typed             every node with its dtype
    3 lower       Typed, operand and result types      LoopProgram       nests, maps, constraints
    4 rewrite     LoopProgram                          Rewritten         each rewrite: why, and the nests after it
    5 schedule    LoopProgram                          ProgramSchedule   the inner loops
    6 render      LoopProgram, schedules               CSource           the C itself
    7 compile     CSource                              a shared object   -
    8 load        a shared object                      a kernel to call  -

Stages 2 to 6 are here; stage 1 is `expr`'s, :mod:`..kernel` does 7 and 8, and standalone C stops at 6. A
:class:`Compilation` keeps every stage's value. Each value is made, and the modules of stages 3 to 6 are imported, when
the value is first needed, so a kernel that is found on disk by its key (stage 2) costs neither.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ..core.dtypes import DType, Weak
from ..core.errors import BcastgenError, BroadcastError, placed
from ..core.forks import undivided
from ..core.frozen import replace
from ..expr.infer import Typed, infer
from ..expr.nodes import Expression
from .options import Options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from ..core.c_source import CSource
    from ..emit.standalone import CForm, ModulePart
    from ..loops.nest import LoopProgram
    from ..loops.rewrites.pipeline import Rewritten
    from ..loops.schedule.inner_loops import Schedule
    from ..loops.schedule.program_schedule import ProgramSchedule
    from ..mlir.linalg.sizes import SizesProgram
    from ..shape.dialect.program import Program
    from ..shape.types.tensor_type import TensorType

__all__ = ["MLIR_FORMS", "Compilation", "check_form"]

# What `Compilation.mlir` prints.
MLIR_FORMS = ("linalg", "tosa", "shape")


def check_form(form: str, versions: int) -> None:
    """Raise unless kernels have this form of MLIR, in so many versions.

    Raises
    ------
    BcastgenError
        If the form is unknown, or has no versions.
    """
    with undivided:
        from ..mlir.options import VERSIONS

    if not isinstance(form, str) or form not in MLIR_FORMS:
        raise BcastgenError(f"no MLIR form {form!r}; use one of {', '.join(MLIR_FORMS)}")
    VERSIONS.check(versions)
    if versions and form != "linalg":
        raise BcastgenError(f"versions are of linalg, and {form!r} has none; leave them out")


Stage = TypeVar("Stage", bound=object)


@cache
def _dumped(text: str) -> frozenset[str]:
    """Return the stages that the text of BCASTGEN_DUMP names: each is printed as it is made."""
    from .stages import DUMPED

    stages = frozenset(filter(None, (name.strip() for name in text.split(","))))
    unknown = sorted(stages.difference(DUMPED))
    if unknown:
        raise BcastgenError(
            f"BCASTGEN_DUMP={text[:40]!r} names no stage {unknown[0][:20]!r}; name some of {', '.join(DUMPED)}"
        )
    return stages


if TYPE_CHECKING:
    computed_once = property
else:

    class computed_once:
        """A property that is computed once, without the lock that `functools.cached_property` has before Python 3.12.

        A forked child could find that lock held by a thread that it does not have.
        """

        def __init__(self, make):
            self._make, self._name = make, make.__name__
            self.__doc__ = make.__doc__

        def __get__(self, instance, owner):
            if instance is None:
                return self
            with undivided:
                values = instance.__dict__
                if self._name not in values:
                    values[self._name] = self._make(instance)
                return values[self._name]


class Compilation:
    """One expression on its way to C, for operands of given types.

    Parameters
    ----------
    expression : the untyped expression.
    call_types : dtype or weak type of each operand of a call.
    operand_types : declared type of each operand, or None to serve every rank and shape.
    result_types : declared types of the results, or None.
    result_names : one name per result.
    options : see :class:`Options`.
    ranks : the operands' ranks if the kernel serves only these because its maps depend on them, else None.
    constants : how many of the last operands are constant arrays, of exactly the declared types.
    """

    def __init__(
        self,
        expression: Expression,
        call_types: tuple[DType | Weak, ...],
        operand_types: tuple[TensorType, ...] | None,
        result_types: tuple[TensorType, ...] | None,
        result_names: tuple[str, ...],
        options: Options,
        ranks: tuple[int, ...] | None = None,
        constants: int = 0,
    ) -> None:
        self.expression = expression
        self.call_types = call_types
        self.declared = operand_types
        self.result_types = result_types
        self.result_names = result_names
        self.options = options
        self.ranks = ranks
        self.constants = constants

    @computed_once
    def typed(self) -> Typed:
        """Stage 2: every node has a dtype."""
        declared = tuple(t.dtype for t in self.declared) if self.declared is not None else None
        return self._dump("typed", infer(self.expression, self.call_types, declared))

    @computed_once
    def operand_types(self) -> tuple[TensorType, ...]:
        """The types that operands are lowered with: the declared ones, or of any rank; a Python scalar has rank 0."""
        return tuple(self._operand_type(at) for at in range(len(self.call_types)))

    def _operand_type(self, at: int) -> TensorType:
        from ..shape.types.dim import DYNAMIC
        from ..shape.types.tensor_type import TensorType

        dtype = self.typed.operand_dtypes[at]
        type_ = TensorType(dtype, (), unranked=not isinstance(self.call_types[at], Weak))
        if self.declared is not None:
            type_ = TensorType(dtype, self.declared[at].dims, self.declared[at].unranked)
        if self.ranks is None or not type_.unranked:
            return type_
        added = max(self.ranks[at] - len(type_.dims), 0)
        return TensorType(dtype, (DYNAMIC,) * added + type_.dims)

    @computed_once
    def program(self) -> LoopProgram:
        """Stage 3: loop nests with their maps and constraints."""
        from ..loops.lowering.lower import lower

        results, names, rules = self.result_types, self.result_names, self.options.rules
        try:
            lowered = lower(self.typed, self.operand_types, results, names, rules, self.constants)
        except BroadcastError as error:
            raise placed(error, self._shown) from None
        return self._dump("nest", lowered)

    @property
    def _shown(self) -> str:
        """The kernel as errors of types show it: its name, and each operand with its type or rank."""
        operands = self.expression.operands[: len(self.expression.operands) - self.constants]
        own = [at for at in range(len(operands)) if at not in self.expression.free_extents]
        types: list[str] = []
        if self.ranks is not None:
            types = [f"{operands[at].name}: rank {self.ranks[at]}" for at in own]
        elif self.declared is not None:
            types = [f"{operands[at].name}: {self.declared[at]}" for at in own]
        return f"in {self.options.name}({', '.join(types[:8])}{', ...' * (len(types) > 8)})"

    @computed_once
    def constraints(self) -> str:
        """Each constraint that stage 3 puts on shapes, whether it is proved or checked, and why."""
        from ..loops.guards.listing import listing

        return listing(self.program)

    @computed_once
    def shape_function(self) -> Program:
        """The shape program that sizes the results: derived from stage 3's constraints, and simplified by them."""
        from ..loops.shape_function import shape_function

        return self._dump("shape", shape_function(self.program, self.options.name))

    @computed_once
    def rewritten(self) -> Rewritten:
        """Stage 4: the nests that C is rendered from, and the text of each rewrite that led to them."""
        from ..loops.rewrites.pipeline import rewrite

        return self._dump("rewrite", rewrite(self.program))

    @computed_once
    def schedule(self) -> ProgramSchedule:
        """Stage 5: the inner loops of each nest, and what nests do together."""
        from ..loops.schedule.program_schedule import run_time_schedule

        made = run_time_schedule(self.rewritten.program, self.options.variants, self.options.math == "fast")
        return self._dump("schedule", made)

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """The schedule of each nest."""
        return self.schedule.nests

    @computed_once
    def source(self) -> CSource:
        """Stage 6: the C of the kernel that serves every rank, shape and layout these types allow."""
        from ..emit.kernel.view import kernel_view
        from ..emit.templating.render import render_kernel
        from ..loops.schedule.program_schedule import compiles_functions_once

        made = self.schedule
        view = kernel_view(self.options.name, self.rewritten.program, made, self.banner)
        return self._dump("c", render_kernel(view, made.fast, compiles_functions_once(made), made.light))

    def loop_schedule(self, nest: int, is_staged: bool, stationary: int) -> tuple[int, Schedule]:
        """Stage 5 of one more variant: the number of the nest among all, and its schedule with just this variant.

        Parameters
        ----------
        nest : the number of the nest among those that have results, as the run time counts them.
        is_staged, stationary : see :func:`..loops.schedule.schedule.one_variant`.
        """
        from ..loops.schedule.program_schedule import verified
        from ..loops.schedule.schedule import one_variant

        place = [at for at, one in enumerate(self.rewritten.program.nests) if one.results][nest]
        made = one_variant(self.schedules[place], is_staged, stationary, self.options.math == "fast")
        return place, verified(made)

    def loop_source(self, nest: int, is_staged: bool, stationary: int) -> CSource:
        """Stage 6 of one more variant of a loop: the C of this variant alone; see `loop_schedule`."""
        from ..emit.kernel.view import kernel_view
        from ..emit.templating.render import render_loop
        from ..loops.schedule.program_schedule import compiles_functions_once

        place, made = self.loop_schedule(nest, is_staged, stationary)
        nests = tuple(made if at == place else one for at, one in enumerate(self.schedules))
        schedule, once = replace(self.schedule, nests=nests), compiles_functions_once(self.schedule)
        view = kernel_view(self.options.name, self.rewritten.program, schedule, self.banner)
        own = view.nests[place]
        loops = own.staged if is_staged else own.inline
        assert loops is not None
        return render_loop(view, loops, schedule.fast, once, schedule.light)

    def standalone_schedule(self, form: CForm) -> ProgramSchedule:
        """Stage 5 of standalone C: the loops of each nest, as a form of C asks for them."""
        from ..emit.standalone.target import find_target
        from ..loops.schedule.program_schedule import standalone_schedule

        form.checked()
        vector_bytes = 0 if form.target is None else find_target(form.target).vector_bytes
        made = standalone_schedule(
            self.rewritten.program,
            form.variants,
            form.is_plain,
            form.openmp,
            vector_bytes,
            self.options.math == "fast",
            form.alignment or 0,
        )
        return self._dump("standalone_schedule", made)

    def standalone_part(
        self, name: str, form: CForm, constants: Sequence[np.ndarray[Any, Any]] = (), text: str = ""
    ) -> ModulePart:
        """Return the part of this name of a module of standalone C.

        `form` is the module's, `constants` are the last operands' values, `text` is the user's own expression.
        """
        from ..emit.standalone import ModulePart

        program, schedule = self.rewritten.program, self.standalone_schedule(form)
        return ModulePart(name, program, schedule, self.typed, constants, self.program, text=text)

    @property
    def banner(self) -> str:
        """The comment that a C file starts with: the text of the earlier stages."""
        return "\n\n".join(
            (f"{self.options.name}, generated by bcastgen", str(self.typed), str(self.rewritten.program))
        )

    @property
    def key_parts(self) -> tuple[str, ...]:
        """The texts that decide the C of this kernel."""
        types = ("any",) if self.declared is None else tuple(map(str, self.declared))
        results = ("inferred",) if self.result_types is None else tuple(map(str, self.result_types))
        # The types of a call count, too: a Python float and an f64 array have the same dtype, but not the same rank.
        ranks = ("any rank",) if self.ranks is None else tuple(map(str, self.ranks))
        call_types = (*map(str, self.call_types), f"{self.constants} constants")
        return (str(self.typed), *call_types, *ranks, *types, "->", *results, *self.result_names, repr(self.options))

    @property
    def stages(self) -> dict[str, str]:
        """Every stage's text, by name, in order."""
        from ..emit.standalone import CForm

        return {
            "expression": str(self.expression),
            "typed": str(self.typed),
            "nest": str(self.program),
            "constraints": self.constraints,
            "shape": str(self.shape_function),
            **self._rewrites,
            "schedule": str(self.schedule),
            "c": str(self.source),
            "standalone_schedule": str(self.standalone_schedule(CForm(self.options.variants))),
        }

    @property
    def _rewrites(self) -> dict[str, str]:
        """Return the text of each rewrite that changed something, and one line for the others."""
        steps = self.rewritten.steps
        idle = ", ".join(step.rewrite.name for step in steps if not step.changed)
        shown = {step.rewrite.name: str(step) for step in steps if step.changed}
        return shown | ({"other_rewrites": f"{idle} (unchanged)"} if idle else {})

    def mlir(
        self,
        form: str,
        constants: Sequence[np.ndarray[Any, Any]] = (),
        versions: int = 0,
        sizes: Callable[[], SizesProgram | None] = lambda: None,
    ) -> str:
        """Return MLIR text: the nests in ``"linalg"``, the expression in ``"tosa"``, or the ``"shape"`` program.

        `constants` are the values of the last operands, if these are constant arrays; `versions` is an option of
        linalg, and `sizes` makes the shape functions of ops, for linalg.

        Raises
        ------
        BcastgenError
            If the form is unknown, or cannot express the kernel; the message says which.
        """
        check_form(form, versions)
        match form:
            case "linalg":
                with undivided:
                    from ..mlir.linalg.printer import linalg_text

                return linalg_text(self.program, self.options.name, constants, versions, sizes())
            case "tosa":
                with undivided:
                    from ..mlir.tosa.printer import tosa_text

                return tosa_text(self.typed, self.program, self.options.name, constants)
        return str(self.shape_function)

    def _dump(self, stage: str, value: Stage) -> Stage:
        """Print a stage's value as it is made, if BCASTGEN_DUMP names the stage (``BCASTGEN_DUMP=nest,c``)."""
        asked = os.environ.get("BCASTGEN_DUMP")
        if asked and stage in _dumped(asked):
            print(f"--- {self.options.name}: {stage}\n{value}", file=sys.stderr)
        return value
