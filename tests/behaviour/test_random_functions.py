"""Random functions of TOSA: verdicts and values are those of NumPy, run op by op with every declared type checked."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest

import bcastgen as bg
from long_runs import many

REFERENCES = {
    "tosa.add": np.add,
    "tosa.sub": np.subtract,
    "tosa.maximum": np.maximum,
    "tosa.abs": np.abs,
    "tensor.cast": lambda value: value,
}


@dataclass
class Line:
    """One op: its name, the values it uses, its result, the result's dims, and what a constant holds."""

    op: str
    uses: tuple[str, ...]
    name: str
    dims: list
    constant: np.ndarray | None = None


@dataclass
class Program:
    """A function's operands with their dims, its lines, and what it returns."""

    operands: dict[str, list]
    lines: list[Line] = field(default_factory=list)
    returned: tuple[str, ...] = ()

    @property
    def dims(self):
        return self.operands | {line.name: line.dims for line in self.lines}

    @property
    def text(self):
        types = {name: tensor(dims) for name, dims in self.dims.items()}
        lines = []
        for line in self.lines:
            result, uses = types[line.name], [types[name] for name in line.uses]
            match line.op:
                case "tosa.const":
                    values = f"{{values = dense<{line.constant.tolist()}> : {result}}}"
                    lines.append(f'  {line.name} = "tosa.const"() {values} : () -> {result}')
                case "tensor.cast":
                    lines.append(f"  {line.name} = tensor.cast {line.uses[0]} : {uses[0]} to {result}")
                case op:
                    lines.append(f"  {line.name} = {op} {', '.join(line.uses)} : ({', '.join(uses)}) -> {result}")
        heads = ", ".join(f"{name}: {types[name]}" for name in self.operands)
        results = ", ".join(types[name] for name in self.returned)
        lines.append(f"  return {', '.join(self.returned)} : {results}")
        return f"func.func @f({heads}) -> ({results}) {{\n" + "\n".join(lines) + "\n}\n"

    @property
    def live(self):
        """The names that what is returned is made of."""
        live = set(self.returned)
        for line in reversed(self.lines):
            if line.name in live:
                live.update(line.uses)
        return live

    def run(self, arrays):
        """The results, or None where an operand or a live value has another shape than its type says."""
        values = dict(zip(self.operands, arrays, strict=True))
        live, dims = self.live, self.dims
        if not all(fits(values[name].shape, dims[name]) for name in self.operands if name in live):
            return None
        for line in self.lines:
            if line.name not in live:
                continue
            try:
                made = line.constant if line.op == "tosa.const" else REFERENCES[line.op](*map(values.get, line.uses))
            except ValueError:
                return None
            if not fits(made.shape, line.dims):
                return None
            values[line.name] = made
        return [values[name] for name in self.returned]


def tensor(dims):
    return f"tensor<{''.join(f'{dim}x' for dim in dims)}f32>"


def fits(shape, dims):
    return all(dim in ("?", extent) for dim, extent in zip(dims, shape, strict=True))


def inferred(dims):
    """What is known of one dim of a broadcast."""
    known = [dim for dim in dims if dim not in ("?", 1)]
    return known[0] if known else "?" if "?" in dims else 1


def make_program(rng):
    """A function of up to five ops, whose results are often declared as more, or less, than is inferred."""
    rank = rng.choice([1, 1, 2])
    names = [f"%a{at}" for at in range(rng.randint(1, 3))]
    made = Program({name: [rng.choice(["?", "?", 1, 2, 3]) for _ in range(rank)] for name in names})
    for at in range(rng.randint(1, 5)):
        op, dims = rng.choice(["tosa.const", "tensor.cast", *REFERENCES]), made.dims
        if op == "tosa.const":
            extents = [rng.choice([1, 1, 2, 3]) for _ in range(rank)]
            holds = np.arange(np.prod(extents), dtype=np.float32).reshape(extents)
            made.lines.append(Line(op, (), f"%v{at}", extents, np.full_like(holds, 2) if rng.random() < 0.4 else holds))
            continue
        count = 1 if op in ("tosa.abs", "tensor.cast") else 2
        uses = tuple(rng.choice(list(dims)) for _ in range(count))
        found = [inferred([dims[name][dim] for name in uses]) for dim in range(rank)]
        said = [
            "?" if rng.random() < 0.2 else rng.choice([1, 2, 3]) if dim == "?" and rng.random() < 0.3 else dim
            for dim in found
        ]
        made.lines.append(Line(op, uses, f"%v{at}", said))
    others = (rng.choice(list(made.dims)),) if rng.random() < 0.4 else ()
    made.returned = (made.lines[-1].name, *others)
    return made


def draw_arrays(rng, program):
    """Operands that mostly are what their types say."""
    for dims in program.operands.values():
        shape = [dim if dim != "?" and rng.random() < 0.95 else rng.choice([0, 1, 1, 2, 3]) for dim in dims]
        yield np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) + 1


def compare(rng, calls=8):
    """Compare one program; return how many legal calls there were, or None if it is refused."""
    program = make_program(rng)
    draws = [tuple(draw_arrays(rng, program)) for _ in range(calls)]
    try:
        kernel = bg.from_mlir(program.text)
    except bg.BroadcastError:
        # What is refused can never run; values that nothing uses are verified, too.
        live = program.live
        if all(line.name in live for line in program.lines):
            assert all(program.run(arrays) is None for arrays in draws), program.text
        return None
    legal = 0
    for arrays in draws:
        expected, shapes = program.run(arrays), [array.shape for array in arrays]
        # What an operand declares is checked, whether a result reads it or not.
        declared = zip(program.operands.values(), shapes, strict=True)
        if expected is None or not all(
            dim in ("?", extent) for dims, shape in declared for dim, extent in zip(dims, shape, strict=True)
        ):
            with pytest.raises(bg.BroadcastError):
                pytest.fail(f"{program.text} takes {shapes}: {kernel(*arrays)}")
            continue
        legal += 1
        got = kernel(*arrays)
        for one, other in zip(got if isinstance(got, tuple) else (got,), expected, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"{program.text} {shapes}")
    return legal


def test_random_functions_are_numpys():
    rng = random.Random(0)
    found = [compare(rng) for _ in range(40)]
    assert sum(filter(None, found)) > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 1 + many(2, 4)))
def test_more_random_functions_are_numpys(seed):
    rng = random.Random(seed)
    found = [compare(rng) for _ in range(150)]
    assert sum(filter(None, found)) > 500 and None in found
