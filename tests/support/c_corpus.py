"""Many random kernels in modules of standalone C, calls of them, and builds of one program that makes all these calls.

In: a seed and a count.  Out: a :class:`Corpus`, which any compiler can be held against.

    corpus = make_corpus(seed, 100, samples, differences)
    corpus.check(directory, SANITIZED)
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from itertools import islice

from bcastgen.core.c_flags import OPTIMISED
from bcastgen.emit.standalone import CForm
from c_calls import Expected, bad_call, good_call, static_call
from c_harness import ADDRESS, MEMORY, Case, Emitted, Harness, emit_module
from c_programs import Subject, random_subject
from compile_flags import NATIVE as OF_THIS_MACHINE
from compile_flags import QUICK


@dataclass(frozen=True)
class Build:
    """A compiler, its flags, and whether memory is between guard pages."""

    kind: str
    flags: tuple[str, ...]
    guarded: bool = True

    def __str__(self):
        return " ".join((self.kind, *self.flags))


# Not optimised: nothing that is wrong has gone, and compiling takes a third of the time.
SANITIZED = (Build("gcc", (QUICK, *ADDRESS)), Build("clang", (QUICK, *ADDRESS)), Build("clang", (QUICK, *MEMORY)))
# For users. Plain code that is not optimised is that of the sanitizers without their checks.
USERS = tuple(Build(kind, (OPTIMISED,)) for kind in ("gcc", "clang"))
PLAIN = tuple(Build(build.kind, (level,)) for build in USERS for level in (QUICK, *build.flags))
# The machine whose instructions the JIT takes.
NATIVE = tuple(Build(build.kind, (*build.flags, *OF_THIS_MACHINE)) for build in PLAIN)

# This many kernels share a module, which has their helpers once.
PER_MODULE = 20
FORMS = (
    CForm(),
    CForm(0),
    CForm(1, helper_file=True, single_file=True),
    CForm(0, freestanding=True),
    CForm(0, openmp=True),
    CForm(header_only=True),
    CForm(targets=("x86-64-v3", "x86-64-v4")),
)


@dataclass(frozen=True)
class Corpus:
    """Kernels as modules, and calls of them with what each has to come to."""

    seed: int
    subjects: tuple[Subject, ...]
    modules: tuple[tuple[Emitted, ...], ...]
    calls: tuple[tuple[Subject, Case, Expected], ...]
    differences: object

    @property
    def files(self):
        """The text of every file, by name."""
        return {name: text for module in self.modules for name, text in module[0].files.items()}

    def check(self, directory, builds, expected=True):
        """Make every call in each build, and compare with what is expected; if not, the builds with the first."""
        for name, text in self.files.items():
            assert not re.search(r"\bbcg_", text, re.IGNORECASE), f"{name}: a name without the module's prefix"
        harness = Harness([kernel for module in self.modules for kernel in module], directory)
        cases = [case for _, case, _ in self.calls]
        first = None
        for build in builds:
            outcomes = harness.build(build.kind, build.flags, build.guarded).run(*cases)
            if expected:
                self._compare(build, outcomes)
            elif first is not None:
                self._compare_builds(build, outcomes, first)
            first = first or outcomes

    def _compare(self, build, outcomes):
        for (subject, case, wanted), got in zip(self.calls, outcomes, strict=True):
            fault = wanted.fault(subject, got, len(subject.operands), self.differences)
            assert fault is None, f"{build}: {fault}\n{self._shown(subject, case, got)}"

    def _compare_builds(self, build, outcomes, first):
        for (subject, case, _), got, was in zip(self.calls, outcomes, first, strict=True):
            shown = f"{build} differs from {PLAIN[0]}\n{self._shown(subject, case, got)}"
            assert (got.shape, got.extents, got.call) == (was.shape, was.extents, was.call), shown
            for at, dtype in enumerate(case.kernel.results, len(subject.operands)):
                if got.call.status == "OK":
                    assert not self.differences(got.values(at, dtype.np), was.values(at, dtype.np)).any(), shown

    def _shown(self, subject, case, got):
        arrays = "\n".join(f"  {array}" for array in case.arrays)
        return (
            f"seed {self.seed}, {case.kernel.function}: shape {got.shape}, call {got.call}\n"
            f"{subject.kernel.signature}\n{subject.compilation.rewritten.program}\n"
            f"(buffer, offset, rank, null extents, strides; extents, strides)\n{arrays}"
        )


def make_modules(subjects, seed=0, forms=FORMS):
    """Modules of all forms that hold the kernels of these subjects."""
    modules = []
    for at in range(0, len(subjects), PER_MODULE):
        kernels = [subject.kernel for subject in subjects[at : at + PER_MODULE]]
        form = forms[(at // PER_MODULE + seed) % len(forms)]
        modules.append(tuple(emit_module(kernels, f"m{at // PER_MODULE}", form)))
    return tuple(modules)


def make_corpus(seed, count, samples, differences, functions=False, faults=2, forms=FORMS):
    """So many kernels in modules of all forms; of each a call that fits, and some in which one thing is wrong.

    Without any of these (`faults` is None) the JIT has nothing to do. Static forms take calls that fit.
    """
    chance, static = random.Random(seed), any(form.static for form in forms)
    subjects = tuple(random_subject(chance, f"p{at}", samples, functions, static) for at in range(count))
    modules, calls = make_modules(subjects, seed, forms), []
    kernels = [kernel for module in modules for kernel in module] if faults is not None else []
    for subject, emitted in zip(subjects, kernels, strict=False):
        calls.append((subject, *(static_call if static else good_call)(chance, subject, emitted)))
        made = (bad_call(chance, subject, emitted) for _ in range(0 if static else 20))
        calls += [(subject, *call) for call in islice(filter(None, made), faults)]
    return Corpus(seed, subjects, modules, tuple(calls), differences)
