"""The two forms of a kernel's page: a file of its own, and a frame in a notebook.

In: the stages of a compilation.  Out: HTML.

    whole_page(compilation, stages)     ->  a page that needs no other file, with the assembly of the inner loops
    frame(compilation, stages, title)   ->  a frame with the page, whose style and script the notebook does not see
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from html import escape
from pathlib import Path

from ..core.errors import CompileError
from ..pipeline.compilation import Compilation
from ..runtime.run_compiler import assembly_of
from ..runtime.toolchain import toolchain
from .page import Measured, page

__all__ = ["frame", "whole_page"]

_NOT_HERE = "kernel.explain(html=True) and bcastgen explain --html show it."
_STYLE = "width: 100%; height: 40rem; border: 1px solid #8c959f; border-radius: 6px"


def whole_page(compilation: Compilation, stages: Mapping[str, str], measured: Measured | None = None) -> str:
    """Return the page of a kernel; without a compiler it says so where the assembly would stand."""
    try:
        with tempfile.TemporaryDirectory(prefix="bcastgen-page-") as directory:
            assembly = assembly_of(compilation.source, Path(directory), toolchain())
    except CompileError as error:
        return page(compilation, stages, "", f"There is none: {str(error).splitlines()[0]}", measured)
    return page(compilation, stages, assembly, measured=measured)


def frame(compilation: Compilation, stages: Mapping[str, str], title: str) -> str:
    """Return a frame with the page without assembly, for which a compiler would run each time a kernel is shown."""
    text = escape(page(compilation, stages, "", _NOT_HERE))
    return f'<iframe sandbox="allow-scripts" title="{escape(title)}" style="{_STYLE}" srcdoc="{text}"></iframe>'
