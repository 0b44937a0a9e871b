"""Random typed kernels of reductions, views, targets by name and ops with shape functions: is every answer the same?

    python -m tests.support.reduction_shapes 2000 --seed 7

In: how many kernels, and a seed.  Out: figures, and what differs. Each kernel is asked for small extents, right and
wrong ones, with and without those that the caller gives: by a call, by `result_shape`, and by the shape program where
it takes nothing else. All give one shape, or all refuse, with an error of ours. The values of reductions have tests of
their own (reduction_programs.py).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter

import numpy as np

import bcastgen as bg
from bcastgen.core.errors import BcastgenError

# Those that types compute, with what computes them.
COMPUTED = {"n + 1": lambda names: names["n"] + 1, "2*n": lambda names: 2 * names["n"]}
DIMS = ("n", "m", "?", "3", "1", "n!", "m>=1", "n<=4", "p", *COMPUTED)
REDUCTIONS = ("sum", "max", "min", "mean", "any", "all", "argmax", "count_nonzero", "var")
WITH_MASKS = ("sum", "max", "mean", "any")
EXTENTS = (0, 1, 2, 3, 4)


def outer():
    """An op whose result has the dims of one operand, then those of the other; keep it as long as texts name it."""
    maps = ["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"]
    return bg.define_op("outer_of", "a, b", c="a - b", shape=lambda a, b: bg.shape.concat(a, b), maps=maps)


class Texts:
    """Random signatures."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def signature(self):
        """Return names of operands, and a text."""
        names = ["a", "b", "c"][: self.random.choice((1, 2, 3))]
        operands = ", ".join(f"{self._type()} {name}" for name in names)
        return names, f"({operands}) -> {self._value(3, names)}"

    def _type(self):
        return f"f64[{', '.join(self.random.choices(DIMS, k=self.random.choice((0, 1, 1, 2, 2, 3))))}]"

    def _value(self, depth, names):
        choose = self.random.choice
        if depth == 0 or self.random.random() < 0.15:
            return choose(names)
        value = self._value(depth - 1, names)
        match self.random.choices(("sum", "reduce", "target", "axes", "op", "turn"), (30, 30, 15, 10, 8, 7))[0]:
            case "sum":
                return f"({value} {choose('+-*')} {self._value(depth - 1, names)})"
            case "reduce":
                return self._reduced(value, names)
            case "target":
                extents = self.random.choices(("n", "m", "k", "p", "3", "1", "None"), k=choose((1, 2, 3)))
                return f"broadcast_to({value}, ({', '.join(extents)},))"
            case "axes":
                return f"({value})[{choose((':, None', 'None', '..., None', 'None, :'))}]"
            case "op":
                return f"outer_of({value}, {self._value(depth - 1, names)})"
        return f"transpose({value})"

    def _reduced(self, value, names):
        choose, name = self.random.choice, self.random.choice(REDUCTIONS)
        axis = choose(("", ", axis=0", ", axis=-1", ", axis=1", ", axis=(0,1)"))
        keepdims = choose(("", ", keepdims=True"))
        initial = ", initial=1.0" if name in ("max", "min") and self.random.random() < 0.2 else ""
        where = f", where={choose(names)} > 0" if name in WITH_MASKS and self.random.random() < 0.15 else ""
        return f"{name}({value}{axis}{keepdims}{initial}{where})"

    def call(self, kernel, count):
        """Return operands' shapes, and the extents that the caller gives."""
        choose = self.random.choice
        names = {name: choose(EXTENTS) for name in ("n", "m", "p", "k")}
        operands = kernel.signature.operands
        shapes = tuple(
            tuple(
                choose(EXTENTS)
                if self.random.random() < 0.08
                else dim.extent
                if dim.is_static
                else self._extent(dim, names)
                for dim in type_.dims
            )
            for _, type_ in operands[:count]
        )
        slots = [name for name, _ in operands[count:] if not name.startswith("outer_of")]
        return (
            shapes,
            {name: names[name] for name in slots if name in names and self.random.random() < 0.8},
            bool(slots),
        )

    def _extent(self, dim, names):
        computed = COMPUTED.get(str(dim))
        return computed(names) if computed else names.get(dim.symbol, self.random.choice(EXTENTS))


def answers(kernel, shapes, given, has_slots):
    """Return what each side says: the result's shape, "refused", or an exception that is none of ours."""
    extents = {"extents": given} if given else {}
    sides = {
        "call": lambda: np.shape(kernel(*map(np.ones, shapes), **extents)),
        "result_shape": lambda: kernel.result_shape(*shapes, **extents),
    }
    if not has_slots:
        sides["shape program"] = lambda: kernel.shape_function.run(*shapes)
    found = {}
    for name, side in sides.items():
        try:
            made = side()
            found[name] = tuple(getattr(made, "extents", made))
        except BcastgenError:
            found[name] = "refused"
        except Exception as error:
            found[name] = repr(error)
    return found


def run(count, seed):
    """Return figures and differences."""
    texts, figures, differences = Texts(seed), Counter(), []
    op = outer()
    for _ in range(count):
        names, text = texts.signature()
        try:
            kernel = bg.from_text(text)
        except BcastgenError:
            figures["texts refused"] += 1
            continue
        for _ in range(3):
            shapes, given, has_slots = texts.call(kernel, len(names))
            found = answers(kernel, shapes, given, has_slots)
            figures["calls"] += 1
            figures["shapes"] += isinstance(found["call"], tuple)
            one = set(found.values())
            if len(one) > 1 or not (one == {"refused"} or isinstance(found["call"], tuple)):
                differences.append(f"{text} of {shapes}, {given}: {found}")
    del op
    return figures, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    figures, differences = run(options.count, options.seed)
    print(*differences, dict(figures), f"{len(differences)} differences", sep="\n")
    return bool(differences)


if __name__ == "__main__":
    sys.exit(main())
