"""A module of standalone C: several kernels that share types, statuses and helpers.

In: loop programs, by name, and a :class:`CForm`.  Out: a :class:`CSource`: m.c, m.h, and what the form asks for beside.

    {"axpb": ..., "blend": ...}, named ops  ->  ops.h (ops_array, ops_axpb(...), ops_blend(...)), ops.c

A kernel called like its module has no prefix of its own: axpb.c defines axpb, axpb_shape and axpb_message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.c_source import CSource
from ...core.errors import statuses
from ...core.frozen import dataclass
from ...expr.infer import Typed
from ...loops.nest import LoopProgram
from ...loops.schedule.schedule import standalone_schedules
from ..c_text.helpers import helper_names, helper_text
from ..c_text.names import comment_text, constant_prefix, module_identifiers
from ..c_text.wrap import lay_out, lay_out_comment
from ..kernel.model import KernelView
from ..kernel.view import kernel_view
from ..templating.render import render_template
from .contract import contract, guards
from .form import CForm
from .freestanding import refuse_library, without_library
from .message import returned, sentences
from .openmp import BLOCK, threads
from .static import StaticView, static_view
from .target import Target, find_target, vector_words, with_vectors

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ModuleView", "Part", "module_view", "render_module"]

_USUAL = CForm()
# Declared in the header, so not repeated in the source.
_PUBLIC = "bcg_array bcg_diagnostic BCG_MAX_RANK"


@dataclass(frozen=True, slots=True)
class Part:
    """A kernel on its way into a module.

    Attributes
    ----------
    name : the user's.
    program : its nests. Ranked ones become nested loops, unranked ones a run-time plan.
    typed : the expression, shown in the header.
    constants : the values of the program's constants: static data, which callers do not pass.
    fast : whether functions take their fast forms.
    lowered : its nests before integers were narrowed, if at hand: what a reference is made of.
    """

    name: str
    program: LoopProgram
    typed: Typed
    constants: Sequence[np.ndarray[Any, Any]] = ()
    fast: bool = False
    lowered: LoopProgram | None = None


@dataclass(frozen=True, slots=True)
class ModuleView:
    """A module as templates show it.

    Attributes
    ----------
    name : of its files; types and helpers begin with it.
    macros : what constants begin with.
    kernels : in the order in which they were given, `parts` what they come from.
    form : of the module.
    statics : the kernels in the static form, if it is that.
    """

    name: str
    macros: str
    kernels: tuple[KernelView, ...]
    parts: tuple[Part, ...]
    form: CForm
    statics: tuple[StaticView, ...] = ()

    @property
    def users(self) -> tuple[tuple[str, str], ...]:
        """Names and texts of the definitions that come with users' ops, each once."""
        return tuple(dict.fromkeys(row for kernel in self.kernels for row in kernel.users))


def render_module(name: str, parts: Sequence[Part], form: CForm = _USUAL) -> CSource:
    """Return the C of a module for other people's projects.

    Parameters
    ----------
    name : of the files, and the prefix of every name; made a C identifier.
    parts : its kernels.
    form : what is asked of the C.

    Raises
    ------
    BcastgenError
        For a form that there is not.
    """
    module = module_view(name, parts, form.checked())
    files = _files(module)
    if form.main or form.build:
        from .project import project_files

        files |= project_files(module, files)
    return CSource(module.name, files)


def module_view(name: str, parts: Sequence[Part], form: CForm) -> ModuleView:
    """Decide every name and line of a module."""
    # Where a module's name is in upper case, so are its constants and its functions.
    constants = ("sentences", "say", *(status.lower() for status, _ in statuses().values())) if name.isupper() else ()
    others = (*helper_names(), "status", "tell", *constants)
    prefix, identifiers = module_identifiers(name, [part.name for part in parts], others)
    views = []
    for part, (stem, function) in zip(parts, identifiers, strict=True):
        schedules = standalone_schedules(part.program, form.variants)
        view = kernel_view(
            part.name,
            part.program,
            schedules,
            "",
            separate=True,
            constants=part.constants,
            fast=part.fast,
            identifiers=(prefix, stem, function),
        )
        views.append(view)
    taken: set[str] = set()
    pairs = tuple(zip(views, parts, strict=True)) if form.static else ()
    statics = tuple(static_view(view, part.program, taken) for view, part in pairs)
    return ModuleView(prefix, constant_prefix(prefix), tuple(views), tuple(parts), form, statics)


