"""Wrong calls of standalone C, and calls just right, in every form: is each answered as the contract says?

In: how many calls, and a seed.  Out: figures by form and by status, and each difference as a case; exit status 1 if
there is one.

    python tests/support/illegal_calls.py --count 100000 --seed 7

Every field of descriptors is wrong in turn: null pointers, ranks, extents and strides at the ends of integer types,
misaligned data, results that share bytes with operands, with each other or with themselves. The answer is what
`contract_model.py` says: status, operand and dim, no byte changed by what is refused, and of what is taken NumPy's
values and no other byte. Each call is made between guard pages, to the left and to the right, in each build: sanitizers
of addresses, undefined behaviour and uninitialised memory, and optimised code.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, COMPILERS, MEMORY, Harness, emit_module, wrapper
from compile_flags import QUICK
from contract_subjects import F4, I4, SUBJECTS, Subject
from illegal_call_maker import Calls

STATIC = {
    "plain_static": Subject(
        "(f32[2,3] a, f32[3] b) -> a + b*2", ((F4, "23"), (F4, "3")), (F4,), lambda a, b: (a + b * 2,)
    ),
    "power_static": Subject(
        "(i32[3] a, i32[3] b) -> a ** b",
        ((I4, "3"), (I4, "3")),
        (I4,),
        lambda a, b: (a**b,),
        domain=lambda a, b: bool((b < 0).any()),
    ),
}
POINTERS = {
    "named": SUBJECTS["named"],
    "row": Subject("(f32[m,n] a, f32[n] b) -> a + b*2", ((F4, "mn"), (F4, "n")), (F4,), lambda a, b: (a + b * 2,)),
    "column": Subject("(f32[m,1] a, f32[1,n] b) -> a * b", ((F4, "m1"), (F4, "1n")), (F4,), lambda a, b: (a * b,)),
}
PARTS = ("axpb", "bias", "cube", "wild", "named", "pair", "staged", "power", "byte", "scalar")
# Name: the form, its kernels, and what may be passed: anything, any layout that is right, or dense arrays.
FORMS = {
    "usual": (CForm(), SUBJECTS, "any"),
    "variants0": (CForm(0), SUBJECTS, "any"),
    "single": (CForm(1, single_file=True, export=True), SUBJECTS, "any"),
    "free": (CForm(0, freestanding=True, helper_file=True), SUBJECTS, "any"),
    "openmp": (CForm(openmp=True, target="x86-64-v3"), SUBJECTS, "any"),
    "header": (CForm(1, header_only=True, single_file=True), SUBJECTS, "any"),
    "sets": (CForm(targets=("x86-64-v3", "x86-64-v4")), SUBJECTS, "any"),
    "part": (CForm(), {name: SUBJECTS[name] for name in PARTS}, "right"),
    "pointers": (CForm(pointers=True), POINTERS, "dense"),
    "static": (CForm(static=True), STATIC, "dense"),
}
# Compilers that are not there are left out by the command; tests choose their own.
BUILDS = (
    ("gcc", (QUICK, *ADDRESS)),
    ("clang", (QUICK, *ADDRESS)),
    ("clang", ("-O1", *MEMORY)),
    ("gcc", ("-O2",)),
    ("clang", ("-O2",)),
)


# ---- what became of it -----------------------------------------------------------------------------------------------


def fault(call, got):
    """Describe what is wrong with an outcome, or return None."""
    said = call.verdict
    told = got.call.operand, got.call.dim
    status = got.call.status
    if not any(one.status == got.shape.status for one in said.shape):
        return f"the shape function returned {got.shape}, not {said.shape}"
    if call.told and got.shape.status != "OK":
        shape = got.shape
        if not any(one.matches(shape.status, shape.operand, shape.dim) for one in said.shape):
            return f"the shape function returned {shape}, not {said.shape}"
    if got.shape.status == "OK" and got.extents != said.extents:
        return f"the shape function said {got.extents}, not {said.extents}"
    values = call.values() if said.may_run else None
    if status == "DOMAIN" and said.may_run and values is None:
        return None if got.untouched else "memory has changed"
    place = told if call.told else (None, None)
    matching = [one for one in said.call if one.status == status]
    if not matching or (call.told and status != "OK" and not any(one.matches(status, *place) for one in matching)):
        return f"returned {got.call}, not {said.call}"
    if not call.told and (told, got.call.against, got.call.actual) != ((-77, -77), -77, -77):
        return "a diagnostic was written that was not passed"
    if status != "OK":
        return None if got.untouched else "memory has changed"
    if values is None:
        return "elements were taken that are out of the domain"
    return _unequal(call, got, values)


def _unequal(call, got, values):
    """Every byte is as it was but for the results' elements, which are NumPy's."""
    expected, count = [bytearray(contents) for contents in call.buffers], len(call.subject.operands)
    for at, value in enumerate(values, count):
        if not value.size:
            continue
        wanted, found = call.ndarray(at, expected), call.ndarray(at, [bytearray(one) for one in got.buffers])
        wanted[...] = value
        if not call.subject.exact:
            if not np.allclose(wanted, found, 1e-5, 1e-5, equal_nan=True):
                return f"result {at - count} is {found}, not {wanted}"
            wanted[...] = found
    for number, (was, now) in enumerate(zip(expected, got.buffers, strict=True)):
        if bytes(was) != now.tobytes():
            return f"buffer {number} is {now.tobytes().hex()}, not {bytes(was).hex()}"
    return None


# ---- forms that the harness has not ----------------------------------------------------------------------------------


def _part_wrapper(at, kernel):
    """C that calls a kernel for two parts of its result, along one of its dims."""
    operands, results = len(kernel.operands), len(kernel.results)
    count = operands + results
    given = ", ".join(f"&a[{k}]" for k in range(operands))
    parts = ", ".join((*(f"&part[{k}]" for k in range(operands)), *(f"&part_made[{k}]" for k in range(results))))
    ranked = "".join(
        f", got->extents[{k}] + 1" if rank is not None else f", &ranks[{k}], got->extents[{k}] + 1"
        for k, rank in enumerate(kernel.shapes)
    )
    known = " ".join(
        f"got->extents[{k}][0] = {f'ranks[{k}]' if rank is None else rank};" for k, rank in enumerate(kernel.shapes)
    )
    return f"""
