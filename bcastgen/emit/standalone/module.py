"""A module of standalone C: several kernels that share types, statuses and helpers.

In: loop programs, by name, and a :class:`CForm`.  Out: the texts of m.c, of m.h, and of a third file for helpers.

    {"axpb": ..., "blend": ...}, named ops  ->  ops.h (ops_array, ops_axpb(...), ops_blend(...)), ops.c

A kernel called like its module has no prefix of its own: axpb.c defines axpb, axpb_shape and axpb_message.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.c_library import HEADERS
from ...core.errors import BcastgenError, shape_statuses, statuses
from ...core.frozen import dataclass, replace
from ...core.version import __version__
from ...expr.infer import Typed
from ...loops.nest import LoopProgram
from ...loops.schedule.program_schedule import ProgramSchedule, compiles_functions_once
from ..c_text.helpers import for_loops, helper_names, helper_text
from ..c_text.names import MODULE_MACROS, comment_text, constant_prefix, module_identifiers
from ..c_text.references import names
from ..c_text.wrap import NO_BREAK, lay_out, lay_out_comment
from ..kernel.model import KernelView
from ..kernel.sizes import SIZES_FUNCTION, SizesView
from ..kernel.view import kernel_view
from ..templating.render import render_template
from .contract import contract, float_control, guards, internals, numbers_said
from .cpp import cpp_view
from .documentation import arguments_of_call
from .form import CForm
from .freestanding import refuse_library, without_library
from .instruction_sets import SetsView, endings, find_sets, split_by_set
from .message import brackets, cases, constants, returned
from .reduced_model import ReducedView
from .reductions import reduced_view
from .shared import (
    CPP_HEADER,
    HEADER,
    MACROS,
    VERSION,
    cpp_header,
    shared_functions,
    shared_header,
    shared_types,
    spelled,
    types,
)
from .stack import stack_bytes
from .static import StaticView, static_view
from .target import find_target, vector_words
from .trees import definitions

if TYPE_CHECKING:
    import numpy as np

__all__ = ["ModulePart", "ModuleView", "module_files", "module_view"]


@dataclass(frozen=True, slots=True)
class ModulePart:
    """A kernel that a module is to contain.

    Attributes
    ----------
    name : the user's name for it.
    program : its nests. A ranked nest becomes nested loops, an unranked one a run-time plan.
    schedule : the loops of these nests, in the module's form.
    typed : the expression, which the header shows.
    constants : the values of the program's constants: static data that callers do not pass.
    lowered : its nests before all rewrites, if available; references are made from them.
    sizes : what computes the extents of ops that have shape functions.
    text : the user's own expression, if the kernel was made from text.
    """

    name: str
    program: LoopProgram
    schedule: ProgramSchedule
    typed: Typed
    constants: Sequence[np.ndarray[Any, Any]] = ()
    lowered: LoopProgram | None = None
    sizes: SizesView | None = None
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
    statics : the kernels in the static form or that of pointers, if the options ask for it.
    reduced : for each kernel its loops, if it has reductions.
    made_by : the command, or the call in Python, that makes the files again.
    """

    name: str
    macros: str
    kernels: tuple[KernelView, ...]
    parts: tuple[ModulePart, ...]
    form: CForm
    statics: tuple[StaticView, ...] = ()
    reduced: tuple[ReducedView | None, ...] = ()
    made_by: str = ""

    @property
    def functions_once(self) -> bool:
        """Whether mathematical functions are compiled once, and not as a part of each loop that calls them."""
        return compiles_functions_once(*(part.schedule for part in self.parts))

    @property
    def types(self) -> str:
        """The C types of static parameters, of which those that are ours are defined in the header."""
        return " ".join(dict.fromkeys(c for static in self.statics for _, _, c in static.shapes))

    @property
    def public(self) -> str:
        """The names that the header defines."""
        return f"{' '.join(sorted(self.shared_types))} {self.types}"

    @property
    def given(self) -> str:
        """The names that the source finds defined."""
        return f"{' '.join(sorted(self.shared))} {self.public}"

    @property
    def shared_types(self) -> frozenset[str]:
        """The names that all modules' headers share; a function of the static form takes no descriptors."""
        return frozenset() if self.form.is_plain else shared_types()

    @property
    def shared(self) -> frozenset[str]:
        """The names that all modules' sources share."""
        return self.shared_types if self.form.is_plain or self.form.single_file else shared_types() | shared_functions()

    @property
    def users(self) -> tuple[tuple[str, str], ...]:
        """Names and texts of the definitions that users' ops and reductions need, each once."""
        return tuple(dict.fromkeys(row for kernel in self.kernels for row in kernel.users))


