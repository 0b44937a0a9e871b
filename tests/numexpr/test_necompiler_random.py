"""Random texts: dtypes, shapes, values and errors are NumExpr's."""

import random

import pytest

import bcastgen.numexpr as ne
import numexpr_texts
from long_runs import many

theirs = pytest.importorskip("numexpr", reason="numexpr is not installed (pip install -e .[suites])")


def differences(seeds):
    found = {}
    for seed in seeds:
        text = numexpr_texts.text(seed)
        optimization = random.Random(seed).choice(("none", "moderate", "aggressive"))
        outcomes = [numexpr_texts.outcome(module, text, optimization) for module in (theirs, ne)]
        said = numexpr_texts.difference(*outcomes)
        if said:
            found[seed, optimization, text] = said
    return found


def test_random_texts():
    assert not differences(range(40))


@pytest.mark.slow
def test_more_random_texts():
    assert not differences(range(40, 40 + many(25, 200)))


def test_a_difference_is_found():
    class Wrong:
        @staticmethod
        def evaluate(text, names, _everywhere, optimization):
            return ne.evaluate(f"{text} + 1", names, optimization=optimization)

    good, bad = (numexpr_texts.outcome(module, "d * 2", "none") for module in (theirs, Wrong))
    assert numexpr_texts.difference(good, bad) and not numexpr_texts.difference(good, good)
    assert "int64" in numexpr_texts.difference(good, good.astype("i8"))
    assert numexpr_texts.difference(good, TypeError) and not numexpr_texts.difference(TypeError, TypeError)
