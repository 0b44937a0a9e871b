"""Shape programs as C: they compute what Python computes, of operands that are known and operands that are not."""

from __future__ import annotations

import itertools

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.emit.shape_program.calls import check_values
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import Shape, Size, ValueShape, Witness
from long_runs import many
from shape_agreement import FLAGS, QUICK, Library, check, drawn, expressible

# ---- every op on small domains ---------------------------------------------------------------------------------------

MOST = 2**63 - 1
DOMAINS = {
    "shape": [
        *(Shape(), Shape.of(1), Shape.of(3), Shape.of(None), Shape.of(0), Shape.of(2, 3), Shape.of(None, 1)),
        *(Shape.of(2, None), Shape.of(2**32, 2**31), Shape.of(1, 2, 3), Shape(unranked=True)),
        *(Shape(error=""), Shape(error="why")),
    ],
    "size": [*map(Size, (0, 1, 2, 3, 2**62, MOST)), Size(), Size(error=""), Size(error="why")],
    "index": [-(2**63), -7, -2, -1, 0, 1, 2, 3, 2**62, MOST],
    "i1": [True, False],
    "witness": [Witness(True), Witness(), Witness(False), Witness(False, "why")],
    "tensor<?xindex>": [(), (2,), (1, 3), (0,), (2**62, 4)],
    "tensor<1xindex>": [(2,), (0,)],
    "tensor<?x3xf32>": [Shape.of(2, 3), Shape.of(0, 3)],
    "tensor<*xf32>": [Shape(), Shape.of(4, 1)],
    "value_shape": [ValueShape(), ValueShape(None, Shape.of(None, 3)), ValueShape(None, Shape(error="why"))],
}
BY_KIND = {}
for text in DOMAINS:
    BY_KIND.setdefault(parse_type(text).kind, []).append(text)


def signatures(row):
    """The types of operands that a row may be applied to."""
    choices = [[text for kind in p.kinds for text in BY_KIND.get(kind, ())] for p in row.parameters]
    if row.parameters and row.parameters[0].variadic:
        yield from itertools.product(choices[0], repeat=2)
        yield (choices[0][0],) * 3
    else:
        yield from itertools.product(*choices)


def applications():
    """A program for each row and signature, with each setting; `why` is one of its messages."""
    for row in ROWS.values():
        if row.region or row.terminator:
            continue
        for types in signatures(row):
            for setting in alternatives(row):
                for result in (None, "!shape.size", "!shape.shape", "index", "tensor<?xindex>", "tensor<2xindex>"):
                    made = application(row, types, setting, result)
                    if made is not None:
                        yield made


def alternatives(row):
    if not row.parameters:
        return []
    choices = {s.name: s.choices or ("why",) for s in row.settings}
    return [dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())] or [{}]


def application(row, types, setting, result):
    names = [f"v{at}" for at in range(len(types))]

    def function(**values):
        # A constraint whose message operands may have.
        op("cstr_require")(True, msg="why")
        return op(row.name)(*(values[name] for name in names), type=result, **setting)

    try:
        made = program("one", function, **dict(zip(names, types, strict=True)))
        check_values(made)
    except BroadcastError:
        return None
    inferred = result is None or any(str(value.type) != result for value in made.results)
    return made if (result is None) == inferred or len(made.results) == 1 else None


def test_every_op_agrees_on_small_domains(tmp_path):
    programs = [made for made in applications() if any(o.name != "shape.cstr_require" for o in made.body.walk())]
    library = Library(programs, tmp_path)
    for at, made in enumerate(programs):
        domains = [DOMAINS[str(value.type).removeprefix("!shape.")] for value in made.operands]
        for operands in itertools.product(*domains):
            check(library, at, operands)


# ---- random programs -------------------------------------------------------------------------------------------------


def agree(tmp_path, count, flags=FLAGS, seed=0):
    pairs = drawn(count, seed)
    library = Library([made for made, _ in pairs], tmp_path, flags)
    seen = []
    for at, (made, (concrete, promised)) in enumerate(pairs):
        seen.append(check(library, at, expressible(made, concrete, concrete)))
        seen.append(check(library, at, expressible(made, concrete, promised)))
    return seen


def test_random_programs_agree(tmp_path):
    seen = agree(tmp_path, 300)
    assert len(seen) >= 400
    assert {"OK", "SHAPE_WITNESS", "SHAPE_INVALID"} <= set(seen)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 1 + many(1, 4)))
def test_thousands_of_random_programs_agree(seed, tmp_path):
    seen = agree(tmp_path, 2_625, QUICK, seed)
    assert len(seen) >= 5_000
    assert {"OK", "SHAPE_WITNESS", "SHAPE_INVALID", "SHAPE_UNDECIDED"} == set(seen)


def test_the_value_of_a_value_shape_has_no_form_in_c():
    made = program("held", lambda v: op("value_of")(v), v="!shape.value_shape")
    with pytest.raises(
        BroadcastError, match=r"shape\.value_of: operand 'v' is a value, of which C has the shape alone"
    ):
        check_values(made)
