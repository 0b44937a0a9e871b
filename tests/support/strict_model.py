"""Random functions of MLIR, and what strict and NumPy's reading of their types make of a call: written apart, op by op.

In: a random number generator.  Out: a :class:`Written` function, and the shape of its result or the op that refuses.

A value is a name, its type (a tuple of extents, None for ?), and the op that makes it: ``add`` of two values, or a
``cast`` of one.
"""

from dataclasses import dataclass

EXTENTS = (None, None, 1, 1, 3, 5)


@dataclass(frozen=True)
class Step:
    """One op: its kind, the numbers of the values it reads, its result's type."""

    kind: str
    reads: tuple
    type: tuple


@dataclass(frozen=True)
class Written:
    """A function: the arguments' types, then its steps. It returns the last value."""

    arguments: tuple
    steps: tuple

    @property
    def text(self):
        """The function as MLIR: the first op stands in line 2."""
        types = [*self.arguments, *(step.type for step in self.steps)]
        heads = ", ".join(f"%v{at}: {spelled(type_)}" for at, type_ in enumerate(self.arguments))
        lines = [f"func.func @f({heads}) -> {spelled(types[-1])} {{"]
        for at, step in enumerate(self.steps, len(self.arguments)):
            pairs = [(f"%v{n}", spelled(types[n])) for n in step.reads]
            operands, given = (", ".join(each) for each in zip(*pairs, strict=True))
            if step.kind == "add":
                lines.append(f"  %v{at} = tosa.add {operands} : ({given}) -> {spelled(step.type)}")
            else:
                lines.append(f"  %v{at} = tensor.cast {operands} : {given} to {spelled(step.type)}")
        return "\n".join((*lines, f"  return %v{len(types) - 1} : {spelled(types[-1])}", "}"))

    def run(self, shapes, strict):
        """Return the result's shape, or the line of the op that refuses; 1 for the function's own line."""
        if any(not fits(shape, type_) for shape, type_ in zip(shapes, self.arguments, strict=True)):
            return 1
        values, types = list(shapes), [*self.arguments, *(step.type for step in self.steps)]
        for at, step in enumerate(self.steps, len(self.arguments)):
            made = tuple(
                met([(values[n][dim], types[n][dim]) for n in step.reads], strict) for dim in range(len(step.type))
            )
            if None in made or not fits(made, step.type):
                return at - len(self.arguments) + 2
            values.append(made)
        return values[-1]


def met(dims, strict):
    """Return the extent that dims (extent, type) span, or None."""
    stretching = [extent == 1 and (not strict or type_ is not None) for extent, type_ in dims]
    kept = {extent for (extent, _), stretches in zip(dims, stretching, strict=True) if not stretches}
    return None if len(kept) > 1 else kept.pop() if kept else 1


def fits(shape, type_):
    """Tell whether a shape is one of a type."""
    return all(said in (None, extent) for extent, said in zip(shape, type_, strict=True))


def spelled(type_):
    """Return a type as MLIR writes it."""
    return f"tensor<{''.join('?x' if extent is None else f'{extent}x' for extent in type_)}f32>"


def written(rng, rank=2, most=4):
    """Return a random function of some operands and ops."""
    types = [tuple(rng.choice(EXTENTS) for _ in range(rank)) for _ in range(rng.randint(2, 3))]
    arguments, steps = tuple(types), []
    for _ in range(rng.randint(1, most)):
        kind = rng.choice(("add", "add", "cast"))
        # Each reads the one before it, so that all of them count.
        others = [rng.randrange(len(types))] * (kind == "add")
        reads = (len(types) - 1, *others)
        type_ = tuple(_result([types[n][dim] for n in reads], rng) for dim in range(rank))
        steps.append(Step(kind, reads, type_))
        types.append(type_)
    return Written(arguments, tuple(steps))


def _result(dims, rng):
    """Return the type of a result's dim: what its operands say, or less, or more."""
    said = next((extent for extent in dims if extent not in (None, 1)), None)
    likely = said if said is not None else 1 if all(extent == 1 for extent in dims) else None
    return rng.choice((likely, likely, likely, None, rng.choice(EXTENTS)))
