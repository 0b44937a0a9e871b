"""Standalone C: a .c, a .h, and bcastgen.h, which modules share; none needs Python or bcastgen.

In: loop programs.  Out: a :class:`CSource` of two files or more; and these files on disk.

    a + b * 2 over f32[?, ?]  ->  axpb.h (types, statuses, prototypes), axpb.c (checks and nested loops)

The helpers that kernels use are copied into it, and all our names get the module's prefix.
"""

from .files import write_sources
from .form import CForm
from .module import ModulePart
from .render import render_module

__all__ = ["CForm", "ModulePart", "render_module", "write_sources"]