def module_view(name: str, parts: Sequence[ModulePart], form: CForm, made_by: str = "") -> ModuleView:
    """Decide every name and line of a module."""
    for part in parts:
        _refuse(part, form)
    # Functions of a module in upper case could clash with its constants.
    constants = tuple(status.lower() for status, _ in statuses().values()) if name.isupper() else ()
    trees = [definitions(part.program) for part in parts]
    of_trees = (tree_name.removeprefix("bcg_") for rows in trees for tree_name, _ in rows)
    of_sets = (f"{helper}{ending}" for helper in helper_names() for ending in endings(form.targets))
    others = (*helper_names(), "status", "sentence", "write", *constants, *of_trees, *of_sets)
    prefix, identifiers = module_identifiers(name, [part.name for part in parts], others)
    views, loops = [], []
    macros = constant_prefix(prefix)
    ours = (*MODULE_MACROS, *(helper for helper in helper_names() if helper.isupper()))
    ends = ("", "_shape", "_message", "_unchecked", "_workspace")
    numbers = {prefix, *(f"{macros}_{one}" for one in ours), *(f"{s}{end}" for _, s in identifiers for end in ends)}
    for part, rows, (stem, function) in zip(parts, trees, identifiers, strict=True):
        view = kernel_view(
            part.name,
            part.program,
            part.schedule,
            "",
            separate=True,
            constants=part.constants,
            identifiers=(prefix, stem, function),
            taken=None if form.is_plain else numbers,
        )
        sized = part.sizes
        if sized is not None:
            sized = replace(sized, text=sized.text.replace(SIZES_FUNCTION, f"{view.name}_sizes"))
        shared = reduced_view(view, part.program, part.schedule, form.is_plain) if part.schedule.sharing else None
        if shared is not None:
            workspace = shared.workspace if shared.kept else ""
            view = replace(view, workspace=workspace, users=(*view.users, *rows))
        views.append(replace(view, sized=sized))
        loops.append(shared)
    taken: set[str] = set()
    triples = zip(views, parts, loops, strict=True) if form.is_plain else ()
    statics = tuple(
        static_view(view, part.program, part.schedule, taken, shared, form.pointers) for view, part, shared in triples
    )
    return ModuleView(prefix, constant_prefix(prefix), tuple(views), tuple(parts), form, statics, tuple(loops), made_by)


def _refuse(part: ModulePart, form: CForm) -> None:
    """Raise if there is no such form of a kernel."""
    if part.sizes is not None and (form.is_plain or form.main or "cffi" in form.build):
        raise BcastgenError(
            f"{part.name} has ops with shape functions, for which there is no static form, none of pointers, no "
            "checking program and no Python wrapper; leave static=, pointers=, main= and cffi out"
        )
    if form.unchecked and (part.sizes is not None or part.program.reduced):
        what = "reductions" if part.program.reduced else "ops with shape functions"
        raise BcastgenError(f"{part.name} has {what}, and no function without checks; leave unchecked= out")
    unranked = any(nest.domain.open for nest in part.program.nests)
    if form.alignment is not None and (part.program.reduced or unranked):
        what = "reductions" if part.program.reduced else "operands of any rank"
        raise BcastgenError(f"{part.name} has {what}, whose rows are not told apart; leave alignment= out")
    if part.program.reduced and form.pointers:
        raise BcastgenError(
            f"{part.name} has reductions, which have no form of pointers; leave pointers= out, or give every "
            "extent and use static="
        )
    if part.program.reduced and (form.main or "cffi" in form.build):
        raise BcastgenError(
            f"{part.name} has reductions, for which there is no checking program and no Python wrapper; leave "
            "main= and cffi out"
        )