static void run_{at}(const harness_array *given, int told, harness_answer *got)
{{
    bcastgen_array a[{operands}], part[{operands}];
    bcastgen_result made[{results}], part_made[{results}];
    describe(given, {operands}, a, {results}, made);
    int64_t own[{count}][64];
    int32_t ranks[{results}] = {{0}};
    (void)told;
    (void)ranks;
    got->shape.status = (int64_t){kernel.shape_function}({given}{ranked}, NULL);
    {known}
    int64_t sum = 0, extent = 1;
    const int64_t rank = got->extents[0][0];
    for (int64_t dim = 0; dim < rank; dim++) sum += got->extents[0][1 + dim];
    const int32_t from_last = rank > 0 ? (int32_t)(1 + sum % rank) : 1;
    if (rank > 0) extent = got->extents[0][1 + rank - from_last];
    bcastgen_diagnostic why = {{-77, -77, -77, -77, -77}};
    const int64_t ends[] = {{0, extent / 2, extent}};
    for (int k = 0; k < 2 && got->call.status == 0; k++) {{
        if (ends[k] == ends[k + 1] && extent > 0) continue;
        for (int at = 0; at < {operands}; at++) {{
            part[at] = bcastgen_part(&a[at], from_last, ends[k], ends[k + 1], own[at]);
        }}
        for (int at = 0; at < {results}; at++) {{
            part_made[at] = bcastgen_result_part(&made[at], from_last, ends[k], ends[k + 1], own[{operands} + at]);
        }}
        got->call.status = (int64_t){kernel.function}({parts}, &why);
    }}
    got->call.operand = why.operand;
    got->call.dim = why.dim;
}}
"""


def _pointer_wrapper(at, kernel, subject):
    """C that hands the data of dense arrays to a kernel, with the extents that have names."""
    places: dict[str, str] = {}
    for position, (_, dims) in enumerate(subject.operands):
        for dim, letter in enumerate(dims):
            if letter.isalpha():
                places.setdefault(letter, f"(size_t)given[{position}].extents[{dim}]")
    count = len(subject.operands)
    arguments = ", ".join((*(f"given[{k}].data" for k in range(count + len(subject.results))), *places.values()))
    return f"""
