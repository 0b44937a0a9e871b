"""Forms for usual elements have the bits of the general ones: results do not depend on what else is in a block."""

from __future__ import annotations

import numpy as np
import pytest

import vmath

_SAMPLES = 100_000


def usual_elements(library, op, dtype):
    """Elements that the row's look finds usual: of all bit patterns, and where there is one operand, the outermost."""
    random = np.random.default_rng(5)
    bits = np.dtype(f"u{dtype.bytes}")
    patterns = random.integers(0, np.iinfo(bits).max, (op.arity, _SAMPLES), bits, endpoint=True)
    # Half of them of common sizes, as two operands that are usual together are rare among all.
    patterns[:, ::2] = random.uniform(-20, 20, (op.arity, _SAMPLES // 2)).astype(dtype.np).view(bits)
    patterns.sort(axis=1)

    def is_usual(operands):
        return library.call(f"is_usual_{op.name}_{dtype}", *(x.view(dtype.np) for x in operands)) == 1

    if op.arity == 1:
        kinds = is_usual(patterns)
        at = np.flatnonzero(kinds[1:] != kinds[:-1])
        inside = np.where(kinds[at], patterns[0, at], patterns[0, at + 1])
        outside = np.where(kinds[at], patterns[0, at + 1], patterns[0, at])
        while (step := np.maximum(inside, outside) - np.minimum(inside, outside)).max(initial=0) > 1:
            middle = np.minimum(inside, outside) + step // 2
            kind = is_usual([middle])
            inside, outside = np.where(kind, middle, inside), np.where(kind, outside, middle)
        patterns = np.concatenate([patterns, [inside]], axis=1)
    else:
        patterns[1:] = random.permuted(patterns[1:], axis=1)
    found = is_usual(patterns)
    assert found.sum() > _SAMPLES // 10
    return [x[found].view(dtype.np) for x in patterns]


@pytest.mark.parametrize("flags", vmath.ROUNDINGS.values(), ids=vmath.ROUNDINGS)
@pytest.mark.parametrize("op, dtype", vmath.usual_forms(), ids=lambda value: getattr(value, "name", None))
def test_usual_forms_have_the_general_forms_bits(op, dtype, flags):
    library = vmath.library(*flags)
    operands = usual_elements(library, op, dtype)
    forms = ("", "_fast") if op.forms.fast_common_case is not None else ("",)
    for form in forms:
        general = library.call(f"{op.name}{form}_{dtype}", *operands)
        usual = library.call(f"{op.name}{form}_common_{dtype}", *operands)
        assert np.isfinite(general).all()
        np.testing.assert_array_equal(usual.view(f"u{dtype.bytes}"), general.view(f"u{dtype.bytes}"))
