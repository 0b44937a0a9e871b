"""Kernels: what users call. A kernel owns an expression and one binary for each tuple of operand dtypes.

In: an expression, or a function to trace.  Out: a callable :class:`Kernel`.

    kernel(a, b)  ->  dtypes of a and b  ->  a binary (found on disk, or compiled)  ->  the result

The file is long because it has the methods that only our kernels have, each with what it takes, returns and raises;
`ufunc_attributes` has those of NumPy's ufuncs, and `runtime` the call itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, overload

import numpy as np

from ..core.dtypes import DTYPES, F64, DType, Weak, from_key
from ..core.errors import (
    ArgumentError,
    BcastgenError,
    BroadcastError,
    CacheError,
    CompileError,
    DisabledError,
    DomainError,
    DTypeError,
    RangeError,
    TraceError,
    placed,
)
from ..core.forks import apart, import_before_handlers, undivided
from ..core.frozen import replace
from ..core.options import check_name, check_switch, names_of
from ..core.resources import bench_module
from ..core.sizes import is_on
from ..core.source_lines import with_short_tracebacks
from ..expr.build import Builder
from ..expr.nodes import Expression, Reduce, topological
from ..expr.trace import inline, is_tracer, noting
from ..pipeline.compilation import Compilation, check_form
from ..pipeline.options import Options
from ..runtime.base import KernelBase
from ..runtime.cache import cache_key, find
from ..runtime.keys import operand_code
from ..runtime.library import Library, open_library
from ..runtime.toolchain import toolchain
from .operands import constant_row, constant_values, depends_on_ranks, result_names
from .ufunc_attributes import P, R_co, UfuncAttributes

if TYPE_CHECKING:
    from ..emit.standalone import CForm, ModulePart
    from ..loops.nest import LoopProgram
    from ..mlir.linalg.sizes import SizesProgram
    from ..mlir.provenance import Provenance
    from ..runtime.slow_path import CleanCall, StrictDims
    from ..shape.dialect.program import Program
    from ..shape.types.tensor_type import Signature
    from .added_loops import AddedLoops, LoopInfo
    from .background import Jobs
    from .ufunc_variants import Variants

__all__ = ["Kernel"]

_DEFAULT = Options()
Own = ParamSpec("Own")


class Kernel(UfuncAttributes[P, R_co], KernelBase):  # type: ignore[misc]
    """An element-wise function of arrays, compiled for their dtypes at its first call; see :func:`bcastgen.jit`.

    Calling it with arrays, NumPy or Python scalars broadcasts them as NumPy does and returns an ndarray, or a tuple of
    ndarrays where there are several results. ``out=`` takes the array, or the tuple of arrays, to write to.

    One binary per tuple of dtypes serves every rank, shape, stride and broadcast pattern.

    Kernels are equal if expression, names, signature, options and default values are; hashes and dask's tokens are the
    same in every process. They are pickled by name where they can be imported, else as their expression.

    Parameters
    ----------
    expression : the expression that the kernel computes, or a function that returns it.
    name : the kernel's name in messages and in C.
    operands : the operands' names.
    results : number of results.
    defaults : values that the last operands have where a call leaves them out.
    signature : declared types, or None to serve every type.
    options : how the kernel is compiled; the name in it does not count.
    constants : how many of the last operands are constant arrays: their defaults are their values, which no call
        replaces; the signature gives their static types. `operands` leaves them out, and emitted C contains them.

    Attributes
    ----------
    compilations : how often this kernel ran a C compiler.
    provenance : the MLIR function that the kernel was made from, which errors of calls name; else None.

    Examples
    --------
    >>> import bcastgen as bg, numpy as np
    >>> kernel = bg.jit(lambda a, b: a * b + 1)
    >>> kernel(np.arange(3.0), 2.0)
    array([1., 3., 5.])
    """

    # The traced function; kernels of texts and ops have none, which `inspect.unwrap` tells by the attribute's absence.
    __wrapped__: Callable[P, R_co]

    if TYPE_CHECKING:
        # A function in a class is a method there, as `jit` makes it one.
        @overload
        def __get__(self, instance: None, owner: type, /) -> Kernel[P, R_co]: ...
        @overload
        def __get__(
            self: Kernel[Concatenate[Any, Own], R_co], instance: object, owner: type | None = None, /
        ) -> Kernel[Own, R_co]: ...
        def __get__(self, instance: object, owner: type | None = None, /) -> Any:
            """Return the kernel, or the method of an object."""

    def __init__(
        self,
        expression: Expression | Callable[[], Expression],
        name: str,
        operands: tuple[str, ...],
        results: int = 1,
        defaults: tuple[object, ...] = (),
        signature: Signature | None = None,
        options: Options = _DEFAULT,
        constants: int = 0,
    ) -> None:
        self._is_ranked = depends_on_ranks(expression, signature)
        first = len(defaults) - constants
        self._values = constant_values(name, defaults[max(first, 0) :], signature) if constants else ()
        defaults = (*defaults[: max(first, 0)], *self._values)
        slots = (
            len(expression.free_extents) if isinstance(expression, Expression) and hasattr(self, "_call_sized") else -1
        )
        super().__init__(name, operands, result_names(results, operands), defaults, self._is_ranked, constants, slots)
        # The names of the operands that a call may give by position.
        self._positional_operands = operands[: len(operands) - constants - max(slots, 0)]
        self._expression = expression
        self._sizings: dict[tuple[int, ...] | None, LoopProgram] = {}
        self._signature = signature
        self._options = replace(options, name=name)
        self._latest: Compilation | None = None
        self._jobs: Jobs | None = None
        self._added_loops: AddedLoops | None = None
        self.provenance: Provenance | None = None
        self.background = is_on("BCASTGEN_BACKGROUND")
        self.compilations = 0
        self._recipe: tuple[Callable[..., Kernel], tuple[object, ...]] | None = None
        # The user's own expression, if it is text.
        self._text = ""
        self._digest: str | None = None
        self._variants: Variants | None = None
        self._op = None
        self.__name__ = name
        self.__qualname__ = name
        # Without it typing.get_type_hints() takes those of this class.
        self.__annotations__: dict[str, Any] = {}

    @property
    def expression(self) -> Expression:
        """The expression that the kernel computes, before it is typed."""
        if not isinstance(self._expression, Expression):
            self._expression = self._expression()
        return self._expression

    @property
    def _type_assertions(self) -> tuple[str, ...]:
        """The names of the type assertions on intermediate values, for messages."""
        return tuple(claim.name for claim in self.expression.type_assertions)

    @property
    def _shown_results(self) -> tuple[str, ...]:
        """The names of the results in messages."""
        return self.results if self.provenance is None else self.provenance.results

    def _located(self, error: BcastgenError, shapes: tuple[tuple[int, ...], ...]) -> BcastgenError:
        """Return the error of a call with operands of these shapes; for a kernel made from MLIR, with its place."""
        if self.provenance is not None:
            return self.provenance.located(error, shapes) if isinstance(error, BroadcastError) else error
        return placed(error, self._shown_call([f"[{', '.join(map(str, shape))}]" for shape in shapes]))

    def _shown_call(self, types: Sequence[object]) -> str:
        """Return a call of the kernel as messages show it: its name, and each operand with its shape or dtype."""
        shown = [f"{name}: {type_}" for name, type_ in zip(self._positional_operands, types, strict=False)]
        return f"in {self._name}({', '.join(shown[:8])}{', ...' * (len(shown) > 8)})"

    def _named(self, shapes: tuple[tuple[int, ...], ...]) -> tuple[str, ...] | None:
        """Return the names of all that a diagnostic may name, where it is more than operands and results; else None."""
        if not any(isinstance(node, Reduce) for node in topological(self.expression.roots)):
            return None
        return self._sizing(tuple(map(len, shapes))).guards.named

    @property
    def _computed_texts(self) -> tuple[str, ...]:
        """The texts of the extents that declared types compute, for messages; they follow the names of all arrays."""
        from ..shape.computed_constraints import computed_texts  # noqa: PLC0415 - only an error asks

        if self._signature is None:
            return ()
        declared = (*(type_ for _, type_ in self._signature.operands), *(self._signature.results or ()))
        return computed_texts((*declared, *(claim.type for claim in self.expression.type_assertions)))

    @property
    def signature(self) -> Signature | None:
        """The declared types, if any, of a call's operands and results; constant arrays are left out."""
        if self._signature is None or not self._values:
            return self._signature
        return replace(self._signature, operands=self._signature.operands[: len(self.operands)])

    def _with_huge(self, values: tuple[object, ...], fits: Callable[[object], bool]) -> Any:
        """Return a kernel with the Python ints beyond 64 bits as constants, and the values of its other operands.

        Such an int becomes a float, or is compared with integers, as the operand beside it decides; only a constant can
        do so. None for kernels with types, constants or defaults, and where no operand is left.
        """
        rest = tuple(value for value in values if fits(value))
        plain = self._signature is None and not self._constants and not self._defaults and not self._is_ranked
        if not plain or not rest:
            return None
        names = tuple(name for name, value in zip(self.operands, values, strict=True) if fits(value))
        builder = Builder(names)
        left = iter(builder.operands)
        nodes = tuple(next(left) if fits(value) else builder.constant(value) for value in values)
        results = builder.inline(self.expression, nodes)
        return Kernel(builder.finish(results), self._name, names, len(results), options=self._options), rest

    def _compile(self, key: bytes) -> bool:
        """Make the binary for a tuple of operand types: a call with types that have no binary yet comes here.

        Returns
        -------
        bool
            Whether there is no binary yet: it is still being made, in the background, or cannot be made.

        Raises
        ------
        CompileError, CacheError
            If it cannot be made or kept anywhere, and NumPy cannot compute what the kernel does, either.
        """
        try:
            if self._jobs is not None and self._jobs.is_pending(key):
                return True
            return self._make(key)
        except (CompileError, CacheError) as error:
            with undivided:
                from .uncompiled import answer_without  # noqa: PLC0415 - most machines have a compiler

            self._jobs = answer_without(self._name, self._jobs, key, self._compilation_for(key), error)
            return True

    def _compilation_for(self, key: bytes) -> Compilation:
        """Return the stages for the operand types of a binary's key."""
        count = len(self.operands) + len(self._constants)
        ranks = tuple(key[count:]) if self._is_ranked else None
        return self._compilation(tuple(map(from_key, key[:count])), ranks)

    def _make(self, key: bytes) -> bool:
        """Make the binary of a key; return whether it is still being made, in the background."""
        if is_on("BCASTGEN_DISABLE"):
            why = "is not compiled, since BCASTGEN_DISABLE is set, and NumPy lacks one of its ops"
            raise DisabledError(f"kernel '{self._name}' {why}")
        import_before_handlers()
        compilation, tools = self._compilation_for(key), toolchain()
        try:
            parts = compilation.key_parts
        except (DTypeError, RangeError, DomainError) as error:
            types = map(from_key, key[: len(self.operands)])
            raise placed(error, self._shown_call(list(types))) from None
        name = cache_key(*parts, tools=tools)
        library = find(name, open_library)
        if library is None and self._jobs is not None and self._jobs.in_background:
            checks_shapes = self._signature is not None or self._is_ranked or self._options.rules != _DEFAULT.rules
            if self._jobs.begin(key, compilation, checks_shapes, lambda: self._add(key, compilation, name, None)):
                return True
        self._add(key, compilation, name, library)
        return False

    def _add(self, key: bytes, compilation: Compilation, name: str, library: Library | None) -> None:
        """Register the binary of a key: the library found on disk, or else one that is compiled now."""
        typed = compilation.typed
        if library is None:
            with undivided:
                from ..runtime.cache import build  # noqa: PLC0415 - most kernels are found on disk

            about = str(typed).partition("\n")[0].replace("expr", self._name, 1)
            library, compiled = build(name, lambda: apart(lambda: compilation.source), toolchain(), open_library, about)
            with undivided:
                self.compilations += compiled
        self._latest = compilation
        self._add_binary(
            key,
            library.address,
            bytes(DTYPES.index(dtype) for dtype in typed.operand_dtypes),
            bytes(DTYPES.index(dtype) for dtype in typed.result_dtypes),
            typed.limits,
            library,
        )
        if self._jobs is not None:
            self._jobs.finished.add(key)

    def _ask_loop(self, key: bytes, nest: int, is_staged: int, stationary: int, is_hot: int) -> None:
        """Add a loop for a pattern that calls of a binary often have, in the background; see `added_loops`.

        Where the caller said how many variants there are, none is added; nor with ``math="fast"``, whose bits would
        change from one call to the next.
        """
        if self._options.variants is not None or self._options.math == "fast":
            return
        with undivided:
            from .added_loops import AddedLoops, Pattern  # noqa: PLC0415 - few kernels are asked

            if self._added_loops is None:
                self._added_loops = AddedLoops(self)
        self._added_loops.ask(Pattern(key, nest, bool(is_staged), stationary), bool(is_hot))

    def info(self) -> tuple[LoopInfo, ...]:
        """Return the loops of the kernel's binaries, who asked for each, and how often it ran.

        Returns
        -------
        tuple of LoopInfo
            Patterns of broadcasting that no loop serves are among them. Nothing where the extension was not built.

        Examples
        --------
        >>> import bcastgen as bg, numpy as np
        >>> kernel = bg.jit(lambda a, b: a + b)
        >>> total = kernel(np.ones((2, 3)), np.ones((2, 1)))
        >>> sorted((row.name, row.asked_by, row.calls) for row in kernel.info())
        [('unit', 'types', 0), ('zero_a', 'types', 0), ('zero_b', 'types', 1)]
        """
        from .added_loops import loop_infos  # noqa: PLC0415 - calls ask nothing

        return loop_infos(self)

    @property
    def background(self) -> bool:
        """Whether NumPy answers while a binary is compiled; see :func:`bcastgen.jit`. May be set."""
        return self._jobs is not None and self._jobs.in_background

    @background.setter
    def background(self, wanted: bool) -> None:
        check_switch("background", wanted)
        if wanted == self.background:
            return
        if self._jobs is not None:
            self._jobs.wait()
            self._jobs = None
        if wanted:
            with undivided:
                from .background import Jobs  # noqa: PLC0415 - most kernels wait for the compiler

            self._jobs = Jobs()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until no binary is being compiled in the background; the next call tells of an error of the compiler.

        Parameters
        ----------
        timeout : in seconds; None waits as long as it takes.

        Returns
        -------
        bool
            Whether nothing is left to wait for.
        """
        others = (self._jobs, self._added_loops)
        return all([one is None or one.wait(timeout) for one in others])

    def _stand_in(self, operands: tuple[object, ...]) -> CleanCall:
        """Return the object that answers a call on clean operands: this, or NumPy's values until there is a binary."""
        key = b""
        if self._jobs is None:
            # The extension asks for a binary before it comes here.
            has_binary = getattr(self, "_has_binary", None)
            key = self._key_of(operands) if has_binary is not None else key
            if has_binary is None or has_binary(key) or not self._compile(key):
                return self
        assert self._jobs is not None
        key = key or self._key_of(operands)
        if key in self._jobs.finished or not self._compile(key):
            return self
        answered = self._jobs.answer(self, key, operands, not self._is_ranked)
        if answered is not None and self._reports_errors:
            with undivided:
                from .ufunc_errors import report_answered  # noqa: PLC0415 - few kernels report errors, and are answered

            report_answered(self, operands)
        return answered or self

    def _key_of(self, operands: tuple[object, ...]) -> bytes:
        ranks = bytes(np.ndim(value) for value in operands) if self._is_ranked else b""  # type: ignore[arg-type]
        return bytes(map(operand_code, operands)) + ranks

    def _check_strict(self, shapes: tuple[tuple[int, ...], ...], strict: StrictDims) -> None:
        """Refuse operands, constants included, if a dim would stretch that :func:`bcastgen.strict` marks."""
        with undivided:
            from .strict_dims import check_strict  # noqa: PLC0415 - most calls have no strict arrays
        check_strict(self._sizing(tuple(map(len, shapes[: len(self.operands)]))), shapes, strict)

    @noting
    def _call_traced(self, operands: tuple[object, ...]) -> Any:
        """Inline the expression into the function that is being traced, if these operands are its stand-ins."""
        if not any(map(is_tracer, operands)):
            return NotImplemented
        if self.expression.type_assertions:
            named = ", ".join(f"'{claim.name}'" for claim in self.expression.type_assertions)
            raise TraceError(f"{self._name} checks the shapes of {named}; call it outside of the kernel")
        if self._values:
            named = ", ".join(f"'{name}'" for name in self._constants)
            raise TraceError(f"{self._name} holds the constant arrays {named}; call it outside of the kernel")
        return inline(self.expression, operands)

    def _compilation(self, call_types: tuple[DType | Weak, ...], ranks: tuple[int, ...] | None = None) -> Compilation:
        signature = self._signature
        declared = None if signature is None else tuple(type_ for _, type_ in signature.operands)
        results = None if signature is None else signature.results
        names, constants = self.results, len(self._values)
        return Compilation(self.expression, call_types, declared, results, names, self._options, ranks, constants)

    def _declared_kinds(self) -> tuple[DType | Weak, ...]:
        """Return the dtypes of the signature, f64 where it leaves one out; without one, those compiled last, or f64."""
        if self._signature is None:
            return self._latest.call_types if self._latest is not None else (F64,) * len(self.operands)
        return tuple(type_.dtype or F64 for _, type_ in self._signature.operands)

    @property
    def compilation(self) -> Compilation:
        """Every stage, for the dtypes that were compiled last, else for those of the signature, else for f64."""
        return self._latest if self._latest is not None else self._compilation(self._declared_kinds())

    @property
    def stages(self) -> dict[str, str]:
        """The text of every stage by name, in order; constant arrays come first, where there are any.

        The last one shows which loops calls ran, if one was added for them, or if a pattern of theirs has no loop.
        """
        rows = map(constant_row, self._constants, self._values)
        constants = {"constants": "\n".join(rows)} if self._values else {}
        stages = {**constants, **self.compilation.stages}
        stages |= {"shape": str(self.shape_function)} if "shape" in stages else {}
        ran = self.info()
        stages |= {"ran": "\n".join(map(str, ran))} if any(one.asked_by != "types" for one in ran) else {}
        from ..pipeline.stages import Stages  # noqa: PLC0415 - calls need no texts

        return Stages(stages)

    @property
    def source(self) -> str:
        """The C that is compiled for calls."""
        return str(self.compilation.source)

    @property
    def shape_function(self) -> Program:
        """The program of the shape dialect that sizes the results; see :mod:`bcastgen.shape`."""
        if self._latest is not None or self._is_ranked:
            return self.compilation.shape_function
        # As for `result_shape`, dtypes do not matter.
        return self._guards_program(())

    def _guards_program(self, ranks: tuple[int, ...]) -> Program:
        """Return the guards for operands of these ranks as a program."""
        with undivided:
            from ..loops.shape_function import shape_function  # noqa: PLC0415 - calls size results by `_guard_code`
        return shape_function(self._sizing(ranks), self._options.name)

    def _result_shape(self, shapes: tuple[object, ...], extents: Any = None) -> Any:
        """Return the results' shapes: for arguments that are no tuples, and where the extension was not built."""
        if extents is not None:
            raise ArgumentError(f"{self._name}.result_shape() has no extents to be given; operands determine all")
        with undivided:
            from ..runtime.slow_path import without_strict  # noqa: PLC0415 - calls size results themselves
            from .sizing import shapes_of, sized  # noqa: PLC0415 - calls size results themselves
        return sized(self, shapes_of(self, self.operands, shapes), without_strict(shapes)[1])

    def _sizing(self, ranks: tuple[int, ...]) -> LoopProgram:
        """Return the program that sizes the results for operands of these ranks, which leave constants out."""
        key = (*ranks, *(value.ndim for value in self._values)) if self._is_ranked else None
        if key not in self._sizings:
            with undivided:
                from .sizing import sizing_program  # noqa: PLC0415 - calls size results themselves
            count = len(self.operands) + len(self._values)
            self._sizings[key] = sizing_program(lambda types: self._compilation(types, key), self._signature, count)
        return self._sizings[key]

    def _guard_code(self, ranks: bytes, _given: bytes) -> bytes | None:
        """Return the guards as numbers, for operands of these ranks; the extension runs them to size results."""
        with undivided:
            from ..loops.guard_program.code import guard_code  # noqa: PLC0415 - calls size results themselves
        return guard_code(self._sizing(tuple(ranks)).guards)

    @with_short_tracebacks
    def explain(self, *, html: bool = False, operands: Sequence[Any] | None = None) -> str:
        """Return every stage as text: the expression, its types, the loop nests, the inner loops, the kernel's own C.

        Parameters
        ----------
        operands : of calls that are measured for a second or two: their time stands beside the least that this machine
            could take.
        html : return a page instead, one file that needs no other: it draws how operands stretch, shows what each
            rewrite changed and which lines of C compute a value, and has the assembly of the inner loops.

        Returns
        -------
        str
            The stages for the dtypes that were compiled last, else for those of the signature, else for f64.

        Raises
        ------
        BcastgenError
            If `operands` are not those of a call.

        Examples
        --------
        >>> import bcastgen as bg
        >>> print(bg.from_text("(f32[4] a) -> -a").explain().splitlines()[0])
        == expression: what was written
        """
        check_switch("html", html)
        measured = None if operands is None else bench_module("one_call").measured(self, operands)
        if html:
            from ..page.forms import whole_page  # noqa: PLC0415 - calls explain nothing

            return whole_page(self.compilation, self.stages, measured)
        from ..pipeline.explanation import explain  # noqa: PLC0415 - calls explain nothing

        stages = self.stages if measured is None else {**self.stages, "measured": str(measured)}
        return explain(stages, self.compilation.source.name)

    def _repr_html_(self) -> str | None:
        """Return what notebooks show: the page of `explain`; None, for its text, if types are still to be given."""
        from ..page.forms import frame  # noqa: PLC0415 - calls explain nothing

        try:
            return frame(self.compilation, self.stages, repr(self))
        except BcastgenError:
            return None

    @with_short_tracebacks
    def emit_c(
        self, directory: str | Path, name: str | None = None, variants: int | None = None, **form: Any
    ) -> tuple[Path, ...]:
        """Write standalone C11: a .c, a .h, and bcastgen.h, which modules share; it needs no Python and no bcastgen.

        Parameters
        ----------
        directory : where the files go; made if missing.
        name : name of the files and functions; the kernel's own by default.
        variants : number of specialised inner loops; 0 for the one plain nest, None for as many as pay.
        **form : the options of :func:`bcastgen.emit_c`, which writes several kernels.

        Returns
        -------
        tuple of Path
            The .c, then the .h, then the files that go with them.

        Raises
        ------
        BcastgenError
            If the directory cannot be written to (no file is then half-written), or options exclude each other.

        Examples
        --------
        >>> import tempfile
        >>> import bcastgen as bg
        >>> with tempfile.TemporaryDirectory() as directory:
        ...     [path.name for path in bg.from_text("(f32[3] a) -> -a", "negated").emit_c(directory, static=True)]
        ['negated.c', 'negated.h']
        """
        from ..emit.standalone import CForm, render_module, write_sources  # noqa: PLC0415 - calls need no C that stands alone

        name = self.__name__ if name is None else name
        check_name(name)
        made = CForm(variants, **{**form, "build": names_of("build", form.get("build", ()))}).checked()
        made_by = f"{self.__name__}.emit_c(directory, {name!r}{made.arguments})"
        return write_sources(render_module(name, [self.standalone_part(name, made)], made, made_by), directory)

    def standalone_part(self, name: str, form: CForm) -> ModulePart:
        """Return the kernel as the part of this name of a module of standalone C in this form."""
        return self.declared_compilation.standalone_part(name, form, self._values, self._text)

    @property
    def declared_compilation(self) -> Compilation:
        """Every stage for the dtypes of the signature; without one, for those compiled last, or else f64."""
        return self._compilation(self._declared_kinds())

    @property
    def constant_values(self) -> tuple[np.ndarray[Any, Any], ...]:
        """The constant arrays that are the kernel's own."""
        return self._values

    @with_short_tracebacks
    def to_mlir(self, form: str = "linalg", versions: int = 0) -> str:
        """Return the kernel as MLIR text that ``mlir-opt`` verifies.

        Parameters
        ----------
        form : ``"linalg"``: its loop nests as linalg.generic, with checks as cf.assert; ``"tosa"``: its expression;
            ``"shape"``: the program of the shape dialect that sizes its results.
        versions : how many versions of a loop nest linalg has at most, each with plain maps, for one choice of the dims
            that stretch; the form for any call follows them.

        Raises
        ------
        BcastgenError
            If the form cannot express the kernel (operands of unknown rank, ops without a counterpart); says why.

        Examples
        --------
        >>> import bcastgen as bg
        >>> print(bg.from_text("(f32[4] a) -> -a", "negated").to_mlir("tosa").splitlines()[0])
        func.func @negated(%a: tensor<4xf32>) -> tensor<4xf32> {
        """
        check_form(form, versions)
        if form == "shape":
            return str(self.shape_function)
        return self.compilation.mlir(form, self._values, versions, self._linalg_sizes)

    def _linalg_sizes(self) -> SizesProgram | None:
        """Return the shape functions of the kernel's ops, as linalg writes them; None if there are none."""
        return None

    def __repr__(self) -> str:
        shown = f"({', '.join(self.operands)})" if self._signature is None else f" {self.signature}"
        return f"<kernel {self.__name__}{shown}>"

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, _memo: object) -> Kernel:
        return self

    def __reduce__(self) -> Any:
        with undivided:
            from .identity import reduced  # noqa: PLC0415 - calls pickle nothing
        return reduced(self)

    @property
    def _identity(self) -> str:
        """A digest that kernels share if they compute the same in the same way, in every process."""
        if self._digest is None:
            with undivided:
                from .identity import identity  # noqa: PLC0415 - calls compare nothing
            self._digest = identity(self)
        return self._digest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        return self is other or self._identity == other._identity

    def __hash__(self) -> int:
        return int(self._identity[:15], 16)

    def __dask_tokenize__(self) -> tuple[str, str]:
        return "bcastgen.Kernel", self._identity