def _bodies(module: ModuleView, spell: Callable[[str], str] | None) -> list[str]:
    """Render the functions of each kernel."""
    unchecked = module.form.unchecked
    if module.statics:
        bodies = [
            render_template("standalone/static.c.j2", kernel=kernel, static=static)
            for kernel, static in zip(module.kernels, module.statics, strict=True)
        ]
    else:
        bodies = [
            render_template("standalone/kernel.c.j2", kernel=kernel, unchecked=unchecked)
            if reduced is None
            else render_template("standalone/reduced.c.j2", kernel=kernel, reduced=reduced)
            for kernel, reduced in zip(module.kernels, module.reduced, strict=True)
        ]
    if spell is not None:
        bodies = [spell(body) for body in bodies]
        refuse_library("\n".join((*bodies, *(spell(text) for _, text in module.users))))
    return bodies


def module_files(module: ModuleView) -> dict[str, str]:
    """Render every file of C."""
    form = module.form
    target = None if form.target is None else find_target(form.target)
    spell = without_library if form.freestanding else None
    bodies = _bodies(module, spell)
    checks = "\n\n".join(bodies)
    found = returned(checks + helper_text(checks, module.public, module.users))
    marks, includes = brackets(found), not (module.statics or form.single_file)
    if not module.statics:
        bodies.append(
            render_template("standalone/message.c.j2", kernels=module.kernels, marks=marks, is_given=includes)
        )
    code = "\n\n".join(bodies)
    sets = _sets(module, code) if form.targets else None
    programs = [part.program for part in module.parts]
    values: dict[str, object] = {
        "sets": sets,
        "module": module,
        "statics": module.statics,
        "bodies": bodies,
        "given_names": module.given,
        "includes_shared": includes,
        "shared_version": VERSION,
        "users": module.users,
        "spell": spell,
        "float_control": float_control(),
        "guards": guards(programs, code + helper_text(code, module.public, module.users)),
        "vectors": "" if target is None or "BCG_VECTORS" not in names(code) else vector_words(target),
        "given": _included(module),
        "cpp": [cpp_view(*pair) for pair in zip(module.kernels, programs, strict=True)] if form.cpp else (),
    }
    # Text that is inserted at the end is neither renamed nor broken.
    inserted = {f" @{at}@": _comment(text) for at, text in _comments(module, _stack(module, code)).items()}
    for at, kernel in enumerate(module.kernels):
        if kernel.sized is not None:
            inserted[f"        @says_{at}@"] = ",\n".join(kernel.sized.messages)
    inserted["@cases@"] = cases(found, MACROS, any(kernel.extents for kernel in module.kernels))
    inserted["@statuses@"] = constants(found, module.macros)
    inserted["@types@"] = types()
    mentioned = ", ".join(f"{MACROS}_{status}" for status, _ in found)
    inserted["@returned@"] = f"/{lay_out_comment(f'Statuses, as {HEADER} has them: {mentioned}. */', hang='')[1:]}"
    header = "standalone/static.h.j2" if module.statics else "standalone/module.h.j2"
    templates = {f"{module.name}.h": header}
    if not form.header_only:
        templates = {f"{module.name}.c": "standalone/module.c.j2"} | templates
    if form.helper_file:
        templates[f"{module.name}.helpers.h"] = "standalone/helpers.h.j2"
    if sets is not None:
        templates[f"{module.name}_loops.inc"] = "standalone/loops.inc.j2"
    inline = ".h" if form.header_only else ".helpers.h"
    files = {
        name: _finished(render_template(template, **values), module, inserted, inline=name.endswith(inline))
        for name, template in templates.items()
    }
    own = [f"{module.name}{suffix}" for suffix in (".c", ".h") if f"{module.name}{suffix}" in files]
    license = _licensed("", form).strip()
    shared = {HEADER: shared_header(license)} if includes else {}
    shared |= {CPP_HEADER: cpp_header(license)} if form.cpp else {}
    return {name: files[name] for name in own} | shared | files


def _sets(module: ModuleView, code: str) -> SetsView:
    """Return what is compiled for each instruction set, and what once."""
    helpers = for_loops(helper_text(code, module.given, module.users), code, module.functions_once, all=False)
    kernels = {name for view in module.kernels for name in (view.function, f"{view.name}_unchecked")}
    called = kernels | {static.function for static in module.statics}
    return split_by_set(find_sets(module.form.targets), helpers, code, called, shared_functions())


