"""A module of standalone C with all that its form asks for.

In: kernels and a :class:`CForm`.  Out: a :class:`CSource`: m.c, m.h, and what goes beside them.

    render_module("axpb", parts, CForm(build=("cmake",)))   ->   axpb.c, axpb.h, CMakeLists.txt
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.c_source import CSource
from ...core.errors import BcastgenError
from .form import CForm
from .module import ModulePart, module_files, module_view
from .project import project_files

__all__ = ["render_module"]


def render_module(name: str, parts: Sequence[ModulePart], form: CForm, made_by: str = "") -> CSource:
    """Return the C of a module for other people's projects.

    Parameters
    ----------
    name : of the files, and the prefix of every name; made a C identifier.
    parts : its kernels.
    form : what is asked of the C.
    made_by : the command, or the call in Python, that makes the files again.

    Raises
    ------
    BcastgenError
        For a form that there is not, or a name that is no identifier.
    """
    if not name.isidentifier():
        raise BcastgenError(f"{name!r} cannot be the name of files and functions in C; give one such as 'ops'")
    module = module_view(name, parts, form.checked(), made_by)
    files = module_files(module)
    return CSource(module.name, {**files, **project_files(module, files)})
