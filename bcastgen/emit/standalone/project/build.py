"""The build files of a module: for CMake, meson and make.

In: a module's view and the names of its files.  Out: the text of CMakeLists.txt, meson.build or Makefile.

    axpb.c, axpb.h   ->   a library axpb with its header, its installation, and a test where axpb_main.c is there
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....core.c_flags import C_LANGUAGE, OPENMP_FLAGS, OPTIMISED, RESULT_FLAGS, Flag
from ....core.version import __version__
from ...templating.render import render_template
from ..shared import CPP_HEADER, HEADER
from ..target import find_target

if TYPE_CHECKING:
    from ..module import ModuleView

__all__ = ["BUILD_FILES", "build_text"]

# The file of each build system, which is also the name of its template.
BUILD_FILES = {"cmake": "CMakeLists.txt", "meson": "meson.build", "makefile": "Makefile"}

# Names that CMake and ninja use for targets of their own.
_TARGETS = frozenset(
    "all benchmark clean depend dist edit_cache help install install_local list_install_components package "
    "package_source preinstall rebuild_cache reconfigure scan_build test uninstall".split()
)


def build_text(module: ModuleView, files: Mapping[str, str], kind: str) -> str:
    """Return the text of a build file.

    Parameters
    ----------
    module : its view.
    files : the names and texts of its C.
    kind : one of :data:`BUILD_FILES`.
    """
    name = module.name
    return render_template(
        f"project/{BUILD_FILES[kind]}.j2",
        name=name,
        macros=module.macros,
        target=f"{name}_library" if name in _TARGETS else name,
        sources=[file for file in files if file.endswith(".c")],
        headers=[file for file in files if file.endswith(".h")],
        public=[file for file in (f"{name}.h", HEADER, CPP_HEADER) if file in files],
        optimised=OPTIMISED,
        standard=C_LANGUAGE[0],
        flags=(*_target_flags(module), *RESULT_FLAGS),
        main=module.form.main,
        export=module.form.export,
        abi=module.form.abi,
        version=__version__,
        openmp=" ".join(OPENMP_FLAGS) if module.form.openmp else "",
        needs_math=any("#include <math.h>" in text for text in files.values()),
    )


def _target_flags(module: ModuleView) -> tuple[Flag, ...]:
    """Return the flags for a module's target machine."""
    if module.form.target is None:
        return ()
    target = find_target(module.form.target)
    return tuple(Flag(flag, f"the target {target.name}, {target.doc}") for flag in target.flags)