def _bodies(module: ModuleView, target: Target | None, spell: Callable[[str], str] | None) -> list[str]:
    """Render the functions of each kernel, in the form that is asked for."""
    shared = {"threads": threads if module.form.openmp else None, "block": BLOCK}
    if module.statics:
        shared["marked"] = module.form.variants != 0
        bodies = [
            render_template("standalone/static.c.j2", kernel=kernel, static=static, **shared)
            for kernel, static in zip(module.kernels, module.statics, strict=True)
        ]
    else:
        bodies = [render_template("standalone/kernel.c.j2", kernel=kernel, **shared) for kernel in module.kernels]
    if target is not None:
        bodies = [with_vectors(*pair, target) for pair in zip(bodies, module.kernels, strict=True)]
    if spell is not None:
        bodies = [spell(body) for body in bodies]
        refuse_library("\n".join((*bodies, *(spell(text) for _, text in module.users))))
    return bodies


def _files(module: ModuleView) -> dict[str, str]:
    """Render every file."""
    form = module.form
    target = None if form.target is None else find_target(form.target)
    spell = without_library if form.freestanding else None
    bodies = _bodies(module, target, spell)
    if not module.statics:
        bodies.append(render_template("standalone/message.c.j2", kernels=module.kernels))
    code = "\n\n".join(bodies)
    found = returned(code + helper_text(code, _PUBLIC, module.users))
    title = f"{module.name}, generated by bcastgen"
    pairs = tuple(zip(module.kernels, module.parts, strict=True))
    contracts = [
        contract(view, part.program, part.typed, part.fast, form, module.statics[at] if module.statics else None)
        for at, (view, part) in enumerate(pairs)
    ]
    values = {
        "module": module,
        "statics": module.statics,
        "bodies": bodies,
        "public": _PUBLIC,
        "returned": found,
        "users": module.users,
        "spell": spell,
        "guards": guards([part.program for part in module.parts], helper_text(code, _PUBLIC, module.users)),
    }
    values["vectors"] = "" if target is None or "BCG_VECTORS" not in code else vector_words(target)
    comments = {f"kernel{at}": f"{_title(module, at)}\n\n{contracts[at]}" for at in range(len(pairs))}
    comments["source"] = (
        f"{title}: {module.name}.h says what it computes. NOLINTBEGIN(bugprone-easily-swappable-parameters)"
    )
    alone = f"{title}{'' if _title(module, 0) == module.name else f': {_title(module, 0)}'}"
    comments["header"] = f"{alone}\n\n{contracts[0]}" if len(pairs) == 1 else title
    comments["helpers"] = f"The helpers of {title}. NOLINTBEGIN(bugprone-easily-swappable-parameters)"
    # Of the text that is inserted at the end nothing is renamed or broken.
    inserted = {f" @{at}@": lay_out_comment(comment_text(text))[2:] for at, text in comments.items()}
    inserted["@sentences@"] = sentences(found, module.macros)
    values["given"] = () if module.statics else ("stddef.h",)
    header = "standalone/static.h.j2" if module.statics else "standalone/module.h.j2"
    templates = {f"{module.name}.c": "standalone/module.c.j2", f"{module.name}.h": header}
    if not module.form.single_file:
        templates[f"{module.name}_helpers.h"] = "standalone/helpers.h.j2"
    return {
        name: _finished(render_template(template, **values), module, inserted, inline=name.endswith("_helpers.h"))
        for name, template in templates.items()
    }


def _title(module: ModuleView, at: int) -> str:
    """Return the name of a kernel's function; with the kernel's own, where C cannot call it so."""
    function, name = module.kernels[at].function, module.parts[at].name
    usual = function in (name, f"{module.name}_{name}")
    return function if usual else f"{function}, which computes {name}"


def _finished(text: str, module: ModuleView, inserted: Mapping[str, str], inline: bool) -> str:
    """Give every name of ours the module's prefix, then break long lines; what is inserted is final."""
    if not inline:
        text = text.replace("static inline ", "static ")
    text = re.sub(r"\bBCG_", f"{module.macros}_", re.sub(r"\bbcg_", f"{module.name}_", text))
    text = lay_out(text)
    for marker, final in inserted.items():
        text = text.replace(marker, final, 1)
    return text.rstrip("\n") + "\n"
