"""Compiles the templates when the package is built, so that no first call does, or imports jinja.

In: the folder of the templates.  Out: the text of `_templates.py` beside this file, whose code `run` runs.

    kernel.c.j2  ->  PYTHON = "cpython-311 a70d0d0a"; CODE = {"kernel.c.j2": (<checksum>, "<code in base 64>"), ...}

The module says which Python the code is for, and each entry which text it was made from: what does not fit is compiled
by jinja from the template, as in a checkout that has no such module. Executed by path while building, with no package
around it, so it imports nothing of bcastgen.
"""

from __future__ import annotations

import importlib.util
import marshal
import sys
from binascii import b2a_base64, crc32
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import compress

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["environment", "module_text", "python"]

# jinja's code begins with this line; `run` provides the names that it imports.
_IMPORT = "from jinja2.runtime import "


def environment(templates: Path) -> Environment:
    """Return what renders the templates of a folder, and compiles them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - slow, and not needed where templates are compiled

    return Environment(
        loader=FileSystemLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def python() -> str:
    """Return the version of Python and of its bytecode: code that was compiled for another one does not run here."""
    return f"{sys.implementation.cache_tag} {importlib.util.MAGIC_NUMBER.hex()}"


def module_text(templates: Path) -> str:
    """Return the text of a module with the code of every template."""
    made, found = environment(templates), {}
    for path in sorted(templates.rglob("*.j2")):
        name, text = path.relative_to(templates).as_posix(), path.read_bytes()
        first, _, source = made.compile(text.decode(), name, raw=True).partition("\n")
        if first.startswith(_IMPORT):
            code = marshal.dumps(compile(source, f"templates/{name}", "exec", dont_inherit=True))
            found[name] = (crc32(text), b2a_base64(compress(code), newline=False).decode())
    rows = "".join(f"    {name!r}: {entry!r},\n" for name, entry in found.items())
    head = "# Written when the package was built, by emit/templating/build.py."
    return f"{head}\nPYTHON = {python()!r}\nCODE = {{\n{rows}}}\n"
