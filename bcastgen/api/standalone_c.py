"""Kernels as C for other people's projects: one module of standalone C for one kernel or several.

In: kernels and a directory.  Out: files.

    bg.emit_c({"scaled": scaled, "shifted": shifted}, "out", "ops")   ->   out/ops.c, out/ops.h
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import BcastgenError

if TYPE_CHECKING:
    from ..core.c_source import CSource
    from ..emit.standalone import CForm
    from ..kernel.kernel import Kernel

__all__ = ["emit_c", "module_source"]


def emit_c(
    kernels: Mapping[str, Kernel] | Iterable[Kernel],
    directory: str | Path,
    name: str,
    variants: int | None = None,
    *,
    static: bool = False,
    freestanding: bool = False,
    openmp: bool = False,
    target: str | None = None,
    single_file: bool = True,
    main: bool = False,
    build: Sequence[str] = (),
) -> tuple[Path, ...]:
    """Write kernels as one module of standalone C11: one .c and one .h, without Python or any header of ours.

    Parameters
    ----------
    kernels : what is in it; by the names that they have there, or by their own.
    directory : made if missing.
    name : of the module: of its files, and the prefix of every name in them.
    variants : number of specialised inner loops; 0 for the one plain nest.
    static : all extents are known: plain nested loops over pointers, no descriptors.
    freestanding : no library: only <stdint.h>, <stddef.h> and <stdbool.h>, and maths of its own.
    openmp : threads by OpenMP, where the work pays.
    target : the machine that vectors are meant for, by name.
    single_file : the helpers stand in the .c; else in a header of their own, beside it.
    main : a program that checks the module against a reference goes with it.
    build : what goes with it beside that: ``"cmake"``, ``"meson"``, ``"makefile"``, ``"cffi"``.

    Returns
    -------
    tuple of Path
        The .c, then the .h, which says what each function takes and returns; then what goes with them.

    Raises
    ------
    BcastgenError
        If the directory cannot be written to; nothing is then half-written. For options that exclude each other.

    Examples
    --------
    >>> import tempfile
    >>> import bcastgen as bg
    >>> kernels = {"sums": bg.from_text("(f32[?,?] a, f32[?] b) -> a + b"), "signs": bg.sign}
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [path.name for path in bg.emit_c(kernels, directory, "rows")]
    ['rows.c', 'rows.h']
    """
    from ..emit.standalone import CForm, write_sources

    form = CForm(variants, static, freestanding, openmp, target, single_file, main, tuple(build))
    return write_sources(module_source(kernels, name, form), Path(directory))


def module_source(kernels: Mapping[str, Kernel] | Iterable[Kernel], name: str, form: CForm) -> CSource:
    """Return the files of a module.

    Raises
    ------
    BcastgenError
        If there is no kernel, or two have one name.
    """
    from ..emit.standalone import render_module

    pairs = list(kernels.items()) if isinstance(kernels, Mapping) else [(kernel.__name__, kernel) for kernel in kernels]
    if not pairs:
        raise BcastgenError(f"module {name} has no kernel")
    twice = next((one for at, (one, _) in enumerate(pairs) if one in (other for other, _ in pairs[:at])), None)
    if twice is not None:
        raise BcastgenError(
            f"module {name} has two kernels {twice!r}; give them names: {{'first': ..., 'second': ...}}"
        )
    parts = [k.declared_compilation.standalone_part(label, k.constant_values) for label, k in pairs]
    return render_module(name, parts, form)
