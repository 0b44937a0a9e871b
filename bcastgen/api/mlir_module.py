"""MLIR modules as users call them: text in, kernels out, and MLIR text out of any kernel.

In: the text of a module, or its path.  Out: a :class:`Kernel`, or a shape program; and stages as text.

    bg.from_mlir("func.func @f(%a: tensor<?xf32>, ...) ...")(a, b)
    bg.jit(lambda a, b: a + b, signature="(f32[?], f32[?])").to_mlir("linalg")
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import BcastgenError, ParseError
from ..core.sizes import is_on
from ..core.source_lines import with_short_tracebacks
from ..kernel.kernel import Kernel
from ..mlir.calls import choose, entries, inlined
from ..mlir.importer import import_function
from ..mlir.ir import Function, Module, Operation
from ..mlir.options import ReadOptions
from ..mlir.provenance import Provenance
from ..mlir.read.parser import parse_module
from ..pipeline.options import Options

if TYPE_CHECKING:
    from ..shape.dialect.program import Program
    from ..shape.inference.stretch_rules import Dynamic

__all__ = [
    "choose",
    "entries",
    "from_mlir",
    "is_shape_function",
    "kernel_of",
    "program_of",
    "read_module",
    "shape_from_mlir",
    "verify_module",
]

# The names that operations of a shape function begin with: the dialect's own, and those of ops used beside it.
_SHAPE_OPS = (
    "shape.",
    "affine.",
    "arith.",
    "index.",
    "scf.",
    "tensor.dim",
    "tensor.extract",
    "tensor.from_elements",
    "tensor.rank",
)


@with_short_tracebacks
def from_mlir(
    text: str | Path,
    function: str | None = None,
    *,
    name: str = "<mlir>",
    rank_expansion: bool = False,
    strict_types: bool = False,
    dynamic: Dynamic = "numpy",
    threads: int | None = None,
) -> Kernel:
    """Return the kernel of a function in MLIR text: TOSA's element-wise ops, constants, casts.

    Every op is verified first. Declared types of operands and results are checked at run time: ``?`` stretches if it
    proves to be 1 (unless `dynamic` says otherwise), and a mismatch is an error that names the op, its place in the
    text, the operand, the dim and both sizes. Arguments and results may have facts on dims beside their types:
    ``%x: tensor<?x?xf32> {bcastgen.dims = ["n>=2", "?%8"]}``, written as in signatures.

    Parameters
    ----------
    text : a module, in MLIR's generic form or in TOSA's own; or the path of a file.
    function : the function's name; by default the only function, or else ``main``.
    name : what messages call the text.
    rank_expansion : operands may have fewer dims than the result, as before TOSA 1.0.
    strict_types : take only the element types of the specification's tables.
    dynamic : as for :func:`bcastgen.jit`, and it holds for every op: where it is not ``"numpy"``, a dim stretches only
        if the type of the value says 1, as TOSA specifies. ``"trusted"`` also leaves unchecked what the types of values
        on the way say.
    threads : how many threads a call may take, as for :func:`bcastgen.jit`.

    Returns
    -------
    Kernel
        It takes the function's operands, in order, and returns a tuple of arrays if there are several results. Elements
        of ``i1`` are numpy.bool, those of ``bf16`` ml_dtypes.bfloat16.

    Raises
    ------
    ParseError, DTypeError, BroadcastError
        If the text is no MLIR or not valid; the message gives the place: ``model.mlir:3:10: error: ...``.

    Examples
    --------
    >>> import numpy as np
    >>> import bcastgen as bg
    >>> scaled = bg.from_mlir('''
    ...     func.func @scaled(%x: tensor<?x3xf32>, %s: tensor<1x3xf32>) -> tensor<?x3xf32> {
    ...       %0 = tosa.sub %x, %s : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
    ...       %1 = tosa.exp %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
    ...       return %1 : tensor<?x3xf32>
    ...     }''')
    >>> scaled(np.ones((2, 3), np.float32), np.ones((1, 3), np.float32))
    array([[1., 1., 1.],
           [1., 1., 1.]], dtype=float32)
    """
    module = read_module(text, name)
    kernel = kernel_of(choose(module, function), module, ReadOptions(rank_expansion, strict_types, dynamic))
    kernel.threads = threads
    return kernel


@with_short_tracebacks
def shape_from_mlir(text: str | Path, function: str | None = None, *, name: str = "<mlir>") -> Program:
    """Return the shape program of a function in MLIR text: the shape dialect, and arithmetic on indices.

    The program is evaluated, folded, run and printed like one of :mod:`bcastgen.shape` that is written in Python.
    :func:`emit_shape` writes its C. :func:`define_op` takes it, or its text, as an op's shape function.

    Parameters
    ----------
    text : a module, in MLIR's generic form or in the ops' own; or the path of a file.
    function : the function's name; by default the only function, or else ``main``.
    name : what messages call the text.

    Returns
    -------
    Program
        Its operations know their places in the text, which the errors of a run name.

    Raises
    ------
    ParseError, BroadcastError
        If the text is no MLIR or no shape program; the message gives the place: ``sizes.mlir:3:10: error: ...``.

    Examples
    --------
    >>> import bcastgen as bg
    >>> stack = bg.shape_from_mlir('''
    ...     func.func @stack(%a: !shape.shape, %b: !shape.shape) -> !shape.shape {
    ...       %two = shape.const_shape [2] : !shape.shape
    ...       %both = shape.meet %a, %b, error = "stack: shapes differ" : !shape.shape, !shape.shape -> !shape.shape
    ...       %r = shape.concat %two, %both : !shape.shape, !shape.shape -> !shape.shape
    ...       return %r : !shape.shape
    ...     }''')
    >>> print(stack.run((3, 4), (3, 4)), stack.evaluate((3, None), "[*]"), stack.check((3,), (4,)))
    [2, 3, 4] [2, 3, ?] False
    """
    module = read_module(text, name)
    return program_of(choose(module, function), module)


def read_module(text: str | Path, name: str = "<mlir>") -> Module:
    """Parse a module from text, or from the file at a path.

    Raises
    ------
    ParseError
        If the text or the file cannot be read; the message gives the place.
    """
    if not isinstance(text, (str, Path)):
        raise ParseError(f"MLIR is text, or the pathlib.Path of a file, not {type(text).__name__}")
    if isinstance(text, str):
        return parse_module(text, name)
    try:
        return parse_module(text.read_text(encoding="utf-8"), str(text))
    except UnicodeDecodeError as error:
        raise ParseError(f"{text} is no text in UTF-8 ({error.reason} at byte {error.start})") from None


def kernel_of(function: Function, module: Module, options: ReadOptions) -> Kernel:
    """Return the kernel of one function of a module.

    Raises
    ------
    ParseError, DTypeError, BroadcastError
        As :func:`from_mlir`.
    """
    function = inlined(function, module)
    if is_shape_function(function, module):
        error = ParseError("computes shapes, not elements; read it by `bcastgen opt --to=shape`")
        raise module.source.locate(error, function.location, f"'func.func' op @{function.name}")
    imported = import_function(function, module.source, options)
    operands = tuple(operand.name for operand in imported.expression.operands)
    name = imported.name if imported.name.isidentifier() else re.sub(r"^(?=\d)|\W", "_", imported.name) or "kernel"
    kernel = Kernel(
        imported.expression,
        name,
        operands,
        len(imported.expression.results),
        imported.constants,
        imported.signature,
        Options(
            name,
            dynamic=options.dynamic,
            rank_expansion=options.rank_expansion,
            debug=is_on("BCASTGEN_DEBUG"),
        ),
        constants=len(imported.constants),
    )
    kernel.provenance = Provenance(function, module.source, options, imported.results)
    kernel._recipe = _kernel_again, (module.source.text, module.source.name, function.name, options)
    _lowers(kernel, function, module)
    return kernel


def _kernel_again(text: str, name: str, function: str, options: ReadOptions) -> Kernel:
    """Return the kernel of a function of a text that comes from a pickle."""
    module = parse_module(text, name)
    return kernel_of(choose(module, function), module, options)


def _lowers(kernel: Kernel, function: Function, module: Module) -> None:
    """Lower a kernel now, since ops that are valid one by one may contradict each other; raise with the place."""
    try:
        _ = kernel.compilation.program
    except BcastgenError as error:
        raise module.source.locate(error, function.location, f"'func.func' op @{function.name}") from None


def is_shape_function(function: Function, module: Module) -> bool:
    """Whether a function of a module computes with shapes rather than with elements."""
    function = inlined(function, module)
    operations = () if function.body is None else function.body.operations
    types = (*function.type.operands, *function.type.results)
    return any(operation.name.startswith(_SHAPE_OPS) for operation in operations) or any(
        type_.tensor is None and (not type_.text.startswith("tensor<") or type_.text.endswith("xindex>"))
        for type_ in types
    )


def program_of(function: Function, module: Module) -> Program:
    """Return a function of shapes as a program of the shape dialect.

    Raises
    ------
    ParseError, BroadcastError
        If it is no shape program, or malformed; the message gives the place.
    """
    from ..mlir.shape.read_program import read_program  # noqa: PLC0415 - most modules compute no shapes

    return read_program(inlined(function, module), module.source)


def verify_module(
    module: Module, options: ReadOptions, functions: tuple[Function, ...] | None = None
) -> tuple[BcastgenError, ...]:
    """Return the first error of each function of a module, or of some of them, that has one."""
    found: list[BcastgenError] = []
    for function in module.functions if functions is None else functions:
        try:
            whole = inlined(function, module)
            if is_shape_function(whole, module):
                program_of(whole, module)
            elif _only_verifies(whole):
                import_function(whole, module.source, options, verify_only=True)
            else:
                kernel_of(whole, module, options)
        except BcastgenError as error:
            found.append(error)
    return tuple(found)


def _only_verifies(function: Function) -> bool:
    """Whether there is nothing to compile: no result, or an op that has types but computes nothing."""
    operations = _operations(function)
    return not function.type.results or any(operation.name == "test.broadcastable" for operation in operations)


def _operations(function: Function) -> tuple[Operation, ...]:
    return () if function.body is None else function.body.operations
