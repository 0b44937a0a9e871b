"""Rendering: a view and a template become C text.

In: a :class:`KernelView`.  Out: a :class:`CSource`.

    render_kernel(view)  ->  CSource("kernel", {"kernel.c": "..."})
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ...core.c_flags import FAST_FLAGS
from ...core.c_library import HEADERS, MATHEMATICS
from ...core.c_source import CSource
from ...core.errors import statuses
from ...core.resources import folder
from ..c_text.helpers import for_loops, helper_text
from ..c_text.names import c_string, comment_text
from ..c_text.references import calls, names
from ..c_text.wrap import lay_out, lay_out_comment
from ..kernel.loop_model import LoopView
from ..kernel.model import KernelView
from .run import Compiled, Unusable

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["render_kernel", "render_loop", "render_template"]


@cache
def _compiled() -> Compiled | None:
    """The templates as they were compiled when the package was built; None where they cannot be used here."""
    from .build import python  # noqa: PLC0415 - the build may not have written what it is for

    try:
        from ._templates import CODE, PYTHON  # noqa: PLC0415 - the build may not have written it
    except ImportError:
        return None
    return Compiled(folder("templates"), CODE, _known()) if python() == PYTHON else None


@cache
def _environment() -> Environment:
    from .build import environment as environment_of  # noqa: PLC0415 - slow, and not needed where templates are compiled

    environment = environment_of(folder("templates"))
    environment.globals.update(_known())
    return environment


def _known() -> dict[str, Callable[..., str | bool]]:
    """Return what every template may call."""
    return {
        "helpers": helper_text,
        "for_loops": for_loops,
        "comment": _comment,
        "c_string": c_string,
        "safe": comment_text,
        "table_row": _table_row,
        "includes": _includes,
        "independent": _independent,
        "unused": _unused,
        "uses": _uses,
    }


def _comment(text: str) -> str:
    """Return the inside of a block comment, after its first ` * `."""
    return lay_out_comment(comment_text(text))[3:]


def _table_row(name: str, text: str) -> str:
    """Return the lines of a row of a table in a block comment."""
    width = max(len(status) for status, _ in statuses().values())
    return lay_out_comment(comment_text(f"{name:<{width}}  {text}"), " *   ", " " * (width + 2))


def _includes(codes: tuple[str, ...], given: tuple[str, ...] = ("stdint.h",)) -> str:
    """Return the #include lines that texts of C need beside those given."""
    # A local variable may be called like a function of <math.h>, so these names count only where they are called.
    used = {name for code in codes for name in (*(names(code) - MATHEMATICS), *MATHEMATICS.intersection(calls(code)))}
    found = (header for header, provided in HEADERS.items() if header not in given and used & provided)
    return "\n".join(f"#include <{header}>" for header in found)


# The caller or the checks have made sure that an operand and a result are the same array or disjoint.
_INDEPENDENT = """\
/* No iteration reads what another one writes: a result is an operand itself or apart from it. */
#if defined(__clang__)
#define BCG_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define BCG_INDEPENDENT _Pragma("GCC ivdep")
#else
#define BCG_INDEPENDENT
#endif"""


# Pairs pay with gcc, whose scheduler interleaves the operations of both points; clang runs out of registers.
_PAIRS = """\
/* Whether two points' functions are computed side by side. */
#if defined(__GNUC__) && !defined(__clang__)
#define BCG_PAIRS 1
#else
#define BCG_PAIRS 0
#endif"""


# A test reads a block at once, and memory rests while it is computed: on a Xeon (Emerald Rapids) f64 exp and log take
# 0.75 to 0.9 of the time beyond the second cache by this, and up to 1.03 within. This was measured on no other CPU;
# AMD's alone have SSE4A, and sums that prefetch take longer on Zen 3 and 4.
_PREFETCH = """\
/* Prefetches so many elements, so many elements further on; there need not be any. Only where this is known to pay. */
#if defined(__GNUC__) && defined(__AVX512F__) && !defined(__SSE4A__)
#define BCG_PREFETCH(from, count, further)                                                             \\
    for (uintptr_t bcg_byte = 0; bcg_byte < (count) * sizeof *(from); bcg_byte += 64) {                \\
        __builtin_prefetch((const void *)((uintptr_t)(from) + (further) * sizeof *(from) + bcg_byte)); \\
    }
#else
#define BCG_PREFETCH(from, count, further)
#endif"""


# A loop that stays scalar is no fault of the user's, so clang's warning is off from `push` on, until `pop` behind the
# loops. Parallel loops get no `pop`: clang makes functions of them, and warns of these after it has read all lines.
_PUSH = "#pragma clang diagnostic push\n"
_QUIET = """\
#pragma clang diagnostic ignored "-Wpass-failed" /* of loops that stay scalar all the same */
"""


def _independent(code: str, quiet: bool = False, parallel: bool = False, inlined: bool = False) -> str:
    """Return the definitions of those hints on loops that code has; `quiet` turns off clang's warnings about the loops.

    `parallel` says that threads share some of the loops. `inlined` says that functions of a header are inlined into
    callers: clang would warn there of hinted loops that stay scalar, so its hint is empty.
    """
    clang = "#if defined(__clang__)\n"
    pragmas = _QUIET if parallel else f"{_PUSH}{_QUIET}"
    text = _INDEPENDENT.replace(clang, f"{clang}{pragmas}", 1) if quiet else _INDEPENDENT
    text = text.replace(' _Pragma("clang loop vectorize(assume_safety)")', "", 1) if inlined else text
    found = ((text, "BCG_INDEPENDENT"), (_PAIRS, "BCG_PAIRS"), (_PREFETCH, "BCG_PREFETCH"))
    return "\n\n".join(each for each, name in found if name in names(code))


def _uses(code: str, name: str) -> bool:
    return name in names(code)


def _unused(code: str, parameters: list[str]) -> str:
    """Return statements that say which parameters a body does not use."""
    return "".join(f"    (void){name};\n" for name in parameters if not _uses(code, name))


def render_template(name: str, /, **values: object) -> str:
    """Return a template's text as it stands: names not final, lines not broken."""
    kernel = values.get("kernel")
    users: Any = kernel.users if isinstance(kernel, KernelView) else values.get("users", ())
    spell: Any = values.get("spell")
    if users or spell:
        values["helpers"] = partial(helper_text, users=users, spell=spell)
    compiled = _compiled()
    if compiled is not None:
        with suppress(Unusable, AttributeError):
            return compiled.render(name, values)
    return _environment().get_template(name).render(**values)


def render_kernel(view: KernelView, fast: bool = False, once: bool = False, light: bool = False) -> CSource:
    """Return the C of a kernel that serves every rank and layout: what the JIT compiles.

    `fast`, `once` and `light` are of the kernel's schedule: see `for_loops` and `CSource`.
    """
    text = lay_out(render_template("kernel.c.j2", kernel=view, once=once))
    return CSource(view.name, {"kernel.c": text}, FAST_FLAGS if fast else (), light)


def render_loop(
    view: KernelView, loops: LoopView, fast: bool = False, once: bool = False, light: bool = False
) -> CSource:
    """Return the C of one more variant of a loop of a kernel, the only one that `loops` has; see `render_kernel`."""
    text = lay_out(render_template("loop.c.j2", kernel=view, loops=loops, once=once))
    return CSource(view.name, {"kernel.c": text}, FAST_FLAGS if fast else (), light)
