"""Command lines that cannot be read are refused with what was meant."""

from __future__ import annotations

import pytest

from bcastgen.cli.main import main


@pytest.mark.parametrize("arguments", [["run", "--in", "a=1", "a + 1"], ["run", "-a", "--in", "a=1"]])
def test_an_expression_that_an_option_took_is_told(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "required: expression; write it before the options" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "a", "--inn", "a=1"], "unrecognized arguments: --inn a=1; did you mean --in?"),
        (["emit", "a", "--statc", "--cmak"], "unrecognized arguments: --statc; did you mean --static?"),
        (["ops", "--nothing-like-it"], "unrecognized arguments: --nothing-like-it"),
    ],
)
def test_a_misspelt_flag_is_refused_with_the_one_that_was_meant(arguments, told, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and capsys.readouterr().err.endswith(f"{told}\n")


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [(["cache", "inof"], "info"), (["completion", "fsh"], "fish"), (["run", "a", "--dynamic", "strct"], "strict")],
)
def test_a_misspelt_choice_is_refused_with_the_one_that_was_meant(arguments, meant, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2 and capsys.readouterr().err.endswith(f"); did you mean {meant}?\n")