static void run_{at}(const harness_array *given, int told, harness_answer *got)
{{
    (void)told;
    for (int k = 0; k < {len(subject.results)}; k++) {{
        got->extents[k][0] = given[{count} + k].rank;
        for (int dim = 0; dim < given[{count} + k].rank; dim++) {{
            got->extents[k][1 + dim] = given[{count} + k].extents[dim];
        }}
    }}
    {kernel.function}({arguments});
}}
"""


class Forms:
    """The kernels of forms, in one program."""

    def __init__(self, names, directory):
        self.subjects = {name: FORMS[name][1] for name in names}
        self.kernels, every, own = {}, [], {}
        for name in names:
            form, subjects, _ = FORMS[name]
            # Modules of these forms are one for each kernel, or one for all, which names them after itself.
            made = emit_module([from_text(one.text, key) for key, one in subjects.items()], f"f_{name}", form)
            self.kernels[name] = dict(zip(subjects, made, strict=True))
            for key, kernel in self.kernels[name].items():
                if name == "part":
                    own[id(kernel)] = _part_wrapper
                elif name == "pointers":
                    own[id(kernel)] = lambda at, kernel, subject=subjects[key]: _pointer_wrapper(at, kernel, subject)
                every.append(kernel)
        self.harness = Harness(every, directory, lambda at, kernel: own.get(id(kernel), wrapper)(at, kernel))

    def build(self, kind, flags):
        return self.harness.build(kind, flags, guarded=True)


def drawn(seed, names, count):
    """So many calls, spread over forms: those that are checked have most."""
    calls, chance, made = Calls(seed), random.Random(seed), []
    weights = [6 if FORMS[name][2] == "any" else 2 if name == "part" else 1 for name in names]
    while len(made) < count:
        (form,) = chance.choices(names, weights)
        _, subjects, kind = FORMS[form]
        name = chance.choice(list(subjects))
        call = calls.call(name, subjects[name], kind)
        if call is not None:
            made.append((form, call))
    return made


def differences(forms, program, made):
    """Each call that came to something else, with what it is, and figures of the others."""
    cases = [call.case(forms.kernels[form][call.name]) for form, call in made]
    figures, found = Counter(), []
    for (form, call), got in zip(made, _run(program, cases), strict=True):
        wrong = got if isinstance(got, str) else fault(call, got)
        if wrong is not None:
            found.append(f"{form}: {call}\n  {wrong}")
        else:
            figures[form, got.call.status] += 1
    return figures, found


def _run(program, cases):
    """Outcomes, or for calls that end the program what it says."""
    try:
        return (program if len(cases) == 1 else replace(program, saying=None)).run(*cases)
    except AssertionError as error:
        if len(cases) == 1:
            return [f"ended the program: {error}"[:2000]]
        half = len(cases) // 2
        return [*_run(program, cases[:half]), *_run(program, cases[half:])]


def shown(figures):
    """Figures by form and by status, as a table."""
    forms, statuses = sorted({form for form, _ in figures}), sorted({status for _, status in figures})
    rows = [["", *forms, "all"]]
    for status in statuses:
        numbers = [figures[form, status] for form in forms]
        rows.append([status, *(str(number or "") for number in numbers), str(sum(numbers))])
    rows.append(["all", *(str(sum(figures[form, one] for one in statuses)) for form in forms), str(figures.total())])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="calls, in batches of 5,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=5, help="differences to print of each build")
    options = parser.parse_args()
    builds = [build for build in BUILDS if any(map(shutil.which, COMPILERS[build[0]]["c"]))]
    figures, found, began = Counter(), {}, time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        forms = Forms(list(FORMS), Path(directory))
        programs = [(" ".join((kind, *flags)), forms.build(kind, flags)) for kind, flags in builds]
        print(f"{len(programs)} builds in {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
        for batch in range(-(-options.count // 5000)):
            made = drawn(options.seed * 1_000_003 + batch, list(FORMS), min(5000, options.count - 5000 * batch))
            for at, (name, program) in enumerate(programs):
                counted, wrong = differences(forms, program, made)
                figures.update(counted if at == 0 else {})
                found.setdefault(name, []).extend(wrong)
            done = 5000 * batch + len(made)
            counts = {name: len(wrong) for name, wrong in found.items()}
            print(
                f"{done} calls in {time.monotonic() - began:.0f} s, differences {counts}", file=sys.stderr, flush=True
            )
    print(shown(figures))
    for name, wrong in found.items():
        print(f"\n{name}: {len(wrong)} differences", *wrong[: options.examples], sep="\n\n")
    return any(found.values())


if __name__ == "__main__":
    sys.exit(main())
