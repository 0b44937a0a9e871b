"""Emitted kernels, strict compilers, and a harness that runs kernels as C programs do, under sanitizers."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from bcastgen.core.dtypes import DType
from bcastgen.emit.standalone import CForm, render_module
from bcastgen.expr.nodes import Apply, Constant, Expression, topological
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.pipeline.compilation import Compilation
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.tensor_type import parse_signature, parse_type
from c_harness import ADDRESS, LANGUAGES, STRICT, UNTOLD, Case, Emitted, Harness, compiler, result_ranks
from compile_flags import QUICK, WARNED


@pytest.fixture(scope="session")
def emit():
    """Call ``emit(name, source)`` with a signature that ends in an expression, or ``emit(name, function or text, types,
    names=...)``; also ``variants``, declared ``result_types``, and ``constants``: values of the last operands."""

    def emitted(
        name, source, types=None, names="abcdefghijklmnopqrstuvwxyz", variants=None, result_types=None, constants=()
    ):
        if types is None:
            signature = parse_signature(source)
            names, types = zip(*signature.operands, strict=True)
            source = signature.expression
        types, names = tuple(map(parse_type, types)), tuple(names)[: len(types)]
        if not isinstance(source, Expression):
            source = parse(source, names) if isinstance(source, str) else trace(source, names)
        expression = source
        count = len(expression.results)
        results = ("r",) if count == 1 else tuple(f"r{at}" for at in range(count))
        declared = None if result_types is None else tuple(map(parse_type, result_types))
        kinds = tuple(t.dtype for t in types)
        options, count_constants = Options(name, variants), len(constants)
        compilation = Compilation(expression, kinds, types, declared, results, options, None, count_constants)
        form = CForm(variants)
        rendered = render_module(name, [compilation.standalone_part(name, form, constants)], form)
        stem = rendered.name
        function = f"{stem}_kernel" if f"bcastgen_status {stem}_kernel(" in rendered.files[f"{stem}.h"] else stem
        return Emitted(stem, function, dict(rendered.files), compilation, result_ranks(compilation))

    return emitted


@pytest.fixture(scope="session")
def compile_strictly():
    """Call ``compile_strictly(texts, directory, kind="gcc", language="c", flags=None)`` with names and contents.

    Every .c file is compiled, every warning is an error.
    """
    # gcc warns of some things only where it optimises, clang before it makes code. Nobody needs an assembler's output.
    levels = {"gcc": (WARNED, "-S"), "clang": ("-fsyntax-only",)}
    # Beside those that all compilers have. What clang calls unused may be used on a machine that lacks an instruction.
    strictest = {"gcc": ("-Wcast-align=strict", "-Wswitch-default", "-Wunused-macros"), "clang": ()}

    def compile_all(texts, directory, kind="gcc", language="c", flags=None):
        flags = levels[kind] if flags is None else flags
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / name).write_text(text, encoding="utf-8")
        units = [name for name in texts if name.endswith(".c")]
        command = [compiler(kind, language), *LANGUAGES[language], *STRICT, *strictest[kind], *flags, "-c", *units]
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(command[: -len(units)])}\n{done.stderr[:4000]}"

    return compile_all


@pytest.fixture(scope="session")
def together():
    """Call ``together(kernels)`` for the files of many emitted kernels and one unit that includes all of their C."""

    def unit(kernels):
        texts = {name.replace(".c", ".inc"): text for kernel in kernels for name, text in kernel.files.items()}
        return texts | {"all.c": "".join(f'#include "{kernel.name}.inc"\n' for kernel in kernels)}

    return unit


@pytest.fixture(scope="session")
def build():
    """Call ``build(kernels, directory, kind="gcc", optimise=QUICK)`` for a program that runs cases of them.

    Not optimised, nothing that is wrong has gone: it is built with address and undefined-behaviour sanitizers.
    Optimised, it is built as users have it, and memory is between guard pages: sanitizers keep an optimiser from most
    of what it does, and take it minutes.
    """

    def program(kernels, directory, kind="gcc", optimise=QUICK):
        sanitized = optimise == QUICK
        return Harness(kernels, directory).build(kind, (optimise, *ADDRESS * sanitized), guarded=not sanitized)

    return program


@pytest.fixture(scope="session")
def new_case():
    """Call ``new_case(kernel, told=True)`` for a case without arrays yet."""
    return Case


@pytest.fixture(scope="session")
def untold():
    """The facts of a diagnostic that nobody has written."""
    return UNTOLD


@pytest.fixture(scope="session")
def references():
    """Call ``references(kernel, operands)`` for its results by the rows' references, node by node."""

    def results(kernel, operands):
        expression = kernel.compilation.typed.expression
        values = dict(zip(expression.operands, map(as_c_reads, operands), strict=True))
        for node in topological(expression.results):
            match node:
                case Constant(dtype=DType() as dtype):
                    values[node] = dtype.np.type(node.value)
                case Apply():
                    given = (values[x] for x in node.operands)
                    values[node] = np.asarray(node.op.evaluate(*given, *(value for _, value in node.params)))
        return tuple(values[node] for node in expression.results)

    return results


def as_c_reads(values):
    """A kernel takes every byte but 0 in a bool for true; NumPy has no rule for bytes other than 0 and 1."""
    return values.view(np.uint8) != 0 if values.dtype == np.bool_ else values
