"""Emitted C deviates from the rules of MISRA C that docs/standalone.md lists with reasons, and from no other."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import bcastgen as bg

DOCS = Path(__file__).parents[3] / "docs" / "standalone.md"
KERNELS = {
    "sums": "(f32[?,?] a, f32[?] b) -> a + b*2",
    "ranks": "(i8[*] a, i32[*] b) -> a // b + (a << b)",
    "functions": "(f32[?,?] a) -> exp(a)",
    "wide": "(c64[?] a, f16[?] b, bool[?] c) -> where(c, a, b)",
    "facts": "(f32[n>=2, ?%4] a, f32[n, 1] b, f32[2*n] c) -> a + b",
    "powers": "(i32[?] a, i32[?] b) -> a ** b",
    "turned": "(f64[n,m] a, f64[m,n] b) -> a + transpose(b, (1, 0))",
    "spread": "(u8[n] a) -> broadcast_to(a, (k, n))",
    "rows": "(f32[?,?] a, f32[?] b) -> sum(a*b, axis=1)",
    "named": "(f32[m,n] a, f32[n] b) -> exp(a) + b*2",
    "fixed": "(f32[2,3] a, f32[3] b) -> a + b*2",
    "counts": "(i32[4] a, i32[4] b) -> a ** b",
    "centred": "(f32[4,5] a) -> a - mean(a, axis=0)",
}
# Modules of every form: their kernels, and the options.
CHECKED = {
    "shared": (("sums", "ranks", "facts", "powers", "turned", "spread", "rows"), {}),
    "single": (("sums", "wide"), {"single_file": True, "openmp": True}),
    "free": (("functions", "sums"), {"freestanding": True, "variants": 0, "helper_file": True}),
    "headers": (("sums", "wide"), {"header_only": True, "unchecked": True}),
    "several_sets": (("sums", "functions", "rows"), {"targets": ("x86-64-v3", "x86-64-v4")}),
    "aligned": (("sums", "turned"), {"alignment": 64, "export": True, "target": "x86-64-v3"}),
}
PLAIN = {
    "by_pointers": (("named",), {"pointers": True, "alignment": 32}),
    "of_extents": (("fixed", "counts", "centred"), {"static": True}),
}
# C as gcc on x86-64 sees it.
AS_GCC = ("--platform=unix64", "-D__GNUC__=12", "-D__x86_64__", "-D__SSE2__")
pytestmark = pytest.mark.slow


def listed():
    """By rule, the forms that deviate from it; each has a reason."""
    (table,) = re.findall(r"<!-- misra: .*?-->\n(.*?)\n\n", DOCS.read_text(), re.DOTALL)
    rows = [[cell.strip() for cell in line.strip("|").split("|", 2)] for line in table.splitlines()[2:]]
    assert all(len(reason) > 20 for _, _, reason in rows)
    assert {forms for _, forms, _ in rows} == {"all", "checked"}
    assert len({rule for rule, *_ in rows}) == len(rows)
    return {rule: forms for rule, forms, _ in rows}


def rules(source, directory):
    """The rules that cppcheck finds violated."""
    command = ["cppcheck", "--addon=misra", "--std=c11", "--quiet", *AS_GCC, "--template={id}", source]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True)
    others = [line for line in done.stderr.splitlines() if re.fullmatch(r"\w+", line)]
    assert not others, done.stderr
    return set(re.findall(r"^misra-c2012-([\d.]+)$", done.stderr, re.MULTILINE))


def found(modules, directory):
    """The rules that modules violate."""
    all_found = set()
    for name, (kernels, options) in modules.items():
        own = directory / name
        own.mkdir()
        bg.emit_c({kernel: bg.from_text(KERNELS[kernel], kernel) for kernel in kernels}, own, name, **options)
        if options.get("header_only"):
            (own / f"{name}.c").write_text(f'#include "{name}.h"\n')
        all_found |= rules(f"{name}.c", own)
    return all_found


@pytest.fixture(scope="module")
def cppcheck():
    if shutil.which("cppcheck") is None:
        pytest.skip("no cppcheck on the PATH (Debian's cppcheck)")
    version = subprocess.run(["cppcheck", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    # Other versions check other rules, and more or less of each.
    if version != "2.10" and not version.startswith("2.10."):
        pytest.skip(f"cppcheck {version}; the table is of 2.10")


@pytest.mark.usefixtures("cppcheck")
@pytest.mark.parametrize("forms", ["checked", "all"])
def test_rules_are_those_of_the_table(forms, tmp_path):
    asked = {rule for rule, where in listed().items() if forms == "checked" or where == "all"}
    assert found(CHECKED if forms == "checked" else PLAIN, tmp_path) == asked


@pytest.mark.usefixtures("cppcheck")
def test_another_deviation_is_found(tmp_path):
    """A goto backwards is not of the table."""
    (tmp_path / "m.c").write_text(
        "int f(int x);\nint f(int x)\n{\nagain:\n    x--;\n    if (x > 0) { goto again; }\n    return x;\n}\n"
    )
    assert rules("m.c", tmp_path) - set(listed()) == {"15.1"}
