"""The files beside a module: a program that checks it, build files, a wrapper for Python.

In: a module's view and its C.  Out: more files, by name.

    axpb.c, axpb.h; main, cmake   ->   axpb_main.c, CMakeLists.txt
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .build import BUILD_FILES, build_text
from .cffi import cffi_wrapper
from .main import main_program

if TYPE_CHECKING:
    from ..module import ModuleView

__all__ = ["project_files"]


def project_files(module: ModuleView, files: Mapping[str, str]) -> dict[str, str]:
    """Return the files that a module's form asks for beside its C.

    Parameters
    ----------
    module : its view.
    files : the names and texts of its C.
    """
    made = {name: build_text(module, files, kind) for kind, name in BUILD_FILES.items() if kind in module.form.build}
    if "cffi" in module.form.build:
        made[f"{module.name}_cffi.py"] = cffi_wrapper(module, files)
    if module.form.main:
        made[f"{module.name}_main.c"] = main_program(module, files[f"{module.name}.h"])
    return made
