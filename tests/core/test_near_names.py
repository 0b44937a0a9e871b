"""A misspelt name is told with those that are like it, in the words of its caller."""

from __future__ import annotations

import pytest

from bcastgen.core.near_names import did_you_mean, near_names


def test_each_near_name_is_told_once() -> None:
    assert near_names(["tnah", "tanhh", "zzz"], ["exp", "tanh"]) == ["tanh"]
    assert near_names(["tanhh"], ["tan", "tanh"], most=2) == ["tanh", "tan"]


@pytest.mark.parametrize(
    ("unknown", "options", "told"),
    [
        ("lgo", {}, "; did you mean log?"),
        (["lgo", "epx"], {}, "; did you mean log or exp?"),
        (["lgo", "epx"], {"between": " and ", "before": ""}, "did you mean log and exp?"),
        ("matmul", {}, ""),
        ([], {}, ""),
    ],
)
def test_the_question_names_them(unknown: str | list[str], options: dict[str, str], told: str) -> None:
    assert did_you_mean(unknown, ("exp", "log"), **options) == told
