"""Rendering: a view and a template become C text.

In: a :class:`KernelView`.  Out: a :class:`CSource`.

    render_kernel(view)  ->  CSource("kernel", {"kernel.c": "..."})
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from ..csource import CSource
from ..resources import folder
from .helpers import helper_text
from .view import KernelView

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_kernel", "render_template"]


@cache
def _environment() -> Environment:
    # Imported here: a kernel found on disk needs no templates.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder("templates")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.globals.update(
        helpers=helper_text, statuses=_status_text, comment=_comment, independent=lambda: _INDEPENDENT
    )
    return environment


# An operand and a result are the same array or disjoint, which the caller or the checks have made sure of.
_INDEPENDENT = """\
/* No iteration reads what another one writes: a result is an operand itself or apart from it. */
#if defined(__clang__)
#define BCG_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define BCG_INDEPENDENT _Pragma("GCC ivdep")
#else
#define BCG_INDEPENDENT
#endif"""


def _comment(text: str) -> str:
    return "\n".join(f" * {line}".rstrip() for line in text.split("\n"))[3:]


def _status_text(kernel: KernelView) -> str:
    names = ",\n".join(f"    BCG_{name} = {value}" for name, value in kernel.statuses)
    return f"enum {{\n{names}\n}};"


def render_template(name: str, **values: object) -> str:
    """Return a template's text, with runs of blank lines folded into one."""
    text = _environment().get_template(name).render(**values)
    text = re.sub(r"\n{3,}", "\n\n", text).lstrip("\n")
    text = re.sub(r"\n\n(?= *(?:}|return \w+;))", "\n", text)
    return "\n".join(wrapped for line in text.split("\n") for wrapped in _wrap(line))


_MAX_COLUMNS = 120


def _wrap(line: str) -> list[str]:
    """Break a long line of code after a comma or an operator, aligned with its innermost open parenthesis."""
    if len(line) <= _MAX_COLUMNS or line.lstrip().startswith(("*", "/*", "#")):
        return [line]
    breaks = [match.end() for match in re.finditer(r", | && | \|\| ", line[:_MAX_COLUMNS]) if match.end() > 60]
    if not breaks:
        return [line]
    head, rest = line[: breaks[-1]].rstrip(), line[breaks[-1] :]
    open_at = [at for at, character in enumerate(head) if character == "("]
    for character in reversed(head):
        if character == ")" and open_at:
            open_at.pop()
    indent = min(open_at[-1] + 1 if open_at else 8, 60)
    return [head, *_wrap(" " * indent + rest)]


def render_kernel(view: KernelView) -> CSource:
    """Return the C of a kernel that serves every rank and layout: what the JIT compiles."""
    return CSource(view.name, {"kernel.c": render_template("kernel.c.j2", kernel=view)})
