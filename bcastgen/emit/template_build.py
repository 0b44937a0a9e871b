"""Compiles the templates when the package is built, so that no first call does.

In: the folder of the templates.  Out: the text of `bcastgen/emit/_templates.py`, from which `render` takes their code.

    kernel.c.j2  ->  VERSION = "3.1.4"; CODE = {"kernel.c.j2": "<its code, packed and in base 64>", ...}

Jinja checks the code against the template it was made from and against Python's version, the module says jinja's: what
does not fit is compiled from the template, as in a checkout that has no such module. Executed by path while building,
with no package around it, so it imports nothing of bcastgen.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jinja2 import BytecodeCache, Environment

__all__ = ["environment", "module_text"]


def environment(templates: Path, code: Mapping[str, str]) -> Environment:
    """Return what renders the templates of a folder, of which some are compiled already."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(templates),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
        bytecode_cache=_kept(code),
    )


def _kept(code: Mapping[str, str]) -> BytecodeCache:
    from binascii import a2b_base64
    from zlib import decompress

    from jinja2 import BytecodeCache

    class Kept(BytecodeCache):
        """Code by the template's name: where the template lies makes no difference."""

        def get_cache_key(self, name: str, filename: str | None = None) -> str:
            return name

        def load_bytecode(self, bucket: Any) -> None:
            if bucket.key in code:
                bucket.bytecode_from_string(decompress(a2b_base64(code[bucket.key])))

        def dump_bytecode(self, bucket: Any) -> None:
            pass

    return Kept()


def module_text(templates: Path) -> str:
    """Return the text of a module with the code of every template."""
    from binascii import b2a_base64
    from zlib import compress

    import jinja2
    from jinja2.bccache import Bucket

    made, cache = environment(templates, {}), _kept({})
    found = {}
    for path in sorted(templates.rglob("*.j2")):
        name, text = path.relative_to(templates).as_posix(), path.read_text(encoding="utf-8")
        bucket = Bucket(made, name, cache.get_source_checksum(text))
        bucket.code = made.compile(text, name, f"templates/{name}")
        found[name] = b2a_base64(compress(bucket.bytecode_to_string()), newline=False).decode()
    rows = "".join(f"    {name!r}: {data!r},\n" for name, data in found.items())
    head = "# Written when the package was built, by template_build.py."
    return f"{head}\nVERSION = {jinja2.__version__!r}\nCODE = {{\n{rows}}}\n"
