"""A module of standalone C: several kernels that share types, statuses and helpers.

In: loop programs, by name, and a :class:`CForm`.  Out: the texts of m.c, of m.h, and of a third file for helpers.

    {"axpb": ..., "blend": ...}, named ops  ->  ops.h (ops_array, ops_axpb(...), ops_blend(...)), ops.c

A kernel called like its module has no prefix of its own: axpb.c defines axpb, axpb_shape and axpb_message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...core.errors import BcastgenError, shape_statuses, statuses
from ...core.frozen import dataclass
from ...core.version import __version__
from ...expr.infer import Typed
from ...loops.nest import LoopProgram
from ...loops.schedule.schedule import standalone_schedules
from ..c_text.helpers import helper_names, helper_text
from ..c_text.names import comment_text, constant_prefix, module_identifiers
from ..c_text.references import names
from ..c_text.wrap import lay_out, lay_out_comment
from ..kernel.model import SIZES_FUNCTION, KernelView, Sizes
from ..kernel.view import kernel_view
from ..templating.render import render_template
from .contract import contract, guards
from .form import CForm
from .freestanding import refuse_library, without_library
from .message import brackets, cases, constants, returned
from .openmp import BLOCK, threads
from .reduced_model import ReducedView
from .reductions import reduced_view
from .static import StaticView, static_view
from .target import Target, find_target, vector_words, with_vectors
from .trees import definitions

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ModulePart", "ModuleView", "module_files", "module_view"]

# Declared in the header, so not repeated in the source.
_PUBLIC = "bcg_array bcg_diagnostic BCG_MAX_RANK"


@dataclass(frozen=True, slots=True)
class ModulePart:
    """A kernel that a module is to contain.

    Attributes
    ----------
    name : the user's name for it.
    program : its nests. A ranked nest becomes nested loops, an unranked one a run-time plan.
    typed : the expression, which the header shows.
    constants : the values of the program's constants: static data that callers do not pass.
    fast : whether functions take their fast forms.
    lowered : its nests before integers were narrowed, if available; references are made from them.
    sizes : what computes the extents of ops that have shape functions.
    text : the user's own expression, if the kernel was made from text.
    """

    name: str
    program: LoopProgram
    typed: Typed
    constants: Sequence[np.ndarray[Any, Any]] = ()
    fast: bool = False
    lowered: LoopProgram | None = None
    sizes: Sizes | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class ModuleView:
    """A module, as templates print it.

    Attributes
    ----------
    name : the name of its files, and the prefix of types and helpers.
    macros : the prefix of constants.
    kernels : in the given order; `parts` has the part of each.
    form : the options.
    statics : the kernels in the static form, if the options ask for it.
    reduced : for each kernel its loops, if it has reductions.
    """

    name: str
    macros: str
    kernels: tuple[KernelView, ...]
    parts: tuple[ModulePart, ...]
    form: CForm
    statics: tuple[StaticView, ...] = ()
    reduced: tuple[ReducedView | None, ...] = ()

    @property
    def types(self) -> str:
        """The C types of static parameters, of which those that are ours are defined in the header."""
        return " ".join(dict.fromkeys(c for static in self.statics for _, _, c in static.shapes))

    @property
    def public(self) -> str:
        """The names that the header defines."""
        return f"{_PUBLIC} {self.types}"

    @property
    def users(self) -> tuple[tuple[str, str], ...]:
        """Names and texts of the definitions that users' ops and reductions need, each once."""
        return tuple(dict.fromkeys(row for kernel in self.kernels for row in kernel.users))


def module_view(name: str, parts: Sequence[ModulePart], form: CForm) -> ModuleView:
    """Decide every name and line of a module."""
    for part in parts:
        if part.sizes is not None and (form.static or form.main or "cffi" in form.build):
            raise BcastgenError(
                f"{part.name} has ops with shape functions, for which there is no static form, no checking program and "
                "no Python wrapper; leave static=, main= and cffi out"
            )
        if part.program.reduced and (form.main or "cffi" in form.build):
            raise BcastgenError(
                f"{part.name} has reductions, for which there is no checking program and no Python wrapper; leave "
                "main= and cffi out"
            )
    # If the module's name is in upper case, its functions could clash with its constants.
    constants = tuple(status.lower() for status, _ in statuses().values()) if name.isupper() else ()
    trees = [definitions(part.program) for part in parts]
    of_trees = (tree_name.removeprefix("bcg_") for rows in trees for tree_name, _ in rows)
    others = (*helper_names(), "status", "sentence", "write", *constants, *of_trees)
    prefix, identifiers = module_identifiers(name, [part.name for part in parts], others)
    views, loops = [], []
    for part, rows, (stem, function) in zip(parts, trees, identifiers, strict=True):
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
        sized = part.sizes
        if sized is not None:
            sized = replace(sized, text=sized.text.replace(SIZES_FUNCTION, f"{view.name}_sizes"))
        shared = reduced_view(view, part.program, form.static, form.openmp) if part.program.reduced else None
        if shared is not None:
            workspace = shared.workspace if shared.kept else ""
            view = replace(view, places=shared.in_place, workspace=workspace, users=(*view.users, *rows))
        views.append(replace(view, sized=sized))
        loops.append(shared)
    taken: set[str] = set()
    triples = tuple(zip(views, parts, loops, strict=True)) if form.static else ()
    statics = tuple(static_view(view, part.program, taken, shared) for view, part, shared in triples)
    return ModuleView(prefix, constant_prefix(prefix), tuple(views), tuple(parts), form, statics, tuple(loops))


