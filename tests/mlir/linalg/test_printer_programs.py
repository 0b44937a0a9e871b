"""Random programs as linalg, compiled by LLVM: what they compute and what they refuse is what kernels do.

The programs are those of expression_programs.py over random types: static, unknown, named, equal and stretching dims,
operands seen transposed, declared results. Each is called with several shapes, with extents of 0 and 1 among them.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest

import mlir_tools
from bcastgen.core.errors import BcastgenError, BroadcastError, DomainError, statuses
from bcastgen.expr.trace import trace
from bcastgen.kernel.kernel import Kernel
from bcastgen.loops.interpret import interpret
from bcastgen.mlir.linalg.printer import linalg_text
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import Signature, TensorType
from expression_programs import EITHER_ZERO, Value, by_numpy, make_program
from long_runs import many

pytestmark = [pytest.mark.slow, mlir_tools.needs_native]

BATCH = 50
DOMAIN = next(sentence for name, sentence in statuses().values() if name == "DOMAIN")


@dataclass
class Typed:
    """A program, the kernel of it over random types, and which operands it sees transposed."""

    program: object
    kernel: Kernel
    known: list[int | None]
    transposed: list[bool]
    text: str = ""


def random_dim(chance, known, position):
    """A type's dim at a position of the domain whose extent may be known."""
    if known is not None:
        return chance.choice([Dim(known), Dim(known), Dim(), Dim(1)])
    name = f"n{position}"
    plain = [Dim(), Dim(), Dim(name), Dim(name), Dim(1)]
    return chance.choice(
        [*plain, Dim(broadcast=False), Dim(name, broadcast=False), Dim(min=1), Dim(max=2), Dim(stretches=True)]
    )


def types_of(program):
    return (*program.call_types, *(step.result for step in program.steps))


def random_program(chance, exact, steps):
    """A program with types, or None where these do not fit."""
    program = make_program(chance, exact, steps)
    if not program.steps or any(kind.is_complex for kind in types_of(program)):
        return None  # What runs here does not lower the dialect complex; test_rows.py has its ops verified.
    if any(step.op.name == "angle" for step in program.steps):
        return None  # LLVM's expansion of atan2 gives NaN for (0, 0).
    types = types_of(program)
    signs = [step.operands[1] for step in program.steps if step.op.name == "copysign"]
    if any(isinstance(sign, Value) and types[sign.at].name == "bf16" for sign in signs):
        return None  # LLVM 22 for x86 loses a bf16's sign, in any spelling, where the bf16 is read once more.
    known = [chance.choice([None, None, None, 0, 1, 2, 3]) for _ in range(chance.randint(0, 3))]
    types, transposed = [], []
    for kind in program.call_types:
        rank = chance.choice([len(known), len(known), chance.randint(0, len(known))])
        dims = [random_dim(chance, known[-at], at) for at in range(rank, 0, -1)]
        transposed.append(rank > 1 and chance.random() < 0.2)
        types.append(TensorType(kind, tuple(dims[::-1] if transposed[-1] else dims)))
    options = Options(dynamic=chance.choice(["numpy", "numpy", "strict"]))

    def seen(*operands):
        return program.written([x.T if flip else x for x, flip in zip(operands, transposed, strict=True)])

    expression = trace(seen, program.names)

    def typed(results):
        signature = Signature(tuple(zip(program.names, types, strict=True)), results)
        kernel = Kernel(
            expression, "program", program.names, len(program.results), signature=signature, options=options
        )
        return Typed(program, kernel, known, transposed, linalg_text(kernel.compilation.program, "f"))

    try:
        inferred = typed(None)
        if chance.random() < 0.4:
            return typed(tuple(declared(chance, type_) for _, type_ in inferred.kernel.compilation.program.results))
    except BroadcastError:
        return None
    except BcastgenError as error:
        # Of some rows MLIR has no counterpart; test_rows.py lists them.
        assert "linalg has no op" in str(error)
        return None
    return inferred


def declared(chance, type_):
    """A type that says more or less than the inferred one."""
    dims = [
        chance.choice(
            [dim, Dim(), Dim(dim.extent) if dim.extent is not None else Dim(chance.choice([1, 2, 3])), Dim("k")]
        )
        for dim in type_.dims
    ]
    return TensorType(type_.dtype, tuple(dims))


