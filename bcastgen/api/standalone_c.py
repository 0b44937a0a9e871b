"""Kernels and programs of shapes as C for other people's projects.

In: one kernel or several, or a program, and a directory.  Out: files.

    bg.emit_c({"scaled": scaled, "shifted": shifted}, "out", "ops")   ->   out/ops.c, out/ops.h
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..core.c_source import CSource
from ..core.errors import BcastgenError, BroadcastError
from ..core.options import check_name, names_of
from ..core.source_lines import with_short_tracebacks
from ..emit.shape_program.program import render_shape
from ..emit.standalone import CForm, render_module, write_sources

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel
    from ..shape.dialect.program import Program

__all__ = ["emit_c", "emit_shape", "module_source"]


@with_short_tracebacks
def emit_c(
    kernels: Kernel | Mapping[str, Kernel] | Iterable[Kernel],
    directory: str | Path,
    name: str,
    variants: int | None = None,
    *,
    static: bool = False,
    pointers: bool = False,
    unchecked: bool = False,
    export: bool = False,
    abi: int = 1,
    alignment: int | None = None,
    freestanding: bool = False,
    openmp: bool = False,
    target: str | None = None,
    targets: Sequence[str] = (),
    single_file: bool = False,
    header_only: bool = False,
    cpp: bool = False,
    helper_file: bool = False,
    license: str | None = None,
    verbose: bool = False,
    main: bool = False,
    build: Sequence[str] = (),
) -> tuple[Path, ...]:
    """Write kernels as one module of standalone C11: one .c and one .h, and bcastgen.h, which all modules share.

    Parameters
    ----------
    kernels : a kernel, which is called as the module; or several, under the names that they have there, or their own.
    directory : where the files go; made if missing.
    name : the module's name: that of its files, and the prefix of every name in them.
    variants : number of specialised inner loops; 0 for the one plain nest, None for as many as pay.
    static : all extents are known: plain nested loops over pointers, no descriptors.
    pointers : extents are known or have names, which are parameters: plain nested loops over pointers, no checks.
    unchecked : each kernel has a function NAME_unchecked, too, which trusts its caller.
    export : functions are marked as those that a shared library shows, on Windows, too.
    abi : the number of a shared library's interface, a part of its soname; raise it where arguments change.
    alignment : callers promise that rows are aligned to so many bytes, 16, 32, 64 or 128: this is checked, and loops
        use it.
    freestanding : no library: only <stdint.h>, <stddef.h> and <stdbool.h>, and maths of its own.
    openmp : threads by OpenMP, where the work pays.
    target : the machine that vectors are meant for, by name; None says nothing of it.
    targets : instruction sets that the .c holds beside that of the compiler's flags; a call takes the best that runs.
    single_file : what all modules share stands in the .c and .h; else in bcastgen.h, beside them.
    header_only : one header, whose functions are static inline, and no .c.
    cpp : bcastgen.hpp goes with it, for callers in C++20: views, and errors as exceptions.
    helper_file : the module's helpers stand in a header of their own, NAME.helpers.h; else in the .c.
    license : the SPDX expression of a licence, which each file then begins with; None for none.
    verbose : the expression and the loop nests, as the compiler has them, end the .c.
    main : a program that checks the module against a reference goes with it.
    build : what goes with it beside that: ``"cmake"``, ``"meson"``, ``"makefile"``, ``"cffi"``.

    Returns
    -------
    tuple of Path
        The .c, if there is one, then the .h, which says what each function takes and returns; then bcastgen.h, unless
        that is part of these, and the files that go with them.

    Raises
    ------
    BcastgenError
        If the directory cannot be written to (no file is then half-written), or options exclude each other.

    Examples
    --------
    >>> import tempfile
    >>> import bcastgen as bg
    >>> kernels = {"sums": bg.from_text("(f32[?,?] a, f32[?] b) -> a + b"), "signs": bg.sign}
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.name for path in bg.emit_c(kernels, directory, "rows")]
    ['rows.c', 'rows.h', 'bcastgen.h']
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     source, header, shared = bg.emit_c(kernels["sums"], directory, "sums")
    ...     "bcastgen_status sums(" in header.read_text()
    True
    """
    form = CForm(
        variants=variants,
        static=static,
        pointers=pointers,
        unchecked=unchecked,
        export=export,
        abi=abi,
        alignment=alignment,
        freestanding=freestanding,
        openmp=openmp,
        target=target,
        targets=names_of("targets", targets),
        single_file=single_file,
        header_only=header_only,
        cpp=cpp,
        helper_file=helper_file,
        license=license,
        verbose=verbose,
        main=main,
        build=names_of("build", build),
    )
    return write_sources(module_source(kernels, name, form), directory)


def module_source(
    kernels: Kernel | Mapping[str, Kernel] | Iterable[Kernel],
    name: str,
    form: CForm,
    made_by: str = "",
    begin: Callable[[str], None] | None = None,
) -> CSource:
    """Return the files of a module; `made_by` is the command that makes them again, if that is no call in Python.

    Before each kernel `begin` is called with its name.

    Raises
    ------
    BcastgenError
        If there is no kernel, or two have one name.
    """
    check_name(name)
    if isinstance(kernels, Mapping):
        pairs = list(kernels.items())
    elif isinstance(kernels, Iterable) and not isinstance(kernels, (str, np.ndarray)):
        pairs = [(getattr(kernel, "__name__", ""), kernel) for kernel in kernels]
    else:
        pairs = [(name, kernels)]
    for one, _ in pairs:
        check_name(one)
    strange = [type(kernel).__name__ for _, kernel in pairs if not hasattr(kernel, "standalone_part")]
    if strange:
        raise BcastgenError(f"module {name}: {strange[0]} is no kernel; give what jit, from_text or from_mlir returns")
    if not pairs:
        raise BcastgenError(f"module {name} has no kernel")
    twice = next((one for at, (one, _) in enumerate(pairs) if one in (other for other, _ in pairs[:at])), None)
    if twice is not None:
        raise BcastgenError(
            f"module {name} has two kernels {twice!r}; give them names: {{'first': ..., 'second': ...}}"
        )
    form = form.checked()
    made_by = made_by or f"bcastgen.emit_c(kernels, directory, {name!r}{form.arguments})"
    parts = []
    for label, kernel in pairs:
        if begin is not None:
            begin(label)
        parts.append(kernel.standalone_part(label, form))
    return render_module(name, parts, form, made_by)


def emit_shape(program: Program, directory: str | Path, name: str | None = None) -> tuple[Path, ...]:
    """Write a program of the shape dialect as standalone C11: one .c and one .h, without any header of ours.

    Parameters
    ----------
    program : see :mod:`bcastgen.shape`; a kernel's is ``kernel.shape_function``.
    directory : where the files go; made if missing.
    name : name of the files and of the function; the program's own by default.

    Returns
    -------
    tuple of Path
        The .c, then the .h, which says what the function takes and returns.

    Raises
    ------
    BroadcastError
        If the program is malformed, or computes with element types, which are static.
    BcastgenError
        If the directory cannot be written to.

    Examples
    --------
    >>> import tempfile
    >>> import bcastgen as bg
    >>> add = bg.from_text("(f32[n, ?] a, f32[?] b) -> a + b", "add_kernel")
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.name for path in bg.emit_shape(add.shape_function, directory)]
    ['add_kernel.c', 'add_kernel.h']
    """
    if name is not None:
        check_name(name)
    if not hasattr(program, "verify"):
        raise BroadcastError(f"emit_shape() takes a shape program, not {type(program).__name__}")
    return write_sources(render_shape(program, name), directory)
