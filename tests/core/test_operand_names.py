"""Names for operands that have none are all different."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.core.operand_names import operand_names


def test_names_of_many_operands() -> None:
    assert operand_names(28)[24:] == ("y", "z", "operand26", "operand27")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ((None, "a"), ("operand0", "a")),
        (("b", None), ("b", "operand1")),
        (("b", None, "operand1"), ("b", "operand2", "operand1")),
        ((None, "operand0", "a", None), ("operand1", "operand0", "a", "d")),
    ],
)
def test_a_given_name_is_nobody_elses(given: tuple[str | None, ...], names: tuple[str, ...]) -> None:
    assert operand_names(given) == names


def test_a_signature_may_name_some_operands_only() -> None:
    kernel = from_text("(f32, [?] a) -> a * 2")
    assert kernel.operands == ("operand0", "a")
    assert kernel(np.float32(7), np.ones(2)).tolist() == [2, 2]