def _included(module: ModuleView) -> tuple[str, ...]:
    """Return the headers of the C library that the module's header includes: what its own lines need, and no more."""
    if not module.statics:
        return ("stddef.h", "stdint.h")
    parameters = (text for static in module.statics for text in static.parameters)
    declared = names(" ".join((module.types, helper_text(module.types), *parameters)))
    return tuple(header for header in ("stddef.h", "stdint.h") if declared & HEADERS[header])


def _comment(text: str) -> str:
    """Return the lines of a comment, from behind the mark of its first line on."""
    return lay_out_comment(NO_BREAK.join(map(comment_text, text.split(NO_BREAK))))[2:]


def _stack(module: ModuleView, code: str) -> dict[str, int]:
    """Return what each function takes of the stack at most."""
    whole = f"{helper_text(code, ' '.join(shared_types()), module.users)}\n\n{code}"
    return stack_bytes((types(), spelled(whole, module.name, module.macros, shared_types())), bool(module.form.targets))


def _comments(module: ModuleView, stack: Mapping[str, int]) -> dict[str, str]:
    """Return the comments that files begin with, and those of kernels in the header, by the places where they go.

    `stack` says what each function takes of the stack.
    """
    title = f"{module.name}, generated by bcastgen {__version__} (do not edit)"
    triples = zip(module.kernels, module.parts, module.statics or (None,) * len(module.parts), strict=True)
    contracts = [
        contract(view, part.program, part.typed, part.schedule.fast, module.form, static, part.text, stack=stack)
        for view, part, static in triples
    ]
    alone = f"{title}{'' if _title(module, 0) == module.name else f': {_title(module, 0)}'}"
    made_by = f"\nMade by: {module.made_by}" if module.made_by else ""
    lint = "NOLINTBEGIN(bugprone-easily-swappable-parameters,bugprone-casting-through-void)"
    files = {
        "source": f"{title}: {module.name}.h says what it computes. {lint}",
        "header": f"{alone}{made_by}\n\n{contracts[0]}" if len(contracts) == 1 else f"{title}{made_by}",
        "helpers": f"The helpers of {title}. {lint}",
        "loops": f"The loops of {title}: {module.name}.c includes them for each instruction set. {lint}",
    }
    ends = {}
    if module.form.verbose:
        made = (internals(part.program, part.typed, bool(module.statics)) for part in module.parts)
        ends["internals"] = "\n\n".join(
            f"The compiler's view of {_title(module, at)}; an index `d0|0` is d0, or 0 where the extent is 1.\n\n{text}"
            for at, text in enumerate(made)
        )
    if not module.statics:
        for at, (view, part) in enumerate(zip(module.kernels, module.parts, strict=True)):
            ends[f"arguments{at}"] = "\n".join(arguments_of_call(view, part.program))
            ends[f"numbers{at}"] = f"The arrays of {view.function}, as a diagnostic numbers them.{numbers_said(view)}"
    kernels = {f"kernel{at}": f"{_title(module, at)}\n\n{text}" for at, text in enumerate(contracts)}
    return kernels | ends | {place: _licensed(text, module.form) for place, text in files.items()}


def _licensed(text: str, form: CForm) -> str:
    """Return the text of a file's first comment, with the licence if there is one."""
    return text if form.license is None else f"SPDX-License-Identifier: {form.license}\n\n{text}"


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
        # Callers see one status, whatever shape functions return. A kernel k has a function k_shape, so no such type.
        statuses_of_programs = "|".join(name for name, _ in shape_statuses().values())
        text = re.sub(rf"\bBCG_({statuses_of_programs})\b", "BCG_SIZES", text)
        text = re.sub(r"\bbcg_shape\b", "bcg_shape_value", text)
    if module.form.header_only:
        # Only definitions begin a line: functions, which become inline here, and data, which are const.
        text = re.sub(r"^(?:static )?(?=(?:void|size_t|bcg_status) \w+\()", "static inline ", text, flags=re.MULTILINE)
        text = re.sub(r"^static (?!inline|const|BCG_)", "static inline ", text, flags=re.MULTILINE)
    text = lay_out(spelled(text, module.name, module.macros, module.shared))
    for marker, final in inserted.items():
        text = text.replace(marker, final, 1)
    return text.rstrip("\n") + "\n"