def random_shapes(chance, typed):
    """Shapes of operands, most of which meet."""
    extents = [chance.choice([0, 1, 2, 3]) if known is None else known for known in typed.known]
    if chance.random() < 0.15:
        extents = [chance.choice([extent, 1, 2]) for extent in extents]
    bound: dict[str, int] = {}
    shapes = []
    for (_, type_), flip in zip(typed.kernel.signature.operands, typed.transposed, strict=True):
        dims = type_.dims[::-1] if flip else type_.dims
        own = []
        for at, dim in zip(range(-len(dims), 0), dims, strict=True):
            extent = chance.choice([1, extents[at], extents[at], extents[at]])
            own.append(dim.extent if dim.is_static else bound.setdefault(dim.symbol, extent) if dim.symbol else extent)
        shapes.append(tuple(own[::-1] if flip else own))
    return shapes


def random_operands(chance, typed, samples):
    arrays = []
    for (_, type_), shape in zip(typed.kernel.signature.operands, random_shapes(chance, typed), strict=True):
        values = np.random.default_rng(chance.randrange(2**32)).choice(samples(type_.dtype, 30), shape)
        values = np.asarray(values.view(np.uint8) != 0 if type_.dtype.kind == "bool" else values, type_.dtype.np)
        arrays.append(values)
    return arrays


def batch(seed, exact, steps, folder):
    """So many programs, compiled together."""
    chance = random.Random(seed)
    tried = (random_program(chance, exact, steps) for _ in range(100 * BATCH))
    found = list(itertools.islice((made for made in tried if made is not None), BATCH))
    assert len(found) == BATCH
    # Any form may have been asked for: the one for any call, a few versions before it, or all there are.
    texts = [
        linalg_text(made.kernel.compilation.program, f"p{at}", versions=chance.choice([0, 1, 2, 1000]))
        for at, made in enumerate(found)
    ]
    return chance, found, mlir_tools.Native.compile("\n".join(texts), folder / "programs")


def calls_of(chance, found, native, samples):
    """Calls that have results, with these; the others are compared here by what they say."""
    refused, said = [], []
    for at, typed in enumerate(found):
        loops = typed.kernel.compilation.program
        results = [(type_.dtype.np, len(type_.dims)) for _, type_ in loops.results]
        for _ in range(4):
            operands = random_operands(chance, typed, samples)
            try:
                interpret(loops, operands)
            except BroadcastError as error:
                refused.append((f"p{at}", operands, results))
                said.append(str(error))
                continue
            except DomainError:
                # The interpreter goes nest by nest; another one's shapes may be wrong, which comes first.
                with pytest.raises(BcastgenError) as caught:
                    typed.kernel(*operands)
                if caught.type is DomainError:
                    refused.append((f"p{at}", operands, results))
                    said.append(DOMAIN)
                continue
            yield typed, operands, native.call(f"p{at}", operands, results)
    printed = native.refusals(refused)
    assert printed == said


@pytest.mark.parametrize("seed", range(many(2, 6)))
def test_exact_programs(seed, tmp_path, samples, differences):
    """Bit for bit what kernels compute."""
    chance, found, native = batch(seed, True, 7, tmp_path)
    count = 0
    for typed, operands, results in calls_of(chance, found, native, samples):
        expected = typed.kernel(*operands)
        for mine, theirs in zip(expected if isinstance(expected, tuple) else (expected,), results, strict=True):
            same = theirs.shape == np.shape(mine) and not differences(theirs, np.asarray(mine)).any()
            assert same, f"{theirs!r} is not {mine!r}\n{typed.program}\n{typed.text}"
        count += 1
    assert count > BATCH


@pytest.mark.parametrize("seed", range(100, 100 + many(2, 4)))
def test_programs_of_any_ops(seed, tmp_path, samples, differences):
    """Each step within its bound of what NumPy makes of the values before it."""
    chance, found, native = batch(seed, False, 5, tmp_path)
    for typed, operands, results in calls_of(chance, found, native, samples):
        flipped = [x.T if flip else x for x, flip in zip(operands, typed.transposed, strict=True)]
        values = [*flipped, *results]
        for at, step in enumerate(typed.program.steps, len(operands)):
            given = [values[x.at] if isinstance(x, Value) else x for x in step.operands]
            expected = np.asarray(by_numpy(step, given), step.result.np)
            either = step.op.name in EITHER_ZERO
            wrong = differences(values[at], expected, step.ulp and step.ulp + 4, either)
            assert values[at].shape == expected.shape, f"v{at}\n{typed.program}\n{typed.text}"
            assert not wrong.any(), f"v{at} is {values[at]!r}, not {expected!r}\n{typed.program}"