def _bodies(module: ModuleView, target: Target | None, spell: Callable[[str], str] | None) -> list[str]:
    """Render the functions of each kernel."""
    shared = {"threads": threads if module.form.openmp else None, "block": BLOCK}
    if module.statics:
        shared["marked"] = module.form.variants != 0
        bodies = [
            render_template("standalone/static.c.j2", kernel=kernel, static=static, **shared)
            for kernel, static in zip(module.kernels, module.statics, strict=True)
        ]
    else:
        bodies = [
            render_template("standalone/kernel.c.j2", kernel=kernel, **shared)
            if reduced is None
            else render_template("standalone/reduced.c.j2", kernel=kernel, reduced=reduced)
            for kernel, reduced in zip(module.kernels, module.reduced, strict=True)
        ]
    if target is not None:
        bodies = [with_vectors(*pair, target) for pair in zip(bodies, module.kernels, strict=True)]
    if spell is not None:
        bodies = [spell(body) for body in bodies]
        refuse_library("\n".join((*bodies, *(spell(text) for _, text in module.users))))
    return bodies


def module_files(module: ModuleView) -> dict[str, str]:
    """Render every file of C."""
    form = module.form
    target = None if form.target is None else find_target(form.target)
    spell = without_library if form.freestanding else None
    bodies = _bodies(module, target, spell)
    checks = "\n\n".join(bodies)
    found = returned(checks + helper_text(checks, module.public, module.users))
    marks = brackets(found)
    if not module.statics:
        bodies.append(render_template("standalone/message.c.j2", kernels=module.kernels, marks=marks))
    code = "\n\n".join(bodies)
    title = f"{module.name}, generated by bcastgen {__version__} (do not edit)"
    pairs = tuple(zip(module.kernels, module.parts, strict=True))
    statics = module.statics or (None,) * len(pairs)
    contracts = [
        contract(view, part.program, part.typed, part.fast, form, static, part.text)
        for (view, part), static in zip(pairs, statics, strict=True)
    ]
    values = {
        "module": module,
        "statics": module.statics,
        "bodies": bodies,
        "public": module.public,
        "types": module.types,
        "users": module.users,
        "spell": spell,
        "guards": guards(
            [part.program for part in module.parts], code + helper_text(code, module.public, module.users)
        ),
    }
    values["vectors"] = "" if target is None or "BCG_VECTORS" not in names(code) else vector_words(target)
    comments = {f"kernel{at}": f"{_title(module, at)}\n\n{contracts[at]}" for at in range(len(pairs))}
    lint = "NOLINTBEGIN(bugprone-easily-swappable-parameters,bugprone-casting-through-void)"
    comments["source"] = f"{title}: {module.name}.h says what it computes. {lint}"
    alone = f"{title}{'' if _title(module, 0) == module.name else f': {_title(module, 0)}'}"
    comments["header"] = f"{alone}\n\n{contracts[0]}" if len(pairs) == 1 else title
    comments["helpers"] = f"The helpers of {title}. {lint}"
    if form.license is not None:
        for file in ("source", "header", "helpers"):
            comments[file] = f"SPDX-License-Identifier: {form.license}\n\n{comments[file]}"
    # Text that is inserted at the end is neither renamed nor broken.
    inserted = {f" @{at}@": lay_out_comment(comment_text(text))[2:] for at, text in comments.items()}
    for at, kernel in enumerate(module.kernels):
        if kernel.sized is not None:
            inserted[f"        @says_{at}@"] = ",\n".join(kernel.sized.messages)
    inserted["@cases@"] = cases(found, module.macros, any(kernel.extents for kernel in module.kernels))
    inserted["@statuses@"] = constants(found, module.macros)
    values["given"] = () if module.statics else ("stddef.h",)
    header = "standalone/static.h.j2" if module.statics else "standalone/module.h.j2"
    templates = {f"{module.name}.c": "standalone/module.c.j2", f"{module.name}.h": header}
    if not module.form.single_file:
        templates[f"{module.name}_helpers.h"] = "standalone/helpers.h.j2"
    return {
        name: _finished(render_template(template, **values), module, inserted, inline=name.endswith("_helpers.h"))
        for name, template in templates.items()
    }


def _title(module: ModuleView, kernel_index: int) -> str:
    """Return the name of a kernel's function, and the kernel's own name if C needs another one."""
    function, name = module.kernels[kernel_index].function, module.parts[kernel_index].name
    usual = function in (name, f"{module.name}_{name}")
    return function if usual else f"{function}, which computes {name}"


def _finished(text: str, module: ModuleView, inserted: Mapping[str, str], inline: bool) -> str:
    """Give all our names the module's prefix, break long lines, then insert final text."""
    if not inline:
        text = text.replace("static inline ", "static ")
    if any(kernel.sized is not None for kernel in module.kernels):
        # Callers know one status for all that a shape function says, and a kernel may be called k, with k_shape.
        statuses_of_programs = "|".join(name for name, _ in shape_statuses().values())
        text = re.sub(rf"\bBCG_({statuses_of_programs})\b", "BCG_SIZES", text)
        text = re.sub(r"\bbcg_shape\b", "bcg_shape_value", text)
    text = re.sub(r"\bBCG_", f"{module.macros}_", re.sub(r"\bbcg_", f"{module.name}_", text))
    text = lay_out(text)
    for marker, final in inserted.items():
        text = text.replace(marker, final, 1)
    return text.rstrip("\n") + "\n"
